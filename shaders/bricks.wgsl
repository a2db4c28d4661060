// Stage: gives every brick that a pair names one place in the grid, by a hash table.
//
// The table holds pair numbers plus one: a key is wider than an atomic, but the pair that claimed
// an entry can be looked up. Claims race; which pair wins, and so the order of the bricks, differs
// from run to run, and the host sorts.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(8) var<storage, read_write> table: array<atomic<u32>>;
// The table entry of each pair.
@group(0) @binding(9) var<storage, read_write> entries: array<u32>;
// The brick of each table entry.
@group(0) @binding(10) var<storage, read_write> bricks: array<u32>;
@group(0) @binding(11) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read_write> masks: array<u32>;

const FREE: u32 = 0u;
const NO_BRICK: u32 = 0xffffffffu;
// The table is at most half full while bricks fit; runs this long do not occur then.
const MAX_PROBES: u32 = 256u;
const MASK_WORDS: u32 = 16u;

fn hash_of(pair: Pair) -> u32 {
    var hash = (pair.node_xy * 0x9e3779b1u) ^ (pair.node_z * 0x85ebca77u);
    hash = (hash ^ (hash >> 15u)) * 0x2c1b3c6du;
    return hash ^ (hash >> 12u);
}

fn same_brick(a: Pair, b: Pair) -> bool {
    return (a.node_xy == b.node_xy) && (a.node_z == b.node_z);
}

fn new_brick(entry: u32, pair: Pair) {
    let brick = atomicAdd(&counters[BRICKS], 1u);
    if brick >= params.brick_capacity {
        bricks[entry] = NO_BRICK;
        atomicOr(&counters[FAILURES], BRICKS_FULL);
        return;
    }
    bricks[entry] = brick;
    keys[brick] = vec2<u32>(pair.node_xy, pair.node_z);
    for (var word = 0u; word < MASK_WORDS; word++) {
        masks[brick * MASK_WORDS + word] = 0u;
    }
}

// One invocation per pair of a triangle and a brick.
@compute @workgroup_size(GROUP)
fn find_bricks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    if index >= count {
        return;
    }
    let pair = pairs[index];
    var entry = hash_of(pair) & params.table_mask;
    var probes = 0u;
    while probes < MAX_PROBES {
        let claim = atomicCompareExchangeWeak(&table[entry], FREE, index + 1u);
        if claim.exchanged {
            entries[index] = entry;
            new_brick(entry, pair);
            return;
        }
        // A weak exchange may fail on a free entry: try it again.
        if claim.old_value != FREE {
            if same_brick(pairs[claim.old_value - 1u], pair) {
                entries[index] = entry;
                return;
            }
            entry = (entry + 1u) & params.table_mask;
            probes++;
        }
    }
    entries[index] = NO_BRICK;
    atomicOr(&counters[FAILURES], BRICKS_FULL);
}
