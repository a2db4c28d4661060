//! `--scale`, `--rotate`, `--center`, `--cube` and `--dims`: the transformation of a mesh before it
//! is voxelized, and centred grids of given dimensions.

use anyhow::{Result, bail};
use trivox::{Bounds, Mesh, PlaceOptions, Sizing};

use crate::program::cli::Job;
use crate::program::pipeline::sizing;

/// The transformation of a mesh's coordinates, in order of application, and the grid around them.
#[derive(Debug, Clone, Default)]
pub struct Transform {
    scale: Option<f64>,
    /// Axes and angles in degrees.
    rotations: Vec<(usize, f64)>,
    center: bool,
    /// The dimensions of a centred grid, and whether the mesh is scaled to fill it.
    dims: Option<([u32; 3], bool)>,
}

impl Transform {
    /// The transformation that a job specifies.
    ///
    /// # Errors
    /// A scale that is not positive.
    pub fn new(job: &Job) -> Result<Self> {
        if let Some(scale) = job.scale.filter(|scale| !(*scale > 0.0 && scale.is_finite())) {
            bail!("--scale {scale} is not possible: use a positive number");
        }
        let dims = job.dims.or(job.cube.map(|n| [n; 3]));
        let fills = job.res.is_none() && job.voxel_size.is_none();
        Ok(Self {
            scale: job.scale,
            rotations: job.rotate.clone(),
            center: job.center,
            dims: dims.map(|dims| (dims, fills)),
        })
    }

    /// The mesh with its coordinates transformed.
    ///
    /// # Errors
    /// A transformed coordinate is not finite.
    pub fn apply(&self, mut mesh: Mesh) -> Result<Mesh> {
        if self.scale.is_some() || !self.rotations.is_empty() {
            let scale = self.scale.unwrap_or(1.0);
            let turns: Vec<_> =
                self.rotations.iter().map(|&(axis, angle)| (axis, sin_cos(angle))).collect();
            mesh = mesh.with_positions(|p| {
                turns.iter().fold(p.map(|c| c * scale), |p, &(axis, turn)| rotated(p, axis, turn))
            })?;
        }
        if self.center {
            let center = center(mesh.bounds());
            mesh = mesh.with_positions(|p| [0, 1, 2].map(|a| p[a] - center[a]))?;
        }
        Ok(mesh)
    }

    /// The placement of `mesh`: as in `options`, or centred in a grid of given dimensions.
    pub fn place(&self, mesh: &Mesh, options: PlaceOptions) -> PlaceOptions {
        let Some((dims, fills)) = self.dims else { return options };
        let [min, max] = mesh.bounds();
        let extent = [0, 1, 2].map(|a| max[a] - min[a]);
        let longest = extent.into_iter().fold(0.0, f64::max);
        let size = match options.sizing {
            _ if fills => {
                [0, 1, 2].map(|a| extent[a] / f64::from(dims[a])).into_iter().fold(0.0, f64::max)
            }
            Sizing::Resolution(n) => longest / f64::from(n),
            Sizing::VoxelSize(size) => size,
        };
        let center = center([min, max]);
        let half = dims.map(|d| f64::from(d) * size / 2.0);
        let bounds = Bounds {
            min: [0, 1, 2].map(|a| center[a] - half[a]),
            max: [0, 1, 2].map(|a| center[a] + half[a]),
        };
        PlaceOptions::new(Sizing::VoxelSize(size)).with_bounds(bounds)
    }
}

/// The placement of meshes that are not centred in a grid.
pub fn place_options(job: &Job) -> PlaceOptions {
    // The band of distances is to be whole.
    let band = job.distance.filter(|_| job.bounds.is_none()).map_or(0, |width| width.ceil() as u32);
    let options = PlaceOptions::new(sizing(job.res, job.voxel_size)).with_pad(job.pad.max(band));
    match job.bounds {
        Some(bounds) => options.with_bounds(bounds),
        None => options,
    }
}

fn center([min, max]: [[f64; 3]; 2]) -> [f64; 3] {
    [0, 1, 2].map(|a| min[a] / 2.0 + max[a] / 2.0)
}

/// Sine and cosine of an angle in degrees; exact for multiples of 90.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        angle => libm::sincos(angle.to_radians()),
    }
}

fn rotated(p: [f64; 3], axis: usize, (sin, cos): (f64, f64)) -> [f64; 3] {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut rotated = p;
    rotated[u] = p[u] * cos - p[v] * sin;
    rotated[v] = p[u] * sin + p[v] * cos;
    rotated
}
