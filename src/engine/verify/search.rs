//! Searches for an alignment that explains the differences of two grids.
//!
//! Successive halving: all 48 symmetries with thousands of shifts are tested on a few voxels of the
//! exact grid, the best of them on more, and so on; the voxels of the last few are counted in full,
//! until the samples exclude the others, or the likeliest do not explain the differences. Only
//! occupied voxels are sampled, and of a solid those at its surface: interior voxels match in most
//! alignments.

use rayon::prelude::*;

use crate::engine::verify::alignment::Alignment;
use crate::grid::compare::compare;
use crate::grid::{GridError, VoxelGrid};
use crate::lattice::MAX_DIM;

/// Per round: the number of sampled voxels, and of candidates kept.
const ROUNDS: [(usize, usize); 3] = [(16, 4096), (128, 512), (1024, 96)];
/// Maximum number of candidates that are counted in full without success, best first; one without a
/// miss among the samples is always counted.
const MAX_FRUITLESS: usize = 8;
/// Maximum shift around that of equal origins, in voxels.
const NEAR: i64 = 2;

/// The best alignment of `exact` with `grid` in which at most `differing` voxels differ; of equals,
/// the simplest.
///
/// # Errors
/// The alignments cannot be applied.
pub(super) fn explain(
    exact: &VoxelGrid,
    grid: &VoxelGrid,
    differing: u64,
) -> Result<Option<Alignment>, GridError> {
    let (expected, found) = (exact.occupied(), grid.occupied());
    // With m missed voxels of the exact grid, m + (found - (expected - m)) voxels differ.
    let most = (differing + expected).checked_sub(found).map(|sum| sum / 2);
    let Some(most) = most.filter(|&most| most >= expected.saturating_sub(found)) else {
        return Ok(None);
    };
    let samples = samples(exact, ROUNDS[ROUNDS.len() - 1].0);
    let mut candidates = candidates(exact, grid);
    for (voxels, kept) in ROUNDS {
        let voxels = &samples[..voxels.min(samples.len())];
        let tried = candidates.into_par_iter().filter_map(|candidate| {
            let misses = misses(voxels, &candidate.alignment, exact.dims(), grid);
            (misses <= most).then_some(Candidate { misses, ..candidate })
        });
        candidates = tried.collect();
        candidates.sort_by_cached_key(Candidate::order);
        candidates.truncate(kept);
    }
    let mut best: Option<Candidate> = None;
    for (tried, candidate) in candidates.into_iter().enumerate() {
        let is_hopeless = match &best {
            // The samples are distinct: in full it has at least as many misses.
            Some(best) => best.order() <= candidate.order(),
            None => tried >= MAX_FRUITLESS && candidate.misses > 0,
        };
        if is_hopeless {
            break;
        }
        let image = candidate.alignment.image(exact, [0; 3], grid.dims())?;
        let misses = expected - compare(&image, grid, 0).both;
        let counted = Candidate { misses, ..candidate };
        if misses <= most && best.as_ref().is_none_or(|best| counted.order() < best.order()) {
            best = Some(counted);
        }
    }
    Ok(best.map(|best| best.alignment))
}

/// An alignment, and its misses: the sampled voxels with an empty image.
struct Candidate {
    misses: u64,
    alignment: Alignment,
}

impl Candidate {
    /// The best first.
    fn order(&self) -> (u64, (usize, usize, u64)) {
        (self.misses, self.alignment.complexity())
    }
}

fn misses(voxels: &[[u32; 3]], alignment: &Alignment, dims: [u32; 3], grid: &VoxelGrid) -> u64 {
    let is_missed = |&&voxel: &&[u32; 3]| {
        // Coordinates that do not fit in `u32` are outside.
        let image = alignment.apply(voxel, dims).map(|c| u32::try_from(c).unwrap_or(u32::MAX));
        !grid.contains(image)
    };
    voxels.iter().filter(is_missed).count() as u64
}

/// Up to `number` distinct surface voxels, spread over the whole grid and all six sides. So is each
/// prefix of the list.
fn samples(grid: &VoxelGrid, number: usize) -> Vec<[u32; 3]> {
    let step = grid.occupied().div_ceil(number as u64).max(1) as usize;
    let seeds = grid.voxels().step_by(step).zip((0..6).cycle());
    let mut outer: Vec<[u32; 3]> =
        seeds.map(|(voxel, side)| outermost(grid, voxel, side)).collect();
    outer.sort_unstable();
    outer.dedup();
    // The factor is odd, hence coprime to a power of two: a permutation.
    let slots = outer.len().next_power_of_two();
    let order = (0..slots).map(|i| i.wrapping_mul(0x9E37_79B1) % slots);
    order.filter_map(|i| outer.get(i).copied()).collect()
}

/// The last voxel of the occupied run that begins at `voxel`, towards one of the six sides.
fn outermost(grid: &VoxelGrid, mut voxel: [u32; 3], side: usize) -> [u32; 3] {
    let (axis, is_up) = (side / 2, side % 2 == 1);
    loop {
        let mut next = voxel;
        // Wraps past the lower end to a voxel outside the grid.
        next[axis] = if is_up { voxel[axis] + 1 } else { voxel[axis].wrapping_sub(1) };
        if !grid.contains(next) {
            return voxel;
        }
        voxel = next;
    }
}

/// All alignments to test.
fn candidates(exact: &VoxelGrid, grid: &VoxelGrid) -> Vec<Candidate> {
    let (Some(from), Some(to)) = (exact.occupied_bounds(), grid.occupied_bounds()) else {
        return Vec::new();
    };
    let mut candidates = Vec::new();
    for symmetry in Alignment::symmetries() {
        let dims = exact.dims();
        let whole = symmetry.apply_box([[0; 3], dims.map(|d| d - 1)], dims);
        let occupied = symmetry.apply_box(from, dims);
        let [xs, ys, zs] = [0, 1, 2].map(|a| {
            let along = |[lo, hi]: [[i64; 3]; 2]| [lo[a], hi[a]];
            let to = to.map(|voxel| i64::from(voxel[a]));
            shifts(along(whole), along(occupied), to, i64::from(grid.dims()[a]))
        });
        for (&x, &y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y))) {
            let shifted = |&z| Alignment { shift: [x, y, z], ..symmetry };
            let shifted = zs.iter().map(shifted);
            candidates.extend(shifted.map(|alignment| Candidate { misses: 0, alignment }));
        }
    }
    candidates
}

/// Candidate shifts along one axis of a grid of `dim` voxels with occupied range `to`: small ones;
/// those that map an end of the exact grid's `occupied` range to that of `to`, or next to it; and
/// those that map the `whole` exact grid to the far end or the middle.
fn shifts(whole: [i64; 2], occupied: [i64; 2], to: [i64; 2], dim: i64) -> Vec<i64> {
    let mut shifts: Vec<i64> = (-NEAR..=NEAR).collect();
    shifts.extend([0, 1].into_iter().flat_map(|end| {
        let onto = to[end] - occupied[end];
        onto - 1..=onto + 1
    }));
    let spare = dim - 1 - whole[1];
    shifts.extend([spare, spare / 2]);
    // The common frame must fit in a grid.
    let fits = |&shift: &i64| {
        let (lo, hi) = ((whole[0] + shift).min(0), (whole[1] + 1 + shift).max(dim));
        hi - lo <= i64::from(MAX_DIM)
    };
    shifts.retain(fits);
    shifts.sort_unstable();
    shifts.dedup();
    shifts
}
