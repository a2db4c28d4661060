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

use common::prelude::*;
use trivox::backend::Run;

type Method = (Rule, RunOptions);

/// A run that nobody watches.
fn run<'a>(backend: impl Into<Backend<'a>>, mesh: &PlacedMesh, (rule, options): Method) -> Run {
    backend.into().run(mesh, rule, &options, &NoProgress).unwrap()
}

/// By a rule with the default options.
fn by(rule: Rule) -> Method {
    (rule, RunOptions::default())
}
