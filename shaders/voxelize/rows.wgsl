// Rows of up to eight voxels along z, each tested against one triangle.
//
// A pair has about five rows. So first one invocation for each pair of the workgroup's window sets
// up its rows, SLOTS pairs at a time: a round.
//
// #import exact/touches_row
// #import voxelize/nodes
// #import voxelize/mesh
// #import voxelize/masks
// #import voxelize/load_balance

// A row of voxels and a triangle.
struct Row {
    // The index of the pair in its list.
    pair: u32,
    // The word of the row in `bricks`, and the bits of the voxels in it that the triangle touches.
    word: u32,
    touched: u32,
}

const NO_ROW: Row = Row(0u, 0u, 0u);

// The pair of each slot: its first candidate; the first word of its brick's mask; and the first
// and the last voxel of its box: the place in the brick, three bits for each coordinate.
var<workgroup> boxes: array<vec4<u32>, SLOTS>;

fn packed_place(voxel: vec3<i32>) -> u32 {
    let v = vec3<u32>(voxel) & vec3<u32>(7u);
    return v.x | (v.y << 3u) | (v.z << 6u);
}

fn place_of(packed: u32) -> vec3<i32> {
    return vec3<i32>((vec3<u32>(packed) >> vec3<u32>(0u, 3u, 6u)) & vec3<u32>(7u));
}

fn set_up(slot: u32, found: WindowPair) {
    let triangle = triangle_at(found.pair.triangle);
    let range = candidates_of(found.pair, triangle);
    let last = vec3<f32>(range.hi - range.lo);
    set_up_rows(slot, triangle, node_cube(range.lo, 0u), last);
    let word = brick_of(found.pair) * BRICK_WORDS + KEY_WORDS;
    let ends = vec2<u32>(packed_place(range.lo), packed_place(range.hi));
    boxes[slot] = vec4<u32>(found.pair.first, word, ends);
}

// Decides the row of a candidate; `pair` is the index of its pair.
fn row_of(slot: u32, candidate: u32, pair: u32) -> Row {
    let box = boxes[slot];
    let lo = place_of(box.z);
    let hi = place_of(box.w);
    let rank = i32(candidate - box.x);
    // Rounds to less than a half of 1/8.
    let x = i32((f32(rank) + 0.5) / f32(hi.y - lo.y + 1));
    let row = vec3<i32>(x, rank - x * (hi.y - lo.y + 1), 0);
    if x > hi.x - lo.x {
        return NO_ROW;
    }
    let voxels = touched_voxels(slot, vec2<f32>(row.xy), f32(hi.z - lo.z));
    var touched = voxels.touched;
    if voxels.in_doubt != 0u {
        let own = pairs[list_of(0u) + pair];
        let first = unpack_node(own) * 8 + lo + row;
        let triangle = triangle_at(own.triangle);
        touched |= touches_in_doubt(triangle, node_cube(first, 0u), voxels.in_doubt);
    }
    let first = lo + row;
    return Row(pair, box.y + word_in_mask(first), touched << bit_of(first));
}

// The candidates of a workgroup.
struct Rows {
    found: WindowPair,
    // The invocation's candidate: the place of its pair in the window, and its index.
    place: u32,
    candidate: u32,
}

// Call it from all invocations of the workgroup.
fn rows_of(group: vec3<u32>, lane: u32) -> Rows {
    let found = window_pair(group, lane, ANY_FAILURE);
    return Rows(found, place_in_window(lane), group_index(group) * GROUP + lane);
}

// The row of this invocation if it is decided in this round. Call it from all invocations of the
// workgroup.
fn row_in_round(rows: Rows, lane: u32, round: u32) -> Row {
    if rows.found.exists && (lane / SLOTS == round) {
        set_up(lane % SLOTS, rows.found);
    }
    workgroupBarrier();
    var row = NO_ROW;
    if rows.place / SLOTS == round {
        row = row_of(rows.place % SLOTS, rows.candidate, window.x + rows.place);
    }
    workgroupBarrier();
    return row;
}
