// The bitmap of the region's bricks: a bit for each, in the canonical order: x fastest, then y,
// then z. Two bits for rules with bricks by direction.
//
// #import voxelize/params
// #import voxelize/pair

// Words of the bitmap that are counted together.
const BLOCK_WORDS: u32 = 64u;

fn lowest_brick() -> vec3<u32> {
    return vec3<u32>(params.region_lo) >> vec3<u32>(3u);
}

fn region_bricks() -> vec3<u32> {
    return (vec3<u32>(params.region_hi) >> vec3<u32>(3u)) - lowest_brick() + 1u;
}

// Words of the bitmap. The host divides regions of more than 2^27 bits.
fn bitmap_words() -> u32 {
    let bricks = region_bricks();
    return (bricks.x * bricks.y * bricks.z * params.directions + 31u) / 32u;
}

// The bit of a pair's brick.
fn bit_of_brick(pair: Pair) -> u32 {
    let z = node_z(pair);
    let brick = vec3<u32>(pair.node_xy & 0xffffu, pair.node_xy >> 16u, z & ~EXITS) - lowest_brick();
    let size = region_bricks();
    let place = (brick.z * size.y + brick.y) * size.x + brick.x;
    return place * params.directions + select(0u, 1u, (z & EXITS) != 0u);
}

// The key of a bit's brick, as in a pair.
fn key_of_bit(bit: u32) -> vec2<u32> {
    let size = region_bricks();
    let place = bit / params.directions;
    let row = place / size.x;
    let brick = lowest_brick() + vec3<u32>(place % size.x, row % size.y, row / size.y);
    let exits = select(0u, EXITS, bit % params.directions == 1u);
    return vec2<u32>(brick.x | (brick.y << 16u), brick.z | exits);
}
