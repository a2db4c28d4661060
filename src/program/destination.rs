//! Where the voxels of each mesh of a run go: nowhere, to one file, or to files in a folder.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf, is_separator};

use anyhow::{Context, Result, anyhow, bail};
use trivox::Tile;
use trivox::formats::GridFormat;

use crate::program::output::behind_links;
use crate::program::temporary::{TemporaryFile, folder_of};

/// Where the voxels of a run's meshes go.
#[derive(Debug, Clone)]
pub enum Destination {
    /// The run only reports.
    Nowhere,
    /// The file, or whatever else has this name; `-` is standard output.
    File(PathBuf),
    /// A file for each mesh, with its name, what tells the tile, and this format's extension.
    Folder(PathBuf, GridFormat, String),
}

impl Destination {
    /// What `output` means: a folder where it is one already, where it ends as the name of one, and
    /// where there are `several` meshes, unless it has an extension: then it is likelier a mistake.
    ///
    /// # Errors
    /// Several meshes cannot go there.
    pub fn new(
        output: Option<&Path>,
        format: Option<GridFormat>,
        tile: Option<Tile>,
        several: bool,
    ) -> Result<Self> {
        let Some(path) = output else {
            return Ok(Self::Nowhere);
        };
        let to_stdout = path == Path::new("-");
        let is_folder = path.is_dir() || path.to_string_lossy().ends_with(is_separator);
        if to_stdout || !(is_folder || several) {
            if several {
                bail!("standard output takes the voxels of one mesh: name a folder");
            }
            return Ok(Self::File(path.to_owned()));
        }
        if !is_folder && (path.exists() || path.extension().is_some()) {
            return Err(anyhow!("names a file, but several meshes need a folder: end it with /"))
                .with_context(|| path.display().to_string());
        }
        // Tiles of a mesh may share the folder.
        let tile = tile.map(|tile| format!(".tile-{tile}").replace('/', "-of-"));
        let format = format.unwrap_or(GridFormat::Vox);
        Ok(Self::Folder(path.to_owned(), format, tile.unwrap_or_default()))
    }

    /// The file for each of `meshes`, where there is one.
    ///
    /// # Errors
    /// Two meshes would have the same; it is one of the meshes.
    pub fn targets(&self, meshes: &[PathBuf]) -> Result<Vec<Option<PathBuf>>> {
        let inputs: HashSet<PathBuf> = meshes.iter().map(|mesh| led_to(mesh)).collect();
        let mut meshes_by_target = HashMap::new();
        let mut targets = Vec::with_capacity(meshes.len());
        for mesh in meshes {
            let target = self.target(mesh)?;
            let key = target.as_deref().map(led_to);
            if let Some(target) =
                target.as_deref().filter(|_| key.as_ref().is_some_and(|key| inputs.contains(key)))
            {
                bail!(
                    "{}: is what is read: name another file, or a folder of its own",
                    target.display()
                );
            }
            if let Some(other) = key.and_then(|key| meshes_by_target.insert(key, mesh)) {
                let target = target.unwrap_or_default();
                bail!(
                    "{}: {} and {} would both be written there: give them folders of their own \
                     in two runs, or rename one",
                    target.display(),
                    other.display(),
                    mesh.display()
                );
            }
            targets.push(target);
        }
        Ok(targets)
    }

    fn target(&self, mesh: &Path) -> Result<Option<PathBuf>> {
        Ok(match self {
            Self::Nowhere => None,
            Self::File(path) => Some(path.clone()),
            Self::Folder(folder, format, tile) => {
                let stem = mesh.file_stem().context("is a folder: name a file in it");
                let mut name = stem.with_context(|| mesh.display().to_string())?.to_owned();
                name.push(tile);
                name.push(".");
                name.push(format.extension());
                Some(folder.join(name))
            }
        })
    }

    /// Makes the folder if it is not there, and sees that files can be written in it.
    ///
    /// # Errors
    /// They cannot.
    pub fn prepare(&self) -> Result<()> {
        let Self::Folder(folder, format, _) = self else {
            return Ok(());
        };
        let named = || folder.display().to_string();
        fs::create_dir_all(folder).context("cannot make the folder").with_context(named)?;
        TemporaryFile::beside(&folder.join(format.extension())).map(drop).with_context(named)
    }
}

/// The file that a name leads to, there or not, by the one name that all others of it have in common.
fn led_to(path: &Path) -> PathBuf {
    // What leads nowhere is told later, by its mesh.
    let path = behind_links(path).unwrap_or_else(|_| path.to_owned());
    let folder = fs::canonicalize(folder_of(&path));
    let file = folder.ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    as_the_system_compares(&file.unwrap_or(path))
}

/// A name under which two files are the same one, where the operating system takes letters of both
/// cases for the same.
fn as_the_system_compares(path: &Path) -> PathBuf {
    if cfg!(any(windows, target_os = "macos")) {
        path.to_string_lossy().to_lowercase().into()
    } else {
        path.to_owned()
    }
}
