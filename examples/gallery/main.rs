//! Makes the pictures in `docs/gallery`.
//!
//! `cargo run --release --example gallery [FOLDER]` writes them into `FOLDER`, by default
//! `docs/gallery`. Pictures of the dragon, the bunny and the bottle are made if the environment
//! variable `TRIVOX_MESHES` names a folder with `dragon.obj`, `bunny.obj` and `fuze.obj`.

pub(crate) mod cases;
pub(crate) mod drawing;
mod geometry;
mod guide;
mod models;
#[path = "../../tests/common/published/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "a part of it is used")]
mod published;
mod scans;
mod scenes;
mod solids;
mod strip;

use std::path::{Path, PathBuf};

use anyhow::Result;

/// Name and contents of a picture's file.
type File = (&'static str, Vec<u8>);

/// Pictures of the models in this project.
pub(crate) fn own() -> Result<Vec<File>> {
    let mut files = guide::steps()?;
    files.extend([
        ("cases.svg", drawing::sheet(&cases::CASES).into_bytes()),
        ("cut.png", scenes::lighthouse_cut_open()?),
        ("layers.png", scenes::knot_in_layers()?),
        ("modes.png", scenes::bowl_in_both_modes()?),
        ("solids.png", solids::broken_meshes_cut_open()?),
    ]);
    Ok(files)
}

/// Pictures of the models in `folder`.
fn of_scans(folder: &Path) -> Result<Vec<File>> {
    Ok(vec![
        ("dragon.png", scans::dragon_at_four_resolutions(folder)?),
        ("bunny.png", scans::bunny_cut_open(folder)?),
        ("bottle.png", scans::bottle_in_its_texture(folder)?),
    ])
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or("docs/gallery".into()));
    std::fs::create_dir_all(&folder)?;
    let mut files = own()?;
    match std::env::var_os("TRIVOX_MESHES") {
        Some(meshes) => files.extend(of_scans(meshes.as_ref())?),
        None => eprintln!("TRIVOX_MESHES is not set: no pictures of dragon, bunny and bottle"),
    }
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
