//! What the integration tests share: slow oracles and generators of adversarial input.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

pub mod columns;
pub mod compression;
pub mod dense;
pub mod distances;
pub mod environment;
pub mod files;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod inside;
pub mod lattice;
pub mod looks;
pub mod memory;
pub mod oklab;
pub mod oracle;
pub mod pairs;
pub mod paths;
pub mod polygons;
pub mod prelude;
pub mod progress;
pub mod published;
pub mod rays;
pub mod rules;
pub mod scenes;
pub mod shapes;
pub mod solids;
pub mod vector;
pub mod voxels;
