// Shading of samples, in integers: equal to the host's, `src/view/render/shade.rs`.
//
// #import trace/traverse
// #import trace/faces
// #import draw/params
// #import draw/hit
// #import draw/ground

// The shading that all samples of a face share.
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

// The result of one sample of a pixel.
struct Sample {
    // Equal for samples of the same face, or of the background, that are lit alike.
    key: vec3<u32>,
    is_covered: bool,
    color: vec3<u32>,
}

// The purpose of a ray: the visible surface, its ambient occlusion, or the sun's shadow on it.
const CAMERA_RAY: u32 = 0u;
const SKY_RAY: u32 = 1u;
const SUN_RAY: u32 = 2u;

// A sample of a pixel, by its position in the pixel from the top left. One loop traces all its
// rays: compilers inline the traversal at every call.
fn sample_at(
    pixel: vec2<u32>,
    subpixel: vec2<u32>,
    surface: ptr<function, Surface>,
) -> Sample {
    let sample = pixel * draw.samples + subpixel;
    let index = subpixel.y * draw.samples + subpixel.x;
    var ray = sample_ray(sample);
    var purpose = CAMERA_RAY;
    var hit = SurfaceHit(NOTHING, vec3<i32>(0), NO_FACE, ray.origin);
    // Numbers of traced and of occluded sky directions.
    var traced = 0u;
    var occluded = 0u;
    loop {
        let found = first_hit(ray);
        if purpose == CAMERA_RAY {
            hit = surface_hit(ray, found);
            if hit.kind == NOTHING {
                break;
            }
            let is_known = hit.kind == GROUND || all((*surface).key == key_of(hit));
            purpose = select(SKY_RAY, SUN_RAY, is_known);
        } else if purpose == SKY_RAY {
            occluded += u32(found.exists && traced < draw.sky_directions);
            traced++;
            // After the sky rays, one to the sun's centre if voxels are small.
            if traced == draw.sky_directions + draw.is_small {
                *surface = surface_of(hit, occluded, found.exists);
                purpose = SUN_RAY;
            }
        } else if hit.kind == GROUND {
            let light = light_on_ground(hit.point, found.exists);
            return shade_background(sample.y, light, found.exists);
        } else {
            return shade_voxel(hit, *surface, !found.exists);
        }
        if purpose == SKY_RAY {
            let center = face_center(hit.voxel, hit.face);
            ray = Ray(offset_from(center, hit.face), secondary_direction(hit, traced));
        } else if hit.kind == VOXEL && (*surface).lit != LIT_PER_RAY {
            return shade_voxel(hit, *surface, (*surface).lit == LIT);
        } else {
            ray = Ray(hit.point, direction_at(draw.sun_directions_at + 3u * index));
        }
    }
    return shade_background(sample.y, ONE, false);
}

// The background of a row of samples, with the light on the ground.
fn shade_background(row: u32, light: u32, is_shadowed: bool) -> Sample {
    if draw.has_background == 0u {
        return Sample(vec3<u32>(0u), false, vec3<u32>(0u));
    }
    let at = draw.rows_at + row * ROW_WORDS + COLUMN_WORDS;
    let color = vec3<u32>(
        scale(tables[at], light),
        scale(tables[at + 1u], light),
        scale(tables[at + 2u], light),
    );
    return Sample(vec3<u32>(u32(is_shadowed), 0u, 0u), true, color);
}

fn surface_hit(ray: Ray, touch: Touch) -> SurfaceHit {
    if !touch.exists {
        return ground_hit(ray);
    }
    let face = seen_face(ray, touch);
    return SurfaceHit(VOXEL, touch.voxel, face, offset_from(point_on(ray, touch, face), face));
}

// The colour of a voxel at the hit point.
fn shade_voxel(hit: SurfaceHit, surface: Surface, is_lit: bool) -> Sample {
    let axes = tangent_axes(hit.face);
    let within = vec2<u32>(
        int64_sub(pick(hit.point, axes.x), int64_shifted(hit.voxel[axes.x], FRACTION_BITS)).x,
        int64_sub(pick(hit.point, axes.y), int64_shifted(hit.voxel[axes.y], FRACTION_BITS)).x,
    );
    let sky = scale(surface.sky, bilinear(surface.corners, within));
    let edge = edge_at(hit.voxel, within);
    var color = vec3<u32>(0u);
    for (var i = 0u; i < 3u; i++) {
        let sun = select(0u, draw.sun_light[hit.face][i], is_lit);
        let light = scale(sun + scale(draw.sky_light[hit.face][i], sky), edge.x);
        color[i] = scale(surface.albedo[i], min(light, ONE));
    }
    return Sample(vec3<u32>(surface.key, (u32(is_lit) << 1u) | edge.y), true, color);
}

// The light on a point of a face, which is darker along the edges, and 1 if it is on an edge line.
fn edge_at(voxel: vec3<i32>, within: vec2<u32>) -> vec2<u32> {
    // Intermediate sums may wrap: the result is in range.
    let steps = draw.edge_step * (voxel - draw.edge_origin);
    let width = draw.edge_width + steps.x + steps.y + steps.z;
    let strength = u32(clamp(draw.edge_max - width, 0, draw.edge_fade));
    let edge_distance = min(within, vec2<u32>(1u << FRACTION_BITS) - within) << vec2<u32>(8u);
    let is_edge = strength > 0u && i32(min(edge_distance.x, edge_distance.y)) < width;
    let shade = (strength >> 8u) * draw.edge_shade / (u32(draw.edge_fade) >> 8u);
    return vec2<u32>(select(ONE, ONE - shade, is_edge), u32(is_edge));
}

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
