// The parameters of the kernels that measure distances.

const BRICK: u32 = 8u;
const BRICK_VOXELS: u32 = 512u;

struct Params {
    dims: vec3<u32>,
    fraction_bits: u32,
    // The width of the band in lattice units, rounded up.
    width: f32,
    // The bits of the width in voxels.
    width_bits: u32,
    items: u32,
    // Bricks of the batch.
    bricks: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
    // Words of a row of voxels along x in `found_bits`; 0 if it holds the blocks of a batch.
    row: u32,
    // The first word of `found_bits` that `texels` converts.
    first: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
