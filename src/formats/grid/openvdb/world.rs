//! The transform from index space, where voxel centres are integers, to the world.

use crate::formats::WriteError;
use crate::grid::Place;
use crate::solid::distance::DistanceField;

/// `world = scale * index + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::formats::grid) struct WorldFromIndex {
    pub(in crate::formats::grid) scale: f64,
    pub(super) translation: [f64; 3],
}

impl WorldFromIndex {
    /// The transform of a band of distances.
    ///
    /// # Errors
    /// Distances in world units are not in the normal range of 32-bit floats.
    pub(in crate::formats::grid) fn of_distances(
        field: &DistanceField,
    ) -> Result<Self, WriteError> {
        let transform = Self::of_place(field.world().place);
        let range = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        // Distances of 2^-10 voxels or more must not become subnormal, which have fewer bits.
        let [least, most] = [2f64.powi(-10), field.width().into()].map(|d| d * transform.scale);
        if range.contains(&least) && range.contains(&most) {
            return Ok(transform);
        }
        Err(WriteError::Unsupported(format!(
            "distances in units of {:e} do not fit in 32-bit floats: scale the mesh, or write \
             .npz, which holds distances in voxels",
            transform.scale
        )))
    }

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
