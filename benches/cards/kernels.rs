//! What an invocation of each voxelization kernel costs.

/// The cost of one invocation of a kernel.
pub struct Cost {
    /// The entry point.
    pub kernel: &'static str,
    /// Instructions executed. Static counts of Mesa 22.3's compiler for RDNA3 (gfx1100), row
    /// candidates, without the exact test, which is rare. Of what one invocation does for all rows of
    /// a pair, a quarter: a fifth of the invocations do, in whole subgroups.
    pub instructions: u32,
    /// Registers (VGPRs), by the same compiler. Other compilers allocate about as many.
    pub registers: u32,
    /// Loads and atomics in global memory that wait for one another, counted in the source.
    pub chain: u32,
}

const fn cost(kernel: &'static str, instructions: u32, registers: u32, chain: u32) -> Cost {
    Cost { kernel, instructions, registers, chain }
}

/// One row for each kernel of voxelization; a test compares the names.
pub const COSTS: &[Cost] = &[
    // Vertex indices, vertices, and the workgroup's additions to two counters.
    cost("seed", 508, 24, 4),
    // Counters, first pair, its candidates, vertex indices, vertices, pair, two additions.
    cost("refine", 1030, 48, 8),
    // The counter, pair, its word, addition to a block.
    cost("mark_bricks", 75, 12, 4),
    // A block, again.
    cost("scan_blocks", 250, 12, 2),
    // A word, its block; most words are empty.
    cost("rank_bricks", 60, 12, 2),
    // Counters, first pair, its candidates, pair, vertex indices, vertices, the brick's index, its
    // word, atomic.
    cost("voxel_rows", 445, 72, 9),
    cost("voxels", 715, 48, 9),
    // The count includes the exact integers that heights need.
    cost("six_separating", 1158, 36, 9),
    cost("parity", 971, 36, 9),
    cost("mark_crossings", 1004, 36, 9),
];
