// What a pixel looks like: in integers, as the host draws it.
//
// #import trace/traverse
// #import draw/params
// #import draw/hit
// #import draw/faces
// #import draw/surface
// #import draw/ground

// What a ray comes to.
struct Sample {
    // The same for places of one face, or of the background, that are lit alike.
    of_what: vec3<u32>,
    is_covered: bool,
    color: vec3<u32>,
}

// What a ray is followed for: to see what is there, how much of the sky the face of a voxel has, and
// whether the sun shines on it.
const TO_SEE: u32 = 0u;
const TO_SKY: u32 = 1u;
const TO_SUN: u32 = 2u;

// What is at a part of a pixel, counted from its top left. All its rays are followed in one place:
// compilers copy the search to wherever it is called.
fn sample_at(at: vec2<u32>, part: vec2<u32>, surface: ptr<function, Surface>) -> Sample {
    let place = at * draw.samples + part;
    let number = part.y * draw.samples + part.x;
    var ray = ray_through(place);
    var purpose = TO_SEE;
    var seen = SurfaceHit(NOTHING, vec3<i32>(0), NO_FACE, ray.origin);
    // Directions to the sky that were traced, and how many of them hit a voxel.
    var traced = 0u;
    var occluded = 0u;
    loop {
        let found = first_hit(ray);
        if purpose == TO_SEE {
            seen = surface_hit(ray, found);
            if seen.kind == NOTHING {
                break;
            }
            let is_known = seen.kind == GROUND || all((*surface).key == key_of(seen));
            purpose = select(TO_SKY, TO_SUN, is_known);
        } else if purpose == TO_SKY {
            occluded += u32(found.exists && traced < draw.sky_directions);
            traced++;
            // After the last one to the sky comes one to the sun, if voxels are small.
            if traced == draw.sky_directions + draw.is_small {
                *surface = surface_of(seen, occluded, found.exists);
                purpose = TO_SUN;
            }
        } else if seen.kind == GROUND {
            return background(place.y, light_on_ground(seen.point, found.exists), found.exists);
        } else {
            return voxel_seen(seen, *surface, !found.exists);
        }
        if purpose == TO_SKY {
            ray = Ray(off(middle_of(seen.voxel, seen.face), seen.face), direction_from(seen, traced));
        } else if seen.kind == VOXEL && (*surface).lit != LIT_IN_PART {
            return voxel_seen(seen, *surface, (*surface).lit == LIT);
        } else {
            ray = Ray(seen.point, direction_at(draw.sun_directions_at + 3u * number));
        }
    }
    return background(place.y, ONE, false);
}

// What is behind the voxels, with the shadows on the ground.
fn background(row: u32, light: u32, has_no_sun: bool) -> Sample {
    if draw.has_behind == 0u {
        return Sample(vec3<u32>(0u), false, vec3<u32>(0u));
    }
    let behind = draw.rows_at + row * ROW_WORDS + COLUMN_WORDS;
    let color = vec3<u32>(
        share_of(numbers[behind], light),
        share_of(numbers[behind + 1u], light),
        share_of(numbers[behind + 2u], light),
    );
    return Sample(vec3<u32>(u32(has_no_sun), 0u, 0u), true, color);
}

fn surface_hit(ray: Ray, touch: Touch) -> SurfaceHit {
    if !touch.exists {
        return ground_hit(ray);
    }
    var face = face_of(touch, ray);
    if face == NO_FACE {
        face = facing(ray);
    }
    return SurfaceHit(VOXEL, touch.voxel, face, off(point_on(ray, touch, face), face));
}

// The colour of a voxel where the ray meets it.
fn voxel_seen(seen: SurfaceHit, surface: Surface, is_lit: bool) -> Sample {
    let axes = others(seen.face);
    let within = vec2<u32>(
        int64_sub(pick(seen.point, axes.x), int64_shifted(seen.voxel[axes.x], UNIT_BITS)).x,
        int64_sub(pick(seen.point, axes.y), int64_shifted(seen.voxel[axes.y], UNIT_BITS)).x,
    );
    let sky = share_of(surface.sky, bilinear(surface.corners, within));
    let edge = edge_at(seen.voxel, within);
    var color = vec3<u32>(0u);
    for (var i = 0u; i < 3u; i++) {
        let sun = select(0u, draw.of_sun[seen.face][i], is_lit);
        let light = share_of(sun + share_of(draw.of_sky[seen.face][i], sky), edge.x);
        color[i] = share_of(surface.albedo[i], min(light, ONE));
    }
    return Sample(vec3<u32>(surface.key, (u32(is_lit) << 1u) | edge.y), true, color);
}

// How light a place in the face of a voxel is, which is darker at its edges, and 1 if it is there.
fn edge_at(voxel: vec3<i32>, within: vec2<u32>) -> vec2<u32> {
    // Wrapping on the way does not matter, where the sum is in range.
    let steps = draw.edge_step * (voxel - draw.edge_from);
    let width = draw.edge_width + steps.x + steps.y + steps.z;
    let strength = u32(clamp(draw.edge_most - width, 0, draw.edge_range));
    let from_edge = min(within, vec2<u32>(1u << UNIT_BITS) - within) << vec2<u32>(8u);
    let is_edge = strength > 0u && i32(min(from_edge.x, from_edge.y)) < width;
    let shade = (strength >> 8u) * draw.edge_shade / (u32(draw.edge_range) >> 8u);
    return vec2<u32>(select(ONE, ONE - shade, is_edge), u32(is_edge));
}
