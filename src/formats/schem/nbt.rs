//! A streaming writer of named binary tags; numbers are big-endian.

use std::io::{self, Write};

const END: u8 = 0;
const SHORT: u8 = 2;
const INT: u8 = 3;
const DOUBLE: u8 = 6;
const BYTE_ARRAY: u8 = 7;
const STRING: u8 = 8;
const LIST: u8 = 9;
const COMPOUND: u8 = 10;
const INT_ARRAY: u8 = 11;

/// Writes tags to `out`.
pub(super) struct Tags<W> {
    pub(super) out: W,
}

impl<W: Write> Tags<W> {
    pub(super) fn compound(&mut self, name: &str) -> io::Result<()> {
        self.name(COMPOUND, name)
    }

    /// Ends a compound.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&[END])
    }

    pub(super) fn short(&mut self, name: &str, value: u16) -> io::Result<()> {
        self.name(SHORT, name)?;
        self.out.write_all(&value.to_be_bytes())
    }

    pub(super) fn int(&mut self, name: &str, value: u32) -> io::Result<()> {
        self.name(INT, name)?;
        self.out.write_all(&value.to_be_bytes())
    }

    pub(super) fn double(&mut self, name: &str, value: f64) -> io::Result<()> {
        self.name(DOUBLE, name)?;
        self.out.write_all(&value.to_be_bytes())
    }

    pub(super) fn string(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.name(STRING, name)?;
        self.text(value)
    }

    pub(super) fn doubles(&mut self, name: &str, values: [f64; 3]) -> io::Result<()> {
        self.name(LIST, name)?;
        self.out.write_all(&[DOUBLE])?;
        self.out.write_all(&(values.len() as u32).to_be_bytes())?;
        self.out.write_all(values.map(f64::to_be_bytes).as_flattened())
    }

    pub(super) fn ints(&mut self, name: &str, values: [u32; 3]) -> io::Result<()> {
        self.name(INT_ARRAY, name)?;
        self.out.write_all(&(values.len() as u32).to_be_bytes())?;
        self.out.write_all(values.map(u32::to_be_bytes).as_flattened())
    }

    /// Begins an array of `length` bytes, which must follow.
    pub(super) fn bytes(&mut self, name: &str, length: u32) -> io::Result<()> {
        self.name(BYTE_ARRAY, name)?;
        self.out.write_all(&length.to_be_bytes())
    }

    fn name(&mut self, tag: u8, name: &str) -> io::Result<()> {
        self.out.write_all(&[tag])?;
        self.text(name)
    }

    /// `text` must have fewer than 2^16 bytes.
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(&(text.len() as u16).to_be_bytes())?;
        self.out.write_all(text.as_bytes())
    }
}
