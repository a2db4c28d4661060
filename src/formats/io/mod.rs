//! Shared by the formats: files that replace others, limits, progress.

pub(super) mod bytes;
pub(super) mod checked;
pub(super) mod deflate;
pub(super) mod joined;
pub(super) mod reporting;
pub(super) mod save;
pub mod temporary;
pub(super) mod tokens;
pub(super) mod warnings;
pub(super) mod xml;
