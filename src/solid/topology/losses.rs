//! What a solid loses of closed shells: those without a voxel, and those in pieces.
//!
//! Each shell is filled alone, by its own crossings with columns along `x`: the voxels of a column
//! are runs. Two runs are connected if voxels of theirs share a face, an edge or a corner.

use rayon::prelude::*;

use crate::lattice::{PlacedMesh, Triangle};
use crate::predicate::crosses::{Axis, ProjectedTriangle, center_of};
use crate::solid::topology::shells::Shells;

/// Most columns to test with triangles, which bounds time, and memory to half a gigabyte. Of a mesh
/// with more, losses are not searched for.
const MAX_TESTS: u64 = 1 << 25;

/// A closed shell that has no voxel, or falls into several pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellLoss {
    /// Sets of connected voxels: 0, or 2 and more.
    pub pieces: u64,
    /// The minimum and maximum corner, on the lattice.
    pub bounds: [[i32; 3]; 2],
}

/// A crossing: its column, the first voxel whose centre is at or past it, and its change of the
/// winding number, which is 1 where parity is counted.
type Crossing = (u64, i32, i32);

/// Voxels of a column, from the first to before the last.
type VoxelRun = (u64, [i32; 2]);

/// The losses of shells in the grid, in the order of their first triangles. The mesh is closed;
/// `shells` has the first triangle of the shell of each. None are searched for in too little
/// `memory`, in bytes.
pub(in crate::solid) fn losses(
    mesh: &PlacedMesh,
    shells: &[u32],
    is_oriented: bool,
    memory: u64,
) -> Vec<ShellLoss> {
    let bits = mesh.lattice().fraction_bits;
    let tests = |triangle: usize| {
        let [y, z] = [1, 2].map(|axis| columns(&mesh.triangle(triangle), axis, bits).len() as u64);
        y * z
    };
    // Their order and slices; then crossings, runs and their sets.
    let room = memory.saturating_sub(24 * mesh.len() as u64) / 48;
    if (0..mesh.len()).into_par_iter().map(tests).sum::<u64>() > room.min(MAX_TESTS) {
        return Vec::new();
    }
    let mut order: Vec<u32> = (0..mesh.len() as u32).collect();
    order.par_sort_unstable_by_key(|&triangle| (shells[triangle as usize], triangle));
    let shells: Vec<&[u32]> =
        order.chunk_by(|&one, &other| shells[one as usize] == shells[other as usize]).collect();
    let end = mesh.lattice().dims.map(|d| i64::from(d) << bits);
    let loss = |triangles: &&[u32]| {
        let corners = || triangles.iter().flat_map(|&index| mesh.triangle(index as usize));
        let bounds = corners().map(|corner| [corner; 2]).reduce(|[lo, hi], [low, high]| {
            [[0, 1, 2].map(|a| lo[a].min(low[a])), [0, 1, 2].map(|a| hi[a].max(high[a]))]
        })?;
        // The shell of a single triangle is one that the topology leaves out.
        if triangles.len() == 1
            || (0..3).any(|a| bounds[0][a] < 0 || i64::from(bounds[1][a]) > end[a])
        {
            return None;
        }
        let of_triangle =
            |&index: &u32| crossings(&mesh.triangle(index as usize), bits, is_oriented);
        let mut crossings: Vec<Crossing> =
            triangles.par_iter().flat_map_iter(of_triangle).collect();
        crossings.par_sort_unstable();
        let pieces = pieces(&runs(&crossings, is_oriented));
        (pieces != 1).then_some(ShellLoss { pieces, bounds })
    };
    shells.par_iter().filter_map(loss).collect()
}

/// The indices of columns whose centres are within a triangle's extent along an axis.
fn columns(triangle: &Triangle, axis: usize, bits: u32) -> std::ops::Range<i32> {
    let [a, b, c] = triangle.map(|corner| corner[axis] - center_of(0, bits));
    let least = a.min(b).min(c);
    -(-least >> bits)..(a.max(b).max(c) >> bits) + 1
}

fn crossings(triangle: &Triangle, bits: u32, is_oriented: bool) -> Vec<Crossing> {
    let projected = ProjectedTriangle::new(triangle, Axis::X);
    let step = if is_oriented { projected.winding() } else { 1 };
    let mut crossings = Vec::new();
    for z in columns(triangle, 2, bits) {
        for y in columns(triangle, 1, bits) {
            if let Some(height) = projected.at([y, z].map(|index| center_of(index, bits))) {
                // From 1, so that the column before the first is not in another row.
                let column = (z as u64 + 1) << 32 | (y as u64 + 1);
                crossings.push((column, height.first_center(bits), step));
            }
        }
    }
    crossings
}

/// The voxels inside by sorted crossings: those with a winding number, or with an odd sum.
fn runs(crossings: &[Crossing], is_oriented: bool) -> Vec<VoxelRun> {
    let is_inside = |sum: i32| if is_oriented { sum != 0 } else { sum % 2 != 0 };
    let mut runs: Vec<VoxelRun> = Vec::new();
    let mut sum = 0;
    for of_voxel in crossings.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let (column, voxel, _) = of_voxel[0];
        let was_inside = is_inside(sum);
        sum += of_voxel.iter().map(|&(.., step)| step).sum::<i32>();
        match (was_inside, is_inside(sum)) {
            (false, true) => runs.push((column, [voxel; 2])),
            (true, false) => runs.iter_mut().last().into_iter().for_each(|run| run.1[1] = voxel),
            _ => {}
        }
    }
    runs
}

/// The number of sets of connected runs, which are sorted.
fn pieces(runs: &[VoxelRun]) -> u64 {
    let sets = Shells::new(runs.len());
    let mut pieces = runs.len() as u64;
    // The columns before this one: along y, and the next, the same and the one before in the row
    // before. The first run of each that ends late enough only advances.
    let mut firsts = [1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1].map(|back: u64| (back, 0));
    for (index, &(column, [from, to])) in runs.iter().enumerate() {
        for (back, first) in &mut firsts {
            let before = column - *back;
            let ends_early = |run: &VoxelRun| (run.0, run.1[1]) < (before, from);
            *first += runs[*first..].iter().take_while(|run| ends_early(run)).count();
            let near = |run: &&VoxelRun| run.0 == before && run.1[0] <= to;
            for (offset, _) in runs[*first..].iter().take_while(near).enumerate() {
                pieces -= u64::from(sets.join(index as u32, (*first + offset) as u32));
            }
        }
    }
    pieces
}
