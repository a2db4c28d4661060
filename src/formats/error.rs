//! Errors of reading and writing files.

use std::io;

use thiserror::Error;

use crate::formats::reporting;
use crate::grid::{GridError, Place};
use crate::mesh::MeshError;
use crate::numbers::binary_bytes;
#[cfg(doc)]
use crate::progress::Progress;

/// Why a file could not be read. The message does not name the file: print `{path}: {error}`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// An I/O error.
    #[error(transparent)]
    Io(io::Error),
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
        "reading it may take {} of memory, but {} are left for that: allow more, or divide the mesh \
         into several files", binary_bytes(*.needed), binary_bytes(*.limit)
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
    /// The caller cancelled the work ([`Progress::is_cancelled`]).
    #[error("the work was cancelled")]
    Cancelled,
}

/// Why a grid could not be written. The message does not name the file, as that of [`ReadError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An I/O error.
    #[error(transparent)]
    Io(io::Error),
    /// The format cannot hold this grid.
    #[error("{0}")]
    Unsupported(String),
    /// The caller cancelled the work ([`Progress::is_cancelled`]).
    #[error("the work was cancelled")]
    Cancelled,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        if reporting::is_cancelled(&error) { Self::Cancelled } else { Self::Io(error) }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        if reporting::is_cancelled(&error) { Self::Cancelled } else { Self::Io(error) }
    }
}

/// The name of a file that no known format has; the message lists the known extensions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnknownFormat(pub(super) String);

impl From<UnknownFormat> for ReadError {
    fn from(error: UnknownFormat) -> Self {
        Self::Unsupported(error.0)
    }
}

/// Why a sidecar file is not used.
pub(super) const TOO_LARGE: &str = "it is too large for the memory that is left";

/// The beginning of a text from a file, for a message.
pub(super) fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

pub(super) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error of content that is malformed, or not of the format.
pub(super) fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

/// # Errors
/// A place where no grid can be.
pub(super) fn checked_place(place: Place) -> Result<Place, ReadError> {
    let Place { origin, voxel_size } = place;
    match place.is_possible() {
        true => Ok(place),
        false => {
            Err(content(format!("a grid cannot lie at {origin:?} with voxels of {voxel_size}")))
        }
    }
}
