//! Reading: a file's chunks become a scene, and the scene a grid.

use std::io::BufRead;

use super::assemble::{Assembled, assemble};
use super::parse::parse;
use crate::formats::{LoadedGrid, ReadError};

/// Reads the grid of a `.vox` file: all models that the scene graph places, hidden or not, in the
/// palette's colours; of an animation the first frame. Its dimensions are those of the `trivox`
/// attribute or, without it, the extent of the models' boxes.
///
/// # Errors
/// Malformed content; several models without a scene graph (frames of an animation); a graph with
/// cycles or too many instances; a grid past the largest dimensions; models outside the region that
/// the attribute states.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut file = Vec::new();
    input.read_to_end(&mut file)?;
    let scene = parse(&file)?;
    let Assembled { grid, part, used } = assemble(&scene, limit.saturating_sub(file.len() as u64))?;
    let mut warnings = scene.warnings(&used);
    warnings.extend(part.map(|part| part.to_string()));
    Ok(LoadedGrid { part, ..LoadedGrid::new(grid, warnings) })
}
