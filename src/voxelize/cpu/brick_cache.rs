//! Where voxels are set: the bricks that were touched last, as many as stay near the processor.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::grid::{BrickKey, Mask};
use crate::predicate::blocks::{BLOCK, BlockMask, Coordinate, LANES};

/// Bricks that are open at a time, at most, as a power of two: 576 KiB, half of a usual second-level
/// cache.
const MAX_PLACE_BITS: u32 = 13;
const MIN_PLACE_BITS: u32 = 4;

/// Bricks that were closed.
pub(super) type Closed = Vec<(BrickKey, Mask)>;

/// How many bricks may be closed, by all threads together, and the memory for them.
pub(super) struct Budget {
    /// Bricks that are counted and allocated together.
    portion: u64,
    left: AtomicU64,
    closed: AtomicU64,
    dropped: AtomicU64,
    /// Empty portions, to be used again: an allocator might keep more than was ever in use at once.
    spare: Mutex<Vec<Closed>>,
}

impl Budget {
    /// For no bricks yet, of which `portion` are counted and allocated together.
    pub(super) fn new(portion: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let (left, closed, dropped) = (zero(), zero(), zero());
        Self { portion, left, closed, dropped, spare: Mutex::default() }
    }

    /// From now on as many bricks as `room` may be closed.
    pub(super) fn begin(&mut self, room: u64) {
        (self.left, self.closed, self.dropped) = (room.into(), 0.into(), 0.into());
    }

    /// Takes back the memory of closed bricks.
    pub(super) fn take_back(&self, mut portions: Vec<Closed>) {
        portions.iter_mut().for_each(Vec::clear);
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).append(&mut portions);
    }

    /// How many bricks were closed; one that was closed several times counts as often.
    pub(super) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }

    /// How many of them were lost for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Memory for some bricks.
    fn portion(&self) -> Option<Closed> {
        let less = |left: u64| left.checked_sub(self.portion);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Some(spare.unwrap_or_else(|| Vec::with_capacity(self.portion as usize)))
    }
}

/// Bricks in which voxels are being set. Each has one place, where it takes turns with others: a
/// brick may be closed, and opened again as another part of it.
pub(super) struct OpenBricks<'a> {
    places: Places,
    closed: Vec<Closed>,
    dropped: u64,
    budget: &'a Budget,
}

/// The memory of open bricks, to be used again.
pub(super) struct Places {
    /// [`BrickKey::NONE`] where no brick is open.
    keys: Box<[BrickKey]>,
    masks: Box<[Mask]>,
    /// How many there are, as a power of two.
    bits: u32,
}

impl Places {
    /// For a grid of so many bricks: not more places than these.
    pub(super) fn new(bricks: u64) -> Self {
        let bits = place_bits(bricks);
        Self {
            keys: vec![BrickKey::NONE; 1 << bits].into(),
            masks: vec![[0; 8]; 1 << bits].into(),
            bits,
        }
    }

    /// Bytes of memory for a grid of so many bricks.
    pub(super) fn bytes(bricks: u64) -> u64 {
        ((size_of::<BrickKey>() + size_of::<Mask>()) as u64) << place_bits(bricks)
    }
}

fn place_bits(bricks: u64) -> u32 {
    bricks.next_power_of_two().ilog2().clamp(MIN_PLACE_BITS, MAX_PLACE_BITS)
}

impl<'a> OpenBricks<'a> {
    /// None yet; all that is in `places` was closed.
    pub(super) fn new(places: Places, budget: &'a Budget) -> Self {
        Self { places, closed: Vec::new(), dropped: 0, budget }
    }

    /// Sets one voxel.
    #[inline(always)]
    pub(super) fn set_voxel(&mut self, voxel: [i32; 3]) {
        let (slice, bit) = place_in_brick(voxel);
        self.open(BrickKey::of_voxel(voxel))[slice] |= bit;
    }

    /// Sets one voxel, or clears it again.
    #[inline(always)]
    pub(super) fn flip_voxel(&mut self, voxel: [i32; 3]) {
        let (slice, bit) = place_in_brick(voxel);
        self.open(BrickKey::of_voxel(voxel))[slice] ^= bit;
    }

    /// Counts one voxel, among those with `winding` 1 or those with -1. A brick counts to 1: a voxel
    /// that comes again is counted in another part of it.
    #[inline(always)]
    pub(super) fn count(&mut self, voxel: [i32; 3], winding: i32) {
        let key = BrickKey::of_voxel(voxel);
        let key = if winding < 0 { key.leaving() } else { key };
        let (slice, bit) = place_in_brick(voxel);
        if self.open(key)[slice] & bit != 0 {
            self.change(key.place(self.places.bits), key);
        }
        self.open(key)[slice] |= bit;
    }

    /// Sets the voxels that `masks` hold: of `len` blocks with the lowest voxels `lowest` and
    /// `extent` voxels along each axis, at most 4.
    #[inline(always)]
    pub(super) fn set_blocks(
        &mut self,
        lowest: &[Coordinate; 3],
        extent: [i32; 3],
        masks: &[BlockMask; LANES],
        len: usize,
    ) {
        // The part in the brick of the lowest voxel, for all lanes at once.
        let mut keys = [BrickKey::NONE; LANES];
        let mut slices = [[0; LANES]; BLOCK as usize];
        for lane in 0..LANES {
            let [x, y, z] = [lowest[0][lane], lowest[1][lane], lowest[2][lane]];
            keys[lane] = BrickKey::of_voxel([x, y, z]);
            for (slice, i) in slices.iter_mut().zip(0..) {
                slice[lane] = in_brick(masks[lane] >> (16 * i), [y & 7, z & 7]);
            }
        }
        for lane in 0..len.min(LANES) {
            let brick = self.open(keys[lane]);
            for (slice, i) in slices.iter().zip(0..) {
                let x = (lowest[0][lane] & 7) + i;
                brick[x as usize % 8] |= if x < 8 { slice[lane] } else { 0 };
            }
        }
        self.set_crossing(lowest, extent, masks, len);
    }

    /// Sets the parts of blocks that lie in other bricks than their lowest voxels.
    #[inline(always)]
    fn set_crossing(
        &mut self,
        lowest: &[Coordinate; 3],
        extent: [i32; 3],
        masks: &[BlockMask; LANES],
        len: usize,
    ) {
        // Listed without branches: which blocks cross is a toss.
        let mut parts = [(0u8, 0u8); 7 * LANES];
        let mut count = 0;
        for lane in 0..len.min(LANES) {
            let crosses = |a: usize| u8::from((lowest[a][lane] & 7) + extent[a] > 8) << a;
            let crossed = crosses(0) | crosses(1) | crosses(2);
            for neighbor in 1..8 {
                parts[count] = (lane as u8, neighbor);
                count += usize::from(neighbor & !crossed == 0);
            }
        }
        for &(lane, neighbor) in &parts[..count] {
            let lane = usize::from(lane) % LANES;
            let step = |a: usize| 8 * i32::from(neighbor >> a & 1);
            let beyond = |a: usize| lowest[a][lane] + step(a);
            let offset = |a: usize| (lowest[a][lane] & 7) - step(a);
            let key = BrickKey::of_voxel([beyond(0), beyond(1), beyond(2)]);
            set_part(self.open(key), [offset(0), offset(1), offset(2)], masks[lane]);
        }
    }

    /// All bricks that were opened, and the memory for others.
    pub(super) fn close_all(mut self) -> (Vec<Closed>, Places) {
        for place in 0..self.places.keys.len() {
            if self.places.keys[place] != BrickKey::NONE {
                self.change(place, BrickKey::NONE);
            }
        }
        let closed = self.closed.iter().map(Vec::len).sum::<usize>() as u64 + self.dropped;
        self.budget.closed.fetch_add(closed, Ordering::Relaxed);
        self.budget.dropped.fetch_add(self.dropped, Ordering::Relaxed);
        (self.closed, self.places)
    }

    #[inline(always)]
    fn open(&mut self, key: BrickKey) -> &mut Mask {
        let place = key.place(self.places.bits);
        if self.places.keys[place] != key {
            self.change(place, key);
        }
        &mut self.places.masks[place]
    }

    /// Closes the brick at `place`, if there is one, and opens another.
    #[cold]
    fn change(&mut self, place: usize, key: BrickKey) {
        let old = std::mem::replace(&mut self.places.keys[place], key);
        let mask = std::mem::take(&mut self.places.masks[place]);
        if old == BrickKey::NONE {
            return;
        }
        if self.closed.last().is_none_or(|portion| portion.len() == portion.capacity()) {
            match self.budget.portion() {
                Some(portion) => self.closed.push(portion),
                None => {
                    self.dropped += 1;
                    return;
                }
            }
        }
        if let Some(portion) = self.closed.last_mut() {
            portion.push((old, mask));
        }
    }
}

/// The word of a brick's mask that a voxel is in, and its bit.
#[inline(always)]
fn place_in_brick([x, y, z]: [i32; 3]) -> (usize, u64) {
    (x as usize % 8, 1 << (8 * (y & 7) + (z & 7)))
}

/// Of a slice of 4 x 4 voxels, of which the lowest is at `y` and `z` of a brick, those in the brick.
#[inline(always)]
fn in_brick(slice: BlockMask, [y, z]: [i32; 2]) -> u64 {
    // Of each row what does not cross into the next.
    let row = 0xF & (0xFF >> z);
    (rows_of_eight(slice) & (row * 0x0101_0101)) << (8 * y + z)
}

/// Sets in `brick` what of a block lies in it, the block's lowest voxel being at `offset`: from -3
/// to 7 along each axis.
#[inline(always)]
fn set_part(brick: &mut Mask, [dx, dy, dz]: [i32; 3], mask: BlockMask) {
    // Of each row's four voxels those that stay within the brick's eight.
    let row = (0xF << (dz + 3) & 0x7F8) >> (dz + 3);
    let shift = 8 * dy + dz;
    for x in 0..BLOCK {
        let slice = rows_of_eight(mask >> (16 * x)) & (row * 0x0101_0101);
        let slice = if shift < 0 { slice >> -shift } else { slice << shift };
        let inside = (0..8).contains(&(dx + x));
        brick[(dx + x) as usize % 8] |= if inside { slice } else { 0 };
    }
}

/// The first four rows of four voxels as rows of eight.
#[inline(always)]
fn rows_of_eight(slice: BlockMask) -> u64 {
    let rows = slice & 0xFFFF;
    let rows = (rows | rows << 8) & 0x00FF_00FF;
    (rows | rows << 4) & 0x0F0F_0F0F
}
