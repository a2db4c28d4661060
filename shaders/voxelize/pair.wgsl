// A (triangle, node) pair: an entry of the work list of one level.

// A triangle and a node that it touches. The z is NO_NODE if the triangle starts at this level.
struct Pair {
    triangle: u32,
    // x in the low 16 bits, y in the high.
    node_xy: u32,
    // z in the low 16 bits, of a brick perhaps with EXITS. In the high, how many children of the
    // node may touch the triangle or, on level 0, how many rows of voxels may touch it or columns
    // cross it; at least 1.
    node_z_candidates: u32,
    // The first of these candidates, among those of all pairs of the level.
    first: u32,
}

const NO_NODE: u32 = 0xffffu;
// Flag in the z of a brick, which is below 2^13: columns along x leave the solid through the
// triangle. Set for rules that count crossings by direction: they keep one mask per direction.
const EXITS: u32 = 0x8000u;
// The first candidate of a pair that is not dispatched.
const NO_CANDIDATE: u32 = 0xffffffffu;

// A pair without candidates is not listed.
const NO_PAIR: Pair = Pair(0u, 0u, 0u, NO_CANDIDATE);

// The node may lie outside the grid if it has no candidates.
fn new_pair(triangle: u32, node: vec2<u32>, candidates: u32) -> Pair {
    return Pair(triangle, node.x, (node.y & 0xffffu) | (candidates << 16u), NO_CANDIDATE);
}

fn node_z(pair: Pair) -> u32 {
    return pair.node_z_candidates & 0xffffu;
}

fn candidates_in(pair: Pair) -> u32 {
    return pair.node_z_candidates >> 16u;
}
