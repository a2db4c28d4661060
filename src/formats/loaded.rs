//! Meshes and grids that were read.

use crate::formats::sidecars::Sidecar;
use crate::grid::VoxelGrid;
use crate::mesh::Mesh;

/// A mesh, and warnings about content that was ignored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedMesh {
    /// The mesh.
    pub mesh: Mesh,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
    /// The files on disk that the reader looked for besides the mesh's own.
    pub sidecars: Vec<Sidecar>,
}

impl LoadedMesh {
    /// A mesh without sidecar files.
    pub(super) fn new(mesh: Mesh, warnings: Vec<String>) -> Self {
        Self { mesh, warnings, sidecars: Vec::new() }
    }
}

/// A grid, and warnings about content that was ignored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedGrid {
    /// The grid.
    pub grid: VoxelGrid,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
    /// Of one of several files: the dimensions of the grid that they make together. The last warning
    /// says so.
    pub whole: Option<[u32; 3]>,
}

impl LoadedGrid {
    pub(super) fn new(grid: VoxelGrid, warnings: Vec<String>) -> Self {
        Self { grid, warnings, whole: None }
    }
}
