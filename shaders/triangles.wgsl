// The triangles of the mesh, nine coordinates each.

@group(0) @binding(1) var<storage, read> triangles: array<i32>;

fn triangle_at(index: u32) -> Triangle {
    let i = 9u * index;
    return Triangle(
        vec3<i32>(triangles[i], triangles[i + 1u], triangles[i + 2u]),
        vec3<i32>(triangles[i + 3u], triangles[i + 4u], triangles[i + 5u]),
        vec3<i32>(triangles[i + 6u], triangles[i + 7u], triangles[i + 8u]),
    );
}
