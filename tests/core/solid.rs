//! Solids: meshes whose solid is known, and the doubts about those that have none; closed meshes of
//! every kind against an oracle that follows no columns; relations between fills and modes.
use crate::common::inside::{self, Surrounded, TIE_RULE};
use crate::common::paths;
use crate::common::prelude::*;
use trivox::solid::{FillWarning, fill};

/// All but the flood.
const BY_CROSSINGS: [Fill; 4] = [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote];

/// Fills as asked and expects those voxels and doubts.
fn assert_filled(
    mesh: &PlacedMesh,
    fill: Fill,
    expected: &VoxelGrid,
    doubts: &[FillWarning],
    what: &str,
) -> FillReport {
    let (grid, filling) = solid(mesh, fill);
    assert!(grid == *expected, "{what}, {fill}: {grid:?} rather than {expected:?}");
    assert_eq!(filling.doubts, doubts, "{what}, {fill}");
    filling
}

fn assert_certain(mesh: &PlacedMesh, fill: Fill, expected: &VoxelGrid, what: &str) -> FillReport {
    assert_filled(mesh, fill, expected, &[], what)
}

fn is_about_holes(doubts: &[FillWarning]) -> bool {
    matches!(doubts, [FillWarning::Holes { .. }])
}

#[test]
fn a_cube_at_n_is_n_cubed_whatever_the_fill() {
    for n in 1..=300 {
        let mesh = at_resolution(&cube([0.1, -0.2, 7.0], 0.3), n);
        // The others take several times as long as `Auto`.
        let fills = if n <= 66 || n % 37 == 0 { Fill::ALL } else { &[Fill::Auto] };
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

/// A mesh of closed boxes, and its solids.
struct Known {
    what: &'static str,
    mesh: Mesh,
    /// The volume of the boxes, less that of cavities.
    volume: u64,
    /// The voxels with a winding number: without cavities.
    wound: VoxelGrid,
    /// The voxels in an odd number of boxes.
    odd: VoxelGrid,
    /// The voxels that the surface encloses: with cavities.
    enclosed: VoxelGrid,
    /// The columns in which parts overlap.
    overlap: u64,
    flipped_patches: u64,
}

/// Boxes whose solid is the same by every fill that counts crossings.
fn known(what: &'static str, mesh: Mesh, solid: VoxelGrid, enclosed: VoxelGrid) -> Known {
    let (volume, odd, wound) = (solid.occupied(), solid.clone(), solid);
    Known { what, mesh, volume, wound, odd, enclosed, overlap: 0, flipped_patches: 0 }
}

/// A box from a quarter of a voxel past `lo` to as much past `hi`, and its voxels.
fn boxed(dims: [u32; 3], lo: [u32; 3], hi: [u32; 3]) -> (Mesh, VoxelGrid) {
    let [min, max] = [lo, hi].map(|corner| corner.map(|c| f64::from(c) + 0.25));
    (cuboid(min, max), block(dims, lo, hi))
}

/// Two boxes; those that are not inverted face the same way.
fn two_boxes(what: &'static str, boxes: [(Mesh, VoxelGrid); 2], overlap: u64) -> Known {
    let [(mesh, first), (other, second)] = boxes;
    let (union, volume) = (first.union(&second), first.occupied() + second.occupied());
    let odd = union.subtract(&first.intersection(&second));
    let mesh = together(&[mesh, other]);
    Known { odd, volume, overlap, ..known(what, mesh, union.clone(), union) }
}

fn known_solids() -> Vec<Known> {
    let in_cube = |n: u32, lo: u32, hi: u32| boxed([n; 3], [lo; 3], [hi; 3]);
    let (one, whole) = in_cube(12, 1, 11);
    let (core, cavity) = in_cube(12, 4, 8);
    let hollow = together(&[one.clone(), inside_out(&core)]);

    let (mut matter, mut shells) = (VoxelGrid::empty([162; 3]).unwrap(), Vec::new());
    for depth in 0..40 {
        let (shell, within) = in_cube(162, 2 * depth + 1, 161 - 2 * depth);
        let is_cavity = depth % 2 == 1;
        matter = if is_cavity { matter.subtract(&within) } else { matter.union(&within) };
        // The innermost first.
        shells.insert(0, if is_cavity { inside_out(&shell) } else { shell });
    }

    // Degenerate triangles on vertices of their own: points, segments, and a sliver.
    let mut positions = one.positions().to_vec();
    positions.extend([[3.0, 4.0, 5.0], [6.0, 7.0, 5.0], [4.5, 5.5, 5.0], [3.0, 4.0, 5.0]]);
    let degenerate = [[8, 8, 8], [8, 9, 8], [0, 0, 7], [8, 9, 11], [8, 9, 10]];
    let degenerate = Mesh::new(positions, [one.triangles(), &degenerate].concat()).unwrap();
    assert_eq!(in_grid(&degenerate, [12; 3]).degenerate(), 5);

    let mut all = vec![
        known("a cube", one, whole.clone(), whole.clone()),
        known("a cavity", hollow, whole.subtract(&cavity), whole.clone()),
        known("forty in each other", together(&shells), matter, in_cube(162, 1, 161).1),
        known("degenerate triangles", degenerate, whole.clone(), whole),
        two_boxes("one in another", [in_cube(84, 2, 82), in_cube(84, 10, 74)], 64 * 64),
        two_boxes("an overlap", [in_cube(49, 2, 42), in_cube(49, 7, 47)], 35 * 35),
        two_boxes("twice over", [in_cube(42, 1, 41), in_cube(42, 1, 41)], 40 * 40),
    ];
    for (axes, what) in [(1, "a common face"), (2, "a common edge"), (3, "a common vertex")] {
        let corner = |on: u32, off: u32| [0, 1, 2].map(|a| if a < axes { on } else { off });
        let beside = boxed([11; 3], corner(5, 1), corner(9, 5));
        all.push(two_boxes(what, [in_cube(11, 1, 5), beside], 0));
    }
    for (what, at, overlap) in [("inverted beside", 90, 0), ("inverted within", 21, 80 * 80)] {
        let [one, (other, within)] = [(1, 81), (at, at + 88)]
            .map(|(from, to)| boxed([180, 82, 82], [from, 1, 1], [to, 81, 81]));
        let boxes = two_boxes(what, [one, (inside_out(&other), within)], overlap);
        all.push(Known { flipped_patches: 1, ..boxes });
    }
    all
}

#[test]
fn closed_boxes_are_filled_whichever_way_they_face_and_parity_is_empty_where_they_overlap() {
    for known in known_solids() {
        let overlap = FillWarning::Overlap { columns: known.overlap };
        let (fill, reason, doubts) = match known.overlap {
            0 => (Fill::Parity, "the mesh is closed", vec![]),
            _ => (Fill::Winding, "the mesh is closed, and parts overlap", vec![overlap]),
        };
        for is_turned in [false, true] {
            let mesh = if is_turned { inside_out(&known.mesh) } else { known.mesh.clone() };
            let mesh = in_grid(&mesh, known.wound.dims());
            let what = format!("{}, turned: {is_turned}", known.what);
            for by_parity in [Fill::Parity, Fill::Vote] {
                assert_filled(&mesh, by_parity, &known.odd, &doubts, &what);
            }
            assert_certain(&mesh, Fill::Winding, &known.wound, &what);
            let flooded = known.enclosed.union(&surface(&mesh));
            assert_certain(&mesh, Fill::Flood, &flooded, &what);

            let filling = assert_certain(&mesh, Fill::Auto, &known.wound, &what);
            assert_eq!(filling.fill, fill, "{what}");
            assert!(filling.reason.starts_with(reason), "{what}: {}", filling.reason);
            assert_eq!(filling.flips.flipped_patches, known.flipped_patches, "{what}");
            let is_inverted = is_turned && known.flipped_patches == 0;
            let volume = known.volume as f64 * if is_inverted { -1.0 } else { 1.0 };
            assert_eq!(filling.mesh_volume, Some(volume), "{what}");
            let sentence = filling.sentence();
            assert_eq!(sentence.contains("closed, but inside out: "), is_inverted, "{sentence}");
        }
    }
}

#[test]
fn a_thin_rod_around_centres_is_certain() {
    let rod = cuboid([0.0, 0.45, 0.45], [64.0, 0.55, 0.55]);
    let expected = block([64, 8, 8], [0; 3], [64, 1, 1]);
    assert_certain(&in_grid(&rod, [64, 8, 8]), Fill::Auto, &expected, "a rod");
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
        let filling = assert_certain(&mesh, Fill::Auto, &whole, &what);
        assert_eq!(filling.fill, Fill::Winding, "{what}");
        assert_eq!(filling.reason, "the mesh has 4 open edges", "{what}");
        let mut odd = [0; 3];
        odd[axis] = 100;
        let filling = assert_certain(&mesh, Fill::Vote, &whole, &what);
        assert_eq!(filling.findings.disagreement.unwrap().odd, odd, "{what}");

        let (grid, filling) = solid(&mesh, Fill::Parity);
        let (expected, open_columns) = match (axis, is_upper) {
            (0, false) => (block(dims, [11, 1, 1], [12, 11, 11]), 100),
            (0, true) => (block(dims, [1; 3], [12, 11, 11]), 100),
            _ => (whole.clone(), 0),
        };
        assert!(grid == expected, "{what}: {grid:?}");
        assert!(is_about_holes(&filling.doubts), "{what}: {:?}", filling.doubts);
        assert_eq!(filling.findings.open_columns, Some(open_columns), "{what}");

        let leak = FillWarning::Leak { voxels: 8 * 8 * 9, enclosed: 0 };
        assert_filled(&mesh, Fill::Flood, &surface(&mesh), &[leak], &what);
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
    // Of the largest hole, its one voxel is lost as well.
    let leak = FillWarning::Leak { voxels: 8 * 8 * 8 + 1, enclosed: 0 };
    for (hole, is_sealed) in [([5.3, 5.7], true), ([4.3, 5.7], true), ([4.9, 6.1], false)] {
        let mesh = in_grid(&pierced_cube(hole), dims);
        let what = format!("{hole:?}");
        assert_certain(&mesh, Fill::Vote, &whole, &what);
        assert_eq!(assert_certain(&mesh, Fill::Auto, &whole, &what).fill, Fill::Winding);
        if is_sealed {
            let filling = assert_certain(&mesh, Fill::Flood, &whole, &what);
            assert_eq!(filling.findings.enclosed, Some(512), "{what}");
        } else {
            assert_filled(&mesh, Fill::Flood, &surface(&mesh), std::slice::from_ref(&leak), &what);
        }
    }
}

#[test]
fn a_klein_bottle_is_closed_and_has_a_solid_by_parity_alone() {
    let mesh = at_resolution(&klein_bottle(40, 24), 40);
    let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
    let may_overlap = FillWarning::MayOverlap { edges: 24 };
    for fill in [Fill::Parity, Fill::Auto] {
        let filling =
            assert_filled(&mesh, fill, &expected, std::slice::from_ref(&may_overlap), "a bottle");
        assert_eq!((filling.mesh_volume, filling.fill), (None, Fill::Parity));
        let reason = if fill == Fill::Auto { "the mesh is closed" } else { "asked for" };
        assert_eq!(filling.reason, reason);
    }
    let (_, filling) = solid(&mesh, Fill::Winding);
    assert!(matches!(filling.doubts[..], [FillWarning::Orientation { edges: 24 }]), "{filling:?}");
}

#[test]
fn a_moebius_strip_has_no_solid_and_every_fill_is_doubtful() {
    let mesh = at_resolution(&moebius_strip(40, 8), 40);
    for &fill in Fill::ALL {
        let (grid, filling) = solid(&mesh, fill);
        assert!(filling.is_doubtful(), "{fill}: {}", filling.sentence());
        assert!(grid.occupied() < 40 * 40 * 40 / 4, "{fill}: {grid:?}");
    }
}

const SLANTED: [[f64; 3]; 3] = [[1.3, 2.2, 3.1], [9.2, 4.3, 1.7], [3.6, 8.7, 9.4]];

#[test]
fn sheets_have_no_inside_along_any_axis() {
    let flat = |axis: usize| {
        let corners = [[1.3, 1.3], [9.1, 1.3], [9.1, 8.2], [1.3, 8.2]];
        quad(corners.map(|[p, q]| [[5.1, p, q], [q, 5.1, p], [p, q, 5.1]][axis]))
    };
    let slanted = mesh_of(&[SLANTED]);
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
fn an_open_mesh_twice_over_is_that_mesh() {
    let mut rng = Rng::with_seed(31);
    let ball = sphere(20.0, 24, 32);
    let open = first_triangles(&ball, ball.triangles().len() * 9 / 10);
    for mesh in [open, lidless_cube([1.0; 3], 20.0)] {
        let mut triangles = [mesh.triangles(); 2].concat();
        triangles.iter_mut().for_each(|triangle| triangle.rotate_left(rng.usize(0..3)));
        rng.shuffle(&mut triangles);
        let twice = at_resolution(&with_triangles(&mesh, triangles), 40);
        for fill in BY_CROSSINGS {
            let (expected, once) = solid(&at_resolution(&mesh, 40), fill);
            assert!(expected.occupied() > 0, "{fill}");
            let filling = assert_filled(&twice, fill, &expected, &once.doubts, "twice");
            assert_eq!(filling.sentence(), once.sentence());
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
        let filling =
            assert_certain(&in_grid(&mesh, dims), Fill::Auto, &whole, &format!("side {side}"));
        assert_eq!((filling.fill, filling.reason.as_str()), (Fill::Parity, "the mesh is closed"));
    }
}

/// Tetrahedra with corners on the multiples of half a voxel, each one way round or the other.
fn tetrahedra(rng: &mut Rng, count: usize, reach: i32) -> Vec<Triangle> {
    let mut corner = || [(); 3].map(|()| rng.i32(0..=reach) * (UNIT / 2));
    (0..count).flat_map(|_| tetrahedron([(); 4].map(|()| corner()))).collect()
}

/// Closed meshes of every kind, in grids that cut some of them.
fn closed_meshes() -> impl Iterator<Item = PlacedMesh> {
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
        placed(&all_moved(&triangles, [-back; 3]), dims)
    })
}

#[test]
fn parity_and_winding_find_the_centres_that_cones_surround() {
    let (mut odd, mut more, mut as_given) = (0, 0, 0);
    for (round, mesh) in closed_meshes().enumerate() {
        let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.is_odd);
        let (grid, filling) = solid(&mesh, Fill::Parity);
        assert!(grid == expected, "{round}, parity: {grid:?} rather than {expected:?}");
        assert!(filling.topology.is_closed() && !is_about_holes(&filling.doubts), "{round}");
        odd += expected.occupied();
        let expected = inside::solid(&mesh, TIE_RULE, |surrounded| surrounded.winding != 0);
        let (grid, filling) = solid(&mesh, Fill::Winding);
        // A part that is flipped by itself encloses something else.
        let flipped = filling.flips.flipped_triangles;
        if flipped > 0 && flipped < mesh.len() as u64 {
            continue;
        }
        as_given += 1;
        assert!(grid == expected, "{round}, winding: {grid:?} rather than {expected:?}");
        // What turns itself inside out is said to.
        let is_known = matches!(filling.doubts[..], [] | [FillWarning::Opposed { .. }]);
        assert!(filling.topology.is_oriented() && is_known, "{round}: {:?}", filling.doubts);
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
        for n in [9, 33, 64, 100] {
            let mesh = padded(&mesh, resolution(n), 1);
            let (grid, _) = solid(&mesh, Fill::Parity);
            let what = format!("{name} at {n}");
            for fill in BY_CROSSINGS {
                assert_certain(&mesh, fill, &grid, &what);
            }
            assert_certain(&mesh, Fill::Flood, &grid.union(&surface(&mesh)), &what);
        }
    }
}

#[test]
fn shells_without_a_voxel_are_counted_unless_the_surface_is_included() {
    let block = cuboid([0.0; 3], [8.0, 4.0, 4.0]);
    let fin = cuboid([3.0, 1.6, 4.0], [7.0, 1.9, 9.0]);
    let parts = together(&[block.clone(), fin.clone()]);
    // A cavity has no voxel either, and is none of them; its core is.
    let cavity = inside_out(&cuboid([1.5, 0.5, 0.5], [6.5, 3.5, 3.5]));
    let core = cuboid([3.1, 2.1, 2.1], [3.4, 2.4, 2.4]);
    let hollow = together(&[block.clone(), cavity.clone()]);
    let open = lidless_cube([3.0, 1.0, -9.0], 0.3);
    let turned = inside_out(&cuboid([9.1, 0.0, 0.0], [9.3, 4.0, 4.0]));
    let more = together(&[parts.clone(), open, turned]);
    for (what, mesh, expected) in [
        ("a block and a fin", at_voxel_size(&parts, 1.0), Some((1, 5.0))),
        ("both in finer voxels", at_voxel_size(&parts, 0.25), Some((0, 0.0))),
        ("a cavity", at_voxel_size(&hollow, 1.0), Some((0, 0.0))),
        ("a cavity inside out", at_voxel_size(&inside_out(&hollow), 1.0), Some((0, 0.0))),
        ("its core", at_voxel_size(&together(&[hollow, core]), 1.0), Some((1, 0.3))),
        ("an open and an inverted one", at_voxel_size(&more, 1.0), Some((3, 5.0))),
        ("one shell", at_voxel_size(&fin, 1.0), None),
        ("a part past the grid", within(&parts, 1.0, [0.0; 3], [8.0, 4.0, 8.0]), Some((0, 0.0))),
    ] {
        let empty = solid(&mesh, Fill::Auto).1.empty_shells;
        assert_eq!(empty.map(|empty| empty.count), expected.map(|expected| expected.0), "{what}");
        if let (Some(empty), Some((_, longest))) = (empty, expected) {
            assert!((empty.longest - longest).abs() < 0.01, "{what}: {}", empty.longest);
        }
    }
    let said = solid(&at_voxel_size(&parts, 1.0), Fill::Auto).1.sentence();
    let expected = "; 1 of 2 shells has no voxel (up to 5.0 voxels long): it is thinner \
                    than a voxel, or a cavity";
    assert!(said.ends_with(expected), "{said}");
    let mode = Mode::Solid(Solid { fill: Fill::Auto, include_surface: true });
    let with_surface = in_mode(&at_voxel_size(&parts, 1.0), mode);
    assert_eq!(with_surface.fill_report.unwrap().empty_shells, None);
}

#[test]
fn a_shell_has_a_voxel_if_a_voxels_centre_is_in_its_bounding_box() {
    let mut rng = Rng::with_seed(91);
    let mut counts = [0_u64; 2];
    for _ in 0..40 {
        let random = |_| {
            let thin = rng.usize(0..3);
            let min = [(); 3].map(|()| rng.i32(1..600));
            let size = [0, 1, 2].map(|a| rng.i32(1..if a == thin { 24 } else { 400 }));
            [min, plus(min, size)].map(|corner| corner.map(|c| f64::from(c) / 16.0))
        };
        let cuboids: Vec<[[f64; 3]; 2]> = (0..12).map(random).collect();
        let meshes: Vec<Mesh> = cuboids.iter().map(|&[min, max]| cuboid(min, max)).collect();
        let (grid, report) = solid(&in_grid(&together(&meshes), [64; 3]), Fill::Auto);
        let has_voxel = |[min, max]: &[[f64; 3]; 2]| {
            let is_along = |a: usize, c: u32| (min[a]..=max[a]).contains(&(f64::from(c) + 0.5));
            grid.voxels().any(|voxel| (0..3).all(|a| is_along(a, voxel[a])))
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
    for mesh in closed_meshes().take(12).chain([in_grid(&open_cube(1, true), [12; 3])]) {
        for &fill in Fill::ALL {
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
            let inner = grid.subtract(&surface);
            assert_eq!(grid.intersection(&outside).occupied(), 0, "{name} at {resolution}");
            enclosed += inner.occupied();
            // Without one voxel of the surface there is such a path, somewhere.
            let is_way = |voxel: &[u32; 3]| {
                let beside = || paths::neighbours(*voxel, grid.dims());
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
        for &fill in Fill::ALL {
            let (grid, filling) = solid(&placed(&triangles, dims), fill);
            let (same, said) = solid(&placed(&shuffled, dims), fill);
            assert!(same == grid, "{fill}: {same:?} rather than {grid:?}");
            assert_eq!(said.sentence(), filling.sentence());
            if round % 3 != 0 || matches!(fill, Fill::Flood | Fill::Vote | Fill::Auto) {
                let (there, _) = solid(&placed(&shifted, dims), fill);
                let moved = grid.in_box(by.map(|c| -i64::from(c)), dims).unwrap();
                assert!(there == moved, "{fill}, {by:?}");
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
            for &fill in Fill::ALL {
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
        for fill in BY_CROSSINGS {
            let filling = assert_certain(&mesh, fill, &expected, what);
            assert_eq!(filling.mesh_volume, None, "{what}: it is not all there");
        }
        let (grid, filling) = solid(&mesh, Fill::Flood);
        assert_eq!(filling.findings.enclosed, Some(0), "{what}");
        let voxels = expected.subtract(&grid).occupied();
        assert_eq!(filling.doubts, [FillWarning::Leak { voxels, enclosed: 0 }], "{what}");
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

#[test]
fn a_sentence_says_what_the_mesh_is_how_it_was_filled_and_every_doubt() {
    let dims = [12; 3];
    let whole = in_grid(&cube([1.25; 3], 9.5), dims);
    let inverted = in_grid(&inside_out(&cube([1.25; 3], 9.5)), dims);
    let open = in_grid(&open_cube(0, true), dims);
    let bottle = at_resolution(&klein_bottle(40, 24), 40);
    let twice = in_grid(&together(&[cube([1.25; 3], 39.5), cube([1.25; 3], 39.5)]), [42; 3]);
    let crossed = in_grid(&bow_tie(), [24, 14, 10]);
    let slanted = in_grid(&mesh_of(&[SLANTED]), dims);
    let said = [
        (whole.clone(), Fill::Auto),
        (whole, Fill::Vote),
        (inverted, Fill::Auto),
        (open.clone(), Fill::Auto),
        (open.clone(), Fill::Parity),
        (open, Fill::Flood),
        (bottle.clone(), Fill::Winding),
        (bottle, Fill::Parity),
        (twice, Fill::Parity),
        (crossed, Fill::Parity),
        (slanted, Fill::Vote),
    ]
    .map(|(mesh, fill)| solid(&mesh, fill).1.sentence());
    let expected = "\
        1 shell, closed: filled by parity, the mesh is closed; the voxels have 116.64 % of the \
        mesh's volume
        1 shell, closed: filled by vote, asked for, and rays along all axes agree; the voxels have \
        116.64 % of the mesh's volume
        1 shell, closed, but inside out: filled by parity, the mesh is closed; the voxels have \
        116.64 % of the mesh's volume
        1 shell, with 4 open edges: filled by winding, the mesh has 4 open edges, capped at 1 \
        boundary loop
        1 shell, with 4 open edges: filled by parity, asked for; doubtful, as rays pass through \
        holes of the mesh, which has 4 open edges: 100 columns are still inside at the grid's end
        1 shell, with 4 open edges: filled by flood, asked for; doubtful, as the flood came in \
        through holes wider than a voxel, or where the bounds cut the mesh: it enclosed 0 voxels, \
        and reached 576 that most rays find inside
        1 shell, closed, but not consistently oriented: filled by winding, asked for, capped at 2 \
        boundary loops; doubtful, as triangles at 24 edges are inconsistently oriented, and \
        flipping cannot repair it, so the solid may be wrong behind them
        1 shell, closed, but not consistently oriented: filled by parity, asked for; doubtful, as \
        triangles at 24 edges are inconsistently oriented, so overlapping parts, if there are any, \
        cancel and leave cavities
        1 shell, closed: filled by parity, asked for; doubtful, as overlapping or nested parts \
        cancel in 1,600 columns, leaving cavities
        1 shell, closed: filled by parity, asked for; 1 shell became 2 pieces of voxels: parts of \
        the mesh are thinner than a voxel; doubtful, as parts of shells that cross themselves or \
        their cavities are inside out in 63 columns, so they may cancel others and leave cavities
        1 shell, with 3 open edges: filled by vote, asked for; doubtful, as rays along different \
        axes disagree in 35 of 35 columns (100 %), most near voxel (1, 2, 3)";
    let expected = expected.split('\n').map(str::trim_start);
    assert!(said.iter().eq(expected), "{said:#?}");
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
                    "the mesh has large holes (1 boundary loop): {:.0} % of the solid is \
                     uncertain; close the holes in the mesh",
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
    let [boxes, balls] = [
        (cuboid([0.0; 3], [1.0; 3]), cuboid([0.1; 3], [0.9; 3])),
        (sphere(1.0, 24, 48), sphere(0.5, 24, 48)),
    ]
    .map(|(outer, inner)| together(&[outer, inside_out(&inner)]));
    let mut meshes = Vec::new();
    for hole in 0..12 {
        meshes.push((&boxes, without(&boxes, |index| index == hole)));
    }
    for whole in [&boxes, &balls] {
        meshes.extend([0.97, 0.999].map(|factor| (whole, apart(whole, factor))));
    }
    for (index, (whole, mesh)) in meshes.into_iter().enumerate() {
        let [whole, mesh] = [whole, &mesh].map(|mesh| at_resolution(mesh, 48));
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
    let flipped = |count: u32| {
        let squares = (0..count).map(|index| square(512.0, 0.25 * f64::from(index)));
        let stack = together(&squares.collect::<Vec<_>>());
        let stack = stack.with_positions(|[x, y, z]| [y, z, x]).unwrap();
        let cube = inside_out(&cube([100.2, 500.2, 100.2], 1.6));
        let mesh = at_resolution(&together(&[cube, stack]), 512);
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
        let options = voxel_size(1.0);
        for fill in [Fill::Auto, Fill::Winding] {
            let (expected, filling) = solid(&place(&mesh, &options).unwrap(), fill);
            assert!(expected.occupied() > 1_000 && filling.flips.flipped_triangles > 0);
            for pad in [1, 3, 20] {
                let (found, _) = solid(&padded(&mesh, options, pad), fill);
                let within = found.in_box([i64::from(pad); 3], expected.dims()).unwrap();
                assert!(within == expected, "{count}, {fill}, {pad}: {found:?}, not {expected:?}");
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
        let wrong = |grid: &VoxelGrid| grid.differing_voxels(&expected).count() as u64;
        let by_winding = wrong(&grid);
        println!("{resolution}: {by_winding} of {expected:?}; {}", filling.sentence());
        assert!(by_winding * 400 < expected.occupied(), "{by_winding} at {resolution}");
        // One ray, from one side, is wrong on far more.
        let by_parity = wrong(&solid(&at_resolution(&mesh, resolution), Fill::Parity).0);
        assert!(by_parity > 5 * by_winding, "{by_parity} by parity, {by_winding} by winding");
    }
}

#[test]
fn models_of_open_parts_that_overlap_have_no_cavities() {
    for (name, resolution) in
        [("teapot.obj", 33), ("teapot.obj", 100), ("suzanne.obj", 33), ("suzanne.obj", 100)]
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

#[test]
fn overlaps_are_doubtful_by_parity_and_votes_and_filled_by_winding_whatever_else_is_wrong() {
    let cubes = [cube([0.0; 3], 10.0), cube([5.0; 3], 10.0)];
    // Elsewhere in the scene a box has a hole, or a triangle is turned.
    let open = lidless_cube([20.0; 3], 2.0);
    let turned = with_flipped(&cube([20.0; 3], 2.0), 0);
    for (more, size) in
        [&[][..], &[open], &[turned]].into_iter().flat_map(|more| [(more, 1.0), (more, 0.1)])
    {
        let mesh = at_voxel_size(&together(&[&cubes[..], more].concat()), size);
        for fill in [Fill::Parity, Fill::Vote] {
            let (_, filling) = solid(&mesh, fill);
            assert!(filling.is_doubtful(), "{fill}: {}", filling.sentence());
        }
        let (_, filling) = solid(&mesh, Fill::Auto);
        assert_eq!(filling.fill, Fill::Winding);
        assert!(!filling.is_doubtful(), "{}", filling.sentence());
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
        let options = voxel_size(1.0 / f64::from(resolution)).with_bounds(bounds);
        let part = place(&many, &options).unwrap();
        assert!(solid(&part, Fill::Auto).1.reason.starts_with(reason), "{resolution}");
    }
    // Many small holes take less than few large ones.
    let small = large_triangles(300).into_iter().map(|triangle| {
        triangle.map(|p| plus(triangle[0], minus(p, triangle[0]).map(|c| 0.004 * c)))
    });
    let small = at_resolution(&mesh_of(&small.collect::<Vec<_>>()), 256);
    assert_eq!(solid(&small, Fill::Auto).1.fill, Fill::Winding);
}
