// Stage: replaces the number of bricks of each block by the number of those in the blocks before,
// and counts all bricks.
// Dispatch: one workgroup.
//
// #import voxelize/counters
// #import voxelize/brick_bits

@group(0) @binding(10) var<storage, read_write> block_bricks: array<u32>;

// The number of bricks of the blocks of each invocation, and of the invocations before.
var<workgroup> sums: array<u32, GROUP>;

@compute @workgroup_size(GROUP)
fn scan_blocks(@builtin(local_invocation_index) lane: u32) {
    let blocks = (bitmap_words() + BLOCK_WORDS - 1u) / BLOCK_WORDS;
    let share = (blocks + GROUP - 1u) / GROUP;
    let first = lane * share;
    let end = min(first + share, blocks);
    var own = 0u;
    for (var block = first; block < end; block++) {
        own += block_bricks[block];
    }
    sums[lane] = own;
    workgroupBarrier();
    // A prefix sum (W. Hillis, G. Steele, "Data Parallel Algorithms", 1986).
    for (var reach = 1u; reach < GROUP; reach *= 2u) {
        var sum = sums[lane];
        if lane >= reach {
            sum += sums[lane - reach];
        }
        workgroupBarrier();
        sums[lane] = sum;
        workgroupBarrier();
    }
    var before = sums[lane] - own;
    for (var block = first; block < end; block++) {
        let count = block_bricks[block];
        block_bricks[block] = before;
        before += count;
    }
    if lane == GROUP - 1u {
        atomicStore(&counters[BRICKS], sums[lane]);
        if sums[lane] > params.brick_capacity {
            atomicOr(&counters[FAILURES], BRICKS_FULL);
        }
    }
}
