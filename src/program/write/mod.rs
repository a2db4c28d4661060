//! The destinations of results. A run has a [`destination`]: nothing, one file, or files in a
//! folder. For each mesh that is an [`output`] of voxels or distances and perhaps one of the
//! [`pictures`]. Both check their place before the work begins, and write through a [`sink`], which
//! is one file or stream. Complete files replace existing ones, all or none. [`terminal`] draws
//! without a file.

pub mod destination;
pub mod output;
pub mod pictures;
pub mod sink;
pub mod terminal;
