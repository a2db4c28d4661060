//! File formats: one module each, and the table by extension.

pub mod npy;
pub mod obj;
pub mod vox;

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use thiserror::Error;

use crate::error::{GridError, MeshError};
use crate::grid::VoxelGrid;
use crate::mesh::Mesh;

/// Why a file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system could not read it.
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
    /// Reading could take more memory than it may.
    #[error(
        "reading it may take {} MB of memory, but {} MB are left for that: allow more, or divide \
         the mesh into several files", .needed.div_ceil(1_000_000), .limit / 1_000_000
    )]
    Memory {
        /// Bytes, at most.
        needed: u64,
        /// Bytes that it may take.
        limit: u64,
    },
    /// No reader for this extension.
    #[error("{0}")]
    Unsupported(String),
}

/// A mesh, and what its file said that had no effect.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The mesh.
    pub mesh: Mesh,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
}

/// A grid, and what its file said that had no effect.
#[derive(Debug, Clone)]
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
    /// The operating system could not write it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The format cannot hold this grid.
    #[error("{0}")]
    Unsupported(String),
}

/// The formats that grids are written to and read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridFormat {
    /// MagicaVoxel.
    Vox,
    /// NumPy.
    Npy,
}

impl GridFormat {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Vox, Self::Npy];

    /// The file extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Vox => "vox",
            Self::Npy => "npy",
        }
    }

    /// Whether the format can hold a grid of `dims` voxels.
    ///
    /// # Errors
    /// It cannot; the message says how large a grid can be.
    pub fn check_dims(self, dims: [u32; 3]) -> Result<(), WriteError> {
        match self {
            Self::Vox => vox::check_dims(dims),
            Self::Npy => Ok(()),
        }
    }

    /// Bytes of a file that holds a grid of `dims` voxels, where that depends on nothing else.
    #[must_use]
    pub fn file_size(self, dims: [u32; 3]) -> Option<u64> {
        match self {
            Self::Vox => None,
            Self::Npy => Some(npy::file_size(dims)),
        }
    }

    /// The format that a file of this name has.
    ///
    /// # Errors
    /// No extension, or an unknown one; the message lists those that are known.
    pub fn of_path(path: &Path) -> Result<Self, String> {
        Self::of_extension(&extension_of(path))
    }

    /// The format that files with this extension, in lower case and without the dot, have.
    ///
    /// # Errors
    /// As [`of_path`](Self::of_path).
    pub fn of_extension(extension: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.extension() == extension);
        found.ok_or_else(|| unknown_extension(extension, &Self::ALL.map(Self::extension)))
    }
}

/// The extensions of meshes that are read.
pub const MESH_EXTENSIONS: [&str; 1] = ["obj"];

/// Whether a file of this name is read as a mesh.
#[must_use]
pub fn is_mesh(path: &Path) -> bool {
    MESH_EXTENSIONS.contains(&extension_of(path).as_str())
}

/// The beginning of what a file says, for a message about it: long enough to find it by.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn extension_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn unknown_extension(extension: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    let known = known.join(", ");
    match extension {
        "" => format!("no file extension: use one of {known}"),
        _ => format!("unknown file extension '.{extension}': use one of {known}"),
    }
}

/// Reads the mesh in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid mesh.
pub fn read_mesh(path: &Path) -> Result<Loaded, ReadError> {
    check_mesh_path(path)?;
    obj::read(std::fs::read(path)?, path)
}

/// Reads the mesh in the file at `path`, if that takes at most `limit` bytes of memory at any time,
/// the file's text included. What it may take is found from the text, in a fifth of the time of
/// reading or less; it is about twice what most meshes do take.
///
/// # Errors
/// It could take more ([`ReadError::Memory`]); all that [`read_mesh`] refuses.
pub fn read_mesh_within(path: &Path, limit: u64) -> Result<Loaded, ReadError> {
    check_mesh_path(path)?;
    obj::read_within(bytes_within(path, limit)?, path, limit)
}

/// The bytes of a file, in at most `limit` bytes of memory.
fn bytes_within(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path)?;
    let needed = file.metadata()?.len();
    if needed > limit {
        return Err(ReadError::Memory { needed, limit });
    }
    // A pipe has no length. Its buffer doubles when it is full, and is there twice while it does.
    let most = if needed > 0 { needed } else { limit / 3 };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(needed as usize).map_err(std::io::Error::from)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ReadError::Content(format!(
            "holds more than the {most} bytes that it may: copy it to a file that nothing writes to, \
             or allow more memory"
        )));
    }
    Ok(bytes)
}

fn check_mesh_path(path: &Path) -> Result<(), ReadError> {
    let extension = extension_of(path);
    if path.is_dir() {
        Err(ReadError::Unsupported("is a folder: name a file in it".into()))
    } else if MESH_EXTENSIONS.contains(&extension.as_str()) {
        Ok(())
    } else {
        Err(ReadError::Unsupported(unknown_extension(&extension, &MESH_EXTENSIONS)))
    }
}

/// Reads the grid in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid grid.
pub fn read_grid(path: &Path) -> Result<LoadedGrid, ReadError> {
    if path.is_dir() {
        return Err(ReadError::Unsupported("is a folder: name a file in it".into()));
    }
    let mut file = BufReader::new(File::open(path)?);
    match GridFormat::of_path(path).map_err(ReadError::Unsupported)? {
        GridFormat::Vox => vox::read(&mut file),
        GridFormat::Npy => Ok(LoadedGrid { grid: npy::read(&mut file)?, warnings: Vec::new() }),
    }
}

/// Writes `grid` to `out`. The same grid gives the same bytes. Whatever the grid and the format, that
/// takes no more than 4 MiB of memory.
///
/// # Errors
/// `out` fails, or the format cannot hold the grid.
pub fn write_grid(
    grid: &VoxelGrid,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    match format {
        GridFormat::Vox => vox::write(grid, out),
        GridFormat::Npy => npy::write(grid, out),
    }
}
