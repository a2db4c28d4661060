//! [`Voxelizer`] reads, places, voxelizes and colours a mesh in one call.
//!
//! The steps are public too: [`read_mesh`](crate::formats::read_mesh),
//! [`place`](fn@crate::place), [`voxelize`](fn@crate::voxelize), [`color`](fn@crate::color).

mod distances;
mod error;
mod estimate;
mod many;
mod options;
mod results;
mod source;
mod steps;
pub mod verify;
mod warning;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::pool::LazyPool;
use crate::backend::{Backends, VoxelKernel};
use crate::base::progress::{Deadline, Progress};
use crate::base::srgb::Rgba;
use crate::grid::{AttributeSet, Up};
use crate::lattice::transform::Transform;
use crate::lattice::{Lattice, MAX_DIM, MAX_SPAN_VOXELS, PlaceOptions, Tile, Window};
use crate::mesh::appearance::FilterChoice;
use crate::solid::mode::Mode;
use crate::surface::color::Blend;

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use crate::engine::distances::DistanceTexture;
pub use crate::engine::distances::{Distances, Measured};
pub use crate::engine::error::{VoxelizeError, code_of};
pub use crate::engine::estimate::Estimate;
pub use crate::engine::many::{Many, Shares};
pub use crate::engine::results::{BandSummary, Placed, Summary, Timings, Voxelized};
pub use crate::engine::source::MeshSource;
pub use crate::engine::verify::Verified;
pub use crate::engine::warning::{Remedy, Warning};

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
#[must_use]
pub struct Voxelizer {
    place: PlaceOptions,
    transform: Transform,
    up: Up,
    mode: Mode,
    color: ColorSource,
    attributes: AttributeSet,
    keep_transparent: bool,
    confined: bool,
    /// The colour of a solid far from its surface.
    interior: Option<Rgba>,
    filter: FilterChoice,
    blend: Blend,
    /// For all meshes, instead of one chosen by `place`.
    lattice: Option<Lattice>,
    tile: Option<Tile>,
    /// The width of the band of distances, in voxels; 0 without distances.
    band: f32,
    /// The part of the grid to compute, instead of a tile.
    window: Option<Window>,
    memory: Memory,
    time_stages: bool,
    kernel: VoxelKernel,
    backends: Arc<Backends>,
    /// `None`: rayon's current pool.
    pool: Option<Arc<LazyPool>>,
    progress: Arc<dyn Progress>,
    /// The limit for each mesh.
    time_limit: Option<Duration>,
}

/// The memory limit of a step in bytes, evaluated before each step.
type Memory = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The source of the voxels' colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ColorSource {
    /// The mesh's materials, textures and vertex colours.
    #[default]
    Mesh,
    /// No colours, but the mesh's transparency: fully transparent voxels are left out.
    Transparency,
    /// The mesh's appearance is ignored: no colours, and no voxels are left out.
    None,
    /// All voxels have this colour. Fully transparent voxels are left out.
    Uniform(Rgba),
}

/// Whole runs.
impl Voxelizer {
    /// Checks the options that no mesh can change, to report them before any mesh is read.
    ///
    /// # Errors
    /// An invalid resolution, voxel size, bounds, dimensions, lattice, scale or rotation.
    pub fn check(&self) -> Result<(), VoxelizeError> {
        self.transform.check()?;
        if let Some(lattice) = &self.lattice {
            return Ok(lattice.check()?);
        }
        let is_part = self.tile.is_some() || self.window.is_some();
        Ok(self.place.check(if is_part { MAX_SPAN_VOXELS } else { MAX_DIM })?)
    }

    /// The voxels of the mesh in `source`: a [`Mesh`](crate::Mesh), the path of a file, or the
    /// bytes of one.
    ///
    /// # Errors
    /// A file cannot be read; the mesh cannot be placed; the backend failed; too little memory;
    /// cancelled.
    pub fn run<'a>(&self, source: impl Into<MeshSource<'a>>) -> Result<Voxelized, VoxelizeError> {
        let voxelizer = self.with_deadline();
        let placed = voxelizer.place(source)?;
        Ok(voxelizer.paint(&placed.mesh, voxelizer.voxelize(&placed)?)?)
    }

    /// This voxelizer, which is cancelled at the time limit from now on.
    fn with_deadline(&self) -> Self {
        let progress = Arc::new(Deadline::new(Arc::clone(&self.progress), self.time_limit));
        Self { time_limit: None, progress, ..self.clone() }
    }
}

impl fmt::Debug for Voxelizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, mode, color, backends, .. } = self;
        f.debug_struct("Voxelizer")
            .field("place", place)
            .field("mode", mode)
            .field("color", color)
            .field("choice", &backends.choice)
            .field("adapter", &backends.adapter)
            .finish_non_exhaustive()
    }
}
