//! The tree that OpenVDB and NanoVDB share, over a grid that stays as it is.
//!
//! K. Museth, "VDB: High-Resolution Sparse Volumes with Dynamic Topology" (ACM Transactions on
//! Graphics 32, 2013). A *leaf* is 8 voxels along each axis, and its mask is a brick's mask as it is:
//! word = `x`, bit = `8 y + z`. A *lower* node is 16 leaves along each axis, an *upper* node 32
//! lower nodes, and the *root* lists upper nodes. What is full is no node but a *tile* in the node
//! above: of 8, 128 or 4096 voxels along each axis; but a full brick is a leaf in the tree of colours if
//! they are not all those of the rest. Nodes come in one order at all levels: `x`
//! slowest, `z` fastest.
//!
//! Writers need the nodes several times: to count, for their masks, for their values. Each time they
//! are made again from the grid, one upper and one lower node at a time, so that they take some
//! hundred KiB whatever the grid.

use crate::formats::openvdb::channel::Channel;
use crate::grid::{BRICK, BrickKey, BrickRun, Mask, VoxelGrid, count, join, run_bounds, set_bits};

/// Bricks along a lower node's edge.
const LOWER: u32 = 16;
/// Lower nodes along an upper node's edge.
const UPPER: u32 = 32;
/// Bricks along an upper node's edge.
const UPPER_BRICKS: u32 = UPPER * LOWER;
/// Bricks in a lower node.
const LOWER_SIZE: usize = LOWER.pow(3) as usize;
/// Lower nodes in an upper node.
const UPPER_SIZE: usize = UPPER.pow(3) as usize;
/// Voxels along a leaf's edge.
pub(super) const LEAF_VOXELS: u32 = BRICK;
/// Voxels along a lower node's edge.
pub(super) const LOWER_VOXELS: u32 = LOWER * BRICK;
/// Voxels along an upper node's edge.
pub(super) const UPPER_VOXELS: u32 = UPPER_BRICKS * BRICK;

/// Smallest and largest voxel per axis.
pub(super) type Bounds = [[u32; 3]; 2];

/// How many there are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Nodes.
    pub(super) lowers: u64,
    /// Nodes.
    pub(super) leaves: u64,
    /// Full bricks in lower nodes.
    pub(super) leaf_tiles: u64,
    /// Full lower nodes in upper nodes.
    pub(super) lower_tiles: u64,
    /// Occupied voxels in leaves.
    pub(super) leaf_voxels: u64,
}

impl Counts {
    fn add(self, other: Self) -> Self {
        Self {
            lowers: self.lowers + other.lowers,
            leaves: self.leaves + other.leaves,
            leaf_tiles: self.leaf_tiles + other.leaf_tiles,
            lower_tiles: self.lower_tiles + other.lower_tiles,
            leaf_voxels: self.leaf_voxels + other.leaf_voxels,
        }
    }
}

/// An entry of the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upper {
    /// Of the least corner, in bricks.
    corner: [u32; 3],
    counts: Counts,
    pub(super) bounds: Bounds,
}

impl Upper {
    /// The least corner, in voxels.
    pub(super) fn origin(&self) -> [u32; 3] {
        self.corner.map(|b| b * BRICK)
    }

    /// Whether it is a tile of the root.
    pub(super) fn is_full(&self) -> bool {
        self.counts.lower_tiles == UPPER_SIZE as u64
    }
}

/// What a node has in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Empty,
    /// A tile.
    Full,
    /// A child.
    Node,
}

/// What an upper node's lower nodes hold, in order.
pub(super) struct Slots(Vec<Slot>);

/// How many bricks a lower node has of each kind, 4096 together at most.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    partial: u16,
    full: u16,
}

impl Slot {
    fn entry(self) -> Entry {
        match self.partial + self.full {
            0 => Entry::Empty,
            _ if usize::from(self.full) == LOWER_SIZE => Entry::Full,
            _ => Entry::Node,
        }
    }
}

impl Slots {
    fn new() -> Self {
        Self(vec![Slot::default(); UPPER_SIZE])
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + Clone {
        self.0.iter().map(|slot| slot.entry())
    }

    fn fill(&mut self, parts: impl Iterator<Item = (BrickRun, Entry)>) {
        self.0.fill(Slot::default());
        for (piece, entry) in parts {
            let [x, y, z] = piece.start.position().map(|b| b % UPPER_BRICKS);
            let end = x + piece.len;
            let column = (y / LOWER) * UPPER + z / LOWER;
            for lower in x / LOWER..end.div_ceil(LOWER) {
                let bricks = end.min((lower + 1) * LOWER) - x.max(lower * LOWER);
                let slot = &mut self.0[(lower * UPPER * UPPER + column) as usize];
                match entry {
                    Entry::Full => slot.full += bricks as u16,
                    _ => slot.partial += bricks as u16,
                }
            }
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for slot in &self.0 {
            match slot.entry() {
                Entry::Empty => {}
                Entry::Full => counts.lower_tiles += 1,
                Entry::Node => {
                    counts.lowers += 1;
                    counts.leaves += u64::from(slot.partial);
                    counts.leaf_tiles += u64::from(slot.full);
                }
            }
        }
        counts
    }
}

/// A lower node.
pub(super) struct Lower {
    /// What each brick is, in order.
    entries: Vec<Entry>,
    masks: Vec<Mask>,
    /// In bricks.
    corner: [u32; 3],
    pub(super) bounds: Bounds,
}

impl Lower {
    fn new() -> Self {
        let (entries, masks) = (vec![Entry::Empty; LOWER_SIZE], vec![[0; 8]; LOWER_SIZE]);
        Self { entries, masks, corner: [0; 3], bounds: [[0; 3]; 2] }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + Clone {
        self.entries.iter().copied()
    }

    /// Its leaves, each with its least corner in voxels.
    pub(super) fn leaves(&self) -> impl Iterator<Item = ([u32; 3], &Mask)> {
        let bricks = (0..).zip(&self.entries).zip(&self.masks);
        let leaves = bricks.filter(|&((_, &entry), _)| entry == Entry::Node);
        leaves.map(|((index, _), mask): ((u32, _), _)| {
            let place = [index / LOWER / LOWER, index / LOWER % LOWER, index % LOWER];
            (std::array::from_fn(|a| (self.corner[a] + place[a]) * BRICK), mask)
        })
    }

    fn fill(&mut self, corner: [u32; 3], parts: impl Iterator<Item = (BrickRun, Entry)>) {
        self.corner = corner;
        self.entries.fill(Entry::Empty);
        let mut bounds = None;
        for (piece, entry) in parts {
            let [x, y, z] = piece.start.position().map(|b| b % LOWER);
            for x in x..x + piece.len {
                let index = ((x * LOWER + y) * LOWER + z) as usize;
                (self.entries[index], self.masks[index]) = (entry, piece.mask);
            }
            bounds = wider(bounds, &piece);
        }
        self.bounds = bounds.unwrap_or_default();
    }
}

fn wider(bounds: Option<Bounds>, piece: &BrickRun) -> Option<Bounds> {
    let more = run_bounds(piece.start, piece.len, &piece.mask);
    Some(bounds.map_or(more, |bounds| join(bounds, more)))
}

/// The tree of a grid, or of its colours.
pub(super) struct Tree<'a> {
    pub(super) grid: &'a VoxelGrid,
    pub(super) channel: Channel<'a>,
    /// The root's entries, in order; at most 16 cubed.
    pub(super) root: Vec<Upper>,
    /// Of all.
    pub(super) counts: Counts,
}

impl<'a> Tree<'a> {
    pub(super) fn of(grid: &'a VoxelGrid, channel: Channel<'a>) -> Self {
        let [nx, ny, nz] = grid.dims().map(|d| d.div_ceil(UPPER_VOXELS));
        let mut slots = Slots::new();
        let positions = (0..nx * ny * nz).map(|i| [i / nz / ny, i / nz % ny, i % nz]);
        let mut tree = Self { grid, channel, root: Vec::new(), counts: Counts::default() };
        let uppers =
            positions.filter_map(|at| tree.upper(at.map(|p| p * UPPER_BRICKS), &mut slots));
        let root: Vec<Upper> = uppers.collect();
        let counts = root.iter().map(|upper| upper.counts).fold(Counts::default(), Counts::add);
        let of_tiles = root.iter().filter(|upper| upper.is_full()).count() * UPPER_SIZE;
        tree.counts = Counts { lower_tiles: counts.lower_tiles - of_tiles as u64, ..counts };
        tree.root = root;
        tree
    }

    /// The root's entry for the bricks at `corner`, if there are any.
    fn upper(&self, corner: [u32; 3], slots: &mut Slots) -> Option<Upper> {
        let (mut bounds, mut leaf_voxels) = (None, 0);
        let parts = self.parts(corner, UPPER_BRICKS).inspect(|(piece, entry)| {
            bounds = wider(bounds, piece);
            leaf_voxels += if *entry == Entry::Full { 0 } else { u64::from(count(&piece.mask)) };
        });
        slots.fill(parts);
        let counts = Counts { leaf_voxels, ..slots.counts() };
        Some(Upper { corner, counts, bounds: bounds? })
    }

    /// The pieces in a cube of bricks, and what each of their bricks is in its lower node.
    fn parts(&self, corner: [u32; 3], edge: u32) -> impl Iterator<Item = (BrickRun, Entry)> {
        let pieces = self.grid.brick_runs_in(corner, corner.map(|c| c + edge));
        pieces.flat_map(|piece| self.channel.cut(piece))
    }

    /// The root's nodes.
    pub(super) fn uppers(&self) -> impl Iterator<Item = &Upper> {
        self.root.iter().filter(|upper| !upper.is_full())
    }

    /// The root's tiles.
    pub(super) fn tiles(&self) -> impl Iterator<Item = &Upper> {
        self.root.iter().filter(|upper| upper.is_full())
    }

    /// The least and the greatest occupied voxel, if there is one.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        self.root.iter().map(|upper| upper.bounds).reduce(join)
    }

    /// Visits all upper nodes, with what they hold.
    pub(super) fn each_upper<E>(
        &self,
        mut visit: impl FnMut(&Upper, &Slots) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut slots = Slots::new();
        self.uppers().try_for_each(|upper| {
            slots.fill(self.parts(upper.corner, UPPER_BRICKS));
            visit(upper, &slots)
        })
    }

    /// Visits the lower nodes of an upper node.
    pub(super) fn each_lower_of<E>(
        &self,
        upper: &Upper,
        slots: &Slots,
        mut visit: impl FnMut(&Lower) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut lower = Lower::new();
        let nodes = (0..).zip(slots.entries()).filter(|&(_, entry)| entry == Entry::Node);
        for (index, _) in nodes {
            let place: [u32; 3] = [index / UPPER / UPPER, index / UPPER % UPPER, index % UPPER];
            let corner = std::array::from_fn(|a| upper.corner[a] + place[a] * LOWER);
            lower.fill(corner, self.parts(corner, LOWER));
            visit(&lower)?;
        }
        Ok(())
    }

    /// Visits all lower nodes.
    pub(super) fn each_lower<E>(
        &self,
        mut visit: impl FnMut(&Lower) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_upper(|upper, slots| self.each_lower_of(upper, slots, &mut visit))
    }
}

/// The key of the brick at `corner`, in voxels.
pub(super) fn brick_at(corner: [u32; 3]) -> BrickKey {
    BrickKey::new(corner.map(|c| c / BRICK))
}

/// Where the child at `place` lies, in voxels, in a node at `corner` of `per_axis` children along each
/// axis, each of `edge` voxels.
pub(super) fn child_corner(corner: [i32; 3], place: u32, per_axis: u32, edge: u32) -> [i32; 3] {
    let [x, y, z] = [place / per_axis / per_axis, place / per_axis % per_axis, place % per_axis];
    let [a, b, c] = corner;
    // A node of the root's lies within i32 as a whole.
    [a + (x * edge) as i32, b + (y * edge) as i32, c + (z * edge) as i32]
}

/// The places that are set in a mask.
pub(super) fn set_places(mask: &[u64]) -> impl Iterator<Item = u32> {
    (0..).zip(mask).flat_map(|(n, &word)| set_bits(word).map(move |bit| 64 * n + bit))
}
