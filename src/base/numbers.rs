//! Formats numbers and axes for the messages of the library and the program.

/// The names of the axes.
pub const AXES: [char; 3] = ['x', 'y', 'z'];

/// Formats a number of bytes in the largest binary unit up to it, rounded up to `digits` decimals.
fn binary_bytes(number: u64, digits: usize) -> String {
    let scale = 10_f64.powi(digits as i32);
    let rounded = |bits: u32| (number as f64 / f64::from(1_u32 << bits) * scale).ceil() / scale;
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    // Rounded up, the next smaller unit may have 1,024.
    let unit = units.iter().find(|(bits, _)| number >> bits >= 1 || rounded(bits - 10) >= 1024.0);
    unit.map_or(format!("{number} bytes"), |&(bits, unit)| {
        format!("{:.digits$} {unit}", rounded(bits))
    })
}

/// Formats two numbers of bytes in binary units, rounded up to the fewest decimals, 1 to 3, that
/// tell them apart; otherwise in bytes.
#[must_use]
pub fn binary_bytes_apart(numbers: [u64; 2]) -> [String; 2] {
    let to = |digits| numbers.map(|number| binary_bytes(number, digits));
    let apart = (1..4).map(to).find(|[a, b]| a != b);
    apart.unwrap_or_else(|| numbers.map(|number| format!("{number} bytes")))
}

/// A count and its noun.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    let plural = if one.ends_with('h') { "es" } else { "s" };
    counted_as(number, one, &format!("{one}{plural}"))
}

/// A count and its noun, which is `one` or `more`.
#[must_use]
pub fn counted_as(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { more })
}

/// Names, and how many of `all` are not among them.
#[must_use]
pub fn listed(names: &[String], all: u64) -> String {
    let named = names.join(", ");
    match all.saturating_sub(names.len() as u64) {
        0 => named,
        more => format!("{named} and {} more", grouped(more)),
    }
}

/// A number with commas between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    with_commas(&number.to_string())
}

/// The text of a number, with commas between the thousands of its first digits.
fn with_commas(number: &str) -> String {
    let sign = usize::from(number.starts_with('-'));
    let digits = number[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let mut grouped = String::new();
    for (index, letter) in number.chars().enumerate() {
        let left = (sign + digits).saturating_sub(index);
        if index > sign && left > 0 && left.is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(letter);
    }
    grouped
}

/// Formats a number for a message, with an exponent where it would have many zeros.
#[must_use]
pub fn short(number: &f64) -> String {
    match number.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-5..1e15).contains(&size) => {
            format!("{number:e}")
        }
        _ => number.to_string(),
    }
}

/// A coordinate with `digits` significant digits. It has no commas: they separate coordinates.
#[must_use]
pub fn rounded(coordinate: f64, digits: usize) -> String {
    let places = digits.saturating_sub(1);
    short(&format!("{coordinate:.places$e}").parse().unwrap_or(coordinate))
}

/// A length with `digits` significant digits, and commas between thousands.
#[must_use]
pub fn significant(length: f64, digits: usize) -> String {
    with_commas(&rounded(length, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
        let lengths = [-999.5, 1000.25, -123_456.0, 12_345_678.0, 1e20, 0.000_123_456_78];
        let lengths = lengths.map(|length| significant(length, 6));
        assert_eq!(
            lengths,
            ["-999.5", "1,000.25", "-123,456", "12,345,700", "1e20", "0.000123457"]
        );
        assert_eq!(rounded(-12_345_678.0, 6), "-12345700");
    }

    #[test]
    fn bytes_have_the_digits_that_tell_them_apart() {
        let gib = |number: f64| (number * f64::from(1 << 30)) as u64;
        for (numbers, expected) in [
            ([gib(3.01), gib(3.0)], ["3.1 GiB", "3.0 GiB"]),
            ([gib(3.08), gib(3.06)], ["3.08 GiB", "3.06 GiB"]),
            ([1030, 1025], ["1.006 KiB", "1.001 KiB"]),
            ([1 << 30, (1 << 30) - 1], ["1073741824 bytes", "1073741823 bytes"]),
            ([(3 << 30) + 2, (3 << 30) + 1], ["3221225474 bytes", "3221225473 bytes"]),
        ] {
            assert_eq!(binary_bytes_apart(numbers), expected);
        }
    }

    #[test]
    fn nouns_have_their_plural() {
        let meshes = [0, 1, 2].map(|number| counted(number, "mesh"));
        assert_eq!(meshes, ["0 meshes", "1 mesh", "2 meshes"]);
        assert_eq!(counted(1000, "voxel"), "1,000 voxels");
        assert_eq!(counted_as(1, "face has", "faces have"), "1 face has");
        assert_eq!(counted_as(0, "face has", "faces have"), "0 faces have");
    }
}
