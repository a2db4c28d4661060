// Stage: tests single voxels, each against one triangle, and sets the bits of those that the
// triangle touches: the reference for `voxel_rows`.
// Dispatch: one invocation per (triangle, voxel) candidate.
//
// #import exact/touches
// #import voxelize/nodes
// #import voxelize/mesh
// #import voxelize/masks
// #import voxelize/brick_masks
// #import voxelize/load_balance

@compute @workgroup_size(GROUP)
fn voxels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let candidate = candidate_of(group, lane, ANY_FAILURE);
    if !candidate.exists {
        return;
    }
    let triangle = triangle_at(candidate.pair.triangle);
    let voxel = node_at(candidates_of(candidate.pair, triangle), candidate.rank);
    if touches(triangle, node_cube(voxel, 0u)) {
        set_voxels(word_of(brick_of(candidate.pair), voxel), 1u << bit_of(voxel));
    }
}
