//! The acceleration structure for rays: a tree over a grid's bricks.

use std::borrow::Cow;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::grid::{BRICK, BrickKey, FULL, Mask, VoxelGrid, mask_place, mask_voxels};
#[cfg(doc)]
use crate::view::trace::Ray;

/// A cube of 8x8x8 cells: smaller nodes or, at level 1, bricks. Masks have a bit per cell, in the
/// layout of a brick's mask. In memory it is `Node` in `shaders/trace/scene.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Cells with some, not all, voxels occupied, or with all occupied in several colours.
    pub partial: Mask,
    /// Cells with all voxels occupied.
    pub full: Mask,
    /// Exclusive prefix sum of the partial cells by words of the mask.
    pub before: [u16; 8],
    /// Index of the first child: one child per partial cell, in the order of words and bits of the
    /// mask.
    pub first: u32,
    /// Index of the parent node; 0 for the root.
    pub parent: u32,
}

/// A cell of a node that is not empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell {
    /// The index of the child: a node or, at level 1, a brick.
    Partial(usize),
    Full,
}

impl Node {
    pub(crate) const EMPTY: Self =
        Self { partial: [0; 8], full: [0; 8], before: [0; 8], first: 0, parent: 0 };

    /// The index of the child in a partial cell: a node or, at level 1, a brick.
    #[inline]
    pub(crate) fn child(&self, children: &[u32], word: usize, bit: u32) -> usize {
        let before = u32::from(self.before[word]);
        let below = (self.partial[word] & ((1 << bit) - 1)).count_ones();
        children[(self.first + before + below) as usize] as usize
    }
}

/// A grid with an acceleration structure for [`Ray`]s, usable from any number of threads. It takes
/// about five bytes per brick besides the grid, and about twenty-five more while it is built.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    grid: Cow<'a, VoxelGrid>,
    /// Lowest level first; the last is the root, which contains all others and begins at the grid's
    /// minimum corner. Empty if the grid is.
    pub(crate) nodes: Vec<Node>,
    /// The child lists that [`Node::first`] indexes: nodes or, at level 1,
    /// [`bricks`](Self::bricks).
    pub(crate) children: Vec<u32>,
    /// The level of the root: its cells are `8^top` voxels wide.
    pub(crate) top: u32,
    bounds: Option<[[u32; 3]; 2]>,
    /// Full bricks whose voxels have colours of their own, sorted.
    colored: Vec<BrickKey>,
}

impl Scene<'static> {
    /// Builds the tree over `grid`, and keeps it.
    #[must_use]
    pub fn owning(grid: VoxelGrid) -> Self {
        Self::of(Cow::Owned(grid))
    }
}

impl<'a> Scene<'a> {
    /// Builds the tree over `grid`.
    #[must_use]
    pub fn new(grid: &'a VoxelGrid) -> Self {
        Self::of(Cow::Borrowed(grid))
    }

    fn of(grid: Cow<'a, VoxelGrid>) -> Self {
        let mut scene = Self {
            nodes: Vec::new(),
            children: Vec::new(),
            top: top_of(grid.dims()),
            bounds: grid.occupied_bounds(),
            colored: full_with_colors(&grid),
            grid,
        };
        let bricks = scene.bricks().enumerate().map(|(index, (key, _))| {
            // Bricks take 72 bytes, so that there are fewer than 2^32.
            Item { position: key.position(), child: Some(index as u32), len: 1 }
        });
        let mut items: Vec<Item> = bricks.collect();
        let full = scene.grid.full_runs();
        items.extend(full.flat_map(|(start, len)| full_items(start.position(), len)));
        for level in 1..=scene.top {
            items = scene.add_level(level, items);
        }
        scene
    }

    /// The grid.
    #[must_use]
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// Smallest and largest occupied voxel per axis, or `None` where there are none.
    #[must_use]
    pub fn bounds(&self) -> Option<[[u32; 3]; 2]> {
        self.bounds
    }

    /// The bricks that are partial cells: bricks that are not full, in canonical order, then full
    /// bricks whose voxels have colours of their own.
    pub fn bricks(&self) -> impl ExactSizeIterator<Item = (BrickKey, &Mask)> {
        let partial = self.grid.keys().len();
        let bricks = partial + self.colored.len();
        (0..bricks).map(move |brick| match brick.checked_sub(partial) {
            None => (self.grid.keys()[brick], self.mask(brick)),
            Some(full) => (self.colored[full], &FULL),
        })
    }

    #[inline]
    pub(crate) fn mask(&self, brick: usize) -> &Mask {
        self.grid.masks().get(brick).unwrap_or(&FULL)
    }

    /// Whether a voxel is occupied; `false` outside the grid.
    #[must_use]
    #[inline]
    pub fn contains(&self, voxel: [i32; 3]) -> bool {
        let end = 1 << (3 * (self.top + 1));
        let mut at = self.nodes.len().wrapping_sub(1);
        if self.nodes.is_empty() || voxel.iter().any(|c| !(0..end).contains(c)) {
            return false;
        }
        for level in (1..=self.top).rev() {
            let (word, bit) = mask_place(voxel.map(|c| c as u32 >> (3 * level)));
            let node = &self.nodes[at];
            if node.partial[word] >> bit & 1 == 0 {
                return node.full[word] >> bit & 1 == 1;
            }
            at = node.child(&self.children, word, bit);
        }
        let (word, bit) = mask_place(voxel.map(|c| c as u32));
        self.mask(at)[word] >> bit & 1 == 1
    }

    /// The cells of a cell that are not empty, of `level`, and the minimum voxel of each; `corner`
    /// is that of the cell.
    pub(crate) fn cells(
        &self,
        level: u32,
        cell: Cell,
        corner: [u32; 3],
    ) -> impl Iterator<Item = ([u32; 3], Cell)> {
        let node = match cell {
            Cell::Full => Node { full: FULL, ..Node::EMPTY },
            Cell::Partial(brick) if level == 0 => Node { full: *self.mask(brick), ..Node::EMPTY },
            Cell::Partial(index) => self.nodes[index],
        };
        let filled = std::array::from_fn(|x| node.partial[x] | node.full[x]);
        mask_voxels([0; 3], filled).map(move |at| {
            let (word, bit) = mask_place(at);
            let cell = match node.partial[word] >> bit & 1 {
                0 => Cell::Full,
                _ => Cell::Partial(node.child(&self.children, word, bit)),
            };
            ([0, 1, 2].map(|a| corner[a] + (at[a] << (3 * level))), cell)
        })
    }

    /// Traverses the cells that are not empty, each before the cells in it. `visit` gets a cell's
    /// minimum voxel, its side in voxels and whether it has children, and returns whether to
    /// descend.
    pub(crate) fn visit(&self, mut visit: impl FnMut([u32; 3], u32, bool) -> bool) {
        let Some(root) = self.nodes.len().checked_sub(1) else { return };
        let mut parents = vec![(self.top, root, [0; 3])];
        while let Some((level, parent, corner)) = parents.pop() {
            for (at, cell) in self.cells(level, Cell::Partial(parent), corner) {
                let is_divided = matches!(cell, Cell::Partial(_));
                if visit(at, 1 << (3 * level), is_divided)
                    && let Cell::Partial(child) = cell
                {
                    parents.push((level - 1, child, at));
                }
            }
        }
    }

    /// Adds the nodes of a level whose cells are `items`, and returns them as items of the next
    /// level.
    fn add_level(&mut self, level: u32, mut items: Vec<Item>) -> Vec<Item> {
        // Positions are in the order of bits in a node's masks.
        items.par_sort_unstable_by_key(|item| (item.node(), item.position));
        let mut nodes = Vec::new();
        for cells in items.chunk_by(|a, b| a.node() == b.node()) {
            let first = self.children.len();
            let mut node = Node { first: first as u32, ..Node::EMPTY };
            for &Item { position, child, len } in cells {
                let (word, bit) = mask_place(position);
                let mask = if child.is_some() { &mut node.partial } else { &mut node.full };
                mask[word..word + len as usize].iter_mut().for_each(|cells| *cells |= 1 << bit);
                self.children.extend(child);
            }
            for x in 0..8 {
                // Bricks with colours of their own are listed among the full ones too.
                node.full[x] &= !node.partial[x];
            }
            for x in 1..8 {
                node.before[x] = node.before[x - 1] + node.partial[x - 1].count_ones() as u16;
            }
            if level > 1 {
                let parent = self.nodes.len() as u32;
                self.children[first..]
                    .iter()
                    .for_each(|&child| self.nodes[child as usize].parent = parent);
            }
            let mut child = None;
            // A full root has a node, too.
            if node.full != FULL || level == self.top {
                // Nodes take hundreds of bytes, so that there are fewer than 2^32.
                child = Some(self.nodes.len() as u32);
                self.nodes.push(node);
            }
            nodes.push(Item { position: cells[0].node(), child, len: 1 });
        }
        nodes
    }
}

/// A cell that is not empty, or a run of full cells.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// In cells.
    position: [u32; 3],
    /// The index of the child of a partial cell; `None` for full cells.
    child: Option<u32>,
    /// Cells along `x`, in one node.
    len: u32,
}

impl Item {
    /// The position of its node, in nodes.
    fn node(&self) -> [u32; 3] {
        self.position.map(|c| c / BRICK)
    }
}

/// A run of `len` full bricks from a position on, split at the boundaries of nodes.
fn full_items([first, y, z]: [u32; 3], len: u32) -> impl Iterator<Item = Item> {
    let end = first + len;
    (first / BRICK..end.div_ceil(BRICK)).map(move |node| {
        let (from, to) = (first.max(node * BRICK), end.min((node + 1) * BRICK));
        Item { position: [from, y, z], child: None, len: to - from }
    })
}

/// The level of the smallest node that contains a grid of `dims`.
pub(crate) fn top_of(dims: [u32; 3]) -> u32 {
    let longest = dims.into_iter().fold(1, u32::max);
    (1..).find(|&top| BRICK.pow(top + 1) >= longest).unwrap_or_default()
}

fn full_with_colors(grid: &VoxelGrid) -> Vec<BrickKey> {
    let Some(colors) = &grid.colors else { return vec![] };
    let of_run = |(start, len): (BrickKey, u32)| {
        let colors = colors.between(start, start.along_x(len));
        colors.filter(|(_, colors)| colors.differs_from_rest()).map(|(key, _)| key)
    };
    grid.full_runs().flat_map(of_run).collect()
}
