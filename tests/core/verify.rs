//! Judging grids: every planted fault is found, a right grid passes, and a grid that lies otherwise
//! is recognised.
use crate::common::prelude::*;
use trivox::VoxelizeError;
use trivox::engine::verify::{
    Alignment, Fault, KnownPlacement, PlacementSource, Verdict, VerifyError, VerifyOptions, verify,
};

const SOLID: Mode = Mode::Solid(Solid { fill: Fill::Auto, include_surface: false });

/// The grid of a mesh at this resolution, and options that state it.
fn stated(mesh: &Mesh, n: u32, pad: u32, mode: Mode) -> (VoxelGrid, VerifyOptions) {
    let options = resolution(n).with_pad(pad);
    let mut stated = VerifyOptions::default();
    (stated.placement.sizing, stated.placement.pad) = (Some(options.sizing), Some(pad));
    (in_mode(&place(mesh, &options).unwrap(), mode).grid, stated)
}

fn at_resolution(mesh: &Mesh, n: u32) -> VoxelGrid {
    stated(mesh, n, 0, Mode::Surface).0
}

fn exactly(mode: Mode) -> impl FnMut(&PlacedMesh) -> Result<VoxelGrid, BackendError> {
    move |placed| Ok(in_mode(placed, mode).grid)
}

/// Judges as `mode` has it.
fn judge_mode(mesh: &Mesh, grid: &VoxelGrid, mode: Mode, options: &VerifyOptions) -> Verdict {
    verify(mesh, grid, options, &mut exactly(mode)).unwrap()
}

fn judge(mesh: &Mesh, grid: &VoxelGrid, options: &VerifyOptions) -> Verdict {
    judge_mode(mesh, grid, Mode::Surface, options)
}

fn judge_unaided(mesh: &Mesh, grid: &VoxelGrid) -> Verdict {
    judge(mesh, grid, &VerifyOptions::default())
}

/// Judges by a grid that is made already.
fn judge_by(right: &VoxelGrid, mesh: &Mesh, grid: &VoxelGrid, options: &VerifyOptions) -> Verdict {
    verify(mesh, grid, options, &mut |_: &PlacedMesh| Ok(right.clone())).unwrap()
}

/// Sheets so close that all voxels are occupied, at a resolution of 16.
fn full() -> Mesh {
    together(&(0..=16).map(|z| square(16.0, f64::from(z))).collect::<Vec<_>>())
}

/// No permutation or mirror of the axes leaves it as it is.
fn crooked() -> Mesh {
    let [a, b, c, d] = [[0.0, 0.0, 0.0], [12.0, 1.3, 2.1], [3.1, 9.0, 0.7], [1.2, 2.3, 7.0]];
    mesh_of(&[[a, b, c], [a, b, d], [a, c, d]])
}

fn flipped(grid: &VoxelGrid, voxels: &BTreeSet<[u32; 3]>) -> VoxelGrid {
    let voxels = VoxelGrid::from_voxels(grid.dims(), voxels.iter().copied()).unwrap();
    grid.symmetric_difference(&voxels)
}

/// Corners, the occupied, and any others.
fn targets(rng: &mut Rng, grid: &VoxelGrid, count: usize) -> BTreeSet<[u32; 3]> {
    let dims = grid.dims();
    let corner = |bits: usize| [0, 1, 2].map(|a| if bits >> a & 1 == 1 { dims[a] - 1 } else { 0 });
    let mut targets: BTreeSet<[u32; 3]> = (0..8).map(corner).collect();
    targets.extend(rng.choose_multiple(grid.voxels(), count / 2));
    targets.extend((0..count / 2).map(|_| dims.map(|d| rng.u32(0..d))));
    targets
}

fn fault_at(grid: &VoxelGrid, voxel: [u32; 3]) -> Fault {
    if grid.contains(voxel) { Fault::Missing } else { Fault::Spurious }
}

#[test]
fn every_planted_fault_is_found_where_and_as_it_is_in_runs_of_full_bricks_too() {
    let mut rng = Rng::with_seed(4);
    let (mut planted, mut in_full_bricks) = (0, 0);
    for (mesh, resolution, pad, mode) in [
        (crooked(), 12, 0, Mode::Surface),
        (cuboid([0.0; 3], [1.0; 3]), 33, 0, Mode::Surface),
        (full(), 16, 0, Mode::Surface),
        (asset("torus-knot.obj"), 50, 0, Mode::Surface),
        (asset("lighthouse.obj"), 64, 0, Mode::Surface),
        (cube([0.0; 3], 1.0), 64, 9, SOLID),
        (cube([0.0; 3], 1.0), 61, 9, SOLID),
        (torus(1.0, 0.6, 48, 24), 96, 9, SOLID),
        (asset("torus-knot.obj"), 90, 9, SOLID),
        (asset("torus-knot.obj"), 90, 9, Mode::Thin),
        (cube([0.0; 3], 1.0), 64, 9, Mode::Thin),
    ] {
        let (right, stated) = stated(&mesh, resolution, pad, mode);
        assert!(judge_mode(&mesh, &right, mode, &stated).is_right());
        for voxel in targets(&mut rng, &right, 700) {
            let wrong = flipped(&right, &BTreeSet::from([voxel]));
            let verdict = judge_by(&right, &mesh, &wrong, &stated);
            let fault = fault_at(&right, voxel);
            let counts = [Fault::Missing, Fault::Spurious].map(|kind| u64::from(fault == kind));
            assert_eq!([verdict.missing, verdict.spurious], counts, "{voxel:?}");
            let found = verdict.first[0];
            assert_eq!((found.voxel, found.fault), (voxel.map(i64::from), fault), "{voxel:?}");
            assert_eq!(verdict.bounds, Some([voxel.map(i64::from); 2]), "{voxel:?}");
            assert!(verdict.alignment.is_identity(), "{voxel:?}");
            in_full_bricks += u32::from(right.mask_of(BrickKey::of_voxel(voxel)) == FULL);
            planted += 1;
        }
    }
    assert!(planted > 6000 && in_full_bricks > 800, "{planted}, {in_full_bricks} in full bricks");
}

#[test]
fn the_fill_is_that_of_the_placement_of_the_verdict() {
    let mesh = torus(1.0, 0.6, 48, 24);
    let (grid, _) = stated(&mesh, 40, 0, SOLID);
    // All placements are tried, as none is right; the first has the fewest wrong voxels.
    let voxel = grid.voxels().next().unwrap();
    let faulty = flipped(&grid, &BTreeSet::from([voxel]));
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).mode(SOLID);
    let verified = voxelizer.verify(&mesh, &faulty, &VerifyOptions::default()).unwrap();
    assert_eq!(verified.verdict.differing(), 1);
    assert_eq!(verified.fill_report.unwrap().lattice, verified.verdict.lattice);
}

/// A cube with a bump up to `end`: nothing but the identity leaves it as it is.
fn with_bump(end: [f64; 3]) -> Mesh {
    together(&[cube([0.0; 3], 32.0), cuboid([3.5, 10.5, 32.0], end)])
}

#[test]
fn a_grid_of_another_mode_is_wrong_and_doubtful() {
    let mesh = asset("torus-knot.obj");
    let modes = [Mode::Surface, Mode::Thin, SOLID];
    for (made, judged) in modes.into_iter().flat_map(|made| modes.map(|judged| (made, judged))) {
        let (grid, _) = stated(&mesh, 48, 0, made);
        let verdict = judge_mode(&mesh, &grid, judged, &VerifyOptions::default());
        assert_eq!(verdict.is_right(), made == judged, "{made:?} judged as {judged:?}");
        assert_eq!(verdict.is_doubtful(), made != judged, "{made:?} judged as {judged:?}");
    }
}

#[test]
fn many_faults_at_once_are_all_found() {
    let mut rng = Rng::with_seed(2);
    let mesh = asset("lighthouse.obj");
    let right = at_resolution(&mesh, 100);
    for count in [2, 20, 400, 4000] {
        let planted = targets(&mut rng, &right, count);
        let options = VerifyOptions { named: usize::MAX, ..VerifyOptions::default() };
        let verdict = judge(&mesh, &flipped(&right, &planted), &options);
        let found: BTreeSet<_> = verdict.first.iter().map(|w| (w.voxel, w.fault)).collect();
        let expected = planted.iter().map(|&v| (v.map(i64::from), fault_at(&right, v)));
        assert_eq!(found, expected.collect::<BTreeSet<_>>());
        let along = |axis: usize| planted.iter().map(move |voxel| i64::from(voxel[axis]));
        let least = [0, 1, 2].map(|axis| along(axis).min().unwrap());
        let most = [0, 1, 2].map(|axis| along(axis).max().unwrap());
        assert_eq!(verdict.bounds, Some([least, most]));
        assert_eq!(verdict.agreeing, right.occupied() - verdict.missing);
    }
}

#[test]
fn grids_of_ours_are_right_whatever_they_were_made_with() {
    let mesh = asset("torus-knot.obj");
    let [min, max] = mesh.bounds();
    let part = Bounds { min: min.map(|c| c - 0.1), max: [max[0] - 0.7, max[1] + 0.3, max[2]] };
    for (options, source) in [
        (resolution(57), PlacementSource::File),
        (resolution(57).with_pad(1), PlacementSource::File),
        (resolution(40).with_pad(3), PlacementSource::File),
        (voxel_size(0.083), PlacementSource::File),
        (voxel_size(0.083).with_pad(2), PlacementSource::File),
        (resolution(61).with_bounds(part), PlacementSource::FileBounds),
        (voxel_size(0.07).with_bounds(part).with_pad(2), PlacementSource::FileBounds),
    ] {
        let placed = place(&mesh, &options).unwrap();
        let grid = surface(&placed).with_world(World::of(placed.lattice(), Up::Y));
        let verdict = judge_unaided(&mesh, &grid);
        assert!(verdict.is_right() && verdict.alignment.is_identity(), "{options:?}");
        assert_eq!((verdict.source, verdict.contradicted), (source, None), "{options:?}");
        assert_eq!(verdict.lattice.dims, grid.dims());
        if source == PlacementSource::File {
            assert_eq!(verdict.lattice, *placed.lattice());
        }
    }
}

#[test]
fn without_a_place_in_the_world_common_fits_are_found() {
    // The last is nearly the same at another scale.
    let slope = quad([[0.0; 3], [4.0, 0.0, 0.0], [4.0, 4.0, 1.0], [0.0, 4.0, 1.0]]);
    for mesh in [asset("torus-knot.obj"), crooked(), slope] {
        for (resolution, pad) in [(30, 0), (30, 1), (28, 3)] {
            let (grid, _) = stated(&mesh, resolution, pad, Mode::Surface);
            let verdict = judge_unaided(&mesh, &grid);
            assert!(verdict.is_right(), "{resolution}, {pad}");
            assert_eq!(verdict.source, PlacementSource::Fitted { resolution, pad });
        }
    }
}

#[test]
fn what_is_stated_counts_and_contradictions_are_told() {
    let mesh = crooked();
    let bounds = Bounds { min: [-1.0; 3], max: [13.0; 3] };
    let options = voxel_size(0.5).with_bounds(bounds).with_pad(1);
    let grid = surface(&place(&mesh, &options).unwrap());
    let mut stated = VerifyOptions::default();
    let sizing = Some(Sizing::VoxelSize(0.5));
    stated.placement = KnownPlacement { sizing, bounds: Some(bounds), pad: Some(1), dims: None };
    let verdict = judge(&mesh, &grid, &stated);
    assert_eq!((verdict.is_right(), verdict.source), (true, PlacementSource::Options));
    // The grid's size and the rest give the voxels' size.
    stated.placement.sizing = None;
    assert!(judge(&mesh, &grid, &stated).is_right());
    let elsewhere = World::at([0.25; 3], 0.5, Up::Y);
    let grid = grid.with_world(elsewhere);
    let verdict = judge(&mesh, &grid, &stated);
    assert_eq!((verdict.is_right(), verdict.contradicted), (true, elsewhere.place));
    assert!(!judge_unaided(&mesh, &grid).is_right());
}

/// The grid as an alignment has it, voxel by voxel, with room for `room` more behind.
fn moved(exact: &VoxelGrid, alignment: &Alignment, room: u32) -> VoxelGrid {
    let from = exact.dims().map(i64::from);
    let dims = [0, 1, 2].map(|a| from[alignment.axes[a]] as u32 + room);
    let voxels = exact.voxels().map(|voxel| {
        [0, 1, 2].map(|a| {
            let along = i64::from(voxel[alignment.axes[a]]);
            let turned =
                if alignment.mirrored[a] { from[alignment.axes[a]] - 1 - along } else { along };
            u32::try_from(turned + alignment.shift[a]).unwrap()
        })
    });
    VoxelGrid::from_voxels(dims, voxels).unwrap()
}

fn all_symmetries() -> Vec<Alignment> {
    symmetries().map(|(axes, mirrored)| Alignment { axes, mirrored, shift: [0; 3] }).collect()
}

#[test]
fn all_48_symmetries_with_shifts_are_recognised() {
    assert_eq!(all_symmetries().len(), 48);
    for (mesh, resolution, mode) in [
        (crooked(), 24, Mode::Surface),
        (with_bump([9.5, 20.5, 35.5]), 64, SOLID),
        (asset("torus-knot.obj"), 45, SOLID),
    ] {
        let (right, mut stated) = stated(&mesh, resolution, 0, mode);
        let shifts = [([0, 0, 0], 0), ([0, 1, 0], 2), ([2, 0, 1], 2), ([3, 9, 17], 40)];
        for (symmetry, (shift, room)) in
            all_symmetries().into_iter().flat_map(|symmetry| shifts.map(|shift| (symmetry, shift)))
        {
            let alignment = Alignment { shift, ..symmetry };
            let grid = moved(&right, &alignment, room);
            let verdict = judge_by(&right, &mesh, &grid, &stated);
            assert!(verdict.is_right(), "{alignment}: {}", verdict.differing());
            assert_eq!(moved(&right, &verdict.alignment, room), grid, "{alignment}");
            if mode != Mode::Surface {
                continue;
            }
            assert_eq!(verdict.alignment, alignment);
            let is_as_placed = verdict.differing_as_placed == 0;
            assert_eq!(is_as_placed, alignment.is_identity(), "{alignment}");
            stated.as_placed = true;
            assert_eq!(judge(&mesh, &grid, &stated).is_right(), is_as_placed, "{alignment}");
            stated.as_placed = false;
            // As a foreign file has it: nobody says where anything is.
            assert!(judge_unaided(&mesh, &grid).is_right(), "{alignment}");
        }
    }
}

#[test]
fn faults_in_a_grid_that_lies_otherwise_are_told_in_its_own_voxels() {
    let mesh = crooked();
    let right = at_resolution(&mesh, 24);
    let alignment = Alignment { axes: [2, 0, 1], mirrored: [true, false, true], shift: [1, 0, 2] };
    let turned = moved(&right, &alignment, 2);
    let voxel = turned.voxels().nth(100).unwrap();
    let verdict = judge_unaided(&mesh, &flipped(&turned, &BTreeSet::from([voxel])));
    assert_eq!(verdict.alignment, alignment);
    assert_eq!((verdict.missing, verdict.spurious), (1, 0));
    assert_eq!(verdict.first[0].voxel, voxel.map(i64::from));
    let size = verdict.lattice.voxel_size;
    let origin = verdict.lattice.origin;
    let in_exact = [0, 1, 2].map(|a| ((verdict.first[0].position[a] - origin[a]) / size) as u32);
    assert!(right.contains(in_exact));
    let back = VoxelGrid::from_voxels(right.dims(), [in_exact]).unwrap();
    assert_eq!(moved(&back, &alignment, 2).voxels().next(), Some(voxel));
}

#[test]
fn voxels_clipped_by_a_shift_are_missing_at_their_negative_places() {
    let mesh = crooked();
    let (right, mut stated) = stated(&mesh, 24, 0, Mode::Surface);
    let kept = right.voxels().filter(|v| v[0] >= 2).map(|[x, y, z]| [x - 2, y, z]);
    let clipped = VoxelGrid::from_voxels(right.dims(), kept).unwrap();
    stated.named = usize::MAX;
    let verdict = judge(&mesh, &clipped, &stated);
    assert_eq!(verdict.alignment, Alignment { shift: [-2, 0, 0], ..Alignment::IDENTITY });
    let gone: BTreeSet<_> = right.voxels().filter(|v| v[0] < 2).map(|v| v.map(i64::from)).collect();
    let found =
        verdict.first.iter().map(|wrong| [wrong.voxel[0] + 2, wrong.voxel[1], wrong.voxel[2]]);
    assert_eq!(found.collect::<BTreeSet<_>>(), gone);
    assert_eq!(verdict.spurious, 0);
}

#[test]
fn the_nearly_symmetric_is_told_apart() {
    // 47 symmetries are right but for a few voxels.
    let mesh = with_bump([3.6, 10.6, 33.5]);
    let right = at_resolution(&mesh, 67);
    for symmetry in all_symmetries() {
        let verdict = judge_unaided(&mesh, &moved(&right, &symmetry, 0));
        assert!(verdict.is_right(), "{symmetry}");
    }
}

#[test]
fn another_mesh_is_wrong_in_every_alignment() {
    let knot = at_resolution(&asset("torus-knot.obj"), 40);
    let verdict = judge_unaided(&crooked(), &knot);
    assert!(!verdict.is_right() && verdict.is_doubtful());
    let empty = VoxelGrid::empty([24, 18, 14]).unwrap();
    let verdict = judge_unaided(&crooked(), &empty);
    assert_eq!((verdict.agreeing, verdict.spurious), (0, 0));
    assert!(verdict.missing > 0 && verdict.is_doubtful());
}

#[test]
fn impossible_placements_are_errors_that_say_whose() {
    let mesh = crooked();
    let grid = at_resolution(&mesh, 24);
    let far = grid.clone().with_world(World::at([1e9; 3], 0.5, Up::Y));
    let point = mesh_of(&[[[1.0; 3]; 3]]);
    let refused = |mesh: &Mesh, grid: &VoxelGrid, options: &VerifyOptions| {
        verify(mesh, grid, options, &mut exactly(Mode::Surface)).unwrap_err()
    };
    let mut options = VerifyOptions::default();
    for (mesh, grid, whose) in
        [(&mesh, &far, "where the grid's file says"), (&point, &grid, "so that it fills the grid")]
    {
        let message = refused(mesh, grid, &options).to_string();
        assert!(message.contains(whose), "{message}");
    }
    options.placement.pad = Some(12);
    let error = refused(&mesh, &grid, &options);
    let VoxelizeError::Verify(error) = error else { panic!("{error}") };
    assert_eq!(error, VerifyError::Pad { pad: 12, voxels: 24 });
    options.placement.sizing = Some(Sizing::Resolution(0));
    let error = refused(&mesh, &grid, &options);
    let VoxelizeError::Verify(VerifyError::Place { error, by }) = error else { panic!("{error}") };
    assert_eq!((error, by), (PlaceError::Resolution(0), PlacementSource::Options));
}

#[test]
fn a_backend_that_fails_is_an_error() {
    let failure = BackendError::Failed("lost".into());
    let mut fail = |_: &PlacedMesh| Err(failure.clone());
    let mesh = crooked();
    let error = verify(&mesh, &at_resolution(&mesh, 9), &VerifyOptions::default(), &mut fail);
    let VoxelizeError::Backend(error) = error.unwrap_err() else { panic!("of the backend") };
    assert_eq!(error, failure);
}
