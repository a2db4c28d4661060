//! File formats: one module each, and tables of them by extension.

pub mod binvox;
mod brick_colors;
pub mod bricks;
mod dense;
mod description;
pub mod error;
mod flat_colors;
pub mod gltf;
mod images;
mod loaded;
#[cfg(feature = "palette")]
mod minecraft;
pub mod mitsuba;
pub mod npy;
pub mod npz;
pub mod obj;
pub mod off;
pub mod openvdb;
pub mod ply;
mod polygons;
mod sidecars;
pub mod stl;
pub mod surface;
mod tally;
mod textures;
mod tokens;
#[cfg(feature = "palette")]
pub mod vox;
pub mod vti;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::distance::DistanceField;
pub use crate::formats::error::{ReadError, WriteError};
pub use crate::formats::loaded::{Loaded, LoadedGrid};
#[cfg(feature = "palette")]
pub use crate::formats::minecraft::{litematic, schem};
use crate::formats::openvdb::{nvdb, vdb};
pub use crate::formats::sidecars::{Sidecar, Sidecars};
use crate::grid::{Up, VoxelGrid};
#[cfg(feature = "palette")]
use crate::palette::Palette;
use crate::progress::{NoProgress, Progress};

type ReadGrid = fn(&mut dyn BufRead) -> Result<LoadedGrid, ReadError>;
type WriteDistances = fn(&DistanceField, &mut dyn Write) -> Result<(), WriteError>;
type WriteGrid = fn(&VoxelGrid, &WriteOptions, &mut dyn Write) -> Result<(), WriteError>;

/// Options of reading a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The memory limit in bytes, the file itself included.
    pub memory: u64,
    /// Whether materials, textures and colours are read, from this file and its sidecar files.
    pub appearance: bool,
}

impl Default for ReadOptions {
    /// Reads everything, without a memory limit.
    fn default() -> Self {
        Self { memory: u64::MAX, appearance: true }
    }
}

impl ReadOptions {
    /// With a memory limit of `memory` bytes.
    #[must_use]
    pub fn within(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// The triangles only.
    #[must_use]
    pub fn without_appearance(self) -> Self {
        Self { appearance: false, ..self }
    }
}

/// Options of writing a grid, for formats with a palette.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The palette of indexed formats; `None` chooses one for the grid.
    #[cfg(feature = "palette")]
    pub palette: Option<Palette>,
    /// The blocks that voxels become in Minecraft; `None` is concrete, wool and terracotta.
    #[cfg(feature = "palette")]
    pub blocks: Option<schem::Blocks>,
    /// Whether colours are dithered to the palette.
    pub dither: bool,
}

impl WriteOptions {
    /// With `palette`, for indexed formats.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn with_palette(self, palette: Palette) -> Self {
        Self { palette: Some(palette), ..self }
    }

    /// With `blocks`, for Minecraft.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn with_blocks(self, blocks: schem::Blocks) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// With or without dithering, for indexed formats.
    #[must_use]
    pub fn with_dither(self, dither: bool) -> Self {
        Self { dither, ..self }
    }
}

/// The description of a grid format.
#[derive(Debug)]
#[non_exhaustive]
pub struct GridSpec {
    /// The file extension, without the dot.
    pub extension: &'static str,
    /// Whose format it is.
    pub name: &'static str,
    /// What a file stores, and the largest grid.
    pub carries: &'static str,
    read: Option<ReadGrid>,
    write: Option<WriteGrid>,
    check_dims: fn([u32; 3]) -> Result<(), WriteError>,
    file_size: fn([u32; 3]) -> Option<u64>,
    /// The properties of a grid that a file loses, a sentence each.
    lost: fn(&VoxelGrid) -> Vec<String>,
    distances: Option<WriteDistances>,
    /// Whether the format stores colours.
    pub has_colors: bool,
}

impl GridSpec {
    /// Whether the format can be read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// Whether the format can be written.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.write.is_some()
    }

    /// Whether the format stores a [`DistanceField`].
    #[must_use]
    pub fn has_distances(&self) -> bool {
        self.distances.is_some()
    }
}

/// The description of a mesh format.
#[derive(Debug)]
#[non_exhaustive]
pub struct MeshSpec {
    /// The file extension, without the dot.
    pub extension: &'static str,
    /// Whose format it is.
    pub name: &'static str,
    /// What is read from a file.
    pub carries: &'static str,
    /// Rejects files of other formats by the first [`START`] bytes and the length, if known, before
    /// the whole file is read.
    check_start: fn(&[u8], Option<u64>) -> Result<(), ReadError>,
    read: fn(Vec<u8>, &Sidecars, &ReadOptions) -> Result<Loaded, ReadError>,
}

impl MeshSpec {
    /// The format that a file of this name has.
    ///
    /// # Errors
    /// No extension, or an unknown one; the message lists the known extensions.
    pub fn of_path(path: &Path) -> Result<&'static Self, ReadError> {
        let extension = extension_of(path);
        let found = MESH_FORMATS.into_iter().find(|spec| spec.extension == extension);
        found.ok_or_else(|| {
            let known = MESH_FORMATS.map(|spec| spec.extension);
            ReadError::Unsupported(unknown_extension(&extension, &known))
        })
    }
}

/// The formats of meshes.
pub const MESH_FORMATS: [&MeshSpec; 6] =
    [&obj::SPEC, &stl::SPEC, &ply::SPEC, &off::SPEC, &gltf::SPEC, &gltf::BINARY_SPEC];

/// The formats of grids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridFormat {
    /// MagicaVoxel.
    #[cfg(feature = "palette")]
    Vox,
    /// NumPy.
    Npy,
    /// NumPy, several arrays.
    Npz,
    /// Patrick Min's binvox.
    Binvox,
    /// VTK.
    Vti,
    /// Mitsuba.
    Vol,
    /// trivox's own, in the layout of memory.
    Bricks,
    /// OpenVDB.
    Vdb,
    /// NanoVDB.
    Nvdb,
    /// Sponge's, for Minecraft.
    #[cfg(feature = "palette")]
    Schem,
    /// Litematica's, for Minecraft.
    #[cfg(feature = "palette")]
    Litematic,
    /// Stanford PLY: a mesh of the voxels' surface, like the two below.
    Ply,
    /// Wavefront's.
    Obj,
    /// glTF's.
    Glb,
}

impl GridFormat {
    /// All of them.
    pub const ALL: [Self; if cfg!(feature = "palette") { 14 } else { 11 }] = [
        #[cfg(feature = "palette")]
        Self::Vox,
        Self::Npy,
        Self::Npz,
        Self::Binvox,
        Self::Vti,
        Self::Vol,
        Self::Bricks,
        Self::Vdb,
        Self::Nvdb,
        #[cfg(feature = "palette")]
        Self::Schem,
        #[cfg(feature = "palette")]
        Self::Litematic,
        Self::Ply,
        Self::Obj,
        Self::Glb,
    ];

    /// The format's description.
    #[must_use]
    pub fn spec(self) -> &'static GridSpec {
        match self {
            #[cfg(feature = "palette")]
            Self::Vox => &vox::SPEC,
            Self::Npy => &npy::SPEC,
            Self::Npz => &npz::SPEC,
            Self::Binvox => &binvox::SPEC,
            Self::Vti => &vti::SPEC,
            Self::Vol => &mitsuba::SPEC,
            Self::Bricks => &bricks::SPEC,
            Self::Vdb => &vdb::SPEC,
            Self::Nvdb => &nvdb::SPEC,
            #[cfg(feature = "palette")]
            Self::Schem => &schem::SPEC,
            #[cfg(feature = "palette")]
            Self::Litematic => &litematic::SPEC,
            Self::Ply => &surface::ply::SPEC,
            Self::Obj => &surface::obj::SPEC,
            Self::Glb => &surface::glb::SPEC,
        }
    }

    /// Whether the format has a palette of colours.
    #[must_use]
    pub fn has_palette(self) -> bool {
        self.extension() == "vox"
    }

    /// The width, height and length of `grid` in blocks of Minecraft, if voxels become blocks.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn blocks(self, grid: &VoxelGrid) -> Option<[u32; 3]> {
        matches!(self, Self::Schem | Self::Litematic).then(|| minecraft::size(grid))
    }

    /// The file extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.spec().extension
    }

    /// Whether the format can hold a grid of `dims` voxels.
    ///
    /// # Errors
    /// It cannot; the message states the largest grid.
    pub fn check_dims(self, dims: [u32; 3]) -> Result<(), WriteError> {
        (self.spec().check_dims)(dims)
    }

    /// Whether the format can hold a field of distances.
    ///
    /// # Errors
    /// It cannot; the message lists the formats that can.
    pub fn check_distances(self) -> Result<(), WriteError> {
        if self.spec().has_distances() {
            return Ok(());
        }
        let able = Self::ALL.into_iter().filter(|format| format.spec().has_distances());
        let able: Vec<String> = able.map(|format| format!(".{}", format.extension())).collect();
        Err(WriteError::Unsupported(format!(
            ".{} files cannot hold distances: use one of {}",
            self.extension(),
            able.join(", ")
        )))
    }

    /// A lower bound of the file size in bytes, for formats whose size depends mainly on `dims`.
    #[must_use]
    pub fn file_size(self, dims: [u32; 3]) -> Option<u64> {
        (self.spec().file_size)(dims)
    }

    /// The properties of `grid` that a file of this format loses or changes, a sentence each.
    #[must_use]
    pub fn lost(self, grid: &VoxelGrid) -> Vec<String> {
        (self.spec().lost)(grid)
    }

    /// The format that a file of this name has.
    ///
    /// # Errors
    /// No extension, or an unknown one; the message lists those that are known.
    pub fn of_path(path: &Path) -> Result<Self, String> {
        Self::of_extension(&extension_of(path))
    }

    /// The format that files with this extension have, with or without its dot.
    ///
    /// # Errors
    /// As [`of_path`](Self::of_path).
    pub fn of_extension(extension: &str) -> Result<Self, String> {
        let extension = extension.strip_prefix('.').unwrap_or(extension);
        let extension = &*extension.to_lowercase();
        let found = Self::ALL.into_iter().find(|format| format.extension() == extension);
        found.ok_or_else(|| unknown_extension(extension, &Self::ALL.map(Self::extension)))
    }
}

/// The losses of a format without a world position.
fn lost_place(grid: &VoxelGrid) -> Vec<String> {
    let lost = "where the grid lies, its voxel size and which axis is up are not kept";
    grid.world.map(|_| lost.to_owned()).into_iter().collect()
}

/// The losses of a format with a world position, but without an up axis: `y` is assumed.
fn lost_up(grid: &VoxelGrid) -> Vec<String> {
    let is_turned = grid.world.is_some_and(|world| world.up == Up::Z);
    is_turned.then(|| "that z is up is not kept".to_owned()).into_iter().collect()
}

/// The losses of a format without colours.
fn lost_colors(grid: &VoxelGrid) -> Vec<String> {
    let lost = "the voxels' colours are not kept";
    grid.colors.iter().map(|_| lost.to_owned()).collect()
}

/// The losses of a format with colours, but without opacity.
fn lost_opacity(grid: &VoxelGrid) -> Vec<String> {
    let is_clear = grid.colors.as_ref().is_some_and(|colors| !colors.are_opaque(grid.occupied()));
    is_clear.then(|| "how opaque the voxels are is not kept".to_owned()).into_iter().collect()
}

/// Whether a file of this name is read as a mesh.
#[must_use]
pub fn is_mesh(path: &Path) -> bool {
    MeshSpec::of_path(path).is_ok()
}

/// The beginning of a text from a file, for a message.
fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Fails if `needed` bytes exceed `limit`.
fn check_memory(needed: u64, limit: u64) -> Result<(), ReadError> {
    match needed > limit {
        true => Err(ReadError::Memory { needed, limit }),
        false => Ok(()),
    }
}

fn extension_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn unknown_extension(extension: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    let known = known.join(", ");
    match extension {
        "" => format!("no file extension: use one of {known}"),
        _ => format!("unknown file extension '.{extension}': use one of {known}"),
    }
}

/// Reads the mesh in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid mesh.
pub fn read_mesh(path: &Path) -> Result<Loaded, ReadError> {
    read_mesh_with(path, &ReadOptions::default())
}

/// Reads the mesh in the file at `path` with `options`. If a file of this length could exceed the
/// memory limit, an upper bound of the memory is computed first, which takes a fraction of the
/// reading time. The bound is about twice what most OBJ meshes take, and tighter in other formats.
///
/// # Errors
/// The bound exceeds the limit ([`ReadError::Memory`]), or as [`read_mesh`].
pub fn read_mesh_with(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    read_mesh_reporting(path, options, &NoProgress)
}

/// As [`read_mesh_with`]. The step `load` of `progress` is in bytes of the file, the step `parse`
/// of unknown length.
pub(crate) fn read_mesh_reporting(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Loaded, ReadError> {
    refuse_folder(path)?;
    // A missing file is reported before an unknown format.
    fs::metadata(path)?;
    let spec = MeshSpec::of_path(path)?;
    let bytes = checked_bytes(path, options.memory, spec.check_start, progress)?;
    progress.start("parse", 0);
    parse(bytes, spec, &Sidecars::beside(path), options)
}

fn parse(
    bytes: Vec<u8>,
    spec: &MeshSpec,
    sidecars: &Sidecars,
    options: &ReadOptions,
) -> Result<Loaded, ReadError> {
    let sidecars = sidecars.with_new_log();
    let loaded = (spec.read)(bytes, &sidecars, options)?;
    Ok(Loaded { sidecars: sidecars.looked_for(), ..loaded })
}

/// Reads the mesh in `bytes`, a file of the format `spec`, with its `sidecars` (material files,
/// images, buffers), as `options` say. Only those are opened.
///
/// # Errors
/// As [`read_mesh_with`]; `bytes` are a part of the memory, those of sidecar files in memory are
/// not.
pub fn read_mesh_from(
    bytes: Vec<u8>,
    spec: &MeshSpec,
    sidecars: &Sidecars,
    options: &ReadOptions,
) -> Result<Loaded, ReadError> {
    check_memory(bytes.len() as u64, options.memory)?;
    parse(bytes, spec, sidecars, options)
}

/// Bytes of a file's beginning that are checked before the rest is read.
const START: u64 = 4 << 10;

/// The bytes of a file, in at most `limit` bytes of memory.
fn bytes_within(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    checked_bytes(path, limit, |_, _| Ok(()), &NoProgress)
}

/// As [`bytes_within`], if the file's beginning passes `check`.
fn checked_bytes(
    path: &Path,
    limit: u64,
    check: fn(&[u8], Option<u64>) -> Result<(), ReadError>,
    progress: &dyn Progress,
) -> Result<Vec<u8>, ReadError> {
    let mut file = Reporting { file: File::open(path)?, progress };
    let needed = file.file.metadata()?.len();
    progress.start("load", needed);
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(START).read_to_end(&mut start)?;
    check(&start, Some(needed).filter(|&len| len > 0))?;
    if needed > limit {
        return Err(ReadError::Memory { needed, limit });
    }
    // A pipe has no length. Its buffer grows by doubling, during which both copies exist.
    let most = if needed > 0 { needed } else { limit / 3 };
    let mut bytes = start;
    bytes
        .try_reserve_exact((needed as usize).saturating_sub(bytes.len()))
        .map_err(std::io::Error::from)?;
    let left = most.saturating_add(1).saturating_sub(bytes.len() as u64);
    file.take(left).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ReadError::Content(format!(
            "holds more than the {most} bytes that it may: copy it to a file that nothing writes \
             to, or allow more memory"
        )));
    }
    Ok(bytes)
}

fn refuse_folder(path: &Path) -> Result<(), ReadError> {
    match path.is_dir() {
        true => Err(ReadError::Unsupported("is a folder: name a file in it".into())),
        false => Ok(()),
    }
}

/// Reads the grid in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid grid.
pub fn read_grid(path: &Path) -> Result<LoadedGrid, ReadError> {
    read_grid_with(path, &NoProgress)
}

/// As [`read_grid`]. The step `load` of `progress` is in bytes of the file.
///
/// # Errors
/// As [`read_grid`].
pub fn read_grid_with(path: &Path, progress: &dyn Progress) -> Result<LoadedGrid, ReadError> {
    refuse_folder(path)?;
    let file = File::open(path)?;
    refuse_mesh(path)?;
    let format = GridFormat::of_path(path).map_err(ReadError::Unsupported)?;
    // A pipe has no length.
    progress.start("load", file.metadata()?.len());
    read_grid_from(&mut BufReader::with_capacity(REPORT, Reporting { file, progress }), format)
}

/// Bytes of a grid's file between two reports of progress.
const REPORT: usize = 64 << 10;

/// A file that reports what is read of it.
struct Reporting<'a> {
    file: File,
    progress: &'a dyn Progress,
}

impl Read for Reporting<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

/// Reads the grid in a file of the format `format`.
///
/// # Errors
/// As [`read_grid`].
pub fn read_grid_from(file: &mut dyn BufRead, format: GridFormat) -> Result<LoadedGrid, ReadError> {
    let extension = format.extension();
    let unread = || ReadError::Unsupported(format!(".{extension} files are written, but not read"));
    (format.spec().read.ok_or_else(unread)?)(file)
}

/// Rejects meshes, also those that [`write_grid`] makes.
fn refuse_mesh(path: &Path) -> Result<(), ReadError> {
    match is_mesh(path) {
        true => Err(ReadError::Unsupported(
            "is a mesh, and not a grid of voxels: voxelize it, or name the grid that it was made of"
                .into(),
        )),
        false => Ok(()),
    }
}

/// Writes `grid` to `out`. Output is deterministic. Takes at most 4 MiB of memory for any grid,
/// and 12 MiB for `.npz`; indexed formats also take up to 32 bytes per distinct colour.
///
/// # Errors
/// `out` fails, or the format cannot hold the grid.
pub fn write_grid(
    grid: &VoxelGrid,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    write_grid_with(grid, format, &WriteOptions::default(), out)
}

/// As [`write_grid`], with `options`.
///
/// # Errors
/// As [`write_grid`].
pub fn write_grid_with(
    grid: &VoxelGrid,
    format: GridFormat,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let extension = format.extension();
    let unwritten =
        || WriteError::Unsupported(format!(".{extension} files are read, but not written"));
    (format.spec().write.ok_or_else(unwritten)?)(grid, options, out)
}

/// Writes `field` in `format`. `.vdb` and `.nvdb` hold distances in world units, `.npy` and `.npz`
/// in voxels.
///
/// # Errors
/// The format cannot hold distances ([`GridFormat::check_distances`]); `out` fails.
pub fn write_distances(
    field: &DistanceField,
    format: GridFormat,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    format.check_distances()?;
    format.spec().distances.map_or(Ok(()), |write| write(field, out))
}
