// Stage: the triangles that start at this level join its pairs.
//
// A triangle starts at the lowest level, bricks or above, at which its bounding box touches at
// most START_NODES nodes: small triangles start at bricks, and no triangle expands by its volume.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> pairs: array<Pair>;

const START_NODES: u32 = 512u;

fn starts_here(triangle: Triangle) -> bool {
    let level = params.level;
    let low_enough = (level == 1u) || (node_count(nodes_in_bounds(triangle, level - 1u)) > START_NODES);
    let few_enough = (level == params.top_level)
        || (node_count(nodes_in_bounds(triangle, level)) <= START_NODES);
    return low_enough && few_enough;
}

// One invocation per triangle.
@compute @workgroup_size(GROUP)
fn seed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    if index >= params.triangle_count {
        return;
    }
    let id = params.first_triangle + index;
    let triangle = triangle_at(id);
    let candidates = node_count(nodes_in_bounds(triangle, params.level));
    if (candidates == 0u) || !starts_here(triangle) {
        return;
    }
    let slot = atomicAdd(&counters[PAIRS + params.level], 1u);
    if slot < params.pair_capacity {
        pairs[slot] = Pair(id, 0u, NO_NODE, candidates);
    }
}
