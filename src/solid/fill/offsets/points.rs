//! The offsets at any points, by the octree of the voxels' offsets: points of one cube share its far
//! field, or the offset if the cube has only one.

use super::cube::Cube;
use super::{Field, offset};
use crate::grid::BRICK;
use crate::solid::fill::solid_angle::Point;

impl Field {
    /// The offsets at `points`, in lattice units.
    pub(in crate::solid) fn offsets_at(&self, points: &[Point]) -> Vec<i32> {
        let mut offsets = vec![0; points.len()];
        let root = self.root_cube();
        let (within, beside): (Vec<_>, Vec<_>) =
            points.iter().copied().enumerate().partition(|(_, p)| self.bounds(&root).contains(*p));
        self.set_by_sums(&root, &beside, &mut offsets);
        self.set_offsets_at(root, &within, &mut offsets);
        offsets
    }

    /// Sets the offsets at points of `cube`, each with its index.
    fn set_offsets_at(&self, mut cube: Cube, points: &[(usize, Point)], offsets: &mut [i32]) {
        if points.len() <= mp() {
            return self.set_by_sums(&cube, points, offsets);
        }
        let all = self.expand_loops(&mut cube);
        if self.is_decided(&cube, &all) {
            let edges = self.edges_with_rays_in(&cube);
            for &(index, p) in points {
                let jump: f64 = edges.iter().map(|edge| edge.jump(all.center, p)).sum();
                offsets[index] = offset(all.taylor.value + jump);
            }
        } else if cube.size > BRICK {
            for child in cube.children() {
                let bounds = self.bounds(&child);
                let within = points.iter().copied().filter(|(_, p)| bounds.contains(*p));
                self.set_offsets_at(child, &within.collect::<Vec<_>>(), offsets);
            }
        } else {
            self.set_by_sums(&cube, points, offsets);
        }
    }

    /// Sets the offsets at points of `cube` by a sum for each.
    fn set_by_sums(&self, cube: &Cube, points: &[(usize, Point)], offsets: &mut [i32]) {
        for &(index, p) in points {
            offsets[index] = offset(self.number_at(cube, p));
        }
    }
}
fn mp() -> usize { static V: std::sync::OnceLock<usize> = std::sync::OnceLock::new(); *V.get_or_init(|| std::env::var("MP").map_or(8, |t| t.parse().unwrap())) }
