//! Hashes of contents.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::error_code::ErrorCode;

/// The hash of the content of a grid or a field of distances: 128 bits, the same on every machine.
/// In text, and with serde, 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash([u8; 16]);

/// A text is not a [`ContentHash`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a hash has 32 hexadecimal digits")]
pub struct ContentHashError;

impl ErrorCode for ContentHashError {
    fn code(&self) -> &'static str {
        "option.hash"
    }
}

impl ContentHash {
    /// The first 128 bits of the hash.
    pub(crate) fn of(hasher: &blake3::Hasher) -> Self {
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Self(bytes)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<Self, ContentHashError> {
        let is_hash = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bits = u128::from_str_radix(text, 16).ok().filter(|_| is_hash);
        bits.map(|bits| Self(bits.to_be_bytes())).ok_or(ContentHashError)
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = ContentHashError;

    fn try_from(text: String) -> Result<Self, ContentHashError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_digits_of_the_hash() {
        let hash = ContentHash::of(blake3::Hasher::new().update(b"trivox"));
        let text = hash.to_string();
        assert_eq!(text, blake3::hash(b"trivox").to_hex()[..32]);
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(text.to_uppercase().parse(), Ok(hash));
        for wrong in ["", &text[1..], "+0000000000000000000000000000000", &format!("{text}0")] {
            assert_eq!(wrong.parse::<ContentHash>(), Err(ContentHashError), "{wrong}");
        }
    }
}
