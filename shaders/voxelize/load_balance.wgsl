// Load balancing: maps an invocation to its candidate's pair, by the places at which the pairs of
// its workgroup begin among the workgroup's candidates.
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

// Every pair has a candidate, so the GROUP candidates of a workgroup belong to at most GROUP
// consecutive pairs, its window: the index of the first, and the end of the level's list. Both are
// 0 if there are none. One invocation reads the counters: atomic loads of one cache line by all
// would limit short kernels.
var<workgroup> window: vec2<u32>;
// A bit for each candidate of the workgroup: a pair begins.
var<workgroup> begins: array<atomic<u32>, GROUP / 32u>;

// A pair of the window.
struct WindowPair {
    pair: Pair,
    index: u32,
    exists: bool,
}

// After any failure the last stages have no candidates: the result is discarded.
const ANY_FAILURE: u32 = 0xffffffffu;

// The pair of the window at the place of this invocation. No pairs after a failure of the bits
// `fatal`. Call it from all invocations of the workgroup.
fn window_pair(group: vec3<u32>, lane: u32, fatal: u32) -> WindowPair {
    let this_group = group_index(group);
    if lane < GROUP / 32u {
        atomicStore(&begins[lane], 0u);
    }
    if lane == 0u {
        window = vec2<u32>(0u);
        // Groups past the last only fill the rectangular dispatch, and have no first pair.
        let is_listed = this_group < atomicLoad(&counters[GROUPS + params.level]);
        if is_listed && ((atomicLoad(&counters[FAILURES]) & fatal) == 0u) {
            let count = atomicLoad(&counters[PAIRS + params.level]);
            let first = first_pairs[groups_of(params.level) + this_group];
            window = vec2<u32>(first, min(count, capacity_of(params.level)));
        }
    }
    workgroupBarrier();

    var result = WindowPair(NO_PAIR, window.x + lane, false);
    if result.index < window.y {
        result.pair = pairs[list_of(params.level) + result.index];
        // Other blocks' pairs begin in their own workgroups.
        result.exists = (lane == 0u) || (result.pair.first / GROUP == this_group);
        if result.exists {
            let place = max(result.pair.first, this_group * GROUP) % GROUP;
            atomicOr(&begins[place / 32u], 1u << (place % 32u));
        }
    }
    workgroupBarrier();
    return result;
}

// The place in the window of the pair of this invocation's candidate; at least GROUP if there is
// none.
fn place_in_window(lane: u32) -> u32 {
    let word = lane / 32u;
    var begun = countOneBits(atomicLoad(&begins[word]) & ((2u << (lane % 32u)) - 1u));
    for (var before = 0u; before < word; before++) {
        begun += countOneBits(atomicLoad(&begins[before]));
    }
    return begun - 1u;
}

// The candidate of this invocation on the pass's level; as `window_pair`.
fn candidate_of(group: vec3<u32>, lane: u32, fatal: u32) -> Candidate {
    let unused = window_pair(group, lane, fatal);
    let place = place_in_window(lane);
    let index = window.x + place;
    if place >= GROUP {
        return Candidate(NO_PAIR, index, 0u, false);
    }
    let pair = pairs[list_of(params.level) + index];
    let rank = group_index(group) * GROUP + lane - pair.first;
    return Candidate(pair, index, rank, rank < candidates_in(pair));
}
