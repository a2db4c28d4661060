// Stage: finds the first triangle that touches each voxel: the lowest index, whatever the order.
// Dispatch: one invocation per (triangle, row of voxels) candidate, as of `voxel_rows`.
//
// #import voxelize/rows

// The words that `reserve_colors` writes.
@group(0) @binding(13) var<storage, read_write> colors: array<atomic<u32>>;

// The index in `colors` of the voxel that is the lowest bit of `touched`.
fn place_of_voxel(word: u32, touched: u32) -> u32 {
    let brick = word / BRICK_WORDS;
    var rank = countOneBits(atomicLoad(&bricks[word]) & ((touched & (~touched + 1u)) - 1u));
    for (var before = brick * BRICK_WORDS + KEY_WORDS; before < word; before++) {
        rank += countOneBits(atomicLoad(&bricks[before]));
    }
    return atomicLoad(&colors[brick]) + rank;
}

@compute @workgroup_size(GROUP)
fn first_triangles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = rows_of(group, lane);
    for (var round = 0u; round < GROUP / SLOTS; round++) {
        let row = row_in_round(rows, lane, round);
        let triangle = pairs[list_of(0u) + row.pair].triangle;
        var touched = row.touched;
        while touched != 0u {
            let place = place_of_voxel(row.word, touched);
            // A load avoids most atomic writes.
            if atomicLoad(&colors[place]) > triangle {
                atomicMin(&colors[place], triangle);
            }
            touched &= touched - 1u;
        }
    }
}
