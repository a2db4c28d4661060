//! Estimates the work and the memory of a mesh.

use serde::Serialize;

use crate::backend::brick_pairs;
use crate::backend::choice::NANOSECONDS_PER_PAIR;
use crate::engine::{MeshSource, Placed, VoxelizeError, Voxelizer};
use crate::grid::{BRICK, GridBuilder};

/// The estimated cost of voxelizing a mesh. No result depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Voxels along each axis; of a tile, those of the tile.
    pub dims: [u32; 3],
    /// The estimated number of (triangle, brick) pairs, the measure of the work.
    pub brick_pairs: u64,
    /// Seconds of one CPU core for the surface: 30 ns a pair. Measured models take half to twice
    /// that, and solids up to ten times.
    pub core_seconds: f64,
    /// Bytes for the placed mesh and the surface's grid, without colours: an upper bound for most
    /// meshes.
    pub memory: u64,
}

impl Voxelizer {
    /// Estimates the cost of voxelizing a mesh: places it and samples its triangles.
    ///
    /// # Errors
    /// The mesh cannot be read or placed.
    pub fn estimate<'a>(
        &self,
        source: impl Into<MeshSource<'a>>,
    ) -> Result<Estimate, VoxelizeError> {
        let Placed { mesh, .. } = self.place(source)?;
        let dims = mesh.lattice().dims;
        let brick_pairs = self.install(|| brick_pairs(&mesh))?;
        let all_bricks = dims.iter().map(|&d| u64::from(d.div_ceil(BRICK))).product();
        let vertices = size_of_val(mesh.vertices()) as u64;
        let a_brick = 2 * GridBuilder::BYTES_KEPT + GridBuilder::BYTES_TO_ADD;
        Ok(Estimate {
            dims: mesh.window_dims(),
            brick_pairs,
            core_seconds: (brick_pairs * NANOSECONDS_PER_PAIR) as f64 * 1e-9,
            memory: vertices + brick_pairs.min(all_bricks).saturating_mul(a_brick),
        })
    }
}
