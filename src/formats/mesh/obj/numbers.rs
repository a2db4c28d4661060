//! Parses numbers, correctly rounded.

/// Powers of ten, exact in 64-bit floating point.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Parses a number.
#[inline]
pub(super) fn number(word: &[u8]) -> Option<f64> {
    decimal(word).or_else(|| str::from_utf8(word).ok()?.parse().ok())
}

/// As [`number`], for short decimal numbers, several times as fast: digits and power of ten are
/// exact, so their quotient is correctly rounded (Clinger, "How to Read Floating Point Numbers
/// Accurately", 1990).
#[inline]
fn decimal(word: &[u8]) -> Option<f64> {
    let (is_negative, digits) = match word {
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

/// Parses an index.
#[inline]
pub(super) fn index(word: &[u8]) -> Option<i64> {
    // 18 digits fit; few indices have more, or a sign.
    let digit =
        |value: i64, byte: &u8| byte.is_ascii_digit().then(|| 10 * value + i64::from(byte - b'0'));
    let digits = || word.iter().try_fold(0, digit);
    let is_short = (1..=18).contains(&word.len());
    is_short.then(digits).flatten().or_else(|| str::from_utf8(word).ok()?.parse().ok())
}
