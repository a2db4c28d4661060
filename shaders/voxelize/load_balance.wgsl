// Load balancing: maps an invocation to its candidate's pair, by a binary search in the prefix sum
// of the pairs' candidate counts.
//
// #import voxelize/params

@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(12) var<storage, read> first_pairs: array<u32>;

struct Candidate {
    pair: u32,
    // Position among the pair's candidates.
    rank: u32,
    // False for the invocations past the last candidate.
    exists: bool,
}

// The first candidate of each pair from the workgroup's first on. Every pair has a candidate, so
// the GROUP candidates of a workgroup belong to at most GROUP consecutive pairs.
var<workgroup> window: array<u32, GROUP>;

// The candidate of this invocation. Call it from all invocations of the workgroup.
fn candidate_of(group: u32, lane: u32, pairs: u32, candidates: u32) -> Candidate {
    let candidate = group * GROUP + lane;
    // Groups past the last candidate only fill the rectangular dispatch, and have no first pair.
    var first_pair = pairs;
    if group * GROUP < candidates {
        first_pair = first_pairs[group];
    }
    let pair = first_pair + lane;
    window[lane] = 0xffffffffu;
    if pair < pairs {
        window[lane] = offsets[pair];
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
    return Candidate(first_pair + lo, candidate - window[lo], candidate < candidates);
}
