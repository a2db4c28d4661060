//! Placement: quantizes a mesh to an integer lattice, on which every later decision is exact.
//!
//! One voxel is `S = 2^F` lattice units wide. A vertex `p` is rounded once,
//! `u = round_ties_even((p - min) * scale) + pad * S`, and voxel `(i, j, k)` is the closed cube
//! `[i S, (i + 1) S] x [j S, (j + 1) S] x [k S, (k + 1) S]`. The operations are IEEE 754 basic
//! ones in a fixed order, so every host computes the same integers.
//!
//! # The bit budget
//!
//! Let `P` be the largest grid dimension in voxels, rounded up to a power of two and to at least
//! [`MIN_CUBE`]. `F` is the largest number up to [`MAX_FRACTION_BITS`] for which, on each axis, the
//! grid's cube `[0, P S]` and all vertices lie within one interval of length
//! `2^`[`SPAN_BITS`]. Therefore:
//!
//! - any two vertices, and any vertex and any point of that cube, differ by at most `2^24` per
//!   axis: such a difference is exact in `f32` and far from overflow in `i32`;
//! - every box that is tested, of `2^k <= P` voxels a side and aligned to its size, lies in that
//!   cube, so its centre does too (no backend tests larger ones);
//! - a box centre is at least half a voxel from the ends of the cube, so a vertex moved up by half
//!   a voxel still differs from box centres by at most `2^24` (the GPU backend moves triangles this
//!   way, so that box tests find the voxels with the next centres above);
//! - without explicit bounds all vertices lie in the grid, and `F = min(16, 24 - ceil_log2(M))`
//!   where `M` is the largest dimension.
//!
//! Rounding moves a vertex by at most half a unit, `2^-(F+1)` voxel, and `2^-28` unit for the
//! difference and the product in `f64` (below `2^24` units, each rounded by at most `2^-29`;
//! `2^-16` unit for the farthest anchor, `2^36` units away): 1/131072 voxel at 256 voxels, 1/512 at
//! 65,536. Vertices that share a position share a lattice point, so a closed mesh stays closed.
//!
//! # One lattice for several meshes or tiles
//!
//! A [`Lattice`] can be chosen first ([`Lattice::of`]), kept in a file, and used for any number of
//! meshes ([`place_on`]). It may have up to [`MAX_SPAN_VOXELS`] voxels per axis, more than a grid
//! in memory. A window of it ([`PlacedMesh::in_window`]) has the same lattice points, shifted by
//! whole bricks, so the voxels of a tile are those of the whole.

mod aabb;
mod choice;
mod distinct;
pub mod transform;
mod window;

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::{AXES, grouped, short, significant};
use crate::base::vector::{cross, minus};
pub(crate) use crate::lattice::aabb::Aabb;
pub use crate::lattice::choice::Lattice;
use crate::lattice::choice::MAX_SPAN;
pub(crate) use crate::lattice::distinct::Distinct;
pub(crate) use crate::lattice::window::WINDOW_STEP;
use crate::lattice::window::WindowPart;
pub use crate::lattice::window::{Tile, TileError, Tiles, Window, WindowReach};
use crate::mesh::Labels;
use crate::mesh::Mesh;
use crate::mesh::appearance::Appearance;

/// Most voxels along an axis of a grid in memory, padding included. A lattice may have
/// [`MAX_SPAN_VOXELS`].
pub const MAX_DIM: u32 = 1 << 16;
/// Largest `F`: a voxel is at most `2^16` lattice units wide.
pub const MAX_FRACTION_BITS: u32 = 16;
/// Smallest `F`: with fewer bits rounding would move a vertex by more than 1/32 voxel.
pub const MIN_FRACTION_BITS: u32 = 4;
/// All coordinates differ by at most `2^SPAN_BITS` lattice units.
pub const SPAN_BITS: u32 = 24;
/// Most voxels that mesh and grid together can span along an axis.
pub const MAX_SPAN_VOXELS: u32 = 1 << (SPAN_BITS - MIN_FRACTION_BITS);

/// The bit budget holds boxes of this many voxels a side for every grid: the largest that backends
/// test in small grids.
pub const MIN_CUBE: u32 = 64;

/// A triangle on the lattice: three corners of three coordinates.
pub type Triangle = [[i32; 3]; 3];

/// An error of placing a mesh on the lattice.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A number of voxels along an axis of zero, or past the largest grid.
    #[error(
        "{} voxels along an axis are not possible: use 1 to {}, or in tiles up to {}",
        grouped((*.0).into()), grouped(MAX_DIM.into()), grouped(MAX_SPAN_VOXELS.into())
    )]
    Resolution(u32),
    /// A voxel size that is not a positive finite number.
    #[error("a voxel size of {} is not possible: use a positive number", short(.0))]
    VoxelSize(f64),
    /// Bounds that are a point, inverted or not finite.
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
    /// The voxels of a grid of given dimensions are smaller than the rounding of its bounds.
    #[error(
        "64-bit floating point cannot tell the ends of the grid apart at {} on the {axis} axis: \
         use larger voxels, or move the mesh near the origin first", short(.at)
    )]
    Unresolved {
        /// `x`, `y` or `z`.
        axis: char,
        /// The coordinate of both ends.
        at: f64,
    },
    /// All vertices are the same point, so no length can be divided into voxels.
    #[error(
        "all vertices are at one point ({}, {}, {}), so a resolution has no length to divide: \
         give a voxel size instead", short(&.0[0]), short(&.0[1]), short(&.0[2])
    )]
    NoExtent([f64; 3]),
    /// The mesh or the box has no length along the axis with a number of voxels.
    #[error(
        "there is no length along the {} axis to divide into voxels: give the number along \
         another axis, or a voxel size", AXES.get(*.0).unwrap_or(&'?')
    )]
    NoLength(usize),
    /// The extent, or a length divided by it, leaves the range of 64-bit floating point.
    #[error(
        "the mesh is {} units long, which cannot be divided into voxels of the size asked for in \
         64-bit floating point: scale the mesh",
        if extent.is_finite() { significant(*extent, 6) } else { "more than 1.8e308".to_owned() }
    )]
    ExtentRange {
        /// Longest extent in mesh units.
        extent: f64,
    },
    /// The grid would have more voxels along an axis than are supported.
    #[error(
        "the grid would be {} voxels along the {axis} axis, padding included; at most \
         {} are supported: use a lower resolution, larger voxels or {}",
        significant(*.voxels, 6), grouped((*.limit).into()),
        if *.limit == MAX_DIM { "tiles" } else { "bounds" }
    )]
    TooManyVoxels {
        /// `x`, `y` or `z`.
        axis: char,
        /// Voxels along it (a float: it may be past any integer type).
        voxels: f64,
        /// The most: [`MAX_DIM`] for a grid, [`MAX_SPAN_VOXELS`] for a lattice.
        limit: u32,
    },
    /// Explicit dimensions that no grid can have.
    #[error(
        "a grid of {} x {} x {} voxels is not possible: each must be from 1 to {}",
        .dims[0], .dims[1], .dims[2], grouped((*.limit).into())
    )]
    Dims {
        /// The dimensions.
        dims: [u32; 3],
        /// The most: [`MAX_DIM`] for a grid, [`MAX_SPAN_VOXELS`] for a lattice.
        limit: u32,
    },
    /// The mesh reaches so far past the bounds that its vertices do not fit the lattice.
    #[error(
        "the mesh and the bounds together span {} voxels; at most {} can be represented exactly on \
         this lattice: use larger voxels, cut the mesh, or if the lattice is that of another mesh, \
         choose larger bounds for it", significant(*.voxels, 6), grouped((*.limit).into())
    )]
    TooFar {
        /// The distance in voxels.
        voxels: f64,
        /// The most: at most [`MAX_SPAN_VOXELS`], and fewer on a lattice with finer units.
        limit: u32,
    },
    /// A lattice, perhaps from a file, that no mesh can have.
    #[error("the lattice is not valid: {0}")]
    Lattice(&'static str),
    /// A tile or window that the lattice does not have.
    #[error(transparent)]
    Tile(#[from] TileError),
}

impl ErrorCode for PlaceError {
    fn code(&self) -> &'static str {
        match self {
            Self::Resolution(_) => "place.resolution",
            Self::VoxelSize(_) => "place.voxel_size",
            Self::Bounds { .. } => "place.bounds",
            Self::Unresolved { .. } => "place.unresolved",
            Self::NoExtent(_) | Self::NoLength(_) => "place.no_extent",
            Self::ExtentRange { .. } => "place.extent_range",
            Self::TooManyVoxels { .. } => "place.too_many_voxels",
            Self::Dims { .. } => "place.dims",
            Self::TooFar { .. } => "place.too_far",
            Self::Lattice(_) => "place.lattice",
            Self::Tile(error) => error.code(),
        }
    }
}

impl PlaceError {
    /// The fault of a grid's bounds, which follow from its dimensions if these are given.
    fn bounds(axis: usize, bounds: &Bounds, has_dims: bool) -> Self {
        let (axis, min, max) = (AXES[axis], bounds.min[axis], bounds.max[axis]);
        if has_dims && min == max {
            Self::Unresolved { axis, at: min }
        } else {
            Self::Bounds { axis, min, max }
        }
    }
}

/// The voxel size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizing {
    /// This many voxels along the longest axis, padding not counted.
    Resolution(u32),
    /// This many voxels along one axis, padding not counted.
    Along {
        /// 0 to 2, for x to z.
        axis: usize,
        /// Their number.
        voxels: u32,
    },
    /// A voxel's edge, in mesh units.
    VoxelSize(f64),
}

impl Sizing {
    /// The resolution where none is given.
    pub const DEFAULT_RESOLUTION: u32 = 256;

    /// A voxel's edge, in mesh units, of a mesh or a box with these bounds.
    fn voxel_size(self, bounds: &Bounds) -> f64 {
        match self {
            Self::Resolution(n) => bounds.longest() / f64::from(n),
            Self::Along { axis, voxels } => bounds.length(axis) / f64::from(voxels),
            Self::VoxelSize(s) => s,
        }
    }
}

/// An axis-aligned box in mesh units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Minimum corner.
    pub min: [f64; 3],
    /// Maximum corner.
    pub max: [f64; 3],
}

/// Options of [`place`]: voxel size, bounds and padding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct PlaceOptions {
    /// Voxel size, given directly or by a resolution.
    pub sizing: Sizing,
    /// The box to voxelize; `None` for the mesh's bounds. Parts of the mesh outside the box and its
    /// padding get no voxels.
    pub bounds: Option<Bounds>,
    /// Voxels added on all six sides. They are empty but for voxels that the surface only touches,
    /// unless the mesh reaches past explicit bounds.
    pub pad: u32,
    /// The grid's dimensions, padding included; `None` for those that the bounds need.
    pub dims: Option<[u32; 3]>,
}

impl From<[[f64; 3]; 2]> for Bounds {
    /// From the minimum and maximum corner, as [`Mesh::bounds`] gives them.
    fn from([min, max]: [[f64; 3]; 2]) -> Self {
        Self { min, max }
    }
}

impl Bounds {
    fn longest(&self) -> f64 {
        (0..3).map(|a| self.length(a)).fold(0.0, f64::max)
    }

    /// 0 for an axis above 2.
    fn length(&self, axis: usize) -> f64 {
        self.max.get(axis).zip(self.min.get(axis)).map_or(0.0, |(max, min)| max - min)
    }

    /// # Errors
    /// The bounds are inverted, not finite or a point. They may be flat.
    fn check(&self, has_dims: bool) -> Result<(), PlaceError> {
        // False for NaN.
        let is_possible = |axis: &usize| {
            let length = self.max[*axis] - self.min[*axis];
            length >= 0.0 && length.is_finite()
        };
        match (0..3).find(|axis| !is_possible(axis)) {
            Some(axis) => Err(PlaceError::bounds(axis, self, has_dims)),
            None if self.longest() == 0.0 => Err(PlaceError::bounds(0, self, has_dims)),
            None => Ok(()),
        }
    }
}

impl PlaceOptions {
    /// The mesh's own bounds, no padding.
    pub fn new(sizing: Sizing) -> Self {
        Self { sizing, bounds: None, pad: 0, dims: None }
    }

    /// With `pad` more voxels on all six sides.
    pub fn with_pad(self, pad: u32) -> Self {
        Self { pad, ..self }
    }

    /// With explicit `bounds` instead of the mesh's own.
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds: Some(bounds), ..self }
    }

    /// With these dimensions of the grid, whatever the bounds need.
    pub fn with_dims(self, dims: [u32; 3]) -> Self {
        Self { dims: Some(dims), ..self }
    }

    /// Checks what does not depend on a mesh; `limit` is the most voxels along an axis, [`MAX_DIM`]
    /// for a grid and [`MAX_SPAN_VOXELS`] in tiles.
    ///
    /// # Errors
    /// A resolution, voxel size, bounds or dimensions that are not possible.
    pub(crate) fn check(&self, limit: u32) -> Result<(), PlaceError> {
        match self.sizing {
            Sizing::Resolution(n) | Sizing::Along { voxels: n, .. } if n == 0 || n > limit => {
                return Err(PlaceError::Resolution(n));
            }
            // Also NaN.
            Sizing::VoxelSize(s) if !(s > 0.0 && s.is_finite()) => {
                return Err(PlaceError::VoxelSize(s));
            }
            _ => {}
        }
        if let Some(dims) = self.dims {
            if dims.iter().any(|d| !(1..=limit).contains(d)) {
                return Err(PlaceError::Dims { dims, limit });
            }
            // Dimensions that are not given include the padding.
            if self.pad > limit {
                let voxels = f64::from(dims[0]) + 2.0 * f64::from(self.pad);
                return Err(PlaceError::TooManyVoxels { axis: 'x', voxels, limit });
            }
        }
        self.bounds.map_or(Ok(()), |bounds| bounds.check(self.dims.is_some()))
    }
}

/// A mesh on the lattice. All later steps use integer arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedMesh {
    lattice: Lattice,
    pub(crate) vertices: Arc<Vec<[i32; 3]>>,
    pub(crate) triangles: Arc<Vec<[u32; 3]>>,
    appearance: Option<Arc<Appearance>>,
    labels: Option<Arc<Labels>>,
    /// The whole mesh and the window; `None` for a whole mesh.
    part: Option<Arc<WindowPart>>,
}

impl PlacedMesh {
    /// The lattice the vertices are on.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The number of triangles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there are no triangles, as in a window that the mesh does not reach.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Triangle `index`, in the mesh's order.
    ///
    /// # Panics
    /// There is no such triangle.
    #[must_use]
    #[inline]
    pub fn triangle(&self, index: usize) -> Triangle {
        let [a, b, c] = self.triangles[index];
        [self.vertices[a as usize], self.vertices[b as usize], self.vertices[c as usize]]
    }

    /// The lattice points of the vertices.
    #[must_use]
    pub fn vertices(&self) -> &[[i32; 3]] {
        &self.vertices
    }

    /// The vertex indices of the triangles, in the mesh's order.
    #[must_use]
    pub fn indices(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Bounding box of the triangles; the origin if there are none.
    pub(crate) fn bounds(&self) -> Aabb {
        let boxes = (0..self.len()).into_par_iter().map(|index| Aabb::of(&self.triangle(index)));
        boxes.reduce_with(Aabb::union).unwrap_or_default()
    }

    /// All triangles, in the mesh's order.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = Triangle> + '_ {
        (0..self.len()).map(|index| self.triangle(index))
    }

    /// The triangles that repeat an earlier one, with the corners in the same cyclic order; `None`
    /// if there are none.
    pub(crate) fn repeated(&self) -> Option<Vec<bool>> {
        let cyclic = |index: usize| {
            let mut triangle = self.triangle(index);
            let first = (0..3).min_by_key(|&corner| triangle[corner]).unwrap_or(0);
            triangle.rotate_left(first);
            (triangle, index)
        };
        let mut sorted: Vec<_> = (0..self.len()).into_par_iter().map(cyclic).collect();
        sorted.par_sort_unstable();
        let repeats = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let mut flags = None;
        for pair in repeats {
            flags.get_or_insert_with(|| vec![false; self.len()])[pair[1].1] = true;
        }
        flags
    }

    /// The bytes that [`repeated`](Self::repeated) takes.
    pub(crate) fn repeated_bytes(&self) -> u64 {
        self.len() as u64 * (size_of::<(Triangle, usize)>() + size_of::<bool>()) as u64
    }

    /// The materials and colours, if known.
    #[must_use]
    pub fn appearance(&self) -> Option<&Appearance> {
        self.appearance.as_deref()
    }

    /// Whether triangles have materials: several, or one with a name.
    pub(crate) fn has_materials(&self) -> bool {
        self.appearance().is_some_and(|look| match &look.materials[..] {
            [only] => !only.name.is_empty(),
            materials => !materials.is_empty(),
        })
    }

    /// The objects that triangles are of, if the file has any; by their index in the whole mesh.
    pub(crate) fn labels(&self) -> Option<&Labels> {
        self.labels.as_deref()
    }

    /// The number of triangles without area on the lattice. They are voxelized as segments or
    /// points.
    #[must_use]
    pub fn degenerate(&self) -> usize {
        self.count(|triangle| normal(triangle) == [0; 3])
    }

    /// The number of triangles that reach outside the grid: 0 unless bounds, dimensions or a
    /// lattice are given.
    #[must_use]
    pub fn outside(&self) -> usize {
        let end = self.lattice.end();
        self.count(|triangle| {
            let Aabb { lo, hi } = Aabb::of(triangle);
            (0..3).any(|a| lo[a] < 0 || i64::from(hi[a]) > end[a])
        })
    }

    /// Whether the bounds of every triangle lie outside the grid.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        let end = self.lattice.end();
        let is_apart = |triangle: &Triangle| {
            let Aabb { lo, hi } = Aabb::of(triangle);
            (0..3).any(|a| hi[a] < 0 || i64::from(lo[a]) > end[a])
        };
        self.count(is_apart) == self.len()
    }

    /// The same lattice points with voxels `2^bits` times as wide. A voxel that the end of the grid
    /// cuts is kept only if no triangle reaches outside the grid. `None` if `fraction_bits` would
    /// exceed [`MAX_FRACTION_BITS`].
    pub(crate) fn coarser(&self, bits: u32) -> Option<Self> {
        let Lattice { dims, fraction_bits, voxel_size, .. } = self.lattice;
        let fraction_bits =
            (fraction_bits + bits <= MAX_FRACTION_BITS).then_some(fraction_bits + bits)?;
        let past = if self.outside() == 0 { (1 << bits) - 1 } else { 0 };
        let dims = dims.map(|d| ((d + past) >> bits).max(1));
        let voxel_size = voxel_size * f64::from(1u32 << bits);
        let lattice = Lattice { dims, fraction_bits, voxel_size, ..self.lattice };
        Some(Self { lattice, appearance: None, labels: None, part: None, ..self.clone() })
    }

    fn count(&self, predicate: impl Fn(&Triangle) -> bool + Sync) -> usize {
        let indices = (0..self.len()).into_par_iter();
        indices.filter(|&index| predicate(&self.triangle(index))).count()
    }
}

/// Twice the area vector of a triangle: components of at most `2^49`.
pub(crate) fn normal(triangle: &Triangle) -> [i64; 3] {
    let [a, b, c] = triangle.map(|corner| corner.map(i64::from));
    cross(minus(b, a), minus(c, a))
}

/// Places `mesh` on the lattice of `options`.
///
/// # Errors
/// An impossible size, resolution or bounds; a resolution for a mesh without extent; a grid past
/// [`MAX_DIM`]; a mesh that reaches too far past the bounds.
pub fn place(mesh: &Mesh, options: &PlaceOptions) -> Result<PlacedMesh, PlaceError> {
    let lattice = Lattice::within(mesh.bounds(), options, MAX_DIM)?;
    Ok(rounded(mesh, lattice))
}

/// Places `mesh` on a given lattice, which may be larger than a grid in memory: then it is
/// voxelized window by window ([`PlacedMesh::in_window`]). Parts of the mesh outside the lattice
/// get no voxels.
///
/// # Errors
/// A lattice that is not valid; a mesh that reaches too far past it.
pub fn place_on(mesh: &Mesh, lattice: &Lattice) -> Result<PlacedMesh, PlaceError> {
    lattice.check()?;
    let span = lattice.span(mesh.bounds());
    if span.is_nan() || span > MAX_SPAN {
        return Err(PlaceError::TooFar {
            voxels: (span / f64::from(lattice.units_per_voxel())).ceil(),
            limit: lattice.max_span_voxels(),
        });
    }
    Ok(rounded(mesh, *lattice))
}

/// The mesh with its vertices rounded to `lattice`.
fn rounded(mesh: &Mesh, lattice: Lattice) -> PlacedMesh {
    let to_lattice = |p: &[f64; 3]| std::array::from_fn(|a| lattice.vertex_to_lattice(p[a], a));
    let positions = mesh.positions().par_iter().with_min_len(1 << 14);
    let vertices = Arc::new(positions.map(to_lattice).collect());
    let (triangles, appearance, labels) = mesh.shared();
    PlacedMesh { lattice, vertices, triangles, appearance, labels, part: None }
}
