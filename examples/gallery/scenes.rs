//! Pictures of the models in this project, and of a bowl.

use std::f64::consts::{PI, TAU};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use trivox::{Mesh, Mode, Up, VoxelGrid};

use super::models::{SOLID, mesh_of, painted, voxels_of};
use super::strip::strip;

/// Colour of the inside at a cut.
pub const INSIDE: [u8; 3] = [216, 96, 56];

pub fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

/// The lighthouse as a solid, without the quarter nearest to the camera.
pub fn lighthouse_cut_open() -> Result<Vec<u8>> {
    let mesh = mesh_of(&asset("lighthouse.obj"))?;
    let surface = voxels_of(&mesh, Mode::Surface, 160, Up::Y)?;
    let solid = voxels_of(&mesh, SOLID, 160, Up::Y)?;
    let colors = surface.colors.as_ref().context("the lighthouse has colours")?;
    // The tip of its roof is above the middle of the tower.
    let [tip_x, _, tip_z] =
        surface.voxels().max_by_key(|voxel| voxel[1]).context("a voxel at the tip")?;
    let cut = painted(&solid, |[x, y, z]| {
        let [r, g, b, _] = colors.of([x, y, z]);
        let color = if surface.contains([x, y, z]) { [r, g, b] } else { INSIDE };
        (x <= tip_x || z <= tip_z).then_some(color)
    })?;
    strip(&[cut], [480, 480])
}

/// The torus knot as a solid, with its layers pulled apart.
pub fn knot_in_layers() -> Result<Vec<u8>> {
    const LAYERS: u32 = 5;
    const OUTSIDE: [u8; 3] = [52, 128, 146];
    let mesh = mesh_of(&asset("torus-knot.obj"))?;
    let surface = voxels_of(&mesh, Mode::Surface, 120, Up::Z)?;
    let solid = voxels_of(&mesh, SOLID, 120, Up::Z)?;
    let [width, depth, height] = solid.dims();
    let thickness = height.div_ceil(LAYERS);
    let dims = [width, depth, height + (LAYERS - 1) * thickness];
    let moved = solid.voxels().map(|[x, y, z]| [x, y, z + z / thickness * thickness]);
    let mut layers = VoxelGrid::from_voxels(dims, moved.collect::<Vec<_>>())?;
    layers.world = solid.world;
    let layers = painted(&layers, |[x, y, z]| {
        let before = [x, y, z - z / (2 * thickness) * thickness];
        Some(if surface.contains(before) { OUTSIDE } else { INSIDE })
    })?;
    strip(&[layers], [480, 480])
}

/// A bowl as surface and as thin surface; voxels of the first alone have another colour.
pub fn bowl_in_both_modes() -> Result<Vec<u8>> {
    const BOTH: [u8; 3] = [92, 146, 190];
    const SURFACE_ALONE: [u8; 3] = [240, 178, 74];
    let [surface, thin] =
        [Mode::Surface, Mode::Thin].map(|mode| voxels_of(&bowl()?, mode, 30, Up::Y));
    let (surface, thin) = (surface?, thin?);
    let paint = |voxel| Some(if thin.contains(voxel) { BOTH } else { SURFACE_ALONE });
    strip(&[painted(&surface, paint)?, painted(&thin, paint)?], [480, 400])
}

/// The lower half of a sphere.
fn bowl() -> Result<Mesh> {
    const AROUND: u32 = 96;
    const DOWN: u32 = 24;
    let point = |i: u32, j: u32| {
        let (sin_a, cos_a) = libm::sincos(f64::from(i) / f64::from(AROUND) * TAU);
        let (sin_b, cos_b) = libm::sincos(f64::from(j) / f64::from(DOWN) * PI / 2.0);
        [cos_a * cos_b, -sin_b, sin_a * cos_b]
    };
    let corners = (0..=DOWN).flat_map(|j| (0..AROUND).map(move |i| point(i, j))).collect();
    let quads = (0..DOWN).flat_map(|j| (0..AROUND).map(move |i| [i, j]));
    let triangles = quads.flat_map(|[i, j]| {
        let next = (i + 1) % AROUND;
        let [a, b] = [i, next].map(|i| j * AROUND + i);
        let [c, d] = [a + AROUND, b + AROUND];
        [[a, b, d], [a, d, c]]
    });
    Ok(Mesh::new(corners, triangles.collect())?)
}
