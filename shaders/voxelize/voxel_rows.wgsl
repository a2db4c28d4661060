// Stage: tests rows of up to eight voxels along z, each against one triangle, and sets the bits of
// the voxels that the triangle touches.
// Dispatch: one invocation per (triangle, row of voxels) candidate.
//
// #import voxelize/rows
// #import voxelize/brick_masks

@compute @workgroup_size(GROUP)
fn voxel_rows(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = rows_of(group, lane);
    for (var round = 0u; round < GROUP / SLOTS; round++) {
        let row = row_in_round(rows, lane, round);
        if row.touched != 0u {
            set_voxels(row.word, row.touched);
        }
    }
}
