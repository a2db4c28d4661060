// Stage: flips, for every crossing of a column and a triangle, the first voxel whose centre is at the
// crossing or past it.

fn voxel_along(height: Height, axis: u32) -> i32 {
    return first_center(height, params.unit_bits);
}

// One invocation per column through a pair's brick.
@compute @workgroup_size(GROUP)
fn flips(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let found = crossing_found(group, lane);
    if found.exists {
        atomicXor(&bricks[word_of(brick_of(found.pair), found.voxel)], 1u << bit_of(found.voxel));
    }
}
