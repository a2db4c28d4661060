//! What the documentation says and shows: commands, pictures, models and examples.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/environment.rs"]
#[allow(dead_code, reason = "the pages' tests use a part of it")]
mod environment;

mod assets;
mod gallery;
mod links;
mod raytrace;
mod readme;
