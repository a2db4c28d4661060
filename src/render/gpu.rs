//! Pictures on a GPU: the host computes the parameters of a picture, the kernels trace the rays and mix the
//! colours, as the CPU does.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::error::BackendError;
use crate::gpu::{Kernel, MAX_GROUPS, kernels};
use crate::render::film::Part;
use crate::render::ground::PLACES;
use crate::render::light::{FACES, Way, share};
use crate::render::shade::{EDGE_SHADE, Look};
use crate::srgb::{ENDS, Rgba, linear_of};
use crate::trace::gpu::{GpuScene, RAY_GROUP, gave_up, halves};

/// Samples of a picture that are drawn in one pass, so that it stays far from a driver's time limit.
const MOST_SAMPLES: u32 = 1 << 22;

/// Words of a pixel's sums.
pub const SUM_WORDS: u32 = 6;

const WORDS: u64 = (size_of::<DrawParams>() / 4) as u64;

/// The occlusion counts of all samples of the ground, and a word that tells whether a search was ended
/// early.
const OCCLUSION_WORDS: u64 = (PLACES * PLACES) as u64 + 1;

/// `DrawParams` in the shaders, where the fields are explained.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "explained where the shaders define them")]
pub struct DrawParams {
    pub size: [u32; 2],
    pub first_row: u32,
    pub rows: u32,
    pub samples: u32,
    pub sky_directions: u32,
    pub ground_directions: u32,
    pub max_groups: u32,
    pub edge_step: [i32; 3],
    pub edge_width: i32,
    pub edge_from: [i32; 3],
    pub edge_most: i32,
    pub edge_range: i32,
    pub edge_shade: u32,
    pub has_behind: u32,
    pub is_small: u32,
    pub corner_light: [u32; 4],
    pub ground_shades: [u32; 2],
    pub ground_step: u32,
    pub ground_step_bits: u32,
    pub ground_corner: [u32; 4],
    pub ground_height: [u32; 2],
    pub ground_up: u32,
    pub rows_at: u32,
    pub sun_directions_at: u32,
    pub sky_directions_at: u32,
    pub ground_directions_at: u32,
    pub sky_left_at: u32,
    pub srgb_ends_at: u32,
    pub sky_sets: u32,
    pub unused: [u32; 2],
    pub sun: [i32; 3],
    pub unused_too: u32,
    pub of_sun: [[u32; 4]; FACES],
    pub of_sky: [[u32; 4]; FACES],
}

/// In the place of the axis that is up: there is no ground.
pub const NO_GROUND: u32 = 3;

/// Draws on a GPU.
#[derive(Debug)]
pub(super) struct GpuShader {
    scene: GpuScene,
}

impl GpuShader {
    pub(super) fn new(scene: GpuScene) -> Self {
        Self { scene }
    }

    /// All pixels of a picture of `size`.
    pub(super) async fn pixels(
        &self,
        look: &Look,
        size: [u32; 2],
    ) -> Result<Vec<Rgba>, BackendError> {
        let device = self.scene.device();
        let (mut params, numbers) = numbers(look, size);
        let [width, height] = size;
        let samples = params.samples * params.samples;
        let rows = (MOST_SAMPLES / (width * samples)).clamp(1, height);
        // A word more, which tells whether a search was ended early.
        let [sums, pixels] = [SUM_WORDS, 1].map(|words| u64::from(width * rows * words) + 1);
        let storage = |label, words: u64| device.checked_buffer(label, words, Usage::STORAGE);
        let staging = device.staging(pixels + 1);
        let buffers = Buffers {
            params: device.buffer("draw", WORDS, Usage::UNIFORM | Usage::COPY_DST),
            numbers: device.filled("numbers", bytemuck::cast_slice(&numbers), Usage::STORAGE)?,
            occlusion: storage("ground occlusion", OCCLUSION_WORDS)?,
            sums: storage("sums", sums)?,
            pixels: storage("pixels", pixels)?,
        };
        device.check()?;
        if look.ground.is_some() {
            let count = (PLACES * PLACES) as u32 * params.ground_directions;
            self.run(&buffers, kernels::GROUND_OCCLUSION, &params, count)?;
        }
        let mut picture = Vec::with_capacity((width * height) as usize);
        for first in (0..height).step_by(rows as usize) {
            (params.first_row, params.rows) = (first, rows.min(height - first));
            let count = width * params.rows;
            let mut encoder = device.encoder();
            encoder.clear_buffer(&buffers.sums, 0, None);
            device.queue.submit([encoder.finish()]);
            self.run(&buffers, kernels::DRAW_CORNERS, &params, count)?;
            self.run(&buffers, kernels::DRAW_INTERIOR, &params, count * samples)?;
            self.run(&buffers, kernels::MEAN_PIXELS, &params, count + 1)?;
            let mut encoder = device.encoder();
            encoder.copy_buffer_to_buffer(&buffers.pixels, 0, &staging, 0, 4 * pixels);
            let last = 4 * (OCCLUSION_WORDS - 1);
            encoder.copy_buffer_to_buffer(&buffers.occlusion, last, &staging, 4 * pixels, 4);
            let drawn = device.submit_and_read_async(encoder, &staging).await?;
            if drawn[count as usize] != 0 || drawn[pixels as usize] != 0 {
                return Err(gave_up());
            }
            picture.extend(drawn[..count as usize].iter().map(|pixel| pixel.to_le_bytes()));
        }
        Ok(picture)
    }

    /// [`pixels`](Self::pixels), and waits.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn wait_for_pixels(
        &self,
        look: &Look,
        size: [u32; 2],
    ) -> Result<Vec<Rgba>, BackendError> {
        self.scene.device().block_on(self.pixels(look, size))
    }

    /// Refuses: nothing waits there.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn wait_for_pixels(&self, _: &Look, _: [u32; 2]) -> Result<Vec<Rgba>, BackendError> {
        Err(BackendError::Device("a browser cannot wait for it: use `render_async`".into()))
    }

    /// Runs a kernel.
    fn run(
        &self,
        buffers: &Buffers,
        kernel: Kernel,
        params: &DrawParams,
        invocations: u32,
    ) -> Result<(), BackendError> {
        let device = self.scene.device();
        let own = [
            ("draw", &buffers.params),
            ("numbers", &buffers.numbers),
            ("occluded_counts", &buffers.occlusion),
            ("sums", &buffers.sums),
            ("pixels", &buffers.pixels),
        ];
        device.queue.write_buffer(&buffers.params, 0, bytemuck::bytes_of(params));
        let named = [&own[..], &self.scene.buffers().named()].concat();
        let mut encoder = device.encoder();
        device.record(&mut encoder, kernel, &named, invocations.div_ceil(RAY_GROUP))?;
        device.queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// The buffers of a picture.
struct Buffers {
    params: wgpu::Buffer,
    numbers: wgpu::Buffer,
    occlusion: wgpu::Buffer,
    sums: wgpu::Buffer,
    pixels: wgpu::Buffer,
}

/// The numbers of a picture as the shaders have them: those of a known count, and lists.
fn numbers(look: &Look, size: [u32; 2]) -> (DrawParams, Vec<u32>) {
    let Look { film, light, ground, edges, .. } = look;
    let mut list = Vec::new();
    let [columns, rows] = &film.parts;
    columns.iter().for_each(|part| list.extend(part_words(part)));
    let mut words = DrawParams { rows_at: list.len() as u32, ..DrawParams::zeroed() };
    for (row, part) in rows.iter().enumerate() {
        list.extend(part_words(part));
        list.extend(look.behind.as_ref().map_or([0; 3], |behind| behind[row]));
    }
    let mut add = |ways: &[Way]| {
        let at = list.len() as u32;
        list.extend(ways.as_flattened().iter().map(|&c| c as u32));
        at
    };
    words.sun_directions_at = add(&light.suns);
    words.sky_directions_at = add(&light.skies.concat());
    words.ground_directions_at = add(ground.as_ref().map_or(&[], |ground| &ground.ways));
    words.sky_left_at = list.len() as u32;
    list.extend(&light.sky_left);
    words.srgb_ends_at = list.len() as u32;
    list.extend(ENDS.map(u32::from));
    list.extend((0..=u8::MAX).map(|value| u32::from(linear_of(value))));

    words.size = size;
    words.samples = look.samples as u32;
    words.sky_directions = light.sky_ways as u32;
    words.sky_sets = light.sky_sets;
    words.max_groups = MAX_GROUPS;
    words.edge_step = edges.step;
    words.edge_width = edges.width;
    words.edge_from = edges.from.map(|c| c as i32);
    words.edge_most = edges.most;
    words.edge_range = edges.range;
    words.edge_shade = share(EDGE_SHADE);
    words.has_behind = u32::from(look.behind.is_some());
    words.is_small = u32::from(look.is_small);
    words.corner_light = look.corner_light;
    words.ground_shades = look.ground_shades;
    words.ground_up = NO_GROUND;
    if let Some(ground) = ground {
        words.ground_directions = ground.ways.len() as u32;
        words.ground_step = ground.step;
        words.ground_step_bits = ground.step_bits;
        let [[a, b], [c, d]] = ground.corner.map(halves);
        words.ground_corner = [a, b, c, d];
        words.ground_height = halves(ground.height);
        words.ground_up = ground.up as u32;
    }
    words.sun = light.sun;
    words.of_sun = light.of_sun.map(|[r, g, b]| [r, g, b, 0]);
    words.of_sky = light.of_sky.map(|[r, g, b]| [r, g, b, 0]);
    (words, list)
}

fn part_words(part: &Part) -> [u32; 9] {
    let [[a, b], [c, d], [e, f]] = part.origin.map(halves);
    let [x, y, z] = part.direction.map(|c| c as u32);
    [a, b, c, d, e, f, x, y, z]
}
