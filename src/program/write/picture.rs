//! Pictures.

use std::path::Path;

use anyhow::{Context, Result, bail};
use trivox::grid::Colors;
use trivox::view::render::{RenderOptions, Renderer};
use trivox::{Progress, VoxelGrid};

use crate::paths::shown;
use crate::write::complete::Complete;
use crate::write::sink::{Inputs, Sink};

/// The options of a picture besides the main output: smaller and with fewer samples than the
/// default of `render`, so that it takes less time than most jobs.
pub fn preview_options() -> RenderOptions {
    RenderOptions::new([512; 2]).with_samples(2)
}

/// The destination of a picture besides the main output, which must be none of `inputs`.
///
/// # Errors
/// `path` is not suitable.
pub fn preview(path: &Path, inputs: &Inputs) -> Result<Sink> {
    check_extension(path).with_context(|| shown(path))?;
    Sink::new(path, inputs)
}

/// Draws `grid` with [`preview_options`], in the colours `painted` if a file has others.
///
/// # Errors
/// The picture cannot be written.
pub fn draw(
    grid: &VoxelGrid,
    painted: Option<Colors>,
    sink: &Sink,
    progress: &dyn Progress,
) -> Result<Complete> {
    let painted = painted.map(|colors| grid.clone().with_colors(colors));
    let grid = painted.as_ref().unwrap_or(grid);
    let picture = Renderer::new(grid).render_with(&preview_options(), progress)?;
    sink.write(|out| Ok(picture.write_png(out)?))
}

/// Checks the extension of a picture.
///
/// # Errors
/// The extension is not `.png`.
pub fn check_extension(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match &extension[..] {
        "png" => Ok(()),
        "" => bail!("no file extension: pictures are .png files"),
        "gif" | "webp" => bail!(
            "a .{extension} is an animation: use --turntable N of `voxelize render`, or a .png"
        ),
        _ => bail!(
            "unknown file extension '.{extension}': pictures are .png files, animations \
             (--turntable) also .gif and .webp"
        ),
    }
}
