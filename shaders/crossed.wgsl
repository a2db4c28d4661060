// Stage: sets every voxel in which a column crosses a triangle.

fn voxel_along(height: Height, axis: u32) -> i32 {
    return voxel(height, params.unit_bits, project(axis, params.dims).z);
}

// One invocation per column through a pair's brick.
@compute @workgroup_size(GROUP)
fn crossed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let found = crossing_found(group, lane);
    if found.exists {
        set_voxels(word_of(brick_of(found.pair), found.voxel), 1u << bit_of(found.voxel));
    }
}
