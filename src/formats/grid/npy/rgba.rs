//! Reading of colour arrays: `uint8` of shape `(nx, ny, nz, 4)`: red, green, blue and opacity in
//! sRGB, zeros for empty voxels.

use std::io::BufRead;

use super::end;
use super::header::{Fields, Header, Kind};
use crate::base::srgb::Rgba;
use crate::formats::grid::brick_colors::{self, COLOR_BYTES, ColorRun, MaskColors, RUN_BYTES};
use crate::formats::grid::brick_slice::BrickSlice;
use crate::formats::io::bytes::{Budget, ended, fill, read_exactly};
use crate::formats::{ReadError, check_memory};
use crate::grid::{BRICK, BrickKey, Colors, Mask, VoxelGrid, count, own_values};

/// An empty voxel.
const NONE: Rgba = [0; 4];

/// A colour array by brick, in canonical order.
pub(crate) struct ColorArray {
    pub(crate) dims: [u32; 3],
    /// The voxels that are not all zeros.
    bricks: Vec<ColorRun<'static>>,
    /// Bytes of memory, with the bricks of a grid of its voxels.
    pub(crate) bytes: u64,
}

/// Appends the voxel at bit `bit` of word `x` to a brick. Returns the growth of its list of
/// colours.
fn push(brick: &mut ColorRun, x: usize, bit: usize, color: Rgba) -> u64 {
    let more = match &mut brick.colors {
        MaskColors::Each(colors) => {
            colors.to_mut().push(color);
            1
        }
        MaskColors::All(before) if *before == color => 0,
        MaskColors::All(before) => {
            let mut colors = vec![*before; count(&brick.mask) as usize];
            colors.push(color);
            let more = colors.len() as u64;
            brick.colors = MaskColors::Each(colors.into());
            more
        }
    };
    brick.mask[x] |= 1 << bit;
    more
}

/// The voxels of a brick that are not fully transparent.
fn visible(brick: &ColorRun) -> Mask {
    match &brick.colors {
        MaskColors::All([.., 0]) => [0; 8],
        MaskColors::All(_) => brick.mask,
        MaskColors::Each(colors) => {
            let mut opacities = colors.iter().map(|&[.., opacity]| opacity);
            own_values(brick.mask, 0, |_, _| opacities.next().unwrap_or_default()).0
        }
    }
}

impl ColorArray {
    pub(crate) fn read(input: &mut dyn BufRead, limit: u64) -> Result<Self, ReadError> {
        let header = Fields::read(input)?.grid()?;
        match header.element.kind {
            Kind::Rgba => Self::read_after(&header, input, limit),
            _ => bail!("colours are uint8 of shape (nx, ny, nz, 4)"),
        }
    }

    /// Reads the array after the header, in at most `limit` bytes of memory. In Fortran order all
    /// reds come first, then all greens: the array is in memory.
    pub(super) fn read_after(
        header: &Header,
        input: &mut dyn BufRead,
        limit: u64,
    ) -> Result<Self, ReadError> {
        let [nx, ny, nz] = header.dims;
        let (voxels, all) = (header.voxels(), header.bytes());
        let mut planes = Vec::new();
        if header.is_fortran {
            // A plane is there twice while its buffer grows.
            check_memory(all + voxels, limit)?;
            for n in 0..4 {
                let what = format_args!("the array, after {} or more of {all} bytes", n * voxels);
                planes.push(read_exactly(input, voxels).map_err(|error| ended(error, what))?);
            }
        }
        let mut row = vec![NONE; nz as usize];
        let mut bricks = Vec::new();
        let mut slice = BrickSlice::new();
        let (planes_bytes, mut colors, mut bytes) = (planes.len() as u64 * voxels, 0, 0);
        for x in 0..nx {
            for y in 0..ny {
                if header.is_fortran {
                    for (z, color) in row.iter_mut().enumerate() {
                        let at = (z * ny as usize + y as usize) * nx as usize + x as usize;
                        *color = std::array::from_fn(|channel| planes[channel][at]);
                    }
                } else {
                    let before = 4 * u64::from(nz) * (u64::from(x) * u64::from(ny) + u64::from(y));
                    let what = format_args!("the array, after {before} or more of {all} bytes");
                    fill(input, row.as_flattened_mut(), what)?;
                }
                colors += add_row(&mut slice, [x, y], &row);
                let runs = (bricks.len() + slice.len()) as u64;
                bytes = runs * RUN_BYTES + colors * COLOR_BYTES;
                check_memory(planes_bytes + bytes, limit)?;
            }
            if x % BRICK == BRICK - 1 || x + 1 == nx {
                bricks.extend(slice.drain().map(|(_, brick)| brick));
            }
        }
        end(input, all)?;
        bricks.sort_unstable_by_key(|brick: &ColorRun| brick.start);
        Ok(Self { dims: header.dims, bricks, bytes })
    }

    /// The grid of the voxels that are not fully transparent, with their colours.
    pub(crate) fn grid(&self, limit: u64) -> Result<VoxelGrid, ReadError> {
        let visible = self.bricks.iter().map(|brick| (brick.start, visible(brick))).collect();
        let mut grid = VoxelGrid::from_bricks(self.dims, visible)?;
        grid.colors = Some(self.colors(&grid, Budget::new(limit))?);
        Ok(grid)
    }

    /// The colours of the voxels of `grid`.
    ///
    /// # Errors
    /// They and this array exceed the memory.
    pub(crate) fn colors(&self, grid: &VoxelGrid, mut memory: Budget) -> Result<Colors, ReadError> {
        memory.used += self.bytes;
        let runs = self.bricks.iter().map(ColorRun::borrowed);
        brick_colors::colors(grid, runs, NONE, memory, u64::MAX)
    }
}

/// Adds the row along `z` at `x` and `y`. Returns the growth of the lists of colours.
fn add_row(slice: &mut BrickSlice<ColorRun>, [x, y]: [u32; 2], row: &[Rgba]) -> u64 {
    let bricks = row.len().div_ceil(BRICK as usize);
    let begin = (y / BRICK) as usize * bricks;
    let mut more = 0;
    for (n, eight) in row.chunks(BRICK as usize).enumerate() {
        for (z, &color) in eight.iter().enumerate().filter(|&(_, &color)| color != NONE) {
            let brick = slice.get_or_insert(begin + n, || ColorRun {
                start: BrickKey::new([x / BRICK, y / BRICK, n as u32]),
                len: 1,
                mask: [0; 8],
                colors: MaskColors::All(color),
            });
            more += push(brick, (x % BRICK) as usize, (y % BRICK) as usize * 8 + z, color);
        }
    }
    more
}
