//! `--lattice`: a lattice from a file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use trivox::Lattice;

use crate::paths::shown;
use crate::write::sink::refuse_folder;

/// The lattice in a JSON file: by itself, or in what `--json` printed.
///
/// # Errors
/// The file cannot be read, or holds none.
pub fn read(path: &Path) -> Result<Lattice> {
    let named = || shown(path);
    refuse_folder(path).with_context(named)?;
    let bytes = fs::read(path).with_context(named)?;
    let mut value: Value = serde_json::from_slice(&bytes)
        .context(
            "is not one JSON object: name what `voxelize ... --json > lattice.json` wrote; of several \
             meshes keep one line",
        )
        .with_context(named)?;
    if let Some(lattice) = value.get_mut("lattice") {
        value = lattice.take();
    }
    serde_json::from_value(value)
        .context("is not a lattice as --json prints it")
        .with_context(named)
}
