//! Exact mesh voxelization: a triangle mesh in, a sparse voxel grid out, the same bits on every
//! GPU and CPU.
//!
//! [`Voxelizer`] does everything in one call, from a mesh or a file to coloured voxels. The steps
//! are public too, one module each:
//!
//! 1. [`formats`] reads a file into a [`Mesh`], which is always valid; [`Transform`] scales,
//!    rotates and centres it.
//! 2. [`place`](fn@place) rounds the vertices once to an integer [`lattice`].
//! 3. A [`Backend`], [`Cpu`] or a GPU, determines the voxels that the triangles touch by the signs
//!    of integer polynomials ([`predicate`]), so all backends agree to the bit. A [`Mode`] is a
//!    surface, a thin surface or a solid ([`solid`](mod@solid)).
//! 4. The result is a [`VoxelGrid`]: sparse bricks of 8x8x8 voxels in canonical order, with a
//!    content hash ([`grid`](mod@grid)).
//! 5. [`color`](fn@color) computes the voxels' colours from the mesh's [`Appearance`]
//!    ([`surface`]); a `Palette` reduces them for formats with a palette.
//! 6. [`formats`] writes the grid, or its surface as a mesh.
//!
//! [`DistanceField`] has signed distances instead of voxels. [`view`] draws a grid by exact ray
//! tracing. [`compare`](fn@compare) compares two grids; [`engine::verify`] checks a grid from any
//! program against its mesh.
//!
//! Default features: `cli` (the program `voxelize`), `gltf-compression` (Draco and meshopt), `gpu`
//! (wgpu), `images` (textures, pictures and animations), `memory` (how much memory the process may
//! take) and `palette` (palettes, `.vox`, `.schem` and `.litematic`). The library needs none of
//! them.
//!
//! ```
//! use trivox::{Mesh, Voxelizer};
//!
//! let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
//! let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
//! let grid = Voxelizer::new().resolution(4).run(&mesh)?.grid;
//! assert_eq!(grid.dims(), [4, 4, 1]);
//! // Touching counts: the hypotenuse runs through corners of voxels.
//! assert_eq!(grid.occupied(), 13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same, step by step:
//!
//! ```
//! use trivox::{Cpu, Mesh, Mode, NoProgress, PlaceOptions, Sizing, place, voxelize};
//!
//! let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
//! let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
//! let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(4)))?;
//! let grid = voxelize(&Cpu, &placed, Mode::Surface, &Default::default(), &NoProgress)?.grid;
//! // Touching counts: the hypotenuse runs through corners of voxels.
//! assert_eq!(grid.occupied(), 13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_debug_implementations, missing_docs)]

pub mod backend;
pub mod base;
pub mod engine;
pub mod formats;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod grid;
pub mod lattice;
pub mod mesh;
pub mod predicate;
pub mod solid;
pub mod surface;
pub mod view;

pub use backend::cpu::Cpu;
#[cfg(feature = "gpu")]
pub use backend::gpu::Gpu;
pub use backend::{Backend, BackendError};
pub use base::error_code::ErrorCode;
#[cfg(feature = "memory")]
pub use base::memory;
pub use base::names::UnknownName;
pub use base::progress::{NoProgress, Progress};
pub use engine::{ColorSource, MeshSource, VoxelizeError, Voxelized, Voxelizer, code_of};
#[cfg(feature = "gpu")]
pub use gpu::GpuError;
pub use grid::compare::{Comparison, compare};
pub use grid::{GridError, Place, Up, VoxelGrid, World};
pub use lattice::transform::Transform;
pub use lattice::{
    Bounds, Lattice, PlaceError, PlaceOptions, PlacedMesh, Sizing, Tile, Window, place, place_on,
};
pub use mesh::appearance::Appearance;
pub use mesh::{Mesh, MeshError};
pub use solid::distance::DistanceField;
pub use solid::mode::{Mode, Voxels, voxelize};
pub use solid::proximity::{Nearest, Proximity, ProximityError};
pub use solid::topology::Topology;
pub use solid::{Fill, Solid};
pub use surface::color::{Blend, ColorOptions, color};
#[cfg(feature = "palette")]
pub use surface::palette::Palette;
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
