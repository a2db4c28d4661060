// Stage: the signed distances of voxels in rows, as texels of a texture.
// Dispatch: one invocation per word of the rows, from `first` on.
//
// #import distance/params
// #import trace/scene

// The bits of distances as `measure` leaves them, then of signed distances. Outside the band they
// are plus or minus the width.
@group(0) @binding(1) var<storage, read_write> found_bits: array<u32>;

const GROUP: u32 = 256u;

@compute @workgroup_size(GROUP)
fn texels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let word = params.first + GROUP * group.x + lane;
    if word >= arrayLength(&found_bits) {
        return;
    }
    let row = word / params.row;
    let voxel = vec3<u32>(word % params.row, row % params.dims.y, row / params.dims.y);
    let sign = u32(contains(vec3<i32>(voxel))) << 31u;
    found_bits[word] = min(~found_bits[word], params.width_bits) | sign;
}
