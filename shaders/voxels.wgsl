// Stage: tests every candidate voxel and sets the bits of those that their triangle touches.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(9) var<storage, read> entries: array<u32>;
@group(0) @binding(10) var<storage, read> bricks: array<u32>;
@group(0) @binding(12) var<storage, read_write> masks: array<atomic<u32>>;

const NO_BRICK: u32 = 0xffffffffu;
const MASK_WORDS: u32 = 16u;

// Word 2x and 2x + 1 of a mask are the 64 bits 8y + z of slice x, low half first.
fn set_voxel(brick: u32, voxel: vec3<i32>) {
    let v = vec3<u32>(voxel) & vec3<u32>(7u);
    let bit = 8u * v.y + v.z;
    let word = brick * MASK_WORDS + 2u * v.x + (bit >> 5u);
    let mask = 1u << (bit & 31u);
    if (atomicLoad(&masks[word]) & mask) == 0u {
        atomicOr(&masks[word], mask);
    }
}

// One invocation per candidate.
@compute @workgroup_size(GROUP)
fn voxels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    let candidates = atomicLoad(&counters[CANDIDATES]);
    let index = group.y * params.max_groups + group.x;
    let candidate = candidate_of(index, lane, count, candidates);
    if !candidate.exists {
        return;
    }
    let entry = entries[candidate.pair];
    if entry == NO_BRICK {
        return;
    }
    let brick = bricks[entry];
    if brick == NO_BRICK {
        return;
    }
    let pair = pairs[candidate.pair];
    let triangle = triangle_at(pair.triangle);
    let voxel = node_at(candidates_of(pair, triangle), candidate.rank);
    if touches(triangle, node_cube(voxel, 0u)) {
        set_voxel(brick, voxel);
    }
}
