//! Writes files by path.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::distance::DistanceField;
use crate::formats::{GridFormat, UnknownFormat, WriteError, write_distances, write_grid};
use crate::grid::VoxelGrid;

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
    let format = GridFormat::of_path(&path)?;
    format.check_dims(grid.dims())?;
    replace_file(path, |out| write_grid(grid, format, out))
}

/// Writes `field` to the file at `path`, in the format of its extension, as [`replace_file`] does.
///
/// # Errors
/// As [`save_grid`].
pub fn save_distances(field: &DistanceField, path: impl AsRef<Path>) -> Result<(), WriteError> {
    let format = GridFormat::of_path(&path)?;
    format.check_distances()?;
    replace_file(path, |out| write_distances(field, format, out))
}

/// Writes a file beside `path` with `write`, and renames it to `path` once it is complete and on
/// the disk. On failure, an existing file is unchanged, and no new one remains. The target of a
/// symbolic link is replaced, not the link; permissions are kept.
///
/// # Errors
/// Those of `write`; the folder cannot be written to.
pub fn replace_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    let behind_links = fs::canonicalize(path);
    let path = behind_links.as_deref().unwrap_or(path);
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    let (mut file, pending) = Pending::beside(path)?;
    let mut out = BufWriter::new(&mut file);
    write(&mut out)?;
    out.flush()?;
    drop(out);
    Ok(pending.persist(&file, path, old)?)
}

/// A file that is removed unless it is persisted.
struct Pending(PathBuf);

impl Pending {
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{count}.partial", process::id()));
        let pending = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&pending)?;
        Ok((file, Self(pending)))
    }

    fn persist(self, file: &File, path: &Path, old: Option<Permissions>) -> io::Result<()> {
        if let Some(permissions) = old {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&self.0, path)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After `persist` there is none.
        _ = fs::remove_file(&self.0);
    }
}

impl From<UnknownFormat> for WriteError {
    fn from(error: UnknownFormat) -> Self {
        Self::Unsupported(error.0)
    }
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
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        replace_file(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let failed = replace_file(&path, |out| {
            out.write_all(b"new")?;
            Err(WriteError::Unsupported("no".to_owned()))
        });
        assert!(matches!(failed, Err(WriteError::Unsupported(_))));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(folder.path()), ["a.bin"]);
        replace_file(&path, |out| Ok(out.write_all(b"newer")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(files(folder.path()), ["a.bin"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_link_is_replaced_and_keeps_its_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["a.bin", "link.bin"].map(|name| folder.path().join(name));
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        replace_file(&link, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn the_format_is_checked_before_a_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let grid = VoxelGrid::from_voxels([4; 3], [[1; 3]]).unwrap();
        let error = save_grid(&grid, folder.path().join("a.xyz")).unwrap_err();
        assert!(error.to_string().starts_with("unknown file extension '.xyz'"), "{error}");
        let field = DistanceField::of_parts(1.0, [grid.clone(), grid.clone()], vec![0.5]).unwrap();
        let error = save_distances(&field, folder.path().join("a.bricks")).unwrap_err();
        assert!(error.to_string().contains("cannot hold distances"), "{error}");
        assert!(files(folder.path()).is_empty());
        let path = folder.path().join("a.bricks");
        save_grid(&grid, &path).unwrap();
        assert_eq!(crate::formats::read_grid(&path).unwrap().grid, grid);
    }
}
