//! The placement of a grid's mesh: as stated by the caller, else by the grid's file, else the
//! common ways in which tools fit a mesh to a grid.

use serde::Serialize;

use crate::engine::verify::VerifyError;
use crate::grid::{Place, VoxelGrid};
use crate::lattice::transform::{CenteredGrid, Transform};
use crate::lattice::{Bounds, Lattice, MAX_DIM, PlaceOptions, Sizing};
use crate::mesh::Mesh;

/// The source of a mesh's placement. With serde, its name is the field `by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum PlacementSource {
    /// [`VerifyOptions::placement`](crate::engine::verify::VerifyOptions).
    Options,
    /// The grid's file: the mesh's bounds with some padding give exactly its origin and voxel size,
    /// so the placement is that of the run that made the grid.
    File,
    /// The grid's file, whose origin and voxel size do not follow from the mesh's bounds. They are
    /// used as explicit bounds: the lattice is exact up to the last bit.
    #[serde(rename = "file bounds")]
    FileBounds,
    /// Unknown: the mesh's longest axis was fitted to the grid.
    #[serde(rename = "fit")]
    Fitted {
        /// Voxels along the mesh's longest axis.
        #[serde(rename = "res")]
        resolution: u32,
        /// Voxels of padding on all sides.
        pad: u32,
    },
    /// Unknown: the mesh was scaled to fill the grid, in its centre, as a [`CenteredGrid`].
    #[serde(rename = "centre")]
    Centered,
}

/// The known parts of the mesh's placement; `None` is derived from the grid.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KnownPlacement {
    /// The voxel size; by default the bounds' longest axis is fitted to the grid's.
    pub sizing: Option<Sizing>,
    /// The box that was voxelized; by default the mesh's own.
    pub bounds: Option<Bounds>,
    /// Voxels of padding around it; 0 by default.
    pub pad: Option<u32>,
    /// The dimensions of a grid with the mesh in its centre ([`CenteredGrid`]); `bounds` and `pad`
    /// are not used.
    pub dims: Option<[u32; 3]>,
}

impl KnownPlacement {
    /// # Errors
    /// The padding leaves nothing of the grid.
    fn options(&self, mesh: &Mesh, grid: &VoxelGrid) -> Result<PlaceOptions, VerifyError> {
        if let Some(dims) = self.dims {
            return Ok(centered(mesh, dims, self.sizing));
        }
        let (pad, voxels) = (self.pad.unwrap_or(0), longest(grid.dims()));
        let fitted = voxels.saturating_sub(pad.saturating_mul(2));
        let sizing = match (self.sizing, fitted) {
            (Some(sizing), _) => sizing,
            (None, 0) => return Err(VerifyError::Pad { pad, voxels }),
            (None, fitted) => Sizing::Resolution(fitted),
        };
        let options = PlaceOptions::new(sizing).with_pad(pad);
        Ok(match self.bounds {
            Some(bounds) => options.with_bounds(bounds),
            None => options,
        })
    }
}

/// The options that place `mesh` in the centre of a grid of `dims`, which it fills without a
/// `sizing`.
fn centered(mesh: &Mesh, dims: [u32; 3], sizing: Option<Sizing>) -> PlaceOptions {
    let grid = CenteredGrid { dims, fills: sizing.is_none() };
    let sizing = sizing.unwrap_or(Sizing::Resolution(Sizing::DEFAULT_RESOLUTION));
    Transform { grid: Some(grid), ..Transform::default() }
        .place_options(mesh, PlaceOptions::new(sizing))
}

fn longest(dims: [u32; 3]) -> u32 {
    dims[0].max(dims[1]).max(dims[2])
}

/// The placements of `mesh` to try for `grid`, likeliest first; one only, unless unknown.
///
/// # Errors
/// The padding that was stated leaves nothing of the grid.
pub(super) fn placements(
    mesh: &Mesh,
    grid: &VoxelGrid,
    stated: &KnownPlacement,
) -> Result<Vec<(PlacementSource, PlaceOptions)>, VerifyError> {
    Ok(match grid.world.place {
        _ if *stated != KnownPlacement::default() => {
            vec![(PlacementSource::Options, stated.options(mesh, grid)?)]
        }
        Some(place) => vec![of_file(mesh, grid.dims(), place)],
        None => fitted(mesh, grid),
    })
}

/// Options that give exactly the file's lattice from the mesh's bounds, or else explicit bounds.
fn of_file(mesh: &Mesh, dims: [u32; 3], place: Place) -> (PlacementSource, PlaceOptions) {
    let Place { origin, voxel_size } = place;
    let [min, max] = mesh.bounds();
    // If clamped, the options will not give the file's lattice.
    let pad = ((min[0] - origin[0]) / voxel_size).round().clamp(0.0, f64::from(MAX_DIM)) as u32;
    let resolution = longest(dims).saturating_sub(pad.saturating_mul(2));
    let sizings = [Sizing::Resolution(resolution), Sizing::VoxelSize(voxel_size)];
    let own = sizings.map(|sizing| PlaceOptions::new(sizing).with_pad(pad));
    let is_files = |options: &PlaceOptions| {
        Lattice::within([min, max], options, MAX_DIM)
            .is_ok_and(|lattice| lattice.dims == dims && Place::of(&lattice) == place)
    };
    if let Some(options) = own.into_iter().find(is_files) {
        return (PlacementSource::File, options);
    }
    // Minus half a voxel, so that rounding does not add a layer.
    let max = [0, 1, 2].map(|a| origin[a] + (f64::from(dims[a]) - 0.5) * voxel_size);
    let options = PlaceOptions::new(Sizing::VoxelSize(voxel_size));
    (PlacementSource::FileBounds, options.with_bounds(Bounds { min: origin, max }))
}

/// Placements by size: the mesh's longest axis is fitted to the grid, or to its occupied voxels,
/// with or without their outermost layers, which may be touched by the outermost points only; or it
/// fills the grid from its centre.
fn fitted(mesh: &Mesh, grid: &VoxelGrid) -> Vec<(PlacementSource, PlaceOptions)> {
    let dim = longest(grid.dims());
    let occupied = grid
        .occupied_bounds()
        .map_or(dim, |[lo, hi]| longest([0, 1, 2].map(|a| hi[a] - lo[a] + 1)));
    let padded = |resolution: u32| {
        let pad = ((dim - resolution) / 2).max(1);
        (resolution, pad)
    };
    let mut fits = vec![(dim, 0)];
    if let Some(resolution) = occupied.checked_sub(2).filter(|&r| r > 0) {
        fits.push(padded(resolution));
    }
    if occupied < dim {
        fits.push((occupied, 0));
        fits.push(padded(occupied));
    }
    let options = |(resolution, pad): (u32, u32)| {
        let options = PlaceOptions::new(Sizing::Resolution(resolution)).with_pad(pad);
        (PlacementSource::Fitted { resolution, pad }, options)
    };
    let centered = (PlacementSource::Centered, centered(mesh, grid.dims(), None));
    fits.into_iter().map(options).chain([centered]).collect()
}
