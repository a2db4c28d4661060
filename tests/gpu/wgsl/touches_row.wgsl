// Test kernel: decides rows of voxels, 16 words each: a, b, c, the first center, half, the count,
// and the row's place in its box.

// The voxels that the floats of `touches_in_doubt` leave in doubt.
fn doubt_of_floats(triangle: Triangle, first: Cube, voxels: u32) -> u32 {
    let v = relative_to(triangle, first.center);
    let last = f32(firstLeadingBit(voxels));
    let power = common_power(v, first.half);
    let plane = plane_axis(v, f32(first.half), last, power * power * power);
    var verdict = verdict_on(plane, voxels);
    var t = v;
    var up = vec3<i32>(0, 0, 2 * first.half);
    for (var axis = 0u; axis < 9u; axis++) {
        let of_axis = verdict_on(edge_axis_of(t, up, first.half, last, power), voxels);
        verdict.separated |= of_axis.separated;
        verdict.in_doubt |= of_axis.in_doubt;
        t = turned(t, axis);
        up = up.yzx;
    }
    return verdict.in_doubt & ~verdict.separated;
}

// Bits 0 to 7: the voxels touched. Bits 8 to 15: the voxels that the intervals leave in doubt. Bits
// 16 to 23: the voxels decided in integers.
@compute @workgroup_size(64)
fn decide(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if id.x >= arrayLength(&output) {
        return;
    }
    let i = 16u * id.x;
    let triangle = Triangle(vector_at(i), vector_at(i + 3u), vector_at(i + 6u));
    let half = input[i + 12u];
    let first = Cube(vector_at(i + 9u), half);
    let row = vec3<i32>(input[i + 14u], input[i + 15u], 0);
    let last = vec3<i32>(row.xy, input[i + 13u] - 1);
    set_up_rows(lane, triangle, Cube(first.center - 2 * half * row, half), vec3<f32>(last));
    let voxels = touched_voxels(lane, vec2<f32>(row.xy), f32(last.z));
    var result = voxels.touched | (voxels.in_doubt << 8u);
    if voxels.in_doubt != 0u {
        result |= touches_in_doubt(triangle, first, voxels.in_doubt);
        result |= doubt_of_floats(triangle, first, voxels.in_doubt) << 16u;
    }
    output[id.x] = result;
}
