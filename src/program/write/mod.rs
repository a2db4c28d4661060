//! Where results go. A run has a [`destination`]: nothing, one file, or files in a folder. For each
//! mesh that is an [`output`] of voxels or distances and perhaps a [`preview`]; a turntable has
//! [`frames`]. All of these check their place before the work begins, and write through a [`sink`],
//! which is one file or stream, or through [`files`], of which all are written or none.

pub mod destination;
pub mod files;
pub mod frames;
pub mod output;
pub mod preview;
pub mod sink;
