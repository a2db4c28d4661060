//! The options of a voxelizer.

use std::sync::Arc;
use std::time::Duration;

use rayon::ThreadPool;

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::backend::gpu::Gpu;
use crate::backend::pool::LazyPool;
use crate::backend::{BackendChoice, Backends, VoxelKernel};
use crate::base::progress::{NoProgress, Progress};
use crate::base::srgb::Rgba;
use crate::engine::{ColorSource, Voxelizer};
#[cfg(doc)]
use crate::grid::VoxelGrid;
use crate::grid::{Attribute, AttributeSet, Up};
use crate::lattice::transform::Transform;
use crate::lattice::{Bounds, Lattice, PlaceOptions, Sizing, Tile, Window};
use crate::mesh::appearance::FilterChoice;
use crate::solid::distance::MAX_WIDTH;
use crate::solid::mode::Mode;
use crate::surface::color::Blend;

impl Default for Voxelizer {
    fn default() -> Self {
        Self::new()
    }
}

/// The options; each has a default.
impl Voxelizer {
    /// The defaults: 256 voxels along the longest axis, the surface in the mesh's own colours, an
    /// automatic choice of the backend, unlimited memory, rayon's current threads.
    pub fn new() -> Self {
        Self {
            place: PlaceOptions::new(Sizing::Resolution(Sizing::DEFAULT_RESOLUTION)),
            transform: Transform::default(),
            up: Up::default(),
            mode: Mode::default(),
            color: ColorSource::default(),
            attributes: AttributeSet::default(),
            keep_transparent: false,
            confined: false,
            interior: None,
            filter: FilterChoice::default(),
            blend: Blend::default(),
            lattice: None,
            tile: None,
            band: 0.0,
            window: None,
            memory: Arc::new(|| u64::MAX),
            time_stages: false,
            kernel: VoxelKernel::default(),
            backends: Arc::new(Backends::new(BackendChoice::Auto, None)),
            pool: None,
            progress: Arc::new(NoProgress),
            time_limit: None,
        }
    }

    /// Sets the number of voxels along the longest axis.
    pub fn resolution(self, voxels: u32) -> Self {
        self.sizing(Sizing::Resolution(voxels))
    }

    /// Sets the length of a voxel's edge, in mesh units.
    pub fn voxel_size(self, size: f64) -> Self {
        self.sizing(Sizing::VoxelSize(size))
    }

    /// Sets the size of voxels.
    pub fn sizing(mut self, sizing: Sizing) -> Self {
        self.place.sizing = sizing;
        self
    }

    /// Sets the box to voxelize; by default the mesh's own.
    pub fn bounds(mut self, bounds: impl Into<Bounds>) -> Self {
        self.place.bounds = Some(bounds.into());
        self
    }

    /// Adds this many voxels on all six sides.
    pub fn pad(mut self, voxels: u32) -> Self {
        self.place.pad = voxels;
        self
    }

    /// Sets all options of the placement, in place of those set before.
    pub fn place_options(self, place: PlaceOptions) -> Self {
        Self { place, ..self }
    }

    /// Sets how meshes are transformed first. A grid of given dimensions has the mesh in its
    /// centre; bounds and padding then have no effect.
    pub fn transform(self, transform: Transform) -> Self {
        Self { transform, ..self }
    }

    /// Sets the mesh's up axis, which file formats store.
    pub fn up(self, up: Up) -> Self {
        Self { up, ..self }
    }

    /// Sets which voxels are occupied.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the source of colours.
    pub fn color(self, color: ColorSource) -> Self {
        Self { color, ..self }
    }

    /// Sets the [attributes](VoxelGrid::attributes) of each voxel; by default none. Voxels
    /// away from the surface have no values
    /// ([`VoxelSample::NONE`](crate::grid::VoxelSample::NONE)), except labels and coverage of a
    /// solid.
    pub fn attributes(self, attributes: impl IntoIterator<Item = Attribute>) -> Self {
        Self { attributes: attributes.into_iter().collect(), ..self }
    }

    /// Sets whether to keep voxels of a surface that are completely transparent.
    pub fn keep_transparent(self, keep_transparent: bool) -> Self {
        Self { keep_transparent, ..self }
    }

    /// Sets whether only sidecar files beside a mesh's file and below are read: for untrusted
    /// meshes.
    pub fn confined(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// Sets the colour of the voxels of a solid that are far from its surface. Without it they have
    /// the mean colour of the surface's voxels; in a tile, only of those in the tile and its halo.
    pub fn interior_color(self, color: Rgba) -> Self {
        Self { interior: Some(color), ..self }
    }

    /// Sets which surfaces in a voxel make its colour; by default all.
    pub fn blend(self, blend: Blend) -> Self {
        Self { blend, ..self }
    }

    /// Sets the magnification filter of all textures; by default each has its own.
    pub fn filter(self, filter: FilterChoice) -> Self {
        Self { filter, ..self }
    }

    /// Sets the lattice to place meshes on, chosen before, instead of one for each mesh. The size
    /// of voxels, the bounds and the padding then have no effect.
    pub fn lattice(self, lattice: Lattice) -> Self {
        Self { lattice: Some(lattice), ..self }
    }

    /// Sets the tile of the grid to compute, instead of the whole. Tiles together are the whole to
    /// the bit.
    ///
    /// The whole may have up to [`MAX_SPAN_VOXELS`](crate::lattice::MAX_SPAN_VOXELS) voxels along
    /// an axis. The tile's dimensions and place in the world are its own.
    pub fn tile(self, tile: Tile) -> Self {
        Self { tile: Some(tile), ..self }
    }

    /// Sets the part of the grid to compute, in voxels of the lattice, instead of the whole. It
    /// takes precedence over a [`tile`](Self::tile). A run fails if the grid does not have the
    /// window.
    ///
    /// ```
    /// use trivox::{Lattice, Mesh, PlaceOptions, Sizing, VoxelGrid, Voxelizer, Window};
    ///
    /// let corners = vec![[0.0, 0.0, 0.0], [32.0, 0.0, 0.0], [0.0, 8.0, 8.0]];
    /// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
    /// let lattice = Lattice::of(&mesh, &PlaceOptions::new(Sizing::Resolution(32)))?;
    /// let part = |from: u32, to: u32| {
    ///     let window = Window { from: [from, 0, 0], to: [to, 8, 8] };
    ///     Voxelizer::new().lattice(lattice).window(window).run(&mesh).map(|part| part.grid)
    /// };
    /// let (left, right) = (part(0, 24)?, part(24, 32)?);
    /// let whole = VoxelGrid::assemble([32, 8, 8], &[([0; 3], &left), ([24, 0, 0], &right)])?;
    /// assert_eq!(whole, Voxelizer::new().resolution(32).run(&mesh)?.grid);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }

    /// Selects the backend. A GPU is opened for the first mesh that needs it.
    pub fn backend(self, choice: BackendChoice) -> Self {
        Self { backends: Arc::new(self.backends.with_choice(choice)), ..self }
    }

    /// Selects the GPU adapter by a part of its label.
    pub fn adapter(self, name: impl Into<String>) -> Self {
        Self { backends: Arc::new(self.backends.with_adapter(name.into())), ..self }
    }

    /// Computes on a GPU that is open, such as [that of a renderer](crate::gpu::Device::from_wgpu).
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub fn gpu(self, gpu: Arc<Gpu>) -> Self {
        Self { backends: Arc::new(self.backends.with_gpu(gpu)), ..self }
    }

    /// Uses backends that are shared with others.
    pub fn backends(self, backends: Arc<Backends>) -> Self {
        Self { backends, ..self }
    }

    /// Limits the memory of each step besides the mesh, in bytes.
    pub fn memory(self, bytes: u64) -> Self {
        self.memory_from(move || bytes)
    }

    /// Limits the memory of each step to the result of `left` before the step, in bytes.
    pub fn memory_from(self, left: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { memory: Arc::new(left), ..self }
    }

    /// Uses a thread pool of its own; 0 is one thread per core. Threads start on first use in each
    /// process, so the voxelizer can be used in a forked child.
    pub fn threads(self, threads: usize) -> Self {
        Self { pool: Some(Arc::new(LazyPool::new(threads))), ..self }
    }

    /// Uses the threads of `pool`.
    pub fn pool(self, pool: Arc<ThreadPool>) -> Self {
        Self { pool: Some(Arc::new(LazyPool::of(pool))), ..self }
    }

    /// Sets the receiver of progress, which may cancel ([`Progress::is_cancelled`]).
    pub fn progress(self, progress: Arc<dyn Progress>) -> Self {
        Self { progress, ..self }
    }

    /// The receiver of progress. In the work of [`Shares::run`](crate::engine::Shares::run) it
    /// cancels at the time limit.
    #[must_use]
    pub fn progress_receiver(&self) -> &dyn Progress {
        &*self.progress
    }

    /// Limits the time of each mesh: work that takes longer is cancelled. Steps that are called one
    /// by one have no limit. In [`many`](Self::many) the time of a mesh that is processed again
    /// with all memory begins anew.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// Sets the width of the band that [`measure`](Self::measure) will compute, in voxels, so that
    /// the backend is chosen for the distances too.
    pub fn band(self, width: f32) -> Self {
        Self { band: width.min(MAX_WIDTH), ..self }
    }

    /// Sets whether a GPU measures the time of each stage, at some cost.
    pub fn time_stages(self, time_stages: bool) -> Self {
        Self { time_stages, ..self }
    }

    /// Sets the kernel with which a GPU tests voxels, wherever [`Rule::Conservative`] is used. The
    /// voxels do not depend on it.
    ///
    /// [`Rule::Conservative`]: crate::backend::Rule::Conservative
    pub fn kernel(self, kernel: VoxelKernel) -> Self {
        Self { kernel, ..self }
    }
}
