//! The tree over bricks that a GPU found and still has: made there, level by level from the lowest. The host
//! reads how many nodes each level has, and nothing else.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adapters::Device;
use crate::backend::gpu::data::{BRICK_WORDS, GROUP, KEY_WORDS, Stage, shader};
use crate::error::BackendError;
use crate::grid::PLAIN;
use crate::raymarch::gpu::{
    GpuScene, Header, MAX_GROUPS, NO_NODES, SCENE_VERSION, SceneBuffers, WordNode, bind_group,
    filled, packed, room,
};
use crate::raymarch::scene::top_of;

/// The stages.
pub const TREE_STAGES: [Stage; 4] = [
    ("tree_find", shader!("tree", "tree_find")),
    ("tree_fill", shader!("tree", "tree_fill")),
    ("tree_count", shader!("tree", "tree_count")),
    ("tree_link", shader!("tree", "tree_link")),
];

/// What each stage binds.
const BINDINGS: [&[u32]; TREE_STAGES.len()] =
    [&[0, 1, 2, 3, 4, 5, 6], &[0, 1, 4, 5, 7], &[0, 2, 7], &[0, 1, 4, 5, 7, 8]];

/// Words of a node.
pub const NODE_WORDS: u32 = (size_of::<WordNode>() / 4) as u32;

/// `Params` in the stages, where the fields are explained.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "explained where the shaders define them")]
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

/// The cells of the nodes of a level, and which node each is in.
struct Level {
    params: TreeParams,
    items: wgpu::Buffer,
    entries: wgpu::Buffer,
    numbers: wgpu::Buffer,
    /// Of the nodes.
    positions: wgpu::Buffer,
}

/// Makes the scene of a grid of `dims` with `count` bricks, in the layout that a scene has them.
pub(crate) fn scene_over(
    device: &Device,
    dims: [u32; 3],
    bricks: wgpu::Buffer,
    count: u32,
) -> Result<GpuScene, BackendError> {
    let top = top_of(dims);
    let mut builder = Builder::new(device)?;
    let mut levels: Vec<Level> = Vec::new();
    let mut nodes = 0;
    for _ in 0..if count > 0 { top } else { 0 } {
        let level = match levels.last() {
            None => builder.level(&bricks, BRICK_WORDS as u32, 0, count, nodes)?,
            Some(below) => {
                let TreeParams { first_node, nodes: items, .. } = below.params;
                builder.level(&below.positions, KEY_WORDS as u32, first_node, items, nodes)?
            }
        };
        nodes += level.params.nodes;
        levels.push(level);
    }
    let children: u32 = levels.iter().map(|level| level.params.items).sum();
    let node_words = u64::from(nodes.max(1)) * u64::from(NODE_WORDS);
    let nodes_there = room(device, "nodes", node_words, Usage::STORAGE)?;
    let children_there = room(device, "children", children.into(), Usage::STORAGE)?;
    for level in &levels {
        for stage in 1..TREE_STAGES.len() {
            builder.run(stage, level, &nodes_there, &children_there)?;
        }
    }
    let header = Header {
        version: SCENE_VERSION,
        top,
        root: if nodes > 0 { nodes - 1 } else { NO_NODES },
        rest: packed(PLAIN),
        lo: [0; 3],
        bricks: count,
        hi: dims.map(|d| d as i32 - 1),
        has_colors: 0,
    };
    let buffers = SceneBuffers {
        header: filled(device, "scene", bytemuck::bytes_of(&header), Usage::UNIFORM)?,
        nodes: nodes_there,
        children: children_there,
        bricks,
        colors: room(device, "colours", 1, Usage::STORAGE)?,
    };
    GpuScene::new(device, buffers)
}

struct Builder<'a> {
    device: &'a Device,
    /// The nodes of a level, and the children of all.
    counters: wgpu::Buffer,
    /// For what a stage does not use.
    nothing: wgpu::Buffer,
}

impl<'a> Builder<'a> {
    fn new(device: &'a Device) -> Result<Self, BackendError> {
        let counters = room(device, "counters", 2, Usage::STORAGE)?;
        let nothing = room(device, "nothing", 1, Usage::STORAGE)?;
        Ok(Self { device, counters, nothing })
    }

    /// Finds the nodes that `items` are in, so many from `first_item` on; `first_node` is the number of the
    /// first of them.
    fn level(
        &mut self,
        items: &wgpu::Buffer,
        item_words: u32,
        first_item: u32,
        count: u32,
        first_node: u32,
    ) -> Result<Level, BackendError> {
        // Twice as many entries as items, so that at most half are taken.
        let table_size = (2 * u64::from(count)).next_power_of_two();
        let table = room(self.device, "table", table_size, Usage::STORAGE)?;
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
            entries: room(self.device, "entries", count.into(), Usage::STORAGE)?,
            numbers: room(self.device, "numbers", table_size, Usage::STORAGE)?,
            positions: room(self.device, "positions", 2 * u64::from(count), Usage::STORAGE)?,
        };
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.counters, 0, Some(4));
        self.record(&mut encoder, 0, &level, &table, [&self.nothing; 2])?;
        let staging = self.device.buffer("staging", 1, Usage::MAP_READ | Usage::COPY_DST);
        encoder.copy_buffer_to_buffer(&self.counters, 0, &staging, 0, 4);
        level.params.nodes = self.device.submit_and_read(encoder, &staging)?[0];
        Ok(level)
    }

    fn run(
        &self,
        stage: usize,
        level: &Level,
        nodes: &wgpu::Buffer,
        children: &wgpu::Buffer,
    ) -> Result<(), BackendError> {
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        self.record(&mut encoder, stage, level, &self.nothing, [nodes, children])?;
        self.device.queue.submit([encoder.finish()]);
        self.device.check()
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        stage: usize,
        level: &Level,
        table: &wgpu::Buffer,
        [nodes, children]: [&wgpu::Buffer; 2],
    ) -> Result<(), BackendError> {
        let Level { params, items, entries, numbers, positions } = level;
        let (name, _) = TREE_STAGES[stage];
        let invocations = if name == "tree_count" { params.nodes } else { params.items };
        let groups = invocations.div_ceil(GROUP);
        let max_groups = groups.clamp(1, MAX_GROUPS);
        let params = TreeParams { max_groups, ..*params };
        let params = filled(self.device, "params", bytemuck::bytes_of(&params), Usage::UNIFORM)?;
        let counters = &self.counters;
        let all = [&params, items, counters, table, entries, numbers, positions, nodes, children];
        let pipeline = &self.device.pipeline(TREE_STAGES[stage]);
        let bound = bind_group(self.device, pipeline, 0, &all, |n| BINDINGS[stage].contains(&n));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bound, &[]);
        pass.dispatch_workgroups(max_groups, groups.div_ceil(max_groups), 1);
        Ok(())
    }
}
