//! Draws pictures of grids.

use std::sync::Arc;

use pyo3::prelude::*;
use trivox::view::render::{Background, MAX_SIDE, Picture, RenderOptions, Renderer, View};

use crate::error::option_error;
use crate::grid::PyGrid;
use crate::job;
use crate::options::{parsed, whole, wholes};

impl PyGrid {
    pub fn picture(&self, py: Python<'_>, options: RenderOptions) -> PyResult<Picture> {
        let grid = Arc::clone(&self.grid);
        job::run(py, move |job| {
            let draw = || Renderer::new(&grid).render(&options, &**job);
            Ok(job::pool(None)?.install(draw)?)
        })
    }
}

pub fn render_options(
    py: Python<'_>,
    size: Option<&Bound<'_, PyAny>>,
    view: &str,
    turn: Option<f64>,
    camera: Option<&str>,
    background: Option<&Bound<'_, PyAny>>,
    samples: u32,
) -> PyResult<RenderOptions> {
    let refuse = |code, message: String| Err(option_error(py, code, message));
    let size = match size {
        None => [512, 512],
        Some(size) if size.try_iter().is_ok() => wholes("size", size, 1..=MAX_SIDE)?,
        Some(size) => [whole("size", size, 1..=MAX_SIDE)?; 2],
    };
    let view: View = parsed(py, view)?;
    let background = match background {
        None => Background::Gradient,
        Some(value) => match value.extract::<String>().as_deref() {
            Ok("gradient") => Background::Gradient,
            Ok("transparent") => Background::Transparent,
            Ok(name) => {
                let use_ = "use 'gradient', 'transparent' or three numbers from 0 to 255";
                let message = format!("background '{name}' is not possible: {use_}");
                return refuse("option.background", message);
            }
            Err(_) => Background::Color(wholes("background", value, 0..=u8::MAX)?),
        },
    };
    let projection = camera.map(|camera| parsed(py, camera)).transpose()?;
    let options = RenderOptions::new(size);
    Ok(RenderOptions { view, background, samples, turn, projection, ..options })
}
