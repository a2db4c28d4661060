//! The sparse voxel grid: 8x8x8 bricks in one canonical order, equal as values exactly when they
//! are equal as voxels.
//!
//! # Layout
//! A brick is a [`Mask`] of eight `u64`: word = `x` within the brick, bit = `8 y + z`. That is the
//! layout of an OpenVDB or NanoVDB leaf mask; a row along `z` is a run of bits, a step along `x`
//! the next word.
//!
//! Bricks are sorted with `x` fastest, then `y`, then `z` ([`BrickKey`]). Bricks that are full are
//! not stored as masks but as maximal runs along `x`. There are no empty bricks, so every set of
//! voxels has one representation: equality is `==`, and [`VoxelGrid::hash`] is a function of the
//! voxels alone, whatever made them.

use std::array;
use std::borrow::Cow;
use std::fmt;

use rayon::prelude::*;

use crate::base::names::named;
use crate::base::srgb::Rgba;
pub(crate) use crate::grid::attributes::AttributeNames;
pub use crate::grid::attributes::{
    Attribute, AttributeSet, Attributes, Bits, Channel, VoxelSample,
};
pub use crate::grid::brick::{BRICK, BrickKey, FULL, Mask, count, mask_place, mask_voxels};
pub(crate) use crate::grid::brick::{
    FIRST_Z, bits_of_bytes, brick_slot, is_empty, mask_below, mask_bounds, mask_places,
    mask_spliced, mask_step, set_bits,
};
pub use crate::grid::brick_runs::{BrickRun, BrickRuns};
pub(crate) use crate::grid::brick_runs::{Overlap, key_ranges, overlay};
pub(crate) use crate::grid::build::checked_dims;
pub(crate) use crate::grid::build::{Combine, GridBuilder};
pub use crate::grid::build::{Crossings, Windings};
pub use crate::grid::error::GridError;
pub use crate::grid::hash::{ContentHash, ContentHashError};
pub(crate) use crate::grid::ordered::{Writer, bytes, in_order, in_order_within};
pub use crate::grid::section::Section;
pub(crate) use crate::grid::section::across;
pub(crate) use crate::grid::values::own_values;
pub use crate::grid::values::{BrickColors, BrickValues, Colors, DEFAULT_COLOR, VoxelValues};
#[cfg(doc)]
use crate::lattice::MAX_DIM;
use crate::lattice::{Lattice, Sizing};

mod arrays;
mod attributes;
mod boxes;
mod brick;
mod brick_runs;
mod build;
pub mod compare;
mod error;
mod hash;
mod ordered;
mod runs;
mod section;
mod sets;
mod values;
mod windows;

/// A maximal run of full bricks along `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FullRun {
    start: BrickKey,
    len: u32,
}

impl FullRun {
    /// Whether a run that begins at `start`, not before this one, continues it.
    fn is_continued_at(&self, start: BrickKey) -> bool {
        start.row() == self.start.row() && start <= self.start.along_x(self.len)
    }
}

/// The mesh axis that points up. Formats that fix an up axis rotate to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Up {
    /// `y` up, as most OBJ files are.
    #[default]
    Y,
    /// `z` up, as CAD and scan data usually are.
    Z,
}

named!(Up, "up", { Y = "y", Z = "z" });

impl Up {
    /// The index of the axis.
    #[must_use]
    pub fn axis(self) -> usize {
        match self {
            Self::Y => 1,
            Self::Z => 2,
        }
    }

    /// The sizings by height, width and length in voxels: along this axis, along `x`, and along the
    /// third axis.
    #[must_use]
    pub fn sizings(self, voxels: [Option<u32>; 3]) -> [Option<Sizing>; 3] {
        let axes = [self.axis(), 0, 3 - self.axis()];
        array::from_fn(|n| Some(Sizing::Along { axis: axes[n], voxels: voxels[n]? }))
    }
}

/// The relation of a grid's voxels to the world.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct World {
    /// The axis that points up.
    pub up: Up,
    /// `None` where the source file does not state it.
    pub place: Option<Place>,
}

impl World {
    /// The world of a grid with its minimum corner at `origin`, in mesh units, and voxels of this
    /// edge length.
    #[must_use]
    pub fn at(origin: [f64; 3], voxel_size: f64, up: Up) -> Self {
        Self { up, place: Some(Place { origin, voxel_size }) }
    }

    /// The world of the lattice's grid.
    #[must_use]
    pub fn of(lattice: &Lattice, up: Up) -> Self {
        Self::at(lattice.origin, lattice.voxel_size, up)
    }
}

/// The place of a grid in its mesh's coordinates, after a [`Transform`](crate::Transform) if there
/// was one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The grid's minimum corner, in mesh units.
    pub origin: [f64; 3],
    /// A voxel's edge, in mesh units.
    pub voxel_size: f64,
}

impl Default for Place {
    /// The place of a grid that has none: its corner at the origin, voxels of size 1.
    fn default() -> Self {
        Self { origin: [0.0; 3], voxel_size: 1.0 }
    }
}

impl Place {
    /// The origin and voxel size of the lattice's grid.
    #[must_use]
    pub fn of(lattice: &Lattice) -> Self {
        Self { origin: lattice.origin, voxel_size: lattice.voxel_size }
    }

    /// The centre of a voxel, in mesh units.
    #[must_use]
    pub fn center(&self, voxel: [u32; 3]) -> [f64; 3] {
        self.to_mesh_units(voxel.map(|c| f64::from(c) + 0.5))
    }

    /// A point in voxels from the grid's minimum corner: voxel `i` is the interval from `i` to
    /// `i + 1`. [`Ray`](crate::view::trace::Ray) takes such points.
    #[must_use]
    pub fn to_voxels(&self, point: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|a| (point[a] - self.origin[a]) / self.voxel_size)
    }

    /// The inverse of [`to_voxels`](Self::to_voxels), up to rounding: a point in mesh units.
    #[must_use]
    pub fn to_mesh_units(&self, point: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|a| self.origin[a] + point[a] * self.voxel_size)
    }

    /// Whether the origin is finite, and the voxel size positive and finite.
    pub(crate) fn is_possible(&self) -> bool {
        self.origin.iter().all(|c| c.is_finite())
            && self.voxel_size > 0.0
            && self.voxel_size.is_finite()
    }
}

/// A set of voxels within `dims`, with an optional world position, optional colours and attributes.
///
/// Two grids are equal if they have the same dimensions and voxels; position, colours and
/// attributes are not compared.
#[derive(Clone)]
pub struct VoxelGrid {
    dims: [u32; 3],
    /// Sorted, without duplicates; none is full or empty.
    keys: Vec<BrickKey>,
    /// The mask of each key.
    masks: Vec<Mask>,
    /// Sorted.
    full: Vec<FullRun>,
    /// The up axis, and the place of the grid.
    pub world: World,
    /// `None` where no colours are known. Those of empty voxels have no effect.
    pub colors: Option<Colors>,
    /// The attributes of each voxel; `None` where none were asked for.
    pub attributes: Option<Attributes>,
}

impl VoxelGrid {
    /// An empty grid of `dims` voxels, which are not checked.
    fn of_dims(dims: [u32; 3]) -> Self {
        let (keys, masks, full) = (Vec::new(), Vec::new(), Vec::new());
        Self { dims, keys, masks, full, world: World::default(), colors: None, attributes: None }
    }

    /// A copy without colours and attributes.
    pub(crate) fn without_values(&self) -> Self {
        let (keys, masks, full) = (self.keys.clone(), self.masks.clone(), self.full.clone());
        Self { keys, masks, full, world: self.world, ..Self::of_dims(self.dims) }
    }

    /// A grid of `dims` voxels, none occupied.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`].
    pub fn empty(dims: [u32; 3]) -> Result<Self, GridError> {
        checked_dims(dims)?;
        Ok(Self::of_dims(dims))
    }

    /// The union of `bricks`, in any order; repeated and empty bricks are allowed.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`]; a voxel outside `dims`.
    pub fn from_bricks(dims: [u32; 3], bricks: Vec<(BrickKey, Mask)>) -> Result<Self, GridError> {
        // Not of `BrickKey::new`, but cast from other bits.
        if !bricks.iter().all(|(key, _)| key.is_of_brick()) {
            return Err(GridError::Outside { voxel: [u32::MAX; 3], dims });
        }
        Self::from_parts(dims, &[bricks])
    }

    /// The union of the bricks of all `parts`.
    fn from_parts(dims: [u32; 3], parts: &[Vec<(BrickKey, Mask)>]) -> Result<Self, GridError> {
        let mut builder = GridBuilder::new(dims, Combine::Union)?;
        builder.append(parts)?;
        Ok(builder.finish())
    }

    /// The set of `voxels`, in any order; repeats are allowed.
    ///
    /// # Errors
    /// As [`from_bricks`](Self::from_bricks).
    pub fn from_voxels(
        dims: [u32; 3],
        voxels: impl IntoIterator<Item = [u32; 3]>,
    ) -> Result<Self, GridError> {
        checked_dims(dims)?;
        let mut bricks: Vec<(BrickKey, Mask)> = Vec::new();
        for voxel in voxels {
            if (0..3).any(|a| voxel[a] >= dims[a]) {
                return Err(GridError::Outside { voxel, dims });
            }
            let key = BrickKey::of_voxel(voxel);
            if bricks.last().is_none_or(|&(last, _)| last != key) {
                bricks.push((key, [0; 8]));
            }
            if let Some((_, mask)) = bricks.last_mut() {
                let (slice, bit) = mask_place(voxel);
                mask[slice] |= 1 << bit;
            }
        }
        Self::from_bricks(dims, bricks)
    }

    /// The same voxels at `world`.
    #[must_use]
    pub fn with_world(self, world: World) -> Self {
        Self { world, ..self }
    }

    /// The same voxels, in these `colors`.
    #[must_use]
    pub fn with_colors(self, colors: Colors) -> Self {
        Self { colors: Some(colors), ..self }
    }

    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// How many voxels are occupied.
    #[must_use]
    pub fn occupied(&self) -> u64 {
        let partial: u64 = self.masks.par_iter().map(|mask| u64::from(count(mask))).sum();
        partial + 512 * self.full.iter().map(|run| u64::from(run.len)).sum::<u64>()
    }

    /// How many bricks hold a voxel.
    #[must_use]
    pub fn brick_count(&self) -> u64 {
        self.keys.len() as u64 + self.full.iter().map(|run| u64::from(run.len)).sum::<u64>()
    }

    /// The keys of the bricks that are not full, in canonical order.
    pub(crate) fn keys(&self) -> &[BrickKey] {
        &self.keys
    }

    /// The masks of the bricks that are not full, in canonical order.
    pub(crate) fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// Bytes of memory of keys, masks and runs; colours not included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes(self.keys.len() as u64, self.full.len() as u64)
    }

    /// Whether voxel `(x, y, z)` is occupied; `false` outside the grid.
    #[must_use]
    pub fn contains(&self, voxel: [u32; 3]) -> bool {
        if (0..3).any(|a| voxel[a] >= self.dims[a]) {
            return false;
        }
        let (slice, bit) = mask_place(voxel);
        self.mask_of(BrickKey::of_voxel(voxel))[slice] >> bit & 1 == 1
    }

    /// The colour of a voxel; `None` where the grid has no voxel, or no colours.
    #[must_use]
    pub fn color(&self, voxel: [u32; 3]) -> Option<Rgba> {
        let colors = self.colors.as_ref().filter(|_| self.contains(voxel))?;
        Some(colors.of(voxel))
    }

    /// The colours without those of empty voxels; copied if there are any of these.
    pub(crate) fn voxel_colors(&self) -> Option<Cow<'_, Colors>> {
        let colors = self.colors.as_ref()?;
        Some(colors.of_occupied(self).map_or(Cow::Borrowed(colors), Cow::Owned))
    }

    /// Whether all voxels are opaque; `true` without colours.
    pub(crate) fn is_opaque(&self) -> bool {
        let is_opaque = |color: &Rgba| color[3] == u8::MAX;
        self.voxel_colors().is_none_or(|colors| {
            let has_rest = self.occupied() > colors.own_count();
            (!has_rest || is_opaque(&colors.rest())) && colors.own().par_iter().all(is_opaque)
        })
    }

    /// The voxels of the brick `key`; none outside the grid.
    #[must_use]
    pub fn mask_of(&self, key: BrickKey) -> Mask {
        if let Ok(index) = self.keys.binary_search(&key) {
            return self.masks[index];
        }
        let after = self.full.partition_point(|run| run.start <= key);
        let is_full =
            after > 0 && key < self.full[after - 1].start.along_x(self.full[after - 1].len);
        if is_full { FULL } else { [0; 8] }
    }

    /// All bricks that hold a voxel, in canonical order, full ones included.
    pub fn bricks(&self) -> impl Iterator<Item = (BrickKey, Mask)> + '_ {
        self.brick_runs()
            .flat_map(|run| (0..run.len).map(move |n| (run.start.along_x(n), run.mask)))
    }

    /// All occupied voxels, brick by brick.
    pub fn voxels(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.bricks().flat_map(|(key, mask)| mask_voxels(key.first_voxel(), mask))
    }

    /// Smallest and largest occupied voxel per axis; `None` for an empty grid.
    #[must_use]
    pub fn occupied_bounds(&self) -> Option<[[u32; 3]; 2]> {
        let bricks = self.keys.par_iter().zip(&self.masks);
        let partial = bricks.map(|(&key, mask)| run_bounds(key, 1, mask)).reduce_with(union_bounds);
        let full = self.full.iter().map(|run| run_bounds(run.start, run.len, &FULL));
        partial.into_iter().chain(full).reduce(union_bounds)
    }

    /// The voxels that are in exactly one of two grids, brick by brick, with `true` for those of
    /// this grid. [`symmetric_difference`](Self::symmetric_difference) is the grid of them.
    pub fn differing_voxels<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = ([u32; 3], bool)> + 'a {
        overlay([self.brick_runs(), other.brick_runs()]).flat_map(|both| {
            let [a, b] = both.masks;
            let either: Mask = std::array::from_fn(|x| a[x] ^ b[x]);
            let bricks = if is_empty(&either) { 0 } else { both.len };
            (0..bricks).flat_map(move |n| {
                let base = both.start.along_x(n).first_voxel();
                mask_voxels(base, either).map(move |voxel| {
                    let (slice, bit) = mask_place(voxel);
                    (voxel, a[slice] >> bit & 1 == 1)
                })
            })
        })
    }

    /// A hash of the dimensions and the voxels: the same for every backend, format, thread count
    /// and machine. World position and colours are not hashed.
    ///
    /// The first 128 bits of BLAKE3 over: the text `trivox grid 1`, the dimensions as three
    /// little-endian `u32`; the number of bricks that are neither empty nor full as `u64`, their
    /// keys (`u64`, `(z << 26) + (y << 13) + x` in bricks) and their masks (`[u64; 8]`) in order;
    /// the number of maximal runs of full bricks along `x` as `u64`, and for each the key of its
    /// first brick and its length, both `u64`.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"trivox grid 1");
        self.dims.iter().for_each(|d| _ = hasher.update(&d.to_le_bytes()));
        hash_words(&mut hasher, &[self.keys.len() as u64]);
        hash_words(&mut hasher, bytemuck::cast_slice(&self.keys));
        hash_words(&mut hasher, self.masks.as_flattened());
        hash_words(&mut hasher, &[self.full.len() as u64]);
        for run in &self.full {
            hash_words(&mut hasher, &[run.start.0, run.len.into()]);
        }
        ContentHash::of(&hasher)
    }
}

impl PartialEq for VoxelGrid {
    fn eq(&self, other: &Self) -> bool {
        let Self { dims, keys, masks, full, world: _, colors: _, attributes: _ } = self;
        (dims, keys, masks, full) == (&other.dims, &other.keys, &other.masks, &other.full)
    }
}

impl Eq for VoxelGrid {}

/// Hashes `words` as little-endian bytes.
fn hash_words(hasher: &mut blake3::Hasher, words: &[u64]) {
    if cfg!(target_endian = "little") {
        hasher.update_rayon(bytemuck::cast_slice(words));
    } else {
        words.iter().for_each(|word| _ = hasher.update(&word.to_le_bytes()));
    }
}

impl fmt::Debug for VoxelGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.dims;
        let (occupied, bricks) = (self.occupied(), self.brick_count());
        write!(f, "VoxelGrid({x}x{y}x{z}, {occupied} voxels in {bricks} bricks, {})", self.hash())
    }
}

/// Smallest and largest voxel per axis of `len` bricks along `x` with the same mask, not empty.
pub(crate) fn run_bounds(start: BrickKey, len: u32, mask: &Mask) -> [[u32; 3]; 2] {
    let base = start.first_voxel();
    let [lo, mut hi] = mask_bounds(mask);
    hi[0] += (len - 1) * BRICK;
    [lo, hi].map(|voxel| std::array::from_fn(|a| base[a] + voxel[a]))
}

/// The union of two bounds.
pub(crate) fn union_bounds<T: Copy + Ord>(a: [[T; 3]; 2], b: [[T; 3]; 2]) -> [[T; 3]; 2] {
    let min = std::array::from_fn(|i| a[0][i].min(b[0][i]));
    let max = std::array::from_fn(|i| a[1][i].max(b[1][i]));
    [min, max]
}
