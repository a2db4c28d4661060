// Stage: lists every crossing of a column and a triangle: the first voxel whose centre is at the
// crossing or past it, and whether the column leaves the solid there.
// Dispatch: one invocation per (triangle, column through a brick) candidate.
//
// #import voxelize/column_test

// x in the low 16 bits and y in the high; z, and LEAVES.
@group(0) @binding(19) var<storage, read_write> crossings: array<vec2<u32>>;

const LEAVES: u32 = 2147483648u; // 2^31

// Crossings that this workgroup found, and the list index of the first of them.
var<workgroup> listed: atomic<u32>;
var<workgroup> listed_base: u32;

@compute @workgroup_size(GROUP)
fn list_crossings(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let hit = column_hit(group, lane);
    var found = vec3<i32>(0);
    var exists = false;
    if hit.exists {
        found = voxel_of_column(hit, first_center(hit.height, params.fraction_bits));
        exists = is_in_brick(hit, found);
    }
    // One addition to the counter per workgroup, not per crossing.
    var rank = 0u;
    if exists {
        rank = atomicAdd(&listed, 1u);
    }
    workgroupBarrier();
    if lane == 0u {
        listed_base = atomicAdd(&counters[CROSSINGS], atomicLoad(&listed));
    }
    workgroupBarrier();
    let slot = listed_base + rank;
    if exists && (slot < params.crossing_capacity) {
        let packed = pack_node(found);
        crossings[slot] = vec2<u32>(packed.x, packed.y | select(0u, LEAVES, hit.winding < 0));
    }
}
