//! `--resume`: skips a mesh whose output this run would make again.
//!
//! A run with `--resume` writes a record of each output file to a hidden folder beside it. The file
//! itself cannot tell its origin: it is a function of the grid alone. There is one record per file,
//! so that concurrent runs in one folder, perhaps over a network, do not share records.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use trivox::formats::temporary::{folder_of, sweep_once};
use trivox::formats::{Sidecar, replace_file};

use crate::grids::Contents;
use crate::inputs::Task;
use crate::summary::Outcome;
use crate::text::{path_text, shown};

/// The folder of records.
const FOLDER: &str = ".voxelize";

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    origin: Origin,
    /// By path relative to the mesh's folder: the hash of a sidecar file, or `None` for a file that
    /// was looked for and did not exist.
    sidecars: BTreeMap<PathBuf, Option<String>>,
    /// A hash of the file's bytes.
    bytes: String,
    contents: Contents,
    #[serde(flatten)]
    remarks: Remarks,
}

/// What a later run says again of an output that it keeps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Remarks {
    pub doubtful: bool,
    pub warnings: Vec<String>,
}

/// The origin of voxels: mesh, options and version. With the same sidecar files, equal origins give
/// equal voxels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    version: String,
    /// A hash of the file's bytes.
    mesh: String,
    /// The format of the file.
    extension: Option<String>,
    options: String,
}

impl Origin {
    /// The origin of the voxels that `options` make of `mesh` in its present state.
    pub fn new(options: &str, mesh: &Path) -> io::Result<Self> {
        if !fs::metadata(mesh)?.is_file() {
            return Err(io::Error::other("the mesh is a pipe, which can be read only once"));
        }
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mesh: hash_of(mesh)?,
            extension: mesh.extension().map(|end| end.to_string_lossy().into_owned()),
            options: options.to_owned(),
        })
    }
}

/// The result of an earlier run of `task`, if that had the same `origin`, and neither the sidecar
/// files nor the output have changed since.
pub fn kept(task: &Task, origin: &Origin) -> Option<Outcome> {
    let target = task.target.as_deref().filter(|target| target.is_file())?;
    let path = record_of(target);
    // Writing a record sweeps the folder, but no record is written if all outputs are kept.
    sweep_once(folder_of(&path));
    let record: Record = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let is_as_left = |path: &Path, bytes: &str| hash_of(path).is_ok_and(|now| now == bytes);
    let is_as_read = |(path, bytes): (&PathBuf, &Option<String>)| {
        let path = folder_of(&task.mesh).join(path);
        match bytes {
            Some(bytes) => is_as_left(&path, bytes),
            None => !path.is_file(),
        }
    };
    let is_kept = record.origin == *origin
        && record.sidecars.iter().all(is_as_read)
        && is_as_left(target, &record.bytes);
    is_kept.then(|| Outcome::Skipped {
        mesh: path_text(&task.mesh),
        skipped: true,
        reason: "complete, of this mesh with these options",
        output: path_text(target),
        contents: record.contents,
        remarks: record.remarks,
    })
}

/// Writes a record that the file of `task` has this `origin` and these sidecar files. Devices and
/// pipes have none. Fails if the mesh, `modified` before it was read, or a sidecar file was changed
/// since.
pub fn remember(
    task: &Task,
    origin: io::Result<Origin>,
    modified: Option<SystemTime>,
    sidecars: &[Sidecar],
    contents: Contents,
    remarks: Remarks,
) -> Result<()> {
    let origin = origin?;
    check_unchanged(&task.mesh, modified)?;
    let Some(target) = task.target.as_deref().filter(|target| target.is_file()) else {
        return Ok(());
    };
    let path = record_of(target);
    let folder = &folder_of(&task.mesh);
    let used = sidecars.iter().filter(|sidecar| sidecar.is_used);
    let sidecars = used.map(|sidecar| state_of(sidecar, folder)).collect::<Result<_>>()?;
    let record = Record { origin, sidecars, bytes: hash_of(target)?, contents, remarks };
    fs::create_dir_all(folder_of(&path)).with_context(|| shown(&path))?;
    let write =
        |out: &mut dyn Write| Ok(serde_json::to_writer(out, &record).map_err(io::Error::from)?);
    replace_file(&path, write).with_context(|| shown(&path))
}

/// The path of a sidecar file, relative to the `folder` of its mesh if it lies there, and its hash.
fn state_of(sidecar: &Sidecar, folder: &Path) -> Result<(PathBuf, Option<String>)> {
    let Sidecar { path, modified, .. } = sidecar;
    let named = || shown(path);
    let bytes = modified.map(|_| hash_of(path)).transpose().with_context(named)?;
    check_unchanged(path, *modified)?;
    // Some readers know a file by its absolute path.
    let inside = path.strip_prefix(folder).ok().map(Path::to_owned);
    let inside = inside.or_else(|| {
        let [path, folder] = [path, folder].map(|path| fs::canonicalize(path).ok());
        Some(path?.strip_prefix(folder?).ok()?.to_owned())
    });
    Ok((inside.unwrap_or_else(|| path.clone()), bytes))
}

/// The time of the last change of a file; `None` without one.
pub fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

fn check_unchanged(path: &Path, before: Option<SystemTime>) -> Result<()> {
    ensure!(modified(path) == before, "{} was changed while it was read", shown(path));
    Ok(())
}

fn record_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".json");
    folder_of(target).join(FOLDER).join(name)
}

/// A hash of a file's content, computed in little memory.
fn hash_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use trivox::VoxelGrid;

    #[test]
    fn a_mesh_that_was_changed_while_it_was_read_has_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        let [mesh, target] = ["a.obj", "a.vox"].map(path);
        for file in [&mesh, &target] {
            fs::write(file, "content").unwrap();
        }
        let task = Task { target: Some(target), ..Task::from(mesh.clone()) };
        let hash = VoxelGrid::empty([1; 3]).unwrap().hash();
        let remember = |modified| {
            let contents = Contents { dims: [1; 3], occupied: 0, hash };
            remember(&task, Origin::new("", &mesh), modified, &[], contents, Remarks::default())
        };
        let before = modified(&mesh);
        remember(before).unwrap();
        let error = remember(before.map(|time| time - std::time::Duration::from_secs(1)));
        assert!(error.unwrap_err().to_string().ends_with("a.obj was changed while it was read"));
    }
}
