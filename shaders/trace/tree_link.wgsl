// Stage: lists every brick, and every node with bricks, among the children of its node.
// Dispatch: one invocation per brick that the buffer may hold, or node, whichever are more.
//
// #import trace/tree
// #import trace/tree_bricks

@group(0) @binding(3) var<storage, read> nodes: array<u32>;
@group(0) @binding(4) var<storage, read_write> children: array<u32>;

// Lists `child`, a cell of a node of `level`, if it has bricks.
fn link(cell: vec3<u32>, level: u32, child: u32) {
    let node = node_index(Place(cell >> vec3<u32>(3u), level)) * NODE_WORDS;
    let bit = bit_of_cell(cell);
    if ((nodes[node + bit.x] >> bit.y) & 1u) == 0u {
        return;
    }
    let x = bit.x >> 1u;
    var rank = (nodes[node + BEFORE + (x >> 1u)] >> (16u * (x & 1u))) & 0xffffu;
    if (bit.x & 1u) == 1u {
        rank += countOneBits(nodes[node + bit.x - 1u]);
    }
    rank += countOneBits(nodes[node + bit.x] & ((1u << bit.y) - 1u));
    children[nodes[node + FIRST] + rank] = child;
}

@compute @workgroup_size(GROUP)
fn tree_link(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index < brick_count() {
        link(brick_at(index), 1u, index);
    }
    if index < params.nodes {
        let place = place_of(index);
        if place.level < params.top {
            link(place.position, place.level + 1u, index);
        }
    }
}
