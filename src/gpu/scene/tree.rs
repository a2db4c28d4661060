//! Builds the tree of a scene over bricks in GPU memory, bottom-up by levels. The host reads back
//! only the number of nodes of each level.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::gpu::GpuError;
use crate::gpu::scene::{
    GpuScene, Header, NO_NODES, SCENE_VERSION, SceneBuffers, WordNode, packed,
};
use crate::gpu::{BRICK_WORDS, Device, GROUP, KEY_WORDS, Kernel, MAX_GROUPS, kernels};
use crate::grid::DEFAULT_COLOR;
use crate::view::trace::scene::top_of;

/// Words of a node.
pub const NODE_WORDS: u32 = (size_of::<WordNode>() / 4) as u32;

/// `Params` in `shaders/trace/tree.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct TreeParams {
    pub items: u32,
    pub item_words: u32,
    pub first_item: u32,
    pub first_node: u32,
    pub nodes: u32,
    pub are_nodes: u32,
    pub table_mask: u32,
    pub max_groups: u32,
}

/// The items of a level, which are the cells of its nodes, and the node of each.
struct Level {
    params: TreeParams,
    items: wgpu::Buffer,
    entry_of_item: wgpu::Buffer,
    node_of_entry: wgpu::Buffer,
    /// Positions of the nodes.
    positions: wgpu::Buffer,
}

/// Builds the scene of a grid of `dims` from `count` bricks in a scene's layout.
pub(super) async fn scene_over(
    device: &Device,
    dims: [u32; 3],
    bricks: wgpu::Buffer,
    count: u32,
) -> Result<GpuScene, GpuError> {
    let top = top_of(dims);
    let builder = Builder::new(device)?;
    let mut levels: Vec<Level> = Vec::new();
    let mut nodes = 0;
    for _ in 0..if count > 0 { top } else { 0 } {
        let level = match levels.last() {
            None => builder.level(&bricks, BRICK_WORDS as u32, 0, count, nodes).await?,
            Some(below) => {
                let TreeParams { first_node, nodes: items, .. } = below.params;
                let words = KEY_WORDS as u32;
                builder.level(&below.positions, words, first_node, items, nodes).await?
            }
        };
        nodes += level.params.nodes;
        levels.push(level);
    }
    let children: u32 = levels.iter().map(|level| level.params.items).sum();
    let node_words = u64::from(nodes.max(1)) * u64::from(NODE_WORDS);
    let node_buffer = device.checked_buffer("nodes", node_words, Usage::STORAGE)?;
    let child_buffer = device.checked_buffer("children", children.into(), Usage::STORAGE)?;
    for level in &levels {
        for kernel in [kernels::TREE_FILL, kernels::TREE_COUNT, kernels::TREE_LINK] {
            builder.run(kernel, level, &node_buffer, &child_buffer)?;
        }
    }
    let header = Header {
        version: SCENE_VERSION,
        top,
        root: if nodes > 0 { nodes - 1 } else { NO_NODES },
        rest: packed(DEFAULT_COLOR),
        lo: [0; 3],
        bricks: count,
        hi: dims.map(|d| d as i32 - 1),
        has_colors: 0,
    };
    let buffers = SceneBuffers {
        header: device.filled("scene", bytemuck::bytes_of(&header), Usage::UNIFORM)?,
        nodes: node_buffer,
        children: child_buffer,
        bricks,
        colors: device.checked_buffer("colours", 1, Usage::STORAGE)?,
    };
    GpuScene::new(device, buffers)
}

struct Builder<'a> {
    device: &'a Device,
    /// The number of nodes of the level, and of children of all levels.
    counters: wgpu::Buffer,
}

impl<'a> Builder<'a> {
    fn new(device: &'a Device) -> Result<Self, GpuError> {
        let counters = device.checked_buffer("counters", 2, Usage::STORAGE)?;
        Ok(Self { device, counters })
    }

    /// Finds the nodes of `count` items. `first_item` and `first_node` are the indices of the first
    /// item and of the first node of the level.
    async fn level(
        &self,
        items: &wgpu::Buffer,
        item_words: u32,
        first_item: u32,
        count: u32,
        first_node: u32,
    ) -> Result<Level, GpuError> {
        // At least twice as many entries as items: the table is at most half full.
        let table_size = (2 * u64::from(count)).next_power_of_two();
        let table = self.device.checked_buffer("table", table_size, Usage::STORAGE)?;
        let params = TreeParams {
            items: count,
            item_words,
            first_item,
            first_node,
            nodes: 0,
            are_nodes: u32::from(item_words == KEY_WORDS as u32),
            table_mask: (table_size - 1) as u32,
            max_groups: MAX_GROUPS,
        };
        let mut level = Level {
            params,
            items: items.clone(),
            entry_of_item: self.device.checked_buffer(
                "entry_of_item",
                count.into(),
                Usage::STORAGE,
            )?,
            node_of_entry: self.device.checked_buffer(
                "node_of_entry",
                table_size,
                Usage::STORAGE,
            )?,
            positions: self.device.checked_buffer(
                "positions",
                2 * u64::from(count),
                Usage::STORAGE,
            )?,
        };
        let mut encoder = self.device.encoder();
        encoder.clear_buffer(&self.counters, 0, Some(4));
        self.record(&mut encoder, kernels::TREE_FIND, &level, &[("table", &table)])?;
        let staging = self.device.staging(1);
        encoder.copy_buffer_to_buffer(&self.counters, 0, &staging, 0, 4);
        level.params.nodes = self.device.submit_and_read_async(encoder, &staging).await?[0];
        Ok(level)
    }

    fn run(
        &self,
        kernel: Kernel,
        level: &Level,
        nodes: &wgpu::Buffer,
        children: &wgpu::Buffer,
    ) -> Result<(), GpuError> {
        let mut encoder = self.device.encoder();
        self.record(&mut encoder, kernel, level, &[("nodes", nodes), ("children", children)])?;
        self.device.queue.submit([encoder.finish()]);
        self.device.check()
    }

    /// Records a kernel over a level; `more` are the buffers that are not of the level.
    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        kernel: Kernel,
        level: &Level,
        more: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), GpuError> {
        let Level { params, items, entry_of_item, node_of_entry, positions } = level;
        let is_count = kernel.name() == kernels::TREE_COUNT.name();
        let invocations = if is_count { params.nodes } else { params.items };
        let params = bytemuck::bytes_of(params);
        let params = self.device.filled("params", params, Usage::UNIFORM)?;
        let own = [
            ("params", &params),
            ("items", items),
            ("counters", &self.counters),
            ("entry_of_item", entry_of_item),
            ("node_of_entry", node_of_entry),
            ("positions", positions),
        ];
        let buffers = [&own[..], more].concat();
        self.device.record(encoder, kernel, &buffers, invocations.div_ceil(GROUP))
    }
}
