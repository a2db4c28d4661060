//! Crossings before the grid, which count for its first voxels: for a backend that looks no further
//! than the grid. Only a mesh that explicit bounds cut has any.

use rayon::prelude::*;

use crate::backend::Rule;
use crate::backend::cpu::columns;
use crate::backend::cpu::open::{Budget, Closed, OpenBricks, Places};
use crate::grid::BRICK;
use crate::place::PlacedMesh;
use crate::predicate::crosses::Axis;

/// Triangles of one task.
const TRIANGLES: usize = 1 << 13;
/// Bricks that a task has room for at a time.
const PORTION: u64 = 1 << 6;

/// What a mesh has before the grid.
#[derive(Default)]
pub(in crate::backend) struct Before {
    /// Bricks of the grid's first layer, in no order and repeated, to be combined as the rule says.
    pub(in crate::backend) bricks: Vec<Closed>,
    /// Bricks in all, if there was no room for them.
    pub(in crate::backend) dropped: u64,
}

/// What `rule` counts for the grid's first voxels of what columns cross before it, in at most `room`
/// bricks.
pub(in crate::backend) fn cross_before(mesh: &PlacedMesh, rule: Rule, room: u64) -> Before {
    let axis = match rule {
        Rule::Touched | Rule::Crossed => return Before::default(),
        Rule::Flips(axis) => axis,
        Rule::WindingFlips => Axis::X,
    };
    let triangles = triangles_before(mesh, axis);
    if triangles.is_empty() {
        return Before::default();
    }
    let mut budget = Budget::new(PORTION);
    budget.begin(room);
    let layer = bricks_across(mesh, axis);
    let parts = triangles.par_chunks(TRIANGLES).map(|triangles| {
        let mut bricks = OpenBricks::new(Places::new(layer), &budget);
        columns::cross_before(mesh, rule, triangles, &mut bricks);
        bricks.close_all().0
    });
    let bricks = parts.flatten_iter().collect();
    match budget.dropped() {
        0 => Before { bricks, dropped: 0 },
        _ => Before { bricks: Vec::new(), dropped: budget.closed() },
    }
}

/// The triangles that reach before the grid as far as where its first voxels no longer have their
/// centres next: half a voxel.
fn triangles_before(mesh: &PlacedMesh, axis: Axis) -> Vec<usize> {
    let nearest = -mesh.lattice().unit() / 2;
    let is_before = |point: &[i32; 3]| axis.project(*point).1 <= nearest;
    if !mesh.vertices().par_iter().any(is_before) {
        return Vec::new();
    }
    let triangles = (0..mesh.len()).into_par_iter();
    triangles.filter(|&index| mesh.triangle(index).iter().any(is_before)).collect()
}

/// Bricks of a layer of the grid across `axis`.
fn bricks_across(mesh: &PlacedMesh, axis: Axis) -> u64 {
    let ([first, second], _) = axis.project(mesh.lattice().dims.map(|d| d.div_ceil(BRICK) as i32));
    first as u64 * second as u64
}
