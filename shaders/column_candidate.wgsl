// What a candidate of a stage that looks at columns finds: whether a column through its pair's brick
// crosses the pair's triangle, and in which voxel. Each such stage says by `voxel_along` in which
// voxel of a column a crossing is.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;

struct Column {
    axis: u32,
    // Of its voxels, across the axis.
    position: vec2<i32>,
}

struct Found {
    // False, too, where the voxel is in another brick: the pair of that brick finds it.
    exists: bool,
    pair: u32,
    voxel: vec3<i32>,
    // As in Crossing.
    winding: i32,
}

// The column with the given rank: those along x come first, then y, then z.
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

fn nothing_found() -> Found {
    return Found(false, 0u, vec3<i32>(0), 0);
}

fn found_by(candidate: Candidate) -> Found {
    if !candidate.exists {
        return nothing_found();
    }
    let pair = pairs[candidate.pair];
    let brick = unpack_node(pair);
    let triangle = triangle_at(pair.triangle);
    let column = column_at(centers_in_bounds(triangle, brick), candidate.rank);
    let half = 1i << (params.unit_bits - 1u);
    let center = (column.position << vec2<u32>(params.unit_bits)) + half;
    let set_up = crossing(triangle, column.axis);
    if !covers(set_up, center) {
        return nothing_found();
    }
    let along = voxel_along(at(set_up, center), column.axis);
    let voxel = unproject(column.axis, vec3<i32>(column.position, along));
    let is_here = all((voxel >> vec3<u32>(3u)) == brick) && all(voxel <= params.region_hi);
    return Found(is_here, candidate.pair, voxel, set_up.winding);
}

// What this invocation finds. Call it from all invocations of the workgroup.
fn crossing_found(group: vec3<u32>, lane: u32) -> Found {
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    // None where the bricks did not fit: the run is thrown away.
    let failed = atomicLoad(&counters[FAILURES]) != 0u;
    let candidates = select(atomicLoad(&counters[CANDIDATES]), 0u, failed);
    let index = group.y * params.max_groups + group.x;
    return found_by(candidate_of(index, lane, count, candidates));
}
