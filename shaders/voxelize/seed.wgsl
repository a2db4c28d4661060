// Stage: appends every triangle to the pair list of its start level.
// Dispatch: one invocation per triangle.
//
// A triangle within one brick starts there, at level 0. Any other starts at the lowest level,
// bricks or above, at which its bounding box touches at most START_NODES nodes: small triangles
// start at bricks, and no triangle starts with more than START_NODES candidates below the top
// level.
//
// #import voxelize/candidates
// #import voxelize/mesh
// #import voxelize/append

const START_NODES: u32 = 512u;

fn start_level(triangle: Triangle) -> u32 {
    let bricks = all_nodes_in_bounds(triangle, 1u);
    if all(bricks.lo == bricks.hi) {
        return 0u;
    }
    var level = 1u;
    while (level < params.top_level)
        && (node_count(nodes_in_bounds(triangle, level)) > START_NODES) {
        level++;
    }
    return level;
}

// The pair with which a triangle starts. It has no candidates if the triangle misses the region, or
// all voxel centres.
fn start_of(id: u32, triangle: Triangle, level: u32) -> Pair {
    if level > 0u {
        return new_pair(id, vec2<u32>(0u, NO_NODE), node_count(nodes_in_bounds(triangle, level)));
    }
    return pair_of(id, triangle, all_nodes_in_bounds(triangle, 1u).lo, 0u);
}

@compute @workgroup_size(GROUP)
fn seed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group_index(group) * GROUP + lane;
    var level = 0u;
    var pair = NO_PAIR;
    if index < params.triangle_count {
        let id = params.first_triangle + index;
        let triangle = shifted_triangle_at(id);
        level = start_level(triangle);
        pair = start_of(id, triangle, level);
    }
    append_pair(lane, level, pair);
    if lane < LEVELS {
        atomicAdd(&counters[STARTED + lane], atomicLoad(&blocks[lane]) >> CANDIDATE_BITS);
    }
}
