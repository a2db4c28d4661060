// Rays and hits in floats, for the shaders of a renderer. Devices round floats differently: where
// all of them must give the same, make a `Ray` of integers.
//
// #import trace/faces

// The ray from `origin`, in voxels from the grid's minimum corner, rounded down to 2^-16, towards
// `direction`, of any length. A direction of length 0, and an origin with NaN or a coordinate
// beyond 2^20, touch nothing.
fn ray_of(origin: vec3<f32>, direction: vec3<f32>) -> Ray {
    // A comparison of bits, since compilers may assume that no number is NaN.
    let size = bitcast<vec3<u32>>(origin) & vec3<u32>(0x7fffffffu);
    let far = size > vec3<u32>(bitcast<u32>(1048576.0));
    return Ray(
        array<Int64, 3>(in_units(origin.x), in_units(origin.y), in_units(origin.z)),
        select(direction_of(direction), vec3<i32>(0), any(far)),
    );
}

// The ray from the point of a touch, slightly off the face, towards `direction`: for shadows and
// reflections.
fn secondary_ray(ray: Ray, touch: Touch, direction: vec3<f32>) -> Ray {
    let face = seen_face(ray, touch);
    return Ray(offset_from(point_on(ray, touch, face), face), direction_of(direction));
}

// The point of a touch, in voxels.
fn hit_point(ray: Ray, touch: Touch) -> vec3<f32> {
    let point = point_at(ray, touch.time);
    return vec3<f32>(in_voxels(point[0]), in_voxels(point[1]), in_voxels(point[2]));
}

// The distance from the ray's origin to a touch, in voxels.
fn hit_distance(ray: Ray, touch: Touch) -> f32 {
    let start = vec3<f32>(
        in_voxels(ray.origin[0]), in_voxels(ray.origin[1]), in_voxels(ray.origin[2]),
    );
    return distance(hit_point(ray, touch), start);
}

// The outward normal at a touch.
fn hit_normal(ray: Ray, touch: Touch) -> vec3<f32> {
    let face = seen_face(ray, touch);
    var normal = vec3<f32>(0.0);
    normal[face % 3u] = select(-1.0, 1.0, face >= 3u);
    return normal;
}

// The colour of an occupied voxel in linear light, and its opacity.
fn linear_color_of(voxel: vec3<i32>) -> vec4<f32> {
    let srgb = unpack4x8unorm(color_of(voxel));
    let light = pow((srgb.rgb + 0.055) / 1.055, vec3<f32>(2.4));
    return vec4<f32>(select(light, srgb.rgb / 12.92, srgb.rgb <= vec3<f32>(0.04045)), srgb.a);
}

// A direction scaled so that its longest component is 2^24, and rounded; 0 stays 0.
fn direction_of(direction: vec3<f32>) -> vec3<i32> {
    let lengths = abs(direction);
    // At least the smallest normal number: 0 / 0 may be anything.
    let longest = max(max(lengths.x, lengths.y), max(lengths.z, 0x1p-126));
    let most = vec3<f32>(16777216.0);
    // A quotient of equal numbers may be rounded up.
    return vec3<i32>(clamp(round(direction / longest * most), -most, most));
}

// A coordinate in units, rounded down.
fn in_units(voxels: f32) -> Int64 {
    let whole = clamp(floor(voxels), -1048576.0, 1048575.0);
    let part = u32((voxels - whole) * 65536.0);
    return int64_add(int64_shifted(i32(whole), FRACTION_BITS), Int64(part, 0u));
}

// A coordinate in voxels; its absolute value is below 2^31.
fn in_voxels(units: Int64) -> f32 {
    let whole = bitcast<i32>((units.y << 16u) | (units.x >> 16u));
    return f32(whole) + f32(units.x & 0xffffu) / 65536.0;
}
