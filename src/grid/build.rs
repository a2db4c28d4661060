//! Sorts bricks into canonical order and merges those with the same key.

use rayon::prelude::*;

use crate::base::divided;
use crate::grid::GridError;
#[cfg(feature = "gpu")]
use crate::grid::brick::mask_places;
use crate::grid::brick::{BRICK, BrickKey, Mask, is_empty, is_full, mask_voxels, set_bits};
use crate::grid::{FullRun, VoxelGrid};
use crate::lattice::MAX_DIM;

/// Approximate number of bricks that one task merges.
const BATCH: usize = 1 << 11;

/// How masks with the same brick key are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    /// OR: the voxels of any mask.
    Union,
    /// XOR: the voxels in an odd number of masks.
    Parity,
    /// Masks hold crossings along `x`, with [`leaving`](BrickKey::leaving) crossings under their
    /// own keys. The result marks the voxels at which the winding number changes from or to 0.
    Winding,
    /// Masks as for `Winding`, kept unmerged as [`Crossings`].
    Crossings,
}

/// The crossings of columns along `x` with triangles, by brick. For each direction a brick has as
/// many masks as its voxel with the most crossings of that direction has crossings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    dims: [u32; 3],
    /// Sorted, ignoring the direction mark.
    keys: Vec<BrickKey>,
    masks: Vec<Mask>,
}

impl Crossings {
    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.keys.len() as u64 * GridBuilder::BYTES_KEPT
    }

    /// Every crossing: its brick, with the direction mark, and its voxel in the brick, 64x + 8y +
    /// z; sorted.
    #[cfg(feature = "gpu")]
    pub(crate) fn sorted(&self) -> Vec<(BrickKey, u32)> {
        let bricks = self.keys.iter().zip(&self.masks);
        let mut crossings: Vec<(BrickKey, u32)> = bricks
            .flat_map(|(&key, &mask)| mask_places(mask).map(move |(x, bit)| (key, 64 * x + bit)))
            .collect();
        crossings.sort_unstable();
        crossings
    }

    /// The masks of the row of bricks that begins at `row`, each with its brick and the change of
    /// the winding number: 1 where columns enter the mesh, -1 where they leave it.
    pub(crate) fn row(&self, row: BrickKey) -> impl Iterator<Item = (BrickKey, i32, &Mask)> {
        let first = self.keys.partition_point(|key| key.undirected() < row);
        let end = row.next_row();
        let keys = self.keys[first..].iter().zip(&self.masks[first..]);
        keys.map(|(key, mask)| (key.undirected(), if key.is_leaving() { -1 } else { 1 }, mask))
            .take_while(move |&(key, ..)| key < end)
    }
}

/// Statistics of the winding numbers at voxel centres, counted in columns along `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Windings {
    /// Columns with a winding number of absolute value 2 or more: parts of the mesh overlap.
    pub overlapping: u64,
    /// Columns with a positive winding number.
    pub positive: u64,
    /// Columns with a negative winding number.
    pub negative: u64,
}

impl Windings {
    fn sum(self, other: Self) -> Self {
        Self {
            overlapping: self.overlapping + other.overlapping,
            positive: self.positive + other.positive,
            negative: self.negative + other.negative,
        }
    }
}

/// A grid to which bricks are added layer by layer.
pub(crate) struct GridBuilder {
    grid: VoxelGrid,
    combine: Combine,
    windings: Windings,
    /// References to the bricks being added, sorted by key; kept to reuse its allocation.
    sorted: Vec<BrickRef>,
}

/// A brick's undirected key, the part it is in, and its index in that part.
type BrickRef = (BrickKey, u32, u32);

impl GridBuilder {
    /// Bytes of one brick in the grid.
    pub(crate) const BYTES_KEPT: u64 = (size_of::<BrickKey>() + size_of::<Mask>()) as u64;
    /// Extra bytes per brick while bricks are sorted, besides the parts and the grid.
    pub(crate) const BYTES_TO_ADD: u64 = size_of::<BrickRef>() as u64;

    /// A builder of a grid of `dims` voxels. Masks with the same key are merged by `combine`.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`].
    pub(crate) fn new(dims: [u32; 3], combine: Combine) -> Result<Self, GridError> {
        Ok(Self::of(VoxelGrid::empty(dims)?, combine))
    }

    /// A builder that only counts distinct bricks by [`order`](Self::order).
    pub(crate) fn counting(combine: Combine) -> Self {
        Self::of(VoxelGrid::of_dims([0; 3]), combine)
    }

    fn of(grid: VoxelGrid, combine: Combine) -> Self {
        Self { grid, combine, windings: Windings::default(), sorted: Vec::new() }
    }

    /// Adds the bricks of `parts`, in any order; repeated and empty bricks are allowed. Their rows
    /// along `x` must come after all rows added before.
    ///
    /// # Errors
    /// A voxel outside the grid.
    pub(crate) fn append(&mut self, parts: &[Vec<(BrickKey, Mask)>]) -> Result<(), GridError> {
        self.order(parts);
        self.append_ordered(parts)
    }

    /// Whether bricks with these keys need no sorting and no merging: they are in canonical order
    /// without duplicates and direction marks, and none were added before.
    #[cfg(feature = "gpu")]
    pub(crate) fn takes(&self, keys: &[BrickKey]) -> bool {
        matches!(self.combine, Combine::Union | Combine::Parity)
            && self.grid.keys.is_empty()
            && self.grid.full.is_empty()
            && keys.is_sorted_by(|a, b| a < b)
            && keys.last().is_none_or(|key| key.is_of_brick())
    }

    /// Adds all bricks at once, which [`takes`](Self::takes) must accept; empty ones are allowed.
    ///
    /// # Errors
    /// A voxel outside the grid.
    #[cfg(feature = "gpu")]
    pub(crate) fn take(&mut self, keys: Vec<BrickKey>, masks: Vec<Mask>) -> Result<(), GridError> {
        debug_assert!(self.takes(&keys) && keys.len() == masks.len(), "{} keys", keys.len());
        let dims = self.grid.dims;
        let batches = keys.par_chunks(BATCH).zip(masks.par_chunks(BATCH));
        let checked = batches.map(|(keys, masks)| check_inside(dims, keys, masks));
        let needs_compaction = checked.try_reduce(|| false, |either, other| Ok(either || other))?;
        (self.grid.keys, self.grid.masks) = (keys, masks);
        if needs_compaction {
            self.compact(0);
        }
        Ok(())
    }

    /// Sorts references to the bricks of `parts` by key. Returns the number of bricks after
    /// merging.
    pub(crate) fn order(&mut self, parts: &[Vec<(BrickKey, Mask)>]) -> u64 {
        let sorted = &mut self.sorted;
        sorted.clear();
        grow(sorted, parts.iter().map(Vec::len).sum(), BrickRef::default());
        let slots = divided(sorted, parts.iter().map(Vec::len));
        (0..parts.len() as u32).into_par_iter().zip(parts).zip(slots).for_each(
            |((part, bricks), slots)| {
                for (index, (slot, &(key, _))) in (0..).zip(slots.iter_mut().zip(bricks)) {
                    *slot = (key.undirected(), part, index);
                }
            },
        );
        // Unstable: all merges are commutative.
        sorted.par_sort_unstable_by_key(|&(key, ..)| key);
        match self.combine {
            Combine::Crossings => sorted.len() as u64,
            _ => sorted.par_chunk_by(|a, b| a.0 == b.0).count() as u64,
        }
    }

    /// Adds `parts`, which [`order`](Self::order) must have sorted last.
    ///
    /// # Errors
    /// A voxel outside the grid.
    pub(crate) fn append_ordered(
        &mut self,
        parts: &[Vec<(BrickKey, Mask)>],
    ) -> Result<(), GridError> {
        let batches = row_batches(&self.sorted);
        let begin = self.grid.keys.len();
        let keeps_all = self.combine == Combine::Crossings;
        let distinct = batches.par_iter().map(|batch| {
            if keeps_all { batch.len() } else { batch.chunk_by(|a, b| a.0 == b.0).count() }
        });
        let distinct: Vec<usize> = distinct.collect();
        let end = begin + distinct.iter().sum::<usize>();
        grow(&mut self.grid.keys, end, BrickKey::default());
        grow(&mut self.grid.masks, end, [0; 8]);
        let (dims, combine) = (self.grid.dims, self.combine);
        let keys = divided(&mut self.grid.keys[begin..], distinct.iter().copied());
        let masks = divided(&mut self.grid.masks[begin..], distinct);
        let slots = keys.into_par_iter().zip(masks);
        let merged = batches.par_iter().zip(slots).map(|(batch, (keys, masks))| {
            let windings = match combine {
                Combine::Union => merge(batch, parts, keys, masks, |mask, other| mask | other),
                Combine::Parity => merge(batch, parts, keys, masks, |mask, other| mask ^ other),
                Combine::Winding => merge_windings(batch, parts, keys, masks),
                Combine::Crossings => {
                    for ((&(_, part, index), key), mask) in batch.iter().zip(keys).zip(masks) {
                        (*key, *mask) = parts[part as usize][index as usize];
                    }
                    return Ok((false, Windings::default()));
                }
            };
            check_inside(dims, keys, masks).map(|needs_compaction| (needs_compaction, windings))
        });
        let merged: Result<Vec<(bool, Windings)>, GridError> = merged.collect();
        let (needs_compaction, windings): (Vec<bool>, Vec<Windings>) = merged?.into_iter().unzip();
        self.windings = windings.into_iter().fold(self.windings, Windings::sum);
        if needs_compaction.contains(&true) {
            self.compact(begin);
        }
        Ok(())
    }

    /// Removes the empty masks from index `begin` on, and moves the full ones to the runs.
    fn compact(&mut self, begin: usize) {
        let VoxelGrid { keys, masks, full, .. } = &mut self.grid;
        let mut kept = begin;
        for index in begin..keys.len() {
            let (key, mask) = (keys[index], masks[index]);
            if is_full(&mask) {
                push_full(full, key);
            } else if !is_empty(&mask) {
                (keys[kept], masks[kept]) = (key, mask);
                kept += 1;
            }
        }
        keys.truncate(kept);
        masks.truncate(kept);
    }

    /// Bytes of memory of the bricks and runs.
    pub(crate) fn bytes(&self) -> u64 {
        self.grid.bytes()
    }

    /// The grid, with the winding statistics for [`Combine::Winding`]; an empty grid and the
    /// crossings for [`Combine::Crossings`].
    pub(crate) fn finish_with_counts(mut self) -> (VoxelGrid, Option<Windings>, Option<Crossings>) {
        let windings = (self.combine == Combine::Winding).then_some(self.windings);
        let crossings = (self.combine == Combine::Crossings).then(|| {
            let keys = std::mem::take(&mut self.grid.keys);
            let masks = std::mem::take(&mut self.grid.masks);
            Crossings { dims: self.grid.dims, keys, masks }
        });
        (self.finish(), windings, crossings)
    }

    pub(crate) fn finish(mut self) -> VoxelGrid {
        self.grid.keys.shrink_to_fit();
        self.grid.masks.shrink_to_fit();
        self.grid
    }
}

/// Writes one brick per key of `sorted` to `keys` and `masks`; masks with one key are merged by the
/// commutative operation `op`.
#[inline(always)]
fn merge(
    sorted: &[BrickRef],
    parts: &[Vec<(BrickKey, Mask)>],
    keys: &mut [BrickKey],
    masks: &mut [Mask],
    op: impl Fn(u64, u64) -> u64,
) -> Windings {
    let distinct = sorted.chunk_by(|a, b| a.0 == b.0);
    for ((same, key), mask) in distinct.zip(keys).zip(masks) {
        *key = same[0].0;
        for &(_, part, index) in same {
            let (_, other) = &parts[part as usize][index as usize];
            (0..8).for_each(|x| mask[x] = op(mask[x], other[x]));
        }
    }
    Windings::default()
}

/// Merges crossings, like [`merge`]: the masks mark the voxels at which the winding number changes
/// from or to 0. `sorted` holds whole rows.
fn merge_windings(
    sorted: &[BrickRef],
    parts: &[Vec<(BrickKey, Mask)>],
    keys: &mut [BrickKey],
    masks: &mut [Mask],
) -> Windings {
    let distinct = sorted.chunk_by(|a, b| a.0 == b.0);
    let mut windings = Windings::default();
    let mut sweep = WindingSweep::default();
    let mut row = None;
    for ((same, key), mask) in distinct.zip(keys).zip(masks) {
        *key = same[0].0;
        if row.replace(key.row()) != Some(key.row()) {
            windings = windings.sum(std::mem::take(&mut sweep).windings());
        }
        for (x, flips) in mask.iter_mut().enumerate() {
            let before = sweep.inside;
            let crossings = same.iter().map(|&(_, part, index)| {
                let (directed, crossings) = &parts[part as usize][index as usize];
                (crossings[x], if directed.is_leaving() { -1 } else { 1 })
            });
            sweep.cross(crossings);
            *flips = before ^ sweep.inside;
        }
    }
    windings.sum(sweep.windings())
}

/// A sweep along `x` through the 64 columns of a row of bricks; column `(y, z)` is bit `8 y + z`.
/// The default is the state before the first voxel.
#[derive(Default)]
struct WindingSweep {
    /// The winding number of each column at the current voxel, `8 y + z` in order.
    numbers: [[i64; 8]; 8],
    /// The columns whose number is not 0 at the current voxel.
    inside: u64,
    /// The columns whose number reached 2 or -2.
    overlapping: u64,
    /// The columns whose number was ever positive, and ever negative.
    positive: u64,
    negative: u64,
}

impl WindingSweep {
    /// Steps from one voxel centre to the next: `crossings` are columns and the change of their
    /// winding numbers.
    #[inline]
    fn cross(&mut self, crossings: impl Iterator<Item = (u64, i64)>) {
        let (mut crossed, numbers) = (0, self.numbers.as_flattened_mut());
        for (columns, step) in crossings {
            crossed |= columns;
            set_bits(columns).for_each(|column| numbers[column as usize] += step);
        }
        for column in set_bits(crossed) {
            let number = numbers[column as usize];
            let flag = |is: bool| u64::from(is) << column;
            self.inside = self.inside & !(1 << column) | flag(number != 0);
            self.overlapping |= flag(number.abs() > 1);
            self.positive |= flag(number > 0);
            self.negative |= flag(number < 0);
        }
    }

    fn windings(&self) -> Windings {
        Windings {
            overlapping: self.overlapping.count_ones().into(),
            positive: self.positive.count_ones().into(),
            negative: self.negative.count_ones().into(),
        }
    }
}

/// Extends `list` to `len`. A reallocation reserves an eighth more, since doubling takes too much
/// memory for a grid that barely fits. All threads fill a long one: fresh memory costs page faults.
fn grow<T: Copy + Send + Sync>(list: &mut Vec<T>, len: usize, value: T) {
    if list.capacity() < len {
        list.reserve_exact(len - list.len() + list.len() / 8);
    }
    list.par_extend(rayon::iter::repeat_n(value, len - list.len()).with_min_len(BATCH));
}

/// Batches of about [`BATCH`] bricks, each of whole rows.
fn row_batches(mut sorted: &[BrickRef]) -> Vec<&[BrickRef]> {
    let mut batches = Vec::with_capacity(sorted.len() / BATCH + 1);
    while !sorted.is_empty() {
        let last = sorted[BATCH.min(sorted.len()) - 1].0.row();
        let end = sorted.partition_point(|&(key, ..)| key.row() <= last);
        let (batch, rest) = sorted.split_at(end);
        batches.push(batch);
        sorted = rest;
    }
    batches
}

/// Adds a full brick that comes after all of `runs`.
fn push_full(runs: &mut Vec<FullRun>, key: BrickKey) {
    match runs.last_mut() {
        Some(run) if run.is_continued_at(key) => run.len += 1,
        _ => runs.push(FullRun { start: key, len: 1 }),
    }
}

/// The dimensions, if each axis has 1 to [`MAX_DIM`] voxels.
pub(crate) fn checked_dims(dims: [impl Into<u64>; 3]) -> Result<[u32; 3], GridError> {
    let dims = dims.map(Into::into);
    if dims.iter().all(|&d| d > 0 && d <= u64::from(MAX_DIM)) {
        Ok(dims.map(|d| d as u32))
    } else {
        Err(GridError::Dims(dims))
    }
}

/// Whether compaction is needed: a mask is empty or full.
///
/// # Errors
/// A voxel lies outside of `dims`.
fn check_inside(dims: [u32; 3], keys: &[BrickKey], masks: &[Mask]) -> Result<bool, GridError> {
    for (key, &mask) in keys.iter().zip(masks) {
        let base = key.first_voxel();
        if (0..3).any(|a| base[a] + BRICK > dims[a]) {
            let is_outside = |v: &[u32; 3]| (0..3).any(|a| v[a] >= dims[a]);
            if let Some(voxel) = mask_voxels(base, mask).find(is_outside) {
                return Err(GridError::Outside { voxel, dims });
            }
        }
    }
    Ok(masks.iter().any(|m| is_empty(m) || is_full(m)))
}
