//! Affine transforms of the instances of a scene.

use std::array::from_fn;

/// Three rows of an affine matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transform([[f64; 4]; 3]);

impl Transform {
    pub(super) const IDENTITY: Self =
        Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    /// Scale, then rotation by a quaternion (x, y, z, w), then translation.
    pub(super) fn of_trs(
        translation: Option<[f64; 3]>,
        rotation: Option<[f64; 4]>,
        scale: Option<[f64; 3]>,
    ) -> Result<Self, String> {
        let [sx, sy, sz] = scale.unwrap_or([1.0; 3]);
        let [tx, ty, tz] = translation.unwrap_or_default();
        let quaternion = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let length = quaternion.iter().map(|c| c * c).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Err(format!("the rotation {quaternion:?}, which is no unit quaternion"));
        }
        // Rounded quaternions do not have unit length.
        let [x, y, z, w] = quaternion.map(|c| c / length);
        let rotation = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), tx],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), ty],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y), tz],
        ];
        Ok(Self(rotation.map(|[a, b, c, moved]| [sx * a, sy * b, sz * c, moved])))
    }

    /// From the four columns of a matrix, each of `height` numbers; a fourth row is ignored.
    pub(super) fn of_columns(columns: &[f64], height: usize) -> Self {
        Self(from_fn(|row| from_fn(|column| columns[height * column + row])))
    }

    pub(super) fn weighted(transforms: impl Iterator<Item = (f64, Self)>) -> Self {
        let mut sum = [[0.0; 4]; 3];
        for (weight, Self(rows)) in transforms {
            for (sum, number) in sum.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
                *sum += weight * number;
            }
        }
        Self(sum)
    }

    pub(super) fn times(self, other: Self) -> Self {
        let Self(b) = other;
        Self(self.0.map(|row| {
            from_fn(|column| {
                let moved = if column == 3 { row[3] } else { 0.0 };
                row[0] * b[0][column] + row[1] * b[1][column] + row[2] * b[2][column] + moved
            })
        }))
    }

    pub(super) fn apply(self, points: &mut [[f64; 3]]) {
        // The identity would change only the sign of zeros.
        if self == Self::IDENTITY {
            return;
        }
        points.iter_mut().for_each(|point| *point = self.apply_to(*point));
    }

    pub(super) fn apply_to(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        self.0.map(|[a, b, c, d]| a * x + b * y + c * z + d)
    }

    /// Whether it reverses orientations.
    pub(super) fn is_mirror(self) -> bool {
        let Self([[a, b, c, _], [d, e, f, _], [g, h, i, _]]) = self;
        a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0
    }
}
