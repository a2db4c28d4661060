//! Crossings beyond the ends of the grid, which count for voxels at its ends: for a backend that looks
//! no further than the grid. Without padding there are some past the last centres; before the first
//! ones only where explicit bounds cut the mesh.

use rayon::prelude::*;

use crate::grid::BRICK;
use crate::place::PlacedMesh;
use crate::predicate::crosses::Axis;
use crate::voxelize::Rule;
use crate::voxelize::cpu::brick_cache::{Budget, Closed, OpenBricks, Places};
use crate::voxelize::cpu::columns;

/// Triangles of one task.
const TRIANGLES: usize = 1 << 13;
/// Bricks that a task has room for at a time.
const PORTION: u64 = 1 << 6;

/// What a mesh has beyond the grid.
#[derive(Default)]
pub(in crate::voxelize) struct Beyond {
    /// Bricks at the grid's ends, in no order and repeated, to be combined as the rule says.
    pub(in crate::voxelize) bricks: Vec<Closed>,
    /// Bricks in all, if there was no room for them.
    pub(in crate::voxelize) dropped: u64,
}

/// What `rule` counts for the ends of the grid of what columns cross beyond them, in at most `room`
/// bricks.
pub(in crate::voxelize) fn cross_beyond(mesh: &PlacedMesh, rule: Rule, room: u64) -> Beyond {
    let Some(axis) = rule.flips_along() else {
        return Beyond::default();
    };
    let triangles = triangles_beyond(mesh, axis);
    let mut budget = Budget::new(PORTION);
    budget.begin(room);
    let layers = 2 * bricks_across(mesh, axis);
    let parts = triangles.par_chunks(TRIANGLES).map(|triangles| {
        let mut bricks = OpenBricks::new(Places::new(layers), &budget);
        columns::cross_beyond(mesh, rule, triangles, &mut bricks);
        bricks.close_all().0
    });
    let bricks = parts.flatten_iter().collect();
    match budget.dropped() {
        0 => Beyond { bricks, dropped: 0 },
        _ => Beyond { bricks: Vec::new(), dropped: budget.closed() },
    }
}

/// The triangles that reach so far beyond an end of the grid that no voxel's centre in it may come next.
fn triangles_beyond(mesh: &PlacedMesh, axis: Axis) -> Vec<usize> {
    let half = mesh.lattice().unit() / 2;
    let (_, count) = axis.project(mesh.lattice().dims.map(|d| d as i32));
    let last_center = count * mesh.lattice().unit() - half;
    let is_beyond = |point: &[i32; 3]| {
        let (_, along) = axis.project(*point);
        along <= -half || along > last_center
    };
    if !mesh.vertices().par_iter().any(is_beyond) {
        return Vec::new();
    }
    let triangles = (0..mesh.len()).into_par_iter();
    triangles.filter(|&index| mesh.triangle(index).iter().any(is_beyond)).collect()
}

/// Bricks of a layer of the grid across `axis`.
fn bricks_across(mesh: &PlacedMesh, axis: Axis) -> u64 {
    let ([first, second], _) = axis.project(mesh.lattice().dims.map(|d| d.div_ceil(BRICK) as i32));
    first as u64 * second as u64
}
