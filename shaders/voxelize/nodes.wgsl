// The nodes of a level that a triangle's bounding box touches: in the lattice, in the region, and
// in a parent node.
//
// #import exact/shapes
// #import voxelize/params
// #import voxelize/pair

// Inclusive range of node positions; empty where hi < lo on some axis.
struct NodeRange {
    lo: vec3<i32>,
    hi: vec3<i32>,
}

// Node i of 2^bits units meets [lo, hi] iff (i + 1) 2^bits >= lo and i 2^bits <= hi, hence from
// floor((lo - 1) / 2^bits) to floor(hi / 2^bits).
fn all_nodes_in_bounds(triangle: Triangle, level: u32) -> NodeRange {
    let lo = min(triangle.a, min(triangle.b, triangle.c));
    let hi = max(triangle.a, max(triangle.b, triangle.c));
    let bits = vec3<u32>(params.fraction_bits + 3u * level);
    return NodeRange((lo - 1) >> bits, hi >> bits);
}

fn nodes_in_bounds(triangle: Triangle, level: u32) -> NodeRange {
    let range = all_nodes_in_bounds(triangle, level);
    let bits = vec3<u32>(3u * level);
    return NodeRange(
        max(range.lo, params.region_lo >> bits),
        min(range.hi, params.region_hi >> bits),
    );
}

// Restricted to the children of `node`, which is one level up.
fn children_in_bounds(triangle: Triangle, node: vec3<i32>, level: u32) -> NodeRange {
    let range = nodes_in_bounds(triangle, level);
    return NodeRange(max(range.lo, node * 8), min(range.hi, node * 8 + 7));
}

// Exact up to 2^16; above, at least 2^16: the product of 2^13 nodes per axis would overflow.
fn node_count(range: NodeRange) -> u32 {
    let size = vec3<u32>(max(range.hi - range.lo + 1, vec3<i32>(0)));
    return min(size.x * size.y, 65536u) * size.z;
}

// The node with the given rank in a range that is not empty; z fastest.
fn node_at(range: NodeRange, rank: u32) -> vec3<i32> {
    let size = vec3<u32>(range.hi - range.lo + 1);
    let row = rank / size.z;
    return range.lo + vec3<i32>(vec3<u32>(row / size.y, row % size.y, rank % size.z));
}

fn node_cube(node: vec3<i32>, level: u32) -> Cube {
    let bits = params.fraction_bits + 3u * level;
    let half = 1i << (bits - 1u);
    return Cube((node << vec3<u32>(bits)) + half, half);
}

fn pack_node(node: vec3<i32>) -> vec2<u32> {
    return vec2<u32>(u32(node.x) | (u32(node.y) << 16u), u32(node.z));
}

fn unpack_node(pair: Pair) -> vec3<i32> {
    let z = node_z(pair) & ~EXITS;
    return vec3<i32>(vec3<u32>(pair.node_xy & 0xffffu, pair.node_xy >> 16u, z));
}

// Rows of voxels along z, at most 8 each in a brick.
fn row_count(range: NodeRange) -> u32 {
    let size = vec3<u32>(max(range.hi - range.lo + 1, vec3<i32>(0)));
    return select(size.x * size.y, 0u, size.z == 0u);
}

// The nodes of the pass's level that may touch a pair's triangle.
fn candidates_of(pair: Pair, triangle: Triangle) -> NodeRange {
    if node_z(pair) == NO_NODE {
        return nodes_in_bounds(triangle, params.level);
    }
    return children_in_bounds(triangle, unpack_node(pair), params.level);
}
