// Stage: the second step of the prefix sum, over the totals of the blocks; and the sizes of the
// indirect dispatches over this level's pairs and candidates.
// Dispatch: one workgroup.
//
// #import voxelize/counters
// #import voxelize/scan

@group(0) @binding(4) var<storage, read_write> dispatch: array<u32>;
@group(0) @binding(6) var<storage, read_write> block_offsets: array<u32>;

// Words of the dispatch arguments: three for each dispatch, padded to four.
const PAIR_GROUPS: u32 = 0u;
const CANDIDATE_GROUPS: u32 = 4u;

// One-dimensional up to max_groups workgroups, two-dimensional above.
fn write_dispatch(word: u32, invocations: u32) {
    let groups = (invocations + GROUP - 1u) / GROUP;
    dispatch[word] = min(groups, params.max_groups);
    dispatch[word + 1u] = groups / params.max_groups + u32(groups % params.max_groups != 0u);
    dispatch[word + 2u] = 1u;
}

// One workgroup; each invocation sums a contiguous share of blocks. The total is at most 2^22 pairs
// of 2^9 candidates, so it fits in 32 bits.
@compute @workgroup_size(GROUP)
fn scan_totals(@builtin(local_invocation_index) lane: u32) {
    let needed = atomicLoad(&counters[PAIRS + params.level]);
    let pairs = min(needed, capacity_of(params.level));
    let blocks = (pairs + SCAN_BLOCK - 1u) / SCAN_BLOCK;
    let share = (blocks + GROUP - 1u) / GROUP;
    let first = min(lane * share, blocks);
    let last = min(first + share, blocks);

    var sum = 0u;
    for (var i = first; i < last; i++) {
        sum += block_offsets[i];
    }
    let inclusive = inclusive_sum(lane, sum);
    var offset = inclusive - sum;
    for (var i = first; i < last; i++) {
        let total = block_offsets[i];
        block_offsets[i] = offset;
        offset += total;
    }
    if lane != GROUP - 1u {
        return;
    }
    atomicStore(&counters[CANDIDATES + params.level], inclusive);
    if needed > pairs {
        atomicOr(&counters[FAILURES], PAIRS_FULL);
    }
    let too_many = inclusive > params.candidate_limit;
    if too_many {
        atomicOr(&counters[FAILURES], TOO_MANY_CANDIDATES);
    }
    // After a failure, nodes are still counted, so that the host learns the needed capacities;
    // voxels are not tested, since the result is discarded.
    let failed = (params.level == 0u) && (atomicLoad(&counters[FAILURES]) != 0u);
    write_dispatch(PAIR_GROUPS, select(pairs, 0u, too_many || failed));
    write_dispatch(CANDIDATE_GROUPS, select(inclusive, 0u, too_many || failed));
}
