//! The way in: [`Voxelizer`] reads, places, voxelizes and colours a mesh in one call.
//!
//! The steps stay public by themselves: [`read_mesh`](crate::formats::read_mesh),
//! [`place`], [`voxelize`](fn@voxelize), [`color`](fn@color).

mod batch;
mod pool;
mod warning;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rayon::ThreadPool;
use thiserror::Error;
use web_time::Instant;

#[cfg(feature = "gpu")]
use crate::Gpu;
use crate::color::{ColorOptions, Colored, color};
use crate::formats::{
    Loaded, MeshSpec, ReadError, ReadOptions, Sidecars, read_mesh_from, read_mesh_with,
};
use crate::grid::{BRICK, Colors, GridBuilder, Up, VoxelGrid, World};
use crate::mesh::Mesh;
#[cfg(feature = "gpu")]
use crate::mode::voxelize_async;
use crate::mode::{Mode, Voxels, voxelize};
use crate::place::{Bounds, PlaceError, PlaceOptions, PlacedMesh, Sizing, place};
use crate::progress::{NoProgress, Progress};
use crate::solid::FillReport;
use crate::srgb::Rgba;
use crate::voxelize::report::RunReport;
use crate::voxelize::{
    BackendChoice, BackendError, Backends, ChosenBackend, RunOptions, brick_pairs,
};
use crate::voxelizer::batch::Ordered;
use crate::voxelizer::pool::LazyPool;

pub use crate::voxelizer::warning::Warning;

/// Turns meshes into voxels. Cheap to clone; clones share the GPU and the thread pool.
///
/// ```
/// use trivox::solid::Solid;
/// use trivox::{Mesh, Mode, Voxelizer};
///
/// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
/// let mesh = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// let voxelizer = Voxelizer::new().resolution(8).mode(Mode::Solid(Solid::default()));
/// let voxelized = voxelizer.run(&mesh)?;
/// assert_eq!(voxelized.grid.occupied(), 84);
/// assert!(voxelized.warnings.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Voxelizer {
    place: PlaceOptions,
    up: Up,
    mode: Mode,
    color: ColorSource,
    keep_transparent: bool,
    memory: Memory,
    time_stages: bool,
    choice: BackendChoice,
    adapter: Option<String>,
    backends: Arc<Backends>,
    /// `None`: rayon's current pool.
    pool: Option<Arc<LazyPool>>,
    progress: Arc<dyn Progress>,
}

/// Bytes that a step may take, asked before each step.
type Memory = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Where the colours of voxels come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ColorSource {
    /// The mesh's materials, textures and vertex colours.
    #[default]
    Mesh,
    /// Nowhere: voxels have no colours.
    None,
    /// All voxels have this colour.
    Uniform(Rgba),
}

/// Why a mesh could not be voxelized.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VoxelizeError {
    /// The mesh cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The mesh cannot be placed on a lattice.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The voxels cannot be computed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl VoxelizeError {
    /// Whether [`Progress::is_cancelled`] ended the work.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Backend(BackendError::Cancelled))
    }

    /// Whether more memory than is allowed was needed.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(
            self,
            Self::Backend(BackendError::Memory { .. }) | Self::Read(ReadError::Memory { .. })
        )
    }
}

/// A mesh that is ready for a backend.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Placed {
    /// The mesh on its lattice.
    pub mesh: PlacedMesh,
    /// About the file and the placement.
    pub warnings: Vec<Warning>,
    /// The time of reading and placing.
    pub timings: Timings,
}

/// The voxels of a mesh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Voxelized {
    /// The voxels, with their place in the world and colours where the mesh has any.
    pub grid: VoxelGrid,
    /// How the inside was found, of a solid.
    pub fill_report: Option<FillReport>,
    /// How many voxels were left out because everything in them is transparent.
    pub transparent: u64,
    /// What the backend's stages did; `None` from a backend without stages.
    pub report: Option<RunReport>,
    /// What computed the voxels.
    pub backend: UsedBackend,
    /// What the caller may not expect.
    pub warnings: Vec<Warning>,
    /// How long the steps took.
    pub timings: Timings,
}

/// The backend that computed voxels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedBackend {
    /// The GPU adapter's label; `None` for the CPU.
    pub adapter: Option<String>,
    /// Why this backend, in a few words.
    pub reason: String,
}

impl UsedBackend {
    /// `cpu` or `gpu`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.adapter.is_some() { "gpu" } else { "cpu" }
    }
}

impl fmt::Display for UsedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.adapter {
            Some(adapter) => write!(f, "gpu, {adapter}"),
            None => f.write_str("cpu"),
        }
    }
}

/// How long the steps took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Timings {
    /// Reading the file.
    pub load: Duration,
    /// Placing the mesh on the lattice.
    pub place: Duration,
    /// Choosing a backend, and opening the GPU for its first mesh.
    pub start: Duration,
    /// The backend.
    pub voxelize: Duration,
    /// Filling, of a solid.
    pub fill: Option<Duration>,
    /// Colouring, of a mesh that has an appearance.
    pub color: Option<Duration>,
}

/// What voxelizing a mesh is likely to take. No result depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Voxels along each axis.
    pub dims: [u32; 3],
    /// About how many (triangle, brick) pairs there are, the measure of the work.
    pub brick_pairs: u64,
    /// Seconds of one CPU core for the surface: 30 ns a pair. Measured models take half to twice that.
    pub core_seconds: f64,
    /// Bytes for the placed mesh and the surface's grid, without colours: an upper bound for most meshes.
    pub memory: u64,
}

/// A mesh for [`Voxelizer::many`], and where it comes from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Source {
    /// A file, with its sidecar files.
    File(PathBuf),
    /// A mesh in memory.
    Mesh(Mesh),
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<Mesh> for Source {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(mesh)
    }
}

impl Default for Voxelizer {
    fn default() -> Self {
        Self::new()
    }
}

/// The options; each has a default.
impl Voxelizer {
    /// 128 voxels along the longest axis, the mesh's surface in its own colours, on the backend that
    /// suits the mesh, in any memory, on rayon's current threads.
    #[must_use]
    pub fn new() -> Self {
        Self {
            place: PlaceOptions::new(Sizing::Resolution(128)),
            up: Up::default(),
            mode: Mode::default(),
            color: ColorSource::default(),
            keep_transparent: false,
            memory: Arc::new(|| u64::MAX),
            time_stages: false,
            choice: BackendChoice::Auto,
            adapter: None,
            backends: Arc::new(Backends::new(BackendChoice::Auto, None)),
            pool: None,
            progress: Arc::new(NoProgress),
        }
    }

    /// So many voxels along the longest axis.
    #[must_use]
    pub fn resolution(self, voxels: u32) -> Self {
        self.sizing(Sizing::Resolution(voxels))
    }

    /// Voxels with edges of this length, in mesh units.
    #[must_use]
    pub fn voxel_size(self, size: f64) -> Self {
        self.sizing(Sizing::VoxelSize(size))
    }

    /// The size of voxels.
    #[must_use]
    pub fn sizing(mut self, sizing: Sizing) -> Self {
        self.place.sizing = sizing;
        self
    }

    /// The box to voxelize, instead of the mesh's own.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.place.bounds = Some(bounds);
        self
    }

    /// So many more voxels on all six sides.
    #[must_use]
    pub fn pad(mut self, voxels: u32) -> Self {
        self.place.pad = voxels;
        self
    }

    /// All about the placement at once.
    #[must_use]
    pub fn place_options(self, place: PlaceOptions) -> Self {
        Self { place, ..self }
    }

    /// The mesh's up axis, which formats keep.
    #[must_use]
    pub fn up(self, up: Up) -> Self {
        Self { up, ..self }
    }

    /// Which voxels are occupied.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Where colours come from.
    #[must_use]
    pub fn color(self, color: ColorSource) -> Self {
        Self { color, ..self }
    }

    /// Whether voxels of a surface stay in which everything is transparent.
    #[must_use]
    pub fn keep_transparent(self, keep_transparent: bool) -> Self {
        Self { keep_transparent, ..self }
    }

    /// Which backend to use. A GPU is opened for the first mesh that needs it.
    #[must_use]
    pub fn backend(self, choice: BackendChoice) -> Self {
        let backends = Arc::new(Backends::new(choice, self.adapter.clone()));
        Self { choice, backends, ..self }
    }

    /// Part of the label of the GPU adapter to use.
    #[must_use]
    pub fn adapter(self, name: impl Into<String>) -> Self {
        let adapter = Some(name.into());
        let backends = Arc::new(Backends::new(self.choice, adapter.clone()));
        Self { adapter, backends, ..self }
    }

    /// Backends that others use as well.
    #[must_use]
    pub fn backends(self, backends: Arc<Backends>) -> Self {
        Self { backends, ..self }
    }

    /// The most bytes that any step may take beside the mesh.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.memory_from(move || bytes)
    }

    /// The same, asked before each step.
    #[must_use]
    pub fn memory_from(self, left: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { memory: Arc::new(left), ..self }
    }

    /// Computes on so many threads of its own; 0 for as many as there are cores. They start at the first
    /// use in each process, so the voxelizer can be used in a forked child.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { pool: Some(Arc::new(LazyPool::new(threads))), ..self }
    }

    /// Computes on the threads of `pool`.
    #[must_use]
    pub fn pool(self, pool: Arc<ThreadPool>) -> Self {
        Self { pool: Some(Arc::new(LazyPool::of(pool))), ..self }
    }

    /// Receives progress, and may cancel ([`Progress::is_cancelled`]).
    #[must_use]
    pub fn progress(self, progress: Arc<dyn Progress>) -> Self {
        Self { progress, ..self }
    }

    /// Whether a GPU measures the time of each stage, at some cost.
    #[must_use]
    pub fn time_stages(self, time_stages: bool) -> Self {
        Self { time_stages, ..self }
    }
}

/// The work.
impl Voxelizer {
    /// The voxels of `mesh`.
    ///
    /// # Errors
    /// The mesh cannot be placed so; the backend failed; too little memory; cancelled.
    pub fn run(&self, mesh: &Mesh) -> Result<Voxelized, VoxelizeError> {
        self.finish(self.place(mesh)?)
    }

    /// The voxels of the mesh in the file at `path`, by its extension.
    ///
    /// # Errors
    /// The file cannot be read; as [`run`](Self::run).
    pub fn run_file(&self, path: &Path) -> Result<Voxelized, VoxelizeError> {
        self.finish(self.place_file(path)?)
    }

    /// The voxels of the mesh in `bytes`, a file of the format `spec`, with its `sidecars`: only
    /// those are opened.
    ///
    /// # Errors
    /// As [`run_file`](Self::run_file).
    pub fn run_bytes(
        &self,
        bytes: Vec<u8>,
        spec: &MeshSpec,
        sidecars: &Sidecars,
    ) -> Result<Voxelized, VoxelizeError> {
        let options = self.read_options();
        let read = || read_mesh_from(bytes, spec, sidecars, &options);
        self.finish(self.read_and_place(read)?)
    }

    /// The voxels of many meshes, several at once, in the order of `items`, each with its key. An item
    /// that fails has an error, and the others go on. Each of the meshes that are worked on at the same
    /// time has an equal share of the memory; one that needs more is tried again with all of it, alone.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn many<K: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, Source), IntoIter: Send + 'static>,
    ) -> Result<Many<K>, BackendError> {
        let workers = self.install(rayon::current_num_threads)?;
        let (voxelizer, sharing) = (self.clone(), RwLock::new(()));
        let total = Arc::clone(&self.memory);
        let shared = self.clone().memory_from(move || total() / workers as u64);
        let work = move |(key, source): (K, Source)| {
            let result = {
                let _one_of_several = sharing.read().unwrap_or_else(PoisonError::into_inner);
                shared.run_source(&source)
            };
            let result = match result {
                Err(error) if error.is_memory() && workers > 1 => {
                    let _alone = sharing.write().unwrap_or_else(PoisonError::into_inner);
                    voxelizer.run_source(&source)
                }
                result => result,
            };
            (key, result)
        };
        let results = Ordered::new(items.into_iter(), workers, work).map_err(|error| {
            BackendError::Threads { threads: workers, reason: error.to_string() }
        })?;
        Ok(Many { results })
    }

    fn run_source(&self, source: &Source) -> Result<Voxelized, VoxelizeError> {
        match source {
            Source::File(path) => self.run_file(path),
            Source::Mesh(mesh) => self.run(mesh),
        }
    }

    /// What voxelizing `mesh` is likely to take. It places the mesh, and samples its triangles.
    ///
    /// # Errors
    /// The mesh cannot be placed so.
    pub fn estimate(&self, mesh: &Mesh) -> Result<Estimate, VoxelizeError> {
        let Placed { mesh, .. } = self.place(mesh)?;
        let dims = mesh.lattice().dims;
        let brick_pairs = brick_pairs(&mesh);
        let all_bricks = dims.iter().map(|&d| u64::from(d.div_ceil(BRICK))).product();
        let vertices = size_of_val(mesh.vertices()) as u64;
        let a_brick = 2 * GridBuilder::BYTES_KEPT + GridBuilder::BYTES_TO_ADD;
        Ok(Estimate {
            dims,
            brick_pairs,
            core_seconds: brick_pairs as f64 * 30e-9,
            memory: vertices + brick_pairs.min(all_bricks).saturating_mul(a_brick),
        })
    }

    /// What is read of a mesh's file: its appearance only where something depends on it.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        let options = ReadOptions::default().within((self.memory)());
        match self.color == ColorSource::Mesh || self.leaves_out() {
            true => options,
            false => options.without_appearance(),
        }
    }

    /// The first step: reads the mesh in the file at `path` and places it.
    ///
    /// # Errors
    /// It cannot be read, or not placed so; too little memory.
    pub fn place_file(&self, path: &Path) -> Result<Placed, VoxelizeError> {
        let options = self.read_options();
        self.read_and_place(|| read_mesh_with(path, &options))
    }

    /// The first step for a mesh in memory: places it.
    ///
    /// # Errors
    /// It cannot be placed so.
    pub fn place(&self, mesh: &Mesh) -> Result<Placed, VoxelizeError> {
        self.begin("place")?;
        let (mesh, time) = timed(|| self.install(|| place(mesh, &self.place)))?;
        let mesh = mesh?;
        let warnings = self.install(|| Warning::of_mesh(&mesh))?;
        Ok(Placed { mesh, warnings, timings: Timings { place: time, ..Timings::default() } })
    }

    /// Reads the mesh in the file at `path`, if it can then be placed in the memory that is left.
    ///
    /// # Errors
    /// It cannot be read; too little memory.
    pub fn load_file(&self, path: &Path) -> Result<Loaded, VoxelizeError> {
        let options = self.read_options();
        self.load(|| read_mesh_with(path, &options))
    }

    fn load(
        &self,
        read: impl FnOnce() -> Result<Loaded, ReadError> + Send,
    ) -> Result<Loaded, VoxelizeError> {
        self.begin("load")?;
        let before = (self.memory)();
        let loaded = self.install(read)??;
        let (positions, triangles) = (loaded.mesh.positions(), loaded.mesh.triangles());
        let held = size_of_val(positions) as u64 + size_of_val(triangles) as u64;
        // The placed mesh has half as many bytes for each vertex. What a process takes by measure is
        // more than the mesh itself.
        let needed = size_of_val(positions) as u64 / 2;
        let limit = (self.memory)().max(before.saturating_sub(held));
        if needed > limit {
            return Err(ReadError::Memory { needed, limit }.into());
        }
        Ok(loaded)
    }

    fn read_and_place(
        &self,
        read: impl FnOnce() -> Result<Loaded, ReadError> + Send,
    ) -> Result<Placed, VoxelizeError> {
        let (Loaded { mesh, warnings }, load) = timed(|| self.load(read))?;
        let mut placed = self.place(&mesh)?;
        placed.timings.load = load;
        placed.warnings.splice(..0, warnings.into_iter().map(Warning::File));
        Ok(placed)
    }

    /// The second step: the voxels, without colours.
    ///
    /// # Errors
    /// The backend failed; too little memory; cancelled.
    pub fn voxelize(&self, mesh: &PlacedMesh) -> Result<Voxelized, BackendError> {
        let (by, start) = timed(|| self.install(|| self.backends.choose(mesh)))?;
        self.voxelize_on(by?, start, mesh)
    }

    /// The voxels again, without colours, on the backend that did not compute them: all backends give
    /// the same.
    ///
    /// # Errors
    /// The other backend cannot be started, or failed; too little memory; cancelled.
    pub fn check(&self, mesh: &PlacedMesh, used: &UsedBackend) -> Result<Voxelized, BackendError> {
        let (by, start) = timed(|| self.backends.other_than(used.adapter.as_deref()))?;
        self.voxelize_on(by, start, mesh)
    }

    fn voxelize_on(
        &self,
        by: ChosenBackend,
        start: Duration,
        mesh: &PlacedMesh,
    ) -> Result<Voxelized, BackendError> {
        let options = self.run_options();
        // Taken outside the pool: a pool thread that waits for the GPU could hold up, by work stealing, the
        // thread that has it.
        let _turn = by.adapter().map(|_| self.backends.gpu_turn());
        let run = || voxelize(&by, mesh, self.mode, &options, &*self.progress);
        let voxels = self.install(run)??;
        let backend = UsedBackend { adapter: by.adapter().map(str::to_owned), reason: by.reason() };
        let mut voxelized = self.placed_voxels(mesh, voxels, backend)?;
        voxelized.warnings.splice(..0, by.warning().map(Warning::Backend));
        voxelized.timings.start = start;
        Ok(voxelized)
    }

    /// The asynchronous form of [`voxelize`](Self::voxelize), on an open GPU with this label, for a
    /// browser, where nothing may wait.
    ///
    /// # Errors
    /// The GPU failed; too little memory; cancelled.
    #[cfg(feature = "gpu")]
    pub async fn voxelize_async(
        &self,
        mesh: &PlacedMesh,
        gpu: &Gpu,
        label: &str,
    ) -> Result<Voxelized, BackendError> {
        let options = self.run_options();
        let voxels = voxelize_async(gpu, mesh, self.mode, &options, &*self.progress).await?;
        let backend =
            UsedBackend { adapter: Some(label.to_owned()), reason: "asked for".to_owned() };
        self.placed_voxels(mesh, voxels, backend)
    }

    fn run_options(&self) -> RunOptions {
        let memory = (self.memory)();
        RunOptions { memory, time_stages: self.time_stages, ..RunOptions::default() }
    }

    /// What a backend found, in the world of `mesh`.
    fn placed_voxels(
        &self,
        mesh: &PlacedMesh,
        voxels: Voxels,
        backend: UsedBackend,
    ) -> Result<Voxelized, BackendError> {
        let Voxels { mut grid, fill_report, report, voxelize, fill } = voxels;
        self.refuse_cancelled()?;
        grid.world = Some(World::of(mesh.lattice(), self.up));
        let warnings = fill_report.iter().flat_map(Warning::of_filling).collect();
        let fill = fill_report.as_ref().map(|_| fill);
        let timings = Timings { voxelize, fill, ..Timings::default() };
        Ok(Voxelized { grid, fill_report, transparent: 0, report, backend, warnings, timings })
    }

    /// The third step: the voxels' colours. Voxels of a surface in which everything is transparent are
    /// left out.
    ///
    /// # Errors
    /// Too little memory; cancelled.
    pub fn paint(
        &self,
        mesh: &PlacedMesh,
        voxelized: Voxelized,
    ) -> Result<Voxelized, BackendError> {
        let Voxelized { grid, mut warnings, mut timings, fill_report, .. } = voxelized;
        let (colored, time) = timed(|| self.install(|| self.colored(mesh, grid)))?;
        let Colored { grid, transparent } = colored?;
        self.refuse_cancelled()?;
        timings.color = mesh.appearance().map(|_| time);
        let is_solid = fill_report.is_some();
        let of_voxels = || Warning::of_voxels(mesh, &grid, is_solid, transparent);
        warnings.extend(self.install(|| of_voxels().collect::<Vec<_>>())?);
        Ok(Voxelized { grid, transparent, warnings, timings, fill_report, ..voxelized })
    }

    /// The grid in the colours asked for, without transparent voxels.
    ///
    /// # Errors
    /// Too little memory; cancelled.
    pub fn colored(&self, mesh: &PlacedMesh, grid: VoxelGrid) -> Result<Colored, BackendError> {
        let mut options = ColorOptions::new(self.mode);
        options.keep_transparent = self.keep_transparent;
        options.memory = (self.memory)();
        let is_clear = || mesh.appearance().is_some_and(|look| look.has_transparency());
        let is_needed = self.color == ColorSource::Mesh || self.leaves_out() && is_clear();
        let mut colored = match is_needed {
            true => color(mesh, grid, &options, &*self.progress)?,
            false => Colored::without_colors(grid),
        };
        match self.color {
            ColorSource::Mesh => {}
            ColorSource::None => colored.grid.colors = None,
            ColorSource::Uniform(color) => colored.grid.colors = Some(Colors::uniform(color)),
        }
        Ok(colored)
    }

    /// The second and third step.
    fn finish(&self, placed: Placed) -> Result<Voxelized, VoxelizeError> {
        let Placed { mesh, mut warnings, timings } = placed;
        let voxelized = self.voxelize(&mesh)?;
        let mut voxelized = self.paint(&mesh, voxelized)?;
        warnings.append(&mut voxelized.warnings);
        let Timings { load, place, .. } = timings;
        Ok(Voxelized {
            warnings,
            timings: Timings { load, place, ..voxelized.timings },
            ..voxelized
        })
    }

    /// Whether voxels may be left out for being transparent.
    fn leaves_out(&self) -> bool {
        !self.keep_transparent && !matches!(self.mode, Mode::Solid(_))
    }

    fn begin(&self, step: &str) -> Result<(), BackendError> {
        self.progress.start(step, 0);
        self.refuse_cancelled()
    }

    fn refuse_cancelled(&self) -> Result<(), BackendError> {
        if self.progress.is_cancelled() { Err(BackendError::Cancelled) } else { Ok(()) }
    }

    /// Does `work` on the threads that were asked for.
    fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, BackendError> {
        match &self.pool {
            Some(pool) => Ok(pool.get()?.install(work)),
            None => Ok(work()),
        }
    }
}

impl fmt::Debug for Voxelizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, up, mode, color, keep_transparent, choice, adapter, .. } = self;
        f.debug_struct("Voxelizer")
            .field("place", place)
            .field("up", up)
            .field("mode", mode)
            .field("color", color)
            .field("keep_transparent", keep_transparent)
            .field("choice", choice)
            .field("adapter", adapter)
            .finish_non_exhaustive()
    }
}

/// The results of [`Voxelizer::many`], in the order of the items. Dropping it ends the work after the
/// meshes in progress.
pub struct Many<K> {
    results: Ordered<(K, Result<Voxelized, VoxelizeError>)>,
}

impl<K> Iterator for Many<K> {
    type Item = (K, Result<Voxelized, VoxelizeError>);

    fn next(&mut self) -> Option<Self::Item> {
        self.results.next()
    }
}

impl<K> fmt::Debug for Many<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Many").finish_non_exhaustive()
    }
}

fn timed<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let began = Instant::now();
    let result = step()?;
    Ok((result, began.elapsed()))
}
