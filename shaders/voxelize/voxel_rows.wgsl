// Stage: tests rows of up to eight voxels along z, each against one triangle, and sets the bits of
// the voxels that the triangle touches.
// Dispatch: one invocation per (triangle, row of voxels) candidate.
//
// #import exact/touches_row
// #import voxelize/nodes
// #import voxelize/mesh
// #import voxelize/masks
// #import voxelize/voxel_candidate

@compute @workgroup_size(GROUP)
fn voxel_rows(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let candidate = voxel_candidate(group, lane);
    if !candidate.exists {
        return;
    }
    let triangle = triangle_at(candidate.pair.triangle);
    let range = candidates_of(candidate.pair, triangle);
    let rows = u32(range.hi.y - range.lo.y + 1);
    let row = vec2<u32>(candidate.rank / rows, candidate.rank % rows);
    let first = range.lo + vec3<i32>(vec3<u32>(row, 0u));
    let length = u32(range.hi.z - range.lo.z + 1);
    let touched = touched_voxels(triangle, node_cube(first, 0u), length);
    set_voxels(word_of(brick_of(candidate.index), first), touched << bit_of(first));
}
