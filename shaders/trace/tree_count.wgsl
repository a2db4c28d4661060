// Stage: counts the cells of every node, allocates its range of `children`, and writes the header.
// Dispatch: one invocation per node.
//
// #import trace/tree

@group(0) @binding(3) var<storage, read_write> nodes: array<u32>;
@group(0) @binding(4) var<storage, read_write> header: array<u32>;

// Words of the header, and the root of a scene without bricks.
const HEADER_ROOT: u32 = 2u;
const HEADER_BRICKS: u32 = 7u;
const NO_NODES: u32 = 0xffffffffu;

@compute @workgroup_size(GROUP)
fn tree_count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index >= params.nodes {
        return;
    }
    if index == 0u {
        let bricks = brick_count();
        header[HEADER_ROOT] = select(params.nodes - 1u, NO_NODES, bricks == 0u);
        header[HEADER_BRICKS] = bricks;
    }
    let node = index * NODE_WORDS;
    var count = 0u;
    for (var x = 0u; x < 8u; x++) {
        let word = node + BEFORE + (x >> 1u);
        nodes[word] = nodes[word] | (count << (16u * (x & 1u)));
        count += countOneBits(nodes[node + 2u * x]) + countOneBits(nodes[node + 2u * x + 1u]);
    }
    if count > 0u {
        nodes[node + FIRST] = atomicAdd(&counters[CHILDREN], count);
    }
    let place = place_of(index);
    if place.level < params.top {
        let parent = Place(place.position >> vec3<u32>(3u), place.level + 1u);
        nodes[node + PARENT] = node_index(parent);
    }
}
