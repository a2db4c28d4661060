// Points on the faces of voxels.
//
// #import draw/params
// #import trace/dda

// The face that a ray looks at which begins in its voxel.
fn facing(ray: Ray) -> u32 {
    let d = vec3<u32>(abs(ray.direction));
    var axis = select(0u, 1u, d.y > d.x);
    axis = select(axis, 2u, d.z > d[axis]);
    return axis + select(0u, 3u, ray.direction[axis] < 0);
}

// Where a ray meets a face, in units: exactly in its plane, and rounded down along the others, which
// is not past its edges.
fn point_on(ray: Ray, touch: Touch, face: u32) -> array<Int64, 3> {
    var point = array<Int64, 3>(
        point_at(ray.origin[0], ray.direction.x, touch.time),
        point_at(ray.origin[1], ray.direction.y, touch.time),
        point_at(ray.origin[2], ray.direction.z, touch.time),
    );
    let axis = face % 3u;
    point[axis] = int64_shifted(touch.voxel[axis] + i32(face >= 3u), UNIT_BITS);
    return point;
}

// The middle of a face.
fn middle_of(voxel: vec3<i32>, face: u32) -> array<Int64, 3> {
    var halves = 2 * voxel + 1;
    halves[face % 3u] += select(-1, 1, face >= 3u);
    return array<Int64, 3>(
        int64_shifted(halves.x, UNIT_BITS - 1u),
        int64_shifted(halves.y, UNIT_BITS - 1u),
        int64_shifted(halves.z, UNIT_BITS - 1u),
    );
}

// A little off a face.
fn off(point: array<Int64, 3>, face: u32) -> array<Int64, 3> {
    var outside = point;
    let axis = face % 3u;
    let distance = OFF;
    outside[axis] = select(
        int64_sub(outside[axis], distance),
        int64_add(outside[axis], distance),
        face >= 3u,
    );
    return outside;
}

// The two other axes.
fn others(face: u32) -> vec2<u32> {
    return (vec2<u32>(face) + vec2<u32>(1u, 2u)) % 3u;
}

// `within` counts units.
fn bilinear(corners: vec4<u32>, within: vec2<u32>) -> u32 {
    let at = within >> vec2<u32>(UNIT_BITS - 15u);
    let lower = between(corners.x, corners.y, at.x);
    let upper = between(corners.z, corners.w, at.x);
    return between(lower, upper, at.y);
}
