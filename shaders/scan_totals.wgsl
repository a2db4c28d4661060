// Stage: the second step of the prefix sum, over the totals of the blocks.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> dispatch: array<u32>;
@group(0) @binding(6) var<storage, read_write> block_offsets: array<u32>;

// One workgroup, an equal share of the blocks per invocation. The total is at most 2^22 pairs of
// 2^9 candidates, so it fits in 32 bits.
@compute @workgroup_size(GROUP)
fn scan_totals(@builtin(local_invocation_index) lane: u32) {
    let pairs = min(atomicLoad(&counters[PAIRS + params.level]), params.pair_capacity);
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
    if lane == GROUP - 1u {
        atomicStore(&counters[CANDIDATES + params.level], inclusive);
        if inclusive > params.candidate_limit {
            atomicOr(&counters[FAILURES], TOO_MANY_CANDIDATES);
        }
        let allowed = select(inclusive, 0u, inclusive > params.candidate_limit);
        plan_groups(CANDIDATE_GROUPS, (allowed + GROUP - 1u) / GROUP);
    }
}
