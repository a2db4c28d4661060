// Stage: marks the bricks of the pairs in the bitmap, and counts those of each block of it.
// Dispatch: one invocation per (triangle, brick) pair.
//
// #import voxelize/counters
// #import voxelize/pair_lists
// #import voxelize/brick_bits

@group(0) @binding(8) var<storage, read_write> bitmap: array<atomic<u32>>;
@group(0) @binding(10) var<storage, read_write> block_bricks: array<atomic<u32>>;

@compute @workgroup_size(GROUP)
fn mark_bricks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group_index(group) * GROUP + lane;
    if index >= min(atomicLoad(&counters[PAIRS]), params.pair_capacity) {
        return;
    }
    let bit = bit_of_brick(pairs[index]);
    let word = bit / 32u;
    let mask = 1u << (bit % 32u);
    // Most bricks are marked already: a load avoids most atomic writes.
    if (atomicLoad(&bitmap[word]) & mask) != 0u {
        return;
    }
    if (atomicOr(&bitmap[word], mask) & mask) == 0u {
        atomicAdd(&block_bricks[word / BLOCK_WORDS], 1u);
    }
}
