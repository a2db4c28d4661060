//! The steps: read, place, voxelize, colour.

#[cfg(feature = "gpu")]
use crate::backend::gpu::Gpu;
use crate::backend::{
    Backend, BackendChoice, BackendError, Chosen, RunOptions, UsedBackend, check_cancelled,
};
use crate::base::timed;
use crate::engine::{
    ColorSource, MeshSource, Placed, Timings, VoxelizeError, Voxelized, Voxelizer, Warning,
};
use crate::formats::{LoadedMesh, MeshFile, ReadError, ReadOptions};
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
use crate::grid::{Attribute, AttributeSet, Colors, VoxelGrid, World};
use crate::lattice::{Lattice, PlacedMesh, place, place_on};
use crate::mesh::Mesh;
use crate::solid::mode::{Mode, Voxels, voxelize_async};
use crate::solid::{Fill, FillReport, FillWarning};
use crate::surface::attributes::{attributes, why_missing};
use crate::surface::color::{ColorOptions, color};

impl Voxelizer {
    /// The options for reading a mesh: its appearance only if colours, transparency or attributes
    /// need it, maps besides colours only if attributes do.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        let appearance = self.color == ColorSource::Mesh
            || self.drops_transparent()
            || self.attributes.iter().any(|of| of.needs_appearance());
        let of_maps = [Attribute::Metallic, Attribute::Roughness, Attribute::Emission];
        let maps = of_maps.iter().any(|attribute| self.attributes.contains(attribute));
        ReadOptions {
            memory: (self.memory)(),
            appearance,
            maps,
            confined: self.confined,
            ..ReadOptions::default()
        }
    }

    /// Reads the mesh, unless it is in memory. Refuses one too large to place in the memory left.
    ///
    /// # Errors
    /// It cannot be read; too little memory; cancelled.
    pub fn load<'a>(&self, source: impl Into<MeshSource<'a>>) -> Result<LoadedMesh, VoxelizeError> {
        let (source, options) = (source.into(), self.read_options());
        // Not on the pool, whose threads should not wait for a disk.
        let file = match source {
            MeshSource::Mesh(mesh) => return Ok(LoadedMesh::new(mesh.into_owned(), Vec::new())),
            MeshSource::Loaded(loaded) => return Ok(*loaded),
            MeshSource::File(path) => {
                self.begin("load")?;
                MeshFile::read(path, &options, &*self.progress)?
            }
            MeshSource::Bytes { bytes, spec, ref sidecars } => {
                self.begin("load")?;
                MeshFile::of_bytes(bytes.into_owned(), spec, sidecars, &options)
            }
        };
        let loaded = self.install(|| file.parse(&*self.progress))??;
        let (positions, triangles) = (loaded.mesh.positions(), loaded.mesh.triangles());
        let held = size_of_val(positions) as u64 + size_of_val(triangles) as u64;
        // The placed mesh has half as many bytes per vertex. The limit may be measured, and then
        // the reader's freed buffers still count: the memory left is at least that of before,
        // minus the mesh.
        let needed = size_of_val(positions) as u64 / 2;
        let limit = (self.memory)().max(options.memory.saturating_sub(held));
        if needed > limit {
            return Err(ReadError::Memory { needed, limit }.into());
        }
        Ok(loaded)
    }

    /// The first step: reads the mesh, unless it is in memory, transforms and places it.
    ///
    /// # Errors
    /// It cannot be read, or not placed so; the lattice has no such window; too little memory.
    pub fn place<'a>(&self, source: impl Into<MeshSource<'a>>) -> Result<Placed, VoxelizeError> {
        let source = source.into();
        let is_read = !matches!(source, MeshSource::Mesh(_) | MeshSource::Loaded(_));
        let (loaded, load) = timed(|| self.load(source))?;
        let LoadedMesh { mesh, warnings, sidecars } = loaded;
        let spacing = self.install(|| Warning::float_spacing(&mesh))?;
        let mesh = self.transformed(mesh)?;
        self.begin("place")?;
        let on_lattice = || {
            let options = self.transform.place_options(&mesh, self.place);
            let is_whole = self.tile.is_none() && self.window.is_none();
            let lattice = match self.lattice {
                Some(lattice) => lattice,
                None if is_whole => return place(&mesh, &options),
                None => Lattice::of(&mesh, &options)?,
            };
            let whole = place_on(&mesh, &lattice)?;
            let window = match (self.window, self.tile) {
                (None, Some(tile)) => lattice.tile(&tile)?,
                (Some(window), _) => window,
                (None, None) => return whole.in_memory(),
            };
            whole.in_window(&window, self.mode.reach())
        };
        let (placed, place) = timed(|| self.install(on_lattice))?;
        let placed = placed?;
        let of_mesh = self.install(|| Warning::of_mesh(placed.whole()))?;
        let scale = self.transform.scale.unwrap_or(1.0);
        let voxel_size = placed.lattice().voxel_size;
        let coarse = spacing.and_then(|spacing| Warning::of_spacing(spacing * scale, voxel_size));
        let warnings =
            warnings.into_iter().map(Warning::File).chain(of_mesh).chain(coarse).collect();
        let timings = Timings { load: is_read.then_some(load), place, ..Timings::default() };
        Ok(Placed { mesh: placed, sidecars, warnings, timings })
    }

    /// The mesh with its coordinates transformed.
    pub(super) fn transformed(&self, mesh: Mesh) -> Result<Mesh, VoxelizeError> {
        if !self.transform.changes_coordinates() {
            return Ok(mesh);
        }
        Ok(self.install(|| self.transform.apply(mesh))??)
    }

    /// The second step: the voxels, without colours, with the warnings and times of the first. For
    /// a mesh in a window, the grid includes a halo of one brick. [`paint`](Self::paint) needs the
    /// halo, and removes it.
    ///
    /// # Errors
    /// The backend failed; too little memory; cancelled.
    pub fn voxelize(&self, placed: &Placed) -> Result<Voxelized, BackendError> {
        let choose = || self.install(|| self.backends.choose(&placed.mesh, self.band))?;
        let (chosen, start) = timed(choose)?;
        let mut voxelized = self.voxelize_on(chosen, placed)?;
        voxelized.timings.start = start;
        Ok(voxelized)
    }

    /// The voxels of `chosen`, or of the CPU that replaces it.
    fn voxelize_on(&self, chosen: Chosen, placed: &Placed) -> Result<Voxelized, BackendError> {
        let run = |chosen: &Chosen| {
            let by = chosen.backend();
            by.wait(self.voxelize_by(by, chosen, placed))
        };
        Ok(self.run_on(chosen, run)?.0)
    }

    /// This voxelizer on the backend that is not the one `used`: the CPU after a GPU, and a GPU
    /// after the CPU, whatever was asked for. All backends give the same voxels and distances.
    pub fn on_other_backend(&self, used: &UsedBackend) -> Self {
        let other = if used.adapter.is_some() { BackendChoice::Cpu } else { BackendChoice::Gpu };
        self.clone().backend(other)
    }

    /// Runs `work` on the chosen backend or, if that is a GPU that fails, on the CPU that replaces
    /// it; and which it was. The CPU works on the selected threads, a GPU with as many of its own.
    pub(super) fn run_on<T: Send>(
        &self,
        chosen: Chosen,
        work: impl Fn(&Chosen) -> Result<T, BackendError> + Sync,
    ) -> Result<(T, Chosen), BackendError> {
        let threads = self.pool.as_deref().map(|pool| pool.threads);
        let threads = threads.unwrap_or_else(rayon::current_num_threads);
        let run = |chosen: &Chosen| match chosen.used.adapter {
            None => self.install(|| work(chosen))?,
            Some(_) => chosen.backend().exclusively(threads, || work(chosen))?,
        };
        match run(&chosen) {
            Ok(result) => Ok((result, chosen)),
            Err(error) => {
                let replacement = chosen.replacement(&error).ok_or(error)?;
                Ok((run(&replacement)?, replacement))
            }
        }
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
        placed: &Placed,
        gpu: Result<(&Gpu, &str), &str>,
    ) -> Result<Voxelized, BackendError> {
        let choice = self.backends.choice;
        let chosen = match (choice, gpu) {
            (BackendChoice::Cpu, _) => Chosen::cpu("asked for"),
            (BackendChoice::Auto, Err(why)) => Chosen::cpu(why),
            (BackendChoice::Gpu, Err(why)) => {
                return Err(GpuError::NoAdapter(format!("no GPU to compute on: {why}")).into());
            }
            (BackendChoice::Auto | BackendChoice::Gpu, Ok((gpu, label))) => {
                let has_fallback = choice == BackendChoice::Auto;
                let reason = if has_fallback { "there is a GPU" } else { "asked for" };
                let adapter = Some(label.to_owned());
                let chosen = Chosen { has_fallback, ..Chosen::new(adapter, reason) };
                match self.voxelize_by(Backend::Gpu(gpu), &chosen, placed).await {
                    Err(error) => chosen.replacement(&error).ok_or(error)?,
                    done => return done,
                }
            }
        };
        self.voxelize_on(chosen, placed)
    }

    /// The voxels by one backend, the chosen one, in the world of the mesh.
    async fn voxelize_by(
        &self,
        by: Backend<'_>,
        chosen: &Chosen,
        placed: &Placed,
    ) -> Result<Voxelized, BackendError> {
        let Placed { mesh, warnings, timings, .. } = placed;
        let (memory, time_stages) = ((self.memory)(), self.time_stages);
        let options = RunOptions { memory, time_stages, kernel: self.kernel };
        let run = voxelize_async(by, mesh, self.mode, &options, &*self.progress);
        let Voxels { mut grid, fill_report, report, voxelize_time, fill_time } = run.await?;
        check_cancelled(&*self.progress)?;
        grid.world = World::of(mesh.lattice(), self.up);
        let failure = chosen.warning.clone().map(Warning::Backend);
        let doubts = fill_report.iter().flat_map(|report| report.doubts.clone());
        let warnings = warnings.iter().cloned().chain(failure).chain(doubts.map(Warning::Fill));
        let holes =
            fill_report.as_ref().filter(|_| self.band > 0.0).and_then(FillReport::holes_text);
        let holes = holes.map(|holes| Warning::OpenDistances { holes });
        let warnings = warnings.chain(holes).collect();
        let fill = fill_report.as_ref().map(|_| fill_time);
        let timings = Timings { voxelize: voxelize_time, fill, ..*timings };
        Ok(Voxelized {
            grid,
            lattice: *mesh.whole().lattice(),
            triangles: mesh.len(),
            window: mesh.window().copied(),
            fill_report,
            transparent: 0,
            report,
            backend: chosen.used.clone(),
            warnings,
            timings,
        })
    }

    /// The third step: the voxels' colours and attributes. Voxels of a surface in which everything
    /// is transparent are left out; so are voxels outside the window of a mesh in a window.
    ///
    /// # Errors
    /// Too little memory; cancelled.
    ///
    /// # Panics
    /// As [`color`](fn@color), with any source of colours: of a mesh in a window, also if the grid
    /// was painted already.
    pub fn paint(
        &self,
        mesh: &PlacedMesh,
        voxelized: Voxelized,
    ) -> Result<Voxelized, BackendError> {
        self.install(|| {
            assert_eq!(voxelized.grid.dims(), mesh.lattice().dims, "the grid of the mesh");
            let window = mesh.own_window();
            let before = window.map(|window| voxelized.grid.window(&window).occupied());
            let Voxelized { grid, mut timings, .. } = voxelized;
            let ((grid, transparent), time) = timed(|| self.colored(mesh, grid))?;
            timings.color = mesh.appearance().map(|_| time);
            let mut voxelized = Voxelized { grid, transparent, timings, ..voxelized };
            check_cancelled(&*self.progress)?;
            self.add_attributes(mesh, &mut voxelized)?;
            if let Some((window, before)) = window.zip(before) {
                voxelized.grid = voxelized.grid.window(&window);
                voxelized.transparent = before - voxelized.grid.occupied();
            }
            self.add_warnings(mesh, &mut voxelized);
            Ok(voxelized)
        })?
    }

    /// The voxels that are not transparent, with colours, and the number of the others.
    fn colored(
        &self,
        mesh: &PlacedMesh,
        grid: VoxelGrid,
    ) -> Result<(VoxelGrid, u64), BackendError> {
        let is_clear = || mesh.appearance().is_some_and(|look| look.has_transparency());
        let is_needed = self.color == ColorSource::Mesh || self.drops_transparent() && is_clear();
        let (mut grid, transparent) = if is_needed {
            color(mesh, grid, &self.color_options(), &*self.progress)?
        } else {
            (grid, 0)
        };
        match self.color {
            ColorSource::Mesh => {}
            ColorSource::Transparency | ColorSource::None => grid.colors = None,
            ColorSource::Uniform(color) => grid.colors = Some(Colors::uniform(color)),
        }
        Ok((grid, transparent))
    }

    /// Adds the attributes that the mesh has, and a warning for each other one.
    fn add_attributes(
        &self,
        mesh: &PlacedMesh,
        voxelized: &mut Voxelized,
    ) -> Result<(), BackendError> {
        let Voxelized { grid, warnings, timings, fill_report, transparent, .. } = voxelized;
        let mut mode = self.mode;
        if let (Mode::Solid(solid), Some(FillReport { fill, .. })) = (&mut mode, &*fill_report) {
            // Parity was chosen where no column has overlaps. The finer grid of the coverage may
            // have some, so that the automatic fill chooses again.
            let is_chosen_again = solid.fill == Fill::Auto && *fill == Fill::Parity;
            solid.fill = if is_chosen_again { Fill::Auto } else { *fill };
        }
        let why_missing = |attribute| why_missing(mesh, attribute, mode);
        let without = |&of| Some(Warning::NoAttribute(of, why_missing(of)?));
        warnings.extend(self.attributes.iter().filter_map(without));
        let set = self.attributes.iter().copied().filter(|&of| why_missing(of).is_none());
        let set: AttributeSet = set.collect();
        if set.is_empty() {
            return Ok(());
        }
        let options = ColorOptions { mode, ..self.color_options() };
        let (found, time) = timed(|| attributes(mesh, grid, &set, &options, &*self.progress))?;
        timings.attributes = Some(time);
        let is_whole = mesh.own_window().is_none()
            && mesh.outside() == 0
            && *transparent == 0
            && grid.occupied() > 0;
        warnings.extend(Warning::of_labels(grid, &found, is_whole));
        warnings.extend(Warning::of_coverage(grid, &found, mode, fill_report.as_ref()));
        grid.attributes = Some(found.attributes);
        Ok(())
    }

    fn add_warnings(&self, mesh: &PlacedMesh, voxelized: &mut Voxelized) {
        let Voxelized { grid, warnings, transparent, .. } = voxelized;
        // The doubt about an empty solid already says why it is empty.
        let is_explained =
            warnings.contains(&Warning::Fill(FillWarning::Nothing)) && !mesh.is_missed();
        let of_voxels = Warning::of_voxels(mesh, grid, self.mode, self.interior, *transparent);
        let is_new = |warning: &Warning| !is_explained || !matches!(warning, Warning::Empty { .. });
        warnings.extend(of_voxels.filter(is_new));
        warnings.extend(Warning::of_size(mesh, grid, self.place.sizing));
    }

    fn color_options(&self) -> ColorOptions {
        let Self { mode, keep_transparent, interior, filter, blend, .. } = *self;
        ColorOptions { mode, keep_transparent, memory: (self.memory)(), interior, filter, blend }
    }

    /// Whether voxels may be left out for being transparent.
    fn drops_transparent(&self) -> bool {
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

#[cfg(all(test, feature = "gpu"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::Backends;
    use crate::gpu::promised;
    use crate::grid::VoxelGrid;
    use crate::mesh::Mesh;

    #[test]
    fn the_cpu_replaces_a_gpu_that_fails_only_where_it_may_and_says_so() {
        let Some(adapter) = promised().into_iter().next() else { return };
        let gpu = Arc::new(Gpu::new(&adapter).unwrap());
        gpu.device().device.destroy();
        while gpu.device().check().is_ok() {
            _ = gpu.device().device.poll(wgpu::PollType::Poll);
        }
        let chosen = |has_fallback| Chosen { has_fallback, ..Chosen::gpu(gpu.clone(), "a test") };
        let corners = vec![[0.0; 3], [8.0, 1.0, 2.0], [3.0, 7.0, 5.0]];
        let mesh = Mesh::new(corners, vec![[0, 1, 2]]).unwrap();
        let cpu = Backends::new(BackendChoice::Cpu, None);
        let voxelizer = Voxelizer::new().resolution(16).backends(Arc::new(cpu));
        let placed = voxelizer.place(&mesh).unwrap();
        let known = voxelizer.voxelize(&placed).unwrap();

        let voxelize = |chosen| voxelizer.voxelize_on(chosen, &placed);
        let refused = voxelize(chosen(false));
        assert!(matches!(refused, Err(BackendError::Gpu(_))), "{refused:?}");
        let replaced = voxelize(chosen(true)).unwrap();
        assert!(replaced.grid == known.grid);
        assert_eq!(replaced.backend.adapter, None);
        let label = adapter.label();
        assert_eq!(replaced.backend.reason, format!("gpu, {label} failed"));
        let warning = replaced.warnings[0].to_string();
        assert!(warning.starts_with(&format!("gpu, {label}: ")), "{warning}");
        assert!(warning.ends_with("; computed on the CPU instead"), "{warning}");

        let empty = || VoxelGrid::empty(known.grid.dims()).unwrap();
        let measure = |chosen| voxelizer.measure_on(chosen, &placed.mesh, empty(), 2.0);
        assert!(matches!(measure(chosen(false)), Err(BackendError::Gpu(_))));
        let measured = measure(chosen(true)).unwrap();
        assert!(measured.field == measure(Chosen::cpu("a test")).unwrap().field);
        assert_eq!(measured.backend.name(), "cpu");
        assert_eq!(measured.warnings[0], replaced.warnings[0]);
    }
}
