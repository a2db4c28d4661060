// A (triangle, node) pair: an entry of the work list of one level.

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
