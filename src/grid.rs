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

use std::fmt;

use rayon::prelude::*;

use crate::error::GridError;
use crate::place::{Lattice, MAX_DIM};

/// Voxels along a brick's edge.
pub const BRICK: u32 = 8;

/// The voxels of one brick: `mask[x]` has bit `8 y + z` set where voxel `(x, y, z)` is occupied.
pub type Mask = [u64; 8];

/// A mask with every voxel set.
pub const FULL: Mask = [u64::MAX; 8];

/// A brick's position in bricks, packed so that the order of keys is the canonical order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrickKey(u64);

impl BrickKey {
    /// 65,536 voxels are 8,192 bricks, 13 bits.
    const BITS: u32 = (MAX_DIM / BRICK).ilog2();

    /// The key of the brick at `(x, y, z)`, in bricks, each below 8192.
    ///
    /// # Panics
    /// One of them is not.
    #[must_use]
    #[inline]
    pub fn new([x, y, z]: [u32; 3]) -> Self {
        assert!(x.max(y).max(z) < 1 << Self::BITS, "brick ({x}, {y}, {z})");
        let (x, y, z) = (u64::from(x), u64::from(y), u64::from(z));
        Self(((z << Self::BITS | y) << Self::BITS) | x)
    }

    /// The brick's position, in bricks.
    #[must_use]
    pub fn position(self) -> [u32; 3] {
        let part = |shift: u32| (self.0 >> shift) as u32 & ((1 << Self::BITS) - 1);
        [part(0), part(Self::BITS), part(2 * Self::BITS)]
    }

    /// The key of the brick `n` further along `x`.
    fn along_x(self, n: u32) -> Self {
        Self(self.0 + u64::from(n))
    }
}

/// A row of full bricks along `x`; maximal, so neither neighbour is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FullRun {
    start: BrickKey,
    len: u32,
}

/// Which mesh axis points up. Formats that fix an up axis rotate to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Up {
    /// `y` up, as most OBJ files are.
    #[default]
    Y,
    /// `z` up, as CAD and scan data usually are.
    Z,
}

/// Where a grid lies in its mesh's coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World {
    /// The grid's minimum corner, in mesh units.
    pub origin: [f64; 3],
    /// A voxel's edge, in mesh units.
    pub voxel_size: f64,
    /// Which axis points up.
    pub up: Up,
}

impl World {
    /// Where the lattice's grid lies.
    #[must_use]
    pub fn of(lattice: &Lattice, up: Up) -> Self {
        Self { origin: lattice.origin, voxel_size: lattice.voxel_size, up }
    }
}

/// A set of voxels within `dims`, and optionally where it lies in the world.
///
/// Two grids are equal if they have the same dimensions and voxels, wherever they lie.
#[derive(Clone)]
pub struct VoxelGrid {
    dims: [u32; 3],
    /// Sorted, without duplicates; none is full or empty.
    keys: Vec<BrickKey>,
    /// The mask of each key.
    masks: Vec<Mask>,
    /// Sorted.
    full: Vec<FullRun>,
    /// `None` where the file the grid came from does not say.
    pub world: Option<World>,
}

impl VoxelGrid {
    /// A grid of `dims` voxels, none occupied.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`].
    pub fn empty(dims: [u32; 3]) -> Result<Self, GridError> {
        Self::from_bricks(dims, Vec::new())
    }

    /// The union of `bricks`, in any order, with any of them repeated or empty.
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`]; a voxel outside `dims`.
    pub fn from_bricks(
        dims: [u32; 3],
        mut bricks: Vec<(BrickKey, Mask)>,
    ) -> Result<Self, GridError> {
        check_dims(dims)?;
        bricks.par_sort_unstable_by_key(|&(key, _)| key);
        bricks.dedup_by(|(key, mask), (kept, union)| {
            let same = key == kept;
            if same {
                (0..8).for_each(|x| union[x] |= mask[x]);
            }
            same
        });
        let mut grid = Self { dims, keys: vec![], masks: vec![], full: vec![], world: None };
        grid.keys.reserve_exact(bricks.len());
        grid.masks.reserve_exact(bricks.len());
        for (key, mask) in bricks {
            grid.check_inside(key, &mask)?;
            match mask {
                FULL => grid.push_full(key),
                mask if mask == [0; 8] => {}
                mask => {
                    grid.keys.push(key);
                    grid.masks.push(mask);
                }
            }
        }
        Ok(grid)
    }

    /// The set of `voxels`, in any order, with any of them repeated.
    ///
    /// # Errors
    /// As [`from_bricks`](Self::from_bricks).
    pub fn from_voxels(
        dims: [u32; 3],
        voxels: impl IntoIterator<Item = [u32; 3]>,
    ) -> Result<Self, GridError> {
        check_dims(dims)?;
        let mut bricks: Vec<(BrickKey, Mask)> = Vec::new();
        for voxel in voxels {
            if (0..3).any(|a| voxel[a] >= dims[a]) {
                return Err(GridError::Outside { voxel, dims });
            }
            let key = BrickKey::new(voxel.map(|c| c / BRICK));
            if bricks.last().is_none_or(|&(last, _)| last != key) {
                bricks.push((key, [0; 8]));
            }
            if let Some((_, mask)) = bricks.last_mut() {
                let [x, y, z] = voxel.map(|c| c % BRICK);
                mask[x as usize] |= 1 << (8 * y + z);
            }
        }
        Self::from_bricks(dims, bricks)
    }

    /// The same voxels, lying at `world`.
    #[must_use]
    pub fn with_world(self, world: World) -> Self {
        Self { world: Some(world), ..self }
    }

    fn push_full(&mut self, key: BrickKey) {
        match self.full.last_mut() {
            Some(run) if run.start.along_x(run.len) == key && key.position()[0] > 0 => run.len += 1,
            _ => self.full.push(FullRun { start: key, len: 1 }),
        }
    }

    fn check_inside(&self, key: BrickKey, mask: &Mask) -> Result<(), GridError> {
        let base = key.position().map(|b| b * BRICK);
        if (0..3).all(|a| base[a] + BRICK <= self.dims[a]) {
            return Ok(());
        }
        match mask_voxels(base, *mask).find(|v| (0..3).any(|a| v[a] >= self.dims[a])) {
            Some(voxel) => Err(GridError::Outside { voxel, dims: self.dims }),
            None => Ok(()),
        }
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

    /// Whether voxel `(x, y, z)` is occupied; `false` outside the grid.
    #[must_use]
    pub fn contains(&self, voxel: [u32; 3]) -> bool {
        if (0..3).any(|a| voxel[a] >= self.dims[a]) {
            return false;
        }
        let key = BrickKey::new(voxel.map(|c| c / BRICK));
        let [x, y, z] = voxel.map(|c| c % BRICK);
        if let Ok(index) = self.keys.binary_search(&key) {
            return self.masks[index][x as usize] >> (8 * y + z) & 1 == 1;
        }
        let after = self.full.partition_point(|run| run.start <= key);
        after > 0 && key < self.full[after - 1].start.along_x(self.full[after - 1].len)
    }

    /// All bricks that hold a voxel, in canonical order, full ones included.
    pub fn bricks(&self) -> impl Iterator<Item = (BrickKey, Mask)> + '_ {
        let full =
            (self.full.iter()).flat_map(|run| (0..run.len).map(|n| (run.start.along_x(n), FULL)));
        let partial = self.keys.iter().copied().zip(self.masks.iter().copied());
        merge_by_key(partial, full).map(|(key, a, b)| (key, a.or(b).unwrap_or(FULL)))
    }

    /// The bricks that hold a voxel, from key `first` to key `last` inclusive, in canonical order.
    /// Found by bisection: a row of bricks costs little more than what it holds.
    pub fn bricks_between(
        &self,
        first: BrickKey,
        last: BrickKey,
    ) -> impl Iterator<Item = (BrickKey, Mask)> + '_ {
        let begin = self.keys.partition_point(|&key| key < first);
        let end = begin + self.keys[begin..].partition_point(|&key| key <= last);
        let masks = self.masks[begin..end].iter().copied();
        let partial = self.keys[begin..end].iter().copied().zip(masks);
        let begin = self.full.partition_point(|run| run.start.along_x(run.len) <= first);
        let runs = self.full[begin..].iter().take_while(move |run| run.start <= last);
        let full = runs.flat_map(move |run| {
            let end = run.start.along_x(run.len).min(last.along_x(1));
            (run.start.max(first).0..end.0).map(|key| (BrickKey(key), FULL))
        });
        merge_by_key(partial, full).map(|(key, a, b)| (key, a.or(b).unwrap_or(FULL)))
    }

    /// All occupied voxels, brick by brick.
    pub fn voxels(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.bricks().flat_map(|(key, mask)| mask_voxels(key.position().map(|b| b * BRICK), mask))
    }

    /// Smallest and largest occupied voxel per axis, or `None` where there are none.
    #[must_use]
    pub fn occupied_bounds(&self) -> Option<[[u32; 3]; 2]> {
        self.bricks().fold(None, |bounds: Option<[[u32; 3]; 2]>, (key, mask)| {
            let base = key.position().map(|b| b * BRICK);
            let [lo, hi] = mask_bounds(&mask);
            let lo: [u32; 3] = std::array::from_fn(|a| base[a] + lo[a]);
            let hi: [u32; 3] = std::array::from_fn(|a| base[a] + hi[a]);
            Some(match bounds {
                None => [lo, hi],
                Some([min, max]) => [
                    std::array::from_fn(|a| min[a].min(lo[a])),
                    std::array::from_fn(|a| max[a].max(hi[a])),
                ],
            })
        })
    }

    /// The voxels that are in exactly one of two grids, with whether it is this one.
    pub fn difference<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = ([u32; 3], bool)> + 'a {
        merge_by_key(self.bricks(), other.bricks()).flat_map(|(key, a, b)| {
            let (a, b) = (a.unwrap_or([0; 8]), b.unwrap_or([0; 8]));
            let base = key.position().map(|b| b * BRICK);
            let either: Mask = std::array::from_fn(|x| a[x] ^ b[x]);
            mask_voxels(base, either).map(move |voxel| {
                let [x, y, z] = voxel.map(|c| c % BRICK);
                (voxel, a[x as usize] >> (8 * y + z) & 1 == 1)
            })
        })
    }

    /// A hash of the dimensions and the voxels: the same for every backend, format, thread count
    /// and machine; where the grid lies in the world is not part of it.
    ///
    /// The first 128 bits of BLAKE3 over: the text `trivox grid 1`, the dimensions as three
    /// little-endian `u32`; the number of bricks that are neither empty nor full as `u64`, their
    /// keys (`u64`, `(z << 26) + (y << 13) + x` in bricks) and their masks (`[u64; 8]`) in order;
    /// the number of maximal runs of full bricks along `x` as `u64`, and for each the key of its
    /// first brick and its length, both `u64`.
    #[must_use]
    pub fn hash(&self) -> GridHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"trivox grid 1");
        self.dims.iter().for_each(|d| _ = hasher.update(&d.to_le_bytes()));
        let mut buffer = Vec::with_capacity(HASH_CHUNK);
        let mut put = |word: u64| {
            buffer.extend_from_slice(&word.to_le_bytes());
            if buffer.len() >= HASH_CHUNK {
                hasher.update(&buffer);
                buffer.clear();
            }
        };
        put(self.keys.len() as u64);
        self.keys.iter().for_each(|key| put(key.0));
        self.masks.iter().flatten().for_each(|&word| put(word));
        put(self.full.len() as u64);
        self.full.iter().for_each(|run| {
            put(run.start.0);
            put(u64::from(run.len));
        });
        hasher.update(&buffer);
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        GridHash(hash)
    }
}

fn check_dims(dims: [u32; 3]) -> Result<(), GridError> {
    if dims.iter().any(|&d| d == 0 || d > MAX_DIM) {
        return Err(GridError::Dims(dims.map(u64::from)));
    }
    Ok(())
}

impl PartialEq for VoxelGrid {
    fn eq(&self, other: &Self) -> bool {
        let Self { dims, keys, masks, full, world: _ } = self;
        (dims, keys, masks, full) == (&other.dims, &other.keys, &other.masks, &other.full)
    }
}

impl Eq for VoxelGrid {}

/// Bytes handed to the hasher at a time: enough for its widest vector code.
const HASH_CHUNK: usize = 1 << 16;

impl fmt::Debug for VoxelGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.dims;
        let (occupied, bricks) = (self.occupied(), self.brick_count());
        write!(f, "VoxelGrid({x}x{y}x{z}, {occupied} voxels in {bricks} bricks, {})", self.hash())
    }
}

/// The content hash of a grid; prints as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GridHash([u8; 16]);

impl fmt::Display for GridHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// How many voxels a mask holds.
#[must_use]
pub fn count(mask: &Mask) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

/// The voxels of `mask`, offset by `base`.
pub fn mask_voxels(base: [u32; 3], mask: Mask) -> impl Iterator<Item = [u32; 3]> {
    mask.into_iter().zip(0u32..).flat_map(move |(word, x)| {
        set_bits(word).map(move |bit| [base[0] + x, base[1] + bit / 8, base[2] + bit % 8])
    })
}

fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

/// Smallest and largest voxel per axis of a mask that is not empty.
fn mask_bounds(mask: &Mask) -> [[u32; 3]; 2] {
    mask_voxels([0; 3], *mask).fold([[7; 3], [0; 3]], |[lo, hi], v| {
        [std::array::from_fn(|a| lo[a].min(v[a])), std::array::from_fn(|a| hi[a].max(v[a]))]
    })
}

/// Merges two sequences sorted by key; each key comes once, with what either side has for it.
fn merge_by_key<A, B>(
    a: impl Iterator<Item = (BrickKey, A)>,
    b: impl Iterator<Item = (BrickKey, B)>,
) -> impl Iterator<Item = (BrickKey, Option<A>, Option<B>)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let key = match (a.peek(), b.peek()) {
            (Some(&(a, _)), Some(&(b, _))) => a.min(b),
            (Some(&(key, _)), None) | (None, Some(&(key, _))) => key,
            (None, None) => return None,
        };
        let first = a.next_if(|&(k, _)| k == key).map(|(_, value)| value);
        let second = b.next_if(|&(k, _)| k == key).map(|(_, value)| value);
        Some((key, first, second))
    })
}
