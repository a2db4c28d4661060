// Stage: gives every brick the place of its voxels' words in `colors`, after those of all bricks,
// and sets these words to NO_TRIANGLE.
// Dispatch: one invocation per brick that the buffer may hold.
//
// Bricks get their places in any order: workgroups take them by one atomic addition each.
//
// #import trace/tree
// #import trace/tree_bricks

// For each brick that the buffer may hold the index of its first word here; then a word for each
// voxel.
@group(0) @binding(3) var<storage, read_write> colors: array<u32>;

const NO_TRIANGLE: u32 = 0xffffffffu;

// The voxels of the workgroup's bricks, and their place.
var<workgroup> voxels: atomic<u32>;
var<workgroup> first: u32;

@compute @workgroup_size(GROUP)
fn reserve_colors(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if lane == 0u {
        atomicStore(&voxels, 0u);
    }
    workgroupBarrier();
    let brick = index_of(group, lane);
    // Counting continues after VOXELS_FULL, so that the host learns the needed capacity.
    let is_failed = (atomicLoad(&counters[FAILURES]) & ~VOXELS_FULL) != 0u;
    let is_brick = !is_failed && brick < atomicLoad(&counters[BRICKS]);
    var count = 0u;
    if is_brick {
        let mask = brick * BRICK_WORDS + KEY_WORDS;
        for (var word = 0u; word < BRICK_WORDS - KEY_WORDS; word++) {
            count += countOneBits(bricks[mask + word]);
        }
    }
    let before = atomicAdd(&voxels, count);
    workgroupBarrier();
    let capacity = arrayLength(&colors) - arrayLength(&bricks) / BRICK_WORDS;
    if lane == 0u {
        let all = atomicLoad(&voxels);
        first = atomicAdd(&counters[SCENE_VOXELS], all);
        // A sum past 2^32 wraps around after the failure bit was set: the scene is empty then.
        if first + all > capacity {
            atomicOr(&counters[FAILURES], VOXELS_FULL);
        }
    }
    workgroupBarrier();
    if !is_brick || first + before + count > capacity {
        return;
    }
    let place = arrayLength(&bricks) / BRICK_WORDS + first + before;
    colors[brick] = place;
    for (var voxel = 0u; voxel < count; voxel++) {
        colors[place + voxel] = NO_TRIANGLE;
    }
}
