//! Divides a slab of the grid into tasks for threads: some thousand triangles each, and where there
//! are too few of those, each in a part of the slab.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use pulp::Arch;
use rayon::prelude::*;

use crate::grid::BRICK;
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::crosses::Axis;
use crate::progress::Progress;
use crate::voxelize::Rule;
use crate::voxelize::cpu::brick_cache::{Budget, Closed, OpenBricks, Places};
use crate::voxelize::cpu::triangle_batch::LANES;
use crate::voxelize::cpu::{columns, refine};

/// Tasks for each thread, so that none waits long for the last.
const TASKS: usize = 8;
/// Triangles of one task: enough for vectors to be full, and for open bricks to be met again.
const TRIANGLES: Range<usize> = 1 << 10..1 << 16;
/// Bricks that a task has room for at a time.
const PORTION: Range<u64> = 1 << 4..1 << 12;

/// Some triangles, and where their voxels are of interest.
pub(super) struct Portion<'a> {
    triangles: Range<usize>,
    /// The first and last layer of bricks that each [`LANES`] triangles reach; empty where all are of
    /// interest.
    reach: &'a [[i32; 2]],
    /// Within the grid.
    pub(super) clip: BoxRange,
}

impl Portion<'_> {
    /// The triangles, up to [`LANES`] at a time, but for those that do not reach the layers.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let Self { triangles, reach, clip } = self;
        let layers = clip.coarser(BRICK.ilog2());
        let is_near = move |group: usize| {
            let near = |&[lo, hi]: &[i32; 2]| lo <= layers.hi[2] && hi >= layers.lo[2];
            reach.get(group).is_none_or(near)
        };
        let firsts = triangles.clone().step_by(LANES).enumerate();
        let near = firsts.filter(move |&(group, _)| is_near(group));
        near.map(|(_, first)| first..triangles.end.min(first + LANES))
    }
}

/// The tasks that a mesh makes.
pub(super) struct Tasks<'a> {
    mesh: &'a PlacedMesh,
    rule: Rule,
    threads: usize,
    /// Triangles of a task, a multiple of [`LANES`].
    chunk: usize,
    /// The first and last layer of bricks that each [`LANES`] triangles reach.
    reach: OnceLock<Vec<[i32; 2]>>,
    /// Kept from task to task: fresh memory is slow.
    spare: Mutex<Vec<Places>>,
}

impl<'a> Tasks<'a> {
    /// Which voxels they find.
    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    /// Those that find the voxels of `mesh` that `rule` names.
    pub(super) fn new(mesh: &'a PlacedMesh, rule: Rule) -> Self {
        let threads = rayon::current_num_threads();
        let fair = mesh.len().div_ceil(threads * TASKS).next_multiple_of(LANES);
        Self {
            mesh,
            rule,
            threads,
            chunk: fair.clamp(TRIANGLES.start, TRIANGLES.end),
            reach: OnceLock::new(),
            spare: Mutex::default(),
        }
    }

    /// Layers of bricks along `z`.
    pub(super) fn layers(&self) -> u64 {
        u64::from(self.mesh.lattice().dims[2].div_ceil(BRICK))
    }

    /// Tasks into which the triangles are divided.
    pub(super) fn chunks(&self) -> usize {
        self.mesh.len().div_ceil(self.chunk)
    }

    /// Bricks of a layer.
    fn bricks_of_layer(&self) -> u64 {
        let [x, y, _] = self.mesh.lattice().dims.map(|d| u64::from(d.div_ceil(BRICK)));
        x * y
    }

    /// How many layers have no more than so many bricks, if all are occupied; at least one.
    pub(super) fn layers_of_room(&self, bricks: u64) -> u64 {
        (bricks / self.bricks_of_layer()).clamp(1, self.layers())
    }

    /// Parts into which a slab of so many layers is divided where there are too few triangles.
    fn regions(&self, layers: u64) -> u64 {
        let wanted = (self.threads * TASKS).div_ceil(self.chunks()) as u64;
        layers.div_ceil(layers.div_ceil(wanted))
    }

    /// A budget for the bricks of tasks.
    pub(super) fn budget(&self) -> Budget {
        Budget::new(self.portion())
    }

    fn portion(&self) -> u64 {
        let of_task = self.layers().div_ceil(self.regions(self.layers())) * self.bricks_of_layer();
        of_task.clamp(PORTION.start, PORTION.end)
    }

    /// Room for bricks that tasks may have and not use, all together.
    pub(super) fn unused_room(&self) -> u64 {
        self.chunks() as u64 * self.regions(self.layers()) * self.portion()
    }

    /// Bytes of memory that do not depend on how many bricks are occupied.
    pub(super) fn fixed_bytes(&self) -> u64 {
        let at_once = (self.chunks() as u64 * self.regions(self.layers())).min(self.threads as u64);
        at_once * Places::bytes(self.bricks()) + self.mesh.len().div_ceil(LANES) as u64 * 8
    }

    fn bricks(&self) -> u64 {
        self.bricks_of_layer() * self.layers()
    }

    /// The bricks of a slab, given in layers of bricks, in no order. Some are missing once the caller
    /// has cancelled.
    pub(super) fn fill(
        &self,
        slab: &Range<u64>,
        budget: &Budget,
        progress: &dyn Progress,
    ) -> Vec<Closed> {
        let layers = slab.end - slab.start;
        let regions = self.regions(layers);
        let thickness = layers.div_ceil(regions);
        let tasks = (0..regions).flat_map(|region| {
            let first = slab.start + region * thickness;
            let layers = first..slab.end.min(first + thickness);
            (0..self.chunks()).map(move |chunk| (chunk, layers.clone()))
        });
        let tasks: Vec<(usize, Range<u64>)> = tasks.collect();
        let run = |(chunk, layers): (usize, Range<u64>)| match progress.is_cancelled() {
            true => Vec::new(),
            false => self.run(chunk, &layers, budget),
        };
        let parts = tasks.into_par_iter().map(run);
        parts.flatten_iter().collect()
    }

    /// The first and last layer that each [`LANES`] of `triangles` reach; nothing where `layers` are
    /// all that there are.
    fn reach(&self, triangles: &Range<usize>, layers: &Range<u64>) -> &[[i32; 2]] {
        if *layers == (0..self.layers()) {
            return &[];
        }
        let reach = self.reach.get_or_init(|| {
            let groups = 0..self.mesh.len().div_ceil(LANES);
            groups.map(|group| layers_of(self.mesh, self.rule, group)).collect()
        });
        &reach[triangles.start / LANES..triangles.end.div_ceil(LANES)]
    }

    /// The bricks of one task.
    fn run(&self, chunk: usize, layers: &Range<u64>, budget: &Budget) -> Vec<Closed> {
        let first = chunk * self.chunk;
        let triangles = first..self.mesh.len().min(first + self.chunk);
        let reach = self.reach(&triangles, layers);
        let dims = self.mesh.lattice().dims.map(|d| d as i32);
        let z = [layers.start, layers.end].map(|layer| layer as i32 * BRICK as i32);
        let clip =
            BoxRange { lo: [0, 0, z[0]], hi: [dims[0] - 1, dims[1] - 1, dims[2].min(z[1]) - 1] };
        let portion = Portion { triangles, reach, clip };
        if portion.groups().next().is_none() {
            return Vec::new();
        }
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let places = spare().pop().unwrap_or_else(|| Places::new(self.bricks()));
        let bricks = OpenBricks::new(places, budget);
        let (arch, mesh) = (Arch::new(), self.mesh);
        let bricks = match self.rule {
            Rule::Conservative => arch.dispatch(refine::Job { mesh, portion, bricks }),
            rule => arch.dispatch(columns::Job { mesh, rule, portion, bricks }),
        };
        let (closed, places) = bricks.close_all();
        spare().push(places);
        closed
    }
}

/// The first and last layer of bricks that have voxels of a group of triangles.
fn layers_of(mesh: &PlacedMesh, rule: Rule, group: usize) -> [i32; 2] {
    let unit_bits = mesh.lattice().unit_bits;
    let triangles = group * LANES..mesh.len().min((group + 1) * LANES);
    let [lo, hi] = triangles.fold([i32::MAX, i32::MIN], |[lo, hi], index| {
        let range = BoxRange::of_triangle(&mesh.triangle(index), unit_bits);
        [lo.min(range.lo[2]), hi.max(range.hi[2])]
    });
    let last = mesh.lattice().dims[2] as i32 - 1;
    let [lo, hi] = match rule {
        // A centre past a crossing may be in the next voxel; crossings below the grid and above it
        // count for its ends.
        Rule::Parity(Axis::Z) => [lo.min(last), (hi + 1).max(0)],
        _ => [lo, hi],
    };
    [lo, hi].map(|voxel| voxel.div_euclid(BRICK as i32))
}
