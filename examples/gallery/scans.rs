//! Pictures of models that are not part of the project.

use std::path::Path;

use anyhow::Result;
use trivox::grid::DEFAULT_COLOR;
use trivox::{Mode, Up};

use super::models::{SOLID, mesh_of, painted, voxels_of};
use super::scenes::INSIDE;
use super::strip::strip;

/// The Stanford dragon.
pub fn dragon_at_four_resolutions(folder: &Path) -> Result<Vec<u8>> {
    const CLAY: [u8; 3] = [DEFAULT_COLOR[0], DEFAULT_COLOR[1], DEFAULT_COLOR[2]];
    let mesh = mesh_of(&folder.join("dragon.obj"))?;
    let at =
        |resolution| painted(&voxels_of(&mesh, Mode::Surface, resolution, Up::Y)?, |_| Some(CLAY));
    strip(&[at(32)?, at(64)?, at(128)?, at(512)?], [380, 330])
}

/// The Stanford bunny, a scan with holes in its base, without its nearer half: surface and solid.
pub fn bunny_cut_open(folder: &Path) -> Result<Vec<u8>> {
    const FUR: [u8; 3] = [226, 208, 188];
    let mesh = mesh_of(&folder.join("bunny.obj"))?;
    let surface = voxels_of(&mesh, Mode::Surface, 96, Up::Y)?;
    let solid = voxels_of(&mesh, SOLID, 96, Up::Y)?;
    let middle = surface.dims()[2] / 2;
    let paint = |voxel: [u32; 3]| {
        (voxel[2] < middle).then_some(if surface.contains(voxel) { FUR } else { INSIDE })
    };
    strip(&[painted(&surface, paint)?, painted(&solid, paint)?], [400, 400])
}

/// A bottle whose colours all come from a texture.
pub fn bottle_in_its_texture(folder: &Path) -> Result<Vec<u8>> {
    let mesh = mesh_of(&folder.join("fuze.obj"))?;
    let at = |resolution| voxels_of(&mesh, Mode::Surface, resolution, Up::Z);
    strip(&[at(48)?, at(96)?, at(256)?], [260, 400])
}
