//! Normalizes OBJ text to UTF-8 and plain line ends, and divides it into parts for parallel work,
//! statements and words.

use std::borrow::Cow;

use memchr::memchr;

use crate::formats::ReadError;

pub(super) fn check_text(bytes: &[u8]) -> Result<(), ReadError> {
    ensure!(
        memchr(0, bytes).is_none(),
        "not an OBJ text file: it contains zero bytes: save it in UTF-8, decompress it, or \
         correct its extension"
    );
    Ok(())
}

/// The text in `bytes`, in the same memory: UTF-8 without byte order mark, lines ended by `\n` or
/// `\r\n`.
pub(super) fn clean(mut bytes: Vec<u8>) -> String {
    end_lines(&mut bytes);
    let mut text = into_text(bytes);
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// Converts carriage returns without a line feed to line ends.
fn end_lines(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(len) = memchr(b'\r', &bytes[at..]) {
        at += len;
        if bytes.get(at + 1) != Some(&b'\n') {
            bytes[at] = b'\n';
        }
        at += 1;
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

/// Divides a text into parts of about `len` bytes. Each begins with a statement.
pub(super) fn parts(text: &str, len: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(end_of_statement(rest.as_bytes(), len));
        parts.push(part);
        rest = after;
    }
    parts
}

/// The first end of a statement past `from`.
fn end_of_statement(text: &[u8], from: usize) -> usize {
    let mut end = from;
    while let Some(len) = text.get(end..).and_then(|rest| memchr(b'\n', rest)) {
        end += len + 1;
        let line = &text[..end - 1];
        if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
            return end;
        }
    }
    text.len()
}

/// The statements of a text, each with the number of its first line, from 1. Lines that end in a
/// backslash go on in the next.
pub(super) fn statements(text: &str) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut lines = each_line(text);
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

/// The lines of a text, like `str::lines`, but faster for short lines.
fn each_line(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest.as_bytes());
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or("", |end| &rest[end + 1..]);
        Some(line.strip_suffix('\r').unwrap_or(line))
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

/// A comment of a material or a name begins at a word, as in `Material #25`.
pub(super) fn without_comment(line: &str) -> &str {
    if !line.as_bytes().contains(&b'#') {
        return line;
    }
    let starts_word = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').find(|&(at, _)| starts_word(at));
    comment.map_or(line, |(at, _)| &line[..at])
}

/// The words of a statement up to its comment, separated by ASCII spaces.
#[derive(Debug, Clone)]
pub(super) struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
        let start = self.0.iter().position(|byte| !is_space(byte))?;
        let rest = &self.0[start..];
        if rest[0] == b'#' {
            return None;
        }
        let is_end = |byte: &u8| is_space(byte) || *byte == b'#';
        let mut end = rest.iter().position(is_end).unwrap_or(rest.len());
        // A comment, but for `1.#IND`, which some programs write for NaN.
        if rest.get(end) == Some(&b'#') {
            if rest[end - 1] != b'.' {
                self.0 = &[];
                return Some(&rest[..end]);
            }
            end += rest[end..].iter().position(is_space).unwrap_or(rest.len() - end);
        }
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

/// The kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keyword {
    Vertex,
    Texcoord,
    Normal,
    Face,
    Other,
}

impl Keyword {
    /// The keyword of a statement with ASCII spaces, and the words after it.
    #[inline]
    pub(super) fn of(statement: &str) -> (Self, Words<'_>) {
        match statement.as_bytes() {
            [b'v', b' ', rest @ ..] => (Self::Vertex, Words(rest)),
            [b'f', b' ', rest @ ..] => (Self::Face, Words(rest)),
            [b'v', b't', b' ', rest @ ..] => (Self::Texcoord, Words(rest)),
            [b'v', b'n', b' ', rest @ ..] => (Self::Normal, Words(rest)),
            bytes => {
                let mut words = Words(bytes);
                let keyword = match words.next() {
                    Some(b"v") => Self::Vertex,
                    Some(b"vt") => Self::Texcoord,
                    Some(b"vn") => Self::Normal,
                    // The second is that of the oldest files.
                    Some(b"f" | b"fo") => Self::Face,
                    _ => Self::Other,
                };
                (keyword, words)
            }
        }
    }
}

/// Visits the statements of a text: the number of the first line, from 1, the statement, its
/// keyword and the words after it. Stops at an error.
#[inline]
pub(super) fn visit<E>(
    text: &str,
    mut visit: impl FnMut(usize, &str, Keyword, Words) -> Result<(), E>,
) -> Result<(), E> {
    let is_ascii = text.is_ascii();
    for (line, statement) in statements(text) {
        let spaced: Cow<str> = if is_ascii || statement.is_ascii() {
            Cow::Borrowed(&statement)
        } else {
            statement.replace(char::is_whitespace, " ").into()
        };
        let (keyword, words) = Keyword::of(&spaced);
        visit(line, &statement, keyword, words)?;
    }
    Ok(())
}

pub(super) fn after_keyword(statement: &str) -> &str {
    let keyword = first_word(statement).unwrap_or_default();
    statement.trim_start()[keyword.len()..].trim()
}

/// An error in a part of the text. The first is the one with the smallest position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// The part's index.
    pub(super) part: usize,
    /// The line in the part, from 1.
    pub(super) line: usize,
    pub(super) what: String,
}
