//! Pictures of the tutorial, docs/guide.md: one for each step, of what its commands make.

use std::slice::from_ref;

use anyhow::{Context, Result};
use trivox::lattice::transform::Rotation;
use trivox::surface::palette::{IndexedColors, MAX_COLORS};
use trivox::view::render::{RenderOptions, View};
use trivox::{ColorSource, Mode, Solid, Transform, VoxelGrid, Voxelizer};

use super::File;
use super::models::painted;
use super::scenes::{INSIDE, asset};
use super::strip::{strip, strip_of};

const TILE: [u32; 2] = [320, 320];
const OUTSIDE: [u8; 3] = [52, 128, 146];

/// All pictures of the tutorial.
pub fn steps() -> Result<Vec<File>> {
    let at = Voxelizer::new().resolution(64);
    let lighthouse = of(&at, "lighthouse.obj")?;
    let knot = of(&at, "torus-knot.obj")?;
    let solid = of(&at.clone().mode(Mode::Solid(Solid::default())), "torus-knot.obj")?;
    let thin = of(&at.clone().mode(Mode::Thin), "torus-knot.obj")?;
    let fine = of(&Voxelizer::new().voxel_size(0.05), "torus-knot.obj")?;
    let rotations = vec![Rotation { axis: 0, degrees: 90.0 }];
    let turn = Transform { rotations, ..Transform::default() };
    let turned = of(&at.clone().transform(turn), "torus-knot.obj")?;
    let brown = at.color(ColorSource::Uniform([0xc0, 0x80, 0x40, 0xff]));
    let brown = of(&brown, "lighthouse.obj")?;
    let cut = |grid| nearer_layers_cut_off(grid, &knot);

    Ok(vec![
        ("guide-1.png", strip(from_ref(&lighthouse), [480, 480])?),
        ("guide-2.png", strip(&[knot.clone(), fine], TILE)?),
        ("guide-3.png", strip(&[cut(&knot)?, cut(&thin)?, cut(&solid)?], TILE)?),
        ("guide-4.png", inside(&cut(&solid)?, &lighthouse)?),
        ("guide-5.png", strip(&[dithered()?, brown], TILE)?),
        ("guide-6.png", strip(&[knot, turned], TILE)?),
    ])
}

fn of(voxelizer: &Voxelizer, name: &str) -> Result<VoxelGrid> {
    Ok(voxelizer.run(asset(name))?.grid)
}

/// The grid up to its layer 11 along z, with the voxels inside `surface` in another colour.
fn nearer_layers_cut_off(grid: &VoxelGrid, surface: &VoxelGrid) -> Result<VoxelGrid> {
    painted(grid, |voxel| {
        let color = if surface.contains(voxel) { OUTSIDE } else { INSIDE };
        (voxel[2] <= 11).then_some(color)
    })
}

/// Both from the front.
fn inside(cut: &VoxelGrid, lighthouse: &VoxelGrid) -> Result<Vec<u8>> {
    let front = RenderOptions { view: View::Front, ..RenderOptions::new(TILE) };
    strip_of(&[(cut, front), (lighthouse, front)], TILE)
}

/// The lighthouse in the 255 colours of a `.vox`, dithered.
fn dithered() -> Result<VoxelGrid> {
    let mut grid = of(&Voxelizer::new().resolution(120), "lighthouse.obj")?;
    let indexed =
        IndexedColors::new(&grid, None, MAX_COLORS, true).context("the lighthouse has colours")?;
    grid.colors = indexed.painted(&grid);
    Ok(grid)
}
