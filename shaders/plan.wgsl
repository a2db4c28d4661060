// Stage: the sizes of the dispatches that work on the pairs of this level.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> dispatch: array<u32>;

// One invocation.
@compute @workgroup_size(1)
fn plan() {
    let needed = atomicLoad(&counters[PAIRS + params.level]);
    if needed > params.pair_capacity {
        atomicOr(&counters[FAILURES], PAIRS_FULL);
    }
    let pairs = min(needed, params.pair_capacity);
    plan_groups(SCAN_GROUPS, (pairs + SCAN_BLOCK - 1u) / SCAN_BLOCK);
    plan_groups(PAIR_GROUPS, (pairs + GROUP - 1u) / GROUP);
}
