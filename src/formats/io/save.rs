//! Writes files by path.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::base::numbers::grouped;
use crate::base::progress::{NoProgress, Progress};
use crate::formats::io::checked::Checked;
#[cfg(any(unix, windows))]
use crate::formats::io::temporary::folder_of;
use crate::formats::io::temporary::{TemporaryFile, behind_links};
use crate::formats::{
    GridFormat, Reporting, WriteError, WriteOptions, write_distances, write_grid_with,
};
use crate::grid::VoxelGrid;
use crate::solid::distance::DistanceField;

/// Writes `grid` to the file at `path`, in the format of its extension, as [`replace_file`] does.
///
/// ```
/// use trivox::Voxelizer;
/// use trivox::formats::save_grid;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("cube.vox");
/// let grid = Voxelizer::new().resolution(32).run("assets/cube.obj")?.grid;
/// save_grid(&grid, &path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An extension of no format that is written; the format cannot hold the grid; the file cannot be
/// written.
pub fn save_grid(grid: &VoxelGrid, path: impl AsRef<Path>) -> Result<(), WriteError> {
    save_grid_with(grid, &WriteOptions::default(), path, &NoProgress)
}

/// [`save_grid`] with `options`. Reports bytes to `progress`.
///
/// # Errors
/// As [`save_grid`], and cancellation.
pub fn save_grid_with(
    grid: &VoxelGrid,
    options: &WriteOptions,
    path: impl AsRef<Path>,
    progress: &dyn Progress,
) -> Result<(), WriteError> {
    let format = GridFormat::of_path(&path)?;
    format.check_dims(grid.dims(), options)?;
    check_space(path.as_ref(), format.file_size(grid.dims()))?;
    replace_file(path, |out| {
        write_grid_with(grid, format, options, &mut Reporting::new(out, progress))
    })
}

/// Writes `field` to the file at `path`, as [`save_grid_with`].
///
/// # Errors
/// As [`save_grid_with`].
pub fn save_distances(
    field: &DistanceField,
    path: impl AsRef<Path>,
    progress: &dyn Progress,
) -> Result<(), WriteError> {
    let format = GridFormat::of_path(&path)?;
    format.check_distances()?;
    check_space(path.as_ref(), format.distances_size(field.dims()))?;
    replace_file(path, |out| write_distances(field, format, &mut Reporting::new(out, progress)))
}

/// Checks the free space for a file of `size` bytes at `path`, or at the target of a symbolic link.
/// An unknown size passes.
///
/// # Errors
/// The disk has less space.
#[doc(hidden)]
pub fn check_space(path: &Path, size: Option<u64>) -> Result<(), WriteError> {
    let Some(size) = size else { return Ok(()) };
    let Some(space) = available_space(&behind_links(path)?).filter(|&space| space < size) else {
        return Ok(());
    };
    let message = format!(
        "the file would have at least {} bytes, but there is space for {}: use a sparse format \
         such as .vox, or a lower resolution",
        grouped(size),
        grouped(space)
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, message).into())
}

/// The free space of the disk with `path`, in bytes; `None` if the system does not report it.
#[cfg(any(unix, windows))]
fn available_space(path: &Path) -> Option<u64> {
    fs4::available_space(folder_of(path)).ok()
}

#[cfg(not(any(unix, windows)))]
fn available_space(_path: &Path) -> Option<u64> {
    None
}

/// Writes a file in the folder of `path` with `write`, and renames it to `path` once it is complete
/// and on the disk. On failure, an existing file is unchanged, and no new one remains. A killed
/// process leaves its temporary file, `.trivox-*.tmp`; a process that writes in the folder a day
/// later removes it. The target of a symbolic link is replaced, not the link; permissions are kept.
///
/// # Errors
/// Those of `write`; `path` is a folder, a pipe, a device or read-only; the folder is not writable.
pub fn replace_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let new = TemporaryFile::beside(&replaceable(path.as_ref())?)?;
    new.write(write)?;
    new.finish()
}

/// The file that a new one at `path` replaces: the target of a symbolic link. It may be missing.
///
/// # Errors
/// A folder, a pipe, a device or a read-only file.
#[doc(hidden)]
pub fn replaceable(path: &Path) -> Result<PathBuf, WriteError> {
    let refused = |kind, message: &str| Err(io::Error::new(kind, message).into());
    match fs::metadata(path) {
        Ok(old) if old.is_dir() => {
            refused(io::ErrorKind::IsADirectory, "is a folder: name a file in it")
        }
        Ok(old) if !old.is_file() => {
            let message = "is not a regular file, and cannot be replaced: name another file";
            refused(io::ErrorKind::InvalidInput, message)
        }
        Ok(old) if old.permissions().readonly() => {
            let message = "is read-only: make it writable, or name another file";
            refused(io::ErrorKind::PermissionDenied, message)
        }
        _ => behind_links(path),
    }
}

/// Writes what `write` writes to `out`; returns the number of bytes.
///
/// # Errors
/// Errors of `write` and of `out`.
#[doc(hidden)]
pub fn write_counted(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<u64, WriteError> {
    let mut out = Checked::counted(BufWriter::with_capacity(1 << 20, out));
    write(&mut out)?;
    out.flush()?;
    Ok(out.len)
}
