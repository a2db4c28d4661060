//! Sections: one layer of a grid, row by row. At most eight rows are in memory at a time.

use super::brick::{BRICK, FIRST_Z, Mask, count, is_empty, mask_voxels};
use super::{BrickRun, VoxelGrid, run_bounds, union_bounds};
use crate::base::srgb::Rgba;

/// The layer of voxels with one coordinate along an axis.
///
/// ```
/// use trivox::VoxelGrid;
///
/// let grid = VoxelGrid::from_voxels([3, 2, 9], [[2, 0, 7], [0, 1, 7]])?;
/// let section = grid.section(2, 7).expect("a layer of the grid");
/// let cell = |color: &Option<_>| if color.is_some() { '#' } else { '.' };
/// let rows: Vec<String> =
///     section.rows([0; 4]).map(|row| row.iter().map(cell).collect()).collect();
/// assert_eq!(rows, ["#..", "..#"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    grid: &'a VoxelGrid,
    axis: usize,
    index: u32,
}

impl VoxelGrid {
    /// The layer with coordinate `index` along `axis`, 0 for x; `None` where the grid has none.
    #[must_use]
    pub fn section(&self, axis: usize, index: u32) -> Option<Section<'_>> {
        let is_inside = self.dims.get(axis).is_some_and(|&dim| index < dim);
        is_inside.then_some(Section { grid: self, axis, index })
    }
}

impl Section<'_> {
    /// The axes to the right and upwards: x and y across z, x and z across y, y and z across x.
    #[must_use]
    pub fn plane(&self) -> [usize; 2] {
        across(self.axis)
    }

    /// Voxels along the axes of the plane.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.plane().map(|axis| self.grid.dims[axis])
    }

    /// The number of occupied voxels.
    #[must_use]
    pub fn occupied(&self) -> u64 {
        let runs = self.runs(None);
        runs.map(|run| u64::from(count(&run.mask)) * u64::from(run.len)).sum()
    }

    /// Smallest and largest occupied voxel along the axes of the plane; `None` if it is empty.
    #[must_use]
    pub fn bounds(&self) -> Option<[[u32; 2]; 2]> {
        let runs = self.runs(None);
        let bounds = runs.map(|run| run_bounds(run.start, run.len, &run.mask));
        bounds
            .reduce(union_bounds)
            .map(|ends| ends.map(|voxel| self.plane().map(|axis| voxel[axis])))
    }

    /// The rows from the top, each from the left: the colours of voxels, `None` where a voxel is
    /// empty. `default` is the colour of all voxels of a grid without colours.
    pub fn rows(&self, default: Rgba) -> impl Iterator<Item = Vec<Option<Rgba>>> {
        let [_, height] = self.size();
        let bands = (0..height.div_ceil(BRICK)).rev();
        bands.flat_map(move |band| {
            let mut rows = self.band(band, default);
            rows.truncate((height - band * BRICK).min(BRICK) as usize);
            rows.into_iter().rev()
        })
    }

    /// The eight rows of the bricks at brick height `band`, from the lowest up.
    fn band(&self, band: u32, default: Rgba) -> Vec<Vec<Option<Rgba>>> {
        let [right, up] = self.plane();
        let mut rows = vec![vec![None; self.size()[0] as usize]; BRICK as usize];
        let colors = self.grid.colors.as_ref();
        for BrickRun { start, len, mask } in self.runs(Some(band)) {
            for key in (0..len).map(|n| start.along_x(n)) {
                let colors = colors.map(|colors| colors.of_brick(key));
                for voxel in mask_voxels(key.first_voxel(), mask) {
                    let color = colors.map_or(default, |colors| colors.of(voxel));
                    rows[(voxel[up] % BRICK) as usize][voxel[right] as usize] = Some(color);
                }
            }
        }
        rows
    }

    /// The runs of the section's voxels, of all bricks or of those at brick height `band`.
    fn runs(&self, band: Option<u32>) -> impl Iterator<Item = BrickRun> {
        let [_, up] = self.plane();
        let mut from = [0; 3];
        let mut to = self.grid.dims.map(|d| d.div_ceil(BRICK));
        let layers = [(self.axis, Some(self.index / BRICK)), (up, band)];
        for (axis, brick) in layers {
            if let Some(brick) = brick {
                (from[axis], to[axis]) = (brick, brick + 1);
            }
        }
        let layer_mask = layer(self.axis, (self.index % BRICK) as usize);
        let within = move |run: BrickRun| {
            let mask = std::array::from_fn(|x| run.mask[x] & layer_mask[x]);
            (!is_empty(&mask)).then_some(BrickRun { mask, ..run })
        };
        self.grid.brick_runs_in(from, to).filter_map(within)
    }
}

/// The axes other than `axis`, in order.
pub(crate) fn across(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

/// The voxels of a brick whose coordinate along `axis` is `i`.
fn layer(axis: usize, i: usize) -> Mask {
    std::array::from_fn(|x| match axis {
        0 => u64::MAX * u64::from(x == i),
        1 => 0xff << (8 * i),
        _ => FIRST_Z << i,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::grid::{BrickKey, Colors, FULL};
    use fastrand::Rng;

    /// Full and random bricks; the colour of each voxel encodes its position.
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
        let voxels = bricks.iter().flat_map(|&(key, mask)| mask_voxels(key.first_voxel(), mask));
        let grid = VoxelGrid::from_voxels(dims, voxels.filter(inside(dims))).unwrap();
        let colors = grid.bricks().map(|(key, mask)| {
            let own = mask_voxels(key.first_voxel(), mask).map(color_of);
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
