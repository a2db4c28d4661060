// Stage: tests every candidate node of this level, and lists those that their triangle touches as
// pairs of the level below; bricks without candidates are dropped.
// Dispatch: one invocation per (triangle, node) candidate.
//
// #import exact/touches
// #import voxelize/candidates
// #import voxelize/mesh
// #import voxelize/load_balance
// #import voxelize/append

// The child pair of a candidate; without candidates if the node is not kept.
fn child_of(candidate: Candidate) -> Pair {
    if !candidate.exists {
        return NO_PAIR;
    }
    let triangle = shifted_triangle_at(candidate.pair.triangle);
    let node = node_at(candidates_of(candidate.pair, triangle), candidate.rank);
    let pair = pair_of(candidate.pair.triangle, triangle, node, params.level - 1u);
    if (candidates_in(pair) == 0u) || !touches(triangle, node_cube(node, params.level)) {
        return NO_PAIR;
    }
    return pair;
}

@compute @workgroup_size(GROUP)
fn refine(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    append_pair(lane, params.level - 1u, child_of(candidate_of(group, lane, 0u)));
}
