//! Where a grid's mesh has to lie: what the caller states, else what the grid's file says, else the
//! ways in which tools commonly fit a mesh to a grid.

use crate::error::PlaceError;
use crate::grid::{VoxelGrid, World};
use crate::mesh::Mesh;
use crate::place::{Bounds, Lattice, MAX_DIM, PlaceOptions, Sizing, place};

/// How it is known where the mesh lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The caller stated it.
    Stated,
    /// The grid's file says origin and voxel size, and the mesh's own bounds with some padding give
    /// exactly these: the placement is that of the run that made it.
    File,
    /// The grid's file says origin and voxel size, which were not found from the mesh's bounds. The
    /// lattice is that of a run with such bounds up to its last bit.
    FileBounds,
    /// Nobody says. The mesh's longest axis was fitted to this many voxels of the grid.
    Fitted {
        /// Voxels along the mesh's longest axis.
        resolution: u32,
        /// Voxels around it on all sides.
        pad: u32,
    },
}

/// What is known of where the mesh lies; what is `None` is found from the grid.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stated {
    /// The voxels' size; by default the grid's longest axis is that of the bounds.
    pub sizing: Option<Sizing>,
    /// The box that was voxelized; by default the mesh's own.
    pub bounds: Option<Bounds>,
    /// Voxels around it; none by default.
    pub pad: Option<u32>,
}

impl Stated {
    fn options(&self, grid: &VoxelGrid) -> Option<PlaceOptions> {
        if *self == Self::default() {
            return None;
        }
        let pad = self.pad.unwrap_or(0);
        let fitted =
            || Sizing::Resolution(longest(grid.dims()).saturating_sub(pad.saturating_mul(2)));
        let options = PlaceOptions::new(self.sizing.unwrap_or_else(fitted)).with_pad(pad);
        Some(match self.bounds {
            Some(bounds) => options.with_bounds(bounds),
            None => options,
        })
    }
}

fn longest(dims: [u32; 3]) -> u32 {
    dims[0].max(dims[1]).max(dims[2])
}

/// The ways to place `mesh` for `grid`, the likeliest first; one, unless it has to be guessed.
pub(super) fn placements(
    mesh: &Mesh,
    grid: &VoxelGrid,
    stated: &Stated,
) -> Vec<(Source, PlaceOptions)> {
    if let Some(options) = stated.options(grid) {
        return vec![(Source::Stated, options)];
    }
    match grid.world {
        Some(world) => vec![of_file(mesh, grid.dims(), world)],
        None => fitted(grid),
    }
}

/// The options that give exactly the file's lattice, if the mesh's own bounds do; else bounds.
fn of_file(mesh: &Mesh, dims: [u32; 3], world: World) -> (Source, PlaceOptions) {
    let World { origin, voxel_size, up } = world;
    let [min, max] = mesh.bounds();
    // Past the range it is no padding, and the largest will not give the file's lattice.
    let pad = ((min[0] - origin[0]) / voxel_size).round().clamp(0.0, f64::from(MAX_DIM)) as u32;
    let resolution = longest(dims).saturating_sub(pad.saturating_mul(2));
    let sizings = [Sizing::Resolution(resolution), Sizing::VoxelSize(voxel_size)];
    let own = sizings.map(|sizing| PlaceOptions::new(sizing).with_pad(pad));
    let is_files = |options: &PlaceOptions| {
        lattice_within([min, max], options)
            .is_ok_and(|lattice| lattice.dims == dims && World::of(&lattice, up) == world)
    };
    match own.into_iter().find(is_files) {
        Some(options) => (Source::File, options),
        None => (Source::FileBounds, bounds_of_file(dims, world)),
    }
}

/// The lattice of any mesh with these bounds.
fn lattice_within(
    [min, max]: [[f64; 3]; 2],
    options: &PlaceOptions,
) -> Result<Lattice, PlaceError> {
    let diagonal = Mesh::new(vec![min, max], vec![[0, 1, 1]]);
    // A mesh's bounds are finite.
    let diagonal = diagonal.map_err(|_| PlaceError::NoExtent(min))?;
    Ok(*place(&diagonal, options)?.lattice())
}

fn bounds_of_file(dims: [u32; 3], world: World) -> PlaceOptions {
    let World { origin, voxel_size, .. } = world;
    // Half a voxel less, so that rounding does not add a layer.
    let max = [0, 1, 2].map(|a| origin[a] + (f64::from(dims[a]) - 0.5) * voxel_size);
    PlaceOptions::new(Sizing::VoxelSize(voxel_size)).with_bounds(Bounds { min: origin, max })
}

/// The mesh's longest axis fills the grid's; or else what is occupied of it, without a layer around
/// that only the outermost points touch or with one.
fn fitted(grid: &VoxelGrid) -> Vec<(Source, PlaceOptions)> {
    let dim = longest(grid.dims());
    let occupied = grid
        .occupied_bounds()
        .map_or(dim, |[lo, hi]| longest([0, 1, 2].map(|a| hi[a] - lo[a] + 1)));
    let within = |resolution: u32| {
        let pad = ((dim - resolution) / 2).max(1);
        (resolution, pad)
    };
    let mut fits = vec![(dim, 0)];
    if let Some(resolution) = occupied.checked_sub(2).filter(|&r| r > 0) {
        fits.push(within(resolution));
    }
    if occupied < dim {
        fits.push((occupied, 0));
        fits.push(within(occupied));
    }
    let options = |(resolution, pad): (u32, u32)| {
        let options = PlaceOptions::new(Sizing::Resolution(resolution)).with_pad(pad);
        (Source::Fitted { resolution, pad }, options)
    };
    fits.into_iter().map(options).collect()
}
