//! Draws pictures of grids.

use std::sync::Arc;

use pyo3::prelude::*;
use trivox::VoxelGrid;
use trivox::view::render::{Background, MAX_SIDE, Picture, RenderOptions, Renderer, View};

use crate::error::option_error;
use crate::job;
use crate::options::{parsed, whole, wholes};

/// Draws `grid` with the options of `Grid.render`.
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn picture(
    py: Python<'_>,
    grid: &Arc<VoxelGrid>,
    size: Option<&Bound<'_, PyAny>>,
    view: &str,
    turn: Option<f64>,
    camera: Option<&str>,
    background: Option<&Bound<'_, PyAny>>,
    samples: u32,
) -> PyResult<Picture> {
    let size = match size {
        None => [512, 512],
        Some(size) if size.try_iter().is_ok() => wholes("size", size, 1..=MAX_SIDE)?,
        Some(size) => [whole("size", size, 1..=MAX_SIDE)?; 2],
    };
    let view: View = parsed(view)?;
    let background = match background {
        None => Background::Gradient,
        Some(value) => match value.extract::<String>().as_deref() {
            Ok("gradient") => Background::Gradient,
            Ok("transparent") => Background::Transparent,
            Ok(name) => {
                let use_ = "use 'gradient', 'transparent' or three numbers from 0 to 255";
                let message = format!("background '{name}' is not possible: {use_}");
                return Err(option_error("option.background", message));
            }
            Err(_) => Background::Color(wholes("background", value, 0..=u8::MAX)?),
        },
    };
    let projection = camera.map(parsed).transpose()?;
    let options = RenderOptions::new(size);
    let options = RenderOptions { view, background, samples, turn, projection, ..options };
    let grid = Arc::clone(grid);
    job::run(py, move |job| Ok(Renderer::new(&grid).render(&options, &**job)?))
}
