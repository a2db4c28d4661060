// Which pair a candidate belongs to: work is divided by candidates, not by triangles.

@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read> block_offsets: array<u32>;

struct Candidate {
    pair: u32,
    // Position among the pair's candidates.
    rank: u32,
    // False for the invocations past the last candidate.
    exists: bool,
}

var<workgroup> first_pair: u32;
// The first candidate of each pair from first_pair on. Every pair has a candidate, so the GROUP
// candidates of a workgroup belong to at most GROUP consecutive pairs.
var<workgroup> window: array<u32, GROUP>;

fn first_candidate(pair: u32) -> u32 {
    return offsets[pair] + block_offsets[pair / SCAN_BLOCK];
}

// The last of `count` pairs whose first candidate is at or before `candidate`.
fn pair_of(candidate: u32, count: u32) -> u32 {
    var lo = 0u;
    var hi = count;
    while hi - lo > 1u {
        let middle = (lo + hi) / 2u;
        if first_candidate(middle) <= candidate {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

// The candidate of this invocation. Call it from all invocations of the workgroup.
fn candidate_of(group: u32, lane: u32, pairs: u32, candidates: u32) -> Candidate {
    if lane == 0u {
        first_pair = pair_of(group * GROUP, pairs);
    }
    workgroupBarrier();
    let pair = first_pair + lane;
    window[lane] = 0xffffffffu;
    if pair < pairs {
        window[lane] = first_candidate(pair);
    }
    workgroupBarrier();

    let candidate = group * GROUP + lane;
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
