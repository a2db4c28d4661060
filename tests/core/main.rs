//! The library without files and without a GPU: predicates, placement, the CPU backend, grids,
//! fills, distances, colours, rays and pictures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod attributes;
mod blocks;
mod color;
mod coverage;
mod cpu;
mod crosses;
mod distance;
mod fill;
mod grid;
mod imports;
mod labels;
mod mesher;
mod nesting;
mod palette;
mod place;
mod pool;
mod proximity;
mod published;
mod render;
mod rules;
mod solid;
mod textures;
mod thin;
mod tiles;
mod topology;
mod touches;
mod trace;
mod verify;
mod voxelize;
mod voxelizer;
mod winding;
