//! Shaders and the GPU backend, on every adapter that is found.

#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod backend;
mod crosses;
mod distance;
mod meshes;
mod report;
mod rows;
mod rules;
mod scene;
mod shaders;
mod touches;
mod trace;
