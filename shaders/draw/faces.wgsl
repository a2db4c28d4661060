// Positions in the faces of voxels.
//
// #import draw/params

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
