// The candidate of an invocation of the last stages, from the pairs of level 0: nodes are bricks.
//
// #import voxelize/load_balance

// After any failure there are no candidates: the result is discarded.
const ANY_FAILURE: u32 = 0xffffffffu;

// Call it from all invocations of the workgroup.
fn voxel_candidate(group: vec3<u32>, lane: u32) -> Candidate {
    return candidate_of(group, lane, ANY_FAILURE);
}
