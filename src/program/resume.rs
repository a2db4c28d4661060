//! `--resume`: skips a mesh whose output this run would make again.
//!
//! A run with `--resume` writes a record of each output file to a hidden folder beside it. The file
//! itself cannot tell its origin: it is a function of the grid alone. There is one record per file,
//! so that concurrent runs in one folder, perhaps over a network, do not share records.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::program::cli::{Job, PaletteArgs, VoxelArgs};
use crate::program::plan::Task;
use crate::program::summary::{Contents, Skipped};
use crate::program::temporary::{TemporaryFile, folder_of};
use crate::program::transform::{Transform, place_options};

/// The folder of records.
const FOLDER: &str = ".voxelize";

/// The record of an output file.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    origin: Origin,
    /// A hash of the file's bytes.
    bytes: String,
    contents: Contents,
}

/// The origin of voxels as a text: mesh, options and version. Equal origins give equal voxels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    version: String,
    mesh: String,
    options: String,
}

impl Origin {
    /// The origin of the voxels that `job` makes of `mesh` in its present state.
    ///
    /// # Errors
    /// There is no such file.
    pub fn new(job: &Job, voxels: &VoxelArgs, few: &PaletteArgs, mesh: &Path) -> io::Result<Self> {
        let (path, file) = (fs::canonicalize(mesh)?, fs::metadata(mesh)?);
        let (length, changed) = (file.len(), file.modified()?);
        let Job { format, up, strict, color, distance, tile, .. } = job;
        // As text: a number survives it.
        let lattice = job.lattice.as_deref().map(fs::read_to_string).transpose()?;
        let VoxelArgs { keep_transparent: keep, interior_color: interior, .. } = voxels;
        let mode = voxels.mode();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mesh: format!("{path:?}, {length} bytes, {changed:?}"),
            options: format!(
                "{:?}, {:?}, {mode:?}, strict {strict}, {up:?} up, {format:?}, {color:?}, keep \
                 {keep}, {few:?}, {distance:?}, tile {tile:?} of {lattice:?}, interior \
                 {interior:?}",
                place_options(job),
                Transform::new(job).ok()
            ),
        })
    }
}

/// The result of an earlier run of `task`, if its `origin` is the same and its file is unchanged.
pub fn kept(task: &Task, origin: &Origin) -> Option<Skipped> {
    let target = task.target.as_deref().filter(|target| target.is_file())?;
    let note: Note = serde_json::from_slice(&fs::read(note_of(target)?).ok()?).ok()?;
    let is_as_left = || hash_of(target).is_ok_and(|bytes| bytes == note.bytes);
    let is_kept = note.origin == *origin && is_as_left();
    is_kept.then(|| Skipped::new(&task.mesh, target, note.contents))
}

/// Writes a record that `target` has this `origin`. Devices and pipes have none.
///
/// # Errors
/// The record cannot be written.
pub fn remember(target: &Path, origin: Origin, contents: Contents) -> Result<()> {
    let Some(path) = note_of(target).filter(|_| target.is_file()) else {
        return Ok(());
    };
    let note = Note { origin, bytes: hash_of(target)?, contents };
    fs::create_dir_all(folder_of(&path)).with_context(|| path.display().to_string())?;
    let file = TemporaryFile::beside(&path)?;
    serde_json::to_writer(file.file(), &note)?;
    file.finish(&path).with_context(|| path.display().to_string())
}

/// The path of the record of `target`.
fn note_of(target: &Path) -> Option<PathBuf> {
    let mut name = target.file_name()?.to_owned();
    name.push(".json");
    Some(folder_of(target).join(FOLDER).join(name))
}

/// A hash of a file's content, computed in little memory.
fn hash_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
