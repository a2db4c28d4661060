//! The lattice of a grid, and its choice by size and bounds.

use serde::{Deserialize, Serialize};

use crate::base::numbers::AXES;
#[cfg(doc)]
use crate::lattice::place;
use crate::lattice::{
    Bounds, MAX_FRACTION_BITS, MAX_SPAN_VOXELS, MIN_CUBE, MIN_FRACTION_BITS, PlaceError,
    PlaceOptions, SPAN_BITS, Sizing,
};
use crate::mesh::Mesh;

/// [`SPAN_BITS`] as a length.
pub(super) const MAX_SPAN: f64 = (1_u32 << SPAN_BITS) as f64;

/// The integer lattice of one grid, and its position in mesh coordinates.
///
/// Vertices are rounded by it alone. It serializes with serde; numbers survive a round trip through
/// JSON exactly.
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
#[serde(try_from = "Unchecked")]
pub struct Lattice {
    /// Voxels along each axis, padding included; 1 to [`MAX_SPAN_VOXELS`].
    pub dims: [u32; 3],
    /// `F`, the fraction bits of the fixed-point coordinates: a voxel is `2^fraction_bits` lattice
    /// units wide.
    pub fraction_bits: u32,
    /// Lattice units per mesh unit.
    pub scale: f64,
    /// A voxel's edge, in mesh units: as given, or the longest axis divided by the resolution.
    pub voxel_size: f64,
    /// The grid's minimum corner, in mesh units. Lattice point `u` lies at `origin + u / scale`.
    pub origin: [f64; 3],
    /// The point from which vertices are rounded, in mesh units: the minimum corner without
    /// padding.
    pub anchor: [f64; 3],
    /// The voxel whose minimum corner is the anchor, counted from this lattice's first voxel. It
    /// equals the padding, except in the lattice of a window.
    pub anchor_voxel: [i32; 3],
}

/// The fields of a [`Lattice`] before they are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    dims: [u32; 3],
    fraction_bits: u32,
    scale: f64,
    voxel_size: f64,
    origin: [f64; 3],
    anchor: [f64; 3],
    anchor_voxel: [i32; 3],
}

impl TryFrom<Unchecked> for Lattice {
    type Error = PlaceError;

    fn try_from(fields: Unchecked) -> Result<Self, PlaceError> {
        let Unchecked { dims, fraction_bits, scale, voxel_size, origin, anchor, anchor_voxel } =
            fields;
        let lattice = Self { dims, fraction_bits, scale, voxel_size, origin, anchor, anchor_voxel };
        lattice.check().map(|()| lattice)
    }
}

impl Lattice {
    /// The most voxels that a mesh on it spans.
    pub(super) fn max_span_voxels(&self) -> u32 {
        1 << (SPAN_BITS - self.fraction_bits)
    }

    /// The lattice of `options` for `mesh`: that of [`place`], with up to [`MAX_SPAN_VOXELS`]
    /// voxels along an axis.
    ///
    /// # Errors
    /// As [`place`].
    pub fn of(mesh: &Mesh, options: &PlaceOptions) -> Result<Self, PlaceError> {
        Self::within(mesh.bounds(), options, MAX_SPAN_VOXELS)
    }

    /// The lattice of a grid with [explicit bounds](PlaceOptions::bounds), for meshes in GPU memory.
    /// Along an axis without extent it has one voxel.
    ///
    /// # Errors
    /// As [`place`].
    pub fn in_bounds(bounds: Bounds, sizing: Sizing) -> Result<Self, PlaceError> {
        let options = PlaceOptions::new(sizing).with_bounds(bounds);
        Self::within([bounds.min, bounds.max], &options, MAX_SPAN_VOXELS)
    }

    /// This lattice with at most `fraction_bits` fraction bits.
    #[cfg(feature = "gpu")]
    pub(crate) fn coarsened(self, fraction_bits: u32) -> Self {
        let bits = self.fraction_bits.min(fraction_bits);
        // Exact: a power of two.
        let scale = self.scale / f64::from(1_u32 << (self.fraction_bits - bits));
        Self { fraction_bits: bits, scale, ..self }
    }

    /// The lattice of `options` for a mesh within `mesh_bounds`, of at most `limit` voxels along an
    /// axis.
    pub(crate) fn within(
        mesh_bounds: [[f64; 3]; 2],
        options: &PlaceOptions,
        limit: u32,
    ) -> Result<Self, PlaceError> {
        options.check(limit)?;
        let bounds = match options.bounds {
            Some(bounds) => fitting(bounds, mesh_bounds, options.dims.is_some())?,
            None => mesh_bounds.into(),
        };
        check_extent(options.sizing, &bounds)?;
        let bits = (MIN_FRACTION_BITS..=MAX_FRACTION_BITS).rev();
        let mut candidates: Vec<Candidate> =
            bits.map(|bits| Candidate::new(options, &bounds, bits, limit)).collect();
        // The grid of explicit bounds must not depend on the mesh, which may leave fewer bits.
        let grid_alone = |candidate: &&Candidate| {
            options.bounds.is_some() && candidate.fits([bounds.min, bounds.max])
        };
        let needed = candidates.iter().find(grid_alone).map(|candidate| candidate.dims);
        if let Some(dims) = options.dims.map(|dims| dims.map(f64::from)).or(needed) {
            candidates.iter_mut().for_each(|candidate| candidate.dims = dims);
        }
        let Some(candidate) = candidates.iter().find(|candidate| candidate.fits(mesh_bounds))
        else {
            // The last has the fewest bits, so the most room.
            return Err(candidates[candidates.len() - 1].error(mesh_bounds));
        };
        let lattice = candidate.lattice();
        // Padding can move the origin out of the range of numbers.
        lattice.check()?;
        Ok(lattice)
    }

    /// # Errors
    /// A value is out of range, or fields contradict each other.
    pub(crate) fn check(&self) -> Result<(), PlaceError> {
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        let finite = self.origin.iter().chain(&self.anchor).all(|number| number.is_finite());
        let largest = MAX_SPAN_VOXELS as i32;
        let problem = if !self.dims.iter().all(|dim| (1..=MAX_SPAN_VOXELS).contains(dim)) {
            "a dimension is not from 1 to 1048576"
        } else if !(MIN_FRACTION_BITS..=MAX_FRACTION_BITS).contains(&self.fraction_bits) {
            "fraction_bits is not from 4 to 16"
        } else if !is_positive(self.scale) || !is_positive(self.voxel_size) {
            "scale and voxel_size must be positive numbers"
        } else if !finite || self.anchor_voxel.iter().any(|at| !(-largest..=largest).contains(at)) {
            "origin and anchor must be finite numbers, and anchor_voxel from -1048576 to 1048576"
        } else if !self.is_consistent() {
            "scale and voxel_size, or origin, anchor and anchor_voxel, contradict each other"
        } else {
            return Ok(());
        };
        Err(PlaceError::Lattice(problem))
    }

    /// Whether `scale` and `voxel_size` agree with `fraction_bits`, and `origin` with `anchor` and
    /// `anchor_voxel`, up to the rounding of each number.
    fn is_consistent(&self) -> bool {
        let units_per_voxel = f64::from(self.units_per_voxel());
        let is_near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-12 * size;
        is_near(self.scale * self.voxel_size, units_per_voxel, units_per_voxel)
            && (0..3).all(|a| {
                let offset = f64::from(self.anchor_voxel[a]) * self.voxel_size;
                let size = self.anchor[a].abs() + offset.abs();
                is_near(self.origin[a] + offset, self.anchor[a], size)
            })
    }

    /// The lattice point of coordinate `p` on `axis`: an integer, perhaps out of range.
    #[inline]
    pub(crate) fn lattice_point(&self, p: f64, axis: usize) -> f64 {
        let anchor = f64::from(self.anchor_voxel[axis]) * f64::from(self.units_per_voxel());
        ((p - self.anchor[axis]) * self.scale).round_ties_even() + anchor
    }

    /// The [lattice point](Self::lattice_point) of a used vertex's coordinate. Its distance from
    /// the anchor is below `2^37` units. For `|x| < 2^51`, `(x + 1.5 * 2^52) - 1.5 * 2^52` is `x`
    /// rounded to nearest, ties to even, because the doubles from `2^52` to `2^53` are the
    /// integers; it is much faster than `round_ties_even` where that is a function call. An unused
    /// vertex may be out of range or NaN; its coordinates have no meaning, but are defined.
    #[inline]
    pub(super) fn vertex_to_lattice(&self, p: f64, axis: usize) -> i32 {
        const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
        let anchor = f64::from(self.anchor_voxel[axis]) * f64::from(self.units_per_voxel());
        let rounded = ((p - self.anchor[axis]) * self.scale + ROUNDING) - ROUNDING;
        (rounded + anchor) as i32
    }

    /// The length, in lattice units, of the interval that holds the grid's cube and all vertices;
    /// the largest of the three axes.
    pub(super) fn span(&self, [min, max]: [[f64; 3]; 2]) -> f64 {
        let cube = f64::from(self.cube()) * f64::from(self.units_per_voxel());
        let span = |a: usize| {
            self.lattice_point(max[a], a).max(cube) - self.lattice_point(min[a], a).min(0.0)
        };
        span(0).max(span(1)).max(span(2))
    }

    /// Voxels along the edge of the grid's cube, `P`.
    pub(crate) fn cube(&self) -> u32 {
        cube(self.dims)
    }

    /// `fraction_bits` for a mesh that does not reach past the grid.
    #[must_use]
    pub fn fraction_bits_of_grid(&self) -> u32 {
        let longest = self.dims[0].max(self.dims[1]).max(self.dims[2]);
        let bits = longest.checked_next_power_of_two().map_or(u32::BITS, u32::ilog2);
        MAX_FRACTION_BITS.min(SPAN_BITS.saturating_sub(bits))
    }

    /// The rows of the affine transform from mesh coordinates to voxels: voxel `(i, j, k)` is the
    /// cube from `(i, j, k)` to `(i + 1, j + 1, k + 1)`.
    #[must_use]
    pub fn voxels_from_mesh(&self) -> [[f32; 4]; 3] {
        let per_unit = 1.0 / self.voxel_size;
        let mut rows = self.origin.map(|c| [0.0, 0.0, 0.0, (-c * per_unit) as f32]);
        (0..3).for_each(|a| rows[a][a] = per_unit as f32);
        rows
    }

    /// The maximum corner of the grid, in lattice units.
    pub(crate) fn end(&self) -> [i64; 3] {
        self.dims.map(|d| i64::from(d) << self.fraction_bits)
    }

    /// A voxel's edge in lattice units: `2^fraction_bits`, `S`.
    #[must_use]
    pub fn units_per_voxel(&self) -> i32 {
        1 << self.fraction_bits
    }
}

/// The edge of the cube of a grid of `dims` voxels: a power of two, at least [`MIN_CUBE`].
pub(super) fn cube(dims: [u32; 3]) -> u32 {
    dims.into_iter().fold(MIN_CUBE, u32::max).next_power_of_two()
}

/// `bounds`, which may be flat only where the mesh is.
fn fitting(
    bounds: Bounds,
    [mesh_min, mesh_max]: [[f64; 3]; 2],
    has_dims: bool,
) -> Result<Bounds, PlaceError> {
    let Bounds { min, max } = bounds;
    for axis in 0..3 {
        if min[axis] == max[axis] && [mesh_min[axis], mesh_max[axis]] != [min[axis]; 2] {
            return Err(PlaceError::bounds(axis, &bounds, has_dims));
        }
    }
    Ok(bounds)
}

fn check_extent(sizing: Sizing, bounds: &Bounds) -> Result<(), PlaceError> {
    let extent = bounds.longest();
    match sizing {
        Sizing::Resolution(_) if extent == 0.0 => return Err(PlaceError::NoExtent(bounds.min)),
        Sizing::Along { axis, .. } if bounds.length(axis) == 0.0 => {
            return Err(PlaceError::NoLength(axis));
        }
        _ => {}
    }
    if extent.is_finite() && scale(sizing, bounds, MAX_FRACTION_BITS).is_finite() {
        Ok(())
    } else {
        Err(PlaceError::ExtentRange { extent })
    }
}

/// Lattice units per mesh unit.
fn scale(sizing: Sizing, bounds: &Bounds, fraction_bits: u32) -> f64 {
    let units_per_voxel = f64::from(1u32 << fraction_bits);
    match sizing {
        Sizing::Resolution(n) => f64::from(n) * units_per_voxel / bounds.longest(),
        Sizing::Along { axis, voxels } => f64::from(voxels) * units_per_voxel / bounds.length(axis),
        Sizing::VoxelSize(s) => units_per_voxel / s,
    }
}

/// A candidate placement with a given `F`. Dimensions are integers in `f64`, so that those out of
/// range can be detected.
struct Candidate {
    /// But for its dimensions.
    lattice: Lattice,
    /// Voxels per axis, padding included.
    dims: [f64; 3],
    /// The most voxels along an axis.
    limit: u32,
}

impl Candidate {
    fn new(options: &PlaceOptions, bounds: &Bounds, fraction_bits: u32, limit: u32) -> Self {
        let units_per_voxel = f64::from(1u32 << fraction_bits);
        let scale = scale(options.sizing, bounds, fraction_bits);
        let pad = f64::from(options.pad);
        let lattice = Lattice {
            dims: [1; 3],
            fraction_bits,
            scale,
            voxel_size: options.sizing.voxel_size(bounds),
            origin: bounds.min.map(|min| min - pad * units_per_voxel / scale),
            anchor: bounds.min,
            anchor_voxel: [options.pad as i32; 3],
        };
        let dims = std::array::from_fn(|a| {
            let inner = ((bounds.max[a] - bounds.min[a]) * scale).round_ties_even();
            (inner / units_per_voxel).ceil().max(1.0) + 2.0 * pad
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
        let span = || lattice.span(mesh_bounds) / f64::from(lattice.units_per_voxel());
        let limit = self.limit;
        match self.too_many() {
            Some(a) => PlaceError::TooManyVoxels { axis: AXES[a], voxels: self.dims[a], limit },
            None => PlaceError::TooFar { voxels: span().ceil(), limit: lattice.max_span_voxels() },
        }
    }

    /// The lattice, with dimensions up to the limit.
    fn lattice(&self) -> Lattice {
        let dims = self.dims.map(|d| d.min(f64::from(self.limit)) as u32);
        Lattice { dims, ..self.lattice }
    }
}
