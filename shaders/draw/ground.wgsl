// The ground below the voxels, with its ambient occlusion.
//
// #import draw/params
// #import draw/hit
// #import trace/dda

// For each sample of the ground, the number of occluded sky directions.
@group(0) @binding(2) var<storage, read> occluded_counts: array<u32>;

// The light on the ground at a point, as a share of that of the unshadowed background.
fn light_on_ground(point: array<Int64, 3>, is_shadowed: bool) -> u32 {
    let from_corner = from_corner_of_ground(point);
    let sun = select(ONE, ONE - draw.ground_shades.x, is_shadowed);
    let bits = draw.ground_step_bits;
    let at = vec2<u32>(
        shifted_distance(from_corner[0], bits),
        shifted_distance(from_corner[1], bits),
    );
    return scale(ONE - scale(draw.ground_shades.y, occlusion_at(at)), sun);
}

// Intersects a ray from above with the sampled square of the ground.
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
    let point = point_at(ray, Time(above, u32(down)));
    let from_corner = from_corner_of_ground(point);
    let step = draw.ground_step << draw.ground_step_bits;
    let end = int64_scaled(Int64(GROUND_SAMPLES - 1u, 0u), step);
    let is_inside = !is_negative(from_corner[0]) && int64_less(from_corner[0], end)
        && !is_negative(from_corner[1]) && int64_less(from_corner[1], end);
    if !is_inside {
        return nothing;
    }
    return SurfaceHit(GROUND, vec3<i32>(0), NO_FACE, point);
}

// The vector from the first sample to `point` along the two horizontal axes, in units.
fn from_corner_of_ground(point: array<Int64, 3>) -> array<Int64, 2> {
    let second = select(point[1], point[2], draw.ground_up == 1u);
    return array<Int64, 2>(
        int64_sub(point[0], draw.ground_corner.xy),
        int64_sub(second, draw.ground_corner.zw),
    );
}

// A distance in multiples of 2^bits units: below 127 ground steps of 16 bits each.
fn shifted_distance(distance: Int64, bits: u32) -> u32 {
    if bits == 0u {
        return distance.x;
    }
    return (distance.x >> bits) | (distance.y << (32u - bits));
}

fn sample_occlusion(sample: u32) -> u32 {
    return occluded_counts[sample] * ONE / draw.ground_directions;
}

// The occluded share of the sky at a point of the sampled ground: bilinear between samples.
fn occlusion_at(at: vec2<u32>) -> u32 {
    let cell = at / draw.ground_step;
    let within = ((at % draw.ground_step) << vec2<u32>(15u)) / draw.ground_step;
    let sample = cell.y * GROUND_SAMPLES + cell.x;
    let next = sample + GROUND_SAMPLES;
    let lower = lerp_fixed(sample_occlusion(sample), sample_occlusion(sample + 1u), within.x);
    let upper = lerp_fixed(sample_occlusion(next), sample_occlusion(next + 1u), within.x);
    // Fades to 0 at the border of the table.
    let last = (GROUND_SAMPLES - 1u) * draw.ground_step;
    let to_end = min(at, last - at) / (last >> 13u);
    let fade = min(min(to_end.x, to_end.y), 1024u) << 5u;
    return scale(lerp_fixed(lower, upper, within.y), fade);
}
