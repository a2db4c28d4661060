// The bricks under the tree.

@group(0) @binding(1) var<storage, read> bricks: array<u32>;

const BRICK_WORDS: u32 = 18u;
const KEY_WORDS: u32 = 2u;

// A brick's position.
fn brick_at(index: u32) -> vec3<u32> {
    let word = index * BRICK_WORDS;
    return vec3<u32>(bricks[word] & 0xffffu, bricks[word] >> 16u, bricks[word + 1u]);
}
