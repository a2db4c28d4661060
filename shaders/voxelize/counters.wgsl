// What the stages count: one buffer of atomic words, read back by the host.

@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;

// Words of the counters.
const BRICKS: u32 = 0u;
const FAILURES: u32 = 1u;
// Level l's word of each list: how many pairs expand to level l, how many candidates they have, and
// how many of them are triangles that started there.
const PAIRS: u32 = 2u;
const CANDIDATES: u32 = 8u;
const STARTED: u32 = 14u;
const CROSSINGS: u32 = 20u;

// Bits of the word FAILURES. Counting goes on, so that the host learns what was needed.
const PAIRS_FULL: u32 = 1u;
const BRICKS_FULL: u32 = 2u;
const TOO_MANY_CANDIDATES: u32 = 4u;
