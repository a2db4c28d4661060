//! Voxelizes meshes, and recolours voxels.

use std::path::Path;

use anyhow::{Context, Result};
use trivox::backend::RunOptions;
use trivox::base::srgb::Rgba;
use trivox::formats::read_mesh;
use trivox::grid::{BRICK, Colors, mask_voxels};
use trivox::solid::Solid;
use trivox::{
    ColorOptions, Cpu, Mesh, Mode, NoProgress, PlaceOptions, Sizing, Up, VoxelGrid, World, color,
    place, voxelize,
};

/// The inside and the surface.
pub const SOLID: Mode =
    Mode::Solid(Solid { fill: trivox::solid::Fill::Auto, include_surface: true });

/// Reads a mesh.
pub fn mesh_of(path: &Path) -> Result<Mesh> {
    Ok(read_mesh(path).with_context(|| path.display().to_string())?.mesh)
}

/// Voxelizes a mesh, with its colours.
pub fn voxels_of(mesh: &Mesh, mode: Mode, resolution: u32, up: Up) -> Result<VoxelGrid> {
    let placed = place(mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
    let voxels = voxelize(&Cpu, &placed, mode, &RunOptions::default(), &NoProgress)?.grid;
    let colored = color(&placed, voxels, &ColorOptions::new(mode), &NoProgress)?.0;
    Ok(colored.with_world(World::of(placed.lattice(), up)))
}

/// Keeps the voxels of a grid for which `paint` returns a colour.
pub fn painted(grid: &VoxelGrid, paint: impl Fn([u32; 3]) -> Option<[u8; 3]>) -> Result<VoxelGrid> {
    let painted = grid.bricks().map(|(key, mask)| {
        let (mut kept, mut colors) = ([0; 8], Vec::<Rgba>::new());
        for voxel in mask_voxels(key.position().map(|b| b * BRICK), mask) {
            if let Some([r, g, b]) = paint(voxel) {
                let [x, y, z] = voxel.map(|c| c % BRICK);
                kept[x as usize] |= 1 << (8 * y + z);
                colors.push([r, g, b, u8::MAX]);
            }
        }
        (key, kept, colors)
    });
    let bricks: Vec<_> = painted.collect();
    let masks = bricks.iter().map(|&(key, mask, _)| (key, mask)).collect();
    let mut kept = VoxelGrid::from_bricks(grid.dims(), masks)?;
    kept.world = grid.world;
    kept.colors = Some(Colors::from_bricks(bricks, [u8::MAX; 4]));
    Ok(kept)
}
