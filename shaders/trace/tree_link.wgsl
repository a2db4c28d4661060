// Stage: links every item with its node, as a child.
// Dispatch: one invocation per item.
//
// #import trace/tree

@group(0) @binding(4) var<storage, read> entry_of_item: array<u32>;
@group(0) @binding(5) var<storage, read> node_of_entry: array<u32>;
@group(0) @binding(7) var<storage, read_write> nodes: array<u32>;
@group(0) @binding(8) var<storage, read_write> children: array<u32>;

@compute @workgroup_size(GROUP)
fn tree_link(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = index_of(group, lane);
    if item >= params.items {
        return;
    }
    let index = params.first_node + node_of_entry[entry_of_item[item]];
    let node = index * NODE_WORDS;
    let bit = bit_of_item(item);
    let x = bit.x >> 1u;
    var rank = (nodes[node + BEFORE + (x >> 1u)] >> (16u * (x & 1u))) & 0xffffu;
    if (bit.x & 1u) == 1u {
        rank += countOneBits(nodes[node + bit.x - 1u]);
    }
    rank += countOneBits(nodes[node + bit.x] & ((1u << bit.y) - 1u));
    children[nodes[node + FIRST] + rank] = params.first_item + item;
    if params.are_nodes == 1u {
        nodes[(params.first_item + item) * NODE_WORDS + PARENT] = index;
    }
}
