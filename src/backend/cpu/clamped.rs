//! Crossings outside the grid, clamped to the voxels at its ends: for a backend that tests only
//! inside the grid. Without padding there are crossings past the last centres. Crossings half a
//! voxel or more before the grid exist only if explicit bounds or a window cut the mesh.

use pulp::Arch;
use rayon::prelude::*;

use crate::backend::Rule;
use crate::backend::cpu::brick_cache::{BrickBatch, BrickCache, EvictionBudget, Slots};
use crate::backend::cpu::columns;
use crate::backend::cpu::triangle_batch::BATCH_LEN;
use crate::grid::BRICK;
use crate::lattice::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::Axis;

/// Triangles per task.
const TRIANGLES: usize = 1 << 13;
/// Bricks per batch of evicted bricks.
const BATCH: u64 = 1 << 6;

/// The crossings of `rule` outside the grid, clamped to its end voxels: bricks, unordered, with
/// duplicates that the rule combines; or their number if they exceed `room`.
pub(crate) fn clamped_crossings(
    mesh: &PlacedMesh,
    rule: Rule,
    room: u64,
) -> Result<Vec<BrickBatch>, u64> {
    let Some(axis) = rule.counting_axis() else { return Ok(Vec::new()) };
    let clip = BoxRange::of_grid(mesh.lattice().dims);
    let mut budget = EvictionBudget::new(BATCH);
    budget.begin(room);
    let ([first, second], _) = axis.project(mesh.lattice().dims.map(|d| d.div_ceil(BRICK) as i32));
    // The bricks of the first and of the last layer perpendicular to the axis.
    let end_bricks = 2 * first as u64 * second as u64;
    let triangles = triangles_outside(mesh, axis);
    let batches = triangles.par_chunks(TRIANGLES).map(|triangles| {
        let groups = triangles.chunks(BATCH_LEN).map(|group| group.iter().copied());
        let bricks = BrickCache::new(Slots::new(end_bricks), &budget);
        let task = columns::Task { mesh, rule, groups, clip, is_outside: true, bricks };
        Arch::new().dispatch(task).flush().0
    });
    let bricks = batches.flatten_iter().collect();
    if budget.dropped() == 0 { Ok(bricks) } else { Err(budget.evicted()) }
}

/// The triangles with a vertex half a voxel or more before the grid, or past its last voxel centre.
fn triangles_outside(mesh: &PlacedMesh, axis: Axis) -> Vec<usize> {
    let half = mesh.lattice().units_per_voxel() / 2;
    let (_, count) = axis.project(mesh.lattice().dims.map(|d| d as i32));
    let last_center = count * mesh.lattice().units_per_voxel() - half;
    let is_outside = |point: &[i32; 3]| {
        let (_, along) = axis.project(*point);
        along <= -half || along > last_center
    };
    if !mesh.vertices().par_iter().any(is_outside) {
        return Vec::new();
    }
    let triangles = (0..mesh.len()).into_par_iter();
    triangles.filter(|&index| mesh.triangle(index).iter().any(is_outside)).collect()
}
