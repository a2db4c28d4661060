//! Text of paths, numbers and warnings.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

pub use trivox::base::escaped_except;
pub use trivox::base::numbers::{AXES, counted, counted_as, grouped, listed, short};
use trivox::base::{milliseconds, numbers};
use trivox::engine::{Remedy, Warning};

/// A path as text for JSON. Bytes that are not UTF-8 are written as `\xff`, so that files can be
/// told apart.
pub fn path_text(path: impl AsRef<Path>) -> String {
    let mut text = String::new();
    for chunk in path.as_ref().as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A path for a message: as [`path_text`], with control characters escaped, so that it is on one
/// line.
pub fn shown(path: impl AsRef<Path>) -> String {
    escaped(&path_text(path))
}

/// A text with all control characters escaped.
pub fn escaped(text: &str) -> String {
    escaped_except(text, &[])
}

/// A time in a suitable unit.
pub fn duration(time: Duration) -> String {
    match milliseconds(time) {
        t if t < 10.0 => format!("{t:.1} ms"),
        t if t < 1000.0 => format!("{t:.0} ms"),
        t => format!("{:.2} s", t / 1000.0),
    }
}

pub fn sized([x, y, z]: [u32; 3]) -> String {
    let [x, y, z] = [x, y, z].map(|voxels| grouped(voxels.into()));
    format!("{x} x {y} x {z} voxels")
}

/// A coordinate with six significant digits, or as many as a hundredth of a voxel needs.
pub fn rounded(coordinate: f64, voxel_size: f64) -> String {
    let digits = (coordinate.abs() / voxel_size).log10().ceil() as usize;
    numbers::rounded(coordinate, digits.saturating_add(2).clamp(6, 17))
}

/// A length with six significant digits.
pub fn significant(length: f64) -> String {
    numbers::significant(length, 6)
}

/// A ratio with six digits, rounded down, so that only 1 is shown as 1.
pub fn ratio(part: f64) -> String {
    format!("{:.6}", (part * 1e6).floor() / 1e6)
}

/// The bounds of voxels, inclusive.
pub fn range<T: std::fmt::Display>([[x0, y0, z0], [x1, y1, z1]]: &[[T; 3]; 2]) -> String {
    format!("from ({x0}, {y0}, {z0}) to ({x1}, {y1}, {z1})")
}

/// The warnings as sentences, with the options of the program that avoid them.
pub fn sentences<'a>(
    warnings: impl IntoIterator<Item = &'a Warning>,
) -> impl Iterator<Item = String> {
    let spelled = |remedy| match remedy {
        Remedy::Fill(fill) => format!("--fill {fill}"),
        Remedy::KeepTransparent => "--keep-transparent".to_owned(),
        Remedy::InteriorColor => "--interior-color".to_owned(),
    };
    warnings.into_iter().map(move |warning| escaped(&warning.with_remedy(spelled)))
}

/// The warnings about the file at `path`, each after the file's name.
pub fn of_file(
    path: &Path,
    warnings: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = String> {
    let name = shown(path);
    warnings.into_iter().map(move |warning| format!("{name}: {warning}"))
}

/// A number of triangles, some of them without area on the lattice.
pub fn triangles_text(triangles: usize, degenerate: u64) -> String {
    let triangles = counted(triangles as u64, "triangle");
    match degenerate {
        0 => triangles,
        number => format!("{triangles}, {} of them degenerate", grouped(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_is_not_text_is_escaped() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(OsStr::from_bytes(b"a/\xe9\n\xc3\xa9 \xff\xfe.obj"));
        assert_eq!(path_text(path), "a/\\xe9\n\u{e9} \\xff\\xfe.obj");
        assert_eq!(shown(path), "a/\\xe9\\n\u{e9} \\xff\\xfe.obj");
        assert_eq!(shown("gnp.\u{202e}jbo"), "gnp.\\u{202e}jbo");
    }

    #[test]
    fn coordinates_far_from_the_origin_have_the_digits_of_their_voxels() {
        assert_eq!(rounded(4_599_988.25, 0.5), "4599988.25");
        assert_eq!(rounded(-1.0 / 3.0, 1.0), "-0.333333");
        assert_eq!(rounded(0.0, 1e-300), "0");
        assert_eq!(rounded(1e10, 1e-308), "10000000000");
    }

    #[test]
    fn only_the_whole_is_a_ratio_of_one() {
        let ratios = [0.0, 0.5, 1.0 - 1e-12, 1.0].map(ratio);
        assert_eq!(ratios, ["0.000000", "0.500000", "0.999999", "1.000000"]);
    }
}
