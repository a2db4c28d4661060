//! Checks that take minutes or need other programs: fuzzing, soaking, real meshes, other renderers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod fuzz;
mod gpu_scale;
mod meshes;
mod renderers;
mod soak;
