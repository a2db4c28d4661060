//! Values of colours and materials outside their range: what is used instead, and its warnings.

use std::array;

use crate::base::numbers::short;
use crate::formats::excerpt;
use crate::formats::io::warnings::{NamedWarnings, counted_warning};

/// The rounding error of numbers near 1, of 32 bits or six decimal digits.
const ROUNDING: f64 = 1.5e-6;

/// Whether a value is from 0 to 1.
#[inline]
pub(crate) fn is_unit(value: f64) -> bool {
    (-ROUNDING..=1.0 + ROUNDING).contains(&value)
}

/// Warnings about so many vertices and faces with a colour value that is not [0 to 1](is_unit).
pub(crate) fn clamped_colors([vertices, faces]: [u64; 2]) -> impl Iterator<Item = String> {
    let what =
        "a colour with values outside their range: the nearest in it are used, and 0 for NaN";
    let all = [(vertices, ["vertex has", "vertices have"]), (faces, ["face has", "faces have"])];
    all.into_iter().filter_map(move |(count, names)| counted_warning(count, names, what))
}

/// A warning about `count` triangles whose texture coordinates are not finite.
pub(crate) fn unplaced(count: u64) -> Option<String> {
    let what = "texture coordinates that are not finite: shown in a plain colour";
    counted_warning(count, ["triangle has", "triangles have"], what)
}

/// The factors of a `material` by their key, clamped to 0 to `most`; a change is a warning.
pub(crate) fn clamped_factors<const N: usize>(
    warnings: &mut NamedWarnings,
    [material, key]: [&str; 2],
    factors: [f64; N],
    most: f64,
) -> [f64; N] {
    let used = factors.map(|factor| factor.clamp(0.0, most));
    let changes: [f64; N] = array::from_fn(|n| (factors[n] - used[n]).abs());
    if changes.iter().any(|&change| change > ROUNDING) {
        let [stated, used] = [factors, used].map(|all| all.each_ref().map(short).join(" "));
        let factor = format!("{}: {key} {stated}, used as {used}", excerpt(material));
        warnings.add_whole("factors of materials are outside their range", factor);
    }
    used
}
