//! Solids: meshes whose solid is known, and what is said of those that have none; closed meshes of
//! every kind against an oracle that follows no columns; relations between fills and modes.
use crate::common::inside::{self, Surrounded, TIE_RULE};
use crate::common::paths;
use crate::common::prelude::*;
use trivox::solid::{FillWarning, fill};

const FILLS: [Fill; 5] = [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Flood, Fill::Vote];

/// Fills as asked and expects those voxels, and no doubt.
fn assert_certain(mesh: &PlacedMesh, fill: Fill, expected: &VoxelGrid) -> FillReport {
    let (grid, filling) = solid(mesh, fill);
    assert!(grid == *expected, "{fill}: {grid:?} rather than {expected:?}");
    assert_eq!(filling.doubts, [], "{fill}");
    filling
}

fn is_about_holes(doubts: &[FillWarning]) -> bool {
    matches!(doubts, [FillWarning::Holes { .. }])
}

#[test]
fn a_cube_at_n_is_n_cubed_whatever_the_fill() {
    for n in 1..=300 {
        let mesh = at_resolution(&cube([0.1, -0.2, 7.0], 0.3), n);
        // The others take several times as long as `Auto`.
        let fills = if n <= 66 || n % 37 == 0 { &FILLS[..] } else { &[Fill::Auto] };
        for &fill in fills {
            let (grid, filling) = solid(&mesh, fill);
            assert_eq!(grid.dims(), [n; 3]);
            assert_eq!(grid.occupied(), u64::from(n).pow(3), "{fill} at {n}");
            assert_eq!(filling.doubts, [], "{fill} at {n}");
            let share = filling.voxel_volume / filling.mesh_volume.unwrap();
            assert!((share - 1.0).abs() < 1e-12, "{fill} at {n}: {share}");
        }
    }
}

#[test]
fn a_cavity_is_empty_but_for_a_flood() {
    let hollow = [cube([1.25; 3], 9.5), inside_out(&cube([4.25; 3], 3.5))];
    let dims = [12; 3];
    let whole = block(dims, [1; 3], [11; 3]);
    let expected = whole.subtract(&block(dims, [4; 3], [8; 3]));
    for mesh in [together(&hollow), inside_out(&together(&hollow))] {
        let mesh = in_grid(&mesh, dims);
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
            let filling = assert_certain(&mesh, fill, &expected);
            assert_eq!(filling.mesh_volume.map(f64::abs), Some(9.5f64.powi(3) - 3.5f64.powi(3)));
        }
        assert_certain(&mesh, Fill::Flood, &whole);
        assert_eq!(solid(&mesh, Fill::Auto).1.fill, Fill::Parity);
    }
}

#[test]
fn forty_shells_in_each_other_are_matter_and_cavities_in_turn() {
    let dims = [162; 3];
    let shell = |depth: u32| {
        let at = f64::from(2 * depth + 1);
        let cube = cube([at + 0.25; 3], 160.5 - 2.0 * at);
        if depth.is_multiple_of(2) { cube } else { inside_out(&cube) }
    };
    // The innermost first.
    let shells: Vec<_> = (0..40).rev().map(shell).collect();
    let is_matter = |voxel: &[u32; 3]| {
        let depth = voxel.map(|c| c.min(160_u32.saturating_sub(c))).into_iter().min();
        depth.is_some_and(|depth| depth > 0 && (depth - 1) / 2 % 2 == 0)
    };
    let voxels = voxels_in([0; 3], dims).filter(is_matter);
    let expected = VoxelGrid::from_voxels(dims, voxels).unwrap();
    for mesh in [together(&shells), inside_out(&together(&shells))] {
        let mesh = in_grid(&mesh, dims);
        for fill in [Fill::Auto, Fill::Winding] {
            assert_certain(&mesh, fill, &expected);
        }
    }
}

#[test]
fn a_shell_in_a_shell_the_same_way_round_is_one_solid_by_winding_and_doubtful_by_parity() {
    let dims = [84; 3];
    let nested = [cube([2.25; 3], 79.5), cube([10.25; 3], 63.5)];
    let whole = block(dims, [2; 3], [82; 3]);
    for mesh in [together(&nested), inside_out(&together(&nested))] {
        let mesh = in_grid(&mesh, dims);
        assert_certain(&mesh, Fill::Winding, &whole);
        assert_eq!(assert_certain(&mesh, Fill::Auto, &whole).fill, Fill::Winding);
        let (grid, filling) = solid(&mesh, Fill::Parity);
        assert!(grid == whole.subtract(&block(dims, [10; 3], [74; 3])));
        assert_eq!(filling.doubts, [FillWarning::Overlap { columns: 64 * 64 }]);
    }
}

#[test]
fn cubes_that_touch_at_a_face_an_edge_or_a_vertex_are_two_solids_side_by_side() {
    let dims = [11; 3];
    let first = block(dims, [1; 3], [5; 3]);
    for axes in 1..=3 {
        let along = |on: f64, off: f64| [0, 1, 2].map(|a| if a < axes { on } else { off });
        let second = cuboid(along(5.25, 1.25), along(9.25, 5.25));
        let mesh = together(&[cube([1.25; 3], 4.0), second]);
        let mesh = in_grid(&mesh, dims);
        let corner = |on: u32, off: u32| [0, 1, 2].map(|a| if a < axes { on } else { off });
        let expected = first.union(&block(dims, corner(5, 1), corner(9, 5)));
        assert_eq!(expected.occupied(), 128);
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
            assert_certain(&mesh, fill, &expected);
        }
        assert_eq!(solid(&mesh, Fill::Auto).1.fill, Fill::Parity, "{axes} axes");
        let flooded = expected.union(&surface(&mesh));
        assert_certain(&mesh, Fill::Flood, &flooded);
    }
}

#[test]
fn what_is_inside_out_is_as_solid_and_said_to_be() {
    let dims = [12; 3];
    let expected = block(dims, [1; 3], [11; 3]);
    let mesh = in_grid(&inside_out(&cube([1.25; 3], 9.5)), dims);
    for fill in FILLS {
        let filling = assert_certain(&mesh, fill, &expected);
        assert!(filling.sentence().starts_with("1 shell, closed, but inside out: "));
        assert_eq!(filling.mesh_volume, Some(-(9.5f64.powi(3))));
    }
}

#[test]
fn where_cubes_overlap_parity_is_empty_and_says_so_and_winding_fills() {
    let dims = [49; 3];
    let mesh = together(&[cube([2.25; 3], 39.5), cube([7.25; 3], 39.5)]);
    let mesh = in_grid(&mesh, dims);
    let [a, b] = [block(dims, [2; 3], [42; 3]), block(dims, [7; 3], [47; 3])];
    let filling = assert_certain(&mesh, Fill::Auto, &a.union(&b));
    assert_eq!(filling.fill, Fill::Winding);
    assert_eq!(filling.reason, "the mesh is closed, and parts overlap");
    assert_certain(&mesh, Fill::Winding, &a.union(&b));
    assert_certain(&mesh, Fill::Flood, &a.union(&b));
    for fill in [Fill::Parity, Fill::Vote] {
        let (grid, filling) = solid(&mesh, fill);
        assert!(grid == a.union(&b).subtract(&a.intersection(&b)), "{fill}");
        assert_eq!(filling.doubts, [FillWarning::Overlap { columns: 35 * 35 }], "{fill}");
    }
}

/// A cube whose open side is the lower or upper one across an axis.
fn open_cube(axis: usize, is_upper: bool) -> Mesh {
    let sign = if is_upper { 1.0 } else { -1.0 };
    // A turn about a diagonal; the other end is reached by a point reflection.
    let turned = |p: [f64; 3]| [0, 1, 2].map(|a| 6.0 + sign * p[(a + 5 - axis) % 3]);
    lidless_cube([-4.75; 3], 9.5).with_positions(turned).unwrap()
}

#[test]
fn a_cube_without_one_side_is_whole_by_winding_and_vote_and_wrong_by_parity_where_rays_pass() {
    let dims = [12; 3];
    let whole = block(dims, [1; 3], [11; 3]);
    for (axis, is_upper) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
        let mesh = in_grid(&open_cube(axis, is_upper), dims);
        let what = format!("open at {} {axis}", if is_upper { "upper" } else { "lower" });
        let filling = assert_certain(&mesh, Fill::Auto, &whole);
        assert_eq!(filling.fill, Fill::Winding, "{what}");
        assert_eq!(filling.reason, "the mesh has 4 open edges", "{what}");
        let mut odd = [0; 3];
        odd[axis] = 100;
        let disagreement = assert_certain(&mesh, Fill::Vote, &whole).findings.disagreement.unwrap();
        assert_eq!(disagreement.odd, odd, "{what}");

        let (grid, filling) = solid(&mesh, Fill::Parity);
        let expected = match (axis, is_upper) {
            (0, false) => block(dims, [11, 1, 1], [12, 11, 11]),
            (0, true) => block(dims, [1; 3], [12, 11, 11]),
            _ => whole.clone(),
        };
        assert!(grid == expected, "{what}: {grid:?}");
        assert!(is_about_holes(&filling.doubts), "{what}: {:?}", filling.doubts);
        assert_eq!(filling.findings.open_columns, Some(if axis == 0 { 100 } else { 0 }), "{what}");

        let (grid, filling) = solid(&mesh, Fill::Flood);
        assert!(grid == surface(&mesh), "{what}: {grid:?}");
        let leak = FillWarning::Leak { voxels: 8 * 8 * 9, enclosed: 0 };
        assert_eq!(filling.doubts, [leak], "{what}");
    }
}

/// A cube with a square hole in its lid.
fn pierced_cube(hole: [f64; 2]) -> Mesh {
    let lidless = lidless_cube([1.25; 3], 9.5);
    let mut positions = lidless.positions().to_vec();
    let [lo, hi] = hole;
    positions.extend([[lo, lo], [hi, lo], [hi, hi], [lo, hi]].map(|[x, y]| [x, y, 10.75]));
    // The lid's corners around, and the hole's.
    let (outer, inner) = ([4, 5, 7, 6], [8, 9, 10, 11]);
    let ring = (0..4).flat_map(|i| {
        let next = (i + 1) % 4;
        [[outer[i], outer[next], inner[next]], [outer[i], inner[next], inner[i]]]
    });
    let triangles = lidless.triangles().iter().copied().chain(ring).collect();
    Mesh::new(positions, triangles).unwrap()
}

#[test]
fn a_flood_seals_a_hole_below_a_voxel_and_says_when_it_came_in_through_a_larger_one() {
    let dims = [12; 3];
    let whole = block(dims, [1; 3], [11; 3]);
    for (hole, is_sealed) in [([5.3, 5.7], true), ([4.3, 5.7], true), ([4.9, 6.1], false)] {
        let mesh = in_grid(&pierced_cube(hole), dims);
        assert_certain(&mesh, Fill::Vote, &whole);
        assert_eq!(assert_certain(&mesh, Fill::Auto, &whole).fill, Fill::Winding);
        let (grid, filling) = solid(&mesh, Fill::Flood);
        if is_sealed {
            assert!(grid == whole && filling.doubts.is_empty(), "{hole:?}");
            assert_eq!(filling.findings.enclosed, Some(512), "{hole:?}");
        } else {
            assert!(grid == surface(&mesh), "{hole:?}");
            // The hole's one voxel is lost as well.
            let leak = FillWarning::Leak { voxels: 513, enclosed: 0 };
            assert_eq!(filling.doubts, [leak], "{hole:?}");
        }
    }
}

#[test]
fn a_klein_bottle_is_closed_and_has_a_solid_by_parity_alone() {
    let mesh = at_resolution(&klein_bottle(40, 24), 40);
    let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
    for fill in [Fill::Parity, Fill::Auto] {
        let (grid, filling) = solid(&mesh, fill);
        assert!(grid == expected, "{fill}");
        assert_eq!(filling.doubts, [FillWarning::MayOverlap { edges: 24 }], "{fill}");
        assert_eq!(filling.mesh_volume, None);
    }
    let (_, filling) = solid(&mesh, Fill::Auto);
    assert_eq!((filling.fill, filling.reason.as_str()), (Fill::Parity, "the mesh is closed"));
    assert!(filling.sentence().starts_with("1 shell, closed, but not consistently oriented: "));
    let (_, filling) = solid(&mesh, Fill::Winding);
    assert!(matches!(filling.doubts[..], [FillWarning::Orientation { edges: 24 }]), "{filling:?}");
}

#[test]
fn a_moebius_strip_has_no_solid_and_every_fill_is_doubtful() {
    let mesh = at_resolution(&moebius_strip(40, 8), 40);
    for fill in FILLS {
        let (grid, filling) = solid(&mesh, fill);
        assert!(filling.is_doubtful(), "{fill}: {}", filling.sentence());
        assert!(grid.occupied() < 40 * 40 * 40 / 4, "{fill}: {grid:?}");
    }
}

#[test]
fn sheets_have_no_inside_along_any_axis() {
    let flat = |axis: usize| {
        quad([[1.3, 1.3], [9.1, 1.3], [9.1, 8.2], [1.3, 8.2]].map(|[p, q]| {
            let mut corner = [5.1; 3];
            (corner[(axis + 1) % 3], corner[(axis + 2) % 3]) = (p, q);
            corner
        }))
    };
    let slanted = mesh_of(&[[[1.3, 2.2, 3.1], [9.2, 4.3, 1.7], [3.6, 8.7, 9.4]]]);
    for (mesh, is_flat) in [(flat(0), true), (flat(1), true), (flat(2), true), (slanted, false)] {
        let mesh = in_grid(&mesh, [11; 3]);
        for fill in [Fill::Auto, Fill::Vote] {
            let (grid, filling) = solid(&mesh, fill);
            assert_eq!(grid.occupied(), 0, "{fill}: {}", filling.sentence());
            assert!(is_flat || filling.is_doubtful(), "{fill}: {}", filling.sentence());
        }
        assert!(is_about_holes(&solid(&mesh, Fill::Parity).1.doubts));
    }
}

#[test]
fn a_mesh_twice_over_is_filled_by_winding() {
    let dims = [42; 3];
    let one = cube([1.25; 3], 39.5);
    let mesh = in_grid(&together(&[one.clone(), one]), dims);
    let whole = block(dims, [1; 3], [41; 3]);
    assert_certain(&mesh, Fill::Winding, &whole);
    assert_eq!(assert_certain(&mesh, Fill::Auto, &whole).fill, Fill::Winding);
    let (grid, filling) = solid(&mesh, Fill::Parity);
    assert_eq!(grid.occupied(), 0);
    assert_eq!(filling.doubts, [FillWarning::Overlap { columns: 40 * 40 }]);
}

#[test]
fn an_open_mesh_twice_over_is_that_mesh() {
    let mut rng = Rng::with_seed(31);
    let ball = sphere(20.0, 24, 32);
    let open = first_triangles(&ball, ball.triangles().len() * 9 / 10);
    for mesh in [open, lidless_cube([1.0; 3], 20.0)] {
        let mut triangles = [mesh.triangles(); 2].concat();
        triangles.iter_mut().for_each(|triangle| triangle.rotate_left(rng.usize(0..3)));
        rng.shuffle(&mut triangles);
        let [once, twice] =
            [&mesh, &with_triangles(&mesh, triangles)].map(|mesh| at_resolution(mesh, 40));
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
            let [(once, report), (twice, of_twice)] = [&once, &twice].map(|mesh| solid(mesh, fill));
            assert!(once == twice && once.occupied() > 0, "{fill}: {}", of_twice.sentence());
            assert_eq!(report.sentence(), of_twice.sentence());
        }
    }
}

#[test]
fn two_sheets_back_to_back_are_doubtful_with_their_surface_too() {
    let open = lidless_cube([1.0; 3], 20.0);
    let mesh = at_resolution(&together(&[open.clone(), inside_out(&open)]), 40);
    let solid = Solid { include_surface: true, ..Solid::default() };
    let report = in_mode(&mesh, Mode::Solid(solid)).fill_report.unwrap();
    assert_eq!(report.doubts, [FillWarning::Nothing]);
}

#[test]
fn a_side_twice_over_is_no_hole() {
    let dims = [12; 3];
    let whole = block(dims, [1; 3], [11; 3]);
    let one = cube([1.25; 3], 9.5);
    for side in 0..6 {
        let again = &one.triangles()[2 * side..2 * side + 2];
        let mesh = with_triangles(&one, [one.triangles(), again].concat());
        let mesh = in_grid(&mesh, dims);
        let (grid, filling) = solid(&mesh, Fill::Auto);
        assert!(grid == whole, "side {side}");
        assert_eq!(filling.doubts, [], "side {side}");
        assert_eq!((filling.fill, filling.reason.as_str()), (Fill::Parity, "the mesh is closed"));
    }
}

#[test]
fn degenerate_triangles_change_nothing() {
    let dims = [12; 3];
    let whole = block(dims, [1; 3], [11; 3]);
    let one = cube([1.25; 3], 9.5);
    let mut positions = one.positions().to_vec();
    positions.extend([[3.0, 4.0, 5.0], [6.0, 7.0, 5.0], [4.5, 5.5, 5.0], [3.0, 4.0, 5.0]]);
    let collapsed = [[8, 8, 8], [8, 9, 8], [0, 0, 7], [8, 9, 11]];
    // A sliver of three points on a line.
    let sliver = [[8, 9, 10]];
    let triangles = [one.triangles(), &collapsed, &sliver].concat();
    let mesh = in_grid(&Mesh::new(positions, triangles).unwrap(), dims);
    assert_eq!(mesh.degenerate(), 5);
    for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
        assert_certain(&mesh, fill, &whole);
    }
    assert_certain(&mesh, Fill::Flood, &whole);
}

/// Tetrahedra with corners on the multiples of half a voxel, each one way round or the other.
fn tetrahedra(rng: &mut Rng, count: usize, reach: i32) -> Vec<Triangle> {
    let mut corner = || [(); 3].map(|()| rng.i32(0..=reach) * (UNIT / 2));
    (0..count).flat_map(|_| tetrahedron([(); 4].map(|()| corner()))).collect()
}

/// Closed meshes of every kind, in grids that cut some of them, with what they are.
fn closed_meshes() -> impl Iterator<Item = (String, PlacedMesh)> {
    (0..60).map(|round| {
        let mut rng = Rng::with_seed(round);
        let dims: [u32; 3] = std::array::from_fn(|_| rng.u32(6..=16));
        let triangles = match round % 3 {
            0 => tetrahedra(&mut rng, 1 + round as usize % 7, 32),
            1 => crumpled_torus(&mut rng, 5, 4, UNIT / 2, 32),
            _ => crumpled_torus(&mut rng, 6, 5, 777, 1500),
        };
        // Voxels lie before the grid as well as after it.
        let back = rng.i32(0..=8) * UNIT / 2;
        (format!("round {round}"), placed(&all_moved(&triangles, [-back; 3]), dims))
    })
}

#[test]
fn parity_and_winding_find_the_centres_that_cones_surround() {
    let (mut odd, mut more, mut as_given) = (0, 0, 0);
    for (what, mesh) in closed_meshes() {
        let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
        let (grid, filling) = solid(&mesh, Fill::Parity);
        assert!(grid == expected, "{what}, parity: {grid:?} rather than {expected:?}");
        assert!(filling.topology.is_closed() && !is_about_holes(&filling.doubts), "{what}");
        odd += expected.occupied();
        let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.winding != 0);
        let (grid, filling) = solid(&mesh, Fill::Winding);
        // A part that is flipped by itself encloses something else.
        let flipped = filling.flips.flipped_triangles;
        if flipped > 0 && flipped < mesh.len() as u64 {
            continue;
        }
        as_given += 1;
        assert!(grid == expected, "{what}, winding: {grid:?} rather than {expected:?}");
        // What turns itself inside out is said to.
        let is_known = matches!(filling.doubts[..], [] | [FillWarning::Opposed { .. }]);
        assert!(filling.topology.is_oriented() && is_known, "{what}: {:?}", filling.doubts);
        more += expected.subtract(&solid(&mesh, Fill::Parity).0).occupied();
    }
    assert!(odd > 10_000 && more > 500, "{odd} by parity, {more} more by winding");
    assert!(as_given >= 40, "{as_given} meshes as given");
}

#[test]
fn the_oracle_tells_ties_the_other_way_and_counts_apart() {
    let mut noticed = [0; 4];
    for round in 0..150 {
        let mesh = placed(&tetrahedra(&mut Rng::with_seed(round), 3, 8), [4; 3]);
        let right = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
        for (axis, noticed) in noticed.iter_mut().enumerate().take(3) {
            let mut turned = TIE_RULE;
            turned[axis] *= -1;
            *noticed += i32::from(inside::solid(&mesh, turned, |s| s.is_odd) != right);
        }
        let wound = |surrounded: Surrounded| surrounded.winding != 0;
        noticed[3] += i32::from(inside::solid(&mesh, TIE_RULE, wound) != right);
    }
    assert!(noticed.iter().all(|&n| n > 2), "{noticed:?}");
}

/// Meshes without centres on them, nor columns through their edges.
fn generic_meshes() -> [(&'static str, Mesh); 3] {
    let shifted = |mesh: Mesh| {
        let turned = mesh.with_positions(|[x, y, z]| {
            let [x, y] = [0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y];
            let [y, z] = [0.28 * y - 0.96 * z, 0.96 * y + 0.28 * z];
            [x + 0.0123, y + 0.0234, z + 0.0345]
        });
        turned.unwrap()
    };
    [
        ("sphere", shifted(sphere(1.0, 24, 48))),
        ("torus", shifted(torus(1.0, 0.4, 48, 24))),
        ("nested", shifted(together(&[sphere(1.0, 12, 24), sphere(0.7, 12, 24)]))),
    ]
}

#[test]
fn all_fills_agree_on_what_is_closed_once() {
    for (name, mesh) in generic_meshes().into_iter().take(2) {
        for resolution in [9, 33, 64, 100] {
            let options = PlaceOptions::new(Sizing::Resolution(resolution)).with_pad(1);
            let mesh = place(&mesh, &options).unwrap();
            let (grid, _) = solid(&mesh, Fill::Parity);
            for fill in [Fill::Auto, Fill::Winding, Fill::Vote] {
                assert_certain(&mesh, fill, &grid);
            }
            let flooded = grid.union(&surface(&mesh));
            assert_certain(&mesh, Fill::Flood, &flooded);
            println!("{name} at {resolution}: {grid:?}");
        }
    }
}

#[test]
fn shells_without_a_voxel_are_counted_unless_the_surface_is_included() {
    let block = cuboid([0.0; 3], [8.0, 4.0, 4.0]);
    let fin = cuboid([3.0, 1.6, 4.0], [7.0, 1.9, 9.0]);
    let parts = together(&[block.clone(), fin.clone()]);
    let empty = |mesh: &PlacedMesh| {
        let empty = solid(mesh, Fill::Auto).1.empty_shells;
        empty.map(|empty| (empty.count, empty.longest))
    };
    assert_eq!(empty(&at_voxel_size(&parts, 1.0)), Some((1, 5.0)));
    assert_eq!(empty(&at_voxel_size(&parts, 0.25)), Some((0, 0.0)));
    let said = sentence(&at_voxel_size(&parts, 1.0), Fill::Auto);
    let expected = "; 1 of 2 shells has no voxel (up to 5.0 voxels long): it is thinner \
                    than a voxel, or a cavity";
    assert!(said.ends_with(expected), "{said}");
    // A cavity has no voxel either, and is none of them; its core is.
    let cavity = inside_out(&cuboid([1.5, 0.5, 0.5], [6.5, 3.5, 3.5]));
    let core = cuboid([3.1, 2.1, 2.1], [3.4, 2.4, 2.4]);
    for (parts, expected) in [
        (vec![block.clone(), cavity.clone()], (0, 0.0)),
        (vec![inside_out(&block), inside_out(&cavity)], (0, 0.0)),
        (vec![block.clone(), cavity, core], (1, 0.3)),
    ] {
        let (count, longest) = empty(&at_voxel_size(&together(&parts), 1.0)).unwrap();
        assert_eq!(count, expected.0);
        assert!((longest - expected.1).abs() < 0.01, "{longest}");
    }
    let open = lidless_cube([3.0, 1.0, -9.0], 0.3);
    let turned = inside_out(&cuboid([9.1, 0.0, 0.0], [9.3, 4.0, 4.0]));
    let more = together(&[parts.clone(), open, turned]);
    assert_eq!(empty(&at_voxel_size(&more, 1.0)), Some((3, 5.0)));
    // One shell, and a part that is not in the grid.
    assert_eq!(empty(&at_voxel_size(&fin, 1.0)), None);
    assert_eq!(empty(&within(&parts, 1.0, [0.0; 3], [8.0, 4.0, 8.0])), Some((0, 0.0)));
    let mode = Mode::Solid(Solid { fill: Fill::Auto, include_surface: true });
    let with_surface = in_mode(&at_voxel_size(&parts, 1.0), mode);
    assert_eq!(with_surface.fill_report.unwrap().empty_shells, None);
}

#[test]
fn a_shell_has_a_voxel_if_a_voxels_centre_is_in_its_bounding_box() {
    let mut rng = Rng::with_seed(91);
    let mut counts = [0_u64; 2];
    for _ in 0..40 {
        let cuboids: Vec<[[f64; 3]; 2]> = (0..12)
            .map(|_| {
                let sixteenths = |rng: &mut Rng, most: i32| f64::from(rng.i32(1..most)) / 16.0;
                let min = [(); 3].map(|()| sixteenths(&mut rng, 600));
                let thin = rng.usize(0..3);
                let most = |a: usize| if a == thin { 24 } else { 400 };
                [min, [0, 1, 2].map(|a| min[a] + sixteenths(&mut rng, most(a)))]
            })
            .collect();
        let meshes: Vec<Mesh> = cuboids.iter().map(|&[min, max]| cuboid(min, max)).collect();
        let (grid, report) = solid(&in_grid(&together(&meshes), [64; 3]), Fill::Auto);
        let has_voxel = |[min, max]: &[[f64; 3]; 2]| {
            let is_in = |voxel: [u32; 3]| {
                let center = voxel.map(|c| f64::from(c) + 0.5);
                (0..3).all(|a| (min[a]..=max[a]).contains(&center[a]))
            };
            grid.voxels().any(is_in)
        };
        let expected = cuboids.iter().filter(|bounds| !has_voxel(bounds)).count() as u64;
        assert_eq!(report.empty_shells.map(|empty| empty.count), Some(expected), "{cuboids:?}");
        counts[0] += expected;
        counts[1] += cuboids.len() as u64 - expected;
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn the_shell_adds_the_surface_and_nothing_else() {
    let meshes = closed_meshes().take(12).map(|(_, mesh)| mesh);
    for mesh in meshes.chain([in_grid(&open_cube(1, true), [12; 3])]) {
        for fill in FILLS {
            let with_shell = in_mode(&mesh, Mode::Solid(Solid { fill, include_surface: true }));
            let (grid, filling) = solid(&mesh, fill);
            assert!(with_shell.grid == grid.union(&surface(&mesh)), "{fill}");
            let volumes = |filling: &FillReport| (filling.voxel_volume, filling.mesh_volume);
            let found = volumes(&with_shell.fill_report.unwrap());
            assert_eq!(found, volumes(&filling), "{fill}: the shell is not of the volume");
        }
    }
}

#[test]
fn no_path_leads_from_outside_into_a_solid_but_through_the_surface() {
    let mut enclosed = 0;
    for (name, mesh) in generic_meshes() {
        for resolution in [10, 31, 64] {
            let mesh = at_resolution(&mesh, resolution);
            let surface = surface(&mesh);
            let outside = paths::reached_from_outside(&surface);
            let (grid, _) = solid(&mesh, Fill::Auto);
            assert_eq!(grid.intersection(&outside).occupied(), 0, "{name} at {resolution}");
            enclosed += grid.subtract(&surface).occupied();
            // Without one voxel of the surface there is such a path, somewhere.
            let is_way = |voxel: &[u32; 3]| {
                let beside = || paths::neighbours(*voxel, grid.dims());
                let inner = grid.subtract(&surface);
                beside().any(|v| inner.contains(v)) && beside().any(|v| outside.contains(v))
            };
            if let Some(gap) = surface.voxels().find(is_way) {
                let pierced = surface.subtract(&block(grid.dims(), gap, gap.map(|c| c + 1)));
                let outside = paths::reached_from_outside(&pierced);
                assert!(grid.intersection(&outside).occupied() > 0, "{name} at {resolution}");
            }
        }
    }
    assert!(enclosed > 100_000, "{enclosed}");
}

/// The voxels moved by `by`, in a grid of `dims`; those that leave it are lost.
fn moved(grid: &VoxelGrid, by: [i32; 3], dims: [u32; 3]) -> VoxelGrid {
    let voxels = grid.voxels().filter_map(|voxel| {
        let to = [0, 1, 2].map(|a| voxel[a].wrapping_add_signed(by[a]));
        (0..3).all(|a| to[a] < dims[a]).then_some(to)
    });
    VoxelGrid::from_voxels(dims, voxels).unwrap()
}

#[test]
fn whole_voxel_shifts_and_the_order_of_triangles_change_nothing_else() {
    let mut rng = Rng::with_seed(7);
    for round in 0..12 {
        let triangles = match round % 2 {
            0 => tetrahedra(&mut rng, 5, 22),
            _ => crumpled_torus(&mut rng, 5, 4, UNIT / 2, 22),
        };
        // What it touches is in the grid, too.
        let mut triangles = all_moved(&triangles, [UNIT; 3]);
        // An open one, too.
        if round % 3 == 0 {
            triangles.pop();
        }
        let by = [(); 3].map(|()| rng.i32(1..=9));
        let shifted = all_moved(&triangles, by.map(|c| c * UNIT));
        let mut shuffled = triangles.clone();
        rng.shuffle(&mut shuffled);
        shuffled.iter_mut().for_each(|triangle| triangle.rotate_left(rng.usize(0..3)));
        let dims = [22; 3];
        for fill in FILLS {
            let (grid, filling) = solid(&placed(&triangles, dims), fill);
            let (same, said) = solid(&placed(&shuffled, dims), fill);
            assert!(same == grid, "{fill}: {same:?} rather than {grid:?}");
            assert_eq!(said.sentence(), filling.sentence());
            if round % 3 != 0 || matches!(fill, Fill::Flood | Fill::Vote | Fill::Auto) {
                let (there, _) = solid(&placed(&shifted, dims), fill);
                assert!(there == moved(&grid, by, dims), "{fill}, {by:?}");
            }
        }
    }
}

#[test]
fn axes_in_turn_give_the_same_solid_turned() {
    let back = |[x, y, z]: [u32; 3]| [y, z, x];
    for (name, mesh) in generic_meshes() {
        let turned = mesh.clone().with_positions(|[x, y, z]| [z, x, y]).unwrap();
        for resolution in [20, 65] {
            for fill in FILLS {
                let (grid, _) = solid(&at_resolution(&mesh, resolution), fill);
                let (other, _) = solid(&at_resolution(&turned, resolution), fill);
                let voxels = other.voxels().map(back);
                let other = VoxelGrid::from_voxels(back(other.dims()), voxels).unwrap();
                assert!(other == grid, "{name} at {resolution}, {fill}: {other:?} and {grid:?}");
            }
        }
    }
}

#[test]
fn what_bounds_cut_off_changes_nothing_within_them() {
    // All sides of the torus are cut, and of the cube only the far ones.
    let knot = |mesh: Mesh| in_grid(&mesh, [20, 18, 22]);
    let cut_torus = torus(14.0, 6.0, 48, 24);
    let cut_torus =
        cut_torus.with_positions(|[x, y, z]| [x + 10.1, y + 9.2, 3.0 * z + 11.3]).unwrap();
    for (what, mesh) in [
        ("torus", knot(cut_torus)),
        ("cube", knot(cube([1.2; 3], 100.3))),
        ("all", knot(cube([-30.2; 3], 100.3))),
    ] {
        assert!(mesh.outside() > 0);
        let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
        assert!(expected.occupied() > 1_000, "{what}: {expected:?}");
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
            let filling = assert_certain(&mesh, fill, &expected);
            assert_eq!(filling.mesh_volume, None, "{what}: it is not all there");
        }
        let (grid, filling) = solid(&mesh, Fill::Flood);
        assert_eq!(filling.findings.enclosed, Some(0), "{what}");
        let voxels = expected.subtract(&grid).occupied();
        assert_eq!(filling.doubts, [FillWarning::Leak { voxels, enclosed: 0 }], "{what}");
    }
}

#[test]
fn a_shell_inside_out_beside_or_in_another_is_flipped_and_doubtful_by_parity_if_they_overlap() {
    let dims = [180, 82, 82];
    let one = block(dims, [1; 3], [81; 3]);
    for (at, overlap) in [(90, 0), (21, 60 * 80 * 80)] {
        let [lo, hi] = [0.25, 87.75].map(|c| f64::from(at) + c);
        let other = inside_out(&cuboid([lo, 1.25, 1.25], [hi, 80.75, 80.75]));
        let mesh = in_grid(&together(&[cube([1.25; 3], 79.5), other]), dims);
        let other = block(dims, [at, 1, 1], [at + 88, 81, 81]);
        let expected = one.union(&other).subtract(&one.intersection(&other));
        assert_eq!(expected.occupied(), 168 * 80 * 80 - 2 * overlap);
        for fill in [Fill::Parity, Fill::Vote] {
            let (grid, filling) = solid(&mesh, fill);
            assert!(grid == expected, "{fill}: {grid:?}");
            let overlaps = FillWarning::Overlap { columns: 80 * 80 };
            let expected = if overlap > 0 { vec![overlaps] } else { vec![] };
            assert_eq!(filling.doubts, expected, "{fill}");
            assert_eq!(filling.flips.flipped_patches, 1);
        }
        for fill in [Fill::Auto, Fill::Winding] {
            let filling = assert_certain(&mesh, fill, &one.union(&other));
            assert_eq!(filling.flips.flipped_patches, 1);
        }
        assert_certain(&mesh, Fill::Flood, &one.union(&other));
    }
}

/// A prism over a polygon that crosses itself: its two wings have opposite orientation.
fn bow_tie() -> Mesh {
    let outline = [[1.25, 1.25], [21.25, 11.25], [21.25, 1.25], [1.25, 11.25]];
    let corners = [1.25, 8.25].map(|z| outline.map(|[x, y]| [x, y, z])).concat();
    let mut triangles = vec![[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]];
    for i in 0..4 {
        let j = (i + 1) % 4;
        triangles.extend([[i, j, j + 4], [i, j + 4, i + 4]]);
    }
    Mesh::new(corners, triangles).unwrap()
}

#[test]
fn a_mesh_that_no_flip_orients_is_doubtful_by_winding() {
    let mesh = in_grid(&bow_tie(), [24, 14, 10]);
    let (grid, filling) = solid(&mesh, Fill::Winding);
    let [FillWarning::Opposed { columns }] = filling.doubts[..] else {
        panic!("{:?}", filling.doubts);
    };
    assert!(columns > 0 && filling.flips.flipped_triangles == 0);
    let (by_parity, filling) = solid(&mesh, Fill::Parity);
    assert!(grid == by_parity && grid.occupied() > 300);
    assert_eq!(filling.doubts, [FillWarning::Opposed { columns }]);
}

#[test]
fn a_sheet_in_a_cube_is_not_said_to_be_inside_out() {
    let sheet = mesh_of(&[[[4.0, 4.0, 4.0], [4.0, 8.0, 4.0], [4.5, 4.0, 8.0]]]);
    for sheet in [inside_out(&sheet), sheet] {
        let mesh = in_grid(&together(&[cube([1.25; 3], 9.5), sheet]), [12; 3]);
        let (grid, filling) = solid(&mesh, Fill::Vote);
        assert_eq!(grid, block([12; 3], [1; 3], [11; 3]));
        let is_about_sign = |doubt: &FillWarning| matches!(doubt, FillWarning::Opposed { .. });
        assert!(!filling.doubts.iter().any(is_about_sign), "{:?}", filling.doubts);
    }
}

fn sentence(mesh: &PlacedMesh, fill: Fill) -> String {
    let sentence = solid(mesh, fill).1.sentence();
    assert!(!sentence.contains('\n') && !sentence.contains("  "), "{sentence}");
    sentence
}

#[test]
fn a_sentence_says_what_the_mesh_is_how_it_was_filled_and_every_doubt() {
    let dims = [12; 3];
    let whole = in_grid(&cube([1.25; 3], 9.5), dims);
    let share = "; the voxels have 116.64 % of the mesh's volume";
    assert_eq!(
        sentence(&whole, Fill::Auto),
        format!("1 shell, closed: filled by parity, the mesh is closed{share}")
    );
    assert_eq!(
        sentence(&whole, Fill::Vote),
        format!("1 shell, closed: filled by vote, asked for, and rays along all axes agree{share}")
    );
    let open = in_grid(&open_cube(0, true), dims);
    assert_eq!(
        sentence(&open, Fill::Auto),
        "1 shell, with 4 open edges: filled by winding, the mesh has 4 open edges, capped at 1 \
         boundary loop"
    );
    assert_eq!(
        sentence(&open, Fill::Parity),
        "1 shell, with 4 open edges: filled by parity, asked for; doubtful, as rays pass through \
         holes of the mesh, which has 4 open edges: 100 columns are still inside at the grid's end"
    );
    assert_eq!(
        sentence(&open, Fill::Flood),
        "1 shell, with 4 open edges: filled by flood, asked for; doubtful, as the flood came in \
         through holes wider than a voxel, or where the bounds cut the mesh: it enclosed 0 voxels, \
         and reached 576 that most rays find inside"
    );
    let bottle = at_resolution(&klein_bottle(40, 24), 40);
    let wound = sentence(&bottle, Fill::Winding);
    let begin = "1 shell, closed, but not consistently oriented: filled by winding, asked for, capped \
                 at 2 boundary loops";
    let end = "; doubtful, as triangles at 24 edges are inconsistently oriented, and flipping cannot \
               repair it, so the solid may be wrong behind them";
    assert!(wound.starts_with(begin) && wound.ends_with(end), "{wound}");
    let twice = in_grid(&together(&[cube([1.25; 3], 39.5), cube([1.25; 3], 39.5)]), [42; 3]);
    assert_eq!(
        sentence(&twice, Fill::Parity),
        "1 shell, closed: filled by parity, asked for; the voxels have 0.00 % of the mesh's volume; \
         doubtful, as overlapping or nested parts cancel in 1,600 columns, leaving cavities"
    );
    assert_eq!(
        sentence(&bottle, Fill::Parity),
        "1 shell, closed, but not consistently oriented: filled by parity, asked for; doubtful, as \
         triangles at 24 edges are inconsistently oriented, so overlapping parts, if there are any, \
         cancel and leave cavities"
    );
    let crossed = sentence(&in_grid(&bow_tie(), [24, 14, 10]), Fill::Parity);
    let inside_out = "parts of shells that cross themselves or their cavities are inside out in ";
    assert!(crossed.contains(&format!("; doubtful, as {inside_out}")), "{crossed}");
    let slanted = mesh_of(&[[[1.3, 2.2, 3.1], [9.2, 4.3, 1.7], [3.6, 8.7, 9.4]]]);
    let slanted = sentence(&in_grid(&slanted, dims), Fill::Vote);
    let disputed = "1 shell, with 3 open edges: filled by vote, asked for; doubtful, as rays along \
                    different axes disagree in 35 of 35 columns (100 %), most near voxel (1, 2, 3)";
    assert_eq!(slanted, disputed);
}

#[test]
fn large_holes_are_doubtful_and_narrow_gaps_are_not() {
    let ball = sphere(1.0, 24, 48);
    let below = |z: f64| {
        let is_below = |t: &&[u32; 3]| t.iter().all(|&v| ball.positions()[v as usize][2] < z);
        with_triangles(&ball, ball.triangles().iter().filter(is_below).copied().collect())
    };
    for (what, mesh, expected) in [
        ("triangles that are apart", apart(&ball, 0.9), None),
        ("a ball with a small hole", below(0.9), None),
        ("a cube without a side", open_cube(2, true), None),
        ("half a ball", below(0.01), Some(0.54)),
        ("a third of a ball", below(-0.3), Some(0.9)),
    ] {
        let (_, filling) = solid(&at_resolution(&mesh, 96), Fill::Auto);
        assert_eq!(filling.fill, Fill::Winding, "{what}");
        match (&filling.doubts[..], expected) {
            ([], None) => {}
            ([FillWarning::Uncertain { loops: 1, share, .. }], Some(expected)) => {
                assert!((share - expected).abs() < 0.05, "{what}: {share}");
                let text = format!(
                    "the mesh has large holes (1 boundary loop): {:.0} % of the solid is uncertain; \
                     close the holes in the mesh",
                    100.0 * share
                );
                assert_eq!(filling.doubts[0].to_string(), text);
            }
            (doubts, _) => panic!("{what}: {doubts:?}"),
        }
    }
}

#[test]
fn an_inner_wall_is_not_called_a_hole() {
    let block = cuboid([0.0; 3], [8.0; 3]);
    // From edge to edge: the corner at x + 2 y + 4 z.
    let wall = [[0, 4, 7], [0, 7, 3]];
    let mesh = with_triangles(&block, [block.triangles(), &wall].concat());
    let (grid, filling) = solid(&at_resolution(&mesh, 64), Fill::Auto);
    assert_eq!((grid.occupied(), filling.topology.open_edges), (64 * 64 * 64, 0));
    let [doubt] = &filling.doubts[..] else { panic!("{:?}", filling.doubts) };
    assert!(doubt.to_string().starts_with("surfaces end at others, as inner walls do"), "{doubt}");
    assert_eq!(doubt.better(), Some(Fill::Vote));
}

#[test]
fn the_wall_of_a_cavity_is_not_flipped_because_it_is_seen_through_a_hole_or_through_gaps() {
    let shells = |outer: Mesh, inner: Mesh| together(&[outer, inside_out(&inner)]);
    let boxes = || (cuboid([0.0; 3], [1.0; 3]), cuboid([0.1; 3], [0.9; 3]));
    let balls = || (sphere(1.0, 24, 48), sphere(0.5, 24, 48));
    let mut meshes = Vec::new();
    for hole in 0..12 {
        let (outer, inner) = boxes();
        let mut triangles = outer.triangles().to_vec();
        triangles.remove(hole);
        meshes.push((boxes(), shells(with_triangles(&outer, triangles), inner)));
    }
    for (outer, inner) in [boxes(), balls()] {
        for factor in [0.97, 0.999] {
            let soup = apart(&shells(outer.clone(), inner.clone()), factor);
            meshes.push(((outer.clone(), inner.clone()), soup));
        }
    }
    for (index, ((outer, inner), mesh)) in meshes.into_iter().enumerate() {
        let [whole, mesh] = [shells(outer, inner), mesh].map(|mesh| at_resolution(&mesh, 48));
        let (expected, _) = solid(&whole, Fill::Auto);
        let (found, filling) = solid(&mesh, Fill::Auto);
        let flipped = filling.flips.flipped_triangles;
        assert!(flipped <= mesh.len() as u64 / 100, "{index}: {flipped}");
        // Caps are not where the triangles were.
        let wrong = found.differing_voxels(&expected).count();
        assert!((wrong as u64) < expected.occupied() / 20, "{index}: {wrong}");
    }
}

#[test]
fn columns_of_sight_are_not_refined_at_a_high_depth_complexity() {
    // Above a stack of squares, a small cube inside out: only columns of width 1 see it, since
    // those of width 4 and 16 have their centres at 4 n + 2 and 16 n + 8.
    let flipped = |squares: u32| {
        let square = |index: u32| {
            let y = 0.25 * f64::from(index);
            let corners = [[0.0, 0.0], [0.0, 512.0], [512.0, 512.0], [512.0, 0.0]];
            let [a, b, c, d] = corners.map(|[x, z]| [x, y, z]);
            [[a, b, c], [a, c, d]]
        };
        let squares = mesh_of(&(0..squares).flat_map(square).collect::<Vec<_>>());
        let cube = inside_out(&cube([100.2, 500.2, 100.2], 1.6));
        let mesh = at_resolution(&together(&[cube, squares]), 512);
        solid(&mesh, Fill::Parity).1.flips.flipped_triangles
    };
    // The lowest square shows its back from below.
    assert_eq!(flipped(100), 12 + 2);
    assert_eq!(flipped(1_100), 2);
}

#[test]
fn neither_padding_nor_bounds_change_the_solid_of_a_soup() {
    let mut rng = Rng::with_seed(4);
    for count in [30, 150] {
        // Corners up to 100: of size 1, the grid has 100 voxels an axis.
        let mut corner = || [0; 3].map(|_| 100.0 * rng.f64());
        let mut triangles: Vec<_> = (0..count).map(|_| [corner(), corner(), corner()]).collect();
        triangles.push([[0.0; 3], [100.0; 3], [0.0, 0.0, 100.0]]);
        let mesh = mesh_of(&triangles);
        let options = PlaceOptions::new(Sizing::VoxelSize(1.0));
        for fill in [Fill::Auto, Fill::Winding] {
            let (expected, filling) = solid(&place(&mesh, &options).unwrap(), fill);
            assert!(expected.occupied() > 1_000 && filling.flips.flipped_triangles > 0);
            for pad in [1, 3, 20] {
                let (padded, _) = solid(&place(&mesh, &options.with_pad(pad)).unwrap(), fill);
                let within = padded.in_box([i64::from(pad); 3], expected.dims()).unwrap();
                assert!(within == expected, "{count}, {fill}, {pad}: {padded:?}, not {expected:?}");
            }
            for max in [[100.0, 50.0, 100.0], [31.0, 7.0, 64.0]] {
                let bounds = Bounds { min: [0.0; 3], max };
                let (cut, _) = solid(&place(&mesh, &options.with_bounds(bounds)).unwrap(), fill);
                let expected = expected.in_box([0; 3], cut.dims()).unwrap();
                assert!(cut == expected, "{count}, {fill}, {max:?}: {cut:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn the_order_of_triangles_does_not_tell_how_an_unseen_patch_faces() {
    // Neither orientation of the inner shell has more area.
    let inner = cuboid([2.0; 3], [6.0; 3]);
    let inner = (0..6).fold(inner, |inner, side| with_flipped(&inner, 2 * side));
    let mesh = together(&[cuboid([0.0; 3], [8.0; 3]), inner]);
    let mut rng = Rng::with_seed(12);
    let mut triangles = mesh.triangles().to_vec();
    let mut solids = BTreeSet::new();
    for _ in 0..20 {
        rng.shuffle(&mut triangles);
        let placed = at_resolution(&with_triangles(&mesh, triangles.clone()), 32);
        solids.insert(solid(&placed, Fill::Winding).0.hash().to_string());
    }
    assert_eq!(solids.len(), 1);
}

/// A model of the folder that `TRIVOX_MESHES` names.
fn model(name: &str) -> Option<Mesh> {
    Some(read_mesh(environment::models()?.join(name)).unwrap().mesh)
}

/// `mesh` with each piece of its open border joined to the piece's middle.
fn capped(mesh: &Mesh) -> Mesh {
    let mut numbers = BTreeMap::new();
    let points = mesh.positions().iter().zip(0..);
    let welded: Vec<u32> =
        points.map(|(p, i)| *numbers.entry(p.map(f64::to_bits)).or_insert(i)).collect();
    let sides = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| welded[v as usize]);
        [[a, b], [b, c], [c, a]]
    };
    let all: BTreeSet<[u32; 2]> = mesh.triangles().iter().flat_map(sides).collect();
    let mut open: BTreeSet<[u32; 2]> =
        all.iter().copied().filter(|&[a, b]| !all.contains(&[b, a])).collect();
    let mut positions = mesh.positions().to_vec();
    let mut triangles = mesh.triangles().to_vec();
    while let Some(first) = open.pop_first() {
        let mut piece = vec![first];
        let mut corners = BTreeSet::from(first);
        while let Some(&next) = open.iter().find(|edge| edge.iter().any(|v| corners.contains(v))) {
            open.remove(&next);
            corners.extend(next);
            piece.push(next);
        }
        let middle = positions.len() as u32;
        let sum = |a: usize| corners.iter().map(|&v| positions[v as usize][a]).sum::<f64>();
        positions.push([0, 1, 2].map(|a| sum(a) / corners.len() as f64));
        triangles.extend(piece.into_iter().map(|[a, b]| [b, a, middle]));
    }
    Mesh::new(positions, triangles).unwrap()
}

#[test]
fn the_bunny_is_nearly_the_solid_that_it_is_with_its_holes_closed() {
    let Some(mesh) = model("bunny.obj") else { return };
    let closed = capped(&mesh);
    for resolution in [33, 100, 256] {
        let (grid, filling) = solid(&at_resolution(&mesh, resolution), Fill::Auto);
        assert_eq!((filling.fill, filling.topology.open_edges), (Fill::Winding, 223));
        let (expected, certain) = solid(&at_resolution(&closed, resolution), Fill::Parity);
        assert_eq!(certain.doubts, []);
        let [more, less] =
            [grid.subtract(&expected), expected.subtract(&grid)].map(|g| g.occupied());
        println!("{resolution}: {more} more, {less} less of {expected:?}; {}", filling.sentence());
        let wrong = more + less;
        assert!(wrong * 400 < expected.occupied(), "{wrong} at {resolution}");
        // One ray, from one side, is wrong on far more.
        let (parity, _) = solid(&at_resolution(&mesh, resolution), Fill::Parity);
        let by_parity =
            parity.subtract(&expected).occupied() + expected.subtract(&parity).occupied();
        assert!(by_parity > 5 * wrong, "{by_parity} by parity, {wrong} by winding");
    }
}

#[test]
fn models_of_open_parts_that_overlap_have_no_cavities() {
    for (name, resolution) in
        ["teapot.obj", "suzanne.obj"].into_iter().flat_map(|name| [33, 100].map(|n| (name, n)))
    {
        let Some(mesh) = model(name) else { return };
        let mesh = at_resolution(&mesh, resolution);
        let enclosed = |fill: Fill| {
            let (grid, filling) = solid(&mesh, fill);
            println!("{name} at {resolution}: {grid:?}; {}", filling.sentence());
            fill::flood(&grid.union(&surface(&mesh)), u64::MAX, &NoProgress).unwrap().1
        };
        // Gaps between the teapot and its lid.
        assert!(enclosed(Fill::Auto) <= 3, "{name} at {resolution}");
        if resolution == 100 {
            assert!(enclosed(Fill::Vote) > 500, "{name} at {resolution}");
        }
    }
}

/// Two cubes that overlap in a cube of 5, in voxels of 1 and of a tenth.
fn overlapping(more: &[Mesh]) -> Vec<PlacedMesh> {
    let cubes = [cube([0.0; 3], 10.0), cube([5.0; 3], 10.0)];
    let mesh = together(&[&cubes[..], more].concat());
    [1.0, 0.1].map(|size| at_voxel_size(&mesh, size)).into()
}

#[test]
fn overlaps_are_doubtful_by_parity_and_votes_and_filled_by_winding_whatever_else_is_wrong() {
    // Elsewhere in the scene a box has a hole, or a triangle is turned.
    let open = lidless_cube([20.0; 3], 2.0);
    let turned = with_flipped(&cube([20.0; 3], 2.0), 0);
    for more in [&[][..], &[open], &[turned]] {
        for mesh in overlapping(more) {
            for fill in [Fill::Parity, Fill::Vote] {
                let (_, filling) = solid(&mesh, fill);
                assert!(filling.is_doubtful(), "{fill}: {}", filling.sentence());
            }
            let (_, filling) = solid(&mesh, Fill::Auto);
            assert_eq!(filling.fill, Fill::Winding);
            assert!(!filling.is_doubtful(), "{}", filling.sentence());
        }
    }
}

#[test]
fn a_flood_that_encloses_nothing_of_a_mesh_with_holes_is_doubtful() {
    // A cube without the sides across x and y.
    let sides = cube([0.0; 3], 10.0);
    let mesh = with_triangles(&sides, sides.triangles()[8..].to_vec());
    let doubts = solid(&at_voxel_size(&mesh, 1.0), Fill::Flood).1.doubts;
    assert!(matches!(doubts[0], FillWarning::Leak { enclosed: 0, .. }), "{doubts:?}");
}

#[test]
fn a_thin_rod_around_centres_is_certain() {
    let rod = cuboid([0.0, 0.45, 0.45], [64.0, 0.55, 0.55]);
    let (grid, filling) = solid(&in_grid(&rod, [64, 8, 8]), Fill::Auto);
    assert_eq!((grid.occupied(), &filling.doubts[..]), (64, &[][..]));
}

/// Winding numbers of 300 such triangles took 30 seconds at 256 voxels.
#[test]
fn the_automatic_fill_weighs_the_work_of_winding_numbers() {
    let few = at_resolution(&mesh_of(&large_triangles(12)), 64);
    assert_eq!(solid(&few, Fill::Auto).1.fill, Fill::Winding);
    let many = mesh_of(&large_triangles(300));
    // In few voxels they take little.
    assert_eq!(solid(&at_resolution(&many, 16), Fill::Auto).1.fill, Fill::Winding);
    let (grid, filling) = solid(&at_resolution(&many, 256), Fill::Auto);
    assert!(matches!(filling.fill, Fill::Vote | Fill::Flood), "{}", filling.sentence());
    let reason = "the mesh has 900 open edges, for which the fill winding would take long";
    assert!(filling.reason.starts_with(reason), "{}", filling.reason);
    assert!(filling.is_doubtful() && grid.occupied() > 0);
    // Neither bounds nor the number of voxels above 256 change the choice.
    for resolution in [200, 300] {
        let bounds = Bounds { min: [0.25; 3], max: [0.5; 3] };
        let sizing = Sizing::VoxelSize(1.0 / f64::from(resolution));
        let part = place(&many, &PlaceOptions::new(sizing).with_bounds(bounds)).unwrap();
        assert!(solid(&part, Fill::Auto).1.reason.starts_with(reason), "{resolution}");
    }
    // Many small holes take less than few large ones.
    let small: Vec<_> = (large_triangles(300).into_iter())
        .map(|[a, b, c]| {
            [a, b, c].map(|p| [0, 1, 2].map(|axis| a[axis] + 0.004 * (p[axis] - a[axis])))
        })
        .collect();
    assert_eq!(solid(&at_resolution(&mesh_of(&small), 256), Fill::Auto).1.fill, Fill::Winding);
}
