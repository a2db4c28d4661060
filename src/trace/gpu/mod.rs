//! A scene in the memory of a GPU, for kernels that trace rays there, ours or others'.
//!
//! # The layout
//! Five buffers, version 1 of a layout that [`SCENE_SOURCE`] describes and reads: the header (a uniform), the
//! nodes, the children, the bricks and the colours. A shader that begins with this source, and binds the
//! buffers as its group 1, calls `first_hit(ray)`, which returns what [`Scene::first_hit`] does: the same
//! voxel, and the same time as a quotient of integers. Some drivers end loops early and say nothing:
//! `has_given_up()`, asked at the shader's end, tells.
//!
//! [`GpuScene::upload`] puts a host's scene there; [`Gpu::scene`](crate::Gpu::scene) voxelizes a mesh and leaves
//! the voxels where they are.

pub mod tree;

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::error::BackendError;
use crate::gpu::{BRICK_WORDS, Device, KEY_WORDS, MAX_GROUPS, kernels};
use crate::grid::{Colors, DEFAULT_COLOR, Mask, count};
use crate::srgb::Rgba;
use crate::trace::scene::{Node, Scene};
use crate::trace::traverse::{Time, Touch};
use crate::trace::{Face, Hit, Ray};

/// The version of the layout.
pub const SCENE_VERSION: u32 = 1;

/// WGSL files, one after the other.
macro_rules! files {
    ($($path:literal),+) => {
        concat!($(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path, ".wgsl")), "\n"
        ),+)
    };
}

/// The source that a shader of one's own begins with to follow rays: exact integers, the layout of a
/// scene, and `first_hit`. It is `trace/traverse` with its imports.
pub const SCENE_SOURCE: &str =
    files!("exact/int64", "trace/scene", "trace/rays", "trace/dda", "trace/traverse");

/// Invocations per workgroup of kernels that follow rays.
pub const RAY_GROUP: u32 = 64;

/// The number of the root of a scene without nodes.
pub const NO_NODES: u32 = u32::MAX;

/// Words of a ray, and of a hit, in the lists of [`FIRST_HITS`](kernels::FIRST_HITS).
pub const RAY_WORDS: usize = 9;
/// See [`RAY_WORDS`].
pub const HIT_WORDS: usize = 6;
/// In the place of a hit's face: there is no hit.
pub const NO_HIT: u32 = 7;
/// In the place of a hit's face: the driver ended the search.
pub const GAVE_UP: u32 = 8;

/// Most rays of one pass.
const MOST_RAYS: usize = 1 << 20;

/// `Scene` in the shaders, where the fields are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "explained where the shaders define them")]
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

/// `Node` in the shaders: that of a scene, in 32-bit words.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "explained where the shaders define them")]
pub struct WordNode {
    pub partial: [u32; 16],
    pub full: [u32; 16],
    pub before: [u32; 4],
    pub first: u32,
    pub parent: u32,
}

impl From<&Node> for WordNode {
    fn from(node: &Node) -> Self {
        let Node { partial, full, before, first, parent } = *node;
        let before =
            [0, 1, 2, 3].map(|i| u32::from(before[2 * i]) | u32::from(before[2 * i + 1]) << 16);
        Self { partial: words(&partial), full: words(&full), before, first, parent }
    }
}

/// Low halves first.
fn words(mask: &Mask) -> [u32; 16] {
    std::array::from_fn(|i| (mask[i / 2] >> (32 * (i % 2))) as u32)
}

/// The buffers of a scene, in the order of their bindings in group 1.
#[derive(Debug, Clone)]
pub struct SceneBuffers {
    /// A [`Header`]; a uniform.
    pub header: wgpu::Buffer,
    /// [`WordNode`]s.
    pub nodes: wgpu::Buffer,
    /// Words.
    pub children: wgpu::Buffer,
    /// 18 words each.
    pub bricks: wgpu::Buffer,
    /// Words.
    pub colors: wgpu::Buffer,
}

impl SceneBuffers {
    /// By the names of the variables that the kernels bind them to.
    pub(crate) fn named(&self) -> [(&'static str, &wgpu::Buffer); 5] {
        let [scene, nodes, children, bricks, colors] = self.all();
        [
            ("scene", scene),
            ("nodes", nodes),
            ("children", children),
            ("scene_bricks", bricks),
            ("colors", colors),
        ]
    }

    /// In the order of their bindings.
    #[must_use]
    pub fn all(&self) -> [&wgpu::Buffer; 5] {
        [&self.header, &self.nodes, &self.children, &self.bricks, &self.colors]
    }

    /// The layout of the group of all of them, for pipelines of one's own.
    #[must_use]
    pub fn layout(device: &Device) -> wgpu::BindGroupLayout {
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::all(),
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage { read_only: true },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("scene"),
            entries: &[0, 1, 2, 3, 4].map(entry),
        })
    }

    /// The group of all of them, of that [`layout`](Self::layout).
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

/// A scene in a GPU's memory. It stays there until this is dropped.
#[derive(Debug)]
pub struct GpuScene {
    device: Device,
    buffers: SceneBuffers,
}

impl GpuScene {
    /// Copies a scene there, with the colours of its voxels.
    ///
    /// # Errors
    /// A part is larger than the adapter binds at once; the device fails.
    pub fn upload(device: &Device, scene: &Scene) -> Result<Self, BackendError> {
        let nodes: Vec<WordNode> = scene.nodes().iter().map(WordNode::from).collect();
        let nodes = if nodes.is_empty() { vec![WordNode::zeroed()] } else { nodes };
        let mut bricks = Vec::with_capacity(BRICK_WORDS * scene.bricks().len());
        for (key, mask) in scene.bricks() {
            let [x, y, z] = key.position();
            bricks.extend([x | y << 16, z]);
            bricks.extend(words(mask));
        }
        debug_assert_eq!(bricks.len() % BRICK_WORDS, 0, "keys have {KEY_WORDS} words");
        let colors = scene.grid().colors.as_ref();
        let own = colors.filter(|colors| !colors.is_uniform());
        let [lo, hi] = scene.bounds().unwrap_or_default();
        let header = Header {
            version: SCENE_VERSION,
            top: scene.top(),
            root: (scene.nodes().len() as u32).wrapping_sub(1),
            rest: packed(colors.map_or(DEFAULT_COLOR, Colors::rest)),
            lo: lo.map(|c| c as i32),
            bricks: scene.bricks().len() as u32,
            hi: hi.map(|c| c as i32),
            has_colors: u32::from(own.is_some()),
        };
        let colors = own.map(|colors| words_of_colors(scene, colors)).unwrap_or_default();
        let storage = |label, bytes: &[u8]| device.filled(label, bytes, Usage::STORAGE);
        let buffers = SceneBuffers {
            header: device.filled("scene", bytemuck::bytes_of(&header), Usage::UNIFORM)?,
            nodes: storage("nodes", bytemuck::cast_slice(&nodes))?,
            children: storage("children", bytemuck::cast_slice(scene.children()))?,
            bricks: storage("bricks", bytemuck::cast_slice(&bricks))?,
            colors: storage("colours", bytemuck::cast_slice(&colors))?,
        };
        Self::new(device, buffers)
    }

    /// Of `count` bricks of a grid of `dims` that are there already, as voxelizing leaves them.
    pub(crate) async fn over_bricks(
        device: &Device,
        dims: [u32; 3],
        bricks: wgpu::Buffer,
        count: u32,
    ) -> Result<Self, BackendError> {
        tree::scene_over(device, dims, bricks, count).await
    }

    /// Of buffers that have the layout.
    fn new(device: &Device, buffers: SceneBuffers) -> Result<Self, BackendError> {
        device.check()?;
        Ok(Self { device: device.clone(), buffers })
    }

    /// The buffers, to bind them in other stages on the same device.
    #[must_use]
    pub fn buffers(&self) -> &SceneBuffers {
        &self.buffers
    }

    /// Where it is.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The first voxel that each ray touches: what [`Scene::first_hit`] finds.
    ///
    /// # Errors
    /// The device fails.
    pub async fn first_hits_async(&self, rays: &[Ray]) -> Result<Vec<Option<Hit>>, BackendError> {
        let mut hits = Vec::with_capacity(rays.len());
        for rays in rays.chunks(MOST_RAYS) {
            let words = self.hit_words(rays).await?;
            let found = words.as_chunks::<HIT_WORDS>().0.iter();
            if found.clone().any(|words| words[2] == GAVE_UP) {
                return Err(gave_up());
            }
            hits.extend(rays.iter().zip(found).map(|(ray, words)| hit(ray, words)));
        }
        Ok(hits)
    }

    /// [`first_hits_async`](Self::first_hits_async), and waits.
    ///
    /// # Errors
    /// The device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn first_hits(&self, rays: &[Ray]) -> Result<Vec<Option<Hit>>, BackendError> {
        self.device.block_on(self.first_hits_async(rays))
    }

    async fn hit_words(&self, rays: &[Ray]) -> Result<Vec<u32>, BackendError> {
        let device = &self.device;
        let list: Vec<[u32; RAY_WORDS]> = rays.iter().map(ray_words).collect();
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

/// The error for a driver that limits the loops of a shader and does not report it.
pub(crate) fn gave_up() -> BackendError {
    BackendError::Device(
        "its driver ended the search for a voxel early, as llvmpipe does: use the CPU".into(),
    )
}

pub(crate) fn packed(color: Rgba) -> u32 {
    u32::from_le_bytes(color)
}

/// For each brick the word at which its colours begin, or 0, then these.
fn words_of_colors(scene: &Scene, colors: &Colors) -> Vec<u32> {
    let mut words = vec![0; scene.bricks().len()];
    for (index, (key, mask)) in scene.bricks().enumerate() {
        let of_brick = colors.of_brick(key);
        if !of_brick.is_own() {
            continue;
        }
        words[index] = words.len() as u32;
        words.reserve(count(mask) as usize);
        for x in 0..8 {
            let bits = (0..64).filter(|bit| mask[x as usize] >> bit & 1 == 1);
            words.extend(bits.map(|bit| packed(of_brick.at(x, bit))));
        }
    }
    words
}

fn ray_words(ray: &Ray) -> [u32; RAY_WORDS] {
    let (origin, direction) = ray.in_units();
    let [[a, b], [c, d], [e, f]] = origin.map(halves);
    let [x, y, z] = direction.map(|c| c as u32);
    [a, b, c, d, e, f, x, y, z]
}

/// The low half of a number, and the high one.
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
