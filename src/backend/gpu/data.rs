//! Layouts and constants that the host shares with the voxelization kernels. A test compares them
//! with the shaders.

use bytemuck::{Pod, Zeroable};

pub use crate::gpu::{BRICK_WORDS, GROUP, KEY_WORDS};

/// Maximum candidates of a pair: the children of a node, or the nodes a triangle starts with.
pub const MAX_CANDIDATES: u32 = 512;
/// Words of a listed crossing: its brick's key, with the voxel in the high half of the last word.
pub const CROSSING_WORDS: usize = 2;
/// Bit of the z of a brick's key: its crossings leave the solid.
pub const EXITS: u32 = 1 << 15;
/// Words of a (triangle, node) pair: `Pair` in `shaders/voxelize/pair.wgsl`.
pub const PAIR_WORDS: usize = 4;
/// Words of a triangle (three vertex indices), and of a vertex (three coordinates).
pub const TRIANGLE_WORDS: usize = 3;

/// Levels: voxels, bricks, and nodes of 64, 512, 4096 and 32,768 voxels.
pub const LEVELS: usize = 6;
/// Number of counters.
pub const COUNTERS: usize = 29;
/// Counter of bricks.
pub const BRICKS: usize = 0;
/// Word of the failure bits.
pub const FAILURES: usize = 1;
/// First of the counters of pairs, one per level.
pub const PAIRS: usize = 2;
/// First of the counters of candidates, one per level.
pub const CANDIDATES: usize = 8;
/// First of the counters of triangles that start at each level.
pub const STARTED: usize = 14;
/// First of the counters of workgroups of candidates, one per level.
pub const GROUPS: usize = 20;
/// Counter of crossings.
pub const CROSSINGS: usize = 26;
/// Counter of the children of a scene's nodes.
pub const CHILDREN: usize = 27;
/// Counter of the voxels of a scene with colours.
pub const SCENE_VOXELS: usize = 28;
// The counters of the levels do not overlap.
const _: () = assert!(PAIRS + LEVELS <= CANDIDATES && CANDIDATES + LEVELS <= STARTED);
const _: () = assert!(STARTED + LEVELS <= GROUPS && GROUPS + LEVELS <= CROSSINGS);
const _: () = assert!(CROSSINGS < CHILDREN && CHILDREN < SCENE_VOXELS && SCENE_VOXELS < COUNTERS);

/// Failure bit: more pairs than capacity.
pub const PAIRS_FULL: u32 = 1;
/// Failure bit: more bricks than capacity.
pub const BRICKS_FULL: u32 = 2;
/// Failure bit: more candidates in one pass than allowed.
pub const TOO_MANY_CANDIDATES: u32 = 4;
/// Failure bit: a coordinate out of range.
pub const INVALID_VERTEX: u32 = 8;
/// Failure bit: more voxels than capacity, of a scene with colours.
pub const VOXELS_FULL: u32 = 16;
/// Failure bit: a mesh that is not closed, of a solid scene.
pub const NOT_CLOSED: u32 = 32;
/// Failure bit: an index out of range.
pub const INVALID_INDEX: u32 = 64;

/// First word of a level's dispatch arguments of kernels with one invocation per pair.
pub const PAIR_GROUPS: u64 = 0;
/// First word of a level's dispatch arguments of kernels with one invocation per candidate.
pub const CANDIDATE_GROUPS: u64 = 4;
/// Words of the dispatch arguments of a level.
pub const DISPATCH_WORDS: u64 = 8;

/// The parameters of one pass; `Params` in `shaders/voxelize/params.wgsl` documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct Params {
    pub region_lo: [i32; 3],
    pub fraction_bits: u32,
    pub region_hi: [i32; 3],
    pub level: u32,
    pub shift: [i32; 3],
    pub top_level: u32,
    pub axes: [u32; 3],
    pub first_triangle: u32,
    pub dims: [i32; 3],
    pub triangle_count: u32,
    pub vertex_words: u32,
    pub pair_capacity: u32,
    pub upper_capacity: u32,
    pub brick_capacity: u32,
    pub crossing_capacity: u32,
    pub directions: u32,
    pub candidate_limit: u32,
    pub max_groups: u32,
}

/// Words of the bitmap of bricks that are counted together.
pub const BLOCK_WORDS: u32 = 64;

/// Kinds of candidates in a brick: rows of voxels, columns through them, or voxels.
pub const KIND_ROW: u32 = 0;
/// See [`KIND_ROW`].
pub const KIND_COLUMN: u32 = 1;
/// See [`KIND_ROW`].
pub const KIND_VOXEL: u32 = 2;
/// Columns along `x`, with bricks by direction.
pub const KIND_DIRECTED_COLUMN: u32 = 3;
/// Columns along `x`, and all bricks that triangles touch.
pub const KIND_SOLID_COLUMN: u32 = 4;
