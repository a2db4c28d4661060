// Stage: finds triangles that may meet the grid, and have a vertex without a place on the lattice.
// Dispatch: one invocation per triangle.
//
// A triangle with all vertices on one side of the grid has no voxels, wherever they are. Of a
// solid, only the sides along y and z count: its columns run along x.
//
// #import voxelize/mesh
// #import voxelize/counters
// #import scene/beyond

@compute @workgroup_size(GROUP)
fn check_triangles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group_index(group) * GROUP + lane;
    if index >= params.triangle_count {
        return;
    }
    let triangle = triangle_at(index);
    let lo = min(min(triangle.a, triangle.b), triangle.c);
    let hi = max(max(triangle.a, triangle.b), triangle.c);
    let grid = params.dims << vec3<u32>(params.fraction_bits);
    let is_counted = params.shift != vec3<i32>(0i);
    let is_beside = any(((hi < vec3<i32>(0i)) | (lo > grid)) & !is_counted);
    let is_far = any(lo <= vec3<i32>(-BEYOND)) || any(hi >= vec3<i32>(BEYOND));
    if any(hi == vec3<i32>(NOT_A_NUMBER)) || (is_far && !is_beside) {
        atomicOr(&counters[FAILURES], INVALID_VERTEX);
    }
}
