//! `--resume`: whether a mesh's voxels are there already, as this run would make them.
//!
//! A run with `--resume` leaves a note of each file that it writes, in a hidden folder beside it. The
//! file itself cannot say where it comes from: it is a function of the grid alone. Each file has a
//! note of its own, so that runs that share a folder, perhaps over a network, do not share notes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::program::cli::{FewColors, Job, What};
use crate::program::plan::Task;
use crate::program::summary::{Contents, Skipped};
use crate::program::temporary::{TemporaryFile, folder_of};
use crate::program::transform::{Transform, place_options};

/// The folder for notes.
const FOLDER: &str = ".voxelize";

/// What is known of a file of voxels.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    origin: Origin,
    /// A hash of the file's bytes.
    bytes: String,
    contents: Contents,
}

/// What voxels are made of and how, in words: equal for those that are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    version: String,
    mesh: String,
    options: String,
}

impl Origin {
    /// Of what `job` makes of `mesh`, `what` it is, as that is now.
    ///
    /// # Errors
    /// There is no such mesh.
    pub fn new(job: &Job, what: &What, few: &FewColors, mesh: &Path) -> io::Result<Self> {
        let (path, file) = (fs::canonicalize(mesh)?, fs::metadata(mesh)?);
        let (length, changed) = (file.len(), file.modified()?);
        let Job { format, up, strict, color, tile, .. } = job;
        // As text: a number survives it.
        let lattice = job.lattice.as_deref().map(fs::read_to_string).transpose()?;
        let (mode, keep, interior) = (what.mode(), what.keep_transparent, what.interior_color);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mesh: format!("{path:?}, {length} bytes, {changed:?}"),
            options: format!(
                "{:?}, {:?}, {mode:?}, strict {strict}, {up:?} up, {format:?}, {color:?}, keep {keep}, \
                 {few:?}, tile {tile:?} of {lattice:?}, interior {interior:?}",
                place_options(job),
                Transform::new(job).ok()
            ),
        })
    }
}

/// What an earlier run made of `task`, if that had this `origin`, and its file is as it left it.
pub fn kept(task: &Task, origin: &Origin) -> Option<Skipped> {
    let target = task.target.as_deref().filter(|target| target.is_file())?;
    let note: Note = serde_json::from_slice(&fs::read(note_of(target)?).ok()?).ok()?;
    let is_as_left = || hash_of(target).is_ok_and(|bytes| bytes == note.bytes);
    let is_kept = note.origin == *origin && is_as_left();
    is_kept.then(|| Skipped::new(&task.mesh, target, note.contents))
}

/// Leaves a note that `target`, just written, has this `origin`. There are none of devices and pipes.
///
/// # Errors
/// It cannot be written.
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

/// The file for a note of `target`.
fn note_of(target: &Path) -> Option<PathBuf> {
    let mut name = target.file_name()?.to_owned();
    name.push(".json");
    Some(folder_of(target).join(FOLDER).join(name))
}

/// A hash of the bytes of a file, whatever its size in little memory.
fn hash_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
