// The prefix sum of the pairs' candidate counts, in three stages: within blocks of SCAN_BLOCK pairs
// (scan_blocks), over the blocks' totals (scan_totals), and the sum of both (scan_pairs).
//
// #import voxelize/params

// Pairs per invocation in the first step.
const SCAN_ITEMS: u32 = 4u;
const SCAN_BLOCK: u32 = 1024u; // GROUP * SCAN_ITEMS

var<workgroup> sums: array<u32, GROUP>;

// The sum of `value` over this and all lower lanes (Hillis and Steele, 1986). Call it from all
// invocations of the workgroup.
fn inclusive_sum(lane: u32, value: u32) -> u32 {
    var sum = value;
    for (var stride = 1u; stride < GROUP; stride <<= 1u) {
        sums[lane] = sum;
        workgroupBarrier();
        if lane >= stride {
            sum += sums[lane - stride];
        }
        workgroupBarrier();
    }
    return sum;
}
