//! The base of all other modules: numbers and vectors, names, progress, memory, errors.

pub mod error_code;
pub(crate) mod forest;
pub(crate) mod lanes;
#[cfg(feature = "memory")]
pub mod memory;
pub(crate) mod morton;
pub(crate) mod names;
pub mod numbers;
pub mod ordered;
pub mod progress;
pub mod srgb;
pub(crate) mod vector;
