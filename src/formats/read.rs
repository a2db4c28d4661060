//! Reads meshes and grids.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::{iter, mem};

use crate::base::lock;
use crate::base::progress::{NoProgress, Progress};
use crate::formats::io::bytes::{checked_bytes, refuse_stand_in};
use crate::formats::io::reporting::INTERVAL;
use crate::formats::table::grid_of_path;
use crate::formats::{GridFormat, MeshSpec, ReadError, Reporting, Sidecar, Sidecars, is_mesh};
use crate::grid::VoxelGrid;
use crate::lattice::{PlaceOptions, Sizing, place};
use crate::mesh::{Mesh, MeshError};
use crate::solid::distance::DistanceField;
use crate::solid::topology::Topology;

/// Options of reading a mesh or a grid.
///
/// ```
/// use trivox::formats::ReadOptions;
///
/// let options = ReadOptions { memory: 1 << 30, ..ReadOptions::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// The memory limit in bytes, the file itself included.
    pub memory: u64,
    /// Whether a mesh's materials, textures and colours are read, from its file and its sidecar
    /// files.
    pub appearance: bool,
    /// With `appearance`, whether the textures of metalness, roughness and emission are read too.
    pub maps: bool,
    /// Whether only files beside a mesh on disk and below are read ([`Sidecars::confined`]).
    pub confined: bool,
    /// Whether hidden nodes of a `.vox`, and all in hidden layers, are left out.
    pub visible_only: bool,
    /// The frame of a `.vox` with an animation, counted from 0; by default the first.
    pub frame: Option<u32>,
}

impl Default for ReadOptions {
    /// Reads everything, without a memory limit.
    fn default() -> Self {
        Self {
            memory: u64::MAX,
            appearance: true,
            maps: true,
            confined: false,
            visible_only: false,
            frame: None,
        }
    }
}

/// A mesh, and warnings about content that was ignored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedMesh {
    /// The mesh.
    pub mesh: Mesh,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
    /// The files on disk that the reader looked for, or that the mesh names, besides its own.
    pub sidecars: Vec<Sidecar>,
}

impl LoadedMesh {
    /// [`Mesh::join`] of bodies with names, and the warnings and sidecar files of all. The
    /// triangles of a closed body that is inside out as a whole are reversed, with a warning: it
    /// would be a cavity in others.
    ///
    /// # Errors
    /// As [`Mesh::join`].
    pub fn join(parts: Vec<(String, Self)>) -> Result<Self, MeshError> {
        let outward = |(name, mut part): (String, Self)| {
            let placed = place(&part.mesh, &PlaceOptions::new(Sizing::Resolution(256)));
            // What cannot be placed encloses nothing.
            if placed.is_ok_and(|placed| Topology::is_inside_out(&placed)) {
                part.warnings.push(format!("{name} is inside out: its triangles are reversed"));
                part.mesh = part.mesh.reversed();
            }
            (name, part)
        };
        let parts: Vec<(String, Self)> = parts.into_iter().map(outward).collect();
        let mesh = Mesh::join(parts.iter().map(|(name, part)| (&**name, &part.mesh)))?;
        let mut joined = Self::new(mesh, Vec::new());
        for (_, Self { warnings, sidecars, .. }) in parts {
            joined.warnings.extend(warnings);
            joined.sidecars.extend(sidecars);
        }
        Ok(joined)
    }

    /// A mesh without sidecar files.
    #[must_use]
    pub fn new(mesh: Mesh, warnings: Vec<String>) -> Self {
        Self { mesh, warnings, sidecars: Vec::new() }
    }
}

/// A grid, and warnings about content that was ignored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedGrid {
    /// The grid.
    pub grid: VoxelGrid,
    /// One sentence for each kind of thing that was skipped.
    pub warnings: Vec<String>,
    /// The names of the blocks of a schematic and their numbers, the most frequent first; empty for
    /// other formats.
    pub blocks: Vec<(String, u64)>,
    /// The signed distances of a level set; `grid` is then the solid inside. Formats in mesh units
    /// (`.vdb`, `.nvdb`, `.vti`) round: a distance may be one step of `f32` off.
    pub distances: Option<DistanceField>,
}

impl LoadedGrid {
    pub(super) fn new(grid: VoxelGrid, warnings: Vec<String>) -> Self {
        Self { grid, warnings, blocks: Vec::new(), distances: None }
    }

    /// The grid and the warnings. One of them says that distances are left out.
    #[must_use]
    pub fn into_grid(mut self) -> (VoxelGrid, Vec<String>) {
        let left_out = "its distances are left out: the voxels are the solid inside";
        let left_out = self.distances.map(|_| left_out);
        self.warnings.extend(left_out.map(str::to_owned));
        (self.grid, self.warnings)
    }
}

/// Reads the mesh in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid mesh.
pub fn read_mesh(path: impl AsRef<Path>) -> Result<LoadedMesh, ReadError> {
    read_mesh_with(path, &ReadOptions::default(), &NoProgress)
}

/// Reads the mesh in the file at `path` with `options`. If a file of this length could exceed the
/// memory limit, an upper bound of the memory is computed first, which takes a fraction of the
/// reading time. The bound is about twice what most OBJ meshes take, and tighter in other formats.
/// The step `load` of `progress` is in bytes of the file, the step `parse` of unknown length.
///
/// # Errors
/// The bound exceeds the limit ([`ReadError::Memory`]), cancellation, or as [`read_mesh`].
pub fn read_mesh_with(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<LoadedMesh, ReadError> {
    MeshFile::read(path, options, progress)?.parse(progress)
}

/// The bytes of a mesh's file, not parsed yet, and the options for it.
///
/// Reading waits for the disk or the network, and parsing computes on a pool of threads: with this
/// type, no thread of the pool waits.
#[derive(Debug)]
pub struct MeshFile<'a> {
    bytes: Vec<u8>,
    spec: &'a MeshSpec,
    sidecars: Sidecars,
    options: ReadOptions,
}

impl<'a> MeshFile<'a> {
    /// The file at `path`. The step `load` of `progress` is in bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is of no format that is read; the limit; cancellation.
    pub fn read(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ReadError> {
        let path = path.as_ref();
        refuse_folder(path)?;
        // A missing file is reported before an unknown format.
        fs::metadata(path)?;
        let spec = MeshSpec::of_path(path)?;
        let bytes = checked_bytes(path, options.memory, spec.check_start, progress)?;
        let mut sidecars = Sidecars::beside(path).with_new_log();
        if options.confined {
            sidecars = sidecars.confined();
        }
        Ok(Self { bytes, spec, sidecars, options: *options })
    }

    /// A file of the format `spec` that is in memory. `sidecars` has the files that it names.
    #[must_use]
    pub fn of_bytes(
        bytes: Vec<u8>,
        spec: &'a MeshSpec,
        sidecars: &Sidecars,
        options: &ReadOptions,
    ) -> Self {
        Self { bytes, spec, sidecars: sidecars.with_new_log(), options: *options }
    }

    /// The missing sidecar files of a mesh in memory: the candidate names of each, the likeliest
    /// first. A material file may name further files. Takes as long as [`parse`](Self::parse),
    /// whose errors are ignored.
    #[must_use]
    pub fn missing_sidecars(self) -> Vec<Vec<String>> {
        // The keywords of references to other files.
        let words: &[&str] = match self.spec.extension {
            "obj" => &["mtllib", "usemtl"],
            "ply" => &["TextureFile"],
            "gltf" | "glb" => &["\"uri\""],
            _ => &[],
        };
        let has = |word: &&str| memchr::memmem::find(&self.bytes, word.as_bytes()).is_some();
        if !words.iter().any(has) {
            return Vec::new();
        }
        let (sidecars, missing) = self.sidecars.with_missing();
        _ = Self { sidecars, ..self }.parse(&NoProgress);
        mem::take(&mut lock(&missing))
    }

    /// The mesh. The step `parse` of `progress` is of unknown length.
    ///
    /// # Errors
    /// As [`read_mesh_with`].
    pub fn parse(self, progress: &dyn Progress) -> Result<LoadedMesh, ReadError> {
        progress.start("parse", 0);
        ensure!(!self.bytes.is_empty(), "the file is empty");
        refuse_stand_in(&self.bytes)?;
        let loaded = (self.spec.read)(self.bytes, &self.sidecars, &self.options)?;
        Ok(LoadedMesh { sidecars: self.sidecars.noted(), ..loaded })
    }
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
) -> Result<LoadedMesh, ReadError> {
    MeshFile::of_bytes(bytes, spec, sidecars, options).parse(&NoProgress)
}

fn refuse_folder(path: &Path) -> Result<(), ReadError> {
    if path.is_dir() {
        Err(ReadError::Unsupported("is a folder: name a file in it".into()))
    } else {
        Ok(())
    }
}

/// Reads the grid in the file at `path`, by its extension.
///
/// # Errors
/// The file cannot be read, is of no format that is read, or does not hold a valid grid.
pub fn read_grid(path: impl AsRef<Path>) -> Result<LoadedGrid, ReadError> {
    read_grid_with(path, &ReadOptions::default(), &NoProgress)
}

/// [`read_grid`] with `options`: a memory limit, by default 2 GiB for each MB of the file. The
/// step `load` of `progress` is in bytes of the file.
///
/// # Errors
/// The limit ([`ReadError::Memory`]), cancellation, or as [`read_grid`].
pub fn read_grid_with(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<LoadedGrid, ReadError> {
    let path = path.as_ref();
    refuse_folder(path)?;
    let file = File::open(path)?;
    // Also one that `write_grid` makes.
    if is_mesh(path) {
        return Err(ReadError::Unsupported(
            "is a mesh: voxelize it first, or name the file of its grid".into(),
        ));
    }
    let format = grid_of_path(path, iter::empty())?;
    // A pipe has no length.
    let length = file.metadata()?.len();
    progress.start("load", length);
    let is_given = options.memory < u64::MAX;
    let memory = if is_given { options.memory } else { proportionate(length) };
    let file = Reporting::new(file, progress);
    let mut file = BufReader::with_capacity(INTERVAL, file);
    read_grid_from(&mut file, format, &ReadOptions { memory, ..*options })
}

/// The memory, in bytes, that a file of `length` bytes may take by default: what compresses better
/// is not a model, but made to exhaust the memory.
pub(super) fn proportionate(length: u64) -> u64 {
    const PER_MB: u64 = 2 << 30;
    if length == 0 { u64::MAX } else { PER_MB.saturating_mul(length.div_ceil(1_000_000)) }
}

/// Reads the grid in a file of the format `format` with `options`.
///
/// # Errors
/// The limit ([`ReadError::Memory`]), or as [`read_grid`].
pub fn read_grid_from(
    file: &mut dyn BufRead,
    format: GridFormat,
    options: &ReadOptions,
) -> Result<LoadedGrid, ReadError> {
    let extension = format.extension();
    let read = format.spec().read.ok_or_else(|| {
        let advice = "write .npz for voxels that are read again";
        ReadError::Unsupported(format!(".{extension} files are written, but not read: {advice}"))
    })?;
    refuse_stand_in(file.fill_buf()?)?;
    read(file, options)
}
