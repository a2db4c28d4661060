//! Exact mesh voxelization: a triangle mesh in, a sparse voxel grid out, the same bits on every
//! GPU and CPU.
//!
//! The pipeline, one module per step:
//!
//! 1. [`formats`] reads a file into a [`Mesh`], the one definition of a valid mesh.
//! 2. [`place`](mod@place) rounds its vertices once to an integer lattice. Floating point ends here.
//! 3. A [`voxelize`](mod@voxelize) decides which voxels the triangles touch. Every decision is the sign of an
//!    integer polynomial ([`predicate`]), so the CPU and every GPU agree to the bit.
//! 4. The result is a [`VoxelGrid`]: 8x8x8 bricks in one canonical order, with a content hash.
//! 5. [`color`](mod@color) gives its voxels the colours of the mesh, where it has any ([`appearance`]),
//!    and [`palette`] reduces them for formats that have few.
//! 6. [`formats`] writes it, or its surface ([`mesher`]).
//!
//! [`render`](mod@render) draws it, by rays that [`trace`] follows exactly.
//! [`compare`](fn@compare) tells how two grids differ, and [`verify`](mod@verify) what is wrong in a
//! grid, whoever made it.
//!
//! Default features: `cli` (the program `voxelize`), `gpu` (wgpu), `images` (textures and PNG pictures)
//! and `palette` (.vox, .schem and palettes). The library needs none of them.
//!
//! ```
//! use trivox::{Cpu, Backend, Mesh, NoProgress, PlaceOptions, Sizing, place};
//!
//! let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
//! let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
//! let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(4)))?;
//! let grid = Cpu::default().voxelize(&placed, &NoProgress)?;
//! assert_eq!(grid.dims(), [4, 4, 1]);
//! // The hypotenuse runs through corners of voxels, and touching counts.
//! assert_eq!(grid.occupied(), 13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod appearance;
pub mod color;
pub mod compare;
pub mod fill;
pub mod formats;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod grid;
pub mod mesh;
pub mod mesher;
pub mod mode;
#[cfg(feature = "palette")]
pub mod palette;
pub mod place;
pub mod predicate;
pub mod progress;
pub mod render;
pub mod solid;
pub mod srgb;
pub mod topology;
pub mod trace;
mod units;
pub mod verify;
pub mod voxelize;
pub mod voxelizer;

pub use appearance::Appearance;
pub use color::{ColorOptions, Colored, color};
pub use compare::{Comparison, compare};
#[cfg(feature = "gpu")]
pub use gpu::GpuError;
pub use grid::{GridError, Up, VoxelGrid, World};
pub use mesh::{Mesh, MeshError};
pub use mode::{Mode, Voxels, voxelize};
#[cfg(feature = "palette")]
pub use palette::Palette;
pub use place::{
    Bounds, Lattice, PlaceError, PlaceOptions, PlacedMesh, Sizing, Tile, Window, place, place_on,
};
pub use progress::{NoProgress, Progress};
pub use topology::Topology;
#[cfg(feature = "gpu")]
pub use voxelize::gpu::Gpu;
pub use voxelize::{Backend, BackendError, cpu::Cpu};
pub use voxelizer::{ColorSource, VoxelizeError, Voxelized, Voxelizer};
#[cfg(feature = "gpu")]
pub use wgpu;

/// The examples in the pages run as tests.
#[cfg(all(doctest, feature = "cli"))]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/library.md")]
    struct Library;
}
