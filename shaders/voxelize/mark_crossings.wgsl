// Stage: marks every crossing of a column along x and a triangle, in the brick of its direction:
// the first voxel whose centre is at the crossing or past it. A crossing of a voxel that is marked
// already is listed. Few voxels have several of one direction. Which of them is listed depends on
// the order of the invocations; how many are, does not.
// Dispatch: one invocation per (triangle, column through a brick) candidate.
//
// #import voxelize/column_test
// #import voxelize/masks
// #import voxelize/brick_masks

// The brick's key, and in the high 16 bits of the last word the voxel: 64x + 8y + z.
@group(0) @binding(19) var<storage, read_write> crossings: array<vec2<u32>>;

@compute @workgroup_size(GROUP)
fn mark_crossings(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let hit = column_hit(group, lane);
    if !hit.exists {
        return;
    }
    let found = voxel_of_column(hit, first_center(hit.height, params.fraction_bits));
    if !is_in_brick(hit, found) {
        return;
    }
    let brick = brick_of(hit.pair);
    let bit = 1u << bit_of(found);
    if (atomicOr(&bricks[word_of(brick, found)], bit) & bit) == 0u {
        return;
    }
    let slot = atomicAdd(&counters[CROSSINGS], 1u);
    if slot < params.crossing_capacity {
        let v = vec3<u32>(found) & vec3<u32>(7u);
        let key = brick * BRICK_WORDS;
        let last = atomicLoad(&bricks[key + 1u]) | ((64u * v.x + 8u * v.y + v.z) << 16u);
        crossings[slot] = vec2<u32>(atomicLoad(&bricks[key]), last);
    }
}
