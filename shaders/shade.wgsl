// What a pixel looks like: in integers, as the host draws it.

// How many of the ways to the sky are dark from each place on the ground.
@group(0) @binding(2) var<storage, read> dark: array<u32>;

// What all rays to one face have in common.
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

// What a ray comes to.
struct Sample {
    // The same for places of one face, or of the background, that are lit alike.
    of_what: vec3<u32>,
    is_covered: bool,
    color: vec3<u32>,
}

// What a ray meets: a voxel, the ground among its places, or nothing.
struct Seen {
    kind: u32,
    voxel: vec3<i32>,
    face: u32,
    // A little off the voxel, or the ground.
    point: array<Int64, 3>,
}

const NOTHING: u32 = 0u;
const VOXEL: u32 = 1u;
const GROUND: u32 = 2u;

// What a ray is followed for: to see what is there, how much of the sky the face of a voxel has, and
// whether the sun shines on it.
const TO_SEE: u32 = 0u;
const TO_SKY: u32 = 1u;
const TO_SUN: u32 = 2u;

// What is at a part of a pixel, counted from its top left. All its rays are followed in one place:
// compilers copy the search to wherever it is called.
fn sample_at(at: vec2<u32>, part: vec2<u32>, surface: ptr<function, Surface>) -> Sample {
    let place = at * look.samples + part;
    let number = part.y * look.samples + part.x;
    var ray = ray_through(place);
    var purpose = TO_SEE;
    var seen = Seen(NOTHING, vec3<i32>(0), NO_FACE, ray.origin);
    // The ways to the sky that were followed, and those of them that are dark.
    var ways = 0u;
    var dark_ways = 0u;
    loop {
        let found = first_hit(ray);
        if purpose == TO_SEE {
            seen = seen_by(ray, found);
            if seen.kind == NOTHING {
                break;
            }
            let is_known = seen.kind == GROUND || all((*surface).key == key_of(seen));
            purpose = select(TO_SKY, TO_SUN, is_known);
        } else if purpose == TO_SKY {
            dark_ways += u32(found.exists && ways < look.sky_ways);
            ways++;
            // After the last one to the sky comes one to the sun, if voxels are small.
            if ways == look.sky_ways + look.is_small {
                *surface = look_at(seen, dark_ways, found.exists);
                purpose = TO_SUN;
            }
        } else if seen.kind == GROUND {
            return background(place.y, light_on_ground(seen.point, found.exists), found.exists);
        } else {
            return voxel_seen(seen, *surface, !found.exists);
        }
        if purpose == TO_SKY {
            ray = Ray(off(middle_of(seen.voxel, seen.face), seen.face), way_from(seen, ways));
        } else if seen.kind == VOXEL && (*surface).lit != LIT_IN_PART {
            return voxel_seen(seen, *surface, (*surface).lit == LIT);
        } else {
            ray = Ray(seen.point, way_at(look.suns_at + 3u * number));
        }
    }
    return background(place.y, ONE, false);
}

// What is behind the voxels, with the shadows on the ground.
fn background(row: u32, light: u32, has_no_sun: bool) -> Sample {
    if look.has_behind == 0u {
        return Sample(vec3<u32>(0u), false, vec3<u32>(0u));
    }
    let behind = look.rows_at + row * ROW_WORDS + COLUMN_WORDS;
    let color = vec3<u32>(
        share_of(numbers[behind], light),
        share_of(numbers[behind + 1u], light),
        share_of(numbers[behind + 2u], light),
    );
    return Sample(vec3<u32>(u32(has_no_sun), 0u, 0u), true, color);
}

// How much light the ground has at a point.
fn light_on_ground(point: array<Int64, 3>, has_no_sun: bool) -> u32 {
    let from_corner = from_corner_of_ground(point);
    let sun = select(ONE, ONE - look.ground_shades.x, has_no_sun);
    let bits = look.ground_step_bits;
    let at = vec2<u32>(steps_of(from_corner[0], bits), steps_of(from_corner[1], bits));
    return share_of(ONE - share_of(look.ground_shades.y, dark_at(at)), sun);
}

fn seen_by(ray: Ray, touch: Touch) -> Seen {
    if !touch.exists {
        return met_by(ray);
    }
    var face = face_of(touch, ray);
    if face == NO_FACE {
        face = facing(ray);
    }
    return Seen(VOXEL, touch.voxel, face, off(point_on(ray, touch, face), face));
}

// Where a ray meets the ground among its places, if it comes from above.
fn met_by(ray: Ray) -> Seen {
    let nothing = Seen(NOTHING, vec3<i32>(0), NO_FACE, ray.origin);
    if look.ground_up == NO_GROUND {
        return nothing;
    }
    let down = -ray.direction[look.ground_up];
    let above = int64_sub(pick(ray.origin, look.ground_up), look.ground_height);
    if down <= 0 || !is_positive(above) {
        return nothing;
    }
    let met = Time(above, u32(down));
    var point = array<Int64, 3>(
        point_at(ray.origin[0], ray.direction.x, met),
        point_at(ray.origin[1], ray.direction.y, met),
        point_at(ray.origin[2], ray.direction.z, met),
    );
    let from_corner = from_corner_of_ground(point);
    let step = look.ground_step << look.ground_step_bits;
    let end = int64_scaled(Int64(PLACES - 1u, 0u), step);
    let is_among = !is_negative(from_corner[0]) && int64_less(from_corner[0], end)
        && !is_negative(from_corner[1]) && int64_less(from_corner[1], end);
    if !is_among {
        return nothing;
    }
    return Seen(GROUND, vec3<i32>(0), NO_FACE, point);
}

// Along the two level axes.
fn from_corner_of_ground(point: array<Int64, 3>) -> array<Int64, 2> {
    let second = select(point[1], point[2], look.ground_up == 1u);
    return array<Int64, 2>(
        int64_sub(point[0], look.ground_corner.xy),
        int64_sub(second, look.ground_corner.zw),
    );
}

// A distance on the ground in multiples of 2^bits units, which are below 127 steps of 16 bits.
fn steps_of(distance: Int64, bits: u32) -> u32 {
    if bits == 0u {
        return distance.x;
    }
    return (distance.x >> bits) | (distance.y << (32u - bits));
}

fn dark_part(place: u32) -> u32 {
    return dark[place] * ONE / look.ground_ways;
}

// What part of the sky is not seen from a point of the ground that is among the places.
fn dark_at(at: vec2<u32>) -> u32 {
    let place = at / look.ground_step;
    let within = ((at % look.ground_step) << vec2<u32>(15u)) / look.ground_step;
    let number = place.y * PLACES + place.x;
    let lower = between(dark_part(number), dark_part(number + 1u), within.x);
    let upper = between(dark_part(number + PLACES), dark_part(number + PLACES + 1u), within.x);
    // To nothing at the table's ends.
    let last = (PLACES - 1u) * look.ground_step;
    let to_end = min(at, last - at) / (last >> 13u);
    let whole = min(min(to_end.x, to_end.y), 1024u) << 5u;
    return share_of(between(lower, upper, within.y), whole);
}

// The colour of a voxel where the ray meets it.
fn voxel_seen(seen: Seen, surface: Surface, is_lit: bool) -> Sample {
    let axes = others(seen.face);
    let within = vec2<u32>(
        int64_sub(pick(seen.point, axes.x), int64_shifted(seen.voxel[axes.x], UNIT_BITS)).x,
        int64_sub(pick(seen.point, axes.y), int64_shifted(seen.voxel[axes.y], UNIT_BITS)).x,
    );
    let sky = share_of(surface.sky, bilinear(surface.corners, within));
    let edge = edge_at(seen.voxel, within);
    var color = vec3<u32>(0u);
    for (var i = 0u; i < 3u; i++) {
        let sun = select(0u, look.of_sun[seen.face][i], is_lit);
        let light = share_of(sun + share_of(look.of_sky[seen.face][i], sky), edge.x);
        color[i] = share_of(surface.albedo[i], min(light, ONE));
    }
    return Sample(vec3<u32>(surface.key, (u32(is_lit) << 1u) | edge.y), true, color);
}

// How light a place in the face of a voxel is, which is darker at its edges, and 1 if it is there.
fn edge_at(voxel: vec3<i32>, within: vec2<u32>) -> vec2<u32> {
    // Wrapping on the way does not matter, where the sum is in range.
    let steps = look.edge_step * (voxel - look.edge_from);
    let width = look.edge_width + steps.x + steps.y + steps.z;
    let strength = u32(clamp(look.edge_most - width, 0, look.edge_range));
    let from_edge = min(within, vec2<u32>(1u << UNIT_BITS) - within) << vec2<u32>(8u);
    let is_edge = strength > 0u && i32(min(from_edge.x, from_edge.y)) < width;
    let shade = (strength >> 8u) * look.edge_shade / (u32(look.edge_range) >> 8u);
    return vec2<u32>(select(ONE, ONE - shade, is_edge), u32(is_edge));
}

fn key_of(seen: Seen) -> vec2<u32> {
    let voxel = vec3<u32>(seen.voxel);
    return vec2<u32>(voxel.x | (voxel.y << 16u), voxel.z | ((seen.face + 1u) << 16u));
}

// A way to the sky from the face of a voxel; after the last one, that to the middle of the sun.
fn way_from(seen: Seen, way: u32) -> vec3<i32> {
    if way == look.sky_ways {
        return look.sun;
    }
    let number = spread(vec3<u32>(seen.voxel)) & (look.sky_sets - 1u);
    let ways = (seen.face * look.sky_sets + number) * look.sky_ways;
    return way_at(look.skies_at + 3u * (ways + way));
}

// A number of a voxel that those of its neighbours do not resemble.
fn spread(voxel: vec3<u32>) -> u32 {
    let v = voxel * vec3<u32>(73856093u, 19349663u, 83492791u);
    return ((v.x ^ v.y ^ v.z) * 0x9e3779b1u) >> 24u;
}

// What all rays to a face have in common, by what is dark of its ways to the sky, and whether the
// last one was.
fn look_at(seen: Seen, dark_ways: u32, is_last_dark: bool) -> Surface {
    var lit = LIT_IN_PART;
    if all(look.of_sun[seen.face].xyz == vec3<u32>(0u)) {
        lit = NOT_LIT;
    } else if look.is_small == 1u {
        lit = select(LIT, NOT_LIT, is_last_dark);
    }
    let sky = numbers[look.sky_left_at + dark_ways];
    let corners = corners_of(seen.voxel, seen.face);
    return Surface(key_of(seen), albedo_of(seen.voxel), sky, lit, corners);
}

// Linear light.
fn albedo_of(voxel: vec3<i32>) -> vec3<u32> {
    let color = color_of(voxel);
    let linear = look.srgb_ends_at + 256u;
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
        light[corner] = look.corner_light[free];
    }
    return light;
}

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
