// What all rays to one face of a voxel have in common.
//
// #import draw/params
// #import draw/hit
// #import draw/faces

struct Surface {
    // Which face it is; none has 0.
    key: vec2<u32>,
    albedo: vec3<u32>,
    // What part of the sky's light there is.
    sky: u32,
    // Whether the sun shines on all of it, or on none; or that is told for each ray.
    lit: u32,
    // At the corners: at both ends of the first axis for the lower end of the second, then for the
    // upper.
    corners: vec4<u32>,
}

const NOT_LIT: u32 = 0u;
const LIT: u32 = 1u;
const LIT_IN_PART: u32 = 2u;

const NO_SURFACE: Surface = Surface(vec2<u32>(0u), vec3<u32>(0u), 0u, NOT_LIT, vec4<u32>(0u));

fn key_of(seen: SurfaceHit) -> vec2<u32> {
    let voxel = vec3<u32>(seen.voxel);
    return vec2<u32>(voxel.x | (voxel.y << 16u), voxel.z | ((seen.face + 1u) << 16u));
}

// A direction to the sky from the face of a voxel; after the last one, that to the middle of the sun.
fn direction_from(seen: SurfaceHit, index: u32) -> vec3<i32> {
    if index == draw.sky_directions {
        return draw.sun;
    }
    let number = spread(vec3<u32>(seen.voxel)) & (draw.sky_sets - 1u);
    let first = (seen.face * draw.sky_sets + number) * draw.sky_directions;
    return direction_at(draw.sky_directions_at + 3u * (first + index));
}

// A number of a voxel that those of its neighbours do not resemble.
fn spread(voxel: vec3<u32>) -> u32 {
    let v = voxel * vec3<u32>(73856093u, 19349663u, 83492791u);
    return ((v.x ^ v.y ^ v.z) * 0x9e3779b1u) >> 24u;
}

// What all rays to a face have in common, by how many of its directions to the sky are occluded, and
// whether the
// last one was.
fn surface_of(seen: SurfaceHit, occluded: u32, is_last_dark: bool) -> Surface {
    var lit = LIT_IN_PART;
    if all(draw.of_sun[seen.face].xyz == vec3<u32>(0u)) {
        lit = NOT_LIT;
    } else if draw.is_small == 1u {
        lit = select(LIT, NOT_LIT, is_last_dark);
    }
    let sky = numbers[draw.sky_left_at + occluded];
    let corners = corners_of(seen.voxel, seen.face);
    return Surface(key_of(seen), albedo_of(seen.voxel), sky, lit, corners);
}

// Linear light.
fn albedo_of(voxel: vec3<i32>) -> vec3<u32> {
    let color = color_of(voxel);
    let linear = draw.srgb_ends_at + 256u;
    return vec3<u32>(
        numbers[linear + (color & 0xffu)],
        numbers[linear + ((color >> 8u) & 0xffu)],
        numbers[linear + ((color >> 16u) & 0xffu)],
    );
}

// The light at the corners of a face, by the voxels about them that stand out.
fn corners_of(voxel: vec3<i32>, face: u32) -> vec4<u32> {
    let axes = others(face);
    var above = voxel;
    above[face % 3u] += select(-1, 1, face >= 3u);
    // Bit 3 j + i is that of the voxel i - 1 and j - 1 further along the two axes.
    var stands = 0u;
    for (var n = 0u; n < 9u; n++) {
        var at = above;
        at[axes.x] += i32(n % 3u) - 1;
        at[axes.y] += i32(n / 3u) - 1;
        stands |= u32(contains(at)) << n;
    }
    var light = vec4<u32>(0u);
    for (var corner = 0u; corner < 4u; corner++) {
        let i = 2u * (corner & 1u);
        let j = 2u * (corner >> 1u);
        let sides = ((stands >> (3u + i)) & 1u) + ((stands >> (3u * j + 1u)) & 1u);
        let free = select(3u - sides - ((stands >> (3u * j + i)) & 1u), 0u, sides == 2u);
        light[corner] = draw.corner_light[free];
    }
    return light;
}
