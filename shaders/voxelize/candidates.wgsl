// The number of candidates of a triangle in a node: child nodes or, in a brick, rows of voxels,
// columns or single voxels.
//
// #import voxelize/nodes
// #import voxelize/columns

// The kind of candidate in a brick, which the last stage tests. A pipeline constant, so that no
// invocation branches on it.
override CANDIDATE_KIND: u32 = 0u;
const KIND_ROW: u32 = 0u;
const KIND_COLUMN: u32 = 1u;
const KIND_VOXEL: u32 = 2u;

// The node is one level above `level`.
fn count_in_node(triangle: Triangle, node: vec3<i32>, level: u32) -> u32 {
    if CANDIDATE_KIND == KIND_COLUMN && (level == 0u) {
        return column_count(triangle, node);
    }
    let range = children_in_bounds(triangle, node, level);
    if CANDIDATE_KIND == KIND_ROW && (level == 0u) {
        return row_count(range);
    }
    return node_count(range);
}
