//! A flood fill of the empty space from outside, on a graph: the empty voxels of a brick are one
//! node, and so is a run of empty bricks in a row. Time and memory are proportional to the surface.

use std::collections::VecDeque;
use std::ops::Range;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::Progress;
use crate::grid::{
    BRICK, BrickKey, FIRST_Z, FULL, Mask, VoxelGrid, World, bytes, in_order, is_empty, mask_step,
};

/// Nodes between two reports of progress.
const REPORT: u64 = 1 << 12;

/// Rows of bricks written per task.
const TASK: usize = 256;

/// The voxels of `surface` with the enclosed voxels, and the number of the latter. Enclosed voxels
/// are not 6-connected to the outside of the grid through empty voxels: a surface with a hole as
/// large as a voxel encloses nothing; a surface whose voxels meet only in edges is closed.
///
/// Takes at most `memory` bytes besides `surface`, including the result. The step `fill` of
/// `progress` is in nodes of the graph; those that are not reached count as done at the end.
///
/// ```
/// use trivox::{NoProgress, VoxelGrid, solid::fill};
///
/// let around = [[1, 1, 0], [0, 1, 1], [2, 1, 1], [1, 0, 1], [1, 2, 1], [1, 1, 2]];
/// let surface = VoxelGrid::from_voxels([3; 3], around)?;
/// let (grid, enclosed) = fill::flood(&surface, u64::MAX, &NoProgress)?;
/// assert!(grid.contains([1, 1, 1]) && enclosed == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BackendError::Memory`], or cancellation.
pub fn flood(
    surface: &VoxelGrid,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(VoxelGrid, u64), BackendError> {
    let Some(bounds) = surface.occupied_bounds() else {
        return Ok((surface.clone(), 0));
    };
    let rows = Rows { bounds: bounds.map(|voxel| voxel.map(|c| c / BRICK)) };
    let mut nodes = 0;
    for_each_node(surface, &rows, |_| nodes += 1);
    check_memory(bytes_needed(surface, &rows, nodes), memory)?;

    progress.start("fill", nodes as u64);
    let mut empties = Empties::of(surface, rows, nodes);
    let mut reported = 0;
    while let Some(index) = empties.queue.pop_front() {
        empties.visit(index);
        if empties.reached_nodes - reported >= REPORT {
            check_cancelled(progress)?;
            progress.advance(empties.reached_nodes - reported);
            reported = empties.reached_nodes;
        }
    }
    progress.advance(nodes as u64 - reported);
    let grid = empties.unreached(surface.dims(), surface.world);
    let enclosed = grid.occupied() - surface.occupied();
    Ok((grid, enclosed))
}

/// Consecutive bricks in a row.
#[derive(Clone, Copy)]
struct Node {
    start: BrickKey,
    len: u32,
    space: Space,
}

#[derive(Clone, Copy)]
enum Space {
    /// Empty bricks, and whether they were reached from outside.
    Gap { is_open: bool },
    /// Full bricks.
    Solid,
    /// A brick that is neither empty nor full: whether it is queued, and the index of its mask. The
    /// index fits 32 bits: `2^32` masks would take 275 GB.
    Brick { is_queued: bool, index: u32 },
}

impl Node {
    /// The range of bricks along `x`.
    fn span(&self) -> Range<u32> {
        let [x, ..] = self.start.position();
        x..x + self.len
    }
}

/// The rows of bricks within the bounds of a surface. Everything beyond the bounds is outside.
struct Rows {
    /// The first and the last brick along each axis.
    bounds: [[u32; 3]; 2],
}

impl Rows {
    fn count(&self) -> usize {
        let [lo, hi] = self.bounds;
        (hi[1] - lo[1] + 1) as usize * (hi[2] - lo[2] + 1) as usize
    }

    /// The index of a brick's row.
    fn of(&self, [_, y, z]: [u32; 3]) -> usize {
        let [lo, hi] = self.bounds;
        (z - lo[2]) as usize * (hi[1] - lo[1] + 1) as usize + (y - lo[1]) as usize
    }

    /// The first brick of each row, in canonical order.
    fn firsts(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [lo, hi] = self.bounds;
        (lo[2]..=hi[2]).flat_map(move |z| (lo[1]..=hi[1]).map(move |y| [lo[0], y, z]))
    }

    /// The neighbour of `brick` along an axis; `None` beyond the bounds.
    fn beside(&self, mut brick: [u32; 3], axis: usize, is_up: bool) -> Option<[u32; 3]> {
        let [lo, hi] = self.bounds;
        let end = if is_up { hi[axis] } else { lo[axis] };
        if brick[axis] == end {
            return None;
        }
        brick[axis] = if is_up { brick[axis] + 1 } else { brick[axis] - 1 };
        Some(brick)
    }
}

/// Calls `each` with the nodes of each row, which cover it, in canonical order.
fn for_each_node(surface: &VoxelGrid, rows: &Rows, mut each: impl FnMut(Node)) {
    let [lo, hi] = rows.bounds;
    let mut index = 0;
    let mut pieces = surface.brick_runs();
    for first in rows.firsts() {
        let begin = BrickKey::new(first);
        let end = begin.along_x(hi[0] + 1 - lo[0]);
        let mut next = begin;
        let gap = |from: BrickKey, to: BrickKey| {
            let (len, space) = (from.bricks_to(to), Space::Gap { is_open: false });
            (from < to).then_some(Node { start: from, len, space })
        };
        for piece in pieces.take_before(end) {
            gap(next, piece.start).into_iter().for_each(&mut each);
            let space = if piece.mask == FULL {
                Space::Solid
            } else {
                index += 1;
                Space::Brick { is_queued: false, index: index - 1 }
            };
            each(Node { start: piece.start, len: piece.len, space });
            next = piece.end();
        }
        gap(next, end).into_iter().for_each(&mut each);
    }
}

/// An upper bound of the memory for the work and the result, in bytes.
fn bytes_needed(surface: &VoxelGrid, rows: &Rows, nodes: usize) -> u64 {
    let queue = size_of::<usize>();
    let tasks = rows.count().div_ceil(TASK) * 256;
    let bricks = surface.masks().len();
    let work = nodes * (size_of::<Node>() + queue) + (rows.count() + 1) * size_of::<usize>();
    let masks = size_of_val(surface.masks());
    // A brick that becomes full needs less memory as a run; other runs were gaps or runs before.
    (work + tasks + masks) as u64 + bytes(bricks as u64, (nodes - bricks) as u64)
}

/// The empty space, and the part of it reached from outside.
struct Empties<'a> {
    rows: Rows,
    nodes: Vec<Node>,
    /// The index of the first node of each row, then the number of nodes.
    starts: Vec<usize>,
    /// The empty voxels of each brick that is neither empty nor full.
    surface: &'a [Mask],
    /// The voxels of these bricks that were reached, including voxels beyond the end of the grid.
    reached: Vec<Mask>,
    /// The queue: nodes that were reached, whose neighbours were not visited from there.
    queue: VecDeque<usize>,
    /// The number of visited gaps, and of bricks with a reached voxel.
    reached_nodes: u64,
}

impl<'a> Empties<'a> {
    /// `count` nodes around a surface; those at the bounds are reached.
    fn of(surface: &'a VoxelGrid, rows: Rows, count: usize) -> Self {
        let mut nodes = Vec::with_capacity(count);
        let mut starts = Vec::with_capacity(rows.count() + 1);
        for_each_node(surface, &rows, |node| {
            if node.start.position()[0] == rows.bounds[0][0] {
                starts.push(nodes.len());
            }
            nodes.push(node);
        });
        starts.push(nodes.len());
        let reached = bytemuck::zeroed_vec(surface.masks().len());
        let queue = VecDeque::with_capacity(count);
        let surface = surface.masks();
        let mut empties = Self { rows, nodes, starts, surface, reached, queue, reached_nodes: 0 };
        for index in 0..count {
            let Node { start, len, .. } = empties.nodes[index];
            let [first, last] = [start, start.along_x(len - 1)].map(BrickKey::position);
            for (axis, is_up) in SIDES {
                let end = if is_up { last } else { first };
                if empties.rows.beside(end, axis, is_up).is_none() {
                    empties.mark_reached(index, &mask_step(&FULL, axis, !is_up));
                }
            }
        }
        empties
    }

    /// Propagates from a node to its neighbours.
    fn visit(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        let reached = match &mut node.space {
            Space::Gap { .. } => {
                self.reached_nodes += 1;
                FULL
            }
            Space::Solid => return,
            Space::Brick { is_queued, index } => {
                *is_queued = false;
                let empty = self.surface[*index as usize].map(|slice| !slice);
                let reached = &mut self.reached[*index as usize];
                *reached = spread(*reached, &empty);
                *reached
            }
        };
        let (brick, span) = (node.start.position(), node.span());
        let row = self.rows.of(brick);
        if index > self.starts[row] {
            self.mark_reached(index - 1, &mask_step(&reached, 0, false));
        }
        if index + 1 < self.starts[row + 1] {
            self.mark_reached(index + 1, &mask_step(&reached, 0, true));
        }
        for (axis, is_up) in SIDES.into_iter().filter(|&(axis, _)| axis > 0) {
            let onward = mask_step(&reached, axis, is_up);
            if let Some(beside) = self.rows.beside(brick, axis, is_up)
                && !is_empty(&onward)
            {
                self.mark_span(self.rows.of(beside), &span, &onward);
            }
        }
    }

    /// Marks `voxels` in each of the bricks `span` of a row as reached.
    fn mark_span(&mut self, row: usize, span: &Range<u32>, voxels: &Mask) {
        let (begin, end) = (self.starts[row], self.starts[row + 1]);
        let before = self.nodes[begin..end].partition_point(|node| node.span().end <= span.start);
        let mut index = begin + before;
        while index < end && self.nodes[index].span().start < span.end {
            self.mark_reached(index, voxels);
            index += 1;
        }
    }

    /// Marks the empty ones of `voxels` in a node as reached.
    fn mark_reached(&mut self, node: usize, voxels: &Mask) {
        match &mut self.nodes[node].space {
            Space::Gap { is_open: true } | Space::Solid => {}
            Space::Gap { is_open } => {
                if !is_empty(voxels) {
                    *is_open = true;
                    self.queue.push_back(node);
                }
            }
            Space::Brick { is_queued, index } => {
                let surface = &self.surface[*index as usize];
                let reached = &mut self.reached[*index as usize];
                let is_first = is_empty(reached);
                let mut any = 0;
                for x in 0..8 {
                    let new = voxels[x] & !(surface[x] | reached[x]);
                    reached[x] |= new;
                    any |= new;
                }
                self.reached_nodes += u64::from(is_first && any != 0);
                if any != 0 && !*is_queued {
                    *is_queued = true;
                    self.queue.push_back(node);
                }
            }
        }
    }

    /// The grid of voxels that were not reached, including the surface.
    fn unreached(self, dims: [u32; 3], world: World) -> VoxelGrid {
        let Self { nodes, starts, reached, queue, .. } = self;
        drop(queue);
        let rows = starts.len() - 1;
        let parts: Vec<&[Node]> = (0..rows)
            .step_by(TASK)
            .map(|row| &nodes[starts[row]..starts[rows.min(row + TASK)]])
            .collect();
        in_order(dims, world, &parts, |nodes, out| {
            for node in *nodes {
                let mask = match node.space {
                    Space::Gap { is_open: true } => continue,
                    Space::Gap { .. } | Space::Solid => FULL,
                    Space::Brick { index, .. } => reached[index as usize].map(|slice| !slice),
                };
                out.push(node.start, node.len, &mask);
            }
        })
    }
}

/// The directions: each axis, down and up.
const SIDES: [(usize, bool); 6] =
    [(0, false), (0, true), (1, false), (1, true), (2, false), (2, true)];

/// The part of `empty` that is connected to `reached` within a brick, through faces.
pub(in crate::solid) fn spread(mut reached: Mask, empty: &Mask) -> Mask {
    loop {
        let before = reached;
        let mut beside = 0;
        for x in 0..8 {
            beside = spread_in_slice((reached[x] | beside) & empty[x], empty[x]);
            reached[x] = beside;
        }
        for x in (0..7).rev() {
            let new = reached[x + 1] & empty[x] & !reached[x];
            if new != 0 {
                reached[x] = spread_in_slice(reached[x] | new, empty[x]);
            }
        }
        if reached == before || reached == *empty {
            return reached;
        }
    }
}

/// The part connected within a slice, by alternating straight fills until nothing changes.
fn spread_in_slice(mut reached: u64, empty: u64) -> u64 {
    let not_first = empty & !FIRST_Z;
    let not_last = empty & !(FIRST_Z << 7);
    loop {
        let before = reached;
        reached = along(reached, empty, 8, |bits, n| bits << n);
        reached = along(reached, empty, 8, |bits, n| bits >> n);
        reached = along(reached, not_first, 1, |bits, n| bits << n);
        reached = along(reached, not_last, 1, |bits, n| bits >> n);
        if reached == before || reached == empty {
            return reached;
        }
    }
}

/// A Kogge-Stone fill: the bits of `open` that are reached in up to seven steps of `n` bits,
/// through bits of `open` only. It doubles the distance three times: 1, 2 and 4 steps.
#[inline(always)]
fn along(mut reached: u64, mut open: u64, n: u32, shift: impl Fn(u64, u32) -> u64) -> u64 {
    for steps in [n, 2 * n, 4 * n] {
        reached |= open & shift(reached, steps);
        open &= shift(open, steps);
    }
    reached
}
