//! Formats numbers.

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
    format!("{length:.5e}").parse::<f64>().unwrap_or(length).to_string()
}

/// A ratio with six digits, rounded down, so that only 1 is shown as 1.
pub fn ratio(part: f64) -> String {
    format!("{:.6}", (part * 1e6).floor() / 1e6)
}

/// A count and its noun.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = match number {
        1 => "",
        _ if thing.ends_with(['h']) => "es",
        _ => "s",
    };
    format!("{} {thing}{plural}", grouped(number))
}

/// A number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn only_the_whole_is_a_ratio_of_one() {
        let ratios = [0.0, 0.5, 1.0 - 1e-12, 1.0].map(ratio);
        assert_eq!(ratios, ["0.000000", "0.500000", "0.999999", "1.000000"]);
    }

    #[test]
    fn things_have_their_plural() {
        let meshes = [0, 1, 2].map(|number| counted(number, "mesh"));
        assert_eq!(meshes, ["0 meshes", "1 mesh", "2 meshes"]);
        assert_eq!(counted(1000, "voxel"), "1,000 voxels");
    }
}
