//! Vectors of any numbers.

use std::ops::{Add, Mul, Sub};

pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}

impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Number for T {}

pub fn plus<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [0, 1, 2].map(|i| a[i] + b[i])
}

pub fn minus<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [0, 1, 2].map(|i| a[i] - b[i])
}

pub fn dot<T: Number>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The 48 symmetries of the cube: the order of the axes, and whether each axis is mirrored.
pub fn symmetries() -> impl Iterator<Item = ([usize; 3], [bool; 3])> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mirrors = (0..8).map(|bits| [0, 1, 2].map(|a| bits >> a & 1 == 1));
    mirrors.flat_map(move |mirrored| orders.map(|order| (order, mirrored)))
}

pub fn length(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}
