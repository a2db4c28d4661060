// Stage: numbers the marked bricks in the order of the bitmap, and writes their keys and empty
// masks.
// Dispatch: one invocation per word of the bitmap.
//
// #import voxelize/brick_bits

@group(0) @binding(8) var<storage, read> bitmap: array<u32>;
// The number of bricks before each word with bricks.
@group(0) @binding(9) var<storage, read_write> bricks_before: array<u32>;
@group(0) @binding(10) var<storage, read> block_bricks: array<u32>;
@group(0) @binding(11) var<storage, read_write> bricks: array<u32>;

fn write_brick(index: u32, bit: u32) {
    if index >= params.brick_capacity {
        return;
    }
    let key = key_of_bit(bit);
    let first = index * BRICK_WORDS;
    bricks[first] = key.x;
    bricks[first + 1u] = key.y;
    for (var word = KEY_WORDS; word < BRICK_WORDS; word++) {
        bricks[first + word] = 0u;
    }
}

@compute @workgroup_size(GROUP)
fn rank_bricks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let word = group_index(group) * GROUP + lane;
    if word >= bitmap_words() {
        return;
    }
    // Few words have bricks.
    var marked = bitmap[word];
    if marked == 0u {
        return;
    }
    let block = word / BLOCK_WORDS;
    var index = block_bricks[block];
    for (var other = block * BLOCK_WORDS; other < word; other++) {
        index += countOneBits(bitmap[other]);
    }
    bricks_before[word] = index;
    while marked != 0u {
        write_brick(index, 32u * word + firstTrailingBit(marked));
        marked &= marked - 1u;
        index++;
    }
}
