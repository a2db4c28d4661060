// Points on and near the faces of voxels.
//
// #import draw/params
// #import trace/dda

// The face shown where a ray begins in a voxel: the one most nearly perpendicular to it, facing it.
fn front_face(ray: Ray) -> u32 {
    let d = vec3<u32>(abs(ray.direction));
    var axis = select(0u, 1u, d.y > d.x);
    axis = select(axis, 2u, d.z > d[axis]);
    return axis + select(0u, 3u, ray.direction[axis] < 0);
}

// The point where a ray meets a face, in units: exact along the normal, rounded down along the
// other axes, which keeps it within the face.
fn point_on(ray: Ray, touch: Touch, face: u32) -> array<Int64, 3> {
    var point = array<Int64, 3>(
        point_at(ray.origin[0], ray.direction.x, touch.time),
        point_at(ray.origin[1], ray.direction.y, touch.time),
        point_at(ray.origin[2], ray.direction.z, touch.time),
    );
    let axis = face % 3u;
    point[axis] = int64_shifted(touch.voxel[axis] + i32(face >= 3u), FRACTION_BITS);
    return point;
}

// The centre of a face, in units.
fn face_center(voxel: vec3<i32>, face: u32) -> array<Int64, 3> {
    var halves = 2 * voxel + 1;
    halves[face % 3u] += select(-1, 1, face >= 3u);
    return array<Int64, 3>(
        int64_shifted(halves.x, FRACTION_BITS - 1u),
        int64_shifted(halves.y, FRACTION_BITS - 1u),
        int64_shifted(halves.z, FRACTION_BITS - 1u),
    );
}

// `point` moved RAY_OFFSET off a face, along its normal.
fn offset_from(point: array<Int64, 3>, face: u32) -> array<Int64, 3> {
    var outside = point;
    let axis = face % 3u;
    let distance = RAY_OFFSET;
    outside[axis] = select(
        int64_sub(outside[axis], distance),
        int64_add(outside[axis], distance),
        face >= 3u,
    );
    return outside;
}

// The two axes in the plane of the face.
fn tangent_axes(face: u32) -> vec2<u32> {
    return (vec2<u32>(face) + vec2<u32>(1u, 2u)) % 3u;
}

// Interpolates between the corners of a face; `within` is the position in the face, in units.
fn bilinear(corners: vec4<u32>, within: vec2<u32>) -> u32 {
    let at = within >> vec2<u32>(FRACTION_BITS - 15u);
    let lower = lerp_fixed(corners.x, corners.y, at.x);
    let upper = lerp_fixed(corners.z, corners.w, at.x);
    return lerp_fixed(lower, upper, at.y);
}
