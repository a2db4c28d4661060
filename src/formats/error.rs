//! Results and errors of reading and writing files.

use thiserror::Error;

use crate::formats::sidecars::Sidecar;
use crate::grid::GridError;
use crate::grid::VoxelGrid;
use crate::mesh::Mesh;
use crate::mesh::MeshError;

/// Why a file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// One line of a text file is malformed.
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The content is malformed, or not of this format.
    #[error("{0}")]
    Content(String),
    /// The content is well-formed but not a valid mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The content is well-formed but not a valid grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Reading may exceed the memory limit.
    #[error(
        "reading it may take {} MB of memory, but {} MB are left for that: allow more, or divide \
         the mesh into several files", .needed.div_ceil(1_000_000), .limit / 1_000_000
    )]
    Memory {
        /// An upper bound of bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// No reader for this extension.
    #[error("{0}")]
    Unsupported(String),
}

/// A mesh, and warnings about content that was ignored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh.
    pub mesh: Mesh,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
    /// The files on disk that the reader looked for besides the mesh's own.
    pub sidecars: Vec<Sidecar>,
}

impl Loaded {
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
}

/// Why a grid could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The format cannot hold this grid.
    #[error("{0}")]
    Unsupported(String),
}
