// The face where a ray meets a voxel, and points on it and off it.
//
// #import trace/dda

// Distance of the origins of secondary rays from their surface, in units.
const RAY_OFFSET: Int64 = Int64(4u, 0u);

// The face that is seen: the one through which the ray enters the voxel, or, where it begins in
// the voxel, the one most nearly perpendicular to it that faces it.
fn seen_face(ray: Ray, touch: Touch) -> u32 {
    let face = face_of(touch, ray);
    if face != NO_FACE {
        return face;
    }
    let d = vec3<u32>(abs(ray.direction));
    var axis = select(0u, 1u, d.y > d.x);
    axis = select(axis, 2u, d.z > d[axis]);
    return axis + select(0u, 3u, ray.direction[axis] < 0);
}

// The point where a ray meets a face, in units: exact along the normal, rounded down along the
// other axes, which keeps it within the face.
fn point_on(ray: Ray, touch: Touch, face: u32) -> array<Int64, 3> {
    var point = point_at(ray, touch.time);
    let axis = face % 3u;
    point[axis] = int64_shifted(touch.voxel[axis] + i32(face >= 3u), FRACTION_BITS);
    return point;
}

// `point` moved RAY_OFFSET off a face, along its normal.
fn offset_from(point: array<Int64, 3>, face: u32) -> array<Int64, 3> {
    var outside = point;
    let axis = face % 3u;
    let offset = select(int64_neg(RAY_OFFSET), RAY_OFFSET, face >= 3u);
    outside[axis] = int64_add(outside[axis], offset);
    return outside;
}
