//! The destination of a file: standard output, a stream, or a file that is replaced once the new
//! one is complete. None of the files that a run reads is replaced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::engine::Placed;
use trivox::formats::temporary::TemporaryFile;
use trivox::formats::{GridFormat, WriteError, replaceable, write_counted};
use trivox::{ColorSource, Voxelizer};

use crate::console::{StdoutClosed, stdout_error};
use crate::text::{escaped, path_text, shown};

/// The destination of a file, checked before the work begins.
#[derive(Debug, Clone)]
pub struct Sink {
    /// The path as the user gave it, for JSON.
    pub name: String,
    target: Target,
}

/// The files that a run reads, which its outputs must not replace.
#[derive(Debug, Clone, Default)]
pub struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// The files of `paths` that exist.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        Self(paths.into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect())
    }

    /// With more files.
    pub fn with<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> Self {
        let mut inputs = self.clone();
        inputs.0.extend(Self::new(paths).0);
        inputs
    }

    fn refuse(&self, path: &Path) -> Result<()> {
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
    pub fn new(path: &Path, inputs: &Inputs) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { name: "standard output".to_owned(), target: Target::Stdout });
        }
        let name = path_text(path);
        let named = || escaped(&name);
        let target = match fs::metadata(path) {
            Ok(old) if !old.is_file() && !old.is_dir() => Target::Stream(path.to_owned()),
            _ => {
                let path = replaceable(path).with_context(named)?;
                TemporaryFile::beside(&path).with_context(named)?;
                Target::File(path)
            }
        };
        inputs.refuse(path).with_context(named)?;
        Ok(Self { name, target })
    }

    /// Its name in messages.
    pub fn shown(&self) -> String {
        escaped(&self.name)
    }

    /// The file that is replaced, which may not exist yet.
    pub fn file(&self) -> Option<&Path> {
        match &self.target {
            Target::File(path) => Some(path),
            Target::Stdout | Target::Stream(_) => None,
        }
    }

    /// Writes the output of `write`; a file does not replace an existing one yet.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<Written> {
        let named = || self.shown();
        let mut file = None;
        let bytes = match &self.target {
            Target::Stdout => write_counted(io::stdout().lock(), write).map_err(of_stdout)?,
            Target::Stream(path) => File::options()
                .write(true)
                .open(path)
                .map_err(WriteError::from)
                .and_then(|stream| write_counted(stream, write))
                .with_context(named)?,
            Target::File(path) => {
                let new = replaceable(path).and_then(|path| TemporaryFile::beside(&path));
                file.insert(new.with_context(named)?).write(write).with_context(named)?
            }
        };
        Ok(Written { name: self.name.clone(), bytes, file })
    }
}

/// The reader of standard output closed it before the end of the file.
#[derive(Debug, thiserror::Error)]
#[error(
    "standard output: its reader closed it before the file was complete: let it read to the end, \
     or write to a file"
)]
pub struct StdoutClosedEarly;

fn of_stdout(error: WriteError) -> anyhow::Error {
    match error {
        WriteError::Io(error) => match stdout_error(error) {
            error if error.is::<StdoutClosed>() => StdoutClosedEarly.into(),
            error => error,
        },
        other => other.into(),
    }
}

/// A complete output. A file replaces an existing one in [`finish`](Self::finish); until then it
/// has a temporary name.
#[derive(Debug, Serialize)]
#[must_use = "an unfinished file is removed"]
pub struct Written {
    #[serde(rename = "output")]
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    #[serde(skip)]
    file: Option<TemporaryFile>,
}

impl Written {
    /// Renames the file.
    pub fn finish(mut self) -> Result<Self> {
        if let Some(file) = self.file.take() {
            file.finish().with_context(|| escaped(&self.name))?;
        }
        Ok(self)
    }
}

/// Refuses to replace a sidecar file of the meshes at `paths`, which `voxelizer` placed. If it read
/// the meshes without colours, their material files and images are looked for only if a file of
/// `sinks` exists under an extension other than a grid's.
pub fn refuse_sidecars<'a>(
    sinks: &[&Sink],
    paths: impl Iterator<Item = &'a Path>,
    voxelizer: &Voxelizer,
    placed: &Placed,
) -> Result<()> {
    let mut inputs = Inputs::new(placed.sidecars.iter().map(|sidecar| &*sidecar.path));
    let may_be_image = |file: &Path| file.is_file() && GridFormat::of_path(file).is_err();
    let mut replaced = sinks.iter().filter_map(|sink| sink.file());
    if !voxelizer.read_options().appearance && replaced.any(may_be_image) {
        let in_color = voxelizer.clone().color(ColorSource::Mesh);
        // A pipe cannot be read again.
        for path in paths.filter(|path| path.is_file()) {
            let loaded = in_color.load(path).with_context(|| shown(path))?;
            inputs = inputs.with(loaded.sidecars.iter().map(|sidecar| &*sidecar.path));
        }
    }
    for sink in sinks {
        if let Some(file) = sink.file() {
            inputs.refuse(file).with_context(|| sink.shown())?;
        }
    }
    Ok(())
}

/// Refuses to write both the report, as JSON, and the file `output` to standard output.
pub fn refuse_shared_stdout(is_json: bool, output: &Path) -> Result<()> {
    if is_json && output == Path::new("-") {
        bail!("--json and -o - both write to standard output: leave one of them out");
    }
    Ok(())
}

pub fn refuse_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("is a folder: name a file in it");
    }
    Ok(())
}
