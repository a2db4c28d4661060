//! From bricks in any order, some of them several times, to the canonical order.

use rayon::prelude::*;

use crate::grid::GridError;
use crate::grid::brick::{BRICK, BrickKey, Mask, is_empty, is_full, mask_voxels, set_bits};
use crate::grid::{FullRun, VoxelGrid};
use crate::place::MAX_DIM;

/// Bricks that one task puts in order.
const CHUNK: usize = 1 << 13;

/// What parts of one brick make together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    /// The voxels of all.
    Union,
    /// The voxels that are in an odd number of them.
    Parity,
    /// Parts hold crossings along `x`, the [`leaving`](BrickKey::leaving) ones apart: the voxels at
    /// which the winding number becomes 0, or no longer is.
    Winding,
    /// The same parts, each kept as it is: [`Crossings`].
    Crossings,
}

/// The crossings of columns along `x` with triangles, by brick. A brick has as many masks as one of
/// its voxels has crossings of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    dims: [u32; 3],
    /// Sorted but for the mark of direction.
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

    /// The masks of the row of bricks that begins at `row`: each with its brick and its step, 1
    /// where columns enter the mesh and -1 where they leave it.
    pub(crate) fn row(&self, row: BrickKey) -> impl Iterator<Item = (BrickKey, i32, &Mask)> {
        let first = self.keys.partition_point(|key| key.undirected() < row);
        let end = row.next_row();
        let keys = self.keys[first..].iter().zip(&self.masks[first..]);
        keys.map(|(key, mask)| (key.undirected(), if key.is_leaving() { -1 } else { 1 }, mask))
            .take_while(move |&(key, ..)| key < end)
    }
}

/// What winding numbers along the columns of a grid come to, at the centres of voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Windings {
    /// Columns that are somewhere inside twice or more often: parts of the mesh overlap.
    pub overlapping: u64,
    /// Columns with a positive number somewhere and a negative one elsewhere: some parts of the mesh
    /// are inside out.
    pub opposed: u64,
}

impl Windings {
    fn and(self, other: Self) -> Self {
        Self {
            overlapping: self.overlapping + other.overlapping,
            opposed: self.opposed + other.opposed,
        }
    }
}

/// A grid to which bricks are added layer by layer.
pub(crate) struct GridBuilder {
    grid: VoxelGrid,
    combine: Combine,
    windings: Windings,
    /// What is being added, in order; kept for its memory.
    found: Vec<Found>,
}

/// Where a brick is: in which part, and at which index.
type Found = (BrickKey, u32, u32);

impl GridBuilder {
    /// Bytes that a brick takes in the grid.
    pub(crate) const BYTES_KEPT: u64 = (size_of::<BrickKey>() + size_of::<Mask>()) as u64;
    /// Bytes that a brick takes while it is added, beyond its own and those of the part it is in.
    pub(crate) const BYTES_TO_ADD: u64 = size_of::<Found>() as u64;

    /// Without bricks.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`].
    pub(crate) fn new(dims: [u32; 3]) -> Result<Self, GridError> {
        check_dims(dims)?;
        let grid = VoxelGrid {
            dims,
            keys: vec![],
            masks: vec![],
            full: vec![],
            world: None,
            colors: None,
        };
        Ok(Self { grid, combine: Combine::Union, windings: Windings::default(), found: Vec::new() })
    }

    /// Makes of repeated bricks what `combine` says, and not their union.
    pub(crate) fn combining(self, combine: Combine) -> Self {
        Self { combine, ..self }
    }

    /// Only to count bricks.
    pub(crate) fn counting() -> Self {
        let grid = VoxelGrid {
            dims: [0; 3],
            keys: vec![],
            masks: vec![],
            full: vec![],
            world: None,
            colors: None,
        };
        Self { grid, combine: Combine::Union, windings: Windings::default(), found: Vec::new() }
    }

    /// Adds the bricks of `parts`, which may be in any order, repeated and empty. They come after all
    /// that were added before, and not in the same rows along `x`.
    ///
    /// # Errors
    /// A voxel outside the grid.
    pub(crate) fn append(&mut self, parts: &[Vec<(BrickKey, Mask)>]) -> Result<(), GridError> {
        self.order(parts);
        self.append_ordered(parts)
    }

    /// Finds the order of the bricks in `parts`, and how many they are, those that are repeated once.
    pub(crate) fn order(&mut self, parts: &[Vec<(BrickKey, Mask)>]) -> u64 {
        let found = &mut self.found;
        found.clear();
        found.reserve_exact(parts.iter().map(Vec::len).sum());
        for (part, bricks) in (0..).zip(parts) {
            found.extend(
                (0..).zip(bricks).map(|(index, &(key, _))| (key.undirected(), part, index)),
            );
        }
        // In which order parts of one brick come is all the same.
        found.par_sort_unstable_by_key(|&(key, ..)| key);
        match self.combine {
            Combine::Crossings => found.len() as u64,
            _ => found.par_chunk_by(|a, b| a.0 == b.0).count() as u64,
        }
    }

    /// Adds `parts`, of which the order was just found.
    ///
    /// # Errors
    /// A voxel outside the grid.
    pub(crate) fn append_ordered(
        &mut self,
        parts: &[Vec<(BrickKey, Mask)>],
    ) -> Result<(), GridError> {
        let found = &self.found;
        let pieces = split(found);
        let begin = self.grid.keys.len();
        let keeps_all = self.combine == Combine::Crossings;
        let distinct = pieces.par_iter().map(|piece| match keeps_all {
            true => piece.len(),
            false => piece.chunk_by(|a, b| a.0 == b.0).count(),
        });
        let distinct: Vec<usize> = distinct.collect();
        let end = begin + distinct.iter().sum::<usize>();
        grow(&mut self.grid.keys, end, BrickKey::default());
        grow(&mut self.grid.masks, end, [0; 8]);
        let (dims, combine) = (self.grid.dims, self.combine);
        let (mut keys, mut masks) = (&mut self.grid.keys[begin..], &mut self.grid.masks[begin..]);
        let places = distinct.iter().map(|&len| {
            let place = (keys.split_off_mut(..len), masks.split_off_mut(..len));
            (place.0.unwrap_or_default(), place.1.unwrap_or_default())
        });
        let places: Vec<_> = places.collect();
        let united = pieces.par_iter().zip(places).map(|(piece, (keys, masks))| {
            let windings = match combine {
                Combine::Union => merge(piece, parts, keys, masks, |mask, other| mask | other),
                Combine::Parity => merge(piece, parts, keys, masks, |mask, other| mask ^ other),
                Combine::Winding => wind(piece, parts, keys, masks),
                Combine::Crossings => {
                    for ((&(_, part, index), key), mask) in piece.iter().zip(keys).zip(masks) {
                        (*key, *mask) = parts[part as usize][index as usize];
                    }
                    return Ok((false, Windings::default()));
                }
            };
            let is_unstored = masks.iter().any(|m| is_empty(m) || is_full(m));
            check_inside(dims, keys, masks).map(|()| (is_unstored, windings))
        });
        let united: Result<Vec<(bool, Windings)>, GridError> = united.collect();
        let (is_unstored, windings): (Vec<bool>, Vec<Windings>) = united?.into_iter().unzip();
        self.windings = windings.into_iter().fold(self.windings, Windings::and);
        if is_unstored.contains(&true) {
            self.take_out_full(begin);
        }
        Ok(())
    }

    /// What the winding numbers come to, where bricks are of crossings.
    pub(crate) fn windings(&self) -> Option<Windings> {
        (self.combine == Combine::Winding).then_some(self.windings)
    }

    /// Takes full and empty bricks, from index `begin`, out of those that are stored as masks.
    fn take_out_full(&mut self, begin: usize) {
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

    /// Bytes of memory that the bricks take.
    pub(crate) fn bytes(&self) -> u64 {
        let VoxelGrid { keys, full, .. } = &self.grid;
        keys.len() as u64 * Self::BYTES_KEPT + (full.len() * size_of::<FullRun>()) as u64
    }

    /// The grid, and the crossings where these were added; the grid is empty then.
    pub(crate) fn finish_with_crossings(mut self) -> (VoxelGrid, Option<Crossings>) {
        let crossings = (self.combine == Combine::Crossings).then(|| {
            let keys = std::mem::take(&mut self.grid.keys);
            let masks = std::mem::take(&mut self.grid.masks);
            Crossings { dims: self.grid.dims, keys, masks }
        });
        (self.finish(), crossings)
    }

    /// The grid.
    pub(crate) fn finish(mut self) -> VoxelGrid {
        self.grid.keys.shrink_to_fit();
        self.grid.masks.shrink_to_fit();
        self.grid
    }
}

/// Writes the bricks of `found`, which are sorted, to `keys` and `masks`: one for each key, its slices
/// those of all parts by `both`.
#[inline(always)]
fn merge(
    found: &[Found],
    parts: &[Vec<(BrickKey, Mask)>],
    keys: &mut [BrickKey],
    masks: &mut [Mask],
    both: impl Fn(u64, u64) -> u64,
) -> Windings {
    let distinct = found.chunk_by(|a, b| a.0 == b.0);
    for ((same, key), mask) in distinct.zip(keys).zip(masks) {
        *key = same[0].0;
        for &(_, part, index) in same {
            let (_, other) = &parts[part as usize][index as usize];
            (0..8).for_each(|x| mask[x] = both(mask[x], other[x]));
        }
    }
    Windings::default()
}

/// The same for crossings: the masks are of voxels at which the winding number becomes 0, or no longer
/// is. Whole rows are in `found`.
fn wind(
    found: &[Found],
    parts: &[Vec<(BrickKey, Mask)>],
    keys: &mut [BrickKey],
    masks: &mut [Mask],
) -> Windings {
    let distinct = found.chunk_by(|a, b| a.0 == b.0);
    let mut windings = Windings::default();
    let mut sweep = Sweep::default();
    let mut row = None;
    for ((same, key), mask) in distinct.zip(keys).zip(masks) {
        *key = same[0].0;
        if row.replace(key.row()) != Some(key.row()) {
            windings = windings.and(std::mem::take(&mut sweep).windings());
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
    windings.and(sweep.windings())
}

/// A sweep along `x` through 64 columns, `8 y + z` in a brick.
struct Sweep {
    /// The winding numbers where it has come to.
    numbers: [i64; 64],
    /// The columns whose number is not 0.
    inside: u64,
    /// The columns whose number was 2 or more, or -2 or less.
    overlapping: u64,
    /// The columns whose number was positive, and those whose number was negative.
    positive: u64,
    negative: u64,
}

impl Default for Sweep {
    /// Before the first voxel.
    fn default() -> Self {
        Self { numbers: [0; 64], inside: 0, overlapping: 0, positive: 0, negative: 0 }
    }
}

impl Sweep {
    /// Crosses all that is between two centres: columns, and by how much their numbers grow.
    #[inline]
    fn cross(&mut self, crossings: impl Iterator<Item = (u64, i64)>) {
        let mut crossed = 0;
        for (columns, step) in crossings {
            crossed |= columns;
            set_bits(columns).for_each(|column| self.numbers[column as usize] += step);
        }
        for column in set_bits(crossed) {
            let number = self.numbers[column as usize];
            let flag = |is: bool| u64::from(is) << column;
            self.inside = self.inside & !(1 << column) | flag(number != 0);
            self.overlapping |= flag(number.abs() > 1);
            self.positive |= flag(number > 0);
            self.negative |= flag(number < 0);
        }
    }

    fn windings(&self) -> Windings {
        let opposed = self.positive & self.negative;
        Windings {
            overlapping: self.overlapping.count_ones().into(),
            opposed: opposed.count_ones().into(),
        }
    }
}

/// Makes `list` longer, with an eighth to spare where it must grow: to double is too much for a grid
/// that only just fits.
fn grow<T: Copy>(list: &mut Vec<T>, len: usize, value: T) {
    if list.capacity() < len {
        list.reserve_exact(len - list.len() + list.len() / 8);
    }
    list.resize(len, value);
}

/// Pieces of about [`CHUNK`] bricks; no row of bricks is in two.
fn split(mut found: &[Found]) -> Vec<&[Found]> {
    let mut pieces = Vec::with_capacity(found.len() / CHUNK + 1);
    while !found.is_empty() {
        let last = found[CHUNK.min(found.len()) - 1].0.row();
        let (piece, rest) = found.split_at(found.partition_point(|&(key, ..)| key.row() <= last));
        pieces.push(piece);
        found = rest;
    }
    pieces
}

/// Adds a full brick that comes after all of `runs`.
fn push_full(runs: &mut Vec<FullRun>, key: BrickKey) {
    match runs.last_mut() {
        Some(run) if run.start.along_x(run.len) == key && key.position()[0] > 0 => run.len += 1,
        _ => runs.push(FullRun { start: key, len: 1 }),
    }
}

pub(super) fn check_dims(dims: [u32; 3]) -> Result<(), GridError> {
    if dims.iter().any(|&d| d == 0 || d > MAX_DIM) {
        return Err(GridError::Dims(dims.map(u64::from)));
    }
    Ok(())
}

/// # Errors
/// A voxel lies outside of `dims`.
fn check_inside(dims: [u32; 3], keys: &[BrickKey], masks: &[Mask]) -> Result<(), GridError> {
    for (key, &mask) in keys.iter().zip(masks) {
        let base = key.position().map(|b| b * BRICK);
        if (0..3).any(|a| base[a] + BRICK > dims[a]) {
            let is_outside = |v: &[u32; 3]| (0..3).any(|a| v[a] >= dims[a]);
            if let Some(voxel) = mask_voxels(base, mask).find(is_outside) {
                return Err(GridError::Outside { voxel, dims });
            }
        }
    }
    Ok(())
}
