//! The destinations of results. A run has a [`destination`]: nothing, one file, or files in a
//! folder. For each mesh that is an [`output`] of voxels or distances and perhaps a [`picture`]; a
//! turntable has [`frames`]. All of these check their place before the work begins, and write
//! through a [`sink`], which is one file or stream. What is [`complete`] replaces existing files,
//! all or none.

pub mod complete;
pub mod destination;
pub mod frames;
pub mod output;
pub mod picture;
pub mod sink;
