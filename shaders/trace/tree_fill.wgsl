// Stage: sets the bit of every item in the mask of its node.
// Dispatch: one invocation per item.
//
// #import trace/tree

@group(0) @binding(4) var<storage, read> entry_of_item: array<u32>;
@group(0) @binding(5) var<storage, read> node_of_entry: array<u32>;
@group(0) @binding(7) var<storage, read_write> nodes: array<atomic<u32>>;

@compute @workgroup_size(GROUP)
fn tree_fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = index_of(group, lane);
    if item >= params.items {
        return;
    }
    let node = params.first_node + node_of_entry[entry_of_item[item]];
    let bit = bit_of_item(item);
    atomicOr(&nodes[node * NODE_WORDS + bit.x], 1u << bit.y);
}
