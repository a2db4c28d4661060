// The parameters of a pass, shared by all voxelization stages.

// Invocations per workgroup, in every stage.
const GROUP: u32 = 256u;

// One pass over the (triangle, node) pairs of one level. Nodes of level l are cubes of 8^l voxels.
struct Params {
    // First and last voxel of the region to be voxelized, inclusive.
    region_lo: vec3<i32>,
    // F: a voxel is 2^fraction_bits lattice units wide.
    fraction_bits: u32,
    region_hi: vec3<i32>,
    // Level of the children that pairs expand to; 0 are voxels.
    level: u32,
    // Offset added to triangles when their bricks are searched, in lattice units.
    shift: vec3<i32>,
    // Level above which no triangle starts.
    top_level: u32,
    // 1 for each axis along which columns are tested; all 0 if voxels are tested.
    axes: vec3<u32>,
    first_triangle: u32,
    // Voxels of the grid.
    dims: vec3<i32>,
    triangle_count: u32,
    // Offset of the vertices in the mesh, in words.
    vertex_words: u32,
    // Capacity of the pair lists: of each of the two lowest levels, and of each level above, in
    // pairs.
    pair_capacity: u32,
    upper_capacity: u32,
    brick_capacity: u32,
    crossing_capacity: u32,
    // Bits of a brick in the bitmap: 2 for rules with bricks by direction, else 1.
    directions: u32,
    // Most candidates that one pass may test.
    candidate_limit: u32,
    // Workgroups per dispatch dimension; larger dispatches are two-dimensional.
    max_groups: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// Voxels, bricks, and nodes of 64, 512, 4096 and 32,768 voxels.
const LEVELS: u32 = 6u;

// Words of a brick: its key, x and y packed as in a pair, and z; then its mask.
const BRICK_WORDS: u32 = 18u;
const KEY_WORDS: u32 = 2u;

fn group_index(group: vec3<u32>) -> u32 {
    return group.y * params.max_groups + group.x;
}

// Capacity of the pair list of a level, in pairs.
fn capacity_of(level: u32) -> u32 {
    return select(params.pair_capacity, params.upper_capacity, level > 1u);
}
