// The mesh: three vertex indices for each triangle, then three coordinates for each vertex.
//
// #import exact/shapes
// #import voxelize/params

@group(0) @binding(1) var<storage, read> mesh: array<u32>;

fn vertex_at(index: u32) -> vec3<i32> {
    let i = params.vertex_words + 3u * index;
    return bitcast<vec3<i32>>(vec3<u32>(mesh[i], mesh[i + 1u], mesh[i + 2u]));
}

fn triangle_at(index: u32) -> Triangle {
    let i = 3u * index;
    return Triangle(vertex_at(mesh[i]), vertex_at(mesh[i + 1u]), vertex_at(mesh[i + 2u]));
}

// For rules that assign a crossing to the voxel with the next centre, triangles are shifted by half
// a voxel along +axis: then a crossing lies in the closed cube of its voxel, and touches that
// voxel's brick. Box centres are at least half a voxel inside the bit budget, so shifted corners
// fit too.
fn shifted_triangle_at(index: u32) -> Triangle {
    let triangle = triangle_at(index);
    let shift = params.shift;
    return Triangle(triangle.a + shift, triangle.b + shift, triangle.c + shift);
}
