//! Values of colours and materials outside their range: what is used instead, and its warnings.

use std::array;

use crate::base::numbers::short;
use crate::formats::excerpt;
use crate::formats::io::warnings::{NameCounts, counted_warning};

/// The rounding error of numbers near 1, of 32 bits or six decimal digits.
const ROUNDING: f64 = 1.5e-6;

/// Whether a value is from 0 to 1.
#[inline]
pub(crate) fn is_unit(value: f64) -> bool {
    (-ROUNDING..=1.0 + ROUNDING).contains(&value)
}

/// Warnings about so many vertices and faces with a colour value that is not [0 to 1](is_unit).
pub(crate) fn clamped_colors([vertices, faces]: [u64; 2]) -> impl Iterator<Item = String> {
    let what = "a colour with values outside their range: the nearest in it are used, and 0 for \
                what is no number";
    let all = [(vertices, ["vertex has", "vertices have"]), (faces, ["face has", "faces have"])];
    all.into_iter().filter_map(move |(count, names)| counted_warning(count, names, what))
}

/// A warning about `count` triangles whose texture coordinates are not finite.
pub(crate) fn unplaced(count: u64) -> Option<String> {
    let what = "texture coordinates that are not finite: shown in a plain colour";
    counted_warning(count, ["triangle has", "triangles have"], what)
}

/// Factors of materials outside their range.
#[derive(Debug, Default)]
pub(crate) struct ClampedFactors(NameCounts);

impl ClampedFactors {
    /// The factors of a `material` by their key, clamped to 0 to `most`; notes changes.
    pub(crate) fn clamp<const N: usize>(
        &mut self,
        material: &str,
        key: &str,
        factors: [f64; N],
        most: f64,
    ) -> [f64; N] {
        let used = factors.map(|factor| factor.clamp(0.0, most));
        let changes: [f64; N] = array::from_fn(|n| (factors[n] - used[n]).abs());
        if changes.iter().any(|&change| change > ROUNDING) {
            let [stated, used] = [factors, used].map(|all| all.each_ref().map(short).join(" "));
            let material = excerpt(material);
            self.0.add_whole(format!("{material}: {key} {stated}, used as {used}"));
        }
        used
    }

    pub(crate) fn warning(&self) -> Option<String> {
        self.0.warning("factors of materials are outside their range")
    }
}
