// Test kernel: every operation of the 64-bit and 96-bit integers on a, b and c. 3 words in, 23 out.

fn put64(at: u32, value: Int64) {
    output[at] = value.x;
    output[at + 1u] = value.y;
}

fn put96(at: u32, value: Int96) {
    put64(at, value.xy);
    output[at + 2u] = value.z;
}

@compute @workgroup_size(64)
fn calculate(@builtin(global_invocation_id) id: vec3<u32>) {
    if 23u * id.x >= arrayLength(&output) {
        return;
    }
    let v = vector_at(3u * id.x);
    let at = 23u * id.x;
    let ab = int64_mul(v.x, v.y);
    let bc = int64_mul(v.y, v.z);
    let abc = int96_mul(ab, v.z);
    put64(at, ab);
    put64(at + 2u, int64_add(ab, bc));
    put64(at + 4u, int64_sub(ab, bc));
    put64(at + 6u, int64_neg(ab));
    put64(at + 8u, int64_abs(ab));
    put96(at + 10u, abc);
    let other = int96_mul(bc, v.z);
    put96(at + 13u, int96_add(abc, other));
    put96(at + 16u, int96_neg(abc));
    put96(at + 19u, int96_abs(abc));
    output[at + 22u] = u32(int64_less(ab, bc)) | (u32(int96_less(abc, other)) << 1u);
}
