// Test kernel: decides columns, 14 words each: a, b, c, the axis, the center, fraction_bits and the
// count.

const INPUT_WORDS: u32 = 14u;
const OUTPUT_WORDS: u32 = 5u;

// Word 0, bit 0: covers. Bit 1: the exact part alone, without the filter. Bit 2: the filter was in
// doubt. Bit 3: the floats left several voxels. From bit 4 on: the winding plus 1.
// Words 1 and 2: the first centre and the voxel; 3 and 4: by integers alone. 0 where not covered.
@compute @workgroup_size(64)
fn decide(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&output) / OUTPUT_WORDS {
        return;
    }
    let i = INPUT_WORDS * id.x;
    let triangle = Triangle(vector_at(i), vector_at(i + 3u), vector_at(i + 6u));
    let projected = project_triangle(triangle, u32(input[i + 9u]));
    let center = vec2<i32>(input[i + 10u], input[i + 11u]);
    let fraction_bits = u32(input[i + 12u]);
    let count = input[i + 13u];

    let covered = covers(projected, center);
    var flags = u32(covered)
        | (u32(edges_have(projected, center)) << 1u)
        | (u32(edges_verdict_at(projected, center) == IN_DOUBT) << 2u)
        | (u32(projected.winding + 1) << 4u);
    var found = vec4<i32>(0);
    if covered {
        let height = at(projected, center);
        let h = projected.heights;
        let all_heights = vec2<i32>(min(h.x, min(h.y, h.z)), max(h.x, max(h.y, h.z)));
        let half = 1 << (fraction_bits - 1u);
        let ends = bounds(height) >> vec2<u32>(fraction_bits);
        flags |= u32(ends.x != ends.y) << 3u;
        var exact_voxel = first_end(height, all_heights, fraction_bits, 2 * half, false);
        let far_face = count << fraction_bits;
        exact_voxel -= i32((exact_voxel == count) && is_below(height, far_face, true));
        found = vec4<i32>(
            first_center(height, fraction_bits),
            voxel(height, fraction_bits, count),
            first_end(height, all_heights, fraction_bits, half, true),
            exact_voxel,
        );
    }
    let o = OUTPUT_WORDS * id.x;
    output[o] = flags;
    output[o + 1u] = bitcast<u32>(found.x);
    output[o + 2u] = bitcast<u32>(found.y);
    output[o + 3u] = bitcast<u32>(found.z);
    output[o + 4u] = bitcast<u32>(found.w);
}
