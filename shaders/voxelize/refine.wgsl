// Stage: tests every candidate node of this level, and lists those that their triangle touches as
// pairs of the level below; bricks without candidates are dropped.
// Dispatch: one invocation per (triangle, node) candidate.
//
// #import exact/touches
// #import voxelize/counters
// #import voxelize/candidates
// #import voxelize/mesh
// #import voxelize/load_balance

@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(7) var<storage, read_write> children: array<Pair>;

var<workgroup> kept: atomic<u32>;
var<workgroup> kept_base: u32;

// The child pair of a candidate; `candidates` is 0 if the node is not kept.
fn child_of(candidate: Candidate) -> Pair {
    if !candidate.exists {
        return Pair(0u, 0u, 0u, 0u);
    }
    let pair = pairs[candidate.pair];
    let triangle = shifted_triangle_at(pair.triangle);
    let node = node_at(candidates_of(pair, triangle), candidate.rank);
    let candidates = count_in_node(triangle, node, params.level - 1u);
    if (candidates == 0u) || !touches(triangle, node_cube(node, params.level)) {
        return Pair(0u, 0u, 0u, 0u);
    }
    let packed = pack_node(node);
    return Pair(pair.triangle, packed.x, packed.y, candidates);
}

@compute @workgroup_size(GROUP)
fn refine(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = min(atomicLoad(&counters[PAIRS + params.level]), capacity_of(params.level));
    let candidates = atomicLoad(&counters[CANDIDATES + params.level]);
    let index = group.y * params.max_groups + group.x;
    let child = child_of(candidate_of(index, lane, count, candidates));

    // One atomic addition per workgroup, not per pair.
    var rank = 0u;
    if child.candidates > 0u {
        rank = atomicAdd(&kept, 1u);
    }
    workgroupBarrier();
    if lane == 0u {
        kept_base = atomicAdd(&counters[PAIRS + params.level - 1u], atomicLoad(&kept));
    }
    workgroupBarrier();
    let slot = kept_base + rank;
    if (child.candidates > 0u) && (slot < capacity_of(params.level - 1u)) {
        children[slot] = child;
    }
}
