// Test kernel: decides pairs of a triangle and a cube, 13 words each: a, b, c, center, half.

// Bit 0: touches. Bit 1: the exact part alone, without the filter. Bit 2: the filter was in doubt.
@compute @workgroup_size(64)
fn decide(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&output) {
        return;
    }
    let i = 13u * id.x;
    let triangle = Triangle(vector_at(i), vector_at(i + 3u), vector_at(i + 6u));
    let cube = Cube(vector_at(i + 9u), input[i + 12u]);
    let v = Triangle(
        triangle.a - cube.center,
        triangle.b - cube.center,
        triangle.c - cube.center,
    );
    let exact = !(box_separates(v, cube.half)
        || edges_separate(v, cube.half)
        || plane_separates(v, cube.half));
    let verdict = max(edges_verdict(v, cube.half), plane_verdict(v, cube.half));
    output[id.x] = u32(touches(triangle, cube))
        | (u32(exact) << 1u)
        | (u32(verdict == IN_DOUBT) << 2u);
}
