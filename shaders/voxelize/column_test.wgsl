// The test of a candidate column: does it cross its pair's triangle, and at which height? The last
// stage maps the height to one voxel, and keeps it if the voxel is in the pair's brick.
//
// #import exact/crosses
// #import voxelize/columns
// #import voxelize/mesh
// #import voxelize/load_balance

struct Column {
    axis: u32,
    // Voxel coordinates across the axis.
    position: vec2<i32>,
}

// A column that crosses its pair's triangle.
struct ColumnHit {
    exists: bool,
    pair: Pair,
    brick: vec3<i32>,
    column: Column,
    height: Height,
}

// The column with the given rank: columns along x first, then y, then z.
fn column_at(centers: NodeRange, rank: u32) -> Column {
    let along = columns_along(centers);
    var axis = AXIS_X;
    var rest = rank;
    if rest >= along.x {
        axis = AXIS_Y;
        rest -= along.x;
        if rest >= along.y {
            axis = AXIS_Z;
            rest -= along.y;
        }
    }
    let lo = project(axis, centers.lo).xy;
    let row = u32(project(axis, centers.hi).x - lo.x + 1);
    return Column(axis, lo + vec2<i32>(vec2<u32>(rest % row, rest / row)));
}

// Whether this invocation's column crosses its triangle. Call it from all invocations of the
// workgroup.
fn column_hit(group: vec3<u32>, lane: u32) -> ColumnHit {
    var hit: ColumnHit;
    let candidate = candidate_of(group, lane, ANY_FAILURE);
    if !candidate.exists {
        return hit;
    }
    let brick = unpack_node(candidate.pair);
    let triangle = triangle_at(candidate.pair.triangle);
    let centers = centers_in_bounds(triangle, brick);
    let columns = columns_along(centers);
    // The empty candidate of a brick without columns.
    if candidate.rank >= columns.x + columns.y + columns.z {
        return hit;
    }
    let column = column_at(centers, candidate.rank);
    let half = 1i << (params.fraction_bits - 1u);
    let center = (column.position << vec2<u32>(params.fraction_bits)) + half;
    let projected = project_triangle(triangle, column.axis);
    if !covers(projected, center) {
        return hit;
    }
    return ColumnHit(true, candidate.pair, brick, column, at(projected, center));
}

// The voxel of the hit's column with the coordinate `along` its axis.
fn voxel_of_column(hit: ColumnHit, along: i32) -> vec3<i32> {
    return unproject(hit.column.axis, vec3<i32>(hit.column.position, along));
}

// Whether the voxel is in the hit's brick and in the region; else another brick's pair finds it.
fn is_in_brick(hit: ColumnHit, voxel: vec3<i32>) -> bool {
    return all((voxel >> vec3<u32>(3u)) == hit.brick) && all(voxel <= params.region_hi);
}
