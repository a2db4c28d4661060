//! Reading of colour arrays: `uint8` of shape `(nx, ny, nz, 4)`: red, green, blue and opacity in
//! sRGB, zeros for empty voxels.

use std::io::BufRead;

use super::end;
use super::header::{Element, Header};
use super::layers::NONE;
use crate::base::srgb::Rgba;
use crate::formats::grid::brick_colors::{self, ColorRun, OwnedColors};
use crate::formats::grid::slab::BrickSlab;
use crate::formats::io::bytes::fill;
use crate::formats::{ReadError, content};
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, set_bits};

/// A colour array by brick, in canonical order.
pub(in crate::formats) struct ColorArray {
    pub(in crate::formats) dims: [u32; 3],
    bricks: Vec<Brick>,
}

/// The voxels of a brick that are not all zeros.
struct Brick {
    key: BrickKey,
    mask: Mask,
    colors: OwnedColors,
}

impl Brick {
    fn color_run(&self) -> ColorRun<'_> {
        ColorRun { start: self.key, len: 1, mask: &self.mask, colors: self.colors.as_slice() }
    }

    /// Adds the voxel at bit `bit` of word `x`, after all voxels before.
    fn push(&mut self, x: usize, bit: usize, color: Rgba) {
        let count = || self.mask.iter().map(|word| word.count_ones() as usize).sum();
        match &mut self.colors {
            OwnedColors::Each(colors) => colors.push(color),
            OwnedColors::All(before) if *before == color => {}
            OwnedColors::All(before) => {
                let mut colors = vec![*before; count()];
                colors.push(color);
                self.colors = OwnedColors::Each(colors);
            }
        }
        self.mask[x] |= 1 << bit;
    }

    /// The voxels that are not fully transparent.
    fn visible(&self) -> Mask {
        match &self.colors {
            OwnedColors::All([.., 0]) => [0; 8],
            OwnedColors::All(_) => self.mask,
            OwnedColors::Each(colors) => {
                let mut colors = colors.iter();
                let mut visible = |word| {
                    let is_visible = |_: &u32| colors.next().is_some_and(|color| color[3] > 0);
                    set_bits(word).filter(is_visible).fold(0, |word, bit| word | 1 << bit)
                };
                self.mask.map(&mut visible)
            }
        }
    }
}

impl ColorArray {
    /// Reads an array.
    ///
    /// # Errors
    /// Another type or shape; too few or too many bytes.
    pub(in crate::formats) fn read(input: &mut dyn BufRead) -> Result<Self, ReadError> {
        let header = Header::read(input)?;
        match header.element {
            Element::Rgba => Self::read_after(&header, input),
            _ => Err(content("colours are uint8 of shape (nx, ny, nz, 4)")),
        }
    }

    /// Reads the array after the header.
    pub(super) fn read_after(header: &Header, input: &mut dyn BufRead) -> Result<Self, ReadError> {
        if header.is_fortran {
            return Err(content(
                "colours in Fortran order are not supported: save numpy.ascontiguousarray(them)",
            ));
        }
        let [nx, ny, nz] = header.dims;
        let all = 4 * header.voxels();
        let mut row = vec![NONE; nz as usize];
        let mut bricks = Vec::new();
        let mut slab = BrickSlab::new();
        for x in 0..nx {
            for y in 0..ny {
                let before = 4 * u64::from(nz) * (u64::from(x) * u64::from(ny) + u64::from(y));
                let bytes = row.as_flattened_mut();
                fill(
                    input,
                    bytes,
                    format_args!("the array, after {before} or more of {all} bytes"),
                )?;
                add_row(&mut slab, [x, y], &row);
            }
            if x % BRICK == BRICK - 1 || x + 1 == nx {
                bricks.extend(slab.drain().map(|(_, brick)| brick));
            }
        }
        end(input, header)?;
        bricks.sort_unstable_by_key(|brick: &Brick| brick.key);
        Ok(Self { dims: header.dims, bricks })
    }

    /// The grid of the voxels that are not fully transparent, with their colours.
    pub(in crate::formats) fn grid(&self) -> Result<VoxelGrid, ReadError> {
        let visible = self.bricks.iter().map(|brick| (brick.key, brick.visible())).collect();
        let mut grid = VoxelGrid::from_bricks(self.dims, visible)?;
        grid.colors = self.colors(&grid);
        Ok(grid)
    }

    /// The colours of the voxels of `grid`, unless they would take too much memory.
    pub(in crate::formats) fn colors(&self, grid: &VoxelGrid) -> Option<Colors> {
        brick_colors::colors(grid, self.bricks.iter().map(Brick::color_run), NONE)
    }
}

/// Adds the row along `z` at `x` and `y`.
fn add_row(slab: &mut BrickSlab<Brick>, [x, y]: [u32; 2], row: &[Rgba]) {
    let bricks = row.len().div_ceil(BRICK as usize);
    let begin = (y / BRICK) as usize * bricks;
    for (n, eight) in row.chunks(BRICK as usize).enumerate() {
        for (z, &color) in eight.iter().enumerate().filter(|&(_, &color)| color != NONE) {
            let brick = slab.get_or_insert(begin + n, || Brick {
                key: BrickKey::new([x / BRICK, y / BRICK, n as u32]),
                mask: [0; 8],
                colors: OwnedColors::All(color),
            });
            brick.push((x % BRICK) as usize, (y % BRICK) as usize * 8 + z, color);
        }
    }
}
