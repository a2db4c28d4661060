//! Paths as text.

use std::fmt::Write;
use std::path::Path;

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

/// A text with the control characters escaped that are not `kept`.
pub fn escaped_except(text: &str, kept: &[char]) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter.is_control() && !kept.contains(&letter) {
            true => escaped.extend(letter.escape_default()),
            false => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn what_is_not_text_is_escaped() {
        let path = Path::new(OsStr::from_bytes(b"a/\xe9\n\xc3\xa9 \xff\xfe.obj"));
        assert_eq!(path_text(path), "a/\\xe9\n\u{e9} \\xff\\xfe.obj");
        assert_eq!(shown(path), "a/\\xe9\\n\u{e9} \\xff\\xfe.obj");
    }
}
