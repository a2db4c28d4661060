//! The coverage of each voxel: the fraction of its 8 x 8 x 8 sub-voxels whose centre is inside the
//! solid.
//!
//! The sub-voxels are the voxels of a grid that is 8 times as fine, with the same lattice points.
//! There the same fill decides each sub-voxel by its own centre, and each voxel is one brick. The
//! automatic fill chooses again, since parts may overlap by less than a voxel; a flood depends on
//! the size of voxels, and has no coverage. So coverage is by the rules of voxels, and the same on
//! every machine.

use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::{Progress, Unreported};
use crate::grid::{
    Attribute, BRICK, BrickKey, Channel, VoxelGrid, VoxelValues, count, mask_place, own_values,
};
use crate::lattice::PlacedMesh;
use crate::solid::mode::Mode;
use crate::solid::{Fill, Findings, Solid, unreported_solid};

/// A voxel has `2^BITS` sub-voxels along each axis: those of a brick.
pub(super) const BITS: u32 = BRICK.ilog2();

/// The reason why voxels of `mesh` by `mode` have no coverage; `None` if they have it.
pub(super) fn why_missing(mesh: &PlacedMesh, mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Solid(Solid { fill: Fill::Flood, .. }) => {
            Some("the fill is flood, which finds another solid on the finer grid of coverage")
        }
        Mode::Solid(_) if mesh.finer(BITS).is_some() => None,
        Mode::Solid(_) => Some(
            "coverage is for grids of up to 8,191 voxels along an axis and at least 128 lattice units \
             a voxel",
        ),
        _ => Some("coverage is of solids, and the mode is not solid"),
    }
}

/// The coverage of the voxels of `grid` by the fill of `mode`, on the CPU, and whether parts of the
/// mesh overlap or may do so. Takes at most `memory` bytes.
pub(super) fn channel(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    mode: Mode,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(Channel, bool), BackendError> {
    let (Mode::Solid(solid), Some(finer)) = (mode, mesh.finer(BITS)) else {
        return Ok((Channel::from_bricks(Attribute::Coverage, Vec::new()), false));
    };
    let fine = unreported_solid(&finer, solid.fill, false, memory, &Unreported(progress))?;
    let Some((fine, Findings { windings, .. }, _)) = fine else {
        return Err(BackendError::Failed("it found no solid for the coverage".to_owned()));
    };
    check_cancelled(progress)?;
    // At most: those that are not full on the finer grid.
    let full = fine.brick_count() - fine.masks().len() as u64;
    let own = grid.occupied().saturating_sub(full) + fine.masks().len() as u64;
    let lists = VoxelValues::<u32>::bytes_of(grid.brick_count(), own);
    // The values in lists that grow, and in order.
    check_memory(fine.bytes() + 4 * lists, memory)?;
    let rest = 1_f32.to_bits();
    let covered = grid.bricks().par_bridge().map(|(key, mask)| {
        let inside = inside(&fine, key);
        let (own, values) = own_values(mask, rest, |x, bit| {
            (inside[(64 * x + bit) as usize] as f32 / SUB_VOXELS as f32).to_bits()
        });
        (key, own, values)
    });
    let channel = Channel::Scalar(VoxelValues::from_bricks(covered.collect(), rest));
    Ok((channel, windings.is_none_or(|windings| windings.overlapping > 0)))
}

const SUB_VOXELS: u32 = BRICK.pow(3);

/// The number of sub-voxels inside, of each voxel of the brick `key`.
fn inside(fine: &VoxelGrid, key: BrickKey) -> [u32; 512] {
    let mut inside = [0; 512];
    let first = key.first_voxel();
    for run in fine.brick_runs_in(first, first.map(|c| c + BRICK)) {
        for n in 0..run.len {
            let (x, bit) = mask_place(run.start.along_x(n).position());
            inside[64 * x + bit as usize] = count(&run.mask);
        }
    }
    inside
}
