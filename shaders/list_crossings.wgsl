// Stage: lists every crossing of a column and a triangle: the first voxel whose centre is at the
// crossing or past it, and whether the column leaves there.

// x in the low 16 bits and y in the high; z, and LEAVES.
@group(0) @binding(19) var<storage, read_write> crossings: array<vec2<u32>>;

const LEAVES: u32 = 2147483648u; // 2^31

// Crossings that this workgroup found, and the place of the first of them.
var<workgroup> listed: atomic<u32>;
var<workgroup> listed_base: u32;

fn voxel_along(height: Height, axis: u32) -> i32 {
    return first_center(height, params.unit_bits);
}

// One invocation per column through a pair's brick.
@compute @workgroup_size(GROUP)
fn list_crossings(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let found = crossing_found(group, lane);
    // One addition to the counter per workgroup, not per crossing.
    var place = 0u;
    if found.exists {
        place = atomicAdd(&listed, 1u);
    }
    workgroupBarrier();
    if lane == 0u {
        listed_base = atomicAdd(&counters[CROSSINGS], atomicLoad(&listed));
    }
    workgroupBarrier();
    let slot = listed_base + place;
    if found.exists && (slot < params.crossing_capacity) {
        let packed = pack_node(found.voxel);
        crossings[slot] = vec2<u32>(packed.x, packed.y | select(0u, LEAVES, found.winding < 0));
    }
}
