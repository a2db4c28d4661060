// Stage: the bricks of the band (stream compaction).
// Dispatch: one workgroup per brick of the batch, one invocation per row of eight voxels along z.
//
// #import distance/params

// Rows of a brick, and words of its mask: a word holds four rows.
const ROWS: u32 = 64u;
const MASK_WORDS: u32 = 16u;
const NO_RECORD: u32 = 0xffffffffu;

// A brick of the band.
struct Record {
    // Its place in the batch.
    brick: u32,
    // Where its distances begin in `values`.
    first: u32,
    // The voxels within the width: a bit each, by x, y and z, least significant first.
    mask: array<u32, MASK_WORDS>,
}

// The bits of distances as `measure` leaves them.
@group(0) @binding(1) var<storage, read> found_bits: array<u32>;
// The number of records and of values.
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>, 2>;
@group(0) @binding(3) var<storage, read_write> records: array<Record>;
// The bits of the distances of the band, brick by brick, in the order of the mask.
@group(0) @binding(4) var<storage, read_write> values: array<u32>;

var<workgroup> mask: array<atomic<u32>, MASK_WORDS>;
// The indices of the record and of its first value, or NO_RECORD.
var<workgroup> reserved: vec2<u32>;

// The voxels of the mask in words before this one.
fn count_before(word: u32) -> u32 {
    var count = 0u;
    for (var i = 0u; i < word; i += 1u) {
        count += countOneBits(atomicLoad(&mask[i]));
    }
    return count;
}

@compute @workgroup_size(ROWS)
fn compact(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let brick = group.y * params.max_groups + group.x;
    if brick >= params.bricks {
        return;
    }
    let row = BRICK * (ROWS * brick + lane);
    var within = 0u;
    for (var z = 0u; z < BRICK; z += 1u) {
        within |= u32(~found_bits[row + z] < params.width_bits) << z;
    }
    if lane < MASK_WORDS {
        atomicStore(&mask[lane], 0u);
    }
    workgroupBarrier();
    let word = lane / 4u;
    let shift = BRICK * (lane % 4u);
    atomicOr(&mask[word], within << shift);
    workgroupBarrier();
    if lane == 0u {
        let count = count_before(MASK_WORDS);
        reserved = vec2<u32>(0u, NO_RECORD);
        if count > 0u {
            let record = atomicAdd(&counts[0], 1u);
            let first = atomicAdd(&counts[1], count);
            reserved = vec2<u32>(record, first);
            records[record].brick = brick;
            records[record].first = first;
        }
    }
    workgroupBarrier();
    if reserved.y == NO_RECORD {
        return;
    }
    if lane < MASK_WORDS {
        records[reserved.x].mask[lane] = atomicLoad(&mask[lane]);
    }
    let before = atomicLoad(&mask[word]) & ((1u << shift) - 1u);
    var place = reserved.y + count_before(word) + countOneBits(before);
    for (var z = 0u; z < BRICK; z += 1u) {
        if ((within >> z) & 1u) == 1u {
            values[place] = ~found_bits[row + z];
            place += 1u;
        }
    }
}
