// Stage: replaces the triangle of each voxel by its colour.
// Dispatch: one invocation per brick that the buffer may hold.
//
// #import trace/tree
// #import trace/tree_bricks

@group(0) @binding(3) var<storage, read_write> colors: array<u32>;
@group(0) @binding(4) var<storage, read> triangle_colors: array<u32>;

@compute @workgroup_size(GROUP)
fn color_voxels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let brick = index_of(group, lane);
    if brick >= brick_count() {
        return;
    }
    var place = colors[brick];
    let mask = brick * BRICK_WORDS + KEY_WORDS;
    for (var word = 0u; word < BRICK_WORDS - KEY_WORDS; word++) {
        for (var voxels = bricks[mask + word]; voxels != 0u; voxels &= voxels - 1u) {
            colors[place] = triangle_colors[colors[place]];
            place++;
        }
    }
}
