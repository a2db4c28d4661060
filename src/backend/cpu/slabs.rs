//! Divides the work: slabs of the grid one after another, and each into tasks for threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use pulp::Arch;
use rayon::prelude::*;

use crate::backend::cpu::gather::LANES;
use crate::backend::cpu::open::{Budget, Closed, OpenBricks, Places};
use crate::backend::cpu::refine::Job;
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, GridBuilder, Mask, VoxelGrid};
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;

/// Tasks for each thread, so that none waits long for the last.
const TASKS: usize = 8;
/// Triangles of one task: enough for vectors to be full, and for open bricks to be met again.
const TRIANGLES: Range<usize> = 1 << 10..1 << 16;
/// Bricks that the first slab has room for: those of 1024^3 voxels.
const FIRST_SLAB: u64 = 1 << 21;
/// Bricks to aim for in a slab, where there is memory for them: 170 MB until they are in order.
const BRICKS: u64 = 1 << 20;

/// The grid of `mesh`, in at most `memory` bytes for the grid and the work on it.
///
/// # Errors
/// That is not enough.
pub(super) fn voxelize(
    mesh: &PlacedMesh,
    memory: u64,
    progress: &dyn Progress,
) -> Result<VoxelGrid, BackendError> {
    let dims = mesh.lattice().dims;
    let plan = Plan::new(mesh);
    let memory = Memory { allowed: memory, fixed: plan.threads as u64 * Places::BYTES };
    progress.start("voxelize", plan.layers() * plan.chunks() as u64);

    let mut builder = GridBuilder::new(dims).map_err(|e| BackendError::Internal(e.to_string()))?;
    let mut first = 0;
    let mut layers = plan.first_slab();
    while first < plan.layers() {
        let slab = first..plan.layers().min(first + layers);
        let room = memory.room(&builder);
        let budget = Budget::new(room);
        let parts = plan.fill(&slab, &budget, progress);
        match budget.dropped() {
            0 => builder.append(&parts).map_err(|e| BackendError::Internal(e.to_string()))?,
            _ if slab.end - slab.start > 1 => {
                layers = (slab.end - slab.start).div_ceil(4);
                continue;
            }
            _ => {
                drop((parts, builder));
                return Err(memory.refuse(&plan, progress));
            }
        }
        first = slab.end;
        let aim = BRICKS.min(room / 2);
        if budget.closed() > aim {
            layers = layers.div_ceil(2);
        } else if budget.closed() < aim / 4 {
            layers *= 2;
        }
    }
    Ok(builder.finish())
}

struct Memory {
    /// In bytes, for all.
    allowed: u64,
    /// In bytes, whatever the grid.
    fixed: u64,
}

/// Bytes that a brick takes while its slab is brought into order.
const UNORDERED: u64 = size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD;

impl Memory {
    /// How many bricks more there is memory for.
    fn room(&self, builder: &GridBuilder) -> u64 {
        let taken = self.fixed + builder.bytes();
        self.allowed.saturating_sub(taken) / (UNORDERED + GridBuilder::BYTES_KEPT)
    }

    /// Counts what the whole grid would take.
    fn refuse(&self, plan: &Plan, progress: &dyn Progress) -> BackendError {
        let (mut kept, mut most) = (0, 0);
        for layer in 0..plan.layers() {
            // With no room bricks are only counted; some more than once.
            let budget = Budget::new(0);
            plan.fill(&(layer..layer + 1), &budget, progress);
            most = most.max(kept + budget.needed() * (UNORDERED + GridBuilder::BYTES_KEPT));
            kept += budget.closed() * GridBuilder::BYTES_KEPT;
        }
        BackendError::Memory { needed: self.fixed + most, allowed: self.allowed }
    }
}

/// The tasks that a mesh makes.
struct Plan<'a> {
    mesh: &'a PlacedMesh,
    threads: usize,
    /// Triangles of a task, a multiple of [`LANES`].
    chunk: usize,
    /// The first and last layer of bricks that each [`LANES`] triangles reach.
    reach: Vec<[i32; 2]>,
    /// Kept from task to task: fresh memory is slow.
    spare: Mutex<Vec<Places>>,
}

impl<'a> Plan<'a> {
    fn new(mesh: &'a PlacedMesh) -> Self {
        let threads = rayon::current_num_threads();
        let fair = mesh.len().div_ceil(threads * TASKS).next_multiple_of(LANES);
        let mut plan = Self {
            mesh,
            threads,
            chunk: fair.clamp(TRIANGLES.start, TRIANGLES.end),
            reach: Vec::new(),
            spare: Mutex::default(),
        };
        if plan.first_slab() < plan.layers() || plan.regions() > 1 {
            let groups = 0..mesh.len().div_ceil(LANES);
            plan.reach = groups.into_par_iter().map(|group| layers_of(mesh, group)).collect();
        }
        plan
    }

    /// Layers of bricks along `z`.
    fn layers(&self) -> u64 {
        u64::from(self.mesh.lattice().dims[2].div_ceil(BRICK))
    }

    fn chunks(&self) -> usize {
        self.mesh.len().div_ceil(self.chunk)
    }

    /// Layers of the first slab, such that memory is no concern if all its bricks are occupied.
    fn first_slab(&self) -> u64 {
        let [x, y, _] = self.mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        (FIRST_SLAB / (x * y)).clamp(1, self.layers())
    }

    /// Tasks into which a slab is divided where there are too few triangles.
    fn regions(&self) -> u64 {
        (self.threads * TASKS).div_ceil(self.chunks()) as u64
    }

    /// The bricks of a slab, given in layers of bricks, in no order.
    fn fill(&self, slab: &Range<u64>, budget: &Budget, progress: &dyn Progress) -> Vec<Closed> {
        let layers = slab.end - slab.start;
        let thickness = layers.div_ceil(self.regions());
        let tasks = (0..layers.div_ceil(thickness)).flat_map(|region| {
            let first = slab.start + region * thickness;
            let layers = first..slab.end.min(first + thickness);
            (0..self.chunks()).map(move |chunk| (chunk, layers.clone()))
        });
        let tasks: Vec<(usize, Range<u64>)> = tasks.collect();
        let parts = tasks.into_par_iter().map(|(chunk, layers)| {
            let part = self.run(chunk, &layers, budget);
            progress.advance(layers.end - layers.start);
            part
        });
        parts.flatten_iter().collect()
    }

    fn run(&self, chunk: usize, layers: &Range<u64>, budget: &Budget) -> Vec<Closed> {
        let first = chunk * self.chunk;
        let triangles = first..self.mesh.len().min(first + self.chunk);
        let reach = self.reach.get(first / LANES..triangles.end.div_ceil(LANES)).unwrap_or(&[]);
        let dims = self.mesh.lattice().dims.map(|d| d as i32);
        let z = [layers.start, layers.end].map(|layer| layer as i32 * BRICK as i32);
        let clip = BoxRange {
            lo: [0, 0, z[0]],
            hi: [dims[0] - 1, dims[1] - 1, dims[2].min(z[1]) - 1],
        };
        let is_near = |&[lo, hi]: &[i32; 2]| lo < layers.end as i32 && hi >= layers.start as i32;
        if !reach.is_empty() && !reach.iter().any(is_near) {
            return Vec::new();
        }
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let places = spare().pop().unwrap_or_default();
        let bricks = OpenBricks::new(places, budget);
        let bricks = Arch::new().dispatch(Job { mesh: self.mesh, triangles, reach, clip, bricks });
        let (closed, places) = bricks.close_all();
        spare().push(places);
        closed
    }
}

/// The first and last layer of bricks that a group of triangles reaches.
fn layers_of(mesh: &PlacedMesh, group: usize) -> [i32; 2] {
    let brick_bits = mesh.lattice().unit_bits + BRICK.ilog2();
    let triangles = group * LANES..mesh.len().min((group + 1) * LANES);
    triangles.fold([i32::MAX, i32::MIN], |[lo, hi], index| {
        let range = BoxRange::of_triangle(&mesh.triangle(index), brick_bits);
        [lo.min(range.lo[2]), hi.max(range.hi[2])]
    })
}
