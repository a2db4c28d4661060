// How many candidates a triangle has in a node: nodes of the level below or, in a brick, rows of
// voxels or columns.

// Whether the rule looks at columns. Known when a pipeline is made, so that none has to weigh both.
override BY_COLUMNS: bool = false;

// The node is one level above `level`.
fn count_in_node(triangle: Triangle, node: vec3<i32>, level: u32) -> u32 {
    if BY_COLUMNS && (level == 0u) {
        return column_count(triangle, node);
    }
    let range = children_in_bounds(triangle, node, level);
    if level == 0u {
        return row_count(range);
    }
    return node_count(range);
}
