//! The words of a text in bytes, whatever its encoding and line ends, and where they stand.

use crate::formats::{ReadError, excerpt};

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    /// From the beginning of `text`, or what follows its byte order mark.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mark = text.starts_with(b"\xef\xbb\xbf");
        Self { text, at: if mark { 3 } else { 0 } }
    }

    /// From byte `at` of `text`.
    pub(super) fn from(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// How many bytes lie before this place.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The next word, in this line or a later one.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        self.skip(|byte| is_space(byte) || is_line_end(byte));
        self.next_in_line()
    }

    /// The next word in this line.
    pub(super) fn next_in_line(&mut self) -> Option<&'a [u8]> {
        self.skip(is_space);
        let word = self.skip(|byte| !is_space(byte) && !is_line_end(byte));
        (!word.is_empty()).then_some(word)
    }

    /// What is left of this line; goes on to the next.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = self.skip(|byte| !is_line_end(byte));
        let end = match &self.text[self.at..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        self.at += end;
        rest
    }

    /// Goes on to the next line that has a word; this one if it has.
    pub(super) fn skip_blank_lines(&mut self) {
        self.skip(|byte| is_space(byte) || is_line_end(byte));
    }

    /// The error that in this line, where the last word was, is `what`.
    pub(super) fn error(&self, what: String) -> ReadError {
        let before = &self.text[..self.at];
        let feeds = before.iter().filter(|&&byte| byte == b'\n').count();
        let returns = before.iter().filter(|&&byte| byte == b'\r').count();
        let pairs = before.windows(2).filter(|pair| pair == b"\r\n").count();
        ReadError::Line { line: 1 + feeds + returns - pairs, what }
    }

    fn skip(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The number that a word is, if it is one.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    str::from_utf8(word).ok()?.parse().ok()
}

/// A word in quotation marks, for a message.
pub(super) fn quoted(word: &[u8]) -> String {
    // A character has at most four bytes.
    let start = &word[..word.len().min(200)];
    format!("'{}'", excerpt(&String::from_utf8_lossy(start)))
}
