// Stage: the distances of the voxels of bricks to the nearest of the triangles listed for each.
// Dispatch: one invocation per voxel of an item.
//
// Bounds in floats exclude triangles that cannot be the nearest: first by the boxes of clusters
// near the brick, then by the triangles of the item. The distances to the others, mostly one, or
// those that share the nearest edge or corner, are computed in integers. Rounding is monotone, so
// the least rounded distance is the rounded distance to the nearest triangle.
//
// llvmpipe ends all loops of a subgroup, of up to 16 invocations, after 65,535 iterations together.
// An item has at most 1,024 bounding clusters, and 128 of its own, with at most 8 triangles each.
// With the check that ends each loop, these iterations
//     1,025 + (129 + 1,024 + 128) for the bounds,
//     16 (128 + 1,024) + 1,025 to find triangles, if invocations advance one at a time,
//     1,025 + 1,024 (8 + 4 + 3 * 8) for distances, which all invocations compute together,
// are 58,627.
//
// #import exact/distance
// #import distance/bounds

const GROUP: u32 = 256u;
const BRICK: u32 = 8u;
const BRICK_VOXELS: u32 = 512u;

struct Params {
    dims: vec3<u32>,
    fraction_bits: u32,
    // The width of the band in lattice units, rounded up.
    width: f32,
    items: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
}

// A brick and a part of the clusters near it, as half-open ranges of `near`.
struct Item {
    // x in the low and y in the high 16 bits, then z, in bricks.
    xy: u32,
    z: u32,
    // Where its distances are, in bricks.
    slot: u32,
    // The clusters near the brick, of which every `step`th bounds its distances.
    bounding: u32,
    bounding_end: u32,
    step: u32,
    // Those of this item.
    first: u32,
    end: u32,
}

// Triangles that are close to each other, as a half-open range, and their bounding box.
struct Cluster {
    lo: vec3<i32>,
    first: u32,
    hi: vec3<i32>,
    end: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<Item>;
// Indices of clusters.
@group(0) @binding(2) var<storage, read> near: array<u32>;
@group(0) @binding(3) var<storage, read> clusters: array<Cluster>;
// Nine coordinates each.
@group(0) @binding(4) var<storage, read> triangles: array<i32>;
// By slot and voxel: the complement of the bits of a distance, the larger the nearer; 0 for none.
@group(0) @binding(5) var<storage, read_write> nearest: array<atomic<u32>>;

fn corner_at(i: u32) -> vec3<i32> {
    return vec3<i32>(triangles[i], triangles[i + 1u], triangles[i + 2u]);
}

fn triangle_at(index: u32) -> Triangle {
    let i = 9u * index;
    return Triangle(corner_at(i), corner_at(i + 3u), corner_at(i + 6u));
}

fn cluster_bounds(p: vec3<i32>, cluster: Cluster) -> Bounds {
    return box_bounds(p, cluster.lo, cluster.hi);
}

// An upper bound of the distance, at most the width of the band.
fn reach(p: vec3<i32>, item: Item) -> f32 {
    var most = params.width;
    for (var i = item.bounding; i < item.bounding_end; i += item.step) {
        most = min(most, cluster_bounds(p, clusters[near[i]]).most);
    }
    for (var i = item.first; i < item.end; i += 1u) {
        let cluster = clusters[near[i]];
        if cluster_bounds(p, cluster).least > most {
            continue;
        }
        for (var j = cluster.first; j < cluster.end; j += 1u) {
            most = min(most, distance_bounds(p, triangle_at(j)).most);
        }
    }
    return most;
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
    let p = vec3<i32>((2u * voxel + 1u) << vec3<u32>(params.fraction_bits - 1u));

    let most = reach(p, item);
    var found = 0u;
    var next_cluster = item.first;
    var next = 0u;
    var end = 0u;
    loop {
        // Distances in integers take longest. All invocations of a subgroup first find a triangle
        // each, then compute together.
        var triangle = Triangle();
        var is_near = false;
        while !is_near && (next < end || next_cluster < item.end) {
            if next < end {
                triangle = triangle_at(next);
                next += 1u;
                is_near = distance_bounds(p, triangle).least <= most;
            } else {
                let cluster = clusters[near[next_cluster]];
                next_cluster += 1u;
                if cluster_bounds(p, cluster).least <= most {
                    next = cluster.first;
                    end = cluster.end;
                }
            }
        }
        if !is_near {
            break;
        }
        found = max(found, ~distance_to(p, triangle, params.fraction_bits));
    }
    if found > 0u {
        atomicMax(&nearest[item.slot * BRICK_VOXELS + place], found);
    }
}
