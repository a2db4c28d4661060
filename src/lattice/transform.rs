//! Transforms meshes before they are placed: scales, rotates and centres them, and centres grids of
//! given dimensions around them.

use std::str::FromStr;

use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::short;
use crate::base::vector::{minus, plus, rotated, sin_cos};
use crate::lattice::{Bounds, PlaceOptions, Sizing};
use crate::mesh::{Mesh, MeshError};

/// The transformation of a mesh's coordinates, in order of application, and the grid around them.
///
/// ```
/// use trivox::lattice::transform::CenteredGrid;
/// use trivox::{Mesh, Transform, Voxelizer};
///
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
/// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let grid = Some(CenteredGrid { dims: [16; 3], fills: true });
/// let rotations = vec!["x:90".parse()?];
/// let transform = Transform { rotations, grid, ..Transform::default() };
/// let grid = Voxelizer::new().transform(transform).run(&mesh)?.grid;
/// assert_eq!(grid.dims(), [16; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transform {
    /// The factor of all coordinates, above 0.
    pub scale: Option<f64>,
    /// Rotations about the origin, one after another.
    pub rotations: Vec<Rotation>,
    /// Whether the centre of the bounding box is moved to the origin.
    pub center: bool,
    /// The grid with the mesh in its centre, instead of one by bounds and padding.
    pub grid: Option<CenteredGrid>,
}

/// A grid of given dimensions, with the mesh in its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CenteredGrid {
    /// Voxels along each axis.
    pub dims: [u32; 3],
    /// Whether voxels are as small as the mesh allows; otherwise of the size that
    /// [`PlaceOptions`] give.
    pub fills: bool,
}

/// A rotation about an axis, counter-clockwise as seen from the axis's tip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    /// 0, 1 or 2: x, y or z.
    pub axis: usize,
    /// The angle.
    pub degrees: f64,
}

/// A mesh cannot be transformed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A scale that is not a positive finite number.
    #[error("a scale of {} is not possible: use a positive number", short(.0))]
    Scale(f64),
    /// A [`Rotation`] about no axis.
    #[error("a rotation about the axis {0} is not possible: use 0, 1 or 2 for x, y or z")]
    Axis(usize),
    /// The transformed mesh is not valid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

impl ErrorCode for TransformError {
    fn code(&self) -> &'static str {
        match self {
            Self::Scale(_) => "place.scale",
            Self::Axis(_) => "place.axis",
            Self::Mesh(error) => error.code(),
        }
    }
}

/// A text is not a [`Rotation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("use an axis and degrees, such as x:90 or z:-45")]
pub struct RotationError;

impl ErrorCode for RotationError {
    fn code(&self) -> &'static str {
        "option.rotate"
    }
}

impl FromStr for Rotation {
    type Err = RotationError;

    fn from_str(text: &str) -> Result<Self, RotationError> {
        let (axis, degrees) = text.split_once(':').ok_or(RotationError)?;
        let axis = ["x", "y", "z"].iter().position(|name| *name == axis).ok_or(RotationError)?;
        let degrees: f64 = degrees.parse().map_err(|_| RotationError)?;
        if degrees.is_finite() { Ok(Self { axis, degrees }) } else { Err(RotationError) }
    }
}

impl Transform {
    /// Whether coordinates change.
    #[must_use]
    pub fn changes_coordinates(&self) -> bool {
        self.scale.is_some() || !self.rotations.is_empty() || self.center
    }

    /// Checks what does not depend on a mesh.
    ///
    /// # Errors
    /// A scale that is not positive; an axis that is none.
    pub(crate) fn check(&self) -> Result<(), TransformError> {
        if let Some(scale) = self.scale.filter(|scale| !(*scale > 0.0 && scale.is_finite())) {
            return Err(TransformError::Scale(scale));
        }
        match self.rotations.iter().find(|turn| turn.axis > 2) {
            Some(turn) => Err(TransformError::Axis(turn.axis)),
            None => Ok(()),
        }
    }

    /// The mesh with its coordinates transformed.
    ///
    /// # Errors
    /// A scale that is not positive; an axis that is none; a transformed coordinate is not finite.
    pub fn apply(&self, mut mesh: Mesh) -> Result<Mesh, TransformError> {
        self.check()?;
        if self.scale.is_some() || !self.rotations.is_empty() {
            let scale = self.scale.unwrap_or(1.0);
            let turn = |turn: &Rotation| (turn.axis, sin_cos(turn.degrees));
            let turns: Vec<_> = self.rotations.iter().map(turn).collect();
            mesh = mesh.with_positions(|p| {
                turns.iter().fold(p.map(|c| c * scale), |p, &(axis, turn)| rotated(p, axis, turn))
            })?;
        }
        if self.center {
            let center = center(mesh.bounds());
            mesh = mesh.with_positions(|p| minus(p, center))?;
        }
        Ok(mesh)
    }

    /// The placement of `mesh`: as in `options`, or centred in a grid of given dimensions.
    pub fn place_options(&self, mesh: &Mesh, options: PlaceOptions) -> PlaceOptions {
        let Some(CenteredGrid { dims, fills }) = self.grid else { return options };
        if dims.contains(&0) {
            // Placing a mesh in it is an error.
            return options.with_dims(dims);
        }
        let [min, max] = mesh.bounds();
        let extent = minus(max, min);
        let size = if fills {
            [0, 1, 2].map(|a| extent[a] / f64::from(dims[a])).into_iter().fold(0.0, f64::max)
        } else {
            options.sizing.voxel_size(&mesh.bounds().into())
        };
        if size == 0.0 {
            // Placing a mesh without extent by a number of voxels is an error.
            let sizing = if fills { Sizing::Resolution(1) } else { options.sizing };
            return PlaceOptions::new(sizing);
        }
        let center = center([min, max]);
        let half = dims.map(|d| f64::from(d) * size / 2.0);
        let bounds = Bounds { min: minus(center, half), max: plus(center, half) };
        PlaceOptions::new(Sizing::VoxelSize(size)).with_bounds(bounds).with_dims(dims)
    }
}

fn center([min, max]: [[f64; 3]; 2]) -> [f64; 3] {
    [0, 1, 2].map(|a| min[a] / 2.0 + max[a] / 2.0)
}
