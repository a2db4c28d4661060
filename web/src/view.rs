//! The interactive picture of a grid: one ray a pixel while it moves, several and a shadow at rest.
//! On a GPU by `view.wgsl`, which is the library's traversal with a shading of its own; elsewhere
//! by the same on the CPU. Where the GPU presents to a canvas, pixels never leave it.

use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use js_sys::Uint8Array;
use serde::Deserialize;
use serde_json::json;
use trivox::base::vector::{Vector, dot, minus, norm, normalized, plus, times};
use trivox::gpu::Device;
use trivox::grid::DEFAULT_COLOR;
use trivox::view::gpu::{GpuScene, scene_source};
use trivox::view::render::MAX_SIDE;
use trivox::view::trace::{Hit, Ray, Scene, UNIT};
use trivox::wgpu;
use trivox::{Gpu, GpuError, Up, VoxelGrid};
use wasm_bindgen::prelude::*;
use web_sys::{ImageBitmap, OffscreenCanvas};
use wgpu::BufferUsages as Usage;

use crate::options::parse;
use crate::{Failure, with_room};

const GAMMA: f64 = 2.2;
/// Tangent of half the angle of the view.
const HALF_ANGLE: f64 = 0.36;

/// What to draw: `ViewOptions` in `trivox.d.ts`, which documents the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ViewOptions {
    size: [u32; 2],
    rows: [u32; 2],
    yaw: f64,
    pitch: f64,
    zoom: f64,
    fit_pitch: Option<f64>,
    pan: [f64; 2],
    samples: u32,
    has_shadow: bool,
    cut: Option<(usize, u32)>,
    background: [[u8; 3]; 2],
}

impl ViewOptions {
    fn parse(json: &str) -> Result<Self, Failure> {
        let options: Self = parse(json)?;
        let ([width, height], [first, rows]) = (options.size, options.rows);
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(Failure::option(format!(
                "a size of {width} x {height} is not possible: use 1 to {MAX_SIDE}"
            )));
        }
        if rows == 0 || first >= height || rows > height - first {
            return Err(Failure::option(format!(
                "rows {first} to {first} + {rows} are not in a height of {height}"
            )));
        }
        Ok(options)
    }
}

/// `View` in the shader.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Params {
    eye: [f32; 4],
    eye_low: [u32; 4],
    eye_high: [u32; 4],
    corner: [f32; 4],
    right: [f32; 4],
    down: [f32; 4],
    sun: [f32; 4],
    top: [f32; 4],
    bottom: [f32; 4],
    width: u32,
    height: u32,
    first_row: u32,
    rows: u32,
    samples: u32,
    has_shadow: u32,
    cut_axis: u32,
    cut: i32,
    pixel: f32,
    unused: [u32; 3],
}

/// A camera, and the other parameters of a picture besides the voxels.
struct ViewCamera {
    eye: Vector,
    corner: Vector,
    right: Vector,
    down: Vector,
    /// Of the middle of the grid from the eye.
    distance: f64,
    sun: Vector,
    behind: [Vector; 2],
    cut: Option<(usize, i32)>,
    pixel: f64,
    options: ViewOptions,
}

fn linear(color: [u8; 3]) -> Vector {
    color.map(|c| (f64::from(c) / 255.0).powf(GAMMA))
}

impl ViewCamera {
    fn new(scene: &Scene, options: ViewOptions) -> Self {
        let grid = scene.grid();
        // Of a vector along the right, the up and the front axis of the world.
        let grid_from_world = |[right, up, front]: Vector| match grid.world.up {
            Up::Y => [right, up, front],
            Up::Z => [right, -front, up],
        };
        let ((sin_y, cos_y), (sin_p, cos_p)) = (options.yaw.sin_cos(), options.pitch.sin_cos());
        let back = grid_from_world([sin_y * cos_p, sin_p, cos_y * cos_p]);
        let right = grid_from_world([cos_y, 0.0, -sin_y]);
        let up = grid_from_world([-sin_y * sin_p, cos_p, -cos_y * sin_p]);
        let camera_part = times(plus(back, right), 0.5);
        let sun = normalized(plus(grid_from_world([0.25, 0.75, 0.2]), camera_part));

        let whole = [[0; 3], grid.dims().map(|d| d - 1)];
        let [lo, hi] = scene.bounds().unwrap_or(whole).map(|voxel| voxel.map(f64::from));
        let half: Vector = std::array::from_fn(|a| (hi[a] + 1.0 - lo[a]) / 2.0);
        let [width, height] = options.size.map(f64::from);
        let pixel = 2.0 * HALF_ANGLE / width.min(height);
        let film = [0.5 * width * pixel, 0.5 * height * pixel];
        let cylinder = match grid.world.up {
            Up::Y => [half[0].hypot(half[2]), half[1]],
            Up::Z => [half[0].hypot(half[1]), half[2]],
        };
        let pitch = options.fit_pitch.unwrap_or(options.pitch);
        let (fitting, rise) = fitting_eye(cylinder, pitch, film);
        let mut shift = options.pan.map(|part| part * fitting * HALF_ANGLE);
        shift[1] += rise;
        let shift = plus(times(right, shift[0]), times(up, shift[1]));
        let target = plus(plus(lo, half), shift);
        let distance = fitting / options.zoom.clamp(0.1, 1e4);
        let to_corner = minus(times(up, film[1]), times(right, film[0]));
        let cut = options
            .cut
            .filter(|(axis, _)| *axis < 3)
            .map(|(axis, layer)| (axis, layer.min(grid.dims()[axis] - 1) as i32 + 1));
        Self {
            eye: plus(target, times(back, distance)),
            corner: minus(to_corner, back),
            right: times(right, pixel),
            down: times(up, -pixel),
            distance,
            sun,
            behind: options.background.map(linear),
            cut,
            pixel,
            options,
        }
    }

    fn params(&self) -> Result<Params, GpuError> {
        let ray = Ray::new(self.eye, [1.0, 0.0, 0.0]).map_err(failed)?;
        let ([x, y, z], _) = ray.in_units();
        let four = |[x, y, z]: Vector| [x as f32, y as f32, z as f32, 0.0];
        let (axis, cut) = self.cut.unwrap_or((3, 0));
        let [width, height] = self.options.size;
        let [first_row, rows] = self.options.rows;
        Ok(Params {
            eye: four(self.eye),
            eye_low: [x as u32, y as u32, z as u32, 0],
            eye_high: [(x >> 32) as u32, (y >> 32) as u32, (z >> 32) as u32, 0],
            corner: four(self.corner),
            right: four(self.right),
            down: four(self.down),
            sun: four(self.sun),
            top: four(self.behind[0]),
            bottom: four(self.behind[1]),
            width,
            height,
            first_row,
            rows,
            samples: self.options.samples.clamp(1, 8),
            has_shadow: u32::from(self.options.has_shadow),
            cut_axis: axis as u32,
            cut,
            pixel: self.pixel as f32,
            unused: [0; 3],
        })
    }

    /// The direction through a point of the picture, in pixels.
    fn towards(&self, [x, y]: [f64; 2]) -> Vector {
        plus(self.corner, plus(times(self.right, x), times(self.down, y)))
    }

    /// The first shown voxel in this direction, its ray, and the normal of the plane of the cut if
    /// the ray begins there.
    fn first_shown(&self, scene: &Scene, towards: Vector) -> Option<(Ray, Hit, Vector)> {
        let (mut start, mut normal) = (self.eye, [0.0; 3]);
        if let Some((axis, cut)) = self.cut
            && start[axis] >= f64::from(cut)
        {
            if towards[axis] >= 0.0 {
                return None;
            }
            let time = (f64::from(cut) - start[axis]) / towards[axis];
            start = plus(start, times(towards, time));
            start[axis] = f64::from(cut) - UNIT;
            normal[axis] = 1.0;
        }
        let ray = Ray::new(start, towards).ok()?;
        let hit = scene.first_hit(&ray)?;
        let is_hidden =
            self.cut.is_some_and(|(axis, cut)| i64::from(hit.voxel[axis]) >= i64::from(cut));
        (!is_hidden).then_some((ray, hit, normal))
    }

    /// Linear light that comes from `towards`, through the film at `row`. The twin of the shader's.
    fn light(&self, scene: &Scene, towards: Vector, row: f64) -> Vector {
        let [top, bottom] = self.behind;
        let share = row / f64::from(self.options.size[1]);
        let behind = plus(times(top, 1.0 - share), times(bottom, share));
        let Some((ray, hit, mut normal)) = self.first_shown(scene, towards) else { return behind };
        if let Some(face) = hit.face {
            normal = face.normal().map(f64::from);
        } else if normal == [0.0; 3] {
            normal = normalized(times(towards, -1.0));
        }
        let place = ray.at(hit.distance);
        let footprint = norm(minus(place, self.eye)) * self.pixel;
        let to_edge: Vector = std::array::from_fn(|a| {
            let part = place[a] - place[a].floor();
            part.min(1.0 - part) + normal[a].abs()
        });
        let nearest = to_edge.into_iter().fold(f64::INFINITY, f64::min);
        let edge = (1.0 - smoothstep(0.5 * footprint, 1.5 * footprint, nearest))
            * (1.0 - smoothstep(0.08, 0.25, footprint));
        let mut direct = dot(normal, self.sun).max(0.0);
        if self.options.has_shadow && direct > 0.0 {
            let off = plus(place, times(normal, 1.0 / 64.0));
            let blocked = Ray::new(off, self.sun).is_ok_and(|ray| scene.first_hit(&ray).is_some());
            direct = if blocked { 0.0 } else { direct };
        }
        let sky = if self.options.has_shadow && hit.face.is_some() {
            1.0 - 0.6 * self.occlusion(scene, hit.voxel, normal, place)
        } else {
            1.0
        };
        let shade = (0.34 + 0.16 * dot(normal, [0.1, 0.6, 0.3])) * sky + 0.62 * direct;
        let colors = scene.grid().colors.as_ref();
        let [r, g, b, _] = colors.map_or(DEFAULT_COLOR, |colors| colors.of(hit.voxel));
        times(linear([r, g, b]), shade * (1.0 - 0.45 * edge))
    }

    /// The part of the sky that voxels in front of a face hide from a point of it: at each corner
    /// of the face a third for each of the three that touch the corner, all if both at its sides
    /// are there.
    fn occlusion(&self, scene: &Scene, voxel: [u32; 3], normal: Vector, place: Vector) -> f64 {
        let Some(axis) = (0..3).find(|&axis| normal[axis] != 0.0) else { return 0.0 };
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let blocks = |along_u: i32, along_v: i32| {
            let mut at = voxel.map(|index| index as i32);
            at[axis] += normal[axis] as i32;
            at[u] += along_u;
            at[v] += along_v;
            let is_shown = self.cut.is_none_or(|(axis, cut)| at[axis] < cut);
            u32::from(is_shown && scene.contains(at))
        };
        let inside = [u, v].map(|axis| (place[axis] - f64::from(voxel[axis])).clamp(0.0, 1.0));
        let sides = [-1, 1].map(|step| [blocks(step, 0), blocks(0, step)]);
        let mut hidden = 0.0;
        for corner in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let beside = sides[corner[0]][0] + sides[corner[1]][1];
            let [along_u, along_v] = corner.map(|end| 2 * end as i32 - 1);
            let touching = if beside == 2 { 3 } else { beside + blocks(along_u, along_v) };
            let weight: f64 =
                (0..2).map(|n| if corner[n] == 1 { inside[n] } else { 1.0 - inside[n] }).product();
            hidden += weight * f64::from(touching) / 3.0;
        }
        hidden
    }

    /// The rows asked for, as RGBA bytes, drawn on the CPU.
    fn draw(&self, scene: &Scene) -> Result<Vec<u8>, Failure> {
        let [width, _] = self.options.size;
        let [first, rows] = self.options.rows;
        let samples = self.options.samples.clamp(1, 8);
        let mut bytes = with_room(4 * u64::from(width) * u64::from(rows))?;
        for (row, column) in (first..first + rows).flat_map(|row| (0..width).map(move |x| (row, x)))
        {
            let mut light = [0.0; 3];
            for sample in 0..samples * samples {
                let inside = [sample % samples, sample / samples]
                    .map(|n| (f64::from(n) + 0.5) / f64::from(samples));
                let (x, y) = (f64::from(column) + inside[0], f64::from(row) + inside[1]);
                light = plus(light, self.light(scene, self.towards([x, y]), y));
            }
            let share = 1.0 / f64::from(samples * samples);
            let byte =
                |c: f64| (255.0 * (c * share).clamp(0.0, 1.0).powf(1.0 / GAMMA)).round() as u8;
            bytes.extend(light.map(byte));
            bytes.push(u8::MAX);
        }
        Ok(bytes)
    }
}

/// The distance from the eye to an upright cylinder of this radius and half height at which a film
/// of these half sides, at distance 1, just has all of it, with a margin of 3 %; and how far above
/// the middle of the cylinder the point in the middle of the film is.
///
/// The points of the rims, at the angle t, are `b = r cos t cos p + y sin p` nearer than the
/// middle, `r sin t` to the right and `u = y cos p - r cos t sin p` up. They are on the film if
/// `distance >= b + |r sin t| / width`, `distance >= b + (u - rise) / height` and
/// `distance >= b - (u - rise) / height`. `across`, `above` and `below` are the maxima of the right
/// sides without `rise` over t and over both rims, `y = h` and `y = -h`; the rise makes the last
/// two equal.
fn fitting_eye([r, h]: [f64; 2], pitch: f64, [width, height]: [f64; 2]) -> (f64, f64) {
    let (sin, cos) = pitch.sin_cos();
    let across = h * sin.abs() + r * cos.hypot(1.0 / width);
    let [above, below] = [1.0 / height, -1.0 / height]
        .map(|slope| h * (sin + slope * cos).abs() + r * (cos - slope * sin).abs());
    (1.03 * across.max((above + below) / 2.0), (above - below) * height / 2.0)
}

fn smoothstep(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn failed(error: impl std::fmt::Display) -> GpuError {
    GpuError::Device(error.to_string())
}

/// Voxels that are drawn again and again.
#[wasm_bindgen]
pub struct Viewer {
    scene: Scene<'static>,
    gpu: Option<GpuView>,
}

impl Viewer {
    /// A viewer that draws on `gpu`, or without one on the CPU.
    pub(crate) fn new(grid: VoxelGrid, gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        let scene = Scene::owning(grid);
        let gpu = gpu.map(|gpu| GpuView::new(gpu, &scene)).transpose()?;
        Ok(Self { scene, gpu })
    }

    fn camera_of(&self, options: &str) -> Result<ViewCamera, Failure> {
        Ok(ViewCamera::new(&self.scene, ViewOptions::parse(options)?))
    }
}

#[wasm_bindgen]
impl Viewer {
    /// Rows of a picture, as RGBA bytes: on the GPU where the engine has one.
    pub async fn draw(&self, options: &str) -> Result<Uint8Array, Failure> {
        let camera = self.camera_of(options)?;
        match &self.gpu {
            Some(gpu) => {
                let pixels = gpu.draw(&camera).await?;
                Ok(Uint8Array::from(bytemuck::cast_slice::<u32, u8>(&pixels)))
            }
            None => Ok(Uint8Array::from(&camera.draw(&self.scene)?[..])),
        }
    }

    /// The voxel that is seen at a point of the picture, in pixels from its top left corner, with
    /// its colour, as JSON: null where none is seen.
    pub fn pick(&self, options: &str, x: f64, y: f64) -> Result<String, Failure> {
        let camera = self.camera_of(options)?;
        let shown = camera.first_shown(&self.scene, camera.towards([x, y]));
        let picked = shown.map(|(_, Hit { voxel, .. }, _)| {
            json!({ "voxel": voxel, "color": self.scene.grid().color(voxel) })
        });
        Ok(json!(picked).to_string())
    }

    /// The camera of a picture, in voxels, as JSON: the eye, the steps of a pixel to the right and
    /// down on the film at distance 1 from it, and the distance of the middle of the grid.
    pub fn camera(&self, options: &str) -> Result<String, Failure> {
        let ViewCamera { eye, right, down, distance, .. } = self.camera_of(options)?;
        Ok(json!({ "eye": eye, "right": right, "down": down, "distance": distance }).to_string())
    }

    /// The same pixels as an image that stays on the GPU; nothing where the engine has none.
    pub async fn present(&self, options: &str) -> Result<Option<ImageBitmap>, Failure> {
        let camera = self.camera_of(options)?;
        let Some(gpu) = &self.gpu else { return Ok(None) };
        Ok(Some(gpu.present(&camera).await?))
    }
}

/// The source of the shader.
pub fn source() -> String {
    scene_source(1) + include_str!("view.wgsl")
}

/// A grid on a GPU, ready to be drawn. Buffers and bind groups are reused from picture to picture
/// of the same number of pixels.
#[derive(Debug)]
struct GpuView {
    scene: GpuScene,
    module: wgpu::ShaderModule,
    pipeline: wgpu::ComputePipeline,
    scene_group: wgpu::BindGroup,
    params: wgpu::Buffer,
    /// Not 0 once a ray has given up.
    flag: wgpu::Buffer,
    film: RefCell<Option<Film>>,
    staging: RefCell<Option<wgpu::Buffer>>,
    screen: RefCell<Option<Screen>>,
}

/// Where the pixels of a picture go. The handles are cheap to clone.
#[derive(Debug, Clone)]
struct Film {
    pixels: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// A canvas that the pixels are copied to on the GPU. The handles are cheap to clone.
#[derive(Debug, Clone)]
struct Screen {
    canvas: OffscreenCanvas,
    surface: Rc<wgpu::Surface<'static>>,
    pipeline: wgpu::RenderPipeline,
}

impl GpuView {
    /// Copies the grid there and compiles the shader.
    fn new(gpu: &Gpu, scene: &Scene) -> Result<Self, GpuError> {
        let device = gpu.device();
        let scene = GpuScene::upload(device, scene)?;
        let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("view"),
            source: wgpu::ShaderSource::Wgsl(source().into()),
        });
        let pipeline = device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("view"),
            layout: None,
            module: &module,
            entry_point: Some("draw_view"),
            compilation_options: Default::default(),
            cache: None,
        });
        let layout = pipeline.get_bind_group_layout(1);
        let scene_group = group(device, &layout, &scene.buffers().all());
        let words = (size_of::<Params>() / 4) as u64;
        let params = device.buffer("view", words, Usage::UNIFORM | Usage::COPY_DST);
        let flag = device.buffer("flag", 1, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC);
        device.check()?;
        let (film, staging, screen) = Default::default();
        Ok(Self { scene, module, pipeline, scene_group, params, flag, film, staging, screen })
    }

    /// A film of this many pixels: that of the last picture, if it has as many.
    fn film(&self, words: u64) -> Film {
        let mut film = self.film.borrow_mut();
        if let Some(film) = film.as_ref().filter(|film| film.pixels.size() == 4 * words) {
            return film.clone();
        }
        let device = self.scene.device();
        let pixels = device.buffer("pixels", words, Usage::STORAGE | Usage::COPY_SRC);
        let layout = self.pipeline.get_bind_group_layout(0);
        let group = group(device, &layout, &[&self.params, &pixels, &self.flag]);
        film.insert(Film { pixels, group }).clone()
    }

    /// What `words` words are read through: that of the last reading, if it was of as many.
    fn staging(&self, words: u64) -> wgpu::Buffer {
        // Taken, so that a picture that is asked for meanwhile does not copy to a mapped buffer.
        let last = self.staging.take().filter(|staging| staging.size() == 4 * words);
        let usage = Usage::MAP_READ | Usage::COPY_DST;
        last.unwrap_or_else(|| self.scene.device().buffer("staging", words, usage))
    }

    /// The canvas to present to, made on first use.
    fn screen(&self) -> Result<Screen, GpuError> {
        let mut screen = self.screen.borrow_mut();
        if let Some(screen) = screen.as_ref() {
            return Ok(screen.clone());
        }
        let canvas = OffscreenCanvas::new(1, 1).map_err(of_js)?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let surface = instance
            .create_surface(wgpu::SurfaceTarget::OffscreenCanvas(canvas.clone()))
            .map_err(failed)?;
        let device = &self.scene.device().device;
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("screen"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some("corner"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &self.module,
                entry_point: Some("pixel_of"),
                compilation_options: Default::default(),
                targets: &[Some(SCREEN_FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        Ok(screen.insert(Screen { canvas, surface: surface.into(), pipeline }).clone())
    }

    /// Encodes the tracing of the rows of a picture.
    fn trace(&self, camera: &ViewCamera) -> Result<(wgpu::CommandEncoder, Film, Params), GpuError> {
        let device = self.scene.device();
        let params = camera.params()?;
        device.queue.write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
        let film = self.film(u64::from(params.width) * u64::from(params.rows));
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.flag, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &film.group, &[]);
        pass.set_bind_group(1, &self.scene_group, &[]);
        pass.dispatch_workgroups(params.width.div_ceil(8), params.rows.div_ceil(8), 1);
        drop(pass);
        Ok((encoder, film, params))
    }

    /// Reads back all of `pixels`, or none, and checks the flag.
    async fn read(
        &self,
        mut encoder: wgpu::CommandEncoder,
        pixels: Option<&wgpu::Buffer>,
    ) -> Result<Vec<u32>, GpuError> {
        let device = self.scene.device();
        let bytes = pixels.map_or(0, wgpu::Buffer::size);
        let staging = self.staging(bytes / 4 + 1);
        if let Some(pixels) = pixels {
            encoder.copy_buffer_to_buffer(pixels, 0, &staging, 0, bytes);
        }
        encoder.copy_buffer_to_buffer(&self.flag, 0, &staging, bytes, 4);
        let mut words = device.submit_and_read_async(encoder, &staging).await?;
        self.staging.replace(Some(staging));
        match words.pop() {
            Some(0) => Ok(words),
            _ => Err(failed("its driver ended the search for a voxel early")),
        }
    }

    /// The rows of a picture: RGBA bytes in words.
    async fn draw(&self, camera: &ViewCamera) -> Result<Vec<u32>, GpuError> {
        let (encoder, film, _) = self.trace(camera)?;
        self.read(encoder, Some(&film.pixels)).await
    }

    /// The pixels of [`draw`](Self::draw) as an image that stays on the GPU.
    async fn present(&self, camera: &ViewCamera) -> Result<ImageBitmap, GpuError> {
        let Screen { canvas, surface, pipeline } = self.screen()?;
        let device = self.scene.device();
        let (mut encoder, film, params) = self.trace(camera)?;
        if [canvas.width(), canvas.height()] != [params.width, params.rows]
            || surface.get_configuration().is_none()
        {
            surface.configure(&device.device, &configuration([params.width, params.rows]));
        }
        let wgpu::CurrentSurfaceTexture::Success(frame) = surface.get_current_texture() else {
            return Err(failed("it presents nothing to a canvas"));
        };
        let view = frame.texture.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("screen"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(),
            })],
            ..Default::default()
        });
        let layout = pipeline.get_bind_group_layout(0);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group(device, &layout, &[&self.params, &film.pixels]), &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        device.queue.submit([encoder.finish()]);
        device.queue.present(frame);
        // Before anything is awaited: the texture of a canvas lasts until the task ends.
        let image = canvas.transfer_to_image_bitmap().map_err(of_js)?;
        let encoder = device.device.create_command_encoder(&Default::default());
        match self.read(encoder, None).await {
            Ok(_) => Ok(image),
            Err(error) => {
                image.close();
                Err(error)
            }
        }
    }
}

/// The format of the canvas: bytes as they are in the film.
const SCREEN_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

fn configuration([width, height]: [u32; 2]) -> wgpu::SurfaceConfiguration {
    wgpu::SurfaceConfiguration {
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        format: SCREEN_FORMAT,
        color_space: wgpu::SurfaceColorSpace::Auto,
        width,
        height,
        present_mode: wgpu::PresentMode::AutoVsync,
        desired_maximum_frame_latency: 2,
        alpha_mode: wgpu::CompositeAlphaMode::Opaque,
        view_formats: vec![],
    }
}

fn of_js(error: JsValue) -> GpuError {
    failed(format_args!("{error:?}"))
}

fn group(
    device: &Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries = buffers.iter().zip(0..).map(|(buffer, binding)| wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    });
    device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("view"),
        layout,
        entries: &entries.collect::<Vec<_>>(),
    })
}
