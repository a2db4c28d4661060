// The candidate of an invocation of the last stages, from the pairs of level 0: nodes are bricks.
//
// #import voxelize/load_balance

// Call it from all invocations of the workgroup.
fn voxel_candidate(group: vec3<u32>, lane: u32) -> Candidate {
    var candidate = candidate_of(group, lane);
    // None after a failure: the result is discarded.
    candidate.exists &= atomicLoad(&counters[FAILURES]) == 0u;
    return candidate;
}
