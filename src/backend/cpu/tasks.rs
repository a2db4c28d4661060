//! Divides a slab of the grid into tasks for threads: chunks of some thousand triangles and, if
//! there are too few chunks, parts of the slab.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use pulp::Arch;
use rayon::prelude::*;

use crate::backend::Rule;
use crate::backend::cpu::brick_cache::{BrickBatch, BrickCache, EvictionBudget, Slots};
use crate::backend::cpu::triangle_batch::BATCH_LEN;
use crate::backend::cpu::{columns, refine};
use crate::base::lock;
use crate::base::progress::Progress;
use crate::grid::BRICK;
use crate::lattice::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::Axis;

/// Tasks per thread, for load balance.
const TASKS: usize = 8;
/// Triangles per task: enough to fill vectors, and for cache hits.
const TRIANGLES: Range<usize> = 1 << 10..1 << 16;
/// Bricks per batch of evicted bricks.
const BATCH: Range<u64> = 1 << 4..1 << 12;

pub(super) struct Tasks<'a> {
    mesh: &'a PlacedMesh,
    /// The rule by which they set voxels.
    pub(super) rule: Rule,
    threads: usize,
    /// Triangles per task, a multiple of [`BATCH_LEN`].
    chunk: usize,
    chunks: usize,
    /// Number of layers of bricks along `z`.
    pub(super) layers: u64,
    bricks_per_layer: u64,
    /// The first and last layer of bricks that each group of [`BATCH_LEN`] triangles touches.
    group_layers: OnceLock<Vec<[i32; 2]>>,
    /// Slots to reuse: fresh memory costs page faults.
    spare: Mutex<Vec<Slots>>,
}

impl<'a> Tasks<'a> {
    /// The tasks that voxelize `mesh` by `rule`.
    pub(super) fn new(mesh: &'a PlacedMesh, rule: Rule) -> Self {
        let threads = rayon::current_num_threads();
        let fair = mesh.len().div_ceil(threads * TASKS).next_multiple_of(BATCH_LEN);
        let chunk = fair.clamp(TRIANGLES.start, TRIANGLES.end);
        let [x, y, layers] = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        Self {
            mesh,
            rule,
            threads,
            chunk,
            chunks: mesh.len().div_ceil(chunk),
            layers,
            bricks_per_layer: x * y,
            group_layers: OnceLock::new(),
            spare: Mutex::default(),
        }
    }

    /// Number of full layers with at most `bricks` bricks; at least 1.
    pub(super) fn layers_within(&self, bricks: u64) -> u64 {
        (bricks / self.bricks_per_layer).clamp(1, self.layers)
    }

    /// Number of parts into which a slab of `layers` layers is divided; 1 if there are enough
    /// chunks.
    fn regions(&self, layers: u64) -> u64 {
        let wanted = (self.threads * TASKS).div_ceil(self.chunks.max(1)) as u64;
        layers.div_ceil(layers.div_ceil(wanted))
    }

    /// Number of tasks of a slab of all layers.
    fn count(&self) -> u64 {
        self.chunks as u64 * self.regions(self.layers)
    }

    /// A budget for the bricks that tasks evict.
    pub(super) fn budget(&self) -> EvictionBudget {
        EvictionBudget::new(self.batch_len())
    }

    fn batch_len(&self) -> u64 {
        let per_task = self.layers.div_ceil(self.regions(self.layers)) * self.bricks_per_layer;
        per_task.clamp(BATCH.start, BATCH.end)
    }

    /// Maximum number of bricks allocated in batches but not used, over all tasks.
    pub(super) fn unused_room(&self) -> u64 {
        self.count() * self.batch_len()
    }

    /// Bytes of memory that do not depend on the number of occupied bricks.
    pub(super) fn fixed_bytes(&self) -> u64 {
        let concurrent = self.count().min(self.threads as u64);
        concurrent * Slots::bytes(self.bricks()) + self.mesh.len().div_ceil(BATCH_LEN) as u64 * 8
    }

    fn bricks(&self) -> u64 {
        self.bricks_per_layer * self.layers
    }

    /// Voxelizes a slab, a range of layers of bricks. Returns its bricks, unordered and with
    /// duplicates; incomplete if cancelled.
    pub(super) fn voxelize(
        &self,
        slab: &Range<u64>,
        budget: &EvictionBudget,
        progress: &dyn Progress,
    ) -> Vec<BrickBatch> {
        let layers = slab.end - slab.start;
        let regions = self.regions(layers);
        let thickness = layers.div_ceil(regions);
        let tasks = (0..regions).flat_map(|region| {
            let first = slab.start + region * thickness;
            let layers = first..slab.end.min(first + thickness);
            (0..self.chunks).map(move |chunk| (chunk, layers.clone()))
        });
        let tasks: Vec<(usize, Range<u64>)> = tasks.collect();
        // Initialized in parallel, here: of the tasks, all but one would block on the `OnceLock`.
        let group_layers: &[_] = if thickness == self.layers { &[] } else { self.group_layers() };
        let run = |(chunk, layers): (usize, Range<u64>)| {
            if progress.is_cancelled() {
                return Vec::new();
            }
            self.run(chunk, &layers, group_layers, budget)
        };
        let batches = tasks.into_par_iter().map(run);
        batches.flatten_iter().collect()
    }

    /// The first and last layer that each group of [`BATCH_LEN`] triangles touches.
    fn group_layers(&self) -> &[[i32; 2]] {
        self.group_layers.get_or_init(|| {
            let groups = (0..self.mesh.len().div_ceil(BATCH_LEN)).into_par_iter();
            groups.map(|group| layers_of(self.mesh, self.rule, group)).collect()
        })
    }

    /// Runs one task and returns its bricks. `group_layers` is empty if `layers` are all layers.
    fn run(
        &self,
        chunk: usize,
        layers: &Range<u64>,
        group_layers: &[[i32; 2]],
        budget: &EvictionBudget,
    ) -> Vec<BrickBatch> {
        let first = chunk * self.chunk;
        let end = self.mesh.len().min(first + self.chunk);
        let [start_layer, end_layer] = [layers.start, layers.end].map(|layer| layer as i32);
        let is_near = |first: &usize| {
            let layers = group_layers.get(first / BATCH_LEN);
            layers.is_none_or(|&[lo, hi]| lo < end_layer && hi >= start_layer)
        };
        let groups = (first..end).step_by(BATCH_LEN).filter(is_near);
        let groups = groups.map(|first| first..end.min(first + BATCH_LEN));
        if groups.clone().next().is_none() {
            return Vec::new();
        }
        let mut clip = BoxRange::of_grid(self.mesh.lattice().dims);
        clip.lo[2] = start_layer * BRICK as i32;
        clip.hi[2] = clip.hi[2].min(end_layer * BRICK as i32 - 1);
        let slots = lock(&self.spare).pop();
        // Not while the others wait for the lock.
        let slots = slots.unwrap_or_else(|| Slots::new(self.bricks()));
        let bricks = BrickCache::new(slots, budget);
        let (arch, mesh) = (Arch::new(), self.mesh);
        let bricks = match self.rule {
            Rule::Conservative => arch.dispatch(refine::Task { mesh, groups, clip, bricks }),
            rule => {
                let is_outside = false;
                arch.dispatch(columns::Task { mesh, rule, groups, clip, is_outside, bricks })
            }
        };
        let (batches, slots) = bricks.flush();
        lock(&self.spare).push(slots);
        batches
    }
}

/// The first and last layer of bricks that a group of triangles touches.
fn layers_of(mesh: &PlacedMesh, rule: Rule, group: usize) -> [i32; 2] {
    let fraction_bits = mesh.lattice().fraction_bits;
    let triangles = group * BATCH_LEN..mesh.len().min((group + 1) * BATCH_LEN);
    let [lo, hi] = triangles.fold([i32::MAX, i32::MIN], |[lo, hi], index| {
        let range = BoxRange::of_triangle(&mesh.triangle(index), fraction_bits);
        [lo.min(range.lo[2]), hi.max(range.hi[2])]
    });
    let last = mesh.lattice().dims[2] as i32 - 1;
    let [lo, hi] = match rule {
        // The next centre may be in the next voxel; crossings outside the grid are clamped to its
        // ends.
        Rule::Parity(Axis::Z) => [lo.min(last), (hi + 1).max(0)],
        _ => [lo, hi],
    };
    [lo, hi].map(|voxel| voxel.div_euclid(BRICK as i32))
}
