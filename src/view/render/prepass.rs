//! A depth prepass: a lower bound of the depth of the voxels that each block of pixels shows. Rays
//! of blocks that show none are not traced; the others begin at that depth (compare the beam
//! optimization of S. Laine and T. Karras, *Efficient Sparse Voxel Octrees*, 2010).

use std::collections::TryReserveError;

use crate::base::vector::Vector;
use crate::view::render::film::Film;
use crate::view::render::picture::try_with_capacity;
use crate::view::trace::{Scene, Time};

/// Pixels along each side of a block.
const BLOCK: usize = 2;

/// A cell whose footprint is wider or higher than this, in pixels, is subdivided.
const CELL_PIXELS: usize = 4;

/// A conservative rasterization of the occupied voxels, in blocks of pixels.
#[derive(Debug)]
pub(crate) struct DepthPrepass {
    blocks_per_row: usize,
    /// A lower bound for each block, in voxels from the eye; infinite where all rays miss.
    depths: Vec<f32>,
}

impl DepthPrepass {
    pub(super) fn new(scene: &Scene, film: &Film) -> Result<Self, TryReserveError> {
        let [blocks_per_row, rows] = film.size.map(|side| (side as usize).div_ceil(BLOCK));
        let mut depths = try_with_capacity(blocks_per_row * rows)?;
        depths.resize(blocks_per_row * rows, f32::INFINITY);
        scene.visit(|voxel, side, is_divided| {
            let half = f64::from(side) / 2.0;
            let center: Vector = voxel.map(|c| f64::from(c) + half);
            let (pixels, depth) = film.footprint(center, half * 3.0_f64.sqrt());
            if is_divided && pixels.iter().any(|range| range.len() > CELL_PIXELS) {
                return pixels.iter().all(|range| !range.is_empty());
            }
            let [columns, rows] = pixels.map(|r| r.start / BLOCK..r.end.div_ceil(BLOCK));
            let depth = (depth as f32).next_down();
            for row in rows {
                for least in &mut depths[row * blocks_per_row..][columns.clone()] {
                    *least = least.min(depth);
                }
            }
            false
        });
        Ok(Self { blocks_per_row, depths })
    }

    /// A lower bound of the time at which rays of the pixel hit a voxel; `None` if all miss.
    pub(super) fn start(&self, film: &Film, [column, row]: [usize; 2]) -> Option<Time> {
        let depth = self.depths[row / BLOCK * self.blocks_per_row + column / BLOCK];
        depth.is_finite().then(|| film.time_at(f64::from(depth)))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::grid::{Up, VoxelGrid};
    use crate::view::render::{Camera, Projection, RenderOptions, View};

    /// Traces all samples twice: after the prepass, and from the eye. Returns how many rays miss
    /// all voxels, and how many of these the prepass does not cull.
    fn check(scene: &Scene, camera: &Camera, options: &RenderOptions) -> [usize; 2] {
        let film = Film::new(camera, options.size, options.samples);
        let prepass = DepthPrepass::new(scene, &film).unwrap();
        let samples = options.samples as usize;
        let [width, height] = options.size.map(|side| side as usize * samples);
        let mut misses = [0; 2];
        for sample in (0..height).flat_map(|row| (0..width).map(move |column| [column, row])) {
            let ray = film.ray(sample);
            let start = prepass.start(&film, sample.map(|at| at / samples));
            let hit = start.and_then(|start| scene.first_touch_from(&ray, start));
            let [hit, expected] = [hit, scene.first_touch(&ray)]
                .map(|touch| touch.map(|t| (t.voxel(), t.face(&ray), t.point(&ray))));
            assert_eq!(hit, expected, "{camera:?}, {options:?}, {sample:?}, {ray:?}, {start:?}");
            if expected.is_none() {
                misses = [misses[0] + 1, misses[1] + usize::from(start.is_some())];
            }
        }
        misses
    }

    /// A ball with random holes in a grid of `size` voxels an axis, whose corners are occupied.
    fn ball(size: u32, rng: &mut Rng) -> VoxelGrid {
        let center = f64::from(size - 1) / 2.0;
        let all = (0..size.pow(3)).map(|i| [i % size, i / size % size, i / size / size]);
        let is_occupied = |voxel: &[u32; 3]| {
            let from_center = voxel.map(|c| f64::from(c) - center);
            let square = from_center.iter().map(|c| c * c).sum::<f64>();
            let is_corner = voxel.iter().all(|&c| c == 0 || c == size - 1);
            is_corner || square < 0.16 * f64::from(size * size) && rng.u32(0..9) > 0
        };
        VoxelGrid::from_voxels([size; 3], all.filter(is_occupied).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn rays_that_begin_at_the_depth_of_the_prepass_hit_what_whole_rays_hit() {
        let mut rng = Rng::with_seed(3);
        let grids = [1, 8, 30, 100].map(|size| ball(size, &mut rng));
        let scenes = grids.each_ref().map(Scene::new);
        let sizes = [[64, 48], [7, 91], [130, 1]];
        let mut options = Vec::new();
        for view in [View::ThreeQuarter, View::Iso, View::Front, View::Bottom] {
            for projection in [Projection::Perspective, Projection::Orthographic] {
                for zoom in [0.01, 0.8, 3.0, 100.0] {
                    let size = sizes[rng.usize(0..sizes.len())];
                    let of_view = RenderOptions { view, zoom, ..RenderOptions::new(size) };
                    options.push(RenderOptions {
                        projection: Some(projection),
                        samples: rng.u32(1..4),
                        ..of_view
                    });
                }
            }
        }
        for options in options {
            // With the cameras of smaller grids, eyes are within the scene, and rays begin there.
            for grid in &grids {
                let camera = Camera::new(grid, Up::Z, &options).unwrap();
                scenes.iter().for_each(|scene| _ = check(scene, &camera, &options));
            }
        }
    }

    #[test]
    fn few_rays_that_miss_are_traced() {
        let grid = ball(100, &mut Rng::with_seed(3));
        let options = RenderOptions::new([256; 2]);
        let camera = Camera::new(&grid, Up::Y, &options).unwrap();
        let [misses, traced] = check(&Scene::new(&grid), &camera, &options);
        assert!(misses > 100_000 && traced < misses / 20, "{traced} of {misses}");
    }
}
