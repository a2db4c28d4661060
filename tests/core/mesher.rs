//! The surface of a grid against all faces of all voxels, one by one.
use crate::common::prelude::*;
use trivox::grid::count;
use trivox::view::mesher::{self, Rectangle};

/// The voxel that has a face, the axis that the face stands on, whether it is the upper one.
type Face = ([u32; 3], usize, bool);

/// The faces of `rectangle`.
fn faces(rectangle: &Rectangle) -> impl Iterator<Item = Face> {
    let Rectangle { min, max, axis, is_upper, .. } = *rectangle;
    let end = [0, 1, 2].map(|a| if a == axis { max[a] + 1 } else { max[a] });
    voxels_in(min, end).map(move |mut voxel| {
        // Below 0 is a voxel in no grid.
        voxel[axis] = voxel[axis].wrapping_sub(is_upper.into());
        (voxel, axis, is_upper)
    })
}

/// The faces of all voxels, with their colours.
fn expected(grid: &VoxelGrid) -> BTreeMap<Face, Option<Rgba>> {
    let mut faces = BTreeMap::new();
    for voxel in grid.voxels() {
        for (axis, is_upper) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            let mut beside = voxel;
            // Below 0 is a voxel in no grid.
            beside[axis] = if is_upper { voxel[axis] + 1 } else { voxel[axis].wrapping_sub(1) };
            if !grid.contains(beside) {
                faces.insert((voxel, axis, is_upper), grid.color(voxel));
            }
        }
    }
    faces
}

/// Whether a rectangle could be extended over faces that are `left`: its first row along `v`, then
/// the rectangle along `u`, each up to the end of a tile.
fn can_grow(rectangle: &Rectangle, left: &BTreeMap<Face, Option<Rgba>>) -> bool {
    let Rectangle { min, max, axis, color, .. } = *rectangle;
    let [u, v] = [[1, 2], [0, 2], [0, 1]][axis];
    let (mut longer, mut wider) = (*rectangle, *rectangle);
    (longer.min[v], longer.max[v], longer.max[u]) = (max[v], max[v] + 1, min[u] + 1);
    (wider.min[u], wider.max[u]) = (max[u], max[u] + 1);
    let is_left = |face: Face| left.get(&face) == Some(&color);
    max[v] % 64 != 0 && faces(&longer).all(is_left)
        || max[u] % 64 != 0 && faces(&wider).all(is_left)
}

/// The first thing that is wrong in a surface, if anything is.
fn fault(grid: &VoxelGrid, found: &[Rectangle]) -> Option<String> {
    let mut left = expected(grid);
    for rectangle in found {
        for face in faces(rectangle) {
            let color = left.remove(&face);
            if color != Some(rectangle.color) {
                return Some(format!("{face:?} of {rectangle:?} has {color:?}"));
            }
        }
        if can_grow(rectangle, &left) {
            return Some(format!("{rectangle:?} could be larger"));
        }
    }
    left.first_key_value().map(|face| format!("{face:?} is missing"))
}

/// Grids with no, few and many faces, around the edges of bricks and tiles.
fn grids() -> Vec<VoxelGrid> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut grids = vec![];
    for dims in [
        [1, 1, 1],
        [8, 8, 8],
        [7, 1, 9],
        [64, 64, 64],
        [65, 63, 66],
        [2, 130, 5],
        [140, 3, 2],
        [3, 70, 129],
        [129, 66, 8],
    ] {
        grids.push(block(dims, [0; 3], dims));
        let volume = dims.iter().map(|&d| d as usize).product::<usize>();
        for voxels in [0, 1, volume / 20, volume] {
            grids.push(random_grid(dims, voxels, &mut random));
        }
    }
    grids
}

/// The same grid with patches of few colours; full bricks in its interior have none of their own.
fn painted(grid: &VoxelGrid, random: &mut fastrand::Rng) -> VoxelGrid {
    let mut own = Vec::new();
    for (key, mask) in grid.bricks() {
        if mask != FULL || random.bool() {
            let few = random.u32(1..4);
            let color = |_| [random.u32(0..few) as u8, 9, 9, 255];
            own.push((key, mask, (0..count(&mask)).map(color).collect()));
        }
    }
    grid.clone().with_colors(Colors::from_bricks(own, [1, 9, 9, 255]))
}

#[test]
fn every_visible_face_is_in_one_rectangle_of_its_colour_and_no_other_is() {
    let mut random = fastrand::Rng::with_seed(8);
    for grid in grids() {
        let painted = painted(&grid, &mut random);
        for grid in [&grid, &painted, &grid.clone().with_colors(Colors::uniform([5, 6, 7, 8]))] {
            assert_eq!(fault(grid, &rectangles(grid)), None, "{grid:?}");
        }
    }
}

#[test]
fn a_wrong_surface_is_noticed() {
    let mut random = fastrand::Rng::with_seed(9);
    let grid = painted(&random_grid([65, 20, 9], 900, &mut random), &mut random);
    let right = rectangles(&grid);
    let mistakes: [fn(&mut Vec<Rectangle>, usize); 7] = [
        |all, i| _ = all.remove(i),
        |all, i| all.push(all[i]),
        |all, i| {
            let across = (all[i].axis + 1) % 3;
            all[i].max[across] += 1;
        },
        |all, i| all[i].is_upper = !all[i].is_upper,
        |all, i| all[i].color = Some([200, 9, 9, 255]),
        |all, i| all[i].color = None,
        |all, _| {
            // Splits a rectangle in two.
            let large = all.iter().position(|rectangle| rectangle.faces() > 1).unwrap();
            let Rectangle { min, max, .. } = all[large];
            let axis = (0..3).find(|&a| max[a] - min[a] > 1).unwrap();
            let mut first = all[large];
            first.max[axis] = min[axis] + 1;
            all[large].min[axis] = first.max[axis];
            all.insert(large, first);
        },
    ];
    for index in [0, right.len() / 2, right.len() - 1] {
        for (number, mistake) in mistakes.iter().enumerate() {
            let mut wrong = right.clone();
            mistake(&mut wrong, index);
            assert!(fault(&grid, &wrong).is_some(), "mistake {number} at {index}");
        }
    }
}

#[test]
fn rectangles_are_counter_clockwise_as_seen_from_outside() {
    for grid in grids() {
        for rectangle in rectangles(&grid) {
            let [a, b, c, d] = rectangle.corners().map(|corner| corner.map(i64::from));
            let normal = cross(minus(b, a), minus(d, a));
            let mut expected = [0; 3];
            let area = rectangle.faces() as i64;
            expected[rectangle.axis] = if rectangle.is_upper { area } else { -area };
            assert_eq!(normal, expected, "{rectangle:?}");
            assert_eq!(minus(plus(b, d), a), c, "{rectangle:?}");
        }
    }
}

#[test]
fn faces_merge_up_to_the_edges_of_tiles_and_of_colours() {
    // Two tiles along x: all sides but the ends are in two.
    for (dims, expected) in [([64, 64, 64], 6), ([5, 3, 9], 6), ([65, 3, 9], 10)] {
        assert_eq!(rectangles(&block(dims, [0; 3], dims)).len(), expected, "{dims:?}");
    }
    for (lower, expected) in [([1, 0, 0, 255], 10), ([0, 0, 0, 255], 6)] {
        let grid = block([64, 16, 64], [0; 3], [64, 16, 64]);
        let halves = painted_by(grid, [0, 0, 0, 255], |[_, y, _]| (y < 8).then_some(lower));
        assert_eq!(rectangles(&halves).len(), expected, "{lower:?}");
    }
}

#[test]
fn an_error_ends_the_surface() {
    let grid = VoxelGrid::from_voxels([9, 1, 1], [[0; 3], [8, 0, 0]]).unwrap();
    let mut left = 3;
    let stopped = mesher::rectangles(&grid, |_| {
        left -= 1;
        if left == 0 { Err("enough") } else { Ok(()) }
    });
    assert_eq!((stopped, left), (Err("enough"), 0));
}
