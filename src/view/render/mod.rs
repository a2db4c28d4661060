//! Renders pictures of grids by ray tracing.
//!
//! Several rays per pixel are traced through the [`Camera`]'s film. Voxels are lit by a sun with
//! shadows and by a sky with ambient occlusion; the background shows the shadow of the voxels on
//! the ground. Samples are averaged in linear light.
//!
//! Camera and light are rounded once, to integers; shading is integer arithmetic. A picture is the
//! same to the bit on every CPU and GPU, with any number of threads.
//!
//! ```
//! use trivox::view::render::{Background, RenderOptions, Renderer};
//! use trivox::{NoProgress, VoxelGrid};
//!
//! let grid = VoxelGrid::from_voxels([2, 2, 2], [[0, 0, 0], [1, 1, 1]])?;
//! let background = Background::Transparent;
//! let options = RenderOptions { background, ..RenderOptions::new([64, 48]) };
//! let picture = Renderer::new(&grid).render(&options, &NoProgress)?;
//! assert_eq!(picture.at(0, 0)[3], 0);
//! let mut png = Vec::new();
//! picture.write_png(&mut png)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::OnceLock;

use rayon::prelude::*;
use thiserror::Error;

#[cfg(feature = "gpu")]
use crate::backend::gpu::Gpu;
use crate::base::error_code::ErrorCode;
use crate::base::numbers::{grouped, short};
use crate::base::progress::{Latch, NoProgress, Progress};
use crate::base::srgb::Rgba;
#[cfg(feature = "gpu")]
use crate::gpu::GpuError;
use crate::grid::VoxelGrid;
#[cfg(feature = "gpu")]
use crate::view::gpu::GpuScene;
#[cfg(feature = "images")]
pub use crate::view::render::animation::PngAnimation;
pub use crate::view::render::camera::{Camera, Projection, View};
#[cfg(all(feature = "images", feature = "palette"))]
pub use crate::view::render::gif::{GifAnimation, MAX_GIF_FPS};
use crate::view::render::ground::GROUND_SAMPLES;
pub use crate::view::render::picture::Picture;
use crate::view::render::picture::try_with_capacity;
use crate::view::render::prepass::DepthPrepass;
use crate::view::render::shade::{PictureParams, Shader};
use crate::view::trace::Scene;

#[cfg(feature = "images")]
mod animation;
mod camera;
pub(crate) mod film;
#[cfg(all(feature = "images", feature = "palette"))]
mod gif;
pub(crate) mod ground;
pub(crate) mod light;
mod picture;
mod prepass;
pub(crate) mod shade;

/// Maximum width and height of a picture, in pixels.
pub const MAX_SIDE: u32 = 16384;

/// Maximum number of rays along a side of a pixel.
pub const MAX_SAMPLES: u32 = 16;

/// Maximum margin at each side, as a fraction of the picture's width and height.
pub const MAX_MARGIN: f64 = 0.49;

/// Minimum and maximum zoom.
pub const ZOOMS: [f64; 2] = [0.01, 100.0];

/// Rows of pixels per parallel task.
const BAND: usize = 8;

/// The background of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Background {
    /// A light gradient, darker towards the bottom, with the voxels' shadow.
    #[default]
    Gradient,
    /// One sRGB colour, with the voxels' shadow.
    Color([u8; 3]),
    /// Transparent, without a shadow.
    Transparent,
}

/// The options of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderOptions {
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// The viewing direction.
    pub view: View,
    /// Azimuth of the direction to the eye, in degrees from the front to the right; `None` for the
    /// view's.
    pub azimuth: Option<f64>,
    /// Elevation of the direction to the eye, in degrees above the horizon, -90 to 90; `None` for
    /// the view's.
    pub elevation: Option<f64>,
    /// Magnification about the middle of the picture, 0.01 to 100. At 1 all voxels just fit.
    pub zoom: f64,
    /// Rotation of the view about the up axis, in degrees from the front to the right. All pictures
    /// with a turn have the same framing, which contains the voxels at every turn. `None` frames
    /// the picture by itself.
    pub turn: Option<f64>,
    /// The projection; `None` for the view's default: perspective for [`View::ThreeQuarter`],
    /// orthographic for the others.
    pub projection: Option<Projection>,
    /// The background.
    pub background: Background,
    /// Azimuth and elevation of the direction to the sun, in degrees; the elevation is 0 to 90. The
    /// sun is fixed in the world. `None` fixes it to the camera: to the left of the eye and above
    /// it.
    pub sun: Option<[f64; 2]>,
    /// Whether edge lines of voxels are drawn, where voxels are large enough.
    pub edges: bool,
    /// Number of rays along each side of a pixel, at most [`MAX_SAMPLES`].
    pub samples: u32,
    /// Margin at each side, as a fraction of the picture's width and height, at most
    /// [`MAX_MARGIN`].
    pub margin: f64,
}

/// An error of drawing a picture.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// An option is out of range.
    #[error("{what} not possible: use {allowed}")]
    Option {
        /// The subject and the verb.
        what: String,
        /// The values that are possible.
        allowed: String,
    },
    /// There is too little memory for a picture of this size.
    #[error("there is too little memory for a picture of {}x{} pixels: use a smaller size", .0[0], .0[1])]
    Memory([u32; 2]),
    /// The GPU fails.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The caller cancelled the work ([`Progress::is_cancelled`]).
    #[error("cancelled")]
    Cancelled,
}

impl ErrorCode for RenderError {
    fn code(&self) -> &'static str {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(error) => error.code(),
            Self::Cancelled => "cancelled",
            Self::Memory(_) => "memory",
            Self::Option { .. } => "option.render",
        }
    }
}

impl RenderOptions {
    /// The default options: [`View::ThreeQuarter`], 3x3 rays per pixel, a margin of 0.06.
    #[must_use]
    pub fn new(size: [u32; 2]) -> Self {
        Self {
            size,
            view: View::default(),
            azimuth: None,
            elevation: None,
            zoom: 1.0,
            turn: None,
            projection: None,
            background: Background::default(),
            sun: None,
            edges: true,
            samples: 3,
            margin: 0.06,
        }
    }

    /// The options for `frames` pictures at equal angles around the up axis, beginning with this
    /// view: the frames of a looping animation, or separate files.
    pub fn turntable(self, frames: u32) -> impl ExactSizeIterator<Item = Self> {
        let first = self.turn.unwrap_or(0.0);
        (0..frames).map(move |n| {
            let turn = first + 360.0 * f64::from(n) / f64::from(frames);
            Self { turn: Some(turn), ..self }
        })
    }

    /// Checks the options, as all that draws does.
    ///
    /// # Errors
    /// An option is out of range.
    pub fn check(&self) -> Result<(), RenderError> {
        let Self { size: [width, height], samples, margin, turn, elevation, zoom, .. } = *self;
        let check = |is_allowed: bool, what: String, allowed: String| {
            if is_allowed { Ok(()) } else { Err(RenderError::Option { what, allowed }) }
        };
        let sides = 1..=MAX_SIDE;
        check(
            sides.contains(&width) && sides.contains(&height),
            format!("a picture of {width}x{height} pixels is"),
            format!("1 to {} a side", grouped(MAX_SIDE.into())),
        )?;
        check(
            (1..=MAX_SAMPLES).contains(&samples),
            format!("{samples} rays along a side of a pixel are"),
            format!("1 to {MAX_SAMPLES}"),
        )?;
        let [azimuth_of_sun, elevation_of_sun] = self.sun.unwrap_or_default();
        let finite = [f64::MIN, f64::MAX];
        let numbers = [
            ("a margin of", margin, "", [0.0, MAX_MARGIN]),
            ("a turn of", turn.unwrap_or(0.0), " degrees", finite),
            ("an azimuth of", self.azimuth.unwrap_or(0.0), " degrees", finite),
            ("an azimuth of", azimuth_of_sun, " degrees", finite),
            ("an elevation of", elevation.unwrap_or(0.0), " degrees", [-90.0, 90.0]),
            ("a sun at an elevation of", elevation_of_sun, " degrees", [0.0, 90.0]),
            ("a zoom of", zoom, "", ZOOMS),
        ];
        numbers.into_iter().try_for_each(|(what, number, unit, [least, most])| {
            let allowed = if [least, most] == finite {
                "a finite number".to_owned()
            } else {
                format!("{least} to {most}")
            };
            let what = format!("{what} {}{unit} is", short(&number));
            check((least..=most).contains(&number), what, allowed)
        })
    }
}

/// Draws any number of pictures of a grid; the acceleration structure is built once.
#[derive(Debug)]
pub struct Renderer<'a> {
    scene: Scene<'a>,
    /// For y up and z up, the occluded share of the sky at each sample of the ground, by rows along
    /// the first axis: pictures from all sides share it. Each sample, of 96 rays, is computed at
    /// its first use, since a picture shows a part of the ground.
    occlusion: [Vec<OnceLock<u32>>; 2],
    #[cfg(feature = "gpu")]
    gpu: Option<GpuScene>,
}

impl<'a> Renderer<'a> {
    /// On the CPU.
    #[must_use]
    pub fn new(grid: &'a VoxelGrid) -> Self {
        Self {
            scene: Scene::new(grid),
            occlusion: std::array::from_fn(|_| {
                vec![OnceLock::new(); GROUND_SAMPLES * GROUND_SAMPLES]
            }),
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }

    /// On a GPU. The pictures equal those of the CPU to the bit.
    ///
    /// # Errors
    /// The grid exceeds the GPU's limits; the device fails.
    #[cfg(feature = "gpu")]
    pub fn on_gpu(grid: &'a VoxelGrid, gpu: &Gpu) -> Result<Self, GpuError> {
        let mut renderer = Self::new(grid);
        renderer.gpu = Some(GpuScene::upload(gpu.device(), &renderer.scene)?);
        Ok(renderer)
    }

    /// Draws a picture that frames the whole grid. The step is "draw", in rows of pixels.
    ///
    /// # Errors
    /// Invalid options; too little memory; cancellation; the GPU fails; a GPU in a browser, which
    /// cannot block.
    pub fn render(
        &self,
        options: &RenderOptions,
        progress: &dyn Progress,
    ) -> Result<Picture, RenderError> {
        self.draw(&self.params(options)?, progress)
    }

    fn draw(
        &self,
        params: &PictureParams,
        progress: &dyn Progress,
    ) -> Result<Picture, RenderError> {
        let progress = &Latch::new(progress);
        progress.start("draw", params.film.size[1].into());
        #[cfg(feature = "gpu")]
        let drawn = match &self.gpu {
            Some(gpu) => gpu.device().block_on(gpu.pixels(params, progress))?,
            None => self.pixels(params, progress)?,
        };
        #[cfg(not(feature = "gpu"))]
        let drawn = self.pixels(params, progress)?;
        if progress.is_cancelled() {
            return Err(RenderError::Cancelled);
        }
        Ok(Picture::new(params.film.size, drawn))
    }

    /// Draws a picture with the `camera` of another grid's picture of the same size. Of the options
    /// for the view only the light has an effect.
    ///
    /// # Errors
    /// As [`render`](Self::render).
    pub fn render_from(
        &self,
        camera: &Camera,
        options: &RenderOptions,
    ) -> Result<Picture, RenderError> {
        options.check()?;
        let params = PictureParams::new(self.scene.bounds(), camera, options);
        self.draw(&params, &NoProgress)
    }

    /// The asynchronous form of [`render`](Self::render), for a browser's GPU. On the CPU it draws
    /// before it returns.
    ///
    /// # Errors
    /// Invalid options; too little memory; the GPU fails.
    #[cfg(feature = "gpu")]
    pub async fn render_async(&self, options: &RenderOptions) -> Result<Picture, RenderError> {
        let params = self.params(options)?;
        let pixels = match &self.gpu {
            Some(gpu) => gpu.pixels(&params, &NoProgress).await?,
            None => self.pixels(&params, &NoProgress)?,
        };
        Ok(Picture::new(options.size, pixels))
    }

    /// The parameters of a picture, beside the voxels.
    pub(crate) fn params(&self, options: &RenderOptions) -> Result<PictureParams, RenderError> {
        let grid = self.scene.grid();
        let camera = Camera::new(grid, grid.world.up, options)?;
        Ok(PictureParams::new(self.scene.bounds(), &camera, options))
    }

    /// Draws all pixels of a picture on the CPU; some, if cancelled.
    pub(crate) fn pixels(
        &self,
        params: &PictureParams,
        progress: &dyn Progress,
    ) -> Result<Vec<Rgba>, RenderError> {
        let size = params.film.size;
        let [width, height] = size.map(|side| side as usize);
        // Without the GPU, which in browsers cannot be shared between threads.
        let scene = &self.scene;
        let occlusion = &self.occlusion[params.ground.as_ref().map_or(0, |ground| ground.up - 1)];
        let prepass = DepthPrepass::new(scene, &params.film);
        let prepass = &prepass.map_err(|_| RenderError::Memory(size))?;
        let mut pixels = empty_pixels(size)?;
        pixels.resize(width * height, [0; 4]);
        let bands = pixels.par_chunks_mut(width * BAND).enumerate();
        bands.for_each(|(band, pixels)| {
            let mut shader = Shader::new(scene, params, prepass, occlusion);
            for (row, pixels) in (band * BAND..).zip(pixels.chunks_mut(width)) {
                if progress.is_cancelled() {
                    return;
                }
                for (column, pixel) in pixels.iter_mut().enumerate() {
                    *pixel = shader.pixel([column, row]);
                }
                progress.advance(1);
            }
        });
        Ok(pixels)
    }
}

/// An empty list with memory for the pixels of a picture.
pub(crate) fn empty_pixels(size: [u32; 2]) -> Result<Vec<Rgba>, RenderError> {
    let [width, height] = size.map(|side| side as usize);
    try_with_capacity(width * height).map_err(|_| RenderError::Memory(size))
}
