// The number of candidates of a triangle in a node: child nodes or, in a brick, rows of voxels,
// columns or single voxels.
//
// #import exact/crosses
// #import voxelize/nodes
// #import voxelize/columns

// The kind of candidate in a brick, which the last stage tests. A pipeline constant, so that no
// invocation branches on it.
override CANDIDATE_KIND: u32 = 0u;
const KIND_ROW: u32 = 0u;
const KIND_COLUMN: u32 = 1u;
const KIND_VOXEL: u32 = 2u;
// Columns along x, with bricks by direction.
const KIND_DIRECTED_COLUMN: u32 = 3u;
// Columns along x; a brick that the triangle touches between columns has one empty candidate, so
// that it is marked as well.
const KIND_SOLID_COLUMN: u32 = 4u;

// The node is one level above `level`.
fn count_in_node(triangle: Triangle, node: vec3<i32>, level: u32) -> u32 {
    let is_column = (CANDIDATE_KIND == KIND_COLUMN) || (CANDIDATE_KIND == KIND_DIRECTED_COLUMN);
    if is_column && (level == 0u) {
        return column_count(triangle, node);
    }
    if CANDIDATE_KIND == KIND_SOLID_COLUMN && (level == 0u) {
        return select(0u, max(column_count(triangle, node), 1u), is_in_region(node));
    }
    let range = children_in_bounds(triangle, node, level);
    if CANDIDATE_KIND == KIND_ROW && (level == 0u) {
        return row_count(range);
    }
    return node_count(range);
}

// The pair of a triangle and a node one level above `level`.
fn pair_of(id: u32, triangle: Triangle, node: vec3<i32>, level: u32) -> Pair {
    var packed = pack_node(node);
    if CANDIDATE_KIND == KIND_DIRECTED_COLUMN && (level == 0u) {
        packed.y |= select(0u, EXITS, project_triangle(triangle, AXIS_X).winding < 0);
    }
    return new_pair(id, packed, count_in_node(triangle, node, level));
}
