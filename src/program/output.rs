//! Writing a file so that it is whole or not there: to a temporary file beside it, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use trivox::VoxelGrid;
use trivox::formats::{GridFormat, WriteError, write_grid};

use crate::program::numbers::grouped;
use crate::program::of_stdout;
use crate::program::unfinished::{Unfinished, folder_of};

/// Where a grid goes, known to be possible before the work begins.
#[derive(Debug, Clone)]
pub struct Output {
    /// As the user named it.
    name: String,
    target: Target,
    format: GridFormat,
}

#[derive(Debug, Clone)]
enum Target {
    Stdout,
    /// A regular file, there or not.
    File(PathBuf),
    /// Something that cannot be replaced by renaming: a device, a pipe.
    Stream(PathBuf),
}

impl Output {
    /// Checks that `path` names a format and a place that can be written, and is not `input`.
    ///
    /// # Errors
    /// No known extension; a folder; a folder that is not there or not writable.
    pub fn new(path: &Path, format: Option<GridFormat>, input: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let format = format.context("standard output: give the format with --format")?;
            let name = "standard output".to_owned();
            return Ok(Self { name, target: Target::Stdout, format });
        }
        let name = path.display().to_string();
        let named = || name.clone();
        if path.is_dir() {
            return Err(anyhow!("is a folder: name a file in it")).with_context(named);
        }
        let format = match format {
            Some(format) => format,
            None => GridFormat::of_path(path).map_err(anyhow::Error::msg).with_context(named)?,
        };
        let target = target_of(path).with_context(named)?;
        if fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(input).is_ok_and(|i| i == path))
        {
            return Err(anyhow!("is what is read: name another file")).with_context(named);
        }
        Ok(Self { name, target, format })
    }

    /// The format of what is written.
    pub fn format(&self) -> GridFormat {
        self.format
    }

    /// Checks that the format can hold a grid of `dims` voxels, and the disk its file, if its size
    /// is known by now.
    ///
    /// # Errors
    /// It cannot.
    pub fn check_dims(&self, dims: [u32; 3]) -> Result<()> {
        let named = || self.name.clone();
        self.format.check_dims(dims).with_context(named)?;
        match (&self.target, self.format.file_size(dims)) {
            (Target::File(path), Some(size)) => check_space(path, size).with_context(named),
            _ => Ok(()),
        }
    }

    /// Writes `grid`, and returns how many bytes that was. Whatever fails, a file that was there
    /// before is untouched, and one that was not is not there.
    ///
    /// # Errors
    /// The format cannot hold the grid, or the operating system cannot write it.
    pub fn write(&self, grid: &VoxelGrid) -> Result<u64> {
        let written = match &self.target {
            Target::Stdout => {
                return self.write_to(grid, io::stdout().lock()).map_err(|error| match error {
                    WriteError::Io(error) => of_stdout(error),
                    other => other.into(),
                });
            }
            Target::Stream(path) => self.write_stream(grid, path),
            Target::File(path) => self.write_file(grid, path),
        };
        written.with_context(|| self.name.clone())
    }

    fn write_stream(&self, grid: &VoxelGrid, path: &Path) -> Result<u64> {
        Ok(self.write_to(grid, File::options().write(true).open(path)?)?)
    }

    fn write_file(&self, grid: &VoxelGrid, path: &Path) -> Result<u64> {
        let file = Unfinished::beside(path)?;
        let bytes = self.write_to(grid, file.file())?;
        file.finish(path)?;
        Ok(bytes)
    }

    fn write_to(&self, grid: &VoxelGrid, out: impl Write) -> Result<u64, WriteError> {
        let mut out = Counted { out: BufWriter::with_capacity(1 << 20, out), bytes: 0 };
        write_grid(grid, self.format, &mut out)?;
        out.flush()?;
        Ok(out.bytes)
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

fn target_of(path: &Path) -> Result<Target> {
    let path = behind_links(path)?;
    match fs::metadata(&path) {
        Ok(there) if !there.is_file() => Ok(Target::Stream(path)),
        Ok(there) if there.permissions().readonly() => bail!("is read-only"),
        _ => {
            Unfinished::beside(&path)?;
            Ok(Target::File(path))
        }
    }
}

/// Checks that there is space for a file of `size` bytes.
fn check_space(path: &Path, size: u64) -> Result<()> {
    // Where the system does not tell, writing will.
    match fs4::available_space(folder_of(path)) {
        Ok(space) if space < size => bail!(
            "the file would have at least {} bytes, but there is space for {}: use a sparse format \
             (.vox), or a lower resolution",
            grouped(size),
            grouped(space)
        ),
        _ => Ok(()),
    }
}

/// Links that one name may lead through; the operating systems' own limit.
const MAX_LINKS: usize = 40;

/// The file that `path` leads to, there or not: renaming over a link would replace the link.
pub fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    bail!("leads through too many links")
}

struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
