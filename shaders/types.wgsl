// What every stage shares: the parameters of a pass, pairs, triangles and boxes.

// Invocations per workgroup, in every stage.
const GROUP: u32 = 256u;

// One pass over the (triangle, node) pairs of one level. Nodes of level l are cubes of 8^l voxels.
struct Params {
    // First and last voxel of the region worked on, inclusive.
    region_lo: vec3<i32>,
    // F: a voxel is 2^unit_bits lattice units wide.
    unit_bits: u32,
    region_hi: vec3<i32>,
    // Level of the children that pairs expand to; 0 are voxels.
    level: u32,
    // By how much triangles are moved while their bricks are looked for.
    shift: vec3<i32>,
    // Level above which no triangle starts.
    top_level: u32,
    // 1 for each axis along which columns are looked at; where whole voxels are, 0 for all.
    axes: vec3<u32>,
    first_triangle: u32,
    // Voxels of the grid.
    dims: vec3<i32>,
    triangle_count: u32,
    // Word of the mesh at which its vertices begin.
    vertex_words: u32,
    // Room for pairs on the two lowest levels, and on each of those above.
    pair_capacity: u32,
    upper_capacity: u32,
    brick_capacity: u32,
    crossing_capacity: u32,
    // Size of the hash table minus 1; the size is a power of two.
    table_mask: u32,
    // Most candidates that one pass may test.
    candidate_limit: u32,
    // Workgroups per dispatch dimension; larger dispatches are two-dimensional.
    max_groups: u32,
}

// A triangle and a node that it touches, or NO_NODE for a triangle that starts here.
struct Pair {
    triangle: u32,
    // x in the low 16 bits, y in the high.
    node_xy: u32,
    node_z: u32,
    // How many children of the node may touch the triangle or, on level 0, how many rows of voxels
    // may touch it or columns cross it; at least 1.
    candidates: u32,
}

const NO_NODE: u32 = 0xffffffffu;

// Voxels, bricks, and nodes of 64, 512, 4096 and 32,768 voxels.
const LEVELS: u32 = 6u;

// Words of the counters.
const BRICKS: u32 = 0u;
const FAILURES: u32 = 1u;
// Level l's word of each list: how many pairs expand to level l, how many candidates they have, and
// how many of them are triangles that started there.
const PAIRS: u32 = 2u;
const CANDIDATES: u32 = 8u;
const STARTED: u32 = 14u;
const CROSSINGS: u32 = 20u;

// Bits of the word FAILURES. Counting goes on, so that the host learns what was needed.
const PAIRS_FULL: u32 = 1u;
const BRICKS_FULL: u32 = 2u;
const TOO_MANY_CANDIDATES: u32 = 4u;

// Words of the dispatch arguments: three for each dispatch, padded to four.
const PAIR_GROUPS: u32 = 0u;
const CANDIDATE_GROUPS: u32 = 4u;

// Words of a brick: its key, x and y packed as in a pair, and z; then its mask.
const BRICK_WORDS: u32 = 18u;
const KEY_WORDS: u32 = 2u;

struct Triangle {
    a: vec3<i32>,
    b: vec3<i32>,
    c: vec3<i32>,
}

// The closed cube of half edge `half` around `center`, in lattice units.
struct Cube {
    center: vec3<i32>,
    half: i32,
}

// Inclusive range of node positions; empty where hi < lo on some axis.
struct NodeRange {
    lo: vec3<i32>,
    hi: vec3<i32>,
}
