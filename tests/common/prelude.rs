//! What most tests name, so that the imports of a file are what is special to it.
#![allow(unused_imports, reason = "each test program uses a part of it")]

pub use std::collections::{BTreeMap, BTreeSet, HashMap};
pub use std::fs;
pub use std::path::{Path, PathBuf};

pub use fastrand::Rng;
pub use trivox::backend::{BackendChoice, Rule, RunOptions};
pub use trivox::base::srgb::{Rgba, linear_of, linear_of_rgba, rgba_of};
pub use trivox::formats::{
    GridFormat, LoadedGrid, LoadedMesh, MeshSpec, ReadError, ReadOptions, Sidecars, WriteOptions,
    read_grid, read_grid_from, read_mesh, read_mesh_from, read_mesh_with,
};
pub use trivox::grid::{Attribute, BRICK, BrickKey, Colors, FULL, Mask};
pub use trivox::lattice::Triangle;
pub use trivox::mesh::appearance::{Alpha, Filter, Material, Texture, TextureRef, Wrap};
pub use trivox::predicate::{Axis, touches};
pub use trivox::solid::{Fill, FillReport, Solid};
pub use trivox::{
    Appearance, Backend, BackendError, Bounds, ColorSource, Cpu, Lattice, Mesh, Mode, NoProgress,
    PlaceError, PlaceOptions, PlacedMesh, Progress, Sizing, Up, VoxelGrid, Voxelizer, World, place,
    place_on, voxelize,
};

#[cfg(feature = "gpu")]
pub use super::gpu::*;
pub use super::looks::*;
pub use super::progress::*;
pub use super::shapes::*;
pub use super::solids::*;
pub use super::vector::{cross, dot, length, minus, plus, symmetries};
pub use super::voxels::*;
pub use super::{environment, oracle};
#[cfg(feature = "gpu")]
pub use trivox::{Gpu, backend::gpu::BatchLimits};

pub const RED: Rgba = [255, 0, 0, 255];
pub const GREEN: Rgba = [0, 255, 0, 255];
pub const BLUE: Rgba = [0, 0, 255, 255];
