// Appends pairs to the lists of their levels. The pairs that one workgroup appends to a list are a
// block.
//
// The candidates of a block get whole workgroups of the dispatch over the candidates of its level.
// So an atomic addition numbers them, without a prefix sum over the list.
//
// #import voxelize/counters
// #import voxelize/pair_lists

// The dispatch arguments of the even and of the odd levels: a stage cannot write a buffer that has
// its own.
@group(0) @binding(4) var<storage, read_write> dispatch_0: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> dispatch_1: array<atomic<u32>>;

// For each level, the number of pairs and of their candidates in this workgroup's block: at most
// 2^8 and 2^17, in one word, so that one addition gives a pair its place in both sums.
var<workgroup> blocks: array<atomic<u32>, LEVELS>;
const CANDIDATE_BITS: u32 = 18u;
const CANDIDATE_MASK: u32 = 262143u; // 2^18 - 1

// The list index of the first pair of each block, and its first candidate or NO_CANDIDATE.
var<workgroup> starts: array<vec2<u32>, LEVELS>;

// Words of the dispatch arguments of a level: over its pairs, and over their candidates. Each has
// three, padded to four.
const PAIR_GROUPS: u32 = 0u;
const CANDIDATE_GROUPS: u32 = 4u;
const DISPATCH_WORDS: u32 = 8u;

fn raise_dispatch(level: u32, word: u32, value: u32) {
    if level % 2u == 0u {
        atomicMax(&dispatch_0[word], value);
    } else {
        atomicMax(&dispatch_1[word], value);
    }
}

// Makes a dispatch of a level at least as large: one-dimensional up to max_groups workgroups,
// two-dimensional above. The order of the calls does not matter.
fn widen_dispatch(level: u32, dispatch_of: u32, groups: u32) {
    let first = DISPATCH_WORDS * level + dispatch_of;
    raise_dispatch(level, first, min(groups, params.max_groups));
    raise_dispatch(level, first + 1u, (groups + params.max_groups - 1u) / params.max_groups);
    raise_dispatch(level, first + 2u, 1u);
}

// Reserves room in the list of `level`, and in the dispatch over it. After a failure, the block is
// counted, so that the host learns the needed capacity, and has no candidates.
fn reserve(level: u32, block: u32) -> vec2<u32> {
    let count = block >> CANDIDATE_BITS;
    let candidates = block & CANDIDATE_MASK;
    let slot = atomicAdd(&counters[PAIRS + level], count);
    if slot + count > capacity_of(level) {
        atomicOr(&counters[FAILURES], PAIRS_FULL);
        return vec2<u32>(slot, NO_CANDIDATE);
    }
    let groups = (candidates + GROUP - 1u) / GROUP;
    let first = atomicAdd(&counters[GROUPS + level], groups);
    atomicAdd(&counters[CANDIDATES + level], candidates);
    if (first + groups) * GROUP > params.candidate_limit {
        atomicOr(&counters[FAILURES], TOO_MANY_CANDIDATES);
        return vec2<u32>(slot, NO_CANDIDATE);
    }
    // The maximum over all blocks, whatever the order of the workgroups.
    widen_dispatch(level, CANDIDATE_GROUPS, first + groups);
    widen_dispatch(level, PAIR_GROUPS, (slot + count + GROUP - 1u) / GROUP);
    return vec2<u32>(slot, first * GROUP);
}

// Appends the pair to the list of `level` if it has candidates. Call it from all invocations of
// the workgroup.
fn append_pair(lane: u32, level: u32, pair: Pair) {
    if lane < LEVELS {
        atomicStore(&blocks[lane], 0u);
    }
    workgroupBarrier();
    let count = candidates_in(pair);
    var before = 0u;
    if count > 0u {
        before = atomicAdd(&blocks[level], (1u << CANDIDATE_BITS) + count);
    }
    workgroupBarrier();
    if lane < LEVELS {
        let block = atomicLoad(&blocks[lane]);
        if block > 0u {
            starts[lane] = reserve(lane, block);
        }
    }
    workgroupBarrier();
    if count == 0u {
        return;
    }
    let slot = starts[level].x + (before >> CANDIDATE_BITS);
    if slot >= capacity_of(level) {
        return;
    }
    var appended = pair;
    appended.first = starts[level].y;
    if appended.first != NO_CANDIDATE {
        appended.first += before & CANDIDATE_MASK;
        // At most two workgroups begin among at most 512 candidates: `first_pairs` has two words
        // for each pair.
        var begins = (appended.first + GROUP - 1u) / GROUP;
        while begins * GROUP < appended.first + count {
            first_pairs[groups_of(level) + begins] = slot;
            begins++;
        }
    }
    pairs[list_of(level) + slot] = appended;
}
