//! Normalizes OBJ text: to UTF-8 and plain line ends, with continued lines joined.

use std::borrow::Cow;

use crate::formats::{ReadError, check_memory, excerpt};

/// A normalized text, and the changes to report.
#[derive(Debug)]
pub(super) struct Cleaned {
    pub(super) text: String,
    /// The first number such as `3.1+e2`, and its correction.
    pub(super) mended: Option<String>,
}

/// The text in `bytes`, in the same memory: UTF-8 without byte order mark, lines ended by `\n` or
/// `\r\n`. UTF-16 is converted, in at most `limit` bytes for both.
///
/// # Errors
/// Empty or not text; the memory limit.
pub(super) fn clean(bytes: Vec<u8>, limit: u64) -> Result<Cleaned, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    let mut bytes = match utf_16(&bytes) {
        Some(number) => {
            // Two bytes become at most three.
            check_memory((bytes.len() as u64).saturating_mul(5) / 2, limit)?;
            from_utf_16(&bytes, number)
        }
        None => bytes,
    };
    check_text(&bytes)?;
    let mended = mend_exponents(&mut bytes);
    Ok(Cleaned { text: lines(bytes), mended })
}

/// Rejects bytes that are not text.
pub(super) fn check_text(bytes: &[u8]) -> Result<(), ReadError> {
    match bytes.contains(&0) && utf_16(bytes).is_none() {
        true => Err(ReadError::Content("not an OBJ text file: it contains zero bytes".into())),
        false => Ok(()),
    }
}

/// As [`clean`], but accepts any bytes.
pub(super) fn lines(bytes: Vec<u8>) -> String {
    let mut bytes = utf_16(&bytes).map(|number| from_utf_16(&bytes, number)).unwrap_or(bytes);
    end_lines(&mut bytes);
    let mut text = into_text(bytes);
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// The byte order, if `bytes` are UTF-16: by the byte order mark, or a first character in ASCII.
fn utf_16(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match bytes {
        [0xff, 0xfe, ..] | [b'\t'..=b'~', 0, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, b'\t'..=b'~', ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

fn from_utf_16(bytes: &[u8], number: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let characters = || char::decode_utf16(pairs.iter().map(|&pair| number(pair)));
    let characters = || characters().map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    let mut text = String::with_capacity(characters().map(char::len_utf8).sum());
    text.extend(characters());
    text.into_bytes()
}

/// Swaps the sign and the `e` of numbers such as `3.1+e2`, which some programs write, in vertex
/// lines. Returns the first such number.
fn mend_exponents(bytes: &mut [u8]) -> Option<String> {
    let mut first = None;
    for at in 2..bytes.len() {
        let is_swapped = bytes[at] == b'e'
            && matches!(bytes[at - 1], b'+' | b'-')
            && matches!(bytes[at - 2], b'0'..=b'9' | b'.')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !is_swapped {
            continue;
        }
        let start = bytes[..at].iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let line = bytes[start.map_or(0, |start| start + 1)..at].trim_ascii_start();
        if line.first() != Some(&b'v') {
            continue;
        }
        let word = |bytes: &[u8]| {
            let start = bytes[..at].iter().rposition(u8::is_ascii_whitespace).map_or(0, |i| i + 1);
            let len = bytes[start..].iter().position(u8::is_ascii_whitespace);
            let end = len.map_or(bytes.len(), |len| start + len);
            excerpt(&String::from_utf8_lossy(&bytes[start..end.min(start + 40)]))
        };
        let before = first.is_none().then(|| word(bytes));
        bytes.swap(at - 1, at);
        if let Some(before) = before {
            first = Some(format!("numbers such as {before} were read as {}", word(bytes)));
        }
    }
    first
}

/// Converts carriage returns without a line feed to line ends.
fn end_lines(bytes: &mut [u8]) {
    if !bytes.contains(&b'\r') {
        return;
    }
    for at in 0..bytes.len() {
        if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            bytes[at] = b'\n';
        }
    }
}

/// Replaces bytes that are not UTF-8 by question marks. Only names of materials and groups may have
/// them, in any encoding.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut bytes = error.into_bytes();
        let mut valid = 0;
        while let Err(error) = str::from_utf8(&bytes[valid..]) {
            valid += error.valid_up_to();
            let end = error.error_len().map_or(bytes.len(), |len| valid + len);
            bytes[valid..end].fill(b'?');
        }
        into_text(bytes)
    })
}

/// The statements of a text, each with the number of its first line, from 1. Lines that end in a
/// backslash go on in the next.
pub(super) fn statements(text: &str) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut lines = text.lines();
    let mut number = 1;
    std::iter::from_fn(move || {
        let line = lines.next()?;
        let first = number;
        number += 1;
        let Some(start) = continued(line) else {
            return Some((first, Cow::Borrowed(line)));
        };
        let mut joined = start.to_owned();
        for line in lines.by_ref() {
            number += 1;
            joined.push(' ');
            let start = continued(line);
            joined.push_str(start.unwrap_or(line));
            if start.is_none() {
                break;
            }
        }
        Some((first, Cow::Owned(joined)))
    })
}

/// The line without its last backslash, if it continues in the next line. A comment does not
/// continue: it may end in a folder's backslash.
fn continued(line: &str) -> Option<&str> {
    line.strip_suffix('\\').filter(|_| without_comment(line) == line)
}

/// The first word of a line; `None` where there is none.
pub(super) fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

/// A comment begins at a word, so that `1.#IND`, which some programs write for NaN, is not `1.`.
pub(super) fn without_comment(line: &str) -> &str {
    if !line.as_bytes().contains(&b'#') {
        return line;
    }
    let starts_word = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').find(|&(at, _)| starts_word(at));
    comment.map_or(line, |(at, _)| &line[..at])
}

/// Whether a texture or normal index has a sign, is 0 (which `tobj` treats as absent), or is so
/// long that `tobj` could overflow. It multiplies indices before the range check, so one out of
/// range could wrap into the range.
pub(super) fn may_overflow(text: &str) -> bool {
    let long = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() > 15;
    text.split('/').skip(1).any(|rest| rest.starts_with(['-', '+', '0']) || long(rest))
}

/// Whether a face has negative (relative) indices.
pub(super) fn has_negative_index(text: &str) -> bool {
    let mut faces =
        statements(text).filter(|(_, line)| matches!(first_word(line), Some("f" | "fo")));
    faces.any(|(_, line)| line.contains('-'))
}
