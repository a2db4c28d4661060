// Stage: the samples of pixels that are not at their corners, where those differ.
// Dispatch: one invocation per sample, corners too.
//
// #import draw/shade
// #import draw/sums

@compute @workgroup_size(RAY_GROUP)
fn draw_interior(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let places = draw.samples * draw.samples;
    let index = (group.y * draw.max_groups + group.x) * RAY_GROUP + lane;
    if index >= draw.rows * draw.size.x * places {
        return;
    }
    let to = index / places * SUM_WORDS;
    let part = vec2<u32>(index % places % draw.samples, index % places / draw.samples);
    let is_corner = all((part == vec2<u32>(0u)) | (part == vec2<u32>(draw.samples - 1u)));
    if is_corner || atomicLoad(&sums[to + DIFFERS]) == 0u {
        return;
    }
    var surface = NO_SURFACE;
    let found = sample_at(pixel_at(index / places), part, &surface);
    atomicAdd(&sums[to], found.color.x);
    atomicAdd(&sums[to + 1u], found.color.y);
    atomicAdd(&sums[to + 2u], found.color.z);
    atomicAdd(&sums[to + COVERED], u32(found.is_covered));
    atomicAdd(&sums[to + SAMPLES], 1u);
    if has_given_up() {
        atomicOr(&sums[sums_end()], 1u);
    }
}
