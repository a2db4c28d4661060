//! The tree that OpenVDB and NanoVDB share, generated from a grid.
//!
//! K. Museth, "VDB: High-Resolution Sparse Volumes with Dynamic Topology" (ACM Transactions on
//! Graphics 32, 2013). A *leaf* is 8 voxels along each axis, and its mask is a brick's mask: word =
//! `x`, bit = `8 y + z`. A *lower* node is 16 leaves along each axis, an *upper* node 32 lower
//! nodes, and the *root* lists upper nodes. A full node is a *tile* of the node above: 8, 128 or
//! 4096 voxels along each axis. In the tree of colours, a full brick with own colours is a leaf. At
//! all levels nodes are ordered with `x` slowest, `z` fastest.
//!
//! Writers traverse the nodes several times: to count, for masks, for values. Each time nodes are
//! generated from the grid again, one upper and one lower node at a time, in a few hundred KiB of
//! memory for any grid.

use std::io::{self, Write};

use crate::base::ordered::in_pool;
use crate::formats::grid::openvdb::channel::{Channel, Entry};
use crate::formats::grid::openvdb::record::Record;
use crate::formats::grid::openvdb::world::WorldFromIndex;
use crate::grid::{
    BRICK, BrickKey, BrickRun, Mask, VoxelGrid, count, is_empty, run_bounds, set_bits, union_bounds,
};

/// Bricks along a lower node's edge.
pub(super) const LOWER: u32 = 16;
/// Lower nodes along an upper node's edge.
const UPPER: u32 = 32;
/// Bricks along an upper node's edge.
pub(super) const UPPER_BRICKS: u32 = UPPER * LOWER;
/// Bricks in a lower node.
const LOWER_SIZE: usize = LOWER.pow(3) as usize;
/// Lower nodes in an upper node.
const UPPER_SIZE: usize = UPPER.pow(3) as usize;
/// 64-bit words of a lower node's mask.
pub(super) const LOWER_WORDS: usize = LOWER_SIZE / 64;
/// 64-bit words of an upper node's mask.
pub(super) const UPPER_WORDS: usize = UPPER_SIZE / 64;
/// Voxels along an upper node's edge.
pub(super) const UPPER_VOXELS: u32 = UPPER_BRICKS * BRICK;

/// Smallest and largest voxel per axis.
pub(super) type Bounds = [[u32; 3]; 2];

/// Numbers of nodes, tiles and voxels.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) lowers: u64,
    pub(super) leaves: u64,
    /// Full bricks in lower nodes.
    pub(super) leaf_tiles: u64,
    /// Full lower nodes in upper nodes.
    pub(super) lower_tiles: u64,
    /// Occupied voxels in leaves.
    pub(super) leaf_voxels: u64,
}

impl Counts {
    /// Adds the nodes and tiles below an upper node.
    fn add(&mut self, slots: &[Slot]) {
        for slot in slots {
            match slot.entry() {
                Entry::Empty | Entry::Inside => {}
                Entry::Full => self.lower_tiles += 1,
                Entry::Node => {
                    self.lowers += 1;
                    self.leaves += u64::from(slot.partial);
                    self.leaf_tiles += u64::from(slot.full);
                }
            }
        }
    }
}

/// An entry of the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upper {
    /// The minimum corner, in bricks.
    corner: [u32; 3],
    /// A node, or a tile: active or inside a level set.
    pub(super) entry: Entry,
    /// The bounds of the active voxels; `None` if there is none.
    pub(super) bounds: Option<Bounds>,
}

impl Upper {
    /// The minimum corner, in voxels.
    pub(super) fn origin(&self) -> [u32; 3] {
        self.corner.map(|b| b * BRICK)
    }
}

/// The numbers of bricks of each kind in a lower node, together at most 4096.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    partial: u16,
    full: u16,
    inside: u16,
}

impl Slot {
    fn entry(self) -> Entry {
        match self.partial + self.full + self.inside {
            0 => Entry::Empty,
            _ if usize::from(self.full) == LOWER_SIZE => Entry::Full,
            _ if usize::from(self.inside) == LOWER_SIZE => Entry::Inside,
            _ => Entry::Node,
        }
    }
}

/// The slots of an upper node with these runs of bricks: one for each lower node, in file order.
fn slots_of(parts: impl Iterator<Item = (BrickRun, Entry)>) -> Vec<Slot> {
    let mut slots = vec![Slot::default(); UPPER_SIZE];
    for (run, entry) in parts {
        let [x, y, z] = run.start.position().map(|b| b % UPPER_BRICKS);
        let end = x + run.len;
        let column = (y / LOWER) * UPPER + z / LOWER;
        for lower in x / LOWER..end.div_ceil(LOWER) {
            let bricks = end.min((lower + 1) * LOWER) - x.max(lower * LOWER);
            let slot = &mut slots[(lower * UPPER * UPPER + column) as usize];
            match entry {
                Entry::Full => slot.full += bricks as u16,
                Entry::Inside => slot.inside += bricks as u16,
                _ => slot.partial += bricks as u16,
            }
        }
    }
    slots
}

pub(super) struct Lower {
    /// The entry of each brick, in order.
    pub(super) entries: Vec<Entry>,
    masks: Vec<Mask>,
    /// In bricks.
    corner: [u32; 3],
    /// The bounds of the active voxels; `None` if there is none.
    pub(super) bounds: Option<Bounds>,
}

impl Lower {
    fn new() -> Self {
        let (entries, masks) = (vec![Entry::Empty; LOWER_SIZE], vec![[0; 8]; LOWER_SIZE]);
        Self { entries, masks, corner: [0; 3], bounds: None }
    }

    pub(super) fn leaves(&self) -> impl Iterator<Item = (BrickKey, &Mask)> {
        let bricks = (0..).zip(&self.entries).zip(&self.masks);
        let leaves = bricks.filter(|&((_, &entry), _)| entry == Entry::Node);
        leaves.map(|((index, _), mask)| {
            let place = child_place(index, LOWER);
            (BrickKey::new(std::array::from_fn(|a| self.corner[a] + place[a])), mask)
        })
    }

    /// Encodes and writes each leaf; a task of the pool encodes `at_once` leaves.
    pub(super) fn write_leaves(
        &self,
        at_once: usize,
        out: &mut dyn Write,
        encode: impl Fn(BrickKey, &Mask, &mut Record) + Sync,
    ) -> io::Result<()> {
        let leaves: Vec<(BrickKey, &Mask)> = self.leaves().collect();
        let encode = |leaves: &[(BrickKey, &Mask)]| {
            let mut record = Record::default();
            leaves.iter().for_each(|&(key, mask)| encode(key, mask, &mut record));
            record
        };
        in_pool(leaves.chunks(at_once), encode, |record| out.write_all(&record.0))
    }

    fn fill(&mut self, corner: [u32; 3], parts: impl Iterator<Item = (BrickRun, Entry)>) {
        self.corner = corner;
        self.entries.fill(Entry::Empty);
        self.bounds = None;
        for (run, entry) in parts {
            let [x, y, z] = run.start.position().map(|b| b % LOWER);
            for x in x..x + run.len {
                let index = ((x * LOWER + y) * LOWER + z) as usize;
                (self.entries[index], self.masks[index]) = (entry, run.mask);
            }
            self.bounds = extended(self.bounds, &run);
        }
    }
}

fn extended(bounds: Option<Bounds>, run: &BrickRun) -> Option<Bounds> {
    if is_empty(&run.mask) {
        return bounds;
    }
    let more = run_bounds(run.start, run.len, &run.mask);
    Some(bounds.map_or(more, |bounds| union_bounds(bounds, more)))
}

/// The tree of a grid, of its colours, or of distances.
pub(super) struct Tree<'a> {
    pub(super) grid: &'a VoxelGrid,
    pub(super) channel: Channel<'a>,
    /// The root's entries, in order; at most 16 cubed.
    pub(super) root: Vec<Upper>,
    /// The counts of the whole tree.
    pub(super) counts: Counts,
}

impl<'a> Tree<'a> {
    pub(super) fn of(grid: &'a VoxelGrid, channel: Channel<'a>) -> Self {
        let [nx, ny, nz] = grid.dims().map(|d| d.div_ceil(UPPER_VOXELS));
        let mut tree = Self { grid, channel, root: Vec::new(), counts: Counts::default() };
        for i in 0..nx * ny * nz {
            tree.add_upper([i / nz / ny, i / nz % ny, i % nz].map(|p| p * UPPER_BRICKS));
        }
        tree
    }

    /// Adds the root's entry for the bricks at `corner`, if it is not empty.
    fn add_upper(&mut self, corner: [u32; 3]) {
        let (mut bounds, mut leaf_voxels) = (None, 0);
        let slots = slots_of(self.entries(corner, UPPER_BRICKS).inspect(|(run, entry)| {
            bounds = extended(bounds, run);
            let voxels = u64::from(run.len) * u64::from(count(&run.mask));
            leaf_voxels += if *entry == Entry::Full { 0 } else { voxels };
        }));
        let first = slots[0].entry();
        let is_tile = slots.iter().all(|slot| slot.entry() == first);
        let entry = if is_tile { first } else { Entry::Node };
        match entry {
            Entry::Empty => return,
            Entry::Node => self.counts.add(&slots),
            // A tile of the root, without nodes.
            Entry::Full | Entry::Inside => {}
        }
        self.counts.leaf_voxels += leaf_voxels;
        self.root.push(Upper { corner, entry, bounds });
    }

    /// The runs in a cube of bricks, each with the entry of its bricks in their lower nodes.
    fn entries(&self, corner: [u32; 3], edge: u32) -> impl Iterator<Item = (BrickRun, Entry)> {
        self.channel.entries(self.grid, corner, corner.map(|c| c + edge))
    }

    pub(super) fn world_from_index(&self) -> WorldFromIndex {
        WorldFromIndex::of_place(self.grid.world.place)
    }

    pub(super) fn uppers(&self) -> impl Iterator<Item = &Upper> {
        self.root.iter().filter(|upper| upper.entry == Entry::Node)
    }

    /// The root's tiles, active or not.
    pub(super) fn tiles(&self) -> impl Iterator<Item = &Upper> {
        self.root.iter().filter(|upper| upper.entry != Entry::Node)
    }

    /// Minimum and maximum occupied voxel; `None` for an empty grid.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        self.root.iter().filter_map(|upper| upper.bounds).reduce(union_bounds)
    }

    /// Visits all upper nodes, with their entries.
    pub(super) fn each_upper(
        &self,
        mut visit: impl FnMut(&Upper, &[Entry]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.uppers().try_for_each(|upper| {
            let slots = slots_of(self.entries(upper.corner, UPPER_BRICKS));
            visit(upper, &slots.into_iter().map(Slot::entry).collect::<Vec<_>>())
        })
    }

    /// Visits the lower nodes of an upper node.
    pub(super) fn each_lower_of(
        &self,
        upper: &Upper,
        entries: &[Entry],
        mut visit: impl FnMut(&Lower) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut lower = Lower::new();
        let nodes = (0..).zip(entries).filter(|&(_, &entry)| entry == Entry::Node);
        for (index, _) in nodes {
            let place = child_place(index, UPPER);
            let corner = std::array::from_fn(|a| upper.corner[a] + place[a] * LOWER);
            lower.fill(corner, self.entries(corner, LOWER));
            visit(&lower)?;
        }
        Ok(())
    }

    /// Visits all lower nodes.
    pub(super) fn each_lower(
        &self,
        mut visit: impl FnMut(&Lower) -> io::Result<()>,
    ) -> io::Result<()> {
        self.each_upper(|upper, entries| self.each_lower_of(upper, entries, &mut visit))
    }
}

/// The place of the child with index `index` in a node with `per_axis` children along each axis.
fn child_place(index: u32, per_axis: u32) -> [u32; 3] {
    [index / per_axis / per_axis, index / per_axis % per_axis, index % per_axis]
}

/// The corner, in bricks, of the child with index `index` in a node at `corner`, whose children are
/// lower nodes or leaves of `edge` bricks.
pub(super) fn child_corner(corner: [i32; 3], index: u32, edge: u32) -> [i32; 3] {
    let place = child_place(index, if edge == LOWER { UPPER } else { LOWER });
    // Upper nodes lie entirely within i32.
    std::array::from_fn(|a| corner[a] + (place[a] * edge) as i32)
}

pub(super) fn set_indices(mask: &[u64]) -> impl Iterator<Item = u32> {
    (0..).zip(mask).flat_map(|(n, &word)| set_bits(word).map(move |bit| 64 * n + bit))
}
