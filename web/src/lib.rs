//! trivox in the browser: the bindings that `trivox.js` wraps, and `trivox.d.ts` documents. Options
//! and reports are JSON, with the names of the program's options and of its report.

#![warn(missing_docs)]

mod model;
mod options;
mod progress;
mod view;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, BufWriter, Cursor, Write};
use std::mem::take;

use serde_json::{Value, json};
use trivox::formats::{self, GridFormat, MESH_FORMATS, WriteError, WriteOptions};
use trivox::gpu::kernels::KERNELS;
use trivox::grid::{Attribute, DEFAULT_COLOR};
use trivox::solid::distance::DistanceField;
use trivox::view::mesher::{self, Rectangle};
use trivox::view::render::{GifAnimation, Picture, PngAnimation, Renderer};
use trivox::{ErrorCode, Gpu, Progress, VoxelGrid};
use wasm_bindgen::prelude::*;

use crate::model::Model;
use crate::options::{FileOptions, NoOptions, PictureOptions, measurer, parse, voxelizer};
use crate::progress::Reporter;
use crate::view::Viewer;

/// Readies the module: messages of panics go to the console.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// An error; in JavaScript an `Error` with the `code` of [`ErrorCode`].
pub struct Failure {
    message: String,
    code: &'static str,
}

impl Failure {
    /// Of options.
    fn option(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "option" }
    }

    /// Of a file, as the program words it.
    fn of_file<E: ErrorCode>(name: &str) -> impl Fn(E) -> Self {
        move |error| Self { message: format!("{name}: {error}"), code: error.code() }
    }
}

impl<E: ErrorCode> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { message: error.to_string(), code: error.code() }
    }
}

impl From<Failure> for JsValue {
    fn from(Failure { message, code }: Failure) -> Self {
        let error = js_sys::Error::new(&message);
        // Fails for frozen objects only.
        _ = js_sys::Reflect::set(&error, &"code".into(), &code.into());
        error.into()
    }
}

/// What computes: this thread, and the GPU where there is one.
#[wasm_bindgen]
pub struct Engine {
    /// The GPU and its label, or why there is none.
    gpu: Result<(Gpu, String), String>,
}

#[wasm_bindgen]
impl Engine {
    /// Opens the GPU, if there is one, under this name. Without a name only the CPU computes;
    /// `without` is why.
    pub async fn open(gpu_name: Option<String>, without: String) -> Engine {
        let Some(name) = gpu_name else {
            return Self { gpu: Err(without) };
        };
        let opened = async {
            let adapter = trivox::gpu::Adapter::find_async(None).await?;
            let gpu = Gpu::open(&adapter).await?;
            gpu.device().check()?;
            Ok::<_, trivox::BackendError>(gpu)
        };
        let gpu = opened.await.map(|gpu| (gpu, format!("webgpu: {name}")));
        Self { gpu: gpu.map_err(|error| error.to_string()) }
    }

    /// The GPU's label; nothing where there is none.
    #[wasm_bindgen(getter)]
    pub fn adapter(&self) -> Option<String> {
        self.gpu.as_ref().ok().map(|(_, label)| label.clone())
    }

    /// Why there is no GPU.
    #[wasm_bindgen(getter)]
    pub fn without(&self) -> Option<String> {
        self.gpu.as_ref().err().cloned()
    }

    /// The voxels of `model`, on the backend that `options` ask for.
    pub async fn voxelize(&self, model: &Model, options: &str) -> Result<Voxels, Failure> {
        let voxelizer = voxelizer(options)?;
        let placed = voxelizer.place(model.mesh()).map_err(Failure::of_file(model.name()))?;
        let gpu = self.gpu.as_ref().map(|(gpu, label)| (gpu, label.as_str()));
        let done = voxelizer.voxelize_async(&placed, gpu.map_err(String::as_str)).await;
        let done = done.map_err(Failure::of_file(model.name()))?;
        let painted = voxelizer.paint(&placed.mesh, done);
        let mut done = painted.map_err(Failure::of_file(model.name()))?;
        Ok(Voxels { report: model.report(&placed.mesh, &mut done), grid: done.grid })
    }

    /// The PNG that `voxelize render` draws of the voxels.
    pub async fn picture(&self, voxels: &Voxels, options: &str) -> Result<Vec<u8>, Failure> {
        let options = parse::<PictureOptions>(options)?.render_options()?;
        let picture = self.renderer(voxels)?.render_async(&options).await?;
        let mut png = Vec::new();
        picture.write_png(&mut png)?;
        Ok(png)
    }

    /// Writes an animation to `sink`, a GIF for `gif` or else an animated PNG: the file of
    /// `voxelize render --turntable`, of this many frames. `sink` may cancel before each frame.
    pub async fn turntable(
        &self,
        voxels: &Voxels,
        extension: &str,
        frames: u32,
        fps: u16,
        options: &str,
        sink: &Sink,
    ) -> Result<(), Failure> {
        let options = parse::<PictureOptions>(options)?.render_options()?;
        options.check()?;
        let renderer = self.renderer(voxels)?;
        let out = BufWriter::with_capacity(PART_BYTES, SinkWriter(sink));
        let progress = Reporter;
        progress.start("draw", frames.into());
        let draw_all = async |add: &mut dyn FnMut(&Picture) -> io::Result<()>| {
            for frame in options.turntable(frames) {
                sink.pause().await.map_err(of_sink)?;
                add(&renderer.render_async(&frame).await?)?;
                progress.advance(1);
            }
            Ok::<(), Failure>(())
        };
        if extension == "gif" {
            let mut animation = GifAnimation::new(out, &options, fps)?;
            draw_all(&mut |picture| animation.add(picture)).await?;
            Ok(animation.finish()?)
        } else {
            let mut animation = PngAnimation::new(out, &options, frames, fps)?;
            draw_all(&mut |picture| animation.add(picture)).await?;
            Ok(animation.finish()?)
        }
    }

    /// Readies the voxels to be drawn again and again.
    pub fn viewer(&self, voxels: &Voxels) -> Result<Viewer, Failure> {
        Ok(Viewer::new(voxels.grid.clone(), self.gpu())?)
    }
}

impl Engine {
    fn gpu(&self) -> Option<&Gpu> {
        self.gpu.as_ref().ok().map(|(gpu, _)| gpu)
    }

    fn renderer<'a>(&self, voxels: &'a Voxels) -> Result<Renderer<'a>, Failure> {
        Ok(match self.gpu() {
            Some(gpu) => Renderer::on_gpu(&voxels.grid, gpu)?,
            None => Renderer::new(&voxels.grid),
        })
    }
}

/// Distances, with the report on them.
#[wasm_bindgen]
pub struct Field {
    field: DistanceField,
    report: String,
}

#[wasm_bindgen]
impl Field {
    /// The signed distances of the voxels nearer than `width` voxels to the surface of `model`, as
    /// `voxelize --distance` computes them.
    pub fn measure(model: &Model, width: f32, options: &str) -> Result<Field, Failure> {
        let distances = measurer(options)?.distances(model.mesh(), width);
        let distances = distances.map_err(Failure::of_file(model.name()))?;
        let report = model.report_of_distances(&distances);
        Ok(Self { field: distances.field, report })
    }

    /// What there is to say of it, as JSON.
    #[wasm_bindgen(getter)]
    pub fn report(&self) -> String {
        self.report.clone()
    }

    /// As [`Voxels::write`]; there are no options.
    pub fn write(&self, extension: &str, options: &str, sink: &Sink) -> Result<(), Failure> {
        let format = GridFormat::of_extension(extension)?;
        parse::<NoOptions>(options)?;
        write_to(sink, |out| formats::write_distances(&self.field, format, out))
    }
}

/// A grid, with the report on it.
#[wasm_bindgen]
pub struct Voxels {
    grid: VoxelGrid,
    report: String,
}

#[wasm_bindgen]
impl Voxels {
    /// The grid in `bytes`, a file of this name.
    pub fn open(name: &str, bytes: Vec<u8>) -> Result<Voxels, Failure> {
        let format = GridFormat::of_path(name).map_err(Failure::of_file(name))?;
        let loaded = formats::read_grid_from(
            &mut Cursor::new(bytes),
            format,
            &formats::ReadOptions::default(),
        );
        let loaded = loaded.map_err(Failure::of_file(name))?;
        let (grid, warnings) = loaded.into_grid();
        let report = json!({
            "grid": name,
            "dims": grid.dims(),
            "occupied": grid.occupied(),
            "bricks": grid.brick_count(),
            "hash": grid.hash(),
            "has_colors": grid.colors.is_some(),
            "voxel_size": grid.world.place.map(|place| place.voxel_size),
            "origin": grid.world.place.map(|place| place.origin),
            "warnings": warnings,
        });
        Ok(Self { report: report.to_string(), grid })
    }

    /// What there is to say of it, as JSON.
    #[wasm_bindgen(getter)]
    pub fn report(&self) -> String {
        self.report.clone()
    }

    /// Whether a voxel is occupied; not outside the grid.
    pub fn contains(&self, x: u32, y: u32, z: u32) -> bool {
        self.grid.contains([x, y, z])
    }

    /// The indices of the occupied voxels: x, y, z of one after the other.
    pub fn voxels(&self) -> Result<Vec<u32>, Failure> {
        let mut indices = with_room(3 * self.grid.occupied())?;
        indices.extend(self.grid.voxels().flatten());
        Ok(indices)
    }

    /// Their colours in the same order: sRGB and opacity. Nothing for a grid without colours.
    pub fn colors(&self) -> Result<Option<Vec<u8>>, Failure> {
        let Some(colors) = &self.grid.colors else { return Ok(None) };
        let mut bytes = with_room(4 * self.grid.occupied())?;
        bytes.extend(self.grid.voxels().flat_map(|voxel| colors.of(voxel)));
        Ok(Some(bytes))
    }

    /// A byte for each voxel of the grid, 1 where it is occupied: `z` fastest, then `y`, then `x`.
    pub fn dense(&self) -> Result<Vec<u8>, Failure> {
        let count = self.grid.dims().map(u64::from).iter().product();
        let mut bytes = with_room(count)?;
        bytes.resize(count as usize, 0);
        self.grid.fill_dense(&mut bytes, 1);
        Ok(bytes)
    }

    /// The layer `index` across `axis`, as RGBA bytes: the rows from the top, an empty voxel as
    /// four zeros. Nothing outside the grid.
    pub fn slice(&self, axis: usize, index: u32) -> Result<Option<Vec<u8>>, Failure> {
        let Some(section) = self.grid.section(axis, index) else { return Ok(None) };
        let [width, height] = section.size().map(u64::from);
        let mut bytes = with_room(4 * width * height)?;
        let rows = section.rows(DEFAULT_COLOR).flatten();
        bytes.extend(rows.flat_map(Option::unwrap_or_default));
        Ok(Some(bytes))
    }

    /// The visible faces, in voxels.
    pub fn surface(&self) -> Result<Surface, Failure> {
        let mut count = 0;
        let Ok(()) = mesher::rectangles(&self.grid, |_| {
            count += 1;
            Ok::<(), Infallible>(())
        });
        let mut surface = Surface {
            positions: with_room(12 * count)?,
            normals: with_room(12 * count)?,
            colors: with_room(if self.grid.colors.is_some() { 16 * count } else { 0 })?,
            indices: with_room(6 * count)?,
        };
        let Ok(()) = mesher::rectangles(&self.grid, |rectangle| {
            surface.add(rectangle);
            Ok::<(), Infallible>(())
        });
        Ok(surface)
    }

    /// Hands the file that the program writes with this extension to `sink`, part by part: the
    /// whole may be larger than WebAssembly's memory.
    pub fn write(&self, extension: &str, options: &str, sink: &Sink) -> Result<(), Failure> {
        let format = GridFormat::of_extension(extension)?;
        let options = parse::<FileOptions>(options)?.write_options();
        format.check_dims(self.grid.dims(), &options)?;
        write_to(sink, |out| formats::write_grid_with(&self.grid, format, &options, out))
    }

    /// What a file of this format does not hold: a sentence for each thing.
    pub fn lost(&self, extension: &str, options: &str) -> Result<Vec<String>, Failure> {
        let options = parse::<FileOptions>(options)?.write_options();
        Ok(GridFormat::of_extension(extension)?.lost(&self.grid, &options))
    }
}

/// Triangles of the visible faces; no two rectangles share a vertex. Each list is given once.
#[wasm_bindgen]
pub struct Surface {
    positions: Vec<f32>,
    normals: Vec<f32>,
    colors: Vec<u8>,
    indices: Vec<u32>,
}

#[wasm_bindgen]
impl Surface {
    /// x, y, z of each vertex, in voxels.
    pub fn positions(&mut self) -> Vec<f32> {
        take(&mut self.positions)
    }

    /// The outward normal at each vertex.
    pub fn normals(&mut self) -> Vec<f32> {
        take(&mut self.normals)
    }

    /// sRGB and opacity of each vertex; empty for a grid without colours.
    pub fn colors(&mut self) -> Vec<u8> {
        take(&mut self.colors)
    }

    /// Three vertices of each triangle, counter-clockwise seen from outside.
    pub fn indices(&mut self) -> Vec<u32> {
        take(&mut self.indices)
    }
}

impl Surface {
    fn add(&mut self, rectangle: &Rectangle) {
        let first = (self.positions.len() / 3) as u32;
        let mut normal = [0.0; 3];
        normal[rectangle.axis] = if rectangle.is_upper { 1.0 } else { -1.0 };
        for corner in rectangle.corners() {
            self.positions.extend(corner.map(|c| c as f32));
            self.normals.extend(normal);
            self.colors.extend(rectangle.color.iter().flatten());
        }
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
}

/// An empty list with room for `count` values.
fn with_room<T>(count: u64) -> Result<Vec<T>, Failure> {
    let mut list = Vec::new();
    let reserved = usize::try_from(count).map(|count| list.try_reserve_exact(count));
    match reserved {
        Ok(Ok(())) => Ok(list),
        _ => Err(Failure {
            message: format!(
                "a list of {count} values needs more memory than WebAssembly has: use a lower \
                 resolution, or write a file"
            ),
            code: "memory",
        }),
    }
}

/// Bytes of a file that are handed over at once.
const PART_BYTES: usize = 1 << 20;

#[wasm_bindgen]
extern "C" {
    /// What takes a file.
    pub type Sink;
    /// Takes a part. `bytes` is WebAssembly's memory, which changes after the call.
    #[wasm_bindgen(method, catch)]
    fn take(this: &Sink, bytes: &[u8]) -> Result<(), JsValue>;
    /// Lets others do something before the next frame of an animation; throws to end it.
    #[wasm_bindgen(method, catch)]
    async fn pause(this: &Sink) -> Result<JsValue, JsValue>;
}

/// Writes the output of `write` to `sink`.
fn write_to(
    sink: &Sink,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(PART_BYTES, SinkWriter(sink));
    write(&mut out)?;
    Ok(out.flush().map_err(WriteError::from)?)
}

fn of_sink(error: JsValue) -> io::Error {
    io::Error::other(format!("{error:?}"))
}

/// Writes to a [`Sink`].
struct SinkWriter<'a>(&'a Sink);

impl Write for SinkWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.0.take(bytes).map(|()| bytes.len());
        taken.map_err(of_sink)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The file formats, as JSON: meshes are read; grids are written, and read where `read` says so.
#[wasm_bindgen]
pub fn formats() -> String {
    let names = |all: &[Attribute]| all.iter().map(|of| of.name()).collect::<Vec<_>>();
    let grids: Vec<Value> = (GridFormat::ALL.iter().map(|format| format.spec()))
        .map(|spec| {
            json!({
                "extension": spec.extension, "name": spec.name, "carries": spec.carries,
                "read": spec.is_read(), "written": true, "colors": spec.has_colors,
                "attributes": names(spec.attributes(&WriteOptions::default())),
                "distances": spec.has_distances(),
            })
        })
        .collect();
    let meshes = MESH_FORMATS.map(
        |spec| json!({ "extension": spec.extension, "name": spec.name, "carries": spec.carries }),
    );
    json!({ "meshes": meshes, "grids": grids }).to_string()
}

/// The sources of all shaders by name, as JSON: for tests that compile them.
#[wasm_bindgen]
pub fn shaders() -> String {
    let kernels = KERNELS.iter().map(|kernel| (kernel.name(), kernel.source()));
    let sources: BTreeMap<_, _> = kernels.chain([("draw_view", view::source())]).collect();
    json!(sources).to_string()
}

/// The library's version.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
