//! Rays against the voxels of a grid.

use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use rayon::prelude::*;
use trivox::VoxelGrid;
use trivox::view::trace::{Hit, Ray, Scene};

use crate::error::{Failure, option_error};
use crate::grid::arrays::of_rows;
use crate::job;
use crate::options::vectors;

/// Rays between two looks at whether the job is cancelled.
const CHUNK: usize = 1 << 14;

/// Voxels, normals and distances of the first hits.
pub type Hits<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The first voxel that each ray touches.
pub fn first_hits<'py>(
    grid: &Arc<VoxelGrid>,
    origins: &Bound<'py, PyAny>,
    directions: &Bound<'py, PyAny>,
) -> PyResult<Hits<'py>> {
    let py = origins.py();
    let [mut origins, mut directions] =
        [vectors("origins", origins)?, vectors("directions", directions)?];
    let rays = match (origins.len(), directions.len()) {
        (a, b) if a == b => a,
        (1, b) => b,
        (a, 1) => a,
        (a, b) => {
            let message = format!("{a} origins and {b} directions are not possible: use as many");
            return Err(option_error("option.shape", message));
        }
    };
    for vectors in [&mut origins, &mut directions] {
        if let [one] = vectors[..] {
            vectors.resize(rays, one);
        }
    }
    let grid = Arc::clone(grid);
    let voxel_size = grid.world.place.unwrap_or_default().voxel_size;
    let hits = job::run(py, move |job| {
        let scene = Scene::new(&grid);
        let chunks = origins.par_chunks(CHUNK).zip(directions.par_chunks(CHUNK)).enumerate();
        let hits = chunks.map(|(chunk, (origins, directions))| {
            job.check()?;
            let rays = (chunk * CHUNK..).zip(origins.iter().zip(directions));
            rays.map(|(index, ray)| first_hit(&scene, index, ray)).collect()
        });
        Ok(hits.collect::<Result<Vec<Vec<Option<Hit>>>, Failure>>()?.concat())
    })?;
    let voxel = |hit: &Option<Hit>| hit.map_or([-1; 3], |hit| hit.voxel.map(|c| c as i32));
    let normal = |hit: &Option<Hit>| {
        hit.and_then(|hit| hit.face).map_or([0; 3], |face| face.normal().map(|c| c as i8))
    };
    let distance = |hit: &Option<Hit>| hit.map_or(f64::INFINITY, |hit| hit.distance * voxel_size);
    let distances: Vec<f64> = hits.iter().map(distance).collect();
    Ok((
        of_rows(py, hits.iter().map(voxel).collect())?.into_any(),
        of_rows(py, hits.iter().map(normal).collect())?.into_any(),
        distances.into_pyarray(py).into_any(),
    ))
}

/// Of one ray, in mesh units.
fn first_hit(
    scene: &Scene,
    index: usize,
    (origin, direction): (&[f64; 3], &[f64; 3]),
) -> Result<Option<Hit>, Failure> {
    let place = scene.grid().world.place.unwrap_or_default();
    let ray = Ray::new(place.to_voxels(*origin), *direction)
        .map_err(|error| Failure::own("option.ray", format!("ray {index}, in voxels: {error}")))?;
    Ok(scene.first_hit(&ray))
}
