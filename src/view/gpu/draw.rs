//! Rendering on a GPU: the host computes the parameters of a picture, the kernels trace its rays
//! and shade its pixels.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::base::progress::Progress;
use crate::base::srgb::{ENDS, Rgba, linear_of};
use crate::gpu::GpuError;
use crate::gpu::{Kernel, MAX_GROUPS, kernels};
use crate::view::gpu::{
    GpuScene, MAX_PASS_RAYS, RAY_GROUP, gave_up, halves, line_words, self_test,
};
use crate::view::render::ground::GROUND_SAMPLES;
use crate::view::render::light::{Direction, FACES};
use crate::view::render::shade::{EDGE_FADE, EDGE_MAX, EDGE_SHADE, GROUND_SHADES, PictureParams};
use crate::view::render::{RenderError, empty_pixels};

/// Maximum number of samples of the rows that are read back together.
const MAX_READ_SAMPLES: u32 = 1 << 22;
// Submissions are one-dimensional.
const _: () = assert!(MAX_PASS_RAYS / RAY_GROUP <= MAX_GROUPS);

/// Words of a pixel's sums.
pub const SUM_WORDS: u32 = 6;

const PARAM_WORDS: u64 = (size_of::<DrawParams>() / 4) as u64;

/// The occlusion counts of all samples of the ground, and the error word.
const OCCLUSION_WORDS: u64 = (GROUND_SAMPLES * GROUND_SAMPLES) as u64 + 1;

/// `DrawParams` in `shaders/draw/params.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct DrawParams {
    pub size: [u32; 2],
    pub first_row: u32,
    pub rows: u32,
    pub samples: u32,
    pub sky_directions: u32,
    pub ground_directions: u32,
    pub first: u32,
    pub edge_step: [i32; 3],
    pub edge_width: i32,
    pub edge_origin: [i32; 3],
    pub edge_max: i32,
    pub edge_fade: i32,
    pub edge_shade: u32,
    pub has_background: u32,
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
    pub sky_shares_at: u32,
    pub srgb_ends_at: u32,
    pub sky_sets: u32,
    pub padding_0: [u32; 2],
    pub sun: [i32; 3],
    pub padding_1: u32,
    pub sun_light: [[u32; 4]; FACES],
    pub sky_light: [[u32; 4]; FACES],
}

/// Stored in place of the up axis: there is no ground.
pub const NO_GROUND: u32 = 3;

/// Draws on the GPU of the scene.
impl GpuScene {
    /// All pixels of a picture; some, if cancelled. The kernels are tested before their first use.
    pub(crate) async fn pixels(
        &self,
        picture: &PictureParams,
        progress: &dyn Progress,
    ) -> Result<Vec<Rgba>, RenderError> {
        self_test::pictures(self.device()).await?;
        self.untested_pixels(picture, progress).await
    }

    /// [`pixels`](Self::pixels) without the self-test of the kernels.
    pub(super) async fn untested_pixels(
        &self,
        picture: &PictureParams,
        progress: &dyn Progress,
    ) -> Result<Vec<Rgba>, RenderError> {
        let device = self.device();
        let mut picture_pixels = empty_pixels(picture.film.size)?;
        let drawn = async {
            let (mut params, tables) = draw_params(picture);
            let [width, height] = params.size;
            let samples = params.samples * params.samples;
            let corners = samples.min(4);
            // To the surface, to the sky, and to the sun; of small voxels to its centre too.
            let sample_rays = 2 + params.sky_directions + params.is_small;
            let rows = (MAX_READ_SAMPLES / (width * samples)).clamp(1, height);
            // One more for the error word: not 0 if a driver ended a traversal early.
            let [sum_words, pixel_words] =
                [SUM_WORDS, 1].map(|words| u64::from(width * rows * words) + 1);
            let staging = device.staging(pixel_words + 1);
            let storage = |label, words: u64| device.checked_buffer(label, words, Usage::STORAGE);
            let draw = device.buffer("draw", PARAM_WORDS, Usage::UNIFORM | Usage::COPY_DST);
            let tables = device.filled("tables", bytemuck::cast_slice(&tables), Usage::STORAGE)?;
            let occlusion = storage("ground occlusion", OCCLUSION_WORDS)?;
            let sums = storage("sums", sum_words)?;
            let pixels = storage("pixels", pixel_words)?;
            let own = [
                ("draw", &draw),
                ("tables", &tables),
                ("occluded_counts", &occlusion),
                ("sums", &sums),
                ("pixels", &pixels),
            ];
            let buffers = [&own[..], &self.buffers().named()].concat();
            let submit = |kernel: Kernel, params: &DrawParams, invocations: u32, rays: u32| {
                for part in submissions(invocations, rays) {
                    let params = DrawParams { first: part.start, ..*params };
                    device.queue.write_buffer(&draw, 0, bytemuck::bytes_of(&params));
                    let mut encoder = device.encoder();
                    let groups = (part.end - part.start).div_ceil(RAY_GROUP);
                    device.record(&mut encoder, kernel, &buffers, groups)?;
                    device.queue.submit([encoder.finish()]);
                }
                Ok::<(), GpuError>(())
            };
            if picture.ground.is_some() {
                let count = (GROUND_SAMPLES * GROUND_SAMPLES) as u32 * params.ground_directions;
                submit(kernels::GROUND_OCCLUSION, &params, count, 1)?;
            }
            for first in (0..height).step_by(rows as usize) {
                if progress.is_cancelled() {
                    break;
                }
                (params.first_row, params.rows) = (first, rows.min(height - first));
                let count = width * params.rows;
                let mut encoder = device.encoder();
                encoder.clear_buffer(&sums, 0, None);
                device.queue.submit([encoder.finish()]);
                submit(kernels::DRAW_CORNERS, &params, count, corners * sample_rays)?;
                submit(kernels::DRAW_INTERIOR, &params, count * samples, sample_rays)?;
                submit(kernels::MEAN_PIXELS, &params, count + 1, 1)?;
                let mut encoder = device.encoder();
                encoder.copy_buffer_to_buffer(&pixels, 0, &staging, 0, 4 * pixel_words);
                let last = 4 * (OCCLUSION_WORDS - 1);
                encoder.copy_buffer_to_buffer(&occlusion, last, &staging, 4 * pixel_words, 4);
                let drawn = device.submit_and_read_async(encoder, &staging).await?;
                if drawn[count as usize] != 0 || drawn[pixel_words as usize] != 0 {
                    return Err(gave_up().into());
                }
                picture_pixels
                    .extend(drawn[..count as usize].iter().map(|pixel| pixel.to_le_bytes()));
                progress.advance(params.rows.into());
            }
            Ok(picture_pixels)
        };
        device.scoped(drawn).await
    }
}

/// Divides the invocations of a stage, each of up to `rays` rays, into submissions: whole
/// workgroups, at least one, of at most [`MAX_PASS_RAYS`] rays.
fn submissions(invocations: u32, rays: u32) -> impl Iterator<Item = Range<u32>> {
    let step = (MAX_PASS_RAYS / (rays * RAY_GROUP)).max(1) * RAY_GROUP;
    let part = move |first: u32| first..first.saturating_add(step).min(invocations);
    (0..invocations).step_by(step as usize).map(part)
}

/// The parameters and the tables of a picture, as the shaders read them.
fn draw_params(picture: &PictureParams) -> (DrawParams, Vec<u32>) {
    let PictureParams { film, light, ground, edges, .. } = picture;
    let mut list = Vec::new();
    let [columns, rows] = &film.terms;
    columns.iter().for_each(|term| list.extend(line_words(term.origin, term.direction)));
    let mut words = DrawParams { rows_at: list.len() as u32, ..DrawParams::zeroed() };
    for (row, term) in rows.iter().enumerate() {
        list.extend(line_words(term.origin, term.direction));
        list.extend(picture.background.as_ref().map_or([0; 3], |rows| rows[row]));
    }
    let mut append = |directions: &[Direction]| {
        let at = list.len() as u32;
        list.extend(directions.as_flattened().iter().map(|&c| c as u32));
        at
    };
    words.sun_directions_at = append(&light.sun_directions);
    words.sky_directions_at = append(&light.sky_directions.concat());
    words.ground_directions_at = append(ground.as_ref().map_or(&[], |ground| &ground.directions));
    words.sky_shares_at = list.len() as u32;
    list.extend(&light.sky_shares);
    words.srgb_ends_at = list.len() as u32;
    list.extend(ENDS.map(u32::from));
    list.extend((0..=u8::MAX).map(|value| u32::from(linear_of(value))));

    words.size = film.size;
    words.samples = picture.samples as u32;
    words.sky_directions = light.set_len as u32;
    words.sky_sets = light.sky_sets;
    words.edge_step = edges.step;
    words.edge_width = edges.width;
    words.edge_origin = edges.origin.map(|c| c as i32);
    words.edge_max = EDGE_MAX;
    words.edge_fade = EDGE_FADE;
    words.edge_shade = EDGE_SHADE;
    words.has_background = u32::from(picture.background.is_some());
    words.is_small = u32::from(picture.is_small);
    words.corner_light = picture.corner_light;
    words.ground_shades = GROUND_SHADES;
    words.ground_up = NO_GROUND;
    if let Some(ground) = ground {
        words.ground_directions = ground.directions.len() as u32;
        words.ground_step = ground.step;
        words.ground_step_bits = ground.step_bits;
        let [[a, b], [c, d]] = ground.corner.map(halves);
        words.ground_corner = [a, b, c, d];
        words.ground_height = halves(ground.height);
        words.ground_up = ground.up as u32;
    }
    words.sun = light.sun;
    words.sun_light = light.sun_light.map(|[r, g, b]| [r, g, b, 0]);
    words.sky_light = light.sky_light.map(|[r, g, b]| [r, g, b, 0]);
    (words, list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_are_all_invocations_in_order_and_each_has_few_rays() {
        for (invocations, rays) in [
            (1, 1),
            (1 << 22, 15),
            ((1 << 22) + 1, 1),
            (128 * 128 * 96, 1),
            (100_000, 60),
            (1000, MAX_PASS_RAYS / RAY_GROUP + 1),
        ] {
            let mut end = 0;
            for part in submissions(invocations, rays) {
                assert_eq!(part.start, end);
                // The invocations of a last, incomplete workgroup would be those of the next part.
                assert!(part.start.is_multiple_of(RAY_GROUP), "{part:?}");
                let count = part.end - part.start;
                assert!(count <= RAY_GROUP || count * rays <= MAX_PASS_RAYS, "{part:?}");
                end = part.end;
            }
            assert_eq!(end, invocations);
        }
    }
}
