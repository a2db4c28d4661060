// Load balancing: maps an invocation to its candidate's pair, by a binary search in the first
// candidates of the pairs.
//
// #import voxelize/counters
// #import voxelize/pair_lists

struct Candidate {
    pair: Pair,
    // The pair's position in the list of its level.
    index: u32,
    // Position among the pair's candidates.
    rank: u32,
    // False for the invocations past the last candidate of their workgroup's block.
    exists: bool,
}

// The first candidate of each pair from the workgroup's first on. Every pair has a candidate, so
// the GROUP candidates of a workgroup belong to at most GROUP consecutive pairs.
var<workgroup> window: array<u32, GROUP>;

// The candidate of this invocation on the pass's level. Call it from all invocations of the
// workgroup.
fn candidate_of(group: vec3<u32>, lane: u32) -> Candidate {
    let group_index = group.y * params.max_groups + group.x;
    let candidate = group_index * GROUP + lane;
    let count = min(atomicLoad(&counters[PAIRS + params.level]), capacity_of(params.level));
    // Groups past the last only fill the rectangular dispatch, and have no first pair.
    var first_pair = count;
    if group_index < atomicLoad(&counters[GROUPS + params.level]) {
        first_pair = first_pairs[groups_of(params.level) + group_index];
    }
    window[lane] = NO_CANDIDATE;
    if first_pair + lane < count {
        // Other blocks' pairs begin in their own workgroups.
        let first = pairs[list_of(params.level) + first_pair + lane].first;
        if (lane == 0u) || (first / GROUP == group_index) {
            window[lane] = first;
        }
    }
    workgroupBarrier();

    var lo = 0u;
    var hi = GROUP;
    while hi - lo > 1u {
        let middle = (lo + hi) / 2u;
        if window[middle] <= candidate {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    let index = first_pair + lo;
    let pair = pairs[list_of(params.level) + min(index, count - 1u)];
    let rank = candidate - window[lo];
    return Candidate(pair, index, rank, (index < count) && (rank < candidates_in(pair)));
}
