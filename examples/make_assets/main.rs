//! Makes the project's own models, and shows how to write meshes by a program: plain solids, and a
//! lighthouse with materials and a texture.
//!
//! `cargo run --example make_assets [FOLDER]` writes them into `FOLDER`, or else into `assets`.

mod harbor;
mod island;
mod lighthouse;
mod materials;
mod obj;
mod shapes;
mod solids;
mod texture;

use std::path::PathBuf;

/// All files: their names and bytes, the same on every platform.
pub(crate) fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("cube.obj", solids::cube()),
        ("tetrahedron.obj", solids::tetrahedron()),
        ("torus-knot.obj", solids::torus_knot()),
        ("lighthouse.obj", lighthouse::obj()),
        ("lighthouse.mtl", materials::mtl()),
        ("lighthouse.png", texture::png()),
    ]
}

fn main() -> anyhow::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or("assets".into()));
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in files() {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
