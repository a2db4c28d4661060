//! Errors of reading and writing files.

use std::io;

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::escaped_except;
use crate::base::numbers::binary_bytes_apart;
#[cfg(doc)]
use crate::base::progress::Progress;
use crate::formats::io::reporting;
use crate::grid::{GridError, Place};
use crate::mesh::MeshError;

/// An error of reading a file. The message does not name the file: print `{path}: {error}`.
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
        /// The fault.
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
        "reading it may take {} of memory, but {} are left for that: allow more, or divide it into \
         several files",
        binary_bytes_apart([*needed, *limit])[0], binary_bytes_apart([*needed, *limit])[1]
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

impl ErrorCode for ReadError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => error.code(),
            Self::Line { .. } => "read.line",
            Self::Content(_) => "read.content",
            Self::Mesh(error) => error.code(),
            Self::Grid(_) => "read.grid",
            Self::Memory { .. } => "memory",
            Self::Unsupported(_) => "read.unsupported",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An error of writing a grid. The message does not name the file, as that of [`ReadError`].
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

impl ErrorCode for WriteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "write.io",
            Self::Unsupported(_) => "write.unsupported",
            Self::Cancelled => "cancelled",
        }
    }
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

/// The reason not to use a sidecar file.
pub(super) const TOO_LARGE: &str = "it is too large for the memory that is left";

/// The beginning of a text from a file, for a message. All such texts go through here.
pub(super) fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

/// The first `longest` characters of a text from a file, for a message. Control characters are
/// escaped.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => escaped_except(&text[..end], &[]) + "...",
        None => escaped_except(text, &[]),
    }
}

/// Returns with the error of malformed content, by its message.
macro_rules! bail {
    ($($message:tt)+) => {
        return Err($crate::formats::content(format!($($message)+)))
    };
}

/// Returns with the error of malformed content, by its message, unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            bail!($($message)+);
        }
    };
}

/// The error of content that is malformed, or not of the format.
pub(super) fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

/// The place, if a grid can be there.
pub(super) fn checked_place(place: Place) -> Result<Place, ReadError> {
    let Place { origin, voxel_size } = place;
    ensure!(place.is_possible(), "a grid cannot lie at {origin:?} with voxels of {voxel_size}");
    Ok(place)
}

/// The place of a file that states the corner and the voxel size by these names; a warning if it
/// states only one of them.
pub(super) fn stated_place(
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    [a, b]: [&str; 2],
) -> Result<(Option<Place>, Option<String>), ReadError> {
    match (origin, voxel_size) {
        (Some(origin), Some(voxel_size)) => {
            Ok((Some(checked_place(Place { origin, voxel_size })?), None))
        }
        (None, None) => Ok((None, None)),
        _ => {
            let warning = format!("the grid's position is ignored: it needs both {a} and {b}");
            Ok((None, Some(warning)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_files_are_bounded_and_escaped() {
        assert_eq!(excerpt("caf\u{e9} 'a'"), "caf\u{e9} 'a'");
        assert_eq!(excerpt("\u{1b}[2J\n\u{9b}\u{202e}"), "\\u{1b}[2J\\n\\u{9b}\\u{202e}");
        assert_eq!(excerpt(&"\u{e9}".repeat(41)), "\u{e9}".repeat(40) + "...");
        assert_eq!(excerpt(&"x".repeat(40)), "x".repeat(40));
    }
}
