// Stage: counts the cells of every node, and allocates its range of `children`.
// Dispatch: one invocation per node.
//
// #import trace/tree

@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> nodes: array<u32>;

@compute @workgroup_size(GROUP)
fn tree_count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index >= params.nodes {
        return;
    }
    let node = (params.first_node + index) * NODE_WORDS;
    var count = 0u;
    for (var x = 0u; x < 8u; x++) {
        let word = node + BEFORE + (x >> 1u);
        nodes[word] = nodes[word] | (count << (16u * (x & 1u)));
        count += countOneBits(nodes[node + 2u * x]) + countOneBits(nodes[node + 2u * x + 1u]);
    }
    nodes[node + FIRST] = atomicAdd(&counters[1], count);
}
