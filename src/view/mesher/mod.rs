//! Greedy meshing: the exposed faces of a grid's voxels, merged into rectangles of one colour.
//!
//! The grid is meshed in tiles of 64 voxels per axis. The faces of a tile in one plane are 64 words
//! of 64 bits, found and merged by word operations: "binary greedy meshing", after M. Lysenko,
//! *Meshing in a Minecraft Game*, 2012. So a rectangle is at most 64 by 64 voxels, and memory does
//! not grow with the grid. Rectangles do not overlap, and cover every face once.
//!
//! The mesh has T-junctions, where a corner of one rectangle lies inside the side of another: the
//! surface is closed as a set of points, but not every edge is shared by two rectangles.

mod tile;

use crate::base::srgb::Rgba;
use crate::grid::{BRICK, BrickKey, VoxelGrid, count};

use tile::Tile;

/// Voxel faces in one plane with the same outward normal and one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    /// The minimum corner, in voxels; voxel `v` spans `v` to `v + 1`.
    pub min: [u32; 3],
    /// The maximum corner; along [`axis`](Self::axis) equal to `min`.
    pub max: [u32; 3],
    /// The axis of the normal: 0 for `x`.
    pub axis: usize,
    /// Whether the outward normal points to larger coordinates.
    pub is_upper: bool,
    /// The colour of its voxels; `None` if the grid has no colours.
    pub color: Option<Rgba>,
}

impl Rectangle {
    /// The corners, counter-clockwise seen from outside.
    #[must_use]
    pub fn corners(&self) -> [[u32; 3]; 4] {
        let Self { min, max, axis, .. } = *self;
        // The cyclic order of axes: counter-clockwise seen from the axis' upper end.
        let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
        let (mut right, mut left) = (min, min);
        right[a] = max[a];
        left[b] = max[b];
        if self.is_upper { [min, right, max, left] } else { [min, left, max, right] }
    }

    /// The number of voxel faces.
    #[must_use]
    pub fn faces(&self) -> u64 {
        let [a, b] = [(self.axis + 1) % 3, (self.axis + 2) % 3];
        let length = |axis: usize| u64::from(self.max[axis] - self.min[axis]);
        length(a) * length(b)
    }
}

/// Calls `take` with the rectangles of the surface of `grid`, in a fixed order. Takes 200 KB of
/// memory for any grid.
///
/// ```
/// use trivox::{VoxelGrid, view::mesher};
///
/// let grid = VoxelGrid::from_voxels([4, 1, 1], [[1, 0, 0], [2, 0, 0]])?;
/// let mut faces = Vec::new();
/// let all = mesher::rectangles(&grid, |rectangle| {
///     faces.push(rectangle.faces());
///     Ok::<(), ()>(())
/// });
/// all.expect("no error");
/// assert_eq!(faces, [1, 1, 2, 2, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first error that `take` returns.
pub fn rectangles<E>(
    grid: &VoxelGrid,
    mut take: impl FnMut(&Rectangle) -> Result<(), E>,
) -> Result<(), E> {
    rectangles_of(grid, tiles(grid).map(|(tile, _)| tile), &mut take)
}

/// Calls `take` with the rectangles of `tiles`, by their first bricks.
pub(crate) fn rectangles_of<E>(
    grid: &VoxelGrid,
    tiles: impl IntoIterator<Item = [u32; 3]>,
    take: &mut impl FnMut(&Rectangle) -> Result<(), E>,
) -> Result<(), E> {
    let mut tile = Tile::new(grid);
    for corner in tiles {
        tile.load(corner);
        tile.rectangles(take)?;
    }
    Ok(())
}

/// Bricks along the edge of a tile.
const EDGE: u32 = u64::BITS / BRICK;

/// The first brick of each tile that is not empty, and the tile's number of voxels: `x` fastest,
/// then `y`, then `z`.
pub(crate) fn tiles(grid: &VoxelGrid) -> impl Iterator<Item = ([u32; 3], u32)> + '_ {
    let [nx, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
    let every = |n: u32| (0..n).step_by(EDGE as usize);
    let layer_is_empty = move |z: u32| {
        let end = BrickKey::new([0, ny - 1, (z + EDGE).min(nz) - 1]).next_row();
        grid.brick_runs_between(BrickKey::new([0, 0, z]), end).next().is_none()
    };
    let layers = every(nz).filter(move |&z| !layer_is_empty(z));
    let rows = layers.flat_map(move |z| every(ny).map(move |y| [y, z]));
    rows.flat_map(move |[y, z]| {
        let mut voxels = vec![0; nx.div_ceil(EDGE) as usize];
        let end = [nx, (y + EDGE).min(ny), (z + EDGE).min(nz)];
        for run in grid.brick_runs_in([0, y, z], end) {
            let first = run.start.position()[0];
            (first..first + run.len).for_each(|x| voxels[(x / EDGE) as usize] += count(&run.mask));
        }
        let tiles = every(nx).zip(voxels).filter(|&(_, voxels)| voxels > 0);
        tiles.map(move |(x, voxels)| ([x, y, z], voxels)).collect::<Vec<_>>()
    })
}
