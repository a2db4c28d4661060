//! The options of size and place.

use trivox::lattice::transform::CenteredGrid;
use trivox::{PlaceOptions, Sizing, Transform, Up};

use crate::cli::{Job, TransformArgs};

/// The default resolution.
pub const DEFAULT_RES: u32 = Sizing::DEFAULT_RESOLUTION;

/// The voxel size; at most one of the options is given.
pub fn sizing(res: Option<u32>, voxel_size: Option<f64>) -> Sizing {
    match voxel_size {
        Some(size) => Sizing::VoxelSize(size),
        None => Sizing::Resolution(res.unwrap_or(DEFAULT_RES)),
    }
}

impl Job {
    /// The size by a number of voxels along one axis, if one is given.
    pub fn along(&self) -> Option<Sizing> {
        let (height, length) = if self.up == Up::Y { (1, 2) } else { (2, 1) };
        let all = [(0, self.width), (height, self.height), (length, self.length)];
        all.into_iter().find_map(|(axis, voxels)| Some(Sizing::Along { axis, voxels: voxels? }))
    }

    /// The resolution along the longest axis, if the options alone determine it.
    pub fn expected_res(&self) -> Option<u32> {
        let dims = self.dims.and_then(|dims| dims.into_iter().max());
        let is_default = self.voxel_size.is_none() && self.along().is_none();
        self.cube.or(dims).or(self.res).or(is_default.then_some(DEFAULT_RES))
    }
}

impl TransformArgs {
    /// The transformation that they specify.
    pub fn transform(&self) -> Transform {
        let mut transform = Transform::default();
        transform.scale = self.scale;
        transform.rotations.clone_from(&self.rotate);
        transform.center = self.center;
        transform
    }
}

/// The transformation that a job specifies.
pub fn transform(job: &Job) -> Transform {
    let dims = job.dims.or(job.cube.map(|n| [n; 3]));
    let fills = job.res.is_none() && job.voxel_size.is_none();
    let mut transform = job.transform.transform();
    transform.grid = dims.map(|dims| CenteredGrid { dims, fills });
    transform
}

/// The placement of meshes that are not centred in a grid.
pub fn place_options(job: &Job) -> PlaceOptions {
    // The band of distances is to be whole.
    let band = job.distance.filter(|_| job.bounds.is_none()).map_or(0, |width| width.ceil() as u32);
    let sizing = job.along().unwrap_or(sizing(job.res, job.voxel_size));
    let options = PlaceOptions::new(sizing).with_pad(job.pad.max(band));
    match job.bounds {
        Some(bounds) => options.with_bounds(bounds),
        None => options,
    }
}
