// The candidate of an invocation of the last stages, from the pairs of level 0: nodes are bricks.
//
// #import voxelize/params
// #import voxelize/counters
// #import voxelize/pair
// #import voxelize/load_balance

@group(0) @binding(3) var<storage, read> pairs: array<Pair>;

// Call it from all invocations of the workgroup.
fn voxel_candidate(group: vec3<u32>, lane: u32) -> Candidate {
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    // None after a failure: the result is discarded.
    let failed = atomicLoad(&counters[FAILURES]) != 0u;
    let candidates = select(atomicLoad(&counters[CANDIDATES]), 0u, failed);
    let index = group.y * params.max_groups + group.x;
    return candidate_of(index, lane, count, candidates);
}
