//! A scene in GPU memory, for kernels that trace rays: this library's or yours.
//!
//! # The layout
//! Five buffers of a layout, version 1, that [`scene_source`] documents and reads: the header (a
//! uniform), the nodes, the children, the bricks and the colours. A shader that begins with this
//! source and binds the buffers as its group can call `first_hit(ray)`. It returns the voxel of
//! [`Scene::first_hit`], and the time as a fraction of integers. `ray_of` makes a ray of floats;
//! `hit_point`, `hit_distance`, `hit_normal`, `linear_color_of` and `secondary_ray` shade the hit.
//! Some drivers end loops early without an error: call `has_given_up()` at the shader's end to
//! detect this.
//!
//! [`GpuScene::upload`] copies a scene from the host; a [`SceneBuilder`] voxelizes meshes that are
//! in GPU memory, in your command encoder and without waits, each frame.

pub mod draw;
mod scene_builder;
mod self_test;
pub mod tree;
#[cfg(not(target_arch = "wasm32"))]
mod volume;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use wgpu::BufferUsages as Usage;

use crate::gpu::{BRICK_WORDS, Device, GpuError, MAX_GROUPS, group_layout, kernels};
use crate::grid::{Colors, DEFAULT_COLOR, count, mask_places};
pub use crate::view::trace::scene::Node;
use crate::view::trace::scene::Scene;
use crate::view::trace::traverse::{Time, Touch};
use crate::view::trace::{Face, Hit, Ray};

pub use scene_builder::{
    MeshBuffers, SceneBuilder, SceneCapacity, SceneFailure, SceneStatus, Source,
};
#[cfg(not(target_arch = "wasm32"))]
pub use volume::distance_texture;

/// The version of the layout.
pub const SCENE_VERSION: u32 = 1;

/// WGSL to prepend to a shader that traces rays: exact integers, the layout of a scene,
/// `first_hit`, and rays and hits in floats. It is `trace/traverse` and `trace/float_rays` with
/// their imports.
///
/// It takes the bind group of index `group` and many names, such as `Ray`, `Node`, `Scene`,
/// `scene`, `nodes`, `position`, `along` and `contains`: name your own declarations otherwise. WGSL
/// allows these names for parameters and for variables in functions.
#[must_use]
pub fn scene_source(group: u32) -> String {
    let text = "// #import trace/traverse\n// #import trace/float_rays\n";
    let source = kernels::resolve(&kernels::File { path: "", text });
    source.replace("@group(1)", &format!("@group({group})"))
}

/// Invocations per workgroup of kernels that trace rays.
pub const RAY_GROUP: u32 = 64;

/// [`Header::root`] of a scene without nodes.
pub const NO_NODES: u32 = u32::MAX;

/// Words of a ray, and of a hit, in the lists of [`FIRST_HITS`](kernels::FIRST_HITS).
pub const RAY_WORDS: usize = 9;
/// See [`RAY_WORDS`].
pub const HIT_WORDS: usize = 6;
/// Stored in place of a hit's face: no hit.
pub const NO_HIT: u32 = 7;
/// Stored in place of a hit's face: the driver ended the traversal early.
pub const GAVE_UP: u32 = 8;

/// Maximum number of rays per submission: a tenth of a second on a GPU that traces ten million a
/// second. Drivers time out after two seconds or more.
const MAX_PASS_RAYS: u32 = 1 << 20;

/// `Scene` in `shaders/trace/scene.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct Header {
    pub version: u32,
    pub top: u32,
    pub root: u32,
    pub rest: u32,
    pub lo: [i32; 3],
    pub bricks: u32,
    pub hi: [i32; 3],
    pub has_colors: u32,
}

/// The buffers of a scene, in the order of their bindings.
#[derive(Debug, Clone)]
pub struct SceneBuffers {
    /// A [`Header`]; a uniform.
    pub header: wgpu::Buffer,
    /// [`Node`]s.
    pub nodes: wgpu::Buffer,
    /// Words.
    pub children: wgpu::Buffer,
    /// 18 words each.
    pub bricks: wgpu::Buffer,
    /// Words.
    pub colors: wgpu::Buffer,
}

impl SceneBuffers {
    /// With the names of the kernels' variables.
    pub(crate) fn named(&self) -> [(&'static str, &wgpu::Buffer); 5] {
        let names = ["scene", "nodes", "children", "scene_bricks", "colors"];
        let buffers = self.all();
        std::array::from_fn(|binding| (names[binding], buffers[binding]))
    }

    /// In the order of their bindings.
    #[must_use]
    pub fn all(&self) -> [&wgpu::Buffer; 5] {
        [&self.header, &self.nodes, &self.children, &self.bricks, &self.colors]
    }

    /// The stages that see them. Vertex shaders of some devices have no storage buffers, and WebGPU
    /// has no other stages.
    pub const STAGES: wgpu::ShaderStages =
        wgpu::ShaderStages::COMPUTE.union(wgpu::ShaderStages::FRAGMENT);

    /// The bind group layout of all of them, for other pipelines. In each of the
    /// [`STAGES`](Self::STAGES) four storage buffers and one uniform count towards its limits.
    #[must_use]
    pub fn layout(device: &Device) -> wgpu::BindGroupLayout {
        let bindings = kernels::bindings(&scene_source(0));
        group_layout(&device.device, Some("scene"), &bindings, 0, Self::STAGES)
    }

    /// The bind group of all of them, with the [`layout`](Self::layout).
    #[must_use]
    pub fn bind_group(&self, device: &Device) -> wgpu::BindGroup {
        let entries = self.all().into_iter().zip(0..).map(|(buffer, binding)| {
            wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
        });
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &Self::layout(device),
            entries: &entries.collect::<Vec<_>>(),
        })
    }
}

/// A scene in GPU memory, which is freed on drop.
#[derive(Debug)]
pub struct GpuScene {
    device: Device,
    buffers: SceneBuffers,
}

impl GpuScene {
    /// Copies a scene, with the colours of its voxels, to the GPU.
    ///
    /// # Errors
    /// A buffer exceeds the adapter's binding limit; the device fails.
    pub fn upload(device: &Device, scene: &Scene) -> Result<Self, GpuError> {
        let nodes: &[Node] = if scene.nodes.is_empty() { &[Node::EMPTY] } else { &scene.nodes };
        let mut bricks = Vec::with_capacity(BRICK_WORDS * scene.bricks().len());
        for (key, mask) in scene.bricks() {
            let [x, y, z] = key.position();
            bricks.extend([x | y << 16, z]);
            bricks.extend_from_slice(bytemuck::cast_slice(mask));
        }
        let colors = scene.grid().colors.as_ref();
        let own = colors.filter(|colors| !colors.is_uniform());
        let [lo, hi] = scene.bounds().unwrap_or_default();
        let header = Header {
            version: SCENE_VERSION,
            top: scene.top,
            root: (scene.nodes.len() as u32).wrapping_sub(1),
            rest: u32::from_le_bytes(colors.map_or(DEFAULT_COLOR, Colors::rest)),
            lo: lo.map(|c| c as i32),
            bricks: scene.bricks().len() as u32,
            hi: hi.map(|c| c as i32),
            has_colors: u32::from(own.is_some()),
        };
        let colors = own.map(|colors| color_words(scene, colors)).unwrap_or_default();
        let storage = |label, bytes: &[u8]| device.filled(label, bytes, Usage::STORAGE);
        let upload = || {
            Ok(SceneBuffers {
                header: device.filled("scene", bytemuck::bytes_of(&header), Usage::UNIFORM)?,
                nodes: storage("nodes", bytemuck::cast_slice(nodes))?,
                children: storage("children", bytemuck::cast_slice(&scene.children))?,
                bricks: storage("bricks", bytemuck::cast_slice(&bricks))?,
                colors: storage("colours", bytemuck::cast_slice(&colors))?,
            })
        };
        Ok(Self { device: device.clone(), buffers: device.in_scopes(upload)?? })
    }

    /// The buffers, to bind them in other stages on the same device.
    #[must_use]
    pub fn buffers(&self) -> &SceneBuffers {
        &self.buffers
    }

    /// The device that holds it.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The first voxel that each ray touches, equal to [`Scene::first_hit`].
    ///
    /// # Errors
    /// The kernel fails its self-test, which precedes its first use; the device fails.
    pub async fn first_hits_async(&self, rays: &[Ray]) -> Result<Vec<Option<Hit>>, GpuError> {
        self_test::rays(&self.device).await?;
        let mut hits = Vec::with_capacity(rays.len());
        for rays in rays.chunks(MAX_PASS_RAYS as usize) {
            let words = self.device.scoped(self.hit_words(rays)).await?;
            let found = words.as_chunks::<HIT_WORDS>().0;
            if found.iter().any(|words| words[2] == GAVE_UP) {
                return Err(gave_up());
            }
            hits.par_extend(rays.par_iter().zip(found).map(|(ray, words)| hit(ray, words)));
        }
        Ok(hits)
    }

    /// The blocking form of [`first_hits_async`](Self::first_hits_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn first_hits(&self, rays: &[Ray]) -> Result<Vec<Option<Hit>>, GpuError> {
        self.device.block_on(self.first_hits_async(rays))
    }

    async fn hit_words(&self, rays: &[Ray]) -> Result<Vec<u32>, GpuError> {
        let device = &self.device;
        let words = rays.par_iter().map(|ray| {
            let (origin, direction) = ray.in_units();
            line_words(origin, direction)
        });
        let list: Vec<[u32; RAY_WORDS]> = words.collect();
        let hit_words = (rays.len() * HIT_WORDS) as u64;
        let params = [rays.len() as u32, MAX_GROUPS, 0, 0];
        let params = device.filled("params", bytemuck::bytes_of(&params), Usage::UNIFORM)?;
        let list = device.filled("rays", bytemuck::cast_slice(&list), Usage::STORAGE)?;
        let found = device.buffer("hits", hit_words, Usage::STORAGE | Usage::COPY_SRC);
        let staging = device.staging(hit_words);
        let own = [("params", &params), ("rays", &list), ("hits", &found)];
        let buffers = [&own[..], &self.buffers.named()].concat();
        let mut encoder = device.encoder();
        let groups = (rays.len() as u32).div_ceil(RAY_GROUP);
        device.record(&mut encoder, kernels::FIRST_HITS, &buffers, groups)?;
        encoder.copy_buffer_to_buffer(&found, 0, &staging, 0, 4 * hit_words);
        device.submit_and_read_async(encoder, &staging).await
    }
}

/// The error for a driver that ended a shader loop early.
pub(crate) fn gave_up() -> GpuError {
    GpuError::Device(
        "its driver ended the search for a voxel early, as llvmpipe does: use the CPU".into(),
    )
}

/// For each brick the word offset of its colours, or 0; then the colours.
fn color_words(scene: &Scene, colors: &Colors) -> Vec<u32> {
    let mut words = vec![0; scene.bricks().len()];
    for (index, (key, mask)) in scene.bricks().enumerate() {
        let of_brick = colors.of_brick(key);
        if !of_brick.differs_from_rest() {
            continue;
        }
        words[index] = words.len() as u32;
        words.reserve(count(mask) as usize);
        let own = mask_places(*mask).map(|(x, bit)| u32::from_le_bytes(of_brick.at(x, bit)));
        words.extend(own);
    }
    words
}

/// An origin and a direction, as the shaders read them.
pub(crate) fn line_words(origin: [i64; 3], direction: [i32; 3]) -> [u32; RAY_WORDS] {
    let [[a, b], [c, d], [e, f]] = origin.map(halves);
    let [x, y, z] = direction.map(|c| c as u32);
    [a, b, c, d, e, f, x, y, z]
}

/// The low and the high half of a number.
pub(crate) fn halves(number: i64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn hit(ray: &Ray, &[xy, z, face, low, high, length]: &[u32; HIT_WORDS]) -> Option<Hit> {
    let voxel = [xy & 0xffff, xy >> 16, z].map(|c| c as i32);
    let distance = i64::from(low) | i64::from(high as i32) << 32;
    let touch = Touch { voxel, time: Time { distance, length: i64::from(length) } };
    let hit = (face != NO_HIT).then(|| touch.hit(ray));
    debug_assert!(
        hit.is_none_or(|hit| hit.face.map_or(6, Face::number) == face as usize),
        "face {face} of {hit:?}"
    );
    hit
}
