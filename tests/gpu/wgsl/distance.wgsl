// Test kernel: measures a point from a triangle, 13 words each: the point, a, b, c, the unit bits.

// The bits of the distance in voxels, and of its bounds in lattice units.
@compute @workgroup_size(64)
fn decide(@builtin(global_invocation_id) id: vec3<u32>) {
    if 3u * id.x >= arrayLength(&output) {
        return;
    }
    let i = 13u * id.x;
    let p = vector_at(i);
    let triangle = Triangle(vector_at(i + 3u), vector_at(i + 6u), vector_at(i + 9u));
    var nearest = nothing_near();
    lower_to_triangle(&nearest, p, triangle, u32(input[i + 12u]));
    output[3u * id.x] = rounded_nearest(nearest, u32(input[i + 12u]));
    let bounds = distance_bounds(p, triangle);
    output[3u * id.x + 1u] = bitcast<u32>(bounds.least);
    output[3u * id.x + 2u] = bitcast<u32>(bounds.most);
}
