// Shading of a face that is shared by all its samples.
//
// #import draw/params
// #import draw/hit

struct Surface {
    // Identifies the face; 0 if there is none.
    key: vec2<u32>,
    albedo: vec3<u32>,
    // Share of the sky's light.
    sky: u32,
    // NOT_LIT, LIT, or LIT_PER_RAY: whether the sun shines on the face.
    lit: u32,
    // Ambient light at the corners: both ends of the first tangent axis at the lower end of the
    // second, then at the upper.
    corners: vec4<u32>,
}

const NOT_LIT: u32 = 0u;
const LIT: u32 = 1u;
const LIT_PER_RAY: u32 = 2u;

const NO_SURFACE: Surface = Surface(vec2<u32>(0u), vec3<u32>(0u), 0u, NOT_LIT, vec4<u32>(0u));

fn key_of(hit: SurfaceHit) -> vec2<u32> {
    let voxel = vec3<u32>(hit.voxel);
    return vec2<u32>(voxel.x | (voxel.y << 16u), voxel.z | ((hit.face + 1u) << 16u));
}

// The sky direction `index` of a voxel's face; after the last one, the direction to the sun's
// centre.
fn secondary_direction(hit: SurfaceHit, index: u32) -> vec3<i32> {
    if index == draw.sky_directions {
        return draw.sun;
    }
    let sky_set = voxel_hash(vec3<u32>(hit.voxel)) & (draw.sky_sets - 1u);
    let first = (hit.face * draw.sky_sets + sky_set) * draw.sky_directions;
    return direction_at(draw.sky_directions_at + 3u * (first + index));
}

// A hash of a voxel's position (Teschner et al., 2003), uncorrelated between neighbours.
fn voxel_hash(voxel: vec3<u32>) -> u32 {
    let v = voxel * vec3<u32>(73856093u, 19349663u, 83492791u);
    return ((v.x ^ v.y ^ v.z) * 0x9e3779b1u) >> 24u;
}

// The shading of a face, from the number of its occluded sky directions and whether the last traced
// direction, the sun's if voxels are small, was occluded.
fn surface_of(hit: SurfaceHit, occluded: u32, is_last_occluded: bool) -> Surface {
    var lit = LIT_PER_RAY;
    if all(draw.sun_light[hit.face].xyz == vec3<u32>(0u)) {
        lit = NOT_LIT;
    } else if draw.is_small == 1u {
        lit = select(LIT, NOT_LIT, is_last_occluded);
    }
    let sky = tables[draw.sky_shares_at + occluded];
    let corners = corners_of(hit.voxel, hit.face);
    return Surface(key_of(hit), albedo_of(hit.voxel), sky, lit, corners);
}

// The colour of a voxel in linear light.
fn albedo_of(voxel: vec3<i32>) -> vec3<u32> {
    let color = color_of(voxel);
    let linear = draw.srgb_ends_at + 256u;
    return vec3<u32>(
        tables[linear + (color & 0xffu)],
        tables[linear + ((color >> 8u) & 0xffu)],
        tables[linear + ((color >> 16u) & 0xffu)],
    );
}

// Ambient light at the corners of a face, by the occupied voxels of the layer above it.
fn corners_of(voxel: vec3<i32>, face: u32) -> vec4<u32> {
    let axes = tangent_axes(face);
    var above = voxel;
    above[face % 3u] += select(-1, 1, face >= 3u);
    // Bit 3j + i: the voxel at offset (i - 1, j - 1) along the two tangent axes.
    var occluders = 0u;
    for (var n = 0u; n < 9u; n++) {
        var at = above;
        at[axes.x] += i32(n % 3u) - 1;
        at[axes.y] += i32(n / 3u) - 1;
        occluders |= u32(contains(at)) << n;
    }
    var light = vec4<u32>(0u);
    for (var corner = 0u; corner < 4u; corner++) {
        let i = 2u * (corner & 1u);
        let j = 2u * (corner >> 1u);
        let sides = ((occluders >> (3u + i)) & 1u) + ((occluders >> (3u * j + 1u)) & 1u);
        let free = select(3u - sides - ((occluders >> (3u * j + i)) & 1u), 0u, sides == 2u);
        light[corner] = draw.corner_light[free];
    }
    return light;
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
