//! Where voxels are set: the bricks that were touched last, as many as stay near the processor.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::grid::{BRICK, BrickKey, Mask};
use crate::predicate::blocks::{BLOCK, BlockMask, Coordinate, LANES};
use crate::predicate::boxes::BoxRange;

/// Bricks that are open at a time, as a power of two: 576 KiB, half of a usual second-level cache.
const PLACE_BITS: u32 = 13;
const PLACES: usize = 1 << PLACE_BITS;
const BRICK_BITS: u32 = BRICK.ilog2();

/// Bricks that were closed.
pub(super) type Closed = Vec<(BrickKey, Mask)>;

/// Bricks that are counted and allocated together.
const PORTION: usize = 1 << 12;

/// How many bricks may be closed, by all threads together.
pub(super) struct Budget {
    left: AtomicU64,
    closed: AtomicU64,
    needed: AtomicU64,
    dropped: AtomicU64,
}

impl Budget {
    /// For as many bricks as `room`.
    pub(super) fn new(room: u64) -> Self {
        Self { left: room.into(), closed: 0.into(), needed: 0.into(), dropped: 0.into() }
    }

    /// How many bricks were closed; one that was closed several times counts as often.
    pub(super) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }

    /// Room for how many bricks it takes to close as many: whole portions.
    pub(super) fn needed(&self) -> u64 {
        self.needed.load(Ordering::Relaxed)
    }

    /// How many of them were lost for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn take_portion(&self) -> bool {
        let less = |left: u64| left.checked_sub(PORTION as u64);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
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
}

impl Places {
    /// Bytes of memory.
    pub(super) const BYTES: u64 = ((size_of::<BrickKey>() + size_of::<Mask>()) * PLACES) as u64;
}

impl Default for Places {
    fn default() -> Self {
        Self { keys: vec![BrickKey::NONE; PLACES].into(), masks: vec![[0; 8]; PLACES].into() }
    }
}

impl<'a> OpenBricks<'a> {
    /// None yet; all that is in `places` was closed.
    pub(super) fn new(places: Places, budget: &'a Budget) -> Self {
        Self { places, closed: Vec::new(), dropped: 0, budget }
    }

    /// Sets one voxel.
    #[inline(always)]
    pub(super) fn set_voxel(&mut self, voxel: [i32; 3]) {
        let [x, y, z] = [voxel[0] & 7, voxel[1] & 7, voxel[2] & 7];
        self.open(BrickKey::of_voxel(voxel))[x as usize] |= 1 << (8 * y + z);
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
        let mut keys = [BrickKey::NONE; LANES];
        let mut slices = [[0; LANES]; BLOCK as usize];
        let mut crossing = [0u8; LANES];
        for lane in 0..LANES {
            let [x, y, z] = [lowest[0][lane], lowest[1][lane], lowest[2][lane]];
            keys[lane] = BrickKey::of_voxel([x, y, z]);
            for (slice, i) in slices.iter_mut().zip(0..) {
                slice[lane] = in_brick(masks[lane] >> (16 * i), [y & 7, z & 7]);
            }
            let crosses = |a: usize, lo: i32| u8::from((lo & 7) + extent[a] > 8);
            crossing[lane] = crosses(0, x) | crosses(1, y) << 1 | crosses(2, z) << 2;
        }
        for lane in 0..len.min(LANES) {
            let brick = self.open(keys[lane]);
            for (slice, i) in slices.iter().zip(0..) {
                let x = (lowest[0][lane] & 7) + i;
                brick[x as usize % 8] |= if x < 8 { slice[lane] } else { 0 };
            }
        }
        // The other bricks of those that reach into several.
        let mut others = [(0u8, 0u8); 7 * LANES];
        let mut count = 0;
        for lane in 0..len.min(LANES) {
            for neighbor in 1..8 {
                others[count] = (lane as u8, neighbor);
                count += usize::from(neighbor & !crossing[lane] == 0);
            }
        }
        for &(lane, neighbor) in &others[..count] {
            let lane = lane as usize % LANES;
            let lo = [lowest[0][lane], lowest[1][lane], lowest[2][lane]];
            let step = [i32::from(neighbor & 1), i32::from(neighbor >> 1 & 1), i32::from(neighbor >> 2)];
            let offset = |a: usize| (lo[a] & 7) - 8 * step[a];
            let next = |a: usize| lo[a] + 8 * step[a];
            let key = BrickKey::of_voxel([next(0), next(1), next(2)]);
            set_part(self.open(key), [offset(0), offset(1), offset(2)], masks[lane]);
        }
    }

    /// All bricks that were opened, and the memory for others.
    pub(super) fn close_all(mut self) -> (Vec<Closed>, Places) {
        for place in 0..PLACES {
            if self.places.keys[place] != BrickKey::NONE {
                self.change(place, BrickKey::NONE);
            }
        }
        let closed = self.closed.iter().map(Vec::len).sum::<usize>() as u64 + self.dropped;
        let needed = closed.next_multiple_of(PORTION as u64);
        self.budget.closed.fetch_add(closed, Ordering::Relaxed);
        self.budget.needed.fetch_add(needed, Ordering::Relaxed);
        self.budget.dropped.fetch_add(self.dropped, Ordering::Relaxed);
        (self.closed, self.places)
    }

    #[inline(always)]
    fn open(&mut self, key: BrickKey) -> &mut Mask {
        let place = key.place(PLACE_BITS) % PLACES;
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
        match self.closed.last_mut() {
            Some(portion) if portion.len() < PORTION => portion.push((old, mask)),
            _ if self.budget.take_portion() => {
                let mut portion = Vec::with_capacity(PORTION);
                portion.push((old, mask));
                self.closed.push(portion);
            }
            _ => self.dropped += 1,
        }
    }
}

/// Of a slice of 4 x 4 voxels, of which the lowest is at `y` and `z` of a brick, those in the brick.
#[inline(always)]
fn in_brick(slice: BlockMask, [y, z]: [i32; 2]) -> u64 {
    // Of each row what does not cross into the next.
    let row = 0xF & (0xFF >> z);
    (rows_of_eight(slice) & (row * 0x0101_0101)) << (8 * y + z)
}

/// Sets in `brick` what of a block lies in it, the block's lowest voxel being at `offset`, from -3
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
