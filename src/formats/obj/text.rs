//! OBJ text as it is meant: in UTF-8, line by line, with continued lines joined.

use std::borrow::Cow;

use crate::formats::ReadError;

/// The text in `bytes`, in the same memory: UTF-8 without byte order mark, lines ended by `\n` or `\r\n`.
///
/// # Errors
/// There is none, or it is no text.
pub(super) fn clean(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    if bytes.contains(&0) {
        let what = "not an OBJ text file: it contains zero bytes (binary, or UTF-16 text)";
        return Err(ReadError::Content(what.into()));
    }
    Ok(lines(bytes))
}

/// The same, whatever the bytes are.
pub(super) fn lines(mut bytes: Vec<u8>) -> String {
    end_lines(&mut bytes);
    let mut text = into_text(bytes);
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// A carriage return that no line feed follows ends a line too.
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

/// Names of materials and groups may be in any encoding, and nothing else is beyond ASCII: what is
/// not UTF-8 becomes question marks.
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

/// The line without its last backslash, if it goes on in the next. A comment may end in one that
/// means nothing, such as a folder's.
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

/// Whether a texture or normal index has a sign, or is so long that `tobj` would overflow. It
/// multiplies these before it compares them, so that one out of range may even wrap into it.
pub(super) fn may_overflow(text: &str) -> bool {
    let long = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() > 15;
    text.split('/').skip(1).any(|rest| rest.starts_with(['-', '+']) || long(rest))
}

/// Whether a face counts corners back from its own line.
pub(super) fn has_negative_index(text: &str) -> bool {
    let mut faces =
        statements(text).filter(|(_, line)| matches!(first_word(line), Some("f" | "fo")));
    faces.any(|(_, line)| line.contains('-'))
}
