//! The surface of a grid: the faces that occupied voxels turn to empty ones or to the outside, merged
//! into rectangles of one colour.
//!
//! The grid is taken in tiles of 64 voxels an axis, so that the faces of a tile in one plane are 64
//! words of 64 bits, and found and merged by operations on words: "binary greedy meshing", after M.
//! Lysenko, *Meshing in a Minecraft Game*, 2012. A rectangle therefore is at most 64 by 64 voxels, and
//! a grid of any size takes little memory. Rectangles do not overlap, and cover every face once.
//!
//! Where a rectangle ends in the middle of another's side, there is a T-junction: the surface is
//! closed as a set of points, but not all of its edges are those of two rectangles.

mod greedy;
mod tile;

use crate::grid::{BRICK, BrickKey, VoxelGrid};
use crate::srgb::Rgba;

use tile::Tile;

/// Faces in one plane that look the same way and have one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    /// The corner with the least coordinates; voxel `v` lies from `v` to `v + 1`.
    pub min: [u32; 3],
    /// The corner with the largest; along [`axis`](Self::axis) the same as `min`.
    pub max: [u32; 3],
    /// The axis that it stands on: 0 for `x`.
    pub axis: usize,
    /// Whether outside is towards larger coordinates.
    pub is_upper: bool,
    /// Of its voxels; `None` where the grid has no colours.
    pub color: Option<Rgba>,
}

impl Rectangle {
    /// Its corners, counter-clockwise as seen from outside.
    #[must_use]
    pub fn corners(&self) -> [[u32; 3]; 4] {
        let Self { min, max, axis, .. } = *self;
        // After x come y and z, and so on around: seen from above the axis they turn left.
        let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
        let (mut right, mut left) = (min, min);
        right[a] = max[a];
        left[b] = max[b];
        if self.is_upper { [min, right, max, left] } else { [min, left, max, right] }
    }

    /// How many faces of voxels it is.
    #[must_use]
    pub fn faces(&self) -> u64 {
        let [a, b] = [(self.axis + 1) % 3, (self.axis + 2) % 3];
        let length = |axis: usize| u64::from(self.max[axis] - self.min[axis]);
        length(a) * length(b)
    }
}

/// Gives `take` the rectangles of the surface of `grid`, always in the same order. That takes 200 KB of
/// memory, whatever the grid.
///
/// ```
/// use trivox::{VoxelGrid, mesher};
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
/// The first that `take` returns.
pub fn rectangles<E>(
    grid: &VoxelGrid,
    mut take: impl FnMut(&Rectangle) -> Result<(), E>,
) -> Result<(), E> {
    let mut tile = Tile::new(grid);
    for corner in tiles(grid) {
        tile.load(corner);
        tile.rectangles(&mut take)?;
    }
    Ok(())
}

/// Bricks along the edge of a tile.
const EDGE: u32 = u64::BITS / BRICK;

/// The first brick of each tile that holds a voxel: `x` fastest, then `y`, then `z`.
fn tiles(grid: &VoxelGrid) -> impl Iterator<Item = [u32; 3]> + '_ {
    let [nx, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
    let every = |n: u32| (0..n).step_by(EDGE as usize);
    let layer_is_empty = move |z: u32| {
        let end = BrickKey::new([0, ny - 1, (z + EDGE).min(nz) - 1]).next_row();
        grid.brick_runs_between(BrickKey::new([0, 0, z]), end).next().is_none()
    };
    let layers = every(nz).filter(move |&z| !layer_is_empty(z));
    let rows = layers.flat_map(move |z| every(ny).map(move |y| [y, z]));
    rows.flat_map(move |[y, z]| {
        let mut is_there = vec![false; nx.div_ceil(EDGE) as usize];
        let end = [nx, (y + EDGE).min(ny), (z + EDGE).min(nz)];
        for piece in grid.brick_runs_in([0, y, z], end) {
            let x = piece.start.position()[0];
            let last = x + piece.len - 1;
            is_there[(x / EDGE) as usize..=(last / EDGE) as usize].fill(true);
        }
        let found = (0..nx).step_by(EDGE as usize).zip(is_there).filter(|&(_, is_there)| is_there);
        found.map(move |(x, _)| [x, y, z]).collect::<Vec<_>>()
    })
}
