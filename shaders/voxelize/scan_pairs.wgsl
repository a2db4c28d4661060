// Stage: the last step of the prefix sum. Stores each pair's first candidate and, for each
// workgroup of candidates, the pair of its first candidate, where its search begins.
// Dispatch: one invocation per pair; none if there are too many candidates.
//
// #import voxelize/counters
// #import voxelize/pair
// #import voxelize/scan

@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(6) var<storage, read> block_offsets: array<u32>;
@group(0) @binding(12) var<storage, read_write> first_pairs: array<u32>;

@compute @workgroup_size(GROUP)
fn scan_pairs(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    let count = min(atomicLoad(&counters[PAIRS + params.level]), capacity_of(params.level));
    if index >= count {
        return;
    }
    let first = offsets[index] + block_offsets[index / SCAN_BLOCK];
    let end = first + pairs[index].candidates;
    offsets[index] = first;
    // At most three workgroups begin among 512 candidates.
    var begins = (first + GROUP - 1u) / GROUP;
    while begins * GROUP < end {
        first_pairs[begins] = index;
        begins++;
    }
}
