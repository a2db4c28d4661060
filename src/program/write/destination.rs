//! The outputs of a run: none, one file, or files in a folder.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf, is_separator};

use anyhow::{Context, Result, anyhow, bail};
use trivox::Tile;
use trivox::formats::temporary::{TemporaryFile, behind_links, folder_of};
use trivox::formats::{GridFormat, WriteError, is_mesh};

use crate::cli::{LabelBy, VoxelizeArgs};
use crate::inputs::Task;
use crate::text::shown;

/// The parts of the name of a tile's file, before the extension.
const TILE: &str = ".tile-";
const OF: &str = "-of-";

/// The mesh and its tile that the name of a file in a folder says it is; `None` of another name.
pub fn tile_named(path: &Path) -> Option<(&str, Tile)> {
    let (mesh, tile) = path.file_stem()?.to_str()?.rsplit_once(TILE)?;
    Some((mesh, tile.replacen(OF, "/", 1).parse().ok()?))
}

/// Whether a path is a folder, or ends like the name of one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || has_separator(path)
}

fn has_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(is_separator)
}

/// The folder of the outputs of `job`: its output if that is a folder, if its name ends like one,
/// or if there are `several` meshes. With several meshes, a name with an extension is refused as a
/// likely mistake; a folder is refused for one grid of several meshes.
fn folder(job: &VoxelizeArgs, several: bool) -> Result<Option<&Path>> {
    let Some(path) = job.output.as_deref() else { return Ok(None) };
    if path == Path::new("-") {
        if several {
            bail!("standard output takes the voxels of one mesh: name a folder");
        }
        return Ok(None);
    }
    if job.label == Some(LabelBy::File) && is_folder(path) {
        bail!(
            "{}: is a folder, but --label file makes one grid: name a file in it, such as \
             parts.npz",
            shown(path)
        );
    }
    if several && !is_folder(path) && (path.exists() || path.extension().is_some()) {
        bail!(
            "{}: names a file, but several meshes need a folder: end it with /; for one grid of all \
             of them, give --label file and name a .vox or .npz",
            shown(path)
        );
    }
    if !several && path.is_dir() && !has_separator(path) && GridFormat::of_path(path).is_ok() {
        bail!("{0}: is a folder: name a file, or write {0}/ for a file in it", shown(path));
    }
    Ok((several || is_folder(path)).then_some(path))
}

/// Sets the output of each of `tasks`, if `job` has one: its file, device or standard output (`-`),
/// or files in its folder, which is returned. A file in a folder lies in the mesh's folder below
/// that, and has the mesh's name, the tile's suffix if any, and the extension of the format.
/// Refuses two meshes with one output, and an output that is one of the meshes or the
/// picture of `--preview`.
pub fn assign<'a>(
    job: &'a VoxelizeArgs,
    several: bool,
    tasks: &mut [Task],
) -> Result<Option<&'a Path>> {
    let folder = folder(job, several)?;
    let Some(output) = &job.output else { return Ok(None) };
    let extension = job.format_in_folder().extension();
    // Tiles of a mesh may share the folder.
    let suffix = job.tile.map(|tile| format!("{TILE}{tile}").replace('/', OF)).unwrap_or_default();
    let inputs: HashSet<PathBuf> = tasks.iter().map(|task| resolved(&task.mesh)).collect();
    let picture = job.preview.as_deref().filter(|path| *path != Path::new("-")).map(resolved);
    let mut meshes_by_target = HashMap::new();
    for Task { mesh, below, target, .. } in tasks.iter_mut().filter(|task| task.error.is_none()) {
        let path = match folder {
            None => output.clone(),
            Some(folder) => {
                let stem = mesh.file_stem().context("is a folder: name a file in it");
                let mut name = stem.with_context(|| shown(&*mesh))?.to_owned();
                name.push(format!("{suffix}.{extension}"));
                folder.join(below).join(name)
            }
        };
        let key = resolved(&path);
        if picture.as_ref() == Some(&key) {
            bail!(
                "{}: would be both the voxels and their picture: name another file for --preview",
                shown(&path)
            );
        }
        if inputs.contains(&key) {
            bail!(
                "{}: would overwrite an input: name another file, or a folder of its own",
                shown(&path)
            );
        }
        // Another file fails when it is read.
        if is_mesh(mesh)
            && let Some(other) = meshes_by_target.insert(key, &*mesh)
        {
            bail!(
                "{}: {} and {} would both be written there: {}",
                shown(&path),
                shown(other),
                shown(&*mesh),
                way_out(other, mesh)
            );
        }
        *target = Some(path);
    }
    Ok(folder)
}

/// Creates the folders of all outputs, `folder` among them; refuses one without write access.
pub fn prepare(folder: &Path, tasks: &[Task]) -> Result<()> {
    let targets = tasks.iter().filter_map(|task| task.target.as_deref());
    let below: BTreeSet<&Path> = targets.map(folder_of).collect();
    for folder in iter::once(folder).chain(below) {
        let named = || shown(folder);
        let made = fs::create_dir_all(folder).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                // A slash at the end would follow the link.
                let link = folder.components().as_path();
                let is_dangling = link.is_symlink() && !link.exists();
                let lies = if is_dangling { "a link that leads nowhere" } else { "a file" };
                anyhow!("{lies} lies where the folder belongs: remove it, or name another folder")
            }
            _ => anyhow::Error::from(WriteError::from(error)).context("cannot make the folder"),
        });
        made.with_context(named)?;
        // The name of the file beside it has no meaning.
        TemporaryFile::beside(&folder.join("voxels")).map(drop).with_context(named)?;
    }
    Ok(())
}

/// How two meshes get outputs of their own.
fn way_out(one: &Path, other: &Path) -> &'static str {
    if one.parent() == other.parent() {
        "leave one out, by a pattern such as '*.glb' ('set/**/*.glb' with --recursive), or \
         rename one"
    } else {
        "name a folder that holds both, or a pattern such as 'set/**/*.glb', with --recursive, to \
         keep the folders below it, or write to two folders"
    }
}

/// The canonical path of a file that may not exist yet, so that two names of one file compare
/// equal.
fn resolved(path: &Path) -> PathBuf {
    // A broken path is reported when the mesh is read.
    let path = behind_links(path).unwrap_or_else(|_| path.to_owned());
    let folder = fs::canonicalize(folder_of(&path));
    let file = folder.ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    let file = file.unwrap_or(path);
    // File names of these systems ignore case.
    if cfg!(any(windows, target_os = "macos")) {
        file.to_string_lossy().to_lowercase().into()
    } else {
        file
    }
}
