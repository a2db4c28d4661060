//! The transform from index space, where voxel centres are integers, to the world.

use crate::grid::Place;

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

    /// The transform by a matrix, whose rows are the images of the axes, and then a translation;
    /// `None` if the matrix is not a valid uniform scale.
    pub(super) fn of_matrix(matrix: [[f64; 3]; 3], translation: [f64; 3]) -> Option<Self> {
        let scale = matrix[0][0];
        let is_possible = Place { origin: translation, voxel_size: scale }.is_possible();
        (matrix == diagonal([scale; 3]) && is_possible).then_some(Self { scale, translation })
    }

    pub(super) fn apply(&self, index: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.scale * index[a] + self.translation[a])
    }
}

/// The matrix with these scales of the axes.
pub(super) fn diagonal([x, y, z]: [f64; 3]) -> [[f64; 3]; 3] {
    [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
}
