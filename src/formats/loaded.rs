//! Meshes and grids that were read.

use std::fmt;

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
    /// Set if the file holds a part of a grid that was written as several files. Its text is also
    /// one of the warnings.
    pub part: Option<Part>,
}

/// A part of a grid that is written as several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The index of its first voxel in the whole grid.
    pub from: [u32; 3],
    /// The dimensions of the whole grid.
    pub of: [u32; 3],
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, of: [x, y, z] } = self;
        write!(f, "it is a part of a grid of {x}x{y}x{z} voxels, from voxel {from:?} on")
    }
}

impl LoadedGrid {
    pub(super) fn new(grid: VoxelGrid, warnings: Vec<String>) -> Self {
        Self { grid, warnings, part: None }
    }
}
