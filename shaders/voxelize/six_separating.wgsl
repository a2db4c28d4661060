// Stage: sets every voxel in which a column crosses a triangle (six-separating).
// Dispatch: one invocation per (triangle, column through a brick) candidate.
//
// #import voxelize/column_test
// #import voxelize/masks
// #import voxelize/brick_masks

@compute @workgroup_size(GROUP)
fn six_separating(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let hit = column_hit(group, lane);
    if !hit.exists {
        return;
    }
    let last = project(hit.column.axis, params.dims).z;
    let found = voxel_of_column(hit, voxel(hit.height, params.fraction_bits, last));
    if is_in_brick(hit, found) {
        set_voxels(word_of(brick_of(hit.pair), found), 1u << bit_of(found));
    }
}
