//! Saving files: refusals before a file is made or replaced, and long names.

use std::io::{self, Write};

use trivox::DistanceField;
use trivox::formats::{WriteError, replace_file, save_distances, save_grid};

use crate::common::prelude::*;

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
    let error = save_distances(&field, folder.path().join("a.bricks"), &NoProgress).unwrap_err();
    assert!(error.to_string().contains("cannot hold distances"), "{error}");
    assert!(files(folder.path()).is_empty());
    let path = folder.path().join("a.bricks");
    save_grid(&grid, &path).unwrap();
    assert_eq!(read_grid(&path).unwrap().grid, grid);
}
