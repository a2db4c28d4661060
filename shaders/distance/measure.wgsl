// Stage: the distances of voxels to the nearest of the triangles near their block.
// Dispatch: one workgroup per cell of 4 x 4 x 4 voxels of an item, one invocation per voxel.
//
// A workgroup lists the triangles that may be the nearest to one of its voxels, by their distance
// from the cell's centre c. Let r be the distance of the outermost voxel centres from c, and D that
// of the nearest triangle. A voxel is within D + r of that triangle, so the triangle nearest to the
// voxel is within D + 2r of c. If the voxel is in the band, that triangle is also within width + r
// of c.
//
// For a voxel, bounds in floats exclude more triangles. The distances to the others, mostly one, or
// those that share the nearest edge or corner, are computed in integers. Rounding is monotone, so
// the least rounded distance is the rounded distance to the nearest triangle.
//
// llvmpipe ends all loops of a subgroup once they have run 65,535 iterations in total. An item has
// at most 1,024 bounding clusters, and 128 of its own, with at most 8 triangles each: 1,024
// triangles. With the check that ends each loop, the iterations are at most
//     17 + 3 + 17 for the list,
//     1,025 + 33 + 32 * 33 for the bounds,
//     32 * 33 to take the near triangles, and 4 * 1,024 for their edges,
//     8 (4 * 1,024 + 1) to round distances: of three edges and, in other invocations, a plane,
// together 40,079.
//
// #import exact/distance
// #import distance/bounds
// #import distance/params

// Voxels along the edge of a cell, and in it.
const CELL: u32 = 4u;
const CELL_VOXELS: u32 = 64u;
// Bricks along the edge of a block.
const BLOCK: u32 = 2u;
const ITEM_CLUSTERS: u32 = 128u;
const CLUSTER_TRIANGLES: u32 = 8u;

// The distance of a cell's outermost voxels from its centre, in voxels: 1.5 sqrt(3) = 2.5981. The
// excess exceeds all rounding errors.
const RADIUS: f32 = 2.6;

// A block and a part of the clusters near it, as half-open ranges of `near`.
struct Item {
    // x in the low and y in the high 16 bits, then z, in blocks.
    xy: u32,
    z: u32,
    // Where its distances are, in blocks.
    slot: u32,
    // The clusters near the block, of which every `step`th bounds its distances.
    bounding: u32,
    bounding_end: u32,
    step: u32,
    // The clusters that this item tests.
    first: u32,
    end: u32,
}

// Up to CLUSTER_TRIANGLES triangles that are close to each other, as a half-open range, and their
// bounding box.
struct Cluster {
    lo: vec3<i32>,
    first: u32,
    hi: vec3<i32>,
    end: u32,
}

@group(0) @binding(1) var<storage, read> items: array<Item>;
// Indices of clusters.
@group(0) @binding(2) var<storage, read> near: array<u32>;
@group(0) @binding(3) var<storage, read> clusters: array<Cluster>;
// Nine coordinates each.
@group(0) @binding(4) var<storage, read> triangles: array<i32>;
// By slot, brick and voxel, or by rows: the complement of the bits of a distance, the larger the
// nearer; 0 for none.
@group(0) @binding(5) var<storage, read_write> found_bits: array<atomic<u32>>;

// The bits of an upper bound of D or, if that is less, of the width: beyond it, width + r is less
// than D + 2r.
var<workgroup> closest: atomic<u32>;
// The triangles of the clusters near the cell, as half-open ranges.
var<workgroup> near_ranges: array<vec2<u32>, ITEM_CLUSTERS>;
var<workgroup> range_count: atomic<u32>;
// The triangles near the cell.
var<workgroup> listed: array<u32, ITEM_CLUSTERS * CLUSTER_TRIANGLES>;
var<workgroup> listed_count: atomic<u32>;

fn corner_at(i: u32) -> vec3<i32> {
    return vec3<i32>(triangles[i], triangles[i + 1u], triangles[i + 2u]);
}

fn triangle_at(index: u32) -> Triangle {
    let i = 9u * index;
    return Triangle(corner_at(i), corner_at(i + 3u), corner_at(i + 6u));
}

// Distances are not negative, so their bits are ordered as they are.
fn lower_closest(most: f32) {
    atomicMin(&closest, bitcast<u32>(most));
}

// Whether triangles that are at least so far from the centre may be the nearest to a voxel.
fn is_near_cell(least: f32, radius: f32) -> bool {
    let most = bitcast<f32>(atomicLoad(&closest));
    return least <= min(most + 2.0 * radius, params.width + radius);
}

// Lists the triangles of the item that may be the nearest to a voxel of the cell around `center`. A
// bound that other invocations lower meanwhile is valid at any time.
fn list_triangles(item: Item, center: vec3<i32>, lane: u32) {
    let radius = RADIUS * f32(1u << params.fraction_bits);
    if lane == 0u {
        atomicStore(&closest, bitcast<u32>(params.width));
        atomicStore(&range_count, 0u);
        atomicStore(&listed_count, 0u);
    }
    workgroupBarrier();
    let step = CELL_VOXELS * item.step;
    for (var i = item.bounding + lane * item.step; i < item.bounding_end; i += step) {
        let cluster = clusters[near[i]];
        lower_closest(box_bounds(center, cluster.lo, cluster.hi).most);
    }
    workgroupBarrier();
    for (var i = item.first + lane; i < item.end; i += CELL_VOXELS) {
        let cluster = clusters[near[i]];
        if is_near_cell(box_bounds(center, cluster.lo, cluster.hi).least, radius) {
            near_ranges[atomicAdd(&range_count, 1u)] = vec2<u32>(cluster.first, cluster.end);
        }
    }
    workgroupBarrier();
    let end = CLUSTER_TRIANGLES * atomicLoad(&range_count);
    for (var i = lane; i < end; i += CELL_VOXELS) {
        let range = near_ranges[i / CLUSTER_TRIANGLES];
        let index = range.x + i % CLUSTER_TRIANGLES;
        if index < range.y {
            let bounds = distance_bounds(center, triangle_at(index));
            lower_closest(bounds.most);
            if is_near_cell(bounds.least, radius) {
                listed[atomicAdd(&listed_count, 1u)] = index;
            }
        }
    }
    workgroupBarrier();
}

// The bits of the distance of `p` from the nearest of the triangles listed.
fn nearest_listed(p: vec3<i32>) -> u32 {
    let count = atomicLoad(&listed_count);
    var most = params.width;
    for (var i = 0u; i < count; i += 1u) {
        most = min(most, distance_bounds(p, triangle_at(listed[i])).most);
    }
    var found = nothing_near();
    for (var first = 0u; first < count; first += 32u) {
        var is_near = 0u;
        for (var i = first; i < min(first + 32u, count); i += 1u) {
            let bounds = distance_bounds(p, triangle_at(listed[i]));
            is_near |= u32(bounds.least <= most) << (i - first);
        }
        // Integers take longest: all invocations of a subgroup compute together, each with a
        // triangle near it.
        while is_near != 0u {
            let triangle = triangle_at(listed[first + firstTrailingBit(is_near)]);
            is_near &= is_near - 1u;
            lower_to_triangle(&found, p, triangle, params.fraction_bits);
        }
    }
    return rounded_nearest(found, params.fraction_bits);
}

// The index of a position in a cube with this edge, by x, y and z.
fn place_in(position: vec3<u32>, edge: u32) -> u32 {
    let local = position % edge;
    return (local.x * edge + local.y) * edge + local.z;
}

@compute @workgroup_size(CELL_VOXELS)
fn measure(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group.y * params.max_groups + group.x;
    // Cells along the edge of a block.
    let edge = BLOCK * BRICK / CELL;
    let item_index = index / (edge * edge * edge);
    if item_index >= params.items {
        return;
    }
    let item = items[item_index];
    let block = vec3<u32>(item.xy & 0xffffu, item.xy >> 16u, item.z);
    let cell = vec3<u32>(index / (edge * edge), index / edge, index) % edge;
    let corner = BLOCK * BRICK * block + CELL * cell;
    // A cell past the grid's end has no voxels. It does not return yet: for FXC, the control flow
    // of the barriers would vary, since it depends on a buffer.
    let center = vec3<i32>((corner + CELL / 2u) << vec3<u32>(params.fraction_bits));
    list_triangles(item, center, lane);

    let voxel = corner + vec3<u32>(lane / (CELL * CELL), lane / CELL, lane) % CELL;
    if (atomicLoad(&listed_count) == 0u) || any(voxel >= params.dims) {
        return;
    }
    let p = vec3<i32>((2u * voxel + 1u) << vec3<u32>(params.fraction_bits - 1u));
    let found = ~nearest_listed(p);
    if found == 0u {
        return;
    }
    let brick = place_in(voxel / BRICK, BLOCK);
    let place = place_in(voxel, BRICK);
    let first = (item.slot * BLOCK * BLOCK * BLOCK + brick) * BRICK_VOXELS;
    let in_rows = voxel.x + params.row * (voxel.y + params.dims.y * voxel.z);
    atomicMax(&found_bits[select(in_rows, first + place, params.row == 0u)], found);
}
