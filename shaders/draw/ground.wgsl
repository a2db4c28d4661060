// The ground below the voxels, and how much of the sky it sees.
//
// #import draw/params
// #import draw/hit
// #import trace/dda

// How many of the directions to the sky are occluded from each sample of the ground.
@group(0) @binding(2) var<storage, read> occluded_counts: array<u32>;

// How much light the ground has at a point.
fn light_on_ground(point: array<Int64, 3>, has_no_sun: bool) -> u32 {
    let from_corner = from_corner_of_ground(point);
    let sun = select(ONE, ONE - draw.ground_shades.x, has_no_sun);
    let bits = draw.ground_step_bits;
    let at = vec2<u32>(steps_of(from_corner[0], bits), steps_of(from_corner[1], bits));
    return share_of(ONE - share_of(draw.ground_shades.y, occlusion_at(at)), sun);
}

// Where a ray meets the ground among its places, if it comes from above.
fn ground_hit(ray: Ray) -> SurfaceHit {
    let nothing = SurfaceHit(NOTHING, vec3<i32>(0), NO_FACE, ray.origin);
    if draw.ground_up == NO_GROUND {
        return nothing;
    }
    let down = -ray.direction[draw.ground_up];
    let above = int64_sub(pick(ray.origin, draw.ground_up), draw.ground_height);
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
    let step = draw.ground_step << draw.ground_step_bits;
    let end = int64_scaled(Int64(GROUND_SAMPLES - 1u, 0u), step);
    let is_among = !is_negative(from_corner[0]) && int64_less(from_corner[0], end)
        && !is_negative(from_corner[1]) && int64_less(from_corner[1], end);
    if !is_among {
        return nothing;
    }
    return SurfaceHit(GROUND, vec3<i32>(0), NO_FACE, point);
}

// Along the two level axes.
fn from_corner_of_ground(point: array<Int64, 3>) -> array<Int64, 2> {
    let second = select(point[1], point[2], draw.ground_up == 1u);
    return array<Int64, 2>(
        int64_sub(point[0], draw.ground_corner.xy),
        int64_sub(second, draw.ground_corner.zw),
    );
}

// A distance on the ground in multiples of 2^bits units, which are below 127 steps of 16 bits.
fn steps_of(distance: Int64, bits: u32) -> u32 {
    if bits == 0u {
        return distance.x;
    }
    return (distance.x >> bits) | (distance.y << (32u - bits));
}

fn occlusion_of(place: u32) -> u32 {
    return occluded_counts[place] * ONE / draw.ground_directions;
}

// What part of the sky is not seen from a point of the ground that is among the places.
fn occlusion_at(at: vec2<u32>) -> u32 {
    let place = at / draw.ground_step;
    let within = ((at % draw.ground_step) << vec2<u32>(15u)) / draw.ground_step;
    let number = place.y * GROUND_SAMPLES + place.x;
    let lower = between(occlusion_of(number), occlusion_of(number + 1u), within.x);
    let upper = between(occlusion_of(number + GROUND_SAMPLES), occlusion_of(number + GROUND_SAMPLES + 1u), within.x);
    // To nothing at the table's ends.
    let last = (GROUND_SAMPLES - 1u) * draw.ground_step;
    let to_end = min(at, last - at) / (last >> 13u);
    let whole = min(min(to_end.x, to_end.y), 1024u) << 5u;
    return share_of(between(lower, upper, within.y), whole);
}
