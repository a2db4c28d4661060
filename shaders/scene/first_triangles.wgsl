// Stage: finds the first triangle that touches each voxel: the lowest index, whatever the order.
// Dispatch: one invocation per (triangle, row of voxels) candidate, as of `voxel_rows`.
//
// #import voxelize/rows

// The masks that `voxel_rows` writes.
@group(0) @binding(11) var<storage, read> bricks: array<u32>;
// The words that `reserve_colors` writes.
@group(0) @binding(13) var<storage, read_write> colors: array<atomic<u32>>;

// The index in `colors` of the first voxel of a word of a mask.
fn place_of_word(word: u32) -> u32 {
    let brick = word / BRICK_WORDS;
    var place = atomicLoad(&colors[brick]);
    for (var before = brick * BRICK_WORDS + KEY_WORDS; before < word; before++) {
        place += countOneBits(bricks[before]);
    }
    return place;
}

// Lowers the triangle of each touched voxel of a row to `triangle`.
fn lower_triangles(row: Row, triangle: u32) {
    let first = place_of_word(row.word);
    let mask = bricks[row.word];
    for (var touched = row.touched; touched != 0u; touched &= touched - 1u) {
        let place = first + countOneBits(mask & ((touched & (~touched + 1u)) - 1u));
        // A load avoids most atomic writes.
        if atomicLoad(&colors[place]) > triangle {
            atomicMin(&colors[place], triangle);
        }
    }
}

@compute @workgroup_size(GROUP)
fn first_triangles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = rows_of(group, lane);
    for (var round = 0u; round < GROUP / SLOTS; round++) {
        let row = row_in_round(rows, lane, round);
        if row.touched != 0u {
            lower_triangles(row, pairs[list_of(0u) + row.pair].triangle);
        }
    }
}
