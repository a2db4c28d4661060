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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let names = fs::read_dir(folder).unwrap().map(name);
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn long_names_are_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let name = "a".repeat(250) + ".bin";
        replace_file(folder.path().join(&name), |out| Ok(out.write_all(b"whole")?)).unwrap();
        assert_eq!(files(folder.path()), [name]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_read_only_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let error = replace_file(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("is read-only"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_folder_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let write = |_: &mut dyn Write| -> Result<(), WriteError> { panic!("called") };
        let error = replace_file(folder.path(), write).unwrap_err();
        assert!(error.to_string().starts_with("is a folder"), "{error}");
        let missing = folder.path().join("missing/a.bin");
        let error = replace_file(missing, write).unwrap_err();
        assert!(matches!(error, WriteError::Io(_)), "{error}");
    }

    #[test]
    fn the_format_is_checked_before_a_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let grid = VoxelGrid::from_voxels([4; 3], [[1; 3]]).unwrap();
        let error = save_grid(&grid, folder.path().join("a.xyz")).unwrap_err();
        assert!(error.to_string().starts_with("unknown file extension '.xyz'"), "{error}");
        let field = DistanceField::of_parts(1.0, [grid.clone(), grid.clone()], vec![0.5]).unwrap();
        let error =
            save_distances(&field, folder.path().join("a.bricks"), &NoProgress).unwrap_err();
        assert!(error.to_string().contains("cannot hold distances"), "{error}");
        assert!(files(folder.path()).is_empty());
        let path = folder.path().join("a.bricks");
        save_grid(&grid, &path).unwrap();
        assert_eq!(crate::formats::read_grid(&path).unwrap().grid, grid);
    }
}
