//! The transform from index space, where voxel centres are integers, to the world.

use crate::grid::Place;
use crate::solid::distance::DistanceField;

/// `world = scale * index + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorldFromIndex {
    pub(super) scale: f64,
    pub(super) translation: [f64; 3],
}

impl WorldFromIndex {
    /// The transform of a place; by default the corner is at the origin, and voxels have size 1.
    pub(super) fn of_place(place: Option<Place>) -> Self {
        let Place { origin, voxel_size } = place.unwrap_or_default();
        Self { scale: voxel_size, translation: origin.map(|c| c + 0.5 * voxel_size) }
    }

    /// The transform of a diagonal matrix and a translation, if the scale is uniform and valid.
    pub(super) fn of_diagonal(diagonal: [f64; 3], translation: [f64; 3]) -> Option<Self> {
        let [scale, y, z] = diagonal;
        let place = Place { origin: translation, voxel_size: scale };
        (scale == y && scale == z && place.is_possible()).then_some(Self { scale, translation })
    }

    /// The transform of a matrix, whose rows are the images of the axes, if it is diagonal.
    pub(super) fn of_matrix(matrix: [[f64; 3]; 3], translation: [f64; 3]) -> Option<Self> {
        let is_diagonal = (0..3).all(|i| (0..3).all(|j| i == j || matrix[i][j] == 0.0));
        is_diagonal
            .then(|| Self::of_diagonal([0, 1, 2].map(|a| matrix[a][a]), translation))
            .flatten()
    }

    pub(super) fn apply(&self, index: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.scale * index[a] + self.translation[a])
    }
}

/// A distance of `field`, given in voxels, in world units.
pub(in crate::formats::grid) fn world_distance(field: &DistanceField, voxels: f32) -> f32 {
    let voxel_size = field.world().place.unwrap_or_default().voxel_size;
    (f64::from(voxels) * voxel_size) as f32
}
