//! Builds the tree of a scene over bricks in GPU memory. Its buffers have fixed sizes, and its
//! stages take the number of bricks from the counters of voxelization: the host neither waits nor
//! reads.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::backend::gpu::buffers::Buffers;
use crate::gpu::{Device, GROUP, GpuError, Kernel, MAX_GROUPS, kernels};
use crate::grid::{BRICK, DEFAULT_COLOR};
use crate::view::gpu::{GpuScene, Header, NO_NODES, SCENE_VERSION, SceneBuffers};
use crate::view::trace::scene::{Node, top_of};

/// Words of a node.
pub const NODE_WORDS: u32 = (size_of::<Node>() / 4) as u32;

/// `Params` in `shaders/trace/tree.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct TreeParams {
    pub bricks: [u32; 3],
    pub top: u32,
    pub nodes: u32,
    pub max_groups: u32,
    pub padding: [u32; 2],
}

/// A scene, and the stages that fill its buffers from its bricks.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) scene: GpuScene,
    /// [`TreeParams`], a uniform.
    pub(crate) params: wgpu::Buffer,
    /// Each stage's kernel and number of invocations.
    stages: [(Kernel, u32); 3],
}

impl Tree {
    /// The tree of a grid of `dims`, over the bricks in the buffers of the voxelization, which
    /// counts them. With room for the colours of so many `voxels`; no voxels have colours if it is
    /// 0. The bricks of a solid are filled.
    pub(crate) fn new(
        device: &Device,
        dims: [u32; 3],
        found: &Buffers,
        voxels: u32,
        is_solid: bool,
    ) -> Result<Self, GpuError> {
        let capacity = found.sizes.bricks;
        let top = top_of(dims);
        let nodes: u64 = (1..=top).map(|level| nodes_on(dims, level)).sum();
        // Nodes that may be children: at most `top - 1` above each brick; of a solid also those
        // with full cells only.
        let upper = if is_solid {
            nodes - 1
        } else {
            (nodes - 1).min(u64::from(top - 1) * u64::from(capacity))
        };
        let header = Header {
            version: SCENE_VERSION,
            top,
            root: NO_NODES,
            rest: u32::from_le_bytes(DEFAULT_COLOR),
            lo: [0; 3],
            bricks: 0,
            hi: dims.map(|d| d as i32 - 1),
            has_colors: u32::from(voxels > 0),
        };
        let storage = |label, words| device.checked_buffer(label, words, Usage::STORAGE);
        let color_words = if voxels > 0 { u64::from(capacity) + u64::from(voxels) } else { 1 };
        let header_usage = Usage::UNIFORM | Usage::STORAGE;
        let buffers = SceneBuffers {
            nodes: storage("nodes", nodes * u64::from(NODE_WORDS))?,
            header: device.filled("scene", bytemuck::bytes_of(&header), header_usage)?,
            children: storage("children", u64::from(capacity) + upper)?,
            bricks: found.bricks.clone(),
            colors: storage("colours", color_words)?,
        };
        // Fits, since the buffer of the nodes could be made.
        let nodes = nodes as u32;
        let in_bricks = dims.map(|d| d.div_ceil(BRICK));
        let params =
            TreeParams { bricks: in_bricks, top, nodes, max_groups: MAX_GROUPS, padding: [0; 2] };
        let params = device.filled("params", bytemuck::bytes_of(&params), Usage::UNIFORM)?;
        let fill = if is_solid {
            (kernels::FILL_ROWS, in_bricks[1] * in_bricks[2])
        } else {
            (kernels::TREE_FILL, capacity)
        };
        let link = (kernels::TREE_LINK, capacity.max(nodes));
        let stages = [fill, (kernels::TREE_COUNT, nodes), link];
        Ok(Self { scene: GpuScene { device: device.clone(), buffers }, params, stages })
    }

    /// Records the stages, after the run that finds the bricks and clears the counter of children.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        found: &Buffers,
    ) -> Result<(), GpuError> {
        let GpuScene { device, buffers } = &self.scene;
        let named = [
            ("params", &self.params),
            ("counters", &found.counters),
            ("bricks", &found.bricks),
            ("bitmap", &found.bitmap),
            ("bricks_before", &found.bricks_before),
            ("nodes", &buffers.nodes),
            ("header", &buffers.header),
            ("children", &buffers.children),
        ];
        encoder.clear_buffer(&buffers.nodes, 0, None);
        for (kernel, invocations) in self.stages {
            device.record(encoder, kernel, &named, invocations.div_ceil(GROUP))?;
        }
        Ok(())
    }
}

/// Nodes of a level in a grid of `dims`.
fn nodes_on(dims: [u32; 3], level: u32) -> u64 {
    dims.map(|d| u64::from(d.div_ceil(BRICK << (3 * level)))).iter().product()
}
