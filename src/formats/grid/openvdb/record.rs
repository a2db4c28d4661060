//! A builder of little-endian records.

use crate::formats::grid::openvdb::channel::Entry;

/// A record to which little-endian numbers are appended.
#[derive(Debug, Default)]
pub(super) struct Record(pub(super) Vec<u8>);

impl Record {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    pub(super) fn f32(&mut self, value: f32) {
        self.bytes(&value.to_le_bytes());
    }

    pub(super) fn f32s(&mut self, values: &[f32]) {
        values.iter().for_each(|&value| self.f32(value));
    }

    pub(super) fn f64(&mut self, value: f64) {
        self.bytes(&value.to_le_bytes());
    }

    pub(super) fn each<T, const N: usize>(&mut self, values: [T; N], put: fn(&mut Self, T)) {
        values.into_iter().for_each(|value| put(self, value));
    }

    /// `text`, and zeros up to `len` bytes.
    pub(super) fn padded(&mut self, text: &[u8], len: usize) {
        let end = self.0.len() + len;
        self.bytes(text);
        self.0.resize(end, 0);
    }

    /// Zeros up to a multiple of `unit` bytes.
    pub(super) fn align(&mut self, unit: usize) {
        self.0.resize(self.0.len().next_multiple_of(unit), 0);
    }

    /// Appends a mask of the entries of a node, lowest bit first: a bit is 1 where `is_set` holds.
    pub(super) fn mask(&mut self, entries: &[Entry], is_set: impl Fn(Entry) -> bool) {
        let bit = |(n, &entry): (u32, &Entry)| u8::from(is_set(entry)) << n;
        self.0.extend(entries.chunks(8).map(|eight| (0..).zip(eight).map(bit).sum::<u8>()));
    }
}
