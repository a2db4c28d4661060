// The work lists of all levels, one after another.
//
// #import voxelize/params
// #import voxelize/pair

@group(0) @binding(3) var<storage, read_write> pairs: array<Pair>;
// For each workgroup of candidates, the index of the pair of its first candidate. There are two
// words for each pair of the lists.
@group(0) @binding(12) var<storage, read_write> first_pairs: array<u32>;

// Index of the first pair of the list of a level.
fn list_of(level: u32) -> u32 {
    let upper = max(level, 2u) - 2u;
    return min(level, 2u) * params.pair_capacity + upper * params.upper_capacity;
}

// Index of the first workgroup of the candidates of a level.
fn groups_of(level: u32) -> u32 {
    return 2u * list_of(level);
}
