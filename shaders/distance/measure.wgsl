// Stage: the distances of the voxels of bricks to the nearest of the triangles listed for each.
// Dispatch: one invocation per voxel of an item.
//
// The floats exclude triangles that cannot be the nearest: those whose lower bound exceeds the least
// upper bound. Of the others, mostly one, or those that share the nearest edge or corner, distances
// are computed in integers. Rounding is monotone, so the least rounded distance is the rounded
// distance to the nearest triangle.
//
// llvmpipe ends loops after 65,535 turns together. An item has at most 256 clusters, with at most 8
// triangles each: 2 (256 + 2048) turns, and 3 + 3 * 6 for each of 2048 exact distances, are 47,616.
//
// #import exact/distance
// #import distance/bounds

const GROUP: u32 = 256u;
const BRICK: u32 = 8u;
const BRICK_VOXELS: u32 = 512u;

struct Params {
    dims: vec3<u32>,
    unit_bits: u32,
    // The width of the band in lattice units, rounded up.
    width: f32,
    items: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
}

// A brick and a part of the clusters near it.
struct Item {
    // x in the low and y in the high 16 bits, then z, in bricks.
    xy: u32,
    z: u32,
    // Where its distances are, in bricks.
    slot: u32,
    // A half-open range of `clusters`.
    first: u32,
    end: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<Item>;
// The index of the first triangle times 16, plus the number of triangles.
@group(0) @binding(2) var<storage, read> clusters: array<u32>;
// Nine coordinates each.
@group(0) @binding(3) var<storage, read> triangles: array<i32>;
// By slot and voxel: the complement of the bits of a distance, the larger the nearer; 0 for none.
@group(0) @binding(4) var<storage, read_write> nearest: array<atomic<u32>>;

fn corner_at(i: u32) -> vec3<i32> {
    return vec3<i32>(triangles[i], triangles[i + 1u], triangles[i + 2u]);
}

fn triangle_at(index: u32) -> Triangle {
    let i = 9u * index;
    return Triangle(corner_at(i), corner_at(i + 3u), corner_at(i + 6u));
}

@compute @workgroup_size(GROUP)
fn measure(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    if index / BRICK_VOXELS >= params.items {
        return;
    }
    let item = items[index / BRICK_VOXELS];
    let place = index % BRICK_VOXELS;
    let brick = vec3<u32>(item.xy & 0xffffu, item.xy >> 16u, item.z);
    let voxel = BRICK * brick + vec3<u32>(place / 64u, place / 8u % 8u, place % 8u);
    if any(voxel >= params.dims) {
        return;
    }
    let p = vec3<i32>((2u * voxel + 1u) << vec3<u32>(params.unit_bits - 1u));

    var most = params.width;
    for (var i = item.first; i < item.end; i += 1u) {
        let first = clusters[i] >> 4u;
        let end = first + (clusters[i] & 15u);
        for (var j = first; j < end; j += 1u) {
            most = min(most, distance_bounds(p, triangle_at(j)).most);
        }
    }
    var found = 0u;
    for (var i = item.first; i < item.end; i += 1u) {
        let first = clusters[i] >> 4u;
        let end = first + (clusters[i] & 15u);
        for (var j = first; j < end; j += 1u) {
            let triangle = triangle_at(j);
            if distance_bounds(p, triangle).least <= most {
                found = max(found, ~distance_to(p, triangle, params.unit_bits));
            }
        }
    }
    if found > 0u {
        atomicMax(&nearest[item.slot * BRICK_VOXELS + place], found);
    }
}
