// Stage: rounds the vertices of a mesh, in the caller's buffers, to the lattice, and copies its
// indices, after those of the meshes before.
// Dispatch: one invocation per vertex or index, whichever are more.
//
// A coordinate is a row of the transform times the position, in `f32`, rounded to the nearest
// integer, ties to even. Compilers may fuse and reorder the products and the sum: where these are
// not exact, coordinates may differ between cards. Everything after is integers.
//
// #import voxelize/counters
// #import scene/beyond

const GROUP: u32 = 256u;
// The bits of the exponent of an `f32`; NaN and infinity have all of them.
const EXPONENT: u32 = 0x7f800000u;

struct Source {
    // From the mesh to lattice units.
    transform: array<vec4<f32>, 3>,
    // The middle of the vertices' range, in lattice units.
    center: vec3<f32>,
    // Workgroups per dispatch dimension.
    max_groups: u32,
    // The largest distance of a vertex from the middle.
    limit: vec3<f32>,
    // Offset of the vertices in the mesh, in words.
    vertex_words: u32,
    // In words of the vertex buffer.
    first_vertex: u32,
    vertex_stride: u32,
    vertex_count: u32,
    // In indices.
    first_index: u32,
    index_count: u32,
    // 16 or 32.
    index_bits: u32,
    // The vertices and the indices of the meshes before.
    vertex_base: u32,
    index_base: u32,
}

@group(0) @binding(0) var<uniform> source: Source;
@group(0) @binding(1) var<storage, read> vertices: array<u32>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;
@group(0) @binding(4) var<storage, read_write> mesh: array<u32>;

fn coordinate(axis: u32, position: vec3<f32>) -> i32 {
    let row = source.transform[axis];
    let rounded = round(row.x * position.x + row.y * position.y + row.z * position.z + row.w);
    // Comparisons of bits, since a sum of products that overflow may be NaN, and compilers may
    // assume that no number is. Differences of integers up to 2^24 are exact.
    let difference = bitcast<u32>(rounded - source.center[axis]);
    let distance = difference & 0x7fffffffu;
    if distance > EXPONENT {
        return NOT_A_NUMBER;
    }
    if distance > bitcast<u32>(source.limit[axis]) {
        return select(BEYOND, -BEYOND, difference > distance);
    }
    return i32(rounded);
}

fn quantize_vertex(index: u32) {
    let word = source.first_vertex + index * source.vertex_stride;
    let bits = vec3<u32>(vertices[word], vertices[word + 1u], vertices[word + 2u]);
    let at = source.vertex_words + 3u * (source.vertex_base + index);
    // NaN and infinity are found before any arithmetic, which a compiler may translate as if there
    // were none.
    let is_finite = all((bits & vec3<u32>(EXPONENT)) != vec3<u32>(EXPONENT));
    for (var axis = 0u; axis < 3u; axis++) {
        var c = NOT_A_NUMBER;
        if is_finite {
            c = coordinate(axis, bitcast<vec3<f32>>(bits));
        }
        mesh[at + axis] = bitcast<u32>(c);
    }
}

fn copy_index(index: u32) {
    var vertex: u32;
    let at = source.first_index + index;
    if source.index_bits == 16u {
        vertex = (indices[at / 2u] >> (16u * (at % 2u))) & 0xffffu;
    } else {
        vertex = indices[at];
    }
    if vertex >= source.vertex_count {
        atomicOr(&counters[FAILURES], INVALID_INDEX);
        vertex = 0u;
    }
    mesh[source.index_base + index] = source.vertex_base + vertex;
}

@compute @workgroup_size(GROUP)
fn quantize(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * source.max_groups + group.x) * GROUP + lane;
    if index < source.vertex_count {
        quantize_vertex(index);
    }
    if index < source.index_count {
        copy_index(index);
    }
}
