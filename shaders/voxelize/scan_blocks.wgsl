// Stage: the first step of the prefix sum, within blocks.
// Dispatch: one workgroup per block of the pair list's capacity, SCAN_ITEMS pairs per invocation.
//
// #import voxelize/counters
// #import voxelize/pair
// #import voxelize/scan

@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> block_offsets: array<u32>;

@compute @workgroup_size(GROUP)
fn scan_blocks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = group.y * params.max_groups + group.x;
    let count = min(atomicLoad(&counters[PAIRS + params.level]), capacity_of(params.level));
    let first = block * SCAN_BLOCK + lane * SCAN_ITEMS;
    let last = min(first + SCAN_ITEMS, count);

    var sum = 0u;
    for (var i = first; i < last; i++) {
        sum += pairs[i].candidates;
    }
    let inclusive = inclusive_sum(lane, sum);
    var offset = inclusive - sum;
    for (var i = first; i < last; i++) {
        offsets[i] = offset;
        offset += pairs[i].candidates;
    }
    // Blocks past the end are empty.
    if (lane == GROUP - 1u) && (block * SCAN_BLOCK < count) {
        block_offsets[block] = inclusive;
    }
}
