// How many candidates a triangle has in a node: nodes of the level below or, in a brick, what the
// rule looks at.

// Rows of voxels, or columns.
fn count_in_brick(triangle: Triangle, brick: vec3<i32>) -> u32 {
    if all(params.axes == vec3<u32>(0u)) {
        return row_count(children_in_bounds(triangle, brick, 0u));
    }
    return column_count(triangle, brick);
}

// The node is one level above `level`.
fn count_in_node(triangle: Triangle, node: vec3<i32>, level: u32) -> u32 {
    if level == 0u {
        return count_in_brick(triangle, node);
    }
    return node_count(children_in_bounds(triangle, node, level));
}
