//! A tile of a grid, and the greedy decomposition of its faces, planes of 64 by 64 bits, into
//! rectangles.

use super::{EDGE, Rectangle};
use crate::base::srgb::Rgba;
use crate::grid::{
    BRICK, BrickColors, BrickKey, Colors, FIRST_Z, FULL, Mask, VoxelGrid, across, bits_of_bytes,
    is_empty, set_bits,
};

/// Bricks along the edge of a tile with its border.
const PADDED: u32 = EDGE + 2;

/// The strides of `masks` along each axis.
const STRIDES: [usize; 3] = [1, PADDED as usize, (PADDED * PADDED) as usize];

/// The voxels of a tile and of a border of one brick.
pub(super) struct Tile<'a> {
    grid: &'a VoxelGrid,
    /// The colours of voxels if they differ.
    varied: Option<&'a Colors>,
    /// The colour of all voxels if they do not.
    color: Option<Rgba>,
    /// The first brick, in bricks of the grid.
    corner: [u32; 3],
    /// `x` fastest, border included.
    masks: Vec<Mask>,
    /// The bricks that have faces.
    visible: Vec<Visible<'a>>,
}

struct Visible<'a> {
    /// Position in the tile, in bricks.
    at: [u32; 3],
    /// Index in `masks`.
    index: usize,
    colors: Option<BrickColors<'a>>,
}

/// The faces of a tile in one plane with the same outward normal.
#[derive(Debug, Clone, Copy)]
struct Side {
    axis: usize,
    /// The layer of voxels along `axis`, from 0 in the tile.
    layer: u32,
    is_upper: bool,
}

impl<'a> Tile<'a> {
    pub(super) fn new(grid: &'a VoxelGrid) -> Self {
        let colors = grid.colors.as_ref();
        Self {
            grid,
            varied: colors.filter(|colors| !colors.is_uniform()),
            color: colors.map(Colors::rest),
            corner: [0; 3],
            masks: vec![[0; 8]; PADDED.pow(3) as usize],
            visible: Vec::with_capacity(EDGE.pow(3) as usize),
        }
    }

    /// Loads the tile whose first brick is `corner`.
    pub(super) fn load(&mut self, corner: [u32; 3]) {
        self.corner = corner;
        self.masks.fill([0; 8]);
        let bricks = self.grid.dims().map(|d| d.div_ceil(BRICK));
        let from = corner.map(|c| c.saturating_sub(1));
        let to = std::array::from_fn(|a| (corner[a] + EDGE + 1).min(bricks[a]));
        for run in self.grid.brick_runs_in(from, to) {
            let at = run.start.position();
            let index = index_of(std::array::from_fn(|a| at[a] + 1 - corner[a]));
            self.masks[index..index + run.len as usize].fill(run.mask);
        }
        self.visible.clear();
        let inside = (0..EDGE.pow(3)).map(|n| [n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE]);
        for at in inside {
            let index = index_of(at.map(|c| c + 1));
            if is_hidden(&self.masks, index) {
                continue;
            }
            let key = BrickKey::new(std::array::from_fn(|a| self.corner[a] + at[a]));
            let colors = self.varied.map(|colors| colors.of_brick(key));
            self.visible.push(Visible { at, index, colors });
        }
    }

    /// Calls `take` with the rectangles of all sides.
    pub(super) fn rectangles<E>(
        &self,
        take: &mut impl FnMut(&Rectangle) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.visible.is_empty() {
            return Ok(());
        }
        let mut colors = vec![[0; 4]; if self.varied.is_some() { 64 * 64 } else { 0 }];
        for (axis, brick) in (0..3).flat_map(|axis| (0..EDGE).map(move |brick| (axis, brick))) {
            let visible = self.visible.iter().filter(|visible| visible.at[axis] == brick);
            let bricks: Vec<&Visible> = visible.collect();
            if bricks.is_empty() {
                continue;
            }
            for layer in BRICK * brick..BRICK * (brick + 1) {
                for is_upper in [false, true] {
                    let side = Side { axis, layer, is_upper };
                    self.rectangles_of(side, &bricks, &mut colors, take)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `take` with the rectangles of `side`; `bricks` are the visible bricks in its layer.
    fn rectangles_of<E>(
        &self,
        side: Side,
        bricks: &[&Visible],
        colors: &mut [Rgba],
        take: &mut impl FnMut(&Rectangle) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cells = self.collect_faces(side, bricks, colors);
        if cells == [0; 64] {
            return Ok(());
        }
        let joins = if self.varied.is_some() { joins(&cells, colors) } else { Joins::ALL };
        decompose(&mut cells, &joins, |found| {
            let [a, b] = found.first;
            let own = colors.get((64 * a + b) as usize).copied();
            take(&self.rectangle(side, found, own.or(self.color)))
        })
    }

    /// Returns the faces of `side`, and writes their colours to `colors` if colours vary.
    fn collect_faces(&self, side: Side, bricks: &[&Visible], colors: &mut [Rgba]) -> Plane {
        let [u, v] = across(side.axis);
        let mut cells = [0; 64];
        for brick in bricks {
            let faces = self.faces(brick.index, side);
            if faces == 0 {
                continue;
            }
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
        cells
    }

    /// The faces of a brick: bit `8 u + v`, where `u` and `v` are the axes across that of the side.
    fn faces(&self, index: usize, Side { axis, layer, is_upper }: Side) -> u64 {
        let stride = STRIDES[axis];
        let layer = layer % BRICK;
        let next = match (is_upper, layer) {
            (true, 7) => slice(&self.masks[index + stride], axis, 0),
            (true, _) => slice(&self.masks[index], axis, layer + 1),
            (false, 0) => slice(&self.masks[index - stride], axis, 7),
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

fn index_of(at: [u32; 3]) -> usize {
    (0..3).map(|a| at[a] as usize * STRIDES[a]).sum()
}

/// Whether a brick has no faces: it is empty, or full with six full neighbours.
fn is_hidden(masks: &[Mask], index: usize) -> bool {
    let is_full = |index: usize| masks[index] == FULL;
    let is_between_full = |stride: &usize| is_full(index - stride) && is_full(index + stride);
    is_empty(&masks[index]) || is_full(index) && STRIDES.iter().all(is_between_full)
}

/// The layer of voxels across `axis`: bit `8 u + v`, where `u` and `v` are the other axes.
fn slice(mask: &Mask, axis: usize, layer: u32) -> u64 {
    match axis {
        0 => mask[layer as usize],
        1 => u64::from_le_bytes(mask.map(|word| (word >> (BRICK * layer)) as u8)),
        _ => u64::from_le_bytes(mask.map(|word| bits_of_bytes(word >> layer & FIRST_Z) as u8)),
    }
}

/// The mask word and its bit for bit `bit` of a layer.
fn voxel(axis: usize, layer: u32, bit: u32) -> (u32, u32) {
    let [u, v] = [bit / BRICK, bit % BRICK];
    match axis {
        0 => (layer, bit),
        1 => (u, BRICK * layer + v),
        _ => (u, BRICK * v + layer),
    }
}

/// Joins neighbouring `cells` of the same colour.
fn joins(cells: &Plane, colors: &[Rgba]) -> Joins {
    let mut joins = Joins { along: [0; 64], across: [0; 64] };
    for (a, &row) in cells.iter().enumerate() {
        for b in set_bits(row) {
            let cell = 64 * a + b as usize;
            // A neighbour that is no face has a stale colour, but is never merged.
            let is_same = |other: Option<usize>| {
                let other = other.and_then(|other| colors.get(other));
                u64::from(other == Some(&colors[cell]))
            };
            joins.along[a] |= is_same(Some(cell + 1)) << b;
            joins.across[a] |= is_same(cell.checked_sub(64)) << b;
        }
    }
    joins
}

/// A bit plane: bit `b` of word `a` is cell `(a, b)`.
type Plane = [u64; 64];

/// A rectangle of cells: its first cell, and the number of cells along each axis.
#[derive(Debug, Clone, Copy)]
struct Cells {
    first: [u32; 2],
    count: [u32; 2],
}

/// The pairs of neighbouring cells that may be merged.
#[derive(Debug)]
struct Joins {
    /// Bit `b` of word `a`: merge `(a, b)` with `(a, b + 1)`.
    along: Plane,
    /// Bit `b` of word `a`: merge `(a, b)` with `(a - 1, b)`.
    across: Plane,
}

impl Joins {
    /// All neighbours may be merged.
    const ALL: Self = Self { along: [u64::MAX; 64], across: [u64::MAX; 64] };
}

/// Moves rectangles from `cells` to `take` until none is left. Each grows from the first cell left,
/// first along `b`, then along `a`.
fn decompose<E>(
    cells: &mut Plane,
    joins: &Joins,
    mut take: impl FnMut(Cells) -> Result<(), E>,
) -> Result<(), E> {
    for a in 0..64 {
        while cells[a] != 0 {
            let b = cells[a].trailing_zeros();
            let continues = joins.along[a] & cells[a] >> 1;
            let length = (continues >> b).trailing_ones() + 1;
            let row = u64::MAX >> (64 - length) << b;
            let fits = |&next: &usize| cells[next] & joins.across[next] & row == row;
            let width = 1 + (a + 1..64).take_while(fits).count();
            cells[a..a + width].iter_mut().for_each(|cells| *cells &= !row);
            take(Cells { first: [a as u32, b], count: [width as u32, length] })?;
        }
    }
    Ok(())
}
