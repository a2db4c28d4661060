//! The destination of a file: standard output, a stream, or a file that is replaced once the new
//! one is complete. None of the files that a run reads is replaced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use trivox::engine::Placed;
use trivox::formats::temporary::TemporaryFile;
use trivox::formats::{GridFormat, Replacement, Sidecar, WriteError, replaceable, write_counted};
use trivox::{ColorSource, VoxelizeError, Voxelizer};

use crate::paths::path_text;
use crate::write::complete::Complete;
use crate::{StdoutClosed, stdout_error};

/// The destination of a file, checked before the work begins.
#[derive(Debug, Clone)]
pub struct Sink {
    /// The path as the user gave it.
    name: String,
    target: Target,
    inputs: Inputs,
}

/// The files that a run reads, which its outputs must not replace.
#[derive(Debug, Clone, Default)]
pub struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// Those of `paths` that exist.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        Self(paths.into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect())
    }

    /// With one more file.
    pub fn with(&self, path: &Path) -> Self {
        let mut inputs = self.clone();
        inputs.0.extend(fs::canonicalize(path).ok());
        inputs
    }

    /// The sidecar files of the mesh at `path`, which `voxelizer` placed. If it read the mesh
    /// without colours, the material files and images are looked for only if one of `replaced` may
    /// be such a file: it exists, and its extension is not that of a grid.
    ///
    /// # Errors
    /// The mesh cannot be read with colours.
    pub fn of_mesh<'a>(
        path: &Path,
        voxelizer: &Voxelizer,
        placed: &Placed,
        mut replaced: impl Iterator<Item = &'a Path>,
    ) -> Result<Self, VoxelizeError> {
        let of = |sidecars: &[Sidecar]| Self::new(sidecars.iter().map(|sidecar| &*sidecar.path));
        let may_be_image = |file: &Path| file.is_file() && GridFormat::of_path(file).is_err();
        let is_known = voxelizer.read_options().appearance;
        // A pipe cannot be read again.
        if is_known || !path.is_file() || !replaced.any(may_be_image) {
            return Ok(of(&placed.sidecars));
        }
        let in_color = voxelizer.clone().color(ColorSource::Mesh);
        Ok(of(&in_color.load_file(path)?.sidecars))
    }

    /// # Errors
    /// `path` is one of them.
    pub fn refuse(&self, path: &Path) -> Result<()> {
        match fs::canonicalize(path) {
            Ok(path) if self.0.contains(&path) => {
                bail!("would overwrite an input: name another file")
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone)]
enum Target {
    Stdout,
    /// A regular file, which may not exist yet.
    File(PathBuf),
    /// A device or pipe, which cannot be replaced by renaming.
    Stream(PathBuf),
}

impl Sink {
    /// Checks that `path` is writable and is none of `inputs`.
    ///
    /// # Errors
    /// A folder; a folder that is missing or not writable; one of `inputs`.
    pub fn new(path: &Path, inputs: &Inputs) -> Result<Self> {
        let inputs = inputs.clone();
        if path == Path::new("-") {
            return Ok(Self { name: "standard output".to_owned(), target: Target::Stdout, inputs });
        }
        let name = path_text(path);
        let named = || name.clone();
        let target = target_of(path).with_context(named)?;
        inputs.refuse(path).with_context(named)?;
        Ok(Self { name, target, inputs })
    }

    /// Checks that the file is none of `inputs`, which were not known before.
    ///
    /// # Errors
    /// The file is one of `inputs`.
    pub fn refuse(&self, inputs: &Inputs) -> Result<()> {
        let file = self.file().map_or(Ok(()), |path| inputs.refuse(path));
        file.with_context(|| self.name.clone())
    }

    /// The file that is replaced, which may not exist yet.
    pub fn file(&self) -> Option<&Path> {
        match &self.target {
            Target::File(path) => Some(path),
            Target::Stdout | Target::Stream(_) => None,
        }
    }

    /// The files that a run reads.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The path as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes the output of `write`; a file does not replace an existing one yet.
    ///
    /// # Errors
    /// Errors of `write` and of the operating system.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<Complete> {
        let named = || self.name.clone();
        let (bytes, file) = match &self.target {
            Target::Stdout => (write_stdout(write)?, None),
            Target::Stream(path) => (write_stream(path, write).with_context(named)?, None),
            Target::File(path) => {
                let file = Replacement::write(path, write).with_context(named)?;
                (file.bytes(), Some(file))
            }
        };
        Ok(Complete::one(&self.name, bytes, file))
    }
}

/// The reader of standard output closed it before the end of the file.
#[derive(Debug, thiserror::Error)]
#[error(
    "standard output: its reader closed it before the file was complete: let it read to the end, \
     or write to a file"
)]
pub struct StdoutClosedEarly;

/// # Errors
/// Both the report, as JSON, and the file `output` would go to standard output.
pub fn refuse_shared_stdout(is_json: bool, output: &Path) -> Result<()> {
    match is_json && output == Path::new("-") {
        true => bail!("--json and -o - both write to standard output: leave one of them out"),
        false => Ok(()),
    }
}

/// # Errors
/// `path` is a folder.
pub fn refuse_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("is a folder: name a file in it");
    }
    Ok(())
}

fn write_stdout(write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>) -> Result<u64> {
    write_counted(io::stdout().lock(), write).map_err(|error| match error {
        WriteError::Io(error) => match stdout_error(error) {
            error if error.is::<StdoutClosed>() => StdoutClosedEarly.into(),
            error => error,
        },
        other => other.into(),
    })
}

fn write_stream(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<u64> {
    let stream = File::options().write(true).open(path).map_err(WriteError::from)?;
    Ok(write_counted(stream, write)?)
}

fn target_of(path: &Path) -> Result<Target> {
    match fs::metadata(path) {
        Ok(old) if !old.is_file() && !old.is_dir() => Ok(Target::Stream(path.to_owned())),
        _ => {
            let path = replaceable(path)?;
            TemporaryFile::beside(&path)?;
            Ok(Target::File(path))
        }
    }
}
