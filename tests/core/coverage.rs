//! Coverage: by an oracle that counts sub-voxels one by one, against volumes, in tiles.

use crate::common::inside::{self, TIE_RULE};
use crate::common::prelude::*;
use trivox::engine::Warning;

fn solid(fill: Fill, include_surface: bool) -> Voxelizer {
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).color(ColorSource::None);
    voxelizer.mode(Mode::Solid(Solid { fill, include_surface })).attributes([Attribute::Coverage])
}

fn coverage(grid: &VoxelGrid) -> Vec<([u32; 3], f32)> {
    let attributes = grid.attributes.as_ref().unwrap();
    grid.voxels().zip(attributes.of_voxels(grid).map(|of| of.coverage)).collect()
}

/// The covered volume, in voxels.
fn covered(grid: &VoxelGrid) -> f64 {
    coverage(grid).iter().map(|(_, of)| f64::from(*of)).sum()
}

/// The sub-voxels with their centre inside, counted one by one.
fn counted(mesh: &PlacedMesh, triangles: &[Triangle], voxel: [u32; 3]) -> u32 {
    let units = mesh.lattice().units_per_voxel();
    let is_inside = |n: &u32| {
        let sub = [n / 64, n / 8 % 8, n % 8].map(|c| (2 * c as i32 + 1) * units / 16);
        let point = [0, 1, 2].map(|a| voxel[a] as i32 * units + sub[a]);
        inside::surrounded(triangles, point, TIE_RULE).winding != 0
    };
    (0..512).filter(is_inside).count() as u32
}

#[test]
fn coverage_is_the_share_of_sub_voxels_whose_centre_is_inside() {
    let mut rng = Rng::with_seed(3);
    let (mut none, mut part, mut whole) = (0, 0, 0);
    for round in 0..6 {
        let by = [(); 3].map(|()| 3.0 * rng.f64());
        let mesh = match round % 3 {
            0 => together(&[cube([0.0; 3], 4.0), shifted(cube([0.0; 3], 3.3), by)]),
            1 => sphere(2.0 + rng.f64(), 4, 5),
            _ => together(&[octahedron(3.0), shifted(octahedron(2.0), by)]),
        };
        let voxelizer = solid(Fill::Auto, true).voxel_size(0.7 + 0.3 * rng.f64());
        let placed = voxelizer.place(&mesh).unwrap().mesh;
        let triangles: Vec<Triangle> = placed.triangles().collect();
        for (voxel, found) in coverage(&voxelizer.run(&mesh).unwrap().grid) {
            let expected = counted(&placed, &triangles, voxel);
            assert_eq!(found * 512.0, expected as f32, "{voxel:?} in round {round}");
            match expected {
                0 => none += 1,
                512 => whole += 1,
                _ => part += 1,
            }
        }
    }
    assert!(part > 300 && whole > 50 && none > 10, "{part} {whole} {none}");
}

#[test]
fn the_sum_of_coverage_is_the_volume() {
    for (mesh, tolerance) in [
        (cube([0.0; 3], 4.0), 0.0),
        (sphere(5.0, 30, 40), 1e-3),
        (torus(6.0, 2.0, 40, 30), 1e-3),
        (together(&[sphere(5.0, 30, 40), inside_out(&sphere(3.0, 20, 30))]), 1e-3),
    ] {
        for fill in [Fill::Auto, Fill::Vote] {
            let found = solid(fill, true).voxel_size(0.5).run(&mesh).unwrap();
            let expected = found.fill_report.unwrap().mesh_volume.unwrap().abs();
            let volume = 0.125 * covered(&found.grid);
            let error = (volume / expected - 1.0).abs();
            assert!(error <= tolerance, "{volume} of {expected} by {fill}");
            assert_eq!(found.warnings, []);
        }
    }
}

#[test]
fn a_volume_that_coverage_misses_is_said() {
    let plate = |z: f64| cuboid([0.25, 0.25, z], [20.25, 20.25, z + 0.05]);
    let warnings = |include_surface: bool, mesh: &Mesh| {
        let bounds = Bounds { min: [0.0; 3], max: [21.0, 21.0, 6.0] };
        let voxelizer = solid(Fill::Auto, include_surface).voxel_size(0.5).bounds(bounds);
        voxelizer.run(mesh).unwrap().warnings.iter().map(Warning::to_string).collect::<String>()
    };
    for (z, said) in [(0.1, "is 0 cubic"), (0.2, "is 25 cubic")] {
        let text = warnings(true, &plate(z));
        assert!(text.contains(said) && text.contains("the mesh has 20"), "{text}");
    }
    // Without the surface, and where parts overlap, the volumes differ for other reasons.
    assert!(!warnings(false, &plate(0.2)).contains("coverage"));
    let both = together(&[cube([0.0; 3], 4.0), cube([1.0; 3], 4.0)]);
    assert_eq!(warnings(true, &both), "");
}

#[test]
fn a_thin_object_beside_a_large_one_is_said() {
    let plate = |thickness: f64| cuboid([0.0, 0.0, 6.1], [6.0, 6.0, 6.1 + thickness]);
    for (thickness, is_said) in [(0.02, true), (0.1, false)] {
        let (large, plate) = (cube([0.0; 3], 6.0), plate(thickness));
        let mesh = Mesh::join([("large", &large), ("plate", &plate)]).unwrap();
        for attributes in [&[Attribute::Label, Attribute::Coverage][..], &[Attribute::Label]] {
            let voxelizer = solid(Fill::Auto, true).voxel_size(0.5);
            let warnings =
                voxelizer.attributes(attributes.iter().copied()).run(&mesh).unwrap().warnings;
            let thin = Warning::ThinObjects(vec!["plate".to_owned()]);
            let expected = is_said && attributes.len() == 2;
            assert_eq!(warnings.contains(&thin), expected, "{thickness}: {warnings:?}");
        }
    }
}

#[test]
fn coverage_of_tiles_is_that_of_the_whole() {
    let mesh = together(&[sphere(5.0, 30, 40), shifted(sphere(4.0, 9, 9), [3.0, 2.0, 1.0])]);
    let voxelizer = solid(Fill::Auto, true).resolution(40);
    let whole = voxelizer.run(&mesh).unwrap().grid;
    let expected = coverage(&whole);
    let joined = joined_tiles(&voxelizer, &mesh, [2, 2, 2], whole.dims());
    assert!(coverage(&joined) == expected);
    assert!(expected.iter().any(|(_, of)| *of == 1.0) && expected.iter().any(|(_, of)| *of < 0.5));
}

/// The overlaps lie between voxel centres, so that the voxels are filled by parity.
#[test]
fn overlaps_narrower_than_a_voxel_are_covered_once() {
    let ends = [[2.8, 4.0, 4.0], [6.0, 4.0, 4.0]];
    let along_x = together(&[cuboid([0.0; 3], ends[0]), cuboid([2.6, 0.0, 0.0], ends[1])]);
    let nested = together(&[cube([0.0; 3], 6.0), shifted(cube([0.0; 3], 0.8), [2.6; 3])]);
    for (mesh, volume) in [(&along_x, 96.0), (&nested, 216.0)] {
        for fill in [Fill::Auto, Fill::Winding] {
            let found = solid(fill, true).voxel_size(1.0).run(mesh).unwrap();
            assert_eq!((covered(&found.grid), found.warnings), (volume, Vec::new()), "{fill}");
            if fill == Fill::Auto {
                assert_eq!(found.fill_report.unwrap().fill, Fill::Parity, "{volume}");
            }
        }
    }
    // The second pair's overlap contains centres, so that the whole is filled by winding numbers
    // and the tile of the first by parity.
    let bar = |from: f64, to: f64| cuboid([from, 60.0, 0.0], [to, 68.0, 4.0]);
    let mesh = together(&[along_x, bar(0.0, 5.0), bar(2.0, 6.0)]);
    let voxelizer = solid(Fill::Auto, true).voxel_size(1.0);
    let whole = voxelizer.run(&mesh).unwrap().grid;
    let joined = joined_tiles(&voxelizer, &mesh, [1, 2, 1], whole.dims());
    assert!(coverage(&joined) == coverage(&whole));
}

#[test]
fn solids_without_coverage_say_why() {
    let mesh = cube([0.0; 3], 1.0);
    let flood = solid(Fill::Flood, false).resolution(8);
    let long = shifted(cuboid([0.0; 3], [9000.0, 1.0, 1.0]), [0.5; 3]);
    for (voxelizer, mesh, said) in [
        (flood.clone().mode(Mode::Surface), &mesh, "the mode is not solid"),
        (flood, &mesh, "the fill is flood"),
        (solid(Fill::Auto, false).voxel_size(1.0), &long, "of up to 8,191 voxels"),
    ] {
        let found = voxelizer.run(mesh).unwrap();
        assert!(found.grid.attributes.is_none());
        let is_said = |warning: &Warning| match warning {
            Warning::NoAttribute(Attribute::Coverage, why) => why.contains(said),
            _ => false,
        };
        assert!(found.warnings.iter().any(is_said), "{:?}", found.warnings);
    }
}
