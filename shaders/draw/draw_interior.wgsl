// Stage: the other samples of pixels, if those at the corners differ.
// Dispatch: one invocation per sample, including corners.
//
// #import draw/shade
// #import draw/sums

@compute @workgroup_size(RAY_GROUP)
fn draw_interior(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let samples = draw.samples * draw.samples;
    let index = index_of(group, lane);
    if index >= draw.rows * draw.size.x * samples {
        return;
    }
    let to = index / samples * SUM_WORDS;
    let subpixel = vec2<u32>(index % samples % draw.samples, index % samples / draw.samples);
    let is_corner = all((subpixel == vec2<u32>(0u)) | (subpixel == vec2<u32>(draw.samples - 1u)));
    if is_corner || atomicLoad(&sums[to + DIFFERS]) == 0u {
        return;
    }
    var surface = NO_SURFACE;
    let found = sample_at(pixel_at(index / samples), subpixel, &surface);
    atomicAdd(&sums[to], found.color.x);
    atomicAdd(&sums[to + 1u], found.color.y);
    atomicAdd(&sums[to + 2u], found.color.z);
    atomicAdd(&sums[to + COVERED], u32(found.is_covered));
    atomicAdd(&sums[to + SAMPLES], 1u);
    if has_given_up() {
        atomicOr(&sums[sums_end()], 1u);
    }
}
