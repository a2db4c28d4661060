//! Errors of making a grid.

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::grouped;
use crate::lattice::MAX_DIM;

/// An error in the bricks or voxels of a [`VoxelGrid`](crate::VoxelGrid).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid with no voxels along an axis, or too many.
    #[error("a grid of {}x{}x{} voxels is not possible: use 1 to {} per axis",
        .0[0], .0[1], .0[2], grouped(MAX_DIM.into()))]
    Dims([u64; 3]),
    /// An occupied voxel lies outside the grid.
    #[error("voxel ({}, {}, {}) lies outside a grid of {}x{}x{}",
        .voxel[0], .voxel[1], .voxel[2], .dims[0], .dims[1], .dims[2])]
    Outside {
        /// The voxel.
        voxel: [u32; 3],
        /// The grid's size.
        dims: [u32; 3],
    },
    /// A tile that does not begin at a brick of the whole, or reaches past its end.
    #[error(
        "a tile at voxel {at} of the {axis} axis does not fit a grid of {dim}: tiles begin at \
         multiples of 8 and end within the grid"
    )]
    Tile {
        /// `x`, `y` or `z`.
        axis: char,
        /// The tile's first voxel.
        at: u32,
        /// Voxels of the whole along the axis.
        dim: u32,
    },
    /// No tiles.
    #[error("there are no tiles to join")]
    NoTiles,
    /// A tile that does not say where it lies.
    #[error("a tile has no place in the world")]
    NoPlace,
    /// Tiles with voxels of other sizes, shifted by parts of a voxel, or with other up axes.
    #[error(
        "a tile is not on the lattice of the others: its voxels have another size or \
             place, or its up axis is another"
    )]
    OtherLattice,
    /// Places so far from the origin that their rounding hides the offset between them.
    #[error(
        "the grids lie {} voxels from the origin, where 64-bit floating point rounds their \
         places to parts of a voxel: move the mesh near the origin first", grouped(*.voxels)
    )]
    FarFromOrigin {
        /// The distance along an axis.
        voxels: u64,
    },
    /// Some tiles with voxels have colours, and some have none.
    #[error("some tiles have colours and others have none: make all of them with the same options")]
    SomeColors,
    /// Two tiles overlap.
    #[error(
        "two grids overlap at voxel ({}, {}, {}), but tiles of one grid do not: to combine several \
         meshes, voxelize them together with --label file; keep tiles in a format with their \
         dimensions (.binvox pads them)", .voxel[0], .voxel[1], .voxel[2]
    )]
    Overlap {
        /// The first voxel, or that of the first brick, that they share.
        voxel: [u32; 3],
    },
}

impl ErrorCode for GridError {
    fn code(&self) -> &'static str {
        match self {
            Self::Dims(_) => "grid.dims",
            Self::Outside { .. } => "grid.outside",
            Self::Tile { .. } | Self::Overlap { .. } => "grid.tile",
            Self::NoTiles => "grid.no_tiles",
            Self::NoPlace => "grid.no_place",
            Self::OtherLattice => "grid.other_lattice",
            Self::FarFromOrigin { .. } => "grid.far_from_origin",
            Self::SomeColors => "grid.some_colors",
        }
    }
}
