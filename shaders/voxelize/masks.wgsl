// The bricks' masks and the voxels' bits in them. A pair's table entry has its brick's index.
//
// #import voxelize/params

@group(0) @binding(9) var<storage, read> entry_of_pair: array<u32>;
@group(0) @binding(10) var<storage, read> brick_of_entry: array<u32>;
@group(0) @binding(11) var<storage, read_write> bricks: array<atomic<u32>>;

// The index of a pair's brick.
fn brick_of(pair: u32) -> u32 {
    return brick_of_entry[entry_of_pair[pair]];
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

// Many triangles set the same voxels: a load avoids most atomic writes.
fn set_voxels(word: u32, mask: u32) {
    if (mask & ~atomicLoad(&bricks[word])) != 0u {
        atomicOr(&bricks[word], mask);
    }
}
