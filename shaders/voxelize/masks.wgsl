// The places of bricks, and of the voxels' bits in their masks.
//
// #import voxelize/brick_bits

@group(0) @binding(8) var<storage, read> bitmap: array<u32>;
// The number of bricks before each word of the bitmap with bricks.
@group(0) @binding(9) var<storage, read> bricks_before: array<u32>;

// The index of a pair's brick: the number of bricks before it.
fn brick_of(pair: Pair) -> u32 {
    let bit = bit_of_brick(pair);
    let lower = bitmap[bit / 32u] & ((1u << (bit % 32u)) - 1u);
    return bricks_before[bit / 32u] + countOneBits(lower);
}

// Words 2x and 2x + 1 of a mask are the 64 bits 8y + z of slice x, low half first: a row along z is
// one byte.
fn word_in_mask(voxel: vec3<i32>) -> u32 {
    let v = vec2<u32>(voxel.xy) & vec2<u32>(7u);
    return 2u * v.x + (v.y >> 2u);
}

fn word_of(brick: u32, voxel: vec3<i32>) -> u32 {
    return brick * BRICK_WORDS + KEY_WORDS + word_in_mask(voxel);
}

// The voxel's bit in that word.
fn bit_of(voxel: vec3<i32>) -> u32 {
    let v = vec2<u32>(voxel.yz) & vec2<u32>(7u);
    return 8u * (v.x & 3u) + v.y;
}
