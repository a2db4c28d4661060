// Stage: tests every row of voxels that may touch its triangle, and sets the bits of those that do.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;

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
    let pair = pairs[candidate.pair];
    let triangle = triangle_at(pair.triangle);
    let range = candidates_of(pair, triangle);
    let rows = u32(range.hi.y - range.lo.y + 1);
    let row = vec2<u32>(candidate.rank / rows, candidate.rank % rows);
    let first = range.lo + vec3<i32>(vec3<u32>(row, 0u));
    let length = u32(range.hi.z - range.lo.z + 1);
    let touched = touched_voxels(triangle, node_cube(first, 0u), length);
    set_voxels(word_of(brick_of(candidate.pair), first), touched << bit_of(first));
}
