//! The formats of meshes and grids: round trips, files of other programs, other programs' readers,
//! and a sentence with the place for every malformed file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod grid;
mod mesh;
mod save;
mod sidecars;
