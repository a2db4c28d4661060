//! What the formats share: files that replace others, limits, progress, parallel encoding.

pub(super) mod bytes;
pub(super) mod checked;
pub(super) mod deflate;
pub(super) mod in_order;
pub(super) mod reporting;
pub(super) mod save;
pub mod temporary;
pub(super) mod tokens;
pub(super) mod warnings;
