// Stage: appends every triangle to the pair list of its start level.
// Dispatch: one invocation per triangle.
//
// A triangle within one brick starts there, at level 0. Any other starts at the lowest level,
// bricks or above, at which its bounding box touches at most START_NODES nodes: small triangles
// start at bricks, and no triangle starts with more than START_NODES candidates below the top
// level.
//
// #import voxelize/counters
// #import voxelize/candidates
// #import voxelize/mesh

@group(0) @binding(13) var<storage, read_write> pairs_0: array<Pair>;
@group(0) @binding(14) var<storage, read_write> pairs_1: array<Pair>;
@group(0) @binding(15) var<storage, read_write> pairs_2: array<Pair>;
@group(0) @binding(16) var<storage, read_write> pairs_3: array<Pair>;
@group(0) @binding(17) var<storage, read_write> pairs_4: array<Pair>;
@group(0) @binding(18) var<storage, read_write> pairs_5: array<Pair>;

const START_NODES: u32 = 512u;

// The number of this workgroup's triangles that start at each level, and their first list index.
var<workgroup> starting: array<atomic<u32>, LEVELS>;
var<workgroup> starting_base: array<u32, LEVELS>;

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

// The first pair of a triangle; `candidates` is 0 if it misses the region, or all voxel centres.
fn start_of(id: u32, triangle: Triangle, level: u32) -> Pair {
    if level > 0u {
        return Pair(id, 0u, NO_NODE, node_count(nodes_in_bounds(triangle, level)));
    }
    let brick = all_nodes_in_bounds(triangle, 1u).lo;
    let packed = pack_node(brick);
    return Pair(id, packed.x, packed.y, count_in_node(triangle, brick, 0u));
}

fn store_pair(level: u32, slot: u32, pair: Pair) {
    switch level {
        case 0u: { pairs_0[slot] = pair; }
        case 1u: { pairs_1[slot] = pair; }
        case 2u: { pairs_2[slot] = pair; }
        case 3u: { pairs_3[slot] = pair; }
        case 4u: { pairs_4[slot] = pair; }
        default: { pairs_5[slot] = pair; }
    }
}

@compute @workgroup_size(GROUP)
fn seed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    var level = 0u;
    var pair = Pair(0u, 0u, 0u, 0u);
    var rank = 0u;
    if index < params.triangle_count {
        let id = params.first_triangle + index;
        let triangle = shifted_triangle_at(id);
        level = start_level(triangle);
        pair = start_of(id, triangle, level);
    }
    // One atomic addition per workgroup and level, not per triangle.
    if pair.candidates > 0u {
        rank = atomicAdd(&starting[level], 1u);
    }
    workgroupBarrier();
    if lane < LEVELS {
        let count = atomicLoad(&starting[lane]);
        if count > 0u {
            starting_base[lane] = atomicAdd(&counters[PAIRS + lane], count);
            atomicAdd(&counters[STARTED + lane], count);
        }
    }
    workgroupBarrier();
    let slot = starting_base[level] + rank;
    if (pair.candidates > 0u) && (slot < capacity_of(level)) {
        store_pair(level, slot, pair);
    }
}
