//! Writing a file so that it is whole or not there: to a temporary file beside it, then renamed. Grids
//! that one file of a format cannot hold are several, written all or none.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::formats::{
    GridFormat, WriteError, WriteOptions, vox, write_distances, write_grid_with,
};
use trivox::{DistanceField, VoxelGrid};

use crate::program::files::Files;
use crate::program::numbers::{counted, grouped};
use crate::program::temporary::{TemporaryFile, folder_of};
use crate::program::{Closed, stdout_error};

/// Where a grid goes, known to be possible before the work begins.
#[derive(Debug, Clone)]
pub struct Output {
    sink: Sink,
    format: GridFormat,
}

/// Where bytes go, known to be possible before the work begins.
#[derive(Debug, Clone)]
pub struct Sink {
    /// As the user named it.
    name: String,
    target: Target,
    /// VoxelArgs is read, and must not be replaced.
    input: PathBuf,
}

/// VoxelArgs was written.
#[derive(Debug)]
pub struct Written {
    pub names: Names,
    /// Of all files together.
    pub bytes: u64,
    /// VoxelArgs the user would not expect.
    pub warning: Option<String>,
}

/// The names of the files of a grid. As JSON a text, or a list where they are several.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Names {
    One(String),
    Several(Vec<String>),
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
            return Ok(Self { sink: Sink::new(path, input)?, format });
        }
        let named = || path.display().to_string();
        refuse_folder(path).with_context(named)?;
        let format = match format {
            Some(format) => format,
            None => GridFormat::of_path(path).map_err(anyhow::Error::msg).with_context(named)?,
        };
        Ok(Self { sink: Sink::new(path, input)?, format })
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
        let named = || self.sink.name.clone();
        if self.parts_path(dims).is_none() {
            self.format.check_dims(dims).with_context(named)?;
        }
        match (&self.sink.target, self.format.file_size(dims)) {
            (Target::File(path), Some(size)) => check_space(path, size).with_context(named),
            _ => Ok(()),
        }
    }

    /// The file whose name those of the parts begin with, if a grid of `dims` voxels is several.
    fn parts_path(&self, dims: [u32; 3]) -> Option<&Path> {
        let Target::File(path) = &self.sink.target else {
            return None;
        };
        let is_several = self.format == GridFormat::Vox && self.format.check_dims(dims).is_err();
        is_several.then_some(path)
    }

    /// Writes `grid`. Whatever fails, a file that was there before is untouched, and one that was not
    /// is not there.
    ///
    /// # Errors
    /// The format cannot hold the grid, or the operating system cannot write it.
    pub fn write(&self, grid: &VoxelGrid, options: &WriteOptions) -> Result<Written> {
        if let Some(path) = self.parts_path(grid.dims()) {
            return self.write_parts(grid, options, path);
        }
        let bytes = self.sink.write(|out| write_grid_with(grid, self.format, options, out))?;
        Ok(Written { names: Names::One(self.sink.name.clone()), bytes, warning: None })
    }

    /// Writes `field` as [`write`](Self::write) does a grid.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_distances(&self, field: &DistanceField) -> Result<Written> {
        let bytes = self.sink.write(|out| write_distances(field, self.format, out))?;
        Ok(Written { names: Names::One(self.sink.name.clone()), bytes, warning: None })
    }

    /// Checks that the format can hold distances.
    ///
    /// # Errors
    /// It cannot; the message names formats that can.
    pub fn check_distances(&self) -> Result<()> {
        self.format.check_distances().with_context(|| self.sink.name.clone())
    }

    /// Writes the parts of `grid` that hold a voxel to files called as `path`, with their places along
    /// the axes.
    fn write_parts(
        &self,
        grid: &VoxelGrid,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Written> {
        let parts = vox::Files::new(grid, options);
        let mut files = Files::new(&self.sink.input);
        for part in parts.parts() {
            files.add(part_path(path, part), |out| parts.write(part, out))?;
        }
        let (names, bytes) = files.finish()?;
        let warning = Some(several(&names, grid));
        Ok(Written { names: Names::Several(names), bytes, warning })
    }
}

impl Sink {
    /// Checks that `path` names a place that can be written, and is not `input`.
    ///
    /// # Errors
    /// A folder; a folder that is not there or not writable.
    pub fn new(path: &Path, input: &Path) -> Result<Self> {
        let input = input.to_owned();
        if path == Path::new("-") {
            refuse_closed_stdout()?;
            return Ok(Self { name: "standard output".to_owned(), target: Target::Stdout, input });
        }
        let name = path.display().to_string();
        let named = || name.clone();
        refuse_folder(path).with_context(named)?;
        let target = target_of(path).with_context(named)?;
        check_input(path, &input).with_context(named)?;
        Ok(Self { name, target, input })
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes what `write` does, and returns how many bytes that is. Whatever fails, a file that was there
    /// before is untouched, and one that was not is not there.
    ///
    /// # Errors
    /// `write` fails, or the operating system cannot write it.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<u64> {
        let named = || self.name.clone();
        match &self.target {
            Target::Stdout => counting(io::stdout().lock(), write).map_err(|error| match error {
                WriteError::Io(error) => match stdout_error(error) {
                    error if error.is::<Closed>() => Cut.into(),
                    error => error,
                },
                other => other.into(),
            }),
            Target::Stream(path) => write_stream(path, write).with_context(named),
            Target::File(path) => write_file(path, write).with_context(named),
        }
    }
}

/// Whoever read standard output has closed it before the end of the file.
#[derive(Debug, thiserror::Error)]
#[error(
    "standard output: its reader closed it before the file was complete: let it read to the end, or \
     write to a file"
)]
pub struct Cut;

/// The standard library opens `/dev/null` for reading and writing where standard output is closed, and
/// whatever is written there would seem to have arrived.
#[cfg(target_os = "linux")]
fn refuse_closed_stdout() -> Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};
    let is_null = match (fstat(io::stdout()), stat("/dev/null")) {
        (Ok(out), Ok(null)) => out.st_rdev == null.st_rdev && null.st_rdev != 0,
        _ => false,
    };
    let is_read_too =
        fcntl_getfl(io::stdout()).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    match is_null && is_read_too {
        true => bail!("standard output is closed: write to a file with -o FILE, or open it"),
        false => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_closed_stdout() -> Result<()> {
    Ok(())
}

fn refuse_folder(path: &Path) -> Result<()> {
    match path.is_dir() {
        true => bail!("is a folder: name a file in it"),
        false => Ok(()),
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => f.write_str(name),
            Self::Several(names) => f.write_str(&names.join(", ")),
        }
    }
}

/// The name of the file of a part, such as `out-0-1-0.vox` for `out.vox`.
fn part_path(path: &Path, part: &vox::Part) -> PathBuf {
    let [x, y, z] = part.index();
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{x}-{y}-{z}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// That a grid is several files, and what each is.
fn several(names: &[String], grid: &VoxelGrid) -> String {
    let side = u64::from(vox::MAX_SCENE);
    let parts: u64 = grid.dims().map(|d| u64::from(d).div_ceil(side)).iter().product();
    let empty = match parts - names.len() as u64 {
        0 => String::new(),
        1 => "; 1 part holds no voxel and has no file".to_owned(),
        n => format!("; {} hold no voxel and have no file", counted(n, "part")),
    };
    format!(
        "MagicaVoxel shows {} voxels along an axis, so the grid is {} with parts of that size, each \
         called by its place along x, y and z and centred by itself{empty}",
        grouped(side),
        counted(names.len() as u64, "file"),
    )
}

/// A temporary file for one at `path`, which can be replaced by it.
///
/// # Errors
/// It is a link, a device or `input`; nothing can be written there.
pub fn replaceable(path: &Path, input: &Path) -> Result<TemporaryFile> {
    check_input(path, input)?;
    match target_of(path)? {
        Target::File(file) if file == path => TemporaryFile::beside(path),
        _ => bail!("is no file that can be replaced: name another output"),
    }
}

fn check_input(path: &Path, input: &Path) -> Result<()> {
    match fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(input).is_ok_and(|i| i == path))
    {
        true => bail!("is what is read: name another file"),
        false => Ok(()),
    }
}

fn write_stream(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<u64> {
    Ok(counting(File::options().write(true).open(path)?, write)?)
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<u64> {
    let file = TemporaryFile::beside(path)?;
    let bytes = counting(file.file(), write)?;
    file.finish(path)?;
    Ok(bytes)
}

/// How many bytes `write` has written.
///
/// # Errors
/// Those of `write`; the operating system cannot write it.
pub fn counting(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<u64, WriteError> {
    let mut out = Counted { out: BufWriter::with_capacity(1 << 20, out), bytes: 0 };
    write(&mut out)?;
    out.flush()?;
    Ok(out.bytes)
}

fn target_of(path: &Path) -> Result<Target> {
    let path = behind_links(path)?;
    match fs::metadata(&path) {
        Ok(there) if !there.is_file() => Ok(Target::Stream(path)),
        Ok(there) if there.permissions().readonly() => bail!("is read-only"),
        _ => {
            TemporaryFile::beside(&path)?;
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
