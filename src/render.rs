//! Pictures of grids: what a voxelizer's user looks at first.
//!
//! Several rays go through each pixel ([`camera`](Camera)); where they meet a voxel it is lit by a sun
//! with shadows and by the sky, as much of it as is seen from there; where they meet none there is the
//! background, with the shadow of the voxels on the ground. Colours are mixed in linear light.
//!
//! The camera is rounded once, to integers, and so is the light; from then on a pixel is a function of
//! integers. A picture is the same to the bit on every CPU and GPU, with any number of threads.
//!
//! ```
//! use trivox::VoxelGrid;
//! use trivox::render::{Background, RenderOptions, render};
//!
//! let grid = VoxelGrid::from_voxels([2, 2, 2], [[0, 0, 0], [1, 1, 1]])?;
//! let options = RenderOptions::new([64, 48]).with_background(Background::Transparent);
//! let picture = render(&grid, &options)?;
//! assert_eq!(picture.at(0, 0)[3], 0);
//! let mut png = Vec::new();
//! picture.write_png(&mut png)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rayon::prelude::*;
use thiserror::Error;

#[cfg(feature = "gpu")]
use crate::Gpu;
use crate::error::BackendError;
use crate::grid::{Up, VoxelGrid};
#[cfg(feature = "images")]
pub use crate::render::animation::{Animation, GifAnimation, MAX_GIF_FPS};
pub use crate::render::camera::{Camera, Projection, View};
pub use crate::render::picture::Picture;
use crate::render::shade::{Look, Shader};
use crate::srgb::Rgba;
use crate::trace::Scene;
#[cfg(feature = "gpu")]
use crate::trace::gpu::GpuScene;

#[cfg(feature = "images")]
mod animation;
mod camera;
mod film;
#[cfg(feature = "gpu")]
pub mod gpu;
mod ground;
mod light;
mod orbit;
mod picture;
mod shade;

/// Most pixels along a side.
pub const MAX_SIDE: u32 = 16384;

/// Most rays along a side of a pixel.
pub const MAX_SAMPLES: u32 = 16;

/// Most of a picture's width and height that is kept free at each side.
pub const MAX_MARGIN: f64 = 0.49;

/// Smallest and largest zoom.
pub const ZOOMS: [f64; 2] = [0.01, 100.0];

/// Rows of pixels that a thread draws at a time.
const BAND: usize = 8;

/// What is where no voxel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// A light one, darker towards the bottom, on which the voxels cast a shadow.
    #[default]
    Gradient,
    /// One colour, on which the voxels cast a shadow.
    Color([u8; 3]),
    /// None, and no shadow.
    Transparent,
}

/// How a picture is made.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// From where.
    pub view: View,
    /// The azimuth of the direction to the eye, in degrees from the front to the right; `None` for that
    /// of the view.
    pub azimuth: Option<f64>,
    /// The elevation of the direction to the eye, in degrees above the horizon, -90 to 90; `None` for that
    /// of the view.
    pub elevation: Option<f64>,
    /// How many times larger the voxels are than where all of them just fit, about the middle of the
    /// picture; 0.01 to 100.
    pub zoom: f64,
    /// From so many degrees further around the up axis, from the front to the right. All pictures with a
    /// turn are framed alike: by what the voxels pass through when they are turned once around. With `None`
    /// the picture is framed for itself.
    pub turn: Option<f64>,
    /// With which camera; `None` for that of the view: perspective for [`View::ThreeQuarter`],
    /// orthographic for the others.
    pub projection: Option<Projection>,
    /// Behind the voxels.
    pub background: Background,
    /// Azimuth and elevation of the direction to the sun, in degrees as those of the eye, the elevation 0 to
    /// 90. The sun then stands still when the view turns. `None` for a sun that is to the left of the eye
    /// and above it in every picture.
    pub sun: Option<[f64; 2]>,
    /// Whether the edges of voxels that are large enough are drawn.
    pub edges: bool,
    /// So many rays along each side of a pixel.
    pub samples: u32,
    /// How much of the picture's width and height is kept free at each side, at most [`MAX_MARGIN`].
    pub margin: f64,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A size of 0, or past the largest.
    #[error("a picture of {}x{} pixels is not possible: use 1 to {MAX_SIDE} a side", .0[0], .0[1])]
    Size([u32; 2]),
    /// No rays, or too many.
    #[error("{0} rays along a side of a pixel are not possible: use 1 to {MAX_SAMPLES}")]
    Samples(u32),
    /// A margin that leaves no room.
    #[error("a margin of {0} is not possible: use 0 to {MAX_MARGIN}")]
    Margin(f64),
    /// No angle.
    #[error("a turn of {0} degrees is not possible: use a finite number")]
    Turn(f64),
    /// An azimuth, of the eye or the sun, that is no angle.
    #[error("an azimuth of {0} degrees is not possible: use a finite number")]
    Azimuth(f64),
    /// An elevation that does not exist.
    #[error("an elevation of {0} degrees is not possible: use -90 to 90")]
    Elevation(f64),
    /// A sun below the horizon.
    #[error("a sun at an elevation of {0} degrees is not possible: use 0 to 90")]
    Sun(f64),
    /// A zoom that is too small or too large.
    #[error("a zoom of {0} is not possible: use {least} to {most}", least = ZOOMS[0], most = ZOOMS[1])]
    Zoom(f64),
    /// The GPU fails.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl RenderOptions {
    /// A picture of this size, from the front, the right and above, three by three rays a pixel.
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

    /// Seen from there.
    #[must_use]
    pub fn with_view(self, view: View) -> Self {
        Self { view, ..self }
    }

    /// Seen from this azimuth, in degrees from the front to the right, instead of the view's.
    #[must_use]
    pub fn with_azimuth(self, degrees: f64) -> Self {
        Self { azimuth: Some(degrees), ..self }
    }

    /// Seen from this elevation, in degrees above the horizon, instead of the view's.
    #[must_use]
    pub fn with_elevation(self, degrees: f64) -> Self {
        Self { elevation: Some(degrees), ..self }
    }

    /// So many times larger than where all voxels just fit.
    #[must_use]
    pub fn with_zoom(self, factor: f64) -> Self {
        Self { zoom: factor, ..self }
    }

    /// With the sun at this azimuth and elevation, in degrees.
    #[must_use]
    pub fn with_sun(self, azimuth: f64, elevation: f64) -> Self {
        Self { sun: Some([azimuth, elevation]), ..self }
    }

    /// With edges of voxels or without.
    #[must_use]
    pub fn with_edges(self, edges: bool) -> Self {
        Self { edges, ..self }
    }

    /// Seen from so many degrees further around the up axis, and framed as all such pictures are.
    #[must_use]
    pub fn with_turn(self, degrees: f64) -> Self {
        Self { turn: Some(degrees), ..self }
    }

    /// The options for each of so many pictures evenly around the up axis, from this view on: the frames
    /// of an [`Animation`] that ends where it began, or files of their own.
    pub fn turntable(self, frames: u32) -> impl ExactSizeIterator<Item = Self> {
        let first = self.turn.unwrap_or(0.0);
        (0..frames).map(move |n| self.with_turn(first + 360.0 * f64::from(n) / f64::from(frames)))
    }

    /// With that camera.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection: Some(projection), ..self }
    }

    /// Before that background.
    #[must_use]
    pub fn with_background(self, background: Background) -> Self {
        Self { background, ..self }
    }

    /// With so many rays along each side of a pixel.
    #[must_use]
    pub fn with_samples(self, samples: u32) -> Self {
        Self { samples, ..self }
    }

    /// With so much kept free at each side.
    #[must_use]
    pub fn with_margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    /// Whether they are possible, which drawing asks too.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self) -> Result<(), RenderError> {
        let Self { size, samples, margin, turn, .. } = *self;
        if size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(RenderError::Size(size));
        }
        if !(1..=MAX_SAMPLES).contains(&samples) {
            return Err(RenderError::Samples(samples));
        }
        if !(0.0..=MAX_MARGIN).contains(&margin) {
            return Err(RenderError::Margin(margin));
        }
        if let Some(turn) = turn.filter(|turn| !turn.is_finite()) {
            return Err(RenderError::Turn(turn));
        }
        let azimuths = self.azimuth.into_iter().chain(self.sun.map(|[azimuth, _]| azimuth));
        if let Some(azimuth) = azimuths.into_iter().find(|azimuth| !azimuth.is_finite()) {
            return Err(RenderError::Azimuth(azimuth));
        }
        if let Some(degrees) = self.elevation.filter(|e| !(-90.0..=90.0).contains(e)) {
            return Err(RenderError::Elevation(degrees));
        }
        if let Some([_, degrees]) = self.sun.filter(|[_, e]| !(0.0..=90.0).contains(e)) {
            return Err(RenderError::Sun(degrees));
        }
        if !(ZOOMS[0]..=ZOOMS[1]).contains(&self.zoom) {
            return Err(RenderError::Zoom(self.zoom));
        }
        Ok(())
    }
}

/// Draws pictures of a grid: several, of what is built once.
#[derive(Debug)]
pub struct Renderer<'a> {
    scene: Scene<'a>,
    #[cfg(feature = "gpu")]
    gpu: Option<gpu::GpuShader>,
}

impl<'a> Renderer<'a> {
    /// On the CPU.
    #[must_use]
    pub fn new(grid: &'a VoxelGrid) -> Self {
        Self {
            scene: Scene::new(grid),
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }

    /// On a GPU. Its pictures are those of the CPU, to the bit.
    ///
    /// # Errors
    /// The grid does not fit there; the device fails.
    #[cfg(feature = "gpu")]
    pub fn on_gpu(grid: &'a VoxelGrid, gpu: &Gpu) -> Result<Self, BackendError> {
        let scene = Scene::new(grid);
        let on_gpu = gpu::GpuShader::new(GpuScene::upload(gpu.device(), &scene)?);
        Ok(Self { scene, gpu: Some(on_gpu) })
    }

    /// A picture of the grid: all of it fills the picture.
    ///
    /// # Errors
    /// Options that are not possible; the GPU fails; in a browser, where nothing waits, there is one.
    pub fn render(&self, options: &RenderOptions) -> Result<Picture, RenderError> {
        self.draw(&self.look(options)?, options)
    }

    fn draw(&self, look: &Look, options: &RenderOptions) -> Result<Picture, RenderError> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            let pixels = gpu.wait_for_pixels(look, options.size)?;
            return Ok(Picture::new(options.size, pixels));
        }
        Ok(Picture::new(options.size, pixels(&self.scene, look, options.size)))
    }

    /// A picture of the grid as a `camera` of another grid, made with the same size, sees it. The options of
    /// the view have no effect, except on the light.
    ///
    /// # Errors
    /// As [`render`](Self::render).
    pub fn render_from(
        &self,
        camera: &Camera,
        options: &RenderOptions,
    ) -> Result<Picture, RenderError> {
        options.check()?;
        self.draw(&Look::new(self.scene.bounds(), camera, options), options)
    }

    /// The asynchronous form of [`render`](Self::render), for a browser's GPU; on the CPU it does not
    /// wait.
    ///
    /// # Errors
    /// Options that are not possible; the GPU fails.
    #[cfg(feature = "gpu")]
    pub async fn render_async(&self, options: &RenderOptions) -> Result<Picture, RenderError> {
        let look = self.look(options)?;
        let pixels = match &self.gpu {
            Some(gpu) => gpu.pixels(&look, options.size).await?,
            None => pixels(&self.scene, &look, options.size),
        };
        Ok(Picture::new(options.size, pixels))
    }

    /// All that a picture depends on beside the voxels.
    fn look(&self, options: &RenderOptions) -> Result<Look, RenderError> {
        options.check()?;
        let grid = self.scene.grid();
        let up = grid.world.map_or(Up::default(), |world| world.up);
        let camera = Camera::new(grid, up, options);
        Ok(Look::new(self.scene.bounds(), &camera, options))
    }
}

/// All pixels of a picture, drawn on the CPU.
fn pixels(scene: &Scene, look: &Look, [width, height]: [u32; 2]) -> Vec<Rgba> {
    let [width, height] = [width, height].map(|side| side as usize);
    let dark = look.ground.as_ref().map(|ground| ground.dark(scene)).unwrap_or_default();
    let mut pixels = vec![[0; 4]; width * height];
    let bands = pixels.par_chunks_mut(width * BAND).enumerate();
    bands.for_each(|(band, pixels)| {
        let mut shader = Shader::new(scene, look, &dark);
        for (row, pixels) in (band * BAND..).zip(pixels.chunks_mut(width)) {
            for (column, pixel) in pixels.iter_mut().enumerate() {
                *pixel = shader.pixel([column, row]);
            }
        }
    });
    pixels
}

/// A picture of `grid`, drawn on the CPU: all of it fills the picture.
///
/// # Errors
/// Options that are not possible.
pub fn render(grid: &VoxelGrid, options: &RenderOptions) -> Result<Picture, RenderError> {
    Renderer::new(grid).render(options)
}
