//! Sections: one layer of a grid, row by row. No more than eight rows are in memory at a time.

use super::brick::{BRICK, Mask, count, is_empty, mask_voxels};
use super::{BrickKey, BrickRun, VoxelGrid, join, run_bounds};
use crate::srgb::Rgba;

/// The layer of voxels with one coordinate along an axis.
///
/// ```
/// use trivox::VoxelGrid;
///
/// let grid = VoxelGrid::from_voxels([3, 2, 9], [[2, 0, 7], [0, 1, 7]])?;
/// let section = grid.section(2, 7).expect("a layer of the grid");
/// let draw = |row: Vec<Option<_>>| row.iter().map(|c| if c.is_some() { '#' } else { '.' }).collect();
/// let rows: Vec<String> = section.rows([0; 4]).map(draw).collect();
/// assert_eq!(rows, ["#..", "..#"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    grid: &'a VoxelGrid,
    axis: usize,
    index: u32,
    /// The layer in its bricks.
    mask: Mask,
}

impl VoxelGrid {
    /// The layer with coordinate `index` along `axis`, 0 for x; `None` where the grid has none.
    #[must_use]
    pub fn section(&self, axis: usize, index: u32) -> Option<Section<'_>> {
        let is_inside = self.dims.get(axis).is_some_and(|&dim| index < dim);
        let mask = layer(axis, (index % BRICK) as usize);
        is_inside.then_some(Section { grid: self, axis, index, mask })
    }
}

impl Section<'_> {
    /// The axes that run to the right and upwards: x and y across z, x and z across y, y and z across x.
    #[must_use]
    pub fn plane(&self) -> [usize; 2] {
        [[1, 2], [0, 2], [0, 1]][self.axis]
    }

    /// Voxels along the axes of the plane.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.plane().map(|axis| self.grid.dims[axis])
    }

    /// How many voxels of it are occupied.
    #[must_use]
    pub fn occupied(&self) -> u64 {
        let pieces = self.pieces(None);
        pieces.map(|piece| u64::from(count(&piece.mask)) * u64::from(piece.len)).sum()
    }

    /// Smallest and largest occupied voxel along the axes of the plane, if there are any.
    #[must_use]
    pub fn bounds(&self) -> Option<[[u32; 2]; 2]> {
        let pieces = self.pieces(None);
        let bounds = pieces.map(|piece| run_bounds(piece.start, piece.len, &piece.mask));
        bounds.reduce(join).map(|ends| ends.map(|voxel| self.plane().map(|axis| voxel[axis])))
    }

    /// Its rows, the topmost first, and in these from the left on the colours of voxels, `None` where one is
    /// empty; `plain` is the colour of those of a grid without colours.
    pub fn rows(&self, plain: Rgba) -> impl Iterator<Item = Vec<Option<Rgba>>> {
        let [_, height] = self.size();
        let bands = (0..height.div_ceil(BRICK)).rev();
        bands.flat_map(move |band| {
            let mut rows = self.band(band, plain);
            rows.truncate((height - band * BRICK).min(BRICK) as usize);
            rows.into_iter().rev()
        })
    }

    /// The rows of the bricks at height `band`, from the lowest up.
    fn band(&self, band: u32, plain: Rgba) -> Vec<Vec<Option<Rgba>>> {
        let [right, up] = self.plane();
        let mut rows = vec![vec![None; self.size()[0] as usize]; BRICK as usize];
        let colors = self.grid.colors.as_ref();
        for BrickRun { start, len, mask } in self.pieces(Some(band)) {
            for key in (0..len).map(|n| start.along_x(n)) {
                let colors = colors.map(|colors| colors.of_brick(key));
                for voxel in mask_voxels(base(key), mask) {
                    let [x, y, z] = voxel.map(|c| c % BRICK);
                    let color = colors.map_or(plain, |colors| colors.at(x, 8 * y + z));
                    rows[(voxel[up] % BRICK) as usize][voxel[right] as usize] = Some(color);
                }
            }
        }
        rows
    }

    /// What bricks hold of it, all or those at height `band`.
    fn pieces(&self, band: Option<u32>) -> impl Iterator<Item = BrickRun> {
        let [_, up] = self.plane();
        let mut from = [0; 3];
        let mut to = self.grid.dims.map(|d| d.div_ceil(BRICK));
        let layers = [(self.axis, Some(self.index / BRICK)), (up, band)];
        for (axis, brick) in layers {
            if let Some(brick) = brick {
                (from[axis], to[axis]) = (brick, brick + 1);
            }
        }
        let within = |piece: BrickRun| {
            let mask = std::array::from_fn(|x| piece.mask[x] & self.mask[x]);
            (!is_empty(&mask)).then_some(BrickRun { mask, ..piece })
        };
        self.grid.brick_runs_in(from, to).filter_map(within)
    }
}

fn base(key: BrickKey) -> [u32; 3] {
    key.position().map(|b| b * BRICK)
}

/// The voxels of a brick whose coordinate along `axis` is `i`.
fn layer(axis: usize, i: usize) -> Mask {
    std::array::from_fn(|x| match axis {
        0 => u64::MAX * u64::from(x == i),
        1 => 0xff << (8 * i),
        _ => 0x0101_0101_0101_0101 << i,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::grid::{Colors, FULL};
    use fastrand::Rng;

    /// Bricks that are full or scattered, each voxel in a colour that tells where it is.
    fn scattered() -> VoxelGrid {
        let mut rng = Rng::with_seed(11);
        let mut bricks = Vec::new();
        for at in (0..60).map(|i| [i % 4, i / 4 % 3, i / 12]) {
            match rng.u8(0..4) {
                0 => bricks.push((BrickKey::new(at), FULL)),
                1 => bricks.push((BrickKey::new(at), [(); 8].map(|()| rng.u64(..)))),
                _ => {}
            }
        }
        let inside = |dims: [u32; 3]| move |v: &[u32; 3]| (0..3).all(|a| v[a] < dims[a]);
        let dims = [30, 21, 37];
        let voxels = bricks.iter().flat_map(|&(key, mask)| mask_voxels(base(key), mask));
        let grid = VoxelGrid::from_voxels(dims, voxels.filter(inside(dims))).unwrap();
        let colors = grid.bricks().map(|(key, mask)| {
            let own = mask_voxels(base(key), mask).map(color_of);
            (key, mask, own.collect())
        });
        let colors = Colors::from_bricks(colors.collect(), [0; 4]);
        grid.with_colors(colors)
    }

    fn color_of(voxel: [u32; 3]) -> Rgba {
        let [x, y, z] = voxel.map(|c| c as u8);
        [x, y, z, 255]
    }

    #[test]
    fn sections_are_the_layers_of_the_grid_along_every_axis() {
        let grid = scattered();
        for axis in 0..3 {
            for index in 0..grid.dims()[axis] {
                let section = grid.section(axis, index).unwrap();
                let ([right, up], [width, height]) = (section.plane(), section.size());
                let (mut occupied, mut ends) = (0, Vec::new());
                let mut rows = section.rows([1, 2, 3, 4]);
                for j in (0..height).rev() {
                    let row = rows.next().unwrap();
                    assert_eq!(row.len(), width as usize);
                    for i in 0..width {
                        let mut voxel = [index; 3];
                        (voxel[right], voxel[up]) = (i, j);
                        let expected = grid.contains(voxel).then(|| color_of(voxel));
                        assert_eq!(row[i as usize], expected, "{voxel:?} across {axis}");
                        occupied += u64::from(expected.is_some());
                        ends.extend(expected.map(|_| [i, j]));
                    }
                }
                assert!(rows.next().is_none());
                assert_eq!(section.occupied(), occupied);
                let end = |pick: fn(u32, u32) -> u32| {
                    ends.iter().copied().reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1])])
                };
                let bounds = end(u32::min).zip(end(u32::max)).map(<[_; 2]>::from);
                assert_eq!(section.bounds(), bounds);
            }
        }
    }

    #[test]
    fn there_is_no_section_outside() {
        let grid = VoxelGrid::empty([3, 4, 5]).unwrap();
        assert!(grid.section(0, 3).is_none() && grid.section(2, 5).is_none());
        assert!(grid.section(3, 0).is_none() && grid.section(2, 4).is_some());
    }

    #[test]
    fn voxels_without_colours_are_plain() {
        let grid = VoxelGrid::from_voxels([2, 1, 1], [[1, 0, 0]]).unwrap();
        let rows: Vec<_> = grid.section(2, 0).unwrap().rows([9; 4]).collect();
        assert_eq!(rows, [vec![None, Some([9; 4])]]);
    }

    #[test]
    fn a_section_of_the_largest_grid_takes_a_row_of_memory() {
        let ends = [[0, 0, 65535], [65535, 65535, 65535]];
        let grid = VoxelGrid::from_voxels([65536; 3], ends).unwrap();
        let section = grid.section(2, 65535).unwrap();
        assert_eq!(section.occupied(), 2);
        assert_eq!(section.bounds(), Some([[0, 0], [65535, 65535]]));
        let first = section.rows([1; 4]).next().unwrap();
        assert!(first[65535].is_some() && first[0].is_none());
    }
}
