// Shared by the stages that build a scene's tree over bricks on the GPU, bottom-up by levels. The
// items of a level are the cells of its nodes: bricks, or the nodes one level down.

// Invocations per workgroup.
const GROUP: u32 = 256u;

struct Params {
    // Number of items, and words per item in `items`. The first two are its position: x in the low
    // and y in the high 16 bits of the first, z in the second.
    items: u32,
    item_words: u32,
    // Index of the first item, as stored in `children`, and of the first node.
    first_item: u32,
    first_node: u32,
    // Number of nodes of the level.
    nodes: u32,
    // 1 if the items are nodes.
    are_nodes: u32,
    // Size of the hash table minus 1; the size is a power of two, at least twice the number of
    // items.
    table_mask: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;

// Words of a node, and word offsets in it.
const NODE_WORDS: u32 = 38u;
const BEFORE: u32 = 32u;
const FIRST: u32 = 36u;
const PARENT: u32 = 37u;

fn index_of(group: vec3<u32>, lane: u32) -> u32 {
    return (group.y * params.max_groups + group.x) * GROUP + lane;
}

// Packed as in an item.
fn position_of(item: u32) -> vec2<u32> {
    let word = item * params.item_words;
    return vec2<u32>(items[word], items[word + 1u]);
}

// The position of an item's node, packed likewise.
fn node_position_of(item: u32) -> vec2<u32> {
    return (position_of(item) >> vec2<u32>(3u)) & vec2<u32>(0x1fff1fffu);
}

// The item's word and bit in the masks of its node.
fn bit_of_item(item: u32) -> vec2<u32> {
    let at = position_of(item);
    let v = vec3<u32>(at.x, at.x >> 16u, at.y) & vec3<u32>(7u);
    return vec2<u32>(2u * v.x + (v.y >> 2u), 8u * (v.y & 3u) + v.z);
}
