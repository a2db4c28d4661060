//! The output of voxels or distances. A grid that exceeds the limits of a format is written as
//! several files.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use trivox::formats::{
    GridFormat, MAX_SCENE, Reporting, VoxFiles, WriteOptions, check_space, is_mesh,
    temporary::folder_of, write_distances, write_grid_with,
};
use trivox::{DistanceField, Progress, VoxelGrid};

use crate::cli::PaletteArgs;
use crate::inputs::sorted;
use crate::progress::TerminalProgress;
use crate::text::{counted, grouped, shown};
use crate::write::destination::Outputs;
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
    pub fn check_dims(&self, dims: [u32; 3], has_distances: bool) -> Result<()> {
        let named = || self.sink.name.clone();
        if !has_distances && self.parts_path(dims).is_none() {
            self.format.check_dims(dims).with_context(named)?;
        }
        match self.sink.file().zip(self.size(dims, has_distances)) {
            Some((path, size)) => check_space(path, size).with_context(named),
            None => Ok(()),
        }
    }

    /// The size of the file in bytes, if it is known.
    fn size(&self, dims: [u32; 3], has_distances: bool) -> Option<u64> {
        if has_distances { self.format.distances_size(dims) } else { self.format.file_size(dims) }
    }

    /// Checks that no part of a grid of `dims` voxels, if it is written as several files, would
    /// replace one of `outputs`.
    pub fn refuse_parts(&self, dims: [u32; 3], outputs: &Outputs) -> Result<()> {
        let Some(path) = self.parts_path(dims) else { return Ok(()) };
        let [x, y, z] = dims.map(|d| d.div_ceil(MAX_SCENE));
        let indices = (0..x).flat_map(|x| (0..y).flat_map(move |y| (0..z).map(move |z| [x, y, z])));
        match indices.map(|index| part_path(path, index)).find(|part| outputs.has(part)) {
            Some(part) => bail!(
                "{}: would be a part of this grid, but is the output of another mesh: rename one of \
                 the meshes",
                shown(&part)
            ),
            None => Ok(()),
        }
    }

    /// The path from which the names of the parts derive, if a grid of `dims` voxels is written as
    /// several files.
    fn parts_path(&self, dims: [u32; 3]) -> Option<&Path> {
        let path = self.sink.file()?;
        let is_several = self.format == GridFormat::Vox && self.format.check_dims(dims).is_err();
        is_several.then_some(path)
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
        let (dims, is_vox) = (grid.dims(), self.format == GridFormat::Vox);
        progress.start("write", self.size(dims, field.is_some()).unwrap_or(0));
        if let Some(path) = self.parts_path(dims) {
            return self.write_parts(grid, options, path, progress);
        }
        let written = self.sink.write(|out| {
            let out = &mut Reporting::new(out, progress);
            match field {
                Some(field) => write_distances(field, self.format, out),
                None => write_grid_with(grid, self.format, options, out),
            }
        })?;
        let mut written = written.finish()?;
        if let Some(path) = self.sink.file().filter(|_| is_vox) {
            written.warnings.extend(leftovers(path, &HashSet::from([path.to_owned()])));
        }
        Ok(written)
    }

    /// Writes a grid that was read from a file. Warnings are those of reading, and name options
    /// without effect; notes say what the format does not hold.
    pub fn convert(
        &self,
        grid: &VoxelGrid,
        mut warnings: Vec<String>,
        palette: &PaletteArgs,
        options: &WriteOptions,
        progress: &TerminalProgress,
    ) -> Result<Written> {
        self.check_dims(grid.dims(), false)?;
        warnings.extend(palette.without_effect(Some(self.format), grid));
        let mut written = self.write(grid, None, options, progress)?;
        progress.finish();
        written.warnings.splice(..0, warnings);
        written.notes = self.format.lost_with(grid, options);
        Ok(written)
    }

    /// Writes the parts of `grid` that have voxels to files named after `path`, with the parts'
    /// indices along the axes.
    fn write_parts(
        &self,
        grid: &VoxelGrid,
        options: &WriteOptions,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<Written> {
        let parts = VoxFiles::new(grid, options);
        let items: Vec<_> =
            parts.parts().iter().map(|part| (part_path(path, part.index()), part)).collect();
        let paths: HashSet<PathBuf> = items.iter().map(|(path, _)| path.clone()).collect();
        for (path, _) in &items {
            self.sink.inputs.refuse(path).with_context(|| shown(path))?;
        }
        let write =
            |part, out: &mut dyn Write| parts.write(part, &mut Reporting::new(out, progress));
        let mut written = Written::several(items, write)?.finish()?;
        written.warnings.push(several(paths.len() as u64, grid));
        written.warnings.extend(leftovers(path, &paths));
        Ok(written)
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
        "schematic" => bail!(
            ".schematic files are not written: for Minecraft use .schem, which WorldEdit loads, or \
             .litematic, which Litematica does"
        ),
        "" if path.to_str().is_some_and(|name| GridFormat::of_extension(name).is_ok()) => {
            bail!("this is an extension without a name: use, for example, out.{}", shown(path))
        }
        _ if is_mesh(path) && GridFormat::of_path(path).is_err() => {
            let list = GridFormat::ALL.into_iter().filter(|format| format.spec().is_written());
            let list: Vec<String> = list.map(|format| format!(".{}", format.extension())).collect();
            bail!(".{extension} files are read, but not written: use one of {}", list.join(", "))
        }
        _ => Ok(GridFormat::of_path(path)?),
    }
}

/// The file name of a part, such as `out-0-1-0.vox` for `out.vox`.
fn part_path(path: &Path, [x, y, z]: [u32; 3]) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{x}-{y}-{z}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The most files that a warning names.
const NAMED: usize = 8;

/// A warning about files that have the name of the grid at `path` or of one of its parts, and that
/// are not among those `written`: an earlier run may have made them.
fn leftovers(path: &Path, written: &HashSet<PathBuf>) -> Option<String> {
    // In a folder of many grids, most have no parts: its files are not listed for each.
    let mut corners = (0..8).map(|bits| [bits >> 2 & 1, bits >> 1 & 1, bits & 1]);
    if written.contains(path) && !corners.any(|corner| part_path(path, corner).exists()) {
        return None;
    }
    let mut older = sorted(folder_of(path)).unwrap_or_default();
    older.retain_mut(|file| {
        *file = path.with_file_name(file.file_name().unwrap_or_default());
        !written.contains(file) && (file == path || is_part(path, file))
    });
    if older.is_empty() {
        return None;
    }
    let mut names: Vec<String> = older.iter().take(NAMED).map(shown).collect();
    if older.len() > NAMED {
        names.push(format!("{} more", grouped((older.len() - NAMED) as u64)));
    }
    Some(format!(
        "files beside it have the names of this grid or of its parts: {}: remove them if an earlier \
         run made them",
        names.join(", ")
    ))
}

/// Whether `file` has the name of a part of the grid at `path`.
fn is_part(path: &Path, file: &Path) -> bool {
    let index = || {
        let name = file.file_stem()?.to_str()?.strip_prefix(path.file_stem()?.to_str()?)?;
        let index = name.split('-').skip(1).map(str::parse).collect::<Result<Vec<_>, _>>().ok()?;
        index.try_into().ok()
    };
    index().is_some_and(|index| part_path(path, index) == file)
}

/// A warning that a grid is several files.
fn several(files: u64, grid: &VoxelGrid) -> String {
    let side = u64::from(MAX_SCENE);
    let parts: u64 = grid.dims().map(|d| u64::from(d).div_ceil(side)).iter().product();
    let empty = match parts - files {
        0 => String::new(),
        1 => "; 1 part holds no voxel and has no file".to_owned(),
        n => format!("; {} hold no voxel and have no file", counted(n, "part")),
    };
    format!(
        "MagicaVoxel shows {} voxels along an axis, so the grid is {} with parts of that size, \
         each called by its place along x, y and z and centred by itself{empty}",
        grouped(side),
        counted(files, "file"),
    )
}
