//! The library's errors: lower-case sentences that carry the values and name the fix.

use thiserror::Error;

use crate::place::{MAX_DIM, MAX_SPAN_VOXELS};
use crate::raymarch::MAX_DISTANCE;

/// A number as a person would write it: without three hundred digits.
fn short(number: &f64) -> String {
    match number.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-5..1e15).contains(&size) => {
            format!("{number:e}")
        }
        _ => number.to_string(),
    }
}

/// A number of bytes as a person would write it, rounded up.
fn bytes(number: &u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(bits, _)| number >> bits >= 1);
    unit.map_or(format!("{number} bytes"), |(bits, unit)| {
        format!("{:.1} {unit}", (*number as f64 / f64::from(1u32 << bits) * 10.0).ceil() / 10.0)
    })
}

/// Why a list of positions and triangles is not a valid [`Mesh`](crate::Mesh).
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There is nothing to voxelize.
    #[error("the mesh has no triangles")]
    NoTriangles,
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {index}, but there are {vertices} (counted from 0)")]
    IndexOutOfRange {
        /// Which triangle, from 0.
        triangle: usize,
        /// The vertex it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has the coordinate {value}, which is not a finite number")]
    NotFinite {
        /// Which vertex, from 0.
        vertex: usize,
        /// The coordinate.
        value: f64,
    },
    /// More vertices or triangles than a 32-bit index can name.
    #[error("the mesh has {count} {what}; at most {} are supported", u32::MAX)]
    TooLarge {
        /// `vertices` or `triangles`.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// What it looks like does not fit its triangles and vertices.
    #[error("the mesh's appearance does not fit it: {0}")]
    Appearance(String),
}

/// Why a mesh cannot be put on the lattice as asked.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A resolution of zero, or past the largest grid.
    #[error("a resolution of {0} is not possible: use 1 to {MAX_DIM}")]
    Resolution(u32),
    /// A voxel size that is not a positive finite number.
    #[error("a voxel size of {} is not possible: use a positive number", short(.0))]
    VoxelSize(f64),
    /// Bounds that are empty, inverted or not finite.
    #[error(
        "bounds from {} to {} on the {axis} axis are not possible: \
         use finite numbers with the minimum below the maximum", short(.min), short(.max)
    )]
    Bounds {
        /// `x`, `y` or `z`.
        axis: char,
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// All vertices are the same point, so no length can be divided into voxels.
    #[error(
        "all vertices are at one point ({}, {}, {}), so a resolution has no length to divide: \
         give a voxel size instead", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    NoExtent([f64; 3]),
    /// The extent, or a length divided by it, leaves the range of 64-bit floating point.
    #[error(
        "the mesh is {extent:e} units long, which cannot be divided into voxels of the size asked \
         for in 64-bit floating point: scale the mesh"
    )]
    ExtentRange {
        /// Longest extent in mesh units.
        extent: f64,
    },
    /// The grid would have more voxels along an axis than are supported.
    #[error(
        "the grid would be {} voxels along the {axis} axis, padding included; at most \
         {MAX_DIM} are supported: use a lower resolution or larger voxels", short(.voxels)
    )]
    TooManyVoxels {
        /// `x`, `y` or `z`.
        axis: char,
        /// Voxels along it (a float: it may be past any integer type).
        voxels: f64,
    },
    /// The mesh reaches so far past the bounds that its vertices do not fit the lattice.
    #[error(
        "the mesh and the bounds together span {} voxels; at most {MAX_SPAN_VOXELS} can be \
         represented exactly: use larger voxels or cut the mesh", short(.voxels)
    )]
    TooFar {
        /// The distance in voxels.
        voxels: f64,
    },
}

/// Why bricks, or a file of them, do not make a [`VoxelGrid`](crate::VoxelGrid).
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid with no voxels along an axis, or too many.
    #[error("a grid of {}x{}x{} voxels is not possible: use 1 to {MAX_DIM} per axis", .0[0], .0[1], .0[2])]
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
}

/// Why a ray cannot be searched along.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RayError {
    /// An origin that is too far from the grid, or not finite.
    #[error(
        "a ray from ({}, {}, {}) is not possible: begin at most {MAX_DISTANCE} voxels from the grid's \
         corner along each axis", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Origin([f64; 3]),
    /// A direction that is none.
    #[error(
        "a ray to ({}, {}, {}) is not possible: use finite numbers that are not all zero, and for \
         integers at most 2^24", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    Direction([f64; 3]),
}

/// Why a backend could not voxelize.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The machine has no adapter, or none of the name asked for.
    #[error("{0}")]
    NoAdapter(String),
    /// The adapter lacks something the shaders need.
    #[error("adapter {adapter} has {what} of {has}, but {needs} is needed")]
    Unsuitable {
        /// The adapter's label.
        adapter: String,
        /// The limit's name.
        what: &'static str,
        /// What the adapter has.
        has: u64,
        /// What the shaders need.
        needs: u64,
    },
    /// The device was lost, ran out of memory, timed out or reported an error.
    #[error("the GPU failed: {0}")]
    Device(String),
    /// The grid does not fit in the memory that it may take.
    #[error(
        "the grid needs about {} of memory, {} are allowed: use a lower resolution, or allow more",
        bytes(.needed), bytes(.allowed)
    )]
    Memory {
        /// Bytes that would do.
        needed: u64,
        /// Bytes that are allowed.
        allowed: u64,
    },
    /// Something is larger than the adapter allows a buffer to be.
    #[error(
        "the {what} take {}, and the GPU's buffers hold {} at most: use a lower resolution, or the CPU",
        bytes(.size), bytes(.limit)
    )]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size, in bytes.
        size: u64,
        /// That of the largest buffer.
        limit: u64,
    },
    /// The mesh has holes, and the grid no room for what lies past them.
    #[error(
        "a vote on what is inside needs one voxel more than the grid has, and {MAX_DIM} is the most: \
         use fewer voxels, or another fill"
    )]
    NoRoomToVote,
    /// What was computed is no grid: a mistake in this library.
    #[error("{0}: this is a bug in trivox")]
    Grid(#[from] GridError),
    /// The caller cancelled the work ([`Progress::is_cancelled`](crate::Progress::is_cancelled)).
    #[error("cancelled")]
    Cancelled,
    /// The worker threads could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The operating system's reason.
        reason: String,
    },
}
