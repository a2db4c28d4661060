// Stage: the samples at the corners of pixels. If their keys are equal, they stand for the pixel.
// Dispatch: one invocation per pixel.
//
// #import draw/shade
// #import draw/sums

@compute @workgroup_size(RAY_GROUP)
fn draw_corners(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index >= draw.rows * draw.size.x {
        return;
    }
    let last = draw.samples - 1u;
    // A single sample is all four corners.
    let corners = select(4u, 1u, last == 0u);
    var surface = NO_SURFACE;
    var first_key = vec3<u32>(0u);
    var differs = false;
    var sum = vec3<u32>(0u);
    var covered = 0u;
    for (var corner = 0u; corner < corners; corner++) {
        let subpixel = vec2<u32>(corner & 1u, corner >> 1u) * last;
        let found = sample_at(pixel_at(index), subpixel, &surface);
        first_key = select(first_key, found.key, corner == 0u);
        differs = differs || any(found.key != first_key);
        sum += found.color;
        covered += u32(found.is_covered);
    }
    let to = index * SUM_WORDS;
    atomicStore(&sums[to], sum.x);
    atomicStore(&sums[to + 1u], sum.y);
    atomicStore(&sums[to + 2u], sum.z);
    atomicStore(&sums[to + COVERED], covered);
    atomicStore(&sums[to + SAMPLES], corners);
    atomicStore(&sums[to + DIFFERS], u32(differs));
    if has_given_up() {
        atomicOr(&sums[sums_end()], 1u);
    }
}
