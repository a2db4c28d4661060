// Stage: sets the bit of every brick in the mask of its node, and of that in the node above.
// Dispatch: one invocation per brick that the buffer may hold.
//
// #import trace/tree_masks
// #import trace/tree_bricks

@compute @workgroup_size(GROUP)
fn tree_fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index < brick_count() {
        set_cell(brick_at(index), PARTIAL_MASK);
    }
}
