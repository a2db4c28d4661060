// Stage: tests every row of voxels that may touch its triangle, and sets the bits of those that do.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(9) var<storage, read> entries: array<u32>;
@group(0) @binding(10) var<storage, read> numbers: array<u32>;
@group(0) @binding(11) var<storage, read_write> bricks: array<atomic<u32>>;

// Words 2x and 2x + 1 of a mask are the 64 bits 8y + z of slice x, low half first: a row along z is
// one byte.
fn set_row(brick: u32, voxel: vec3<i32>, bits: u32) {
    let v = vec3<u32>(voxel) & vec3<u32>(7u);
    let word = brick * BRICK_WORDS + KEY_WORDS + 2u * v.x + (v.y >> 2u);
    let mask = bits << (8u * (v.y & 3u) + v.z);
    if (mask & ~atomicLoad(&bricks[word])) != 0u {
        atomicOr(&bricks[word], mask);
    }
}

// One invocation per row.
@compute @workgroup_size(GROUP)
fn voxels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    // None where the bricks did not fit: the run is thrown away.
    let failed = atomicLoad(&counters[FAILURES]) != 0u;
    let candidates = select(atomicLoad(&counters[CANDIDATES]), 0u, failed);
    let index = group.y * params.max_groups + group.x;
    let candidate = candidate_of(index, lane, count, candidates);
    if !candidate.exists {
        return;
    }
    let brick = numbers[entries[candidate.pair]];
    let pair = pairs[candidate.pair];
    let triangle = triangle_at(pair.triangle);
    let range = candidates_of(pair, triangle);
    let rows = u32(range.hi.y - range.lo.y + 1);
    let row = vec2<u32>(candidate.rank / rows, candidate.rank % rows);
    let first = range.lo + vec3<i32>(vec3<u32>(row, 0u));
    let length = u32(range.hi.z - range.lo.z + 1);
    set_row(brick, first, touched_voxels(triangle, node_cube(first, 0u), length));
}
