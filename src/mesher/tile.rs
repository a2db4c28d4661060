//! A tile of a grid, and the rectangles of the faces of its voxels.

use super::greedy::{self, Cells, Joins, Plane};
use super::{EDGE, Rectangle};
use crate::grid::{BRICK, BrickColors, BrickKey, FULL, Mask, VoxelGrid, is_empty, set_bits};
use crate::srgb::Rgba;

/// Bricks along the edge of a tile with those around it.
const AROUND: u32 = EDGE + 2;

/// How far the next brick along each axis is in the list of masks.
const STEPS: [usize; 3] = [1, AROUND as usize, (AROUND * AROUND) as usize];

/// One byte of a word in eight.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

/// The voxels of a tile and around it.
pub(super) struct Tile<'a> {
    grid: &'a VoxelGrid,
    /// Whether voxels differ in colour.
    is_painted: bool,
    /// The colour of all voxels, if they do not.
    color: Option<Rgba>,
    /// The first brick.
    corner: [u32; 3],
    /// `x` fastest; the first of all is the brick before the first along each axis.
    masks: Vec<Mask>,
    /// The bricks that have faces.
    visible: Vec<Visible<'a>>,
}

/// A brick that has faces.
struct Visible<'a> {
    /// In the tile.
    at: [u32; 3],
    /// In the list of masks.
    index: usize,
    colors: Option<BrickColors<'a>>,
}

/// Faces of a tile that lie in one plane and look the same way.
#[derive(Debug, Clone, Copy)]
struct Side {
    axis: usize,
    /// Of the layer of voxels in the tile.
    layer: u32,
    is_upper: bool,
}

impl<'a> Tile<'a> {
    /// Nothing of `grid` yet.
    pub(super) fn new(grid: &'a VoxelGrid) -> Self {
        let colors = grid.colors.as_ref();
        Self {
            grid,
            is_painted: colors.is_some_and(|colors| !colors.is_uniform()),
            color: colors.map(|colors| colors.rest()),
            corner: [0; 3],
            masks: vec![[0; 8]; AROUND.pow(3) as usize],
            visible: Vec::with_capacity(EDGE.pow(3) as usize),
        }
    }

    /// Takes the tile whose first brick is `corner`.
    pub(super) fn load(&mut self, corner: [u32; 3]) {
        self.corner = corner;
        self.masks.fill([0; 8]);
        let bricks = self.grid.dims().map(|d| d.div_ceil(BRICK));
        let from = corner.map(|c| c.saturating_sub(1));
        let to = std::array::from_fn(|a| (corner[a] + EDGE + 1).min(bricks[a]));
        for piece in self.grid.brick_runs_in(from, to) {
            let at = piece.start.position();
            let index = index_of(std::array::from_fn(|a| at[a] + 1 - corner[a]));
            self.masks[index..index + piece.len as usize].fill(piece.mask);
        }
        self.find_visible();
    }

    fn find_visible(&mut self) {
        self.visible.clear();
        let inside = (0..EDGE.pow(3)).map(|n| [n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE]);
        for at in inside {
            let index = index_of(at.map(|c| c + 1));
            if is_hidden(&self.masks, index) {
                continue;
            }
            let key = BrickKey::new(std::array::from_fn(|a| self.corner[a] + at[a]));
            let colors = self.grid.colors.as_ref().filter(|_| self.is_painted);
            let colors = colors.map(|colors| colors.of_brick(key));
            self.visible.push(Visible { at, index, colors });
        }
    }

    /// Gives `take` the rectangles.
    pub(super) fn rectangles<E>(
        &self,
        take: &mut impl FnMut(&Rectangle) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.visible.is_empty() {
            return Ok(());
        }
        let mut colors = vec![[0; 4]; if self.is_painted { 64 * 64 } else { 0 }];
        for axis in 0..3 {
            for layer in 0..u64::BITS {
                for is_upper in [false, true] {
                    let side = Side { axis, layer, is_upper };
                    self.rectangles_of(side, &mut colors, take)?;
                }
            }
        }
        Ok(())
    }

    fn rectangles_of<E>(
        &self,
        side: Side,
        colors: &mut [Rgba],
        take: &mut impl FnMut(&Rectangle) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cells = [0; 64];
        if !self.gather(side, &mut cells, colors) {
            return Ok(());
        }
        if self.is_painted {
            let joins = joins(&cells, colors);
            greedy::rectangles(&mut cells, &joins, |found| {
                let [a, b] = found.first;
                take(&self.rectangle(side, found, Some(colors[(64 * a + b) as usize])))
            })
        } else {
            greedy::rectangles(&mut cells, &Joins::ALL, |found| {
                take(&self.rectangle(side, found, self.color))
            })
        }
    }

    /// Sets the bits of the faces of `side`, and where voxels differ in colour their colours. Whether
    /// there are any.
    fn gather(&self, side: Side, cells: &mut Plane, colors: &mut [Rgba]) -> bool {
        let [u, v] = across(side.axis);
        let mut has_faces = false;
        let is_there = |brick: &&Visible| brick.at[side.axis] == side.layer / BRICK;
        for brick in self.visible.iter().filter(is_there) {
            let faces = self.faces(brick.index, side);
            if faces == 0 {
                continue;
            }
            has_faces = true;
            let [first, shift] = [u, v].map(|axis| brick.at[axis] * BRICK);
            for (row, byte) in (first as usize..).zip(faces.to_le_bytes()) {
                cells[row] |= u64::from(byte) << shift;
            }
            let Some(own) = &brick.colors else { continue };
            for bit in set_bits(faces) {
                let (x, in_word) = voxel(side.axis, side.layer % BRICK, bit);
                let cell = 64 * (first + bit / BRICK) + shift + bit % BRICK;
                colors[cell as usize] = own.at(x, in_word);
            }
        }
        has_faces
    }

    /// The faces of a brick: bit `8 u + v` of the axes across that of the side.
    fn faces(&self, index: usize, Side { axis, layer, is_upper }: Side) -> u64 {
        let step = STEPS[axis];
        let layer = layer % BRICK;
        let next = match (is_upper, layer) {
            (true, 7) => slice(&self.masks[index + step], axis, 0),
            (true, _) => slice(&self.masks[index], axis, layer + 1),
            (false, 0) => slice(&self.masks[index - step], axis, 7),
            (false, _) => slice(&self.masks[index], axis, layer - 1),
        };
        slice(&self.masks[index], axis, layer) & !next
    }

    fn rectangle(&self, side: Side, cells: Cells, color: Option<Rgba>) -> Rectangle {
        let Side { axis, layer, is_upper } = side;
        let [u, v] = across(axis);
        let mut min = self.corner.map(|c| c * BRICK);
        min[axis] += layer + u32::from(is_upper);
        min[u] += cells.first[0];
        min[v] += cells.first[1];
        let mut max = min;
        max[u] += cells.count[0];
        max[v] += cells.count[1];
        Rectangle { min, max, axis, is_upper, color }
    }
}

/// The other two axes, in order.
fn across(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

fn index_of(at: [u32; 3]) -> usize {
    (0..3).map(|a| at[a] as usize * STEPS[a]).sum()
}

/// Whether a brick has no face: it is empty, or full among full ones.
fn is_hidden(masks: &[Mask], index: usize) -> bool {
    let is_full = |index: usize| masks[index] == FULL;
    let is_buried = || {
        is_full(index) && STEPS.iter().all(|step| is_full(index - step) && is_full(index + step))
    };
    is_empty(&masks[index]) || is_buried()
}

/// A layer of voxels that stands on `axis`: bit `8 u + v` of the axes across.
fn slice(mask: &Mask, axis: usize, layer: u32) -> u64 {
    match axis {
        0 => mask[layer as usize],
        1 => u64::from_le_bytes(mask.map(|word| (word >> (BRICK * layer)) as u8)),
        _ => u64::from_le_bytes(mask.map(|word| gathered(word >> layer))),
    }
}

/// The lowest bit of each byte.
fn gathered(word: u64) -> u8 {
    // Bit 8 i is moved by 56 - 7 i to bit 56 + i; no two of the products meet.
    ((word & LOWEST_BITS).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The word of a brick's mask, and the bit in it, of bit `bit` in a layer.
fn voxel(axis: usize, layer: u32, bit: u32) -> (u32, u32) {
    let [u, v] = [bit / BRICK, bit % BRICK];
    match axis {
        0 => (layer, bit),
        1 => (u, BRICK * layer + v),
        _ => (u, BRICK * v + layer),
    }
}

/// Which of `cells` have the colour of those beside them.
fn joins(cells: &Plane, colors: &[Rgba]) -> Joins {
    let mut joins = Joins { along: [0; 64], across: [0; 64] };
    for (a, &row) in cells.iter().enumerate() {
        for b in set_bits(row) {
            let cell = 64 * a + b as usize;
            // What lies beside may be no face; then the colour there has no effect.
            let is_like = |other: Option<usize>| {
                let other = other.and_then(|other| colors.get(other));
                u64::from(other == Some(&colors[cell]))
            };
            joins.along[a] |= is_like(Some(cell + 1)) << b;
            joins.across[a] |= is_like(cell.checked_sub(64)) << b;
        }
    }
    joins
}
