//! Pictures on a GPU: the host computes the numbers of a picture, the stages follow the rays and mix the
//! colours, as the CPU does.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::backend::gpu::data::{Stage, shader};
use crate::error::BackendError;
use crate::raymarch::gpu::{
    GpuScene, MAX_GROUPS, RAY_GROUP, bind_group, filled, gave_up, halves, room,
};
use crate::render::film::Part;
use crate::render::ground::PLACES;
use crate::render::light::{FACES, Way, share};
use crate::render::shade::{EDGE_SHADE, Look};
use crate::srgb::{ENDS, Rgba, linear_of};

/// A stage that draws.
macro_rules! drawing {
    ($($name:literal),+) => {
        shader!(
            "wide", "scene", "rays", "march", "walk", "look", "shade", "ground", "surface", "faces",
            "sums", $($name),+
        )
    };
}

/// The stages.
pub const STAGES: [Stage; 4] = [
    ("dark_ground", shader!("wide", "scene", "rays", "march", "walk", "look", "dark_ground")),
    ("draw_corners", drawing!("draw_corners")),
    ("draw_others", drawing!("draw_others")),
    (
        "mean_pixels",
        shader!("wide", "scene", "rays", "march", "walk", "look", "sums", "mean_pixels"),
    ),
];

/// What each stage binds of its own, and how many of the scene's buffers.
const BINDINGS: [(&[u32], u32); STAGES.len()] =
    [(&[0, 1, 2], 4), (&[0, 1, 2, 3], 5), (&[0, 1, 2, 3], 5), (&[0, 1, 3, 4], 0)];

/// Places of a picture that are drawn in one pass, so that it stays far from a driver's time limit.
const MOST_PLACES: u32 = 1 << 22;

/// Words of a pixel's sums.
pub const SUM_WORDS: u32 = 6;

const WORDS: u64 = (size_of::<LookWords>() / 4) as u64;

/// Those of all places on the ground, and one that tells whether a search was ended early.
const DARK_WORDS: u64 = (PLACES * PLACES) as u64 + 1;

/// `Look` in the shaders, where the fields are explained.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "explained where the shaders define them")]
pub struct LookWords {
    pub size: [u32; 2],
    pub first_row: u32,
    pub rows: u32,
    pub samples: u32,
    pub sky_ways: u32,
    pub ground_ways: u32,
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
    pub suns_at: u32,
    pub skies_at: u32,
    pub ground_ways_at: u32,
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
    pub(super) fn pixels(&self, look: &Look, size: [u32; 2]) -> Result<Vec<Rgba>, BackendError> {
        let device = self.scene.device();
        let (mut words, list) = numbers(look, size);
        let [width, height] = size;
        let places = words.samples * words.samples;
        let rows = (MOST_PLACES / (width * places)).clamp(1, height);
        // A word more, which tells whether a search was ended early.
        let [sums, pixels] = [SUM_WORDS, 1].map(|words| u64::from(width * rows * words) + 1);
        let storage = |label, words: u64| room(device, label, words, Usage::STORAGE);
        let staging = device.buffer("staging", pixels + 1, Usage::MAP_READ | Usage::COPY_DST);
        let buffers = [
            device.buffer("look", WORDS, Usage::UNIFORM | Usage::COPY_DST),
            filled(device, "numbers", bytemuck::cast_slice(&list), Usage::STORAGE)?,
            storage("dark ground", DARK_WORDS)?,
            storage("sums", sums)?,
            storage("pixels", pixels)?,
        ];
        device.check()?;
        let pass = |stage, words: &LookWords, invocations| -> Result<(), BackendError> {
            self.run(&buffers, stage, words, invocations)
        };
        if look.ground.is_some() {
            pass(0, &words, (PLACES * PLACES) as u32 * words.ground_ways)?;
        }
        let mut picture = Vec::with_capacity((width * height) as usize);
        for first in (0..height).step_by(rows as usize) {
            (words.first_row, words.rows) = (first, rows.min(height - first));
            let count = width * words.rows;
            let mut encoder = device.device.create_command_encoder(&Default::default());
            encoder.clear_buffer(&buffers[3], 0, None);
            device.queue.submit([encoder.finish()]);
            pass(1, &words, count)?;
            pass(2, &words, count * places)?;
            pass(3, &words, count + 1)?;
            let mut encoder = device.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&buffers[4], 0, &staging, 0, 4 * pixels);
            let dark = 4 * (DARK_WORDS - 1);
            encoder.copy_buffer_to_buffer(&buffers[2], dark, &staging, 4 * pixels, 4);
            let drawn = device.submit_and_read(encoder, &staging)?;
            if drawn[count as usize] != 0 || drawn[pixels as usize] != 0 {
                return Err(gave_up());
            }
            picture.extend(drawn[..count as usize].iter().map(|pixel| pixel.to_le_bytes()));
        }
        Ok(picture)
    }

    /// Runs a stage.
    fn run(
        &self,
        buffers: &[wgpu::Buffer; 5],
        stage: usize,
        words: &LookWords,
        invocations: u32,
    ) -> Result<(), BackendError> {
        let device = self.scene.device();
        let pipeline = &device.pipeline(STAGES[stage]);
        device.check()?;
        let groups = invocations.div_ceil(RAY_GROUP);
        let max_groups = groups.min(MAX_GROUPS);
        device.queue.write_buffer(
            &buffers[0],
            0,
            bytemuck::bytes_of(&LookWords { max_groups, ..*words }),
        );
        let (own, of_scene) = BINDINGS[stage];
        let own = bind_group(device, pipeline, 0, &buffers.each_ref(), |n| own.contains(&n));
        let mut encoder = device.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &own, &[]);
        if of_scene > 0 {
            let scene = self.scene.buffers().all();
            let scene = bind_group(device, pipeline, 1, &scene, |n| n < of_scene);
            pass.set_bind_group(1, &scene, &[]);
        }
        pass.dispatch_workgroups(max_groups, groups.div_ceil(max_groups), 1);
        drop(pass);
        device.queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// The numbers of a picture as the shaders have them: those of a known count, and lists.
fn numbers(look: &Look, size: [u32; 2]) -> (LookWords, Vec<u32>) {
    let Look { film, light, ground, edges, .. } = look;
    let mut list = Vec::new();
    let [columns, rows] = &film.parts;
    columns.iter().for_each(|part| list.extend(part_words(part)));
    let mut words = LookWords { rows_at: list.len() as u32, ..LookWords::zeroed() };
    for (row, part) in rows.iter().enumerate() {
        list.extend(part_words(part));
        list.extend(look.behind.as_ref().map_or([0; 3], |behind| behind[row]));
    }
    let mut add = |ways: &[Way]| {
        let at = list.len() as u32;
        list.extend(ways.as_flattened().iter().map(|&c| c as u32));
        at
    };
    words.suns_at = add(&light.suns);
    words.skies_at = add(&light.skies.concat());
    words.ground_ways_at = add(ground.as_ref().map_or(&[], |ground| &ground.ways));
    words.sky_left_at = list.len() as u32;
    list.extend(&light.sky_left);
    words.srgb_ends_at = list.len() as u32;
    list.extend(ENDS.map(u32::from));
    list.extend((0..=u8::MAX).map(|value| u32::from(linear_of(value))));

    words.size = size;
    words.samples = look.samples as u32;
    words.sky_ways = light.sky_ways as u32;
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
        words.ground_ways = ground.ways.len() as u32;
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
