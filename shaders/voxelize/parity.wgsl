// Stage: flips, for every crossing of a column and a triangle, the first voxel whose centre is at
// the crossing or past it. A prefix XOR along the column then yields the parity.
// Dispatch: one invocation per (triangle, column through a brick) candidate.
//
// #import voxelize/column_test
// #import voxelize/masks
// #import voxelize/brick_masks

@compute @workgroup_size(GROUP)
fn parity(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let hit = column_hit(group, lane);
    if !hit.exists {
        return;
    }
    let found = voxel_of_column(hit, first_center(hit.height, params.fraction_bits));
    if is_in_brick(hit, found) {
        atomicXor(&bricks[word_of(brick_of(hit.pair), found)], 1u << bit_of(found));
    }
}
