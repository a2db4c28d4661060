//! The steps: read, place, voxelize, colour.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::Duration;

use web_time::Instant;

#[cfg(feature = "gpu")]
use crate::engine::backend::BackendChoice;
use crate::engine::backend::{BackendError, ChosenBackend, RunOptions, check_cancelled};
#[cfg(feature = "gpu")]
use crate::engine::mode::voxelize_async;
use crate::engine::mode::{Mode, Voxels, voxelize};
use crate::engine::pool::LazyPool;
use crate::engine::{
    ColorSource, MeshSource, Placed, Timings, UsedBackend, VoxelizeError, Voxelized, Voxelizer,
    Warning,
};
use crate::formats::{LoadedMesh, MeshFile, ReadError, ReadOptions, Sidecar};
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
#[cfg(feature = "gpu")]
use crate::gpu::voxelize::Gpu;
use crate::grid::{Colors, VoxelGrid, World};
use crate::lattice::{Lattice, PlaceError, PlacedMesh, Window, place, place_on};
use crate::mesh::Mesh;
use crate::solid::FillWarning;
use crate::surface::color::{ColorOptions, Colored, color};

/// A mesh, and what reading its file gave besides it.
pub(super) struct Read<'a> {
    pub(super) mesh: Cow<'a, Mesh>,
    /// The sidecar files that were looked for.
    sidecars: Vec<Sidecar>,
    pub(super) warnings: Vec<Warning>,
    /// The time of reading; `None` for a mesh in memory.
    time: Option<Duration>,
}

impl<'a> Read<'a> {
    fn in_memory(mesh: Cow<'a, Mesh>) -> Self {
        Self { mesh, sidecars: Vec::new(), warnings: Vec::new(), time: None }
    }
}

impl Voxelizer {
    /// The options for reading a mesh: its appearance only if colours or transparency need it.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        let options = ReadOptions::default().with_memory((self.memory)());
        match self.color == ColorSource::Mesh || self.leaves_out() {
            true => options,
            false => options.without_appearance(),
        }
    }

    /// The first step: reads the mesh, unless it is in memory, transforms and places it.
    ///
    /// # Errors
    /// It cannot be read, or not placed so; too little memory.
    pub fn place<'a>(&self, source: impl Into<MeshSource<'a>>) -> Result<Placed, VoxelizeError> {
        let Read { mesh, sidecars, warnings, time } = self.read(source.into())?;
        let mut placed = self.place_moved(&*self.moved(mesh)?)?;
        placed.timings.load = time;
        placed.sidecars = sidecars;
        placed.warnings.splice(..0, warnings);
        Ok(placed)
    }

    /// Reads the mesh, unless it is in memory.
    pub(super) fn read<'a>(&self, source: MeshSource<'a>) -> Result<Read<'a>, VoxelizeError> {
        let options = self.read_options();
        let (loaded, time) = match source {
            MeshSource::Mesh(mesh) => return Ok(Read::in_memory(mesh)),
            MeshSource::File(path) => {
                timed(|| self.load(|| MeshFile::read(&path, &options, &*self.progress)))?
            }
            MeshSource::Bytes { bytes, spec, sidecars } => {
                let bytes = bytes.into_owned();
                let file = || Ok(MeshFile::of_bytes(bytes, spec, &sidecars, &options));
                timed(|| self.load(file))?
            }
        };
        let LoadedMesh { mesh, warnings, sidecars, .. } = loaded;
        let warnings = warnings.into_iter().map(Warning::File).collect();
        Ok(Read { mesh: Cow::Owned(mesh), sidecars, warnings, time: Some(time) })
    }

    /// The mesh with its coordinates transformed.
    pub(super) fn moved<'a>(&self, mesh: Cow<'a, Mesh>) -> Result<Cow<'a, Mesh>, VoxelizeError> {
        if !self.transform.changes_coordinates() {
            return Ok(mesh);
        }
        let mesh = mesh.into_owned();
        Ok(Cow::Owned(self.install(|| self.transform.apply(mesh))??))
    }

    fn place_moved(&self, mesh: &Mesh) -> Result<Placed, VoxelizeError> {
        self.place_by(|| {
            let options = self.transform.place_options(mesh, self.place);
            let lattice = match (&self.lattice, &self.tile) {
                (None, None) => return place(mesh, &options),
                (Some(lattice), _) => *lattice,
                (None, Some(_)) => Lattice::of(mesh, &options)?,
            };
            let whole = place_on(mesh, &lattice)?;
            match &self.tile {
                Some(tile) => whole.in_window(&lattice.tile(tile)?, self.mode.reach()),
                None => whole.in_memory(),
            }
        })
    }

    /// The first step for a window of a lattice that was chosen before.
    ///
    /// # Errors
    /// The mesh cannot be placed so; the lattice has no such window.
    pub fn place_window(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        window: &Window,
    ) -> Result<Placed, VoxelizeError> {
        let mesh = self.moved(Cow::Borrowed(mesh))?;
        self.place_by(|| place_on(&mesh, lattice)?.in_window(window, self.mode.reach()))
    }

    fn place_by(
        &self,
        place: impl FnOnce() -> Result<PlacedMesh, PlaceError> + Send,
    ) -> Result<Placed, VoxelizeError> {
        self.begin("place")?;
        let (mesh, time) = timed(|| self.install(place))?;
        let mesh = mesh?;
        let warnings = self.install(|| Warning::of_mesh(mesh.whole()))?;
        let timings = Timings { place: time, ..Timings::default() };
        Ok(Placed { mesh, sidecars: Vec::new(), warnings, timings })
    }

    /// Reads the mesh in the file at `path`, if it can then be placed in the memory that is left.
    ///
    /// # Errors
    /// It cannot be read; too little memory.
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<LoadedMesh, VoxelizeError> {
        let (path, options) = (path.as_ref(), self.read_options());
        self.load(|| MeshFile::read(path, &options, &*self.progress))
    }

    fn load<'a>(
        &self,
        read: impl FnOnce() -> Result<MeshFile<'a>, ReadError>,
    ) -> Result<LoadedMesh, VoxelizeError> {
        self.begin("load")?;
        let before = (self.memory)();
        // Not on the pool, whose threads should not wait for a disk.
        let file = read()?;
        let loaded = self.install(|| file.parse(&*self.progress))??;
        let (positions, triangles) = (loaded.mesh.positions(), loaded.mesh.triangles());
        let held = size_of_val(positions) as u64 + size_of_val(triangles) as u64;
        // The placed mesh has half as many bytes per vertex. The limit may be measured, and then
        // the reader's freed buffers still count: the memory left is at least that of before,
        // minus the mesh.
        let needed = size_of_val(positions) as u64 / 2;
        let limit = (self.memory)().max(before.saturating_sub(held));
        if needed > limit {
            return Err(ReadError::Memory { needed, limit }.into());
        }
        Ok(loaded)
    }

    /// The second step: the voxels, without colours. For a mesh in a window, the grid includes a
    /// halo of one brick. [`paint`](Self::paint) needs the halo, and removes it.
    ///
    /// # Errors
    /// The backend failed; too little memory; cancelled.
    pub fn voxelize(&self, mesh: &PlacedMesh) -> Result<Voxelized, BackendError> {
        let (by, start) = timed(|| self.install(|| self.backends.choose(mesh)))?;
        self.voxelize_on(by?, start, mesh)
    }

    /// The voxels again, without colours, on the backend that did not compute them: all backends
    /// give the same.
    ///
    /// # Errors
    /// The other backend cannot be started, or failed; too little memory; cancelled.
    pub fn voxelize_on_other_backend(
        &self,
        mesh: &PlacedMesh,
        used: &UsedBackend,
    ) -> Result<Voxelized, BackendError> {
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
        let run = || voxelize(&by, mesh, self.mode, &options, &*self.progress);
        let voxels = self.run_on(&by, run)??;
        let backend = UsedBackend::new(&by);
        let mut voxelized = self.placed_voxels(mesh, voxels, backend)?;
        voxelized.warnings.splice(..0, by.warning().map(Warning::Backend));
        voxelized.timings.start = start;
        Ok(voxelized)
    }

    /// Runs `work` of this backend on the selected threads.
    pub(super) fn run_on<T: Send>(
        &self,
        by: &ChosenBackend,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, BackendError> {
        match by.adapter() {
            Some(_) => self.on_gpu(work),
            None => self.install(work),
        }
    }

    /// Runs `work` with exclusive use of the GPU, in a separate thread pool of the selected size.
    ///
    /// A waiting rayon thread runs other jobs of its pool. If `work` ran in the selected pool, two
    /// deadlocks would be possible: a job that waits for the GPU's lock runs on the stack of the
    /// job that holds it; or all threads of the pool wait for the lock, and none is left for the
    /// holder. Threads of the separate pool never wait for the lock. For a caller on a rayon
    /// thread, a plain thread holds it.
    fn on_gpu<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, BackendError> {
        let selected = self.pool.as_deref().map(LazyPool::threads);
        let threads = selected.unwrap_or_else(rayon::current_num_threads);
        let pool = LazyPool::of_gpu(threads).get()?;
        let run = || {
            let _turn = self.backends.gpu_turn();
            pool.install(work)
        };
        if rayon::current_thread_index().is_none() {
            return Ok(run());
        }
        std::thread::scope(|scope| {
            let holder = std::thread::Builder::new().spawn_scoped(scope, run);
            let refused =
                |error: io::Error| BackendError::Threads { threads: 1, reason: error.to_string() };
            let done = holder.map_err(refused)?.join();
            Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// The asynchronous form of [`voxelize`](Self::voxelize) for a browser, where nothing may wait.
    /// `gpu` is an open GPU with its label, or why there is none. The CPU computes if it was asked
    /// for, and if nothing was asked for and there is no GPU, or it fails.
    ///
    /// # Errors
    /// The GPU was asked for, and there is none, or it failed; too little memory; cancelled.
    #[cfg(feature = "gpu")]
    pub async fn voxelize_async(
        &self,
        mesh: &PlacedMesh,
        gpu: Result<(&Gpu, &str), &str>,
    ) -> Result<Voxelized, BackendError> {
        let on_cpu = |by| self.voxelize_on(by, Duration::ZERO, mesh);
        let (gpu, label, reason) = match (self.backends.choice(), gpu) {
            (BackendChoice::Cpu, _) => return on_cpu(ChosenBackend::cpu("asked for")),
            (BackendChoice::Auto, Err(why)) => return on_cpu(ChosenBackend::cpu(why)),
            (BackendChoice::Gpu, Err(why)) => {
                return Err(GpuError::NoAdapter(format!("no GPU to compute on: {why}")).into());
            }
            (BackendChoice::Auto, Ok((gpu, label))) => (gpu, label, "there is a GPU"),
            (BackendChoice::Gpu, Ok((gpu, label))) => (gpu, label, "asked for"),
        };
        let options = self.run_options();
        match voxelize_async(gpu, mesh, self.mode, &options, &*self.progress).await {
            Ok(voxels) => {
                let (adapter, reason) = (Some(label.to_owned()), reason.to_owned());
                self.placed_voxels(mesh, voxels, UsedBackend { adapter, reason })
            }
            Err(error)
                if self.backends.choice() == BackendChoice::Gpu
                    || error == BackendError::Cancelled =>
            {
                Err(error)
            }
            Err(error) => on_cpu(ChosenBackend::cpu_instead_of(label, &error)),
        }
    }

    fn run_options(&self) -> RunOptions {
        let memory = (self.memory)();
        RunOptions { memory, time_stages: self.time_stages, kernel: self.kernel }
    }

    /// What a backend found, in the world of `mesh`.
    fn placed_voxels(
        &self,
        mesh: &PlacedMesh,
        voxels: Voxels,
        backend: UsedBackend,
    ) -> Result<Voxelized, BackendError> {
        let Voxels { mut grid, fill_report, report, voxelize_time, fill_time } = voxels;
        check_cancelled(&*self.progress)?;
        grid.world = World::of(mesh.lattice(), self.up);
        let warnings = fill_report.iter().flat_map(Warning::of_filling).collect();
        let fill = fill_report.as_ref().map(|_| fill_time);
        let timings = Timings { voxelize: voxelize_time, fill, ..Timings::default() };
        Ok(Voxelized {
            grid,
            lattice: *mesh.whole().lattice(),
            triangles: mesh.len(),
            window: mesh.window().copied(),
            fill_report,
            transparent: 0,
            report,
            backend,
            warnings,
            timings,
        })
    }

    /// The third step: the voxels' colours. Voxels of a surface in which everything is transparent
    /// are left out; so are voxels outside the window of a mesh in a window.
    ///
    /// # Errors
    /// Too little memory; cancelled.
    ///
    /// # Panics
    /// As [`colored`](Self::colored): of a mesh in a window, also if the grid was painted already.
    pub fn paint(
        &self,
        mesh: &PlacedMesh,
        voxelized: Voxelized,
    ) -> Result<Voxelized, BackendError> {
        let Voxelized { grid, mut warnings, mut timings, fill_report, .. } = voxelized;
        let (colored, time) = timed(|| self.install(|| self.colored_window(mesh, grid)))?;
        let Colored { grid, transparent } = colored?;
        check_cancelled(&*self.progress)?;
        timings.color = mesh.appearance().map(|_| time);
        let of_voxels = || Warning::of_voxels(mesh, &grid, self.mode, self.interior, transparent);
        // The doubt about an empty solid already says why it is empty.
        let is_said = warnings.contains(&Warning::Fill(FillWarning::Nothing)) && !mesh.is_missed();
        let is_new = |warning: &Warning| !is_said || !matches!(warning, Warning::Empty { .. });
        warnings.extend(self.install(|| of_voxels().filter(is_new).collect::<Vec<_>>())?);
        Ok(Voxelized { grid, transparent, warnings, timings, fill_report, ..voxelized })
    }

    /// As [`colored`](Self::colored); of a mesh in a window, without the halo.
    fn colored_window(&self, mesh: &PlacedMesh, grid: VoxelGrid) -> Result<Colored, BackendError> {
        let Some(window) = mesh.kept() else { return self.colored(mesh, grid) };
        let before = grid.window(&window).occupied();
        let grid = self.colored(mesh, grid)?.grid.window(&window);
        Ok(Colored { transparent: before - grid.occupied(), grid })
    }

    /// The grid in the colours asked for, without transparent voxels.
    ///
    /// # Errors
    /// Too little memory; cancelled.
    ///
    /// # Panics
    /// As [`color`](fn@color), with any source of colours.
    pub fn colored(&self, mesh: &PlacedMesh, grid: VoxelGrid) -> Result<Colored, BackendError> {
        assert_eq!(grid.dims(), mesh.lattice().dims, "the grid of the mesh");
        let mut options = ColorOptions::new(self.mode);
        options.keep_transparent = self.keep_transparent;
        options.memory = (self.memory)();
        options.interior = self.interior;
        let is_clear = || mesh.appearance().is_some_and(|look| look.has_transparency());
        let is_needed = self.color == ColorSource::Mesh || self.leaves_out() && is_clear();
        let mut colored = match is_needed {
            true => color(mesh, grid, &options, &*self.progress)?,
            false => Colored::without_colors(grid),
        };
        match self.color {
            ColorSource::Mesh => {}
            ColorSource::Transparency | ColorSource::None => colored.grid.colors = None,
            ColorSource::Uniform(color) => colored.grid.colors = Some(Colors::uniform(color)),
        }
        Ok(colored)
    }

    /// Whether voxels may be left out for being transparent.
    fn leaves_out(&self) -> bool {
        let is_solid = matches!(self.mode, Mode::Solid(_));
        !self.keep_transparent && !is_solid && self.color != ColorSource::None
    }

    fn begin(&self, step: &str) -> Result<(), BackendError> {
        self.progress.start(step, 0);
        check_cancelled(&*self.progress)
    }

    /// Does `work` on the threads that were asked for.
    pub(super) fn install<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, BackendError> {
        match &self.pool {
            Some(pool) => Ok(pool.get()?.install(work)),
            None => Ok(work()),
        }
    }
}

pub(super) fn timed<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let began = Instant::now();
    let result = step()?;
    Ok((result, began.elapsed()))
}
