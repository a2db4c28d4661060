// Test kernel: decides rows of voxels, 14 words each: a, b, c, the first center, half, the count.

@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn vector_at(i: u32) -> vec3<i32> {
    return vec3<i32>(input[i], input[i + 1u], input[i + 2u]);
}

// Bits 0 to 7: the voxels touched. Bits 8 to 15: those of which the floats were in doubt.
@compute @workgroup_size(64)
fn decide(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&output) {
        return;
    }
    let i = 14u * id.x;
    let triangle = Triangle(vector_at(i), vector_at(i + 3u), vector_at(i + 6u));
    let first = Cube(vector_at(i + 9u), input[i + 12u]);
    let count = u32(input[i + 13u]);
    let v = Triangle(
        triangle.a - first.center,
        triangle.b - first.center,
        triangle.c - first.center,
    );
    let h = f32(first.half);
    let last = f32(count - 1u);
    let power = common_power(v, first.half);
    let edges = edges_row_verdict(v, h, last, power);
    let plane = plane_row_verdict(v, h, last, power);
    let open = ((1u << count) - 1u) & ~(edges.separated | plane.separated);
    let in_doubt = open & (edges.in_doubt | plane.in_doubt);
    output[id.x] = touched_voxels(triangle, first, count) | (in_doubt << 8u);
}
