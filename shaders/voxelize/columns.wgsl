// The columns through a brick that may cross a triangle: their voxel centres, projected along the
// column, are in the triangle's bounding box.
//
// #import voxelize/nodes

// Per axis, the brick's voxels in the region with centres within the triangle's bounds; possibly
// empty. Voxel i of S units has its centre in [lo, hi] iff i S >= lo - S/2 and i S <= hi - S/2,
// hence from floor((lo - S/2 + S - 1) / S) to floor((hi - S/2) / S).
fn centers_in_bounds(triangle: Triangle, brick: vec3<i32>) -> NodeRange {
    let lo = min(triangle.a, min(triangle.b, triangle.c));
    let hi = max(triangle.a, max(triangle.b, triangle.c));
    let bits = vec3<u32>(params.fraction_bits);
    let half = 1i << (params.fraction_bits - 1u);
    return NodeRange(
        max((lo + half - 1) >> bits, max(brick * 8, params.region_lo)),
        min((hi - half) >> bits, min(brick * 8 + 7, params.region_hi)),
    );
}

// The numbers of columns along x, y and z, 0 on axes that the rule does not test; at most 64 each.
fn columns_along(centers: NodeRange) -> vec3<u32> {
    let size = vec3<u32>(max(centers.hi - centers.lo + 1, vec3<i32>(0)));
    return size.yzx * size.zxy * params.axes;
}

fn is_in_region(brick: vec3<i32>) -> bool {
    let bits = vec3<u32>(3u);
    return all(brick >= params.region_lo >> bits) && all(brick <= params.region_hi >> bits);
}

// 0 for a brick outside the region, even if columns of the region pass through it.
fn column_count(triangle: Triangle, brick: vec3<i32>) -> u32 {
    if !is_in_region(brick) {
        return 0u;
    }
    let columns = columns_along(centers_in_bounds(triangle, brick));
    return columns.x + columns.y + columns.z;
}
