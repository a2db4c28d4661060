//! Which parts are turned for a solid: random scenes of boxes against arithmetic, and the cases
//! that the rule is made of.
use crate::common::prelude::*;
use crate::common::scenes;

#[test]
fn scenes_of_boxes_are_the_solids_that_arithmetic_says() {
    let count = environment::number("TRIVOX_SCENES", 300);
    let doubtful = scenes::check(0..count);
    println!("{count} scenes, {doubtful} of them doubtful");
    // Sides that coincide are interchangeable if no vertices tell which is whose.
    assert!(doubtful <= count / 20, "{doubtful} of {count} scenes are doubtful");
}

/// Whichever way `parts` are turned, they are so many voxels, without a doubt.
fn assert_voxels(what: &str, parts: &[Mesh], expected: u64) {
    let all = together(parts);
    for mesh in [inside_out(&all), all] {
        for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let turned = mesh.clone().with_positions(|p| axes.map(|axis| p[axis])).unwrap();
            for fill in [Fill::Auto, Fill::Winding] {
                let (grid, report) = solid(&at_voxel_size(&turned, 1.0), fill);
                assert_eq!(grid.occupied(), expected, "{what}, {fill}: {}", report.sentence());
                assert_eq!(report.doubts, [], "{what}, {fill}");
            }
        }
    }
}

#[test]
fn a_cavity_is_turned_with_the_wall_around_it() {
    let (one, hollow) = (cube([0.0; 3], 6.0), cube([8.0, 0.0, 0.0], 6.0));
    let cavity = cube([10.0, 2.0, 2.0], 2.0);
    let (whole, hollow_out) = (216, 208);
    let beside = [one.clone(), inside_out(&hollow), cavity.clone()];
    assert_voxels("beside", &beside, whole + hollow_out);
    let larger = inside_out(&cube([16.0, -2.0, -2.0], 10.0));
    let beside_larger = [hollow.clone(), inside_out(&cavity), larger];
    assert_voxels("beside a larger one", &beside_larger, hollow_out + 1000);
    // In a cavity, and in matter.
    let island = cube([4.0; 3], 4.0);
    for island in [inside_out(&island), island] {
        let walls = [cube([0.0; 3], 12.0), inside_out(&cube([2.0; 3], 8.0))];
        let parts = [&walls[..], &[island, inside_out(&cube([14.0; 3], 1.0))]].concat();
        assert_voxels("island", &parts, 1728 - 512 + 64 + 1);
    }
    let redundant = [inside_out(&one), inside_out(&cube([2.0; 3], 2.0)), hollow];
    assert_voxels("redundant", &redundant, 2 * whole);
}

#[test]
fn parts_that_overlap_are_a_union_whichever_way_each_is_turned() {
    let reversed = |min, max| inside_out(&cuboid(min, max));
    let block = cube([0.0; 3], 10.0);
    let bar = reversed([3.0, 5.0, 3.0], [6.0, 15.0, 6.0]);
    assert_voxels("a bar that pokes out", &[block.clone(), bar], 1045);
    let through = reversed([3.0, -5.0, 3.0], [6.0, 15.0, 6.0]);
    assert_voxels("a bar through it", &[block, through], 1090);
    // Both ends are in an arm of the other.
    let [left, right] = [0.0, 8.0].map(|x| cuboid([x, 0.0, 0.0], [x + 4.0, 4.0, 12.0]));
    let bar = reversed([1.0, 1.0, 1.0], [11.0, 3.0, 3.0]);
    assert_voxels("a bar from arm to arm", &[left, right, bar], 384 + 16);
}

#[test]
fn a_part_that_is_there_in_both_directions_is_there_once() {
    let one = cube([0.0; 3], 4.0);
    let back = inside_out(&one);
    // Each side divided by its other diagonal.
    let other = one.triangles().chunks(2).flat_map(|side| {
        let ([a, b, c], d) = (side[0], side[1][2]);
        [[b, a, d], [b, d, c]]
    });
    let other: Vec<[u32; 3]> = other.collect();
    let doubled = |back: &[[u32; 3]]| with_triangles(&one, [one.triangles(), back].concat());
    for (what, part) in [
        ("the same triangles", doubled(back.triangles())),
        ("other diagonals", doubled(&other)),
        ("other vertices", together(&[one.clone(), back.clone()])),
    ] {
        assert_voxels(what, std::slice::from_ref(&part), 64);
        assert_voxels(what, &[part, cube([6.0; 3], 4.0)], 128);
    }
    // A sheet encloses nothing.
    let sheet = first_triangles(&one, 2);
    let sheet = together(&[sheet.clone(), inside_out(&sheet)]);
    assert_voxels("a sheet", &[sheet, cube([6.0; 3], 4.0)], 64);
}

#[test]
fn parts_that_touch_are_turned_one_by_one() {
    for at in [[4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [4.0; 3]] {
        assert_voxels("touching", &[cube([0.0; 3], 4.0), inside_out(&cube(at, 4.0))], 128);
    }
}

#[test]
fn parts_of_a_soup_with_a_side_in_common_are_told_apart() {
    // The body stands on the floor of the cavity, and is inside out: both floors face up.
    let cavity = inside_out(&cube([3.0; 3], 6.0));
    let body = inside_out(&cuboid([3.0; 3], [9.0, 9.0, 5.0]));
    let all = together(&[cube([0.0; 3], 12.0), cavity, body]);
    let mut rng = Rng::with_seed(416);
    let mut triangles = all.triangles().to_vec();
    for _ in 0..20 {
        rng.shuffle(&mut triangles);
        let soup = with_vertices_repeated(&with_triangles(&all, triangles.clone()));
        assert_voxels("on a floor", &[soup], 1728 - 216 + 72);
    }
}
