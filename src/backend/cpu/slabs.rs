//! Divides the work: slabs of the grid one after another, and each into tasks for threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use pulp::Arch;
use rayon::prelude::*;

use crate::backend::cpu::gather::LANES;
use crate::backend::cpu::open::{Budget, Closed, OpenBricks, PORTION, Places};
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
/// Bricks that may be out of order at a time, to begin with: 90 MB, or a sixteenth of the memory.
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
    let plan = Plan::new(mesh);
    let mut memory = Memory::new(memory, &plan);
    progress.start("voxelize", plan.layers() * plan.chunks() as u64);

    let mut builder = GridBuilder::new(mesh.lattice().dims)?;
    let mut budget = Budget::default();
    let mut first = 0;
    let mut layers = plan.first_slab();
    while first < plan.layers() {
        let slab = first..plan.layers().min(first + layers);
        budget.begin(memory.unordered);
        let parts = plan.fill(&slab, &budget, progress);
        if budget.dropped() > 0 || !memory.holds(&builder, budget.closed()) {
            if slab.end - slab.start > 1 {
                layers = (slab.end - slab.start).div_ceil(4);
            } else if !memory.make_room(&builder, &budget, &plan) {
                drop((parts, builder, budget));
                return Err(memory.refuse(&plan, progress));
            }
            budget.take_back(parts);
            continue;
        }
        builder.append(&parts)?;
        budget.take_back(parts);
        first = slab.end;
        if budget.closed() > memory.unordered / 2 {
            layers = layers.div_ceil(2);
        } else if budget.closed() < memory.unordered / 8 {
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
    /// Bricks that may be out of order at a time. What they take is not given back: the allocator
    /// may keep it.
    unordered: u64,
}

/// Bytes that a brick takes while its slab is brought into order.
const UNORDERED: u64 = size_of::<(BrickKey, Mask)>() as u64 + GridBuilder::BYTES_TO_ADD;

impl Memory {
    fn new(allowed: u64, plan: &Plan) -> Self {
        let bricks = BRICKS.min(allowed / 16 / UNORDERED) + plan.unused_room();
        Self { allowed, fixed: plan.threads as u64 * Places::BYTES, unordered: bricks }
    }

    /// Whether the grid may have so many `bricks` more.
    fn holds(&self, builder: &GridBuilder, bricks: u64) -> bool {
        let kept = builder.bytes() + bricks * GridBuilder::BYTES_KEPT;
        self.fixed + self.unordered * UNORDERED + kept <= self.allowed
    }

    /// Lets as many bricks be out of order as the layer has that was just tried, if that were too
    /// many, and tells whether it can be had then.
    fn make_room(&mut self, builder: &GridBuilder, tried: &Budget, plan: &Plan) -> bool {
        let had_room = tried.dropped() == 0;
        self.unordered = tried.closed() + plan.unused_room();
        !had_room && self.holds(builder, tried.closed())
    }

    /// Counts what the whole grid would take.
    fn refuse(&self, plan: &Plan, progress: &dyn Progress) -> BackendError {
        let (mut kept, mut most) = (0, 0);
        let mut budget = Budget::default();
        for layer in 0..plan.layers() {
            // With no room bricks are only counted; some more than once.
            budget.begin(0);
            plan.fill(&(layer..layer + 1), &budget, progress);
            kept += budget.closed();
            most = most.max(budget.closed());
        }
        let kept = kept * GridBuilder::BYTES_KEPT + plan.unused_room() * UNORDERED + self.fixed;
        // So much is set aside: a sixteenth of all is a fifteenth of the rest.
        let unordered = (most * UNORDERED).max((BRICKS * UNORDERED).min(kept / 15 + 1));
        BackendError::Memory { needed: kept + unordered, allowed: self.allowed }
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

    /// Bricks that tasks may have room for and not use, all together.
    fn unused_room(&self) -> u64 {
        let tasks = self.chunks() as u64 * self.regions();
        tasks * PORTION
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
        let clip =
            BoxRange { lo: [0, 0, z[0]], hi: [dims[0] - 1, dims[1] - 1, dims[2].min(z[1]) - 1] };
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
