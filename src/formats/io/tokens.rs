//! A tokenizer of ASCII-compatible text with any line ends, and with line numbers for errors.

use std::str::FromStr;

use crate::formats::{ReadError, excerpt};

/// Powers of ten, exact in 64-bit floating point.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A cursor over the tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// At the beginning of `text`, after a byte order mark if there is one.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let mark = text.starts_with(b"\xef\xbb\xbf");
        Self { text, at: if mark { 3 } else { 0 } }
    }

    /// At byte `at` of `text`.
    pub(crate) fn from(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// The byte offset in the text.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The next token, in this line or a later one.
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_blank_lines();
        self.next_in_line()
    }

    pub(crate) fn next_in_line(&mut self) -> Option<&'a [u8]> {
        self.skip(is_space);
        let token = self.skip(|byte| !is_space(byte) && !is_line_end(byte));
        (!token.is_empty()).then_some(token)
    }

    /// The rest of this line; moves to the next line.
    pub(crate) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = self.skip(|byte| !is_line_end(byte));
        let end = match &self.text[self.at..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        self.at += end;
        rest
    }

    /// The text from here to a later `end`.
    pub(crate) fn until(&self, end: &Self) -> &'a [u8] {
        &self.text[self.at..end.at]
    }

    /// Moves to the next token, in this line or a later one.
    pub(crate) fn skip_blank_lines(&mut self) {
        self.skip(|byte| is_space(byte) || is_line_end(byte));
    }

    /// The error `what` at the line of the last token.
    pub(crate) fn error(&self, what: String) -> ReadError {
        let before = &self.text[..self.at];
        // At the end of the text, the last line is the one before the last line end.
        let before = if self.at == self.text.len() { before.trim_ascii_end() } else { before };
        let feeds = before.iter().filter(|&&byte| byte == b'\n').count();
        let returns = before.iter().filter(|&&byte| byte == b'\r').count();
        let pairs = before.windows(2).filter(|pair| pair == b"\r\n").count();
        ReadError::Line { line: 1 + feeds + returns - pairs, what }
    }

    /// The error of `token` in the place of `expected`; `None` is the end of the file.
    pub(crate) fn misplaced(&self, token: Option<&[u8]>, expected: &str) -> ReadError {
        self.error(match token {
            Some(token) => format!("{} where {expected} belongs", quoted(token)),
            None => format!("the file ends where {expected} belongs: it is cut off"),
        })
    }

    fn skip(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

pub(crate) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Parses a token as a number, correctly rounded.
#[inline]
pub(crate) fn number(token: &[u8]) -> Option<f64> {
    decimal(token).or_else(|| str::from_utf8(token).ok()?.parse().ok())
}

/// Parses a short decimal number, several times as fast as [`number`]: digits and power of ten are
/// exact, so their quotient is correctly rounded (Clinger, "How to Read Floating Point Numbers
/// Accurately", 1990).
#[inline]
fn decimal(token: &[u8]) -> Option<f64> {
    let (is_negative, digits) = match token {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // With a point at most 15 digits; without one the conversion rounds, correctly.
    if !(1..=16).contains(&digits.len()) || digits == b"." {
        return None;
    }
    let mut value = 0;
    let mut point = None;
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = 10 * value + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |point| digits.len() - 1 - point);
    let value = value as f64 / POWERS[decimals];
    Some(if is_negative { -value } else { value })
}

/// The beginning of a token, for a message.
pub(crate) fn shown(token: &[u8]) -> String {
    // A character has at most four bytes.
    excerpt(&String::from_utf8_lossy(&token[..token.len().min(200)]))
}

/// A token in quotation marks, for a message.
pub(crate) fn quoted(token: &[u8]) -> String {
    format!("'{}'", shown(token))
}

/// Words as `N` numbers; `None` if they are not as many, or not numbers.
pub(crate) fn numbers<'a, T: FromStr, const N: usize>(
    words: impl Iterator<Item = &'a str>,
) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = words.map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}
