//! A direct-mapped write-back cache of the bricks in which voxels are set.

#![allow(clippy::needless_range_loop, reason = "several arrays share each index")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::lock;
use crate::grid::{BrickKey, Mask};
use crate::predicate::blocks::{BLOCK, BlockMask, Coordinate, LANES, rows_of_eight};

/// Maximum number of slots, as a power of two: 576 KiB, half of a typical L2 cache.
const MAX_SLOT_BITS: u32 = 13;
const MIN_SLOT_BITS: u32 = 4;

/// A batch of evicted bricks, allocated at full capacity.
pub(super) type BrickBatch = Vec<(BrickKey, Mask)>;

/// The number of bricks that all threads together may evict, and the memory for them.
pub(super) struct EvictionBudget {
    /// Bricks per batch, the unit of counting and allocation.
    batch_len: u64,
    left: AtomicU64,
    evicted: AtomicU64,
    dropped: AtomicU64,
    /// Empty batches for reuse: the allocator might keep more than was ever in use at once.
    spare: Mutex<Vec<BrickBatch>>,
}

impl EvictionBudget {
    /// A budget of 0 bricks, until [`begin`](Self::begin) sets it. Threads take `batch_len` bricks
    /// at a time.
    pub(super) fn new(batch_len: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let (left, evicted, dropped) = (zero(), zero(), zero());
        Self { batch_len, left, evicted, dropped, spare: Mutex::default() }
    }

    /// Resets the counts, and allows `room` evicted bricks.
    pub(super) fn begin(&mut self, room: u64) {
        (self.left, self.evicted, self.dropped) = (room.into(), 0.into(), 0.into());
    }

    /// Takes back the memory of batches.
    pub(super) fn recycle(&self, mut batches: Vec<BrickBatch>) {
        batches.iter_mut().for_each(Vec::clear);
        lock(&self.spare).append(&mut batches);
    }

    /// Number of evictions, including dropped ones; a brick may be evicted several times.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// Number of evicted bricks that were dropped because there was no room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// An empty batch, if there is room.
    fn batch(&self) -> Option<BrickBatch> {
        let less = |left: u64| left.checked_sub(self.batch_len);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
        let spare = lock(&self.spare).pop();
        Some(spare.unwrap_or_else(|| Vec::with_capacity(self.batch_len as usize)))
    }
}

/// A direct-mapped write-back cache of bricks. An evicted brick that is touched again starts empty:
/// its evicted parts are combined later.
pub(super) struct BrickCache<'a> {
    slots: Slots,
    evicted: Vec<BrickBatch>,
    dropped: u64,
    budget: &'a EvictionBudget,
}

/// The cache address of a voxel: the key of its brick, the slot, and the word and the bit in the
/// mask.
#[derive(Clone, Copy)]
pub(super) struct Address {
    key: BrickKey,
    slot: usize,
    word: usize,
    bit: u64,
}

/// An [`Address`] per lane.
#[derive(Clone, Copy, Default)]
pub(super) struct Addresses {
    keys: [BrickKey; LANES],
    slots: [u32; LANES],
    words: [u32; LANES],
    bits: [u64; LANES],
}

impl Addresses {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> Address {
        Address {
            key: self.keys[lane],
            slot: self.slots[lane] as usize,
            word: self.words[lane] as usize % 8,
            bit: self.bits[lane],
        }
    }
}

/// The slots of a cache, for reuse.
pub(super) struct Slots {
    /// [`BrickKey::NONE`] for an empty slot.
    keys: Box<[BrickKey]>,
    masks: Box<[Mask]>,
    /// The number of slots, as a power of two.
    bits: u32,
}

impl Slots {
    /// Empty slots for a grid of `bricks` bricks: about as many, up to the maximum.
    pub(super) fn new(bricks: u64) -> Self {
        let bits = slot_bits(bricks);
        Self {
            keys: vec![BrickKey::NONE; 1 << bits].into(),
            masks: vec![[0; 8]; 1 << bits].into(),
            bits,
        }
    }

    /// Bytes of memory of the slots for a grid of `bricks` bricks.
    pub(super) fn bytes(bricks: u64) -> u64 {
        ((size_of::<BrickKey>() + size_of::<Mask>()) as u64) << slot_bits(bricks)
    }
}

fn slot_bits(bricks: u64) -> u32 {
    bricks.next_power_of_two().ilog2().clamp(MIN_SLOT_BITS, MAX_SLOT_BITS)
}

impl<'a> BrickCache<'a> {
    /// An empty cache; `slots` must be empty.
    pub(super) fn new(slots: Slots, budget: &'a EvictionBudget) -> Self {
        Self { slots, evicted: Vec::new(), dropped: 0, budget }
    }

    /// The address of a voxel; that of a crossing that leaves the mesh, if `is_leaving`.
    #[inline(always)]
    pub(super) fn address(&self, [x, y, z]: [i32; 3], is_leaving: bool) -> Address {
        let key = BrickKey::of_grid_voxel([x, y, z]);
        let key = if is_leaving { key.leaving() } else { key };
        let (word, bit) = (x as usize % 8, 1 << (8 * (y & 7) + (z & 7)));
        Address { key, slot: key.hash_index(self.slots.bits), word, bit }
    }

    /// [`address`](Self::address) for all lanes.
    #[inline(always)]
    pub(super) fn addresses(
        &self,
        [x, y, z]: &[Coordinate; 3],
        is_leaving: &[bool; LANES],
    ) -> Addresses {
        let mut addresses = Addresses::default();
        for lane in 0..LANES {
            let address = self.address([x[lane], y[lane], z[lane]], is_leaving[lane]);
            addresses.keys[lane] = address.key;
            addresses.slots[lane] = address.slot as u32;
            addresses.words[lane] = address.word as u32;
            addresses.bits[lane] = address.bit;
        }
        addresses
    }

    #[inline(always)]
    pub(super) fn set_voxel(&mut self, voxel: [i32; 3]) {
        self.set(self.address(voxel, false));
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: Address) {
        self.mask_in(at.slot, at.key)[at.word] |= at.bit;
    }

    #[inline(always)]
    pub(super) fn flip(&mut self, at: Address) {
        self.mask_in(at.slot, at.key)[at.word] ^= at.bit;
    }

    /// Counts a crossing at an address. A mask counts to 1: on a second crossing at a voxel, the
    /// brick is evicted first.
    #[inline(always)]
    pub(super) fn count(&mut self, at: Address) {
        if self.mask_in(at.slot, at.key)[at.word] & at.bit != 0 {
            self.replace(at.slot, at.key);
        }
        self.set(at);
    }

    /// Sets the voxels in `masks` of `len` blocks with minimum corners `lowest` and `extent` voxels
    /// along each axis, at most 4.
    #[inline(always)]
    pub(super) fn set_blocks(
        &mut self,
        lowest: &[Coordinate; 3],
        extent: [i32; 3],
        masks: &[BlockMask; LANES],
        len: usize,
    ) {
        // The part in the minimum corner's brick, for all lanes at once.
        let mut keys = [BrickKey::NONE; LANES];
        let mut slices = [[0; LANES]; BLOCK as usize];
        for lane in 0..LANES {
            let [x, y, z] = [lowest[0][lane], lowest[1][lane], lowest[2][lane]];
            keys[lane] = BrickKey::of_grid_voxel([x, y, z]);
            for (slice, i) in slices.iter_mut().zip(0..) {
                slice[lane] = in_brick(masks[lane] >> (16 * i), [y & 7, z & 7]);
            }
        }
        for lane in 0..len.min(LANES) {
            let brick = self.mask_mut(keys[lane]);
            for (slice, i) in slices.iter().zip(0..) {
                let x = (lowest[0][lane] & 7) + i;
                brick[x as usize % 8] |= if x < 8 { slice[lane] } else { 0 };
            }
        }
        self.set_neighbors(lowest, extent, masks, len);
    }

    /// Sets the parts of blocks in bricks other than that of the minimum corner.
    #[inline(always)]
    fn set_neighbors(
        &mut self,
        lowest: &[Coordinate; 3],
        extent: [i32; 3],
        masks: &[BlockMask; LANES],
        len: usize,
    ) {
        // A branchless list: which blocks cross a brick boundary is unpredictable.
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
            let key = BrickKey::of_grid_voxel([beyond(0), beyond(1), beyond(2)]);
            set_part(self.mask_mut(key), [offset(0), offset(1), offset(2)], masks[lane]);
        }
    }

    /// Evicts all bricks. Returns all evicted bricks, and the empty slots.
    pub(super) fn flush(mut self) -> (Vec<BrickBatch>, Slots) {
        for slot in 0..self.slots.keys.len() {
            if self.slots.keys[slot] != BrickKey::NONE {
                self.replace(slot, BrickKey::NONE);
            }
        }
        let evicted = self.evicted.iter().map(Vec::len).sum::<usize>() as u64 + self.dropped;
        self.budget.evicted.fetch_add(evicted, Ordering::Relaxed);
        self.budget.dropped.fetch_add(self.dropped, Ordering::Relaxed);
        (self.evicted, self.slots)
    }

    /// The mask of a brick, which is brought into the cache.
    #[inline(always)]
    fn mask_mut(&mut self, key: BrickKey) -> &mut Mask {
        self.mask_in(key.hash_index(self.slots.bits), key)
    }

    /// [`mask_mut`](Self::mask_mut), of a brick whose slot is known.
    #[inline(always)]
    fn mask_in(&mut self, slot: usize, key: BrickKey) -> &mut Mask {
        if self.slots.keys[slot] != key {
            self.replace(slot, key);
        }
        &mut self.slots.masks[slot]
    }

    /// Evicts the brick in `slot`, if there is one, and assigns the slot to `key`.
    #[cold]
    fn replace(&mut self, slot: usize, key: BrickKey) {
        let old = std::mem::replace(&mut self.slots.keys[slot], key);
        let mask = std::mem::take(&mut self.slots.masks[slot]);
        if old == BrickKey::NONE {
            return;
        }
        if self.evicted.last().is_none_or(|batch| batch.len() == batch.capacity()) {
            match self.budget.batch() {
                Some(batch) => self.evicted.push(batch),
                None => {
                    self.dropped += 1;
                    return;
                }
            }
        }
        if let Some(batch) = self.evicted.last_mut() {
            batch.push((old, mask));
        }
    }
}

/// Clips a slice of 4 x 4 voxels, with its minimum corner at `y` and `z` of a brick, to the brick.
#[inline(always)]
fn in_brick(slice: BlockMask, [y, z]: [i32; 2]) -> u64 {
    // Voxels of each row that do not cross into the next.
    let row = 0xF & (0xFF >> z);
    (rows_of_eight(slice) & (row * 0x0101_0101)) << (8 * y + z)
}

/// Sets the part of a block in `brick`; the block's minimum corner is at `offset`, from -3 to 7
/// along each axis.
#[inline(always)]
fn set_part(brick: &mut Mask, [dx, dy, dz]: [i32; 3], mask: BlockMask) {
    // The voxels of each row of four that are within the brick's eight.
    let row = (0xF << (dz + 3) & 0x7F8) >> (dz + 3);
    let shift = 8 * dy + dz;
    for x in 0..BLOCK {
        let slice = rows_of_eight(mask >> (16 * x)) & (row * 0x0101_0101);
        let slice = if shift < 0 { slice >> -shift } else { slice << shift };
        let inside = (0..8).contains(&(dx + x));
        brick[(dx + x) as usize % 8] |= if inside { slice } else { 0 };
    }
}
