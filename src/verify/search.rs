//! Looks for the alignment that explains a grid which does not agree as it was placed.
//!
//! All 48 symmetries with thousands of shifts are tried on a few voxels of the exact grid; the best
//! of them on more, and so on; the last few are counted whole. Only occupied voxels are looked at.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::grid::VoxelGrid;
use crate::place::MAX_DIM;
use crate::verify::alignment::{Alignment, Map};

/// Voxels that candidates are tried on, and how many candidates go on from there.
const ROUNDS: [(usize, usize); 3] = [(16, 4096), (128, 512), (1024, 96)];
/// Shifts from where the grids' origins meet.
const NEAR: i64 = 2;

/// The best alignment of `exact` with `grid`, if at most `differing` voxels differ in it. Between
/// equals the simplest.
pub(super) fn explain(exact: &VoxelGrid, grid: &VoxelGrid, differing: u64) -> Option<Alignment> {
    let (expected, found) = (exact.occupied(), grid.occupied());
    // With m voxels of the exact grid missed, m + (found - (expected - m)) differ.
    let most = (differing + expected).checked_sub(found)? / 2;
    let fewest = expected.saturating_sub(found);
    if most < fewest {
        return None;
    }
    let samples = samples(exact, ROUNDS[ROUNDS.len() - 1].0);
    let mut candidates = candidates(exact, grid);
    for (voxels, kept) in ROUNDS {
        let voxels = &samples[..voxels.min(samples.len())];
        candidates = best_on(voxels, candidates, exact, grid, most, kept);
    }
    let least = AtomicU64::new(most);
    let counted = candidates.into_par_iter().filter_map(|alignment| {
        let map = alignment.map(exact.dims());
        let misses = map.misses(exact, grid, least.load(Ordering::Relaxed))?;
        least.fetch_min(misses, Ordering::Relaxed);
        Some((alignment, misses))
    });
    let best = counted.min_by_key(|(alignment, misses)| (*misses, alignment.complexity()));
    best.map(|(alignment, _)| alignment)
}

/// Those of `candidates` that miss the fewest of `voxels`, `kept` at most, none of which misses more
/// than `most`; the best first.
fn best_on(
    voxels: &[[u32; 3]],
    candidates: Vec<Alignment>,
    exact: &VoxelGrid,
    grid: &VoxelGrid,
    most: u64,
    kept: usize,
) -> Vec<Alignment> {
    let tried = candidates.into_par_iter().filter_map(|alignment| {
        let misses = misses(voxels, &alignment.map(exact.dims()), grid, most)?;
        Some((misses, alignment))
    });
    let mut tried: Vec<(u64, Alignment)> = tried.collect();
    tried.sort_by_key(|(misses, _)| *misses);
    tried.truncate(kept);
    tried.into_iter().map(|(_, alignment)| alignment).collect()
}

fn misses(voxels: &[[u32; 3]], map: &Map, grid: &VoxelGrid, most: u64) -> Option<u64> {
    let mut misses = 0;
    for &voxel in voxels {
        // What does not fit is outside of any grid.
        let there = map.apply(voxel).map(|c| u32::try_from(c).unwrap_or(u32::MAX));
        misses += u64::from(!grid.contains(there));
        if misses > most {
            return None;
        }
    }
    Some(misses)
}

/// Up to `number` voxels from all over the grid, the first few of them too.
fn samples(grid: &VoxelGrid, number: usize) -> Vec<[u32; 3]> {
    let step = grid.occupied().div_ceil(number as u64).max(1) as usize;
    let spread: Vec<[u32; 3]> = grid.voxels().step_by(step).collect();
    // Odd, so no common factor with a power of two: every place comes once.
    let places = spread.len().next_power_of_two();
    let order = (0..places).map(|i| i.wrapping_mul(0x9E37_79B1) % places);
    order.filter_map(|i| spread.get(i).copied()).collect()
}

/// All alignments that are tried.
fn candidates(exact: &VoxelGrid, grid: &VoxelGrid) -> Vec<Alignment> {
    let (Some(from), Some(to)) = (exact.occupied_bounds(), grid.occupied_bounds()) else {
        return Vec::new();
    };
    let mut candidates = Vec::new();
    for symmetry in Alignment::symmetries() {
        let map = symmetry.map(exact.dims());
        let whole = map.apply_box([[0; 3], exact.dims().map(|d| d - 1)]);
        let occupied = map.apply_box(from);
        let [xs, ys, zs] = [0, 1, 2].map(|a| {
            let along = |[lo, hi]: [[i64; 3]; 2]| [lo[a], hi[a]];
            let to = to.map(|voxel| i64::from(voxel[a]));
            shifts(along(whole), along(occupied), to, i64::from(grid.dims()[a]))
        });
        for (&x, &y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y))) {
            candidates.extend(zs.iter().map(|&z| Alignment { shift: [x, y, z], ..symmetry }));
        }
    }
    candidates
}

/// Shifts along one axis of a grid of `dim` voxels, of which those `to` are occupied: small ones,
/// those that bring the `occupied` voxels of the exact grid there, and those that bring the `whole`
/// of it to the far end or the middle.
fn shifts(whole: [i64; 2], occupied: [i64; 2], to: [i64; 2], dim: i64) -> Vec<i64> {
    let mut shifts: Vec<i64> = (-NEAR..=NEAR).collect();
    shifts.extend([0, 1].into_iter().flat_map(|end| {
        let onto = to[end] - occupied[end];
        onto - 1..=onto + 1
    }));
    let spare = dim - 1 - whole[1];
    shifts.extend([spare, spare / 2]);
    // No grid could hold both.
    let holds = |&shift: &i64| {
        let (lo, hi) = ((whole[0] + shift).min(0), (whole[1] + 1 + shift).max(dim));
        hi - lo <= i64::from(MAX_DIM)
    };
    shifts.retain(holds);
    shifts.sort_unstable();
    shifts.dedup();
    shifts
}
