//! Formats measurements.

use trivox::base::numbers;
pub use trivox::base::numbers::{AXES, counted, grouped, short};

/// Milliseconds, in a suitable unit.
pub fn duration(milliseconds: f64) -> String {
    match milliseconds {
        t if t < 10.0 => format!("{t:.1} ms"),
        t if t < 1000.0 => format!("{t:.0} ms"),
        t => format!("{:.2} s", t / 1000.0),
    }
}

/// The dimensions of a grid.
pub fn sized([x, y, z]: [u32; 3]) -> String {
    format!("{x} x {y} x {z} voxels")
}

/// A length with six significant digits.
pub fn significant(length: f64) -> String {
    numbers::significant(length, 6)
}

/// A ratio with six digits, rounded down, so that only 1 is shown as 1.
pub fn ratio(part: f64) -> String {
    format!("{:.6}", (part * 1e6).floor() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_is_a_ratio_of_one() {
        let ratios = [0.0, 0.5, 1.0 - 1e-12, 1.0].map(ratio);
        assert_eq!(ratios, ["0.000000", "0.500000", "0.999999", "1.000000"]);
    }
}
