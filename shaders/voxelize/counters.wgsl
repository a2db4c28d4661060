// The stages' counters: one buffer of atomic words, which the host reads back.

@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;

// Words of the counters.
const BRICKS: u32 = 0u;
const FAILURES: u32 = 1u;
// First words of four lists with a word for each level l: the number of pairs that expand to level
// l, of their candidates, of the pairs that are triangles starting there, and of the workgroups that
// have the candidates.
const PAIRS: u32 = 2u;
const CANDIDATES: u32 = 8u;
const STARTED: u32 = 14u;
const GROUPS: u32 = 20u;
const CROSSINGS: u32 = 26u;

// Bits of the word FAILURES. Counting continues, so that the host learns the needed capacities.
const PAIRS_FULL: u32 = 1u;
const BRICKS_FULL: u32 = 2u;
const TOO_MANY_CANDIDATES: u32 = 4u;
