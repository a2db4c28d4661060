//! What an invocation of each voxelization kernel costs.

/// The cost of one invocation of a kernel.
pub struct Cost {
    /// The entry point.
    pub kernel: &'static str,
    /// Instructions executed. Static counts of Mesa 22.3's compiler for RDNA3 (gfx1100), row
    /// candidates, without the exact test, which is rare; and seven more times the body of the
    /// binary search, 21 instructions, in stages of candidates.
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
    // Vertex indices, vertices, and the workgroup's addition to a counter.
    cost("seed", 356, 24, 3),
    // The counter, and pairs; of four pairs, a quarter.
    cost("scan_blocks", 102, 12, 2),
    // The counter, and totals, twice.
    cost("scan_totals", 341, 12, 3),
    // The counter, an offset, and a block's offset.
    cost("scan_pairs", 66, 12, 3),
    // Counters, first pair, offset, pair, vertex indices, vertices, addition to a counter.
    cost("refine", 852, 48, 7),
    // The counter, pair, table entry, its pair, addition to a counter.
    cost("find_bricks", 204, 12, 5),
    // Counters, first pair, offset, pair, vertex indices, vertices, brick's index, word, atomic.
    cost("voxel_rows", 1109, 84, 9),
    cost("voxels", 733, 48, 9),
    // The height needs exact integers, which are in the count.
    cost("six_separating", 1176, 36, 9),
    cost("parity", 989, 36, 9),
    cost("list_crossings", 1027, 36, 7),
];
