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
    /// Its place, if the file is one of several that make a grid together. The last warning says so.
    pub part: Option<Part>,
}

/// The place of a part in a grid that is written as several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Its first voxel.
    pub from: [u32; 3],
    /// The dimensions of the whole grid.
    pub of: [u32; 3],
}

impl LoadedGrid {
    pub(super) fn new(grid: VoxelGrid, warnings: Vec<String>) -> Self {
        Self { grid, warnings, part: None }
    }
}
