// The stages' counters: one buffer of atomic words, which the host reads back.

@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;

// Words of the counters.
const BRICKS: u32 = 0u;
const FAILURES: u32 = 1u;
// The first words of four lists, each with a word for each level: the pairs that expand to the
// level, their candidates, the triangles that start there, and the workgroups of the candidates.
const PAIRS: u32 = 2u;
const CANDIDATES: u32 = 8u;
const STARTED: u32 = 14u;
const GROUPS: u32 = 20u;
const CROSSINGS: u32 = 26u;
// Counter of the nodes of a scene.
const CHILDREN: u32 = 27u;
// Counter of the voxels of a scene with colours.
const SCENE_VOXELS: u32 = 28u;

// Bits of the word FAILURES. Counting continues, so that the host learns the needed capacities.
const PAIRS_FULL: u32 = 1u;
const BRICKS_FULL: u32 = 2u;
const TOO_MANY_CANDIDATES: u32 = 4u;
const INVALID_VERTEX: u32 = 8u;
const VOXELS_FULL: u32 = 16u;
const NOT_CLOSED: u32 = 32u;
const INVALID_INDEX: u32 = 64u;
