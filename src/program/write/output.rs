//! The output of voxels or distances.

use std::path::Path;

use anyhow::{Context, Result, bail};
use trivox::formats::{
    GridFormat, Reporting, WriteOptions, check_space, is_mesh, write_distances, write_grid_with,
};
use trivox::{DistanceField, Progress, VoxelGrid};

use crate::text::shown;
use crate::write::sink::{Inputs, Sink, Written, refuse_folder};

/// The destination of a grid, checked before the work begins.
#[derive(Debug, Clone)]
pub struct Output {
    pub sink: Sink,
    pub format: GridFormat,
}

impl Output {
    /// Checks that `path` has a known extension, is writable and is none of `inputs`.
    pub fn new(path: &Path, format: Option<GridFormat>, inputs: &Inputs) -> Result<Self> {
        let format = if path == Path::new("-") {
            format.context("standard output: give the format with --format")
        } else {
            refuse_folder(path).and_then(|()| format_of(path, format)).with_context(|| shown(path))
        };
        Ok(Self { format: format?, sink: Sink::new(path, inputs)? })
    }

    /// Checks that the format can hold a grid of `dims` voxels, or of distances, and that the disk
    /// has room for the file if its size is known.
    pub fn check_dims(
        &self,
        dims: [u32; 3],
        has_distances: bool,
        options: &WriteOptions,
    ) -> Result<()> {
        let named = || self.sink.shown();
        if !has_distances {
            self.format.check_dims(dims, options).with_context(named)?;
        }
        match self.sink.file() {
            Some(path) => check_space(path, self.size(dims, has_distances)).with_context(named),
            None => Ok(()),
        }
    }

    /// The size of the file in bytes, if it is known.
    fn size(&self, dims: [u32; 3], has_distances: bool) -> Option<u64> {
        if has_distances { self.format.distances_size(dims) } else { self.format.file_size(dims) }
    }

    /// Writes `grid`, or the distances in it. On failure, an existing file is unchanged, and no new
    /// file remains.
    pub fn write(
        &self,
        grid: &VoxelGrid,
        field: Option<&DistanceField>,
        options: &WriteOptions,
        progress: &dyn Progress,
    ) -> Result<Written> {
        let stem = self.sink.file().and_then(Path::file_stem);
        let name = stem.map(|stem| stem.to_string_lossy().into_owned());
        let options = &WriteOptions { name, ..options.clone() };
        // Of other formats only a lower bound is known.
        let is_exact = matches!(self.format, GridFormat::Npy | GridFormat::Vol);
        let size = self.size(grid.dims(), field.is_some()).filter(|_| is_exact);
        progress.start("write", size.unwrap_or(0));
        let written = self.sink.write(|out| {
            let out = &mut Reporting::new(out, progress);
            match field {
                Some(field) => write_distances(field, self.format, out),
                None => write_grid_with(grid, self.format, options, out),
            }
        })?;
        written.finish()
    }
}

/// The format that a file of this name has; `given` is that of `--format`, which no other extension
/// may contradict.
fn format_of(path: &Path, given: Option<GridFormat>) -> Result<GridFormat> {
    if let Some(given) = given {
        return match GridFormat::of_path(path) {
            Ok(other) if other != given => bail!(
                "has the extension of another format than --format {}: leave one of them out",
                given.extension()
            ),
            _ => Ok(given),
        };
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match &extension[..] {
        "png" | "gif" => bail!(
            "a .{extension} is a picture, not a format of voxels: draw one with `voxelize render`, \
             or with --preview beside the voxels"
        ),
        "" if path.to_str().is_some_and(|name| GridFormat::of_extension(name).is_ok()) => {
            let extension = shown(path);
            let extension = extension.trim_start_matches('.');
            bail!("this is an extension without a name: use, for example, out.{extension}")
        }
        _ if is_mesh(path) && GridFormat::of_path(path).is_err() => {
            let list = GridFormat::ALL.map(|format| format!(".{}", format.extension()));
            bail!(".{extension} files are read, but not written: use one of {}", list.join(", "))
        }
        _ => Ok(GridFormat::of_path(path)?),
    }
}
