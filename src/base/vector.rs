//! Vectors of three integers, doubles or lanes. Each expression has one order of operations, so
//! that doubles are rounded alike everywhere.

use std::ops::{Add, Mul, Sub};

/// A vector of doubles.
pub type Vector = [f64; 3];

/// The sum, component by component.
#[inline(always)]
pub fn plus<T: Copy + Add<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// The difference, component by component.
#[inline(always)]
pub fn minus<T: Copy + Sub<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Each component times `factor`.
#[inline(always)]
pub fn times<T: Copy + Mul<Output = T>>(v: [T; 3], factor: T) -> [T; 3] {
    [v[0] * factor, v[1] * factor, v[2] * factor]
}

/// The dot product.
#[inline(always)]
pub fn dot<T: Copy + Add<Output = T> + Mul<Output = T>>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<T: Copy + Sub<Output = T> + Mul<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The Euclidean length.
#[inline(always)]
pub fn norm(v: Vector) -> f64 {
    dot(v, v).sqrt()
}

/// The vector of length 1 in the same direction.
pub fn normalized(v: Vector) -> Vector {
    let length = norm(v);
    v.map(|c| c / length)
}

/// The sine and cosine of an angle; exact for multiples of 90 degrees.
pub(crate) fn sin_cos(degrees: f64) -> (f64, f64) {
    let turn = degrees.rem_euclid(360.0);
    let quarters = (turn / 90.0).floor();
    let (sin, cos) = libm::sincos((turn - 90.0 * quarters).to_radians());
    match quarters as u8 % 4 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// `v` rotated about an axis, counter-clockwise as seen from the axis's tip, by the angle with this
/// sine and cosine.
pub(crate) fn rotated(v: Vector, axis: usize, (sin, cos): (f64, f64)) -> Vector {
    let (right, up) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut rotated = v;
    rotated[right] = v[right] * cos - v[up] * sin;
    rotated[up] = v[right] * sin + v[up] * cos;
    rotated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_are_exact_and_others_lie_between() {
        let front = [0.0, 0.5, 1.0];
        let turned = |degrees: f64| rotated(front, 1, sin_cos(degrees));
        let turns = [0.0, 90.0, 180.0, 270.0, 360.0, -90.0, -1e-300].map(turned);
        let [right, back, left] = [[1.0, 0.5, 0.0], [0.0, 0.5, -1.0], [-1.0, 0.5, 0.0]];
        assert_eq!(turns, [front, right, back, left, front, left, front]);
        let [x, _, z] = turned(60.0);
        assert!((x - 0.75_f64.sqrt()).abs() < 1e-15 && (z - 0.5).abs() < 1e-15, "{x}, {z}");
    }

    #[test]
    fn rotations_are_counter_clockwise_about_each_axis() {
        let quarter = sin_cos(90.0);
        for axis in 0..3 {
            let unit = |axis: usize| [0, 1, 2].map(|a| f64::from(u8::from(a == axis % 3)));
            assert_eq!(rotated(unit(axis + 1), axis, quarter), unit(axis + 2));
            assert_eq!(cross(unit(axis), unit(axis + 1)), unit(axis + 2));
        }
    }
}
