//! What the documentation says and shows: commands, pictures, models and examples.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod assets;
mod gallery;
mod raytrace;
mod readme;
