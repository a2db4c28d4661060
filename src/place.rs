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
//! [`MIN_CUBE`]. `F` is the largest number up to [`MAX_UNIT_BITS`] for which, on each axis, the
//! grid's cube `[0, P S]` and all vertices lie within one interval of length
//! `2^`[`SPAN_BITS`]. Therefore:
//!
//! - any two vertices, and any vertex and any point of that cube, differ by at most `2^24` per
//!   axis: such a difference is exact in `f32` and far from overflow in `i32`;
//! - every box that is tested, of `2^k <= P` voxels a side and aligned to its size, lies in that
//!   cube, so its centre does too (no backend tests larger ones);
//! - a box centre is at least half a voxel from the ends of the cube, so a vertex moved up by half
//!   a voxel still differs from box centres by at most `2^24` (backends move triangles this way, so
//!   that box tests find the voxels with the next centres above);
//! - without explicit bounds all vertices lie in the grid, and `F = min(16, 24 - ceil_log2(M))`
//!   where `M` is the largest dimension.
//!
//! Rounding moves a vertex by at most half a unit, `2^-(F+1)` voxel: 1/131072 at 256 voxels,
//! 1/512 at 65,536. Vertices that share a position share a lattice point, so a closed mesh stays
//! closed.

//!
//! # One lattice for several meshes or tiles
//!
//! A [`Lattice`] can be chosen first ([`Lattice::of`]), kept in a file, and used for any number of
//! meshes ([`place_on`]). It may have up to [`MAX_SPAN_VOXELS`] voxels an axis, more than a grid in
//! memory. A window of it ([`PlacedMesh::in_window`]) has the same lattice points, shifted by whole
//! bricks, so the voxels of a tile are those of the whole.

mod window;

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::appearance::Appearance;
use crate::mesh::Mesh;
use crate::place::window::Part;
pub(crate) use crate::place::window::WINDOW_STEP;
pub use crate::place::window::{Reach, Tile, TileError, Tiles, Window};

/// Most voxels along an axis of a grid in memory, padding included. A lattice may have
/// [`MAX_SPAN_VOXELS`].
pub const MAX_DIM: u32 = 1 << 16;
/// Largest `F`: a voxel is at most `2^16` lattice units wide.
pub const MAX_UNIT_BITS: u32 = 16;
/// Smallest `F`: with fewer bits rounding would move a vertex by more than 1/32 voxel.
pub const MIN_UNIT_BITS: u32 = 4;
/// All coordinates differ by at most `2^SPAN_BITS` lattice units.
pub const SPAN_BITS: u32 = 24;
/// Most voxels that mesh and grid together can span along an axis.
pub const MAX_SPAN_VOXELS: u32 = 1 << (SPAN_BITS - MIN_UNIT_BITS);

/// The bit budget holds boxes of this many voxels a side for every grid: the largest that backends
/// test in small grids.
pub const MIN_CUBE: u32 = 64;

/// A triangle on the lattice: three corners of three coordinates.
pub type Triangle = [[i32; 3]; 3];

/// Why a mesh cannot be placed on the lattice.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A resolution of zero, or past the largest grid.
    #[error(
        "a resolution of {0} is not possible: use 1 to {MAX_DIM}, or in tiles up to \
         {MAX_SPAN_VOXELS}"
    )]
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
         {limit} are supported: use a lower resolution, larger voxels or {}",
        short(.voxels), if *.limit == MAX_DIM { "tiles" } else { "bounds" }
    )]
    TooManyVoxels {
        /// `x`, `y` or `z`.
        axis: char,
        /// Voxels along it (a float: it may be past any integer type).
        voxels: f64,
        /// The most: [`MAX_DIM`] for a grid, [`MAX_SPAN_VOXELS`] for a lattice.
        limit: u32,
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
    /// A lattice, perhaps from a file, that no mesh can have.
    #[error("the lattice is not valid: {0}")]
    Lattice(&'static str),
    /// A tile or window that the lattice does not have.
    #[error(transparent)]
    Tile(#[from] TileError),
}

/// Formats a number for a message, with an exponent where it would have many zeros.
pub(crate) fn short(number: &f64) -> String {
    match number.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-5..1e15).contains(&size) => {
            format!("{number:e}")
        }
        _ => number.to_string(),
    }
}

/// The voxel size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizing {
    /// This many voxels along the longest axis, padding not counted.
    Resolution(u32),
    /// A voxel's edge, in mesh units.
    VoxelSize(f64),
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
pub struct PlaceOptions {
    /// Voxel size, given directly or by a resolution.
    pub sizing: Sizing,
    /// The box to voxelize; `None` for the mesh's bounds. Parts of the mesh outside the box and its
    /// padding get no voxels.
    pub bounds: Option<Bounds>,
    /// Voxels added on all six sides; empty, unless the mesh reaches past explicit bounds.
    pub pad: u32,
}

impl Bounds {
    fn longest(&self) -> f64 {
        (0..3).map(|a| self.max[a] - self.min[a]).fold(0.0, f64::max)
    }
}

impl PlaceOptions {
    /// The mesh's own bounds, no padding.
    #[must_use]
    pub fn new(sizing: Sizing) -> Self {
        Self { sizing, bounds: None, pad: 0 }
    }

    /// With `pad` more voxels on all six sides.
    #[must_use]
    pub fn with_pad(self, pad: u32) -> Self {
        Self { pad, ..self }
    }

    /// With explicit `bounds` instead of the mesh's own.
    #[must_use]
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds: Some(bounds), ..self }
    }
}

/// The integer lattice of one grid, and its position in mesh coordinates.
///
/// It is the whole of what determines where vertices are rounded to. It serializes with serde; a
/// number survives a round trip through JSON.
///
/// ```
/// use trivox::{Lattice, Mesh, PlaceOptions, Sizing, place, place_on};
///
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let options = PlaceOptions::new(Sizing::Resolution(1000));
/// let text = serde_json::to_string(&Lattice::of(&mesh, &options)?)?;
/// let lattice: Lattice = serde_json::from_str(&text)?;
/// assert_eq!(place_on(&mesh, &lattice)?, place(&mesh, &options)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Voxels along each axis, padding included; 1 to [`MAX_SPAN_VOXELS`].
    pub dims: [u32; 3],
    /// `F`: a voxel is `2^unit_bits` lattice units wide.
    pub unit_bits: u32,
    /// Lattice units per mesh unit.
    pub scale: f64,
    /// A voxel's edge, in mesh units: as given, or the longest axis divided by the resolution.
    pub voxel_size: f64,
    /// The grid's minimum corner, in mesh units. Lattice point `u` lies at `origin + u / scale`.
    pub origin: [f64; 3],
    /// The point from which vertices are rounded, in mesh units: the minimum corner without padding.
    pub anchor: [f64; 3],
    /// The voxel whose minimum corner is the anchor: of a whole grid the padding along each axis, of
    /// a window what that is from the window's first voxel.
    pub anchor_voxel: [i32; 3],
}

impl Lattice {
    /// The lattice of `options` for `mesh`: that of [`place`], with up to [`MAX_SPAN_VOXELS`] voxels
    /// along an axis.
    ///
    /// # Errors
    /// As [`place`].
    pub fn of(mesh: &Mesh, options: &PlaceOptions) -> Result<Self, PlaceError> {
        choose(mesh.bounds(), options, MAX_SPAN_VOXELS)
    }

    /// # Errors
    /// A value out of range, as it may be in a lattice from a file.
    fn check(&self) -> Result<(), PlaceError> {
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        let finite = self.origin.iter().chain(&self.anchor).all(|number| number.is_finite());
        let largest = MAX_SPAN_VOXELS as i32;
        let problem = if !self.dims.iter().all(|dim| (1..=MAX_SPAN_VOXELS).contains(dim)) {
            "a dimension is not from 1 to 1048576"
        } else if !(MIN_UNIT_BITS..=MAX_UNIT_BITS).contains(&self.unit_bits) {
            "unit_bits is not from 4 to 16"
        } else if !is_positive(self.scale) || !is_positive(self.voxel_size) {
            "scale and voxel_size must be positive numbers"
        } else if !finite || self.anchor_voxel.iter().any(|at| !(-largest..=largest).contains(at)) {
            "origin, anchor and anchor_voxel must be finite numbers, and the last within the grid"
        } else {
            return Ok(());
        };
        Err(PlaceError::Lattice(problem))
    }

    /// The lattice point of coordinate `p` on `axis`: an integer, perhaps out of range.
    #[inline]
    fn lattice_point(&self, p: f64, axis: usize) -> f64 {
        let anchor = f64::from(self.anchor_voxel[axis]) * f64::from(self.unit());
        ((p - self.anchor[axis]) * self.scale).round_ties_even() + anchor
    }

    /// The same, of a vertex that is used. Such a coordinate is below `2^25`, and adding `2^52` and
    /// a half of it leaves no bits for a fraction, so the sum is rounded to nearest, ties to even:
    /// much faster than `round_ties_even` on processors for which that is a function. An unused
    /// vertex may be out of range or NaN; its coordinates have no meaning, but are defined.
    #[inline]
    fn vertex_to_lattice(&self, p: f64, axis: usize) -> i32 {
        const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
        let anchor = f64::from(self.anchor_voxel[axis]) * f64::from(self.unit());
        let rounded = ((p - self.anchor[axis]) * self.scale + ROUNDING) - ROUNDING;
        (rounded + anchor) as i32
    }

    /// The length, in lattice units, of the interval that holds the grid's cube and all vertices;
    /// the largest of the three axes.
    fn span(&self, [min, max]: [[f64; 3]; 2]) -> f64 {
        let cube = f64::from(self.cube()) * f64::from(self.unit());
        let span = |a: usize| {
            self.lattice_point(max[a], a).max(cube) - self.lattice_point(min[a], a).min(0.0)
        };
        span(0).max(span(1)).max(span(2))
    }

    /// Voxels along the edge of the grid's cube, `P`.
    fn cube(&self) -> u32 {
        cube(self.dims)
    }

    /// `unit_bits` for a mesh that does not reach past the grid.
    #[must_use]
    pub fn unit_bits_of_grid(&self) -> u32 {
        let longest = self.dims[0].max(self.dims[1]).max(self.dims[2]);
        MAX_UNIT_BITS.min(SPAN_BITS - longest.next_power_of_two().ilog2())
    }

    /// A voxel's edge in lattice units, `S`.
    #[must_use]
    pub fn unit(&self) -> i32 {
        1 << self.unit_bits
    }
}

/// A mesh on the lattice. All later steps use integer arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedMesh {
    lattice: Lattice,
    vertices: Vec<[i32; 3]>,
    triangles: Arc<Vec<[u32; 3]>>,
    appearance: Option<Arc<Appearance>>,
    /// Of a mesh in a window.
    part: Option<Arc<Part>>,
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

    /// All triangles, in the mesh's order.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = Triangle> + '_ {
        (0..self.len()).map(|index| self.triangle(index))
    }

    /// The same mesh, with the orientation of the flagged triangles reversed.
    fn with_reversed(&self, is_reversed: &[bool]) -> Self {
        let orient = |(&[a, b, c], &is_reversed): (&[u32; 3], &bool)| match is_reversed {
            true => [a, c, b],
            false => [a, b, c],
        };
        let triangles = self.triangles.par_iter().zip(is_reversed).map(orient).collect();
        Self { triangles: Arc::new(triangles), ..self.clone() }
    }

    /// The materials and colours, if known.
    #[must_use]
    pub fn appearance(&self) -> Option<&Appearance> {
        self.appearance.as_deref()
    }

    /// The number of triangles without area on the lattice. They are voxelized as segments or
    /// points.
    #[must_use]
    pub fn degenerate(&self) -> usize {
        self.count(is_degenerate)
    }

    /// The number of triangles that reach outside the grid; 0 without explicit bounds.
    #[must_use]
    pub fn outside(&self) -> usize {
        let end = self.lattice.dims.map(|d| i64::from(d) << self.lattice.unit_bits);
        let is_outside =
            |corner: &[i32; 3]| (0..3).any(|a| corner[a] < 0 || i64::from(corner[a]) > end[a]);
        self.count(|triangle| triangle.iter().any(is_outside))
    }

    /// Whether the bounds of every triangle lie outside the grid.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        let end = self.lattice.dims.map(|d| i64::from(d) << self.lattice.unit_bits);
        let is_apart = |triangle: &Triangle| {
            (0..3).any(|a| {
                triangle.iter().all(|corner| corner[a] < 0)
                    || triangle.iter().all(|corner| i64::from(corner[a]) > end[a])
            })
        };
        self.count(is_apart) == self.len()
    }

    /// The same lattice points with voxels `2^bits` times as wide. A voxel that the end of the grid
    /// cuts is kept only if no triangle reaches outside the grid. `None` if `unit_bits` would
    /// exceed [`MAX_UNIT_BITS`].
    pub(crate) fn coarser(&self, bits: u32) -> Option<Self> {
        let Lattice { dims, unit_bits, voxel_size, .. } = self.lattice;
        let unit_bits = (unit_bits + bits <= MAX_UNIT_BITS).then_some(unit_bits + bits)?;
        let past = if self.outside() == 0 { (1 << bits) - 1 } else { 0 };
        let dims = dims.map(|d| ((d + past) >> bits).max(1));
        let voxel_size = voxel_size * f64::from(1u32 << bits);
        let lattice = Lattice { dims, unit_bits, voxel_size, ..self.lattice };
        let (vertices, triangles) = (self.vertices.clone(), Arc::clone(&self.triangles));
        Some(Self { lattice, vertices, triangles, appearance: None, part: None })
    }

    fn count(&self, predicate: impl Fn(&Triangle) -> bool + Sync) -> usize {
        let indices = (0..self.len()).into_par_iter();
        indices.filter(|&index| predicate(&self.triangle(index))).count()
    }
}

fn is_degenerate(&[a, b, c]: &Triangle) -> bool {
    let e = |p: [i32; 3], axis: usize| i64::from(p[axis]) - i64::from(a[axis]);
    // Each product is below 2^49: two factors of 24 bits and a sign.
    (0..3).all(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        e(b, j) * e(c, k) == e(b, k) * e(c, j)
    })
}

const AXES: [char; 3] = ['x', 'y', 'z'];

/// Places `mesh` on the lattice of `options`.
///
/// # Errors
/// An impossible size, resolution or bounds; a resolution for a mesh without extent; a grid past
/// [`MAX_DIM`]; a mesh that reaches too far past the bounds.
pub fn place(mesh: &Mesh, options: &PlaceOptions) -> Result<PlacedMesh, PlaceError> {
    let lattice = choose(mesh.bounds(), options, MAX_DIM)?;
    Ok(on(mesh, lattice))
}

/// Places `mesh` on a given lattice, which may be larger than a grid in memory: then it is voxelized
/// window by window ([`PlacedMesh::in_window`]). Parts of the mesh outside the lattice get no voxels.
///
/// # Errors
/// A lattice that is not valid; a mesh that reaches too far past it.
pub fn place_on(mesh: &Mesh, lattice: &Lattice) -> Result<PlacedMesh, PlaceError> {
    lattice.check()?;
    let span = lattice.span(mesh.bounds());
    if span.is_nan() || span > MAX_SPAN {
        return Err(PlaceError::TooFar { voxels: (span / f64::from(lattice.unit())).ceil() });
    }
    Ok(on(mesh, *lattice))
}

/// [`SPAN_BITS`] as a length.
const MAX_SPAN: f64 = (1_u32 << SPAN_BITS) as f64;

fn on(mesh: &Mesh, lattice: Lattice) -> PlacedMesh {
    let to_lattice = |p: &[f64; 3]| std::array::from_fn(|a| lattice.vertex_to_lattice(p[a], a));
    let positions = mesh.positions().par_iter().with_min_len(1 << 14);
    PlacedMesh {
        lattice,
        vertices: positions.map(to_lattice).collect(),
        triangles: mesh.shared_triangles(),
        appearance: mesh.shared_appearance(),
        part: None,
    }
}

/// The edge of the cube of a grid of `dims` voxels: a power of two, at least [`MIN_CUBE`].
fn cube(dims: [u32; 3]) -> u32 {
    dims.into_iter().fold(MIN_CUBE, u32::max).next_power_of_two()
}

/// The lattice of `options` for a mesh within `mesh_bounds`, of at most `limit` voxels an axis.
fn choose(
    mesh_bounds: [[f64; 3]; 2],
    options: &PlaceOptions,
    limit: u32,
) -> Result<Lattice, PlaceError> {
    let [mesh_min, mesh_max] = mesh_bounds;
    let bounds = match options.bounds {
        Some(bounds) => checked_bounds(bounds)?,
        None => Bounds { min: mesh_min, max: mesh_max },
    };
    check_sizing(options.sizing, &bounds, limit)?;

    let bits = || (MIN_UNIT_BITS..=MAX_UNIT_BITS).rev();
    let frame_at = |unit_bits| Frame::new(options, &bounds, unit_bits, limit);
    // The grid of explicit bounds must not depend on the mesh, which may leave fewer bits.
    let grid_alone =
        |frame: &Frame| options.bounds.is_some() && frame.fits([bounds.min, bounds.max]);
    let dims = bits().map(frame_at).find(grid_alone).map(|frame| frame.dims);
    let frame_at = |unit_bits| {
        let frame = frame_at(unit_bits);
        Frame { dims: dims.unwrap_or(frame.dims), ..frame }
    };
    let fits = |frame: &Frame| frame.fits(mesh_bounds);
    match bits().map(frame_at).find(fits) {
        Some(frame) => Ok(frame.lattice()),
        None => Err(frame_at(MIN_UNIT_BITS).error(mesh_bounds)),
    }
}

fn checked_bounds(bounds: Bounds) -> Result<Bounds, PlaceError> {
    let Bounds { min, max } = bounds;
    for axis in 0..3 {
        // Written so that a NaN fails it.
        if !(min[axis] < max[axis] && (max[axis] - min[axis]).is_finite()) {
            let (axis, min, max) = (AXES[axis], min[axis], max[axis]);
            return Err(PlaceError::Bounds { axis, min, max });
        }
    }
    Ok(bounds)
}

fn check_sizing(sizing: Sizing, bounds: &Bounds, limit: u32) -> Result<(), PlaceError> {
    let extent = bounds.longest();
    match sizing {
        Sizing::Resolution(n) if n == 0 || n > limit => return Err(PlaceError::Resolution(n)),
        Sizing::Resolution(_) if extent == 0.0 => return Err(PlaceError::NoExtent(bounds.min)),
        // Written so that a NaN fails it.
        Sizing::VoxelSize(s) if !(s > 0.0 && s.is_finite()) => {
            return Err(PlaceError::VoxelSize(s));
        }
        _ => {}
    }
    let largest_scale = scale(sizing, bounds, MAX_UNIT_BITS);
    if extent.is_finite() && largest_scale.is_finite() {
        Ok(())
    } else {
        Err(PlaceError::ExtentRange { extent })
    }
}

/// A voxel's edge, in mesh units.
fn voxel_size(sizing: Sizing, bounds: &Bounds) -> f64 {
    match sizing {
        Sizing::Resolution(n) => bounds.longest() / f64::from(n),
        Sizing::VoxelSize(s) => s,
    }
}

/// Lattice units per mesh unit.
fn scale(sizing: Sizing, bounds: &Bounds, unit_bits: u32) -> f64 {
    let unit = f64::from(1u32 << unit_bits);
    match sizing {
        Sizing::Resolution(n) => f64::from(n) * unit / bounds.longest(),
        Sizing::VoxelSize(s) => unit / s,
    }
}

/// A candidate placement with a given `F`. Dimensions are integers in `f64`, so that those out of
/// range can be detected.
struct Frame {
    /// But for its dimensions.
    lattice: Lattice,
    /// Voxels per axis, padding included.
    dims: [f64; 3],
    /// The most voxels along an axis.
    limit: u32,
}

impl Frame {
    fn new(options: &PlaceOptions, bounds: &Bounds, unit_bits: u32, limit: u32) -> Self {
        let unit = f64::from(1u32 << unit_bits);
        let scale = scale(options.sizing, bounds, unit_bits);
        let pad = f64::from(options.pad);
        let lattice = Lattice {
            dims: [1; 3],
            unit_bits,
            scale,
            voxel_size: voxel_size(options.sizing, bounds),
            origin: bounds.min.map(|min| min - pad * unit / scale),
            anchor: bounds.min,
            // Padding past any grid is refused by its dimensions.
            anchor_voxel: [options.pad.min(MAX_SPAN_VOXELS) as i32; 3],
        };
        let dims = std::array::from_fn(|a| {
            let inner = ((bounds.max[a] - bounds.min[a]) * scale).round_ties_even();
            (inner / unit).ceil().max(1.0) + 2.0 * pad
        });
        Self { lattice, dims, limit }
    }

    fn too_many(&self) -> Option<usize> {
        (0..3).find(|&a| self.dims[a] > f64::from(self.limit))
    }

    fn fits(&self, mesh_bounds: [[f64; 3]; 2]) -> bool {
        self.too_many().is_none() && self.lattice().span(mesh_bounds) <= MAX_SPAN
    }

    fn error(&self, mesh_bounds: [[f64; 3]; 2]) -> PlaceError {
        let lattice = self.lattice();
        let span = || lattice.span(mesh_bounds) / f64::from(lattice.unit());
        let limit = self.limit;
        match self.too_many() {
            Some(a) => PlaceError::TooManyVoxels { axis: AXES[a], voxels: self.dims[a], limit },
            None => PlaceError::TooFar { voxels: span().ceil() },
        }
    }

    /// The lattice, with dimensions up to the limit.
    fn lattice(&self) -> Lattice {
        let dims = self.dims.map(|d| d.min(f64::from(self.limit)) as u32);
        Lattice { dims, ..self.lattice }
    }
}
