// Stage: sets the bit of every brick in the mask of its node, and of that in the node above.
// Dispatch: one invocation per brick that the buffer may hold.
//
// #import trace/tree
// #import trace/tree_bricks

@group(0) @binding(3) var<storage, read_write> nodes: array<atomic<u32>>;

@compute @workgroup_size(GROUP)
fn tree_fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index >= brick_count() {
        return;
    }
    var cell = brick_at(index);
    for (var level = 1u; level <= params.top; level++) {
        let bit = bit_of_cell(cell);
        cell = cell >> vec3<u32>(3u);
        let word = node_index(Place(cell, level)) * NODE_WORDS + bit.x;
        let mask = 1u << bit.y;
        // The invocation that set it sets those above.
        if (atomicLoad(&nodes[word]) & mask) != 0u || (atomicOr(&nodes[word], mask) & mask) != 0u {
            return;
        }
    }
}
