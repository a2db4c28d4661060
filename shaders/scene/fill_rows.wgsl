// Stage: fills a solid, in place of `tree_fill`. In each row of bricks along x, the flips of
// `parity` become the voxels inside by a running XOR over the slices. Bricks entirely inside are
// full cells of their nodes, those partly inside are partial cells.
// Dispatch: one invocation per row of bricks.
//
// The triangles of a closed mesh mark all bricks partly inside. An unmarked brick has no flips: its
// slices are equal. If it is partly inside, one of two neighbouring voxels at the same x is inside,
// and the surface passes between their centres. The bricks of triangles half a voxel further along
// x are marked: there the point lies in the far face of both voxels, in the closed cube of the
// brick. So an unmarked brick partly inside, or a row that ends inside, is of a mesh that is not
// closed.
//
// #import trace/tree_masks

@group(0) @binding(1) var<storage, read_write> bricks: array<u32>;
@group(0) @binding(5) var<storage, read> bitmap: array<u32>;
// The number of bricks before each word of the bitmap with bricks.
@group(0) @binding(6) var<storage, read> bricks_before: array<u32>;

const BRICK_WORDS: u32 = 18u;
const KEY_WORDS: u32 = 2u;

const NONE: vec2<u32> = vec2<u32>(0u);
const ALL: vec2<u32> = vec2<u32>(0xffffffffu);

@compute @workgroup_size(GROUP)
fn fill_rows(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = index_of(group, lane);
    if row >= params.bricks.y * params.bricks.z || brick_count() == 0u {
        return;
    }
    // A bit for each column of the row, as in a slice of a mask: the last voxel is inside.
    var inside = NONE;
    var is_closed = true;
    for (var x = 0u; x < params.bricks.x; x++) {
        let place = row * params.bricks.x + x;
        let bit = 1u << (place % 32u);
        let marked = bitmap[place / 32u];
        var any_inside = inside;
        var all_inside = inside;
        if (marked & bit) != 0u {
            let index = bricks_before[place / 32u] + countOneBits(marked & (bit - 1u));
            let mask = index * BRICK_WORDS + KEY_WORDS;
            any_inside = NONE;
            all_inside = ALL;
            for (var word = mask; word < mask + 16u; word += 2u) {
                inside ^= vec2<u32>(bricks[word], bricks[word + 1u]);
                bricks[word] = inside.x;
                bricks[word + 1u] = inside.y;
                any_inside |= inside;
                all_inside &= inside;
            }
        } else if any(inside != NONE) && any(inside != ALL) {
            is_closed = false;
        }
        let brick = vec3<u32>(x, row % params.bricks.y, row / params.bricks.y);
        if all(all_inside == ALL) {
            set_cell(brick, FULL_MASK);
        } else if any(any_inside != NONE) {
            set_cell(brick, PARTIAL_MASK);
        }
    }
    if !is_closed || any(inside != NONE) {
        atomicOr(&counters[FAILURES], NOT_CLOSED);
    }
}
