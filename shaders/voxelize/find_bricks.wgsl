// Stage: assigns an index in the brick list to every distinct brick of the pairs, by a hash table
// with linear probing.
// Dispatch: one invocation per (triangle, brick) pair.
//
// The table holds pair indices plus one: a key is wider than an atomic, so it is read from the pair
// that claimed the entry. Claims race: the order of the bricks differs between runs, and the host
// sorts them.
//
// #import voxelize/counters
// #import voxelize/pair_lists

@group(0) @binding(8) var<storage, read_write> table: array<atomic<u32>>;
// The table entry of each pair.
@group(0) @binding(9) var<storage, read_write> entry_of_pair: array<u32>;
// The brick index of each table entry.
@group(0) @binding(10) var<storage, read_write> brick_of_entry: array<u32>;
@group(0) @binding(11) var<storage, read_write> bricks: array<u32>;

const FREE: u32 = 0u;
const NO_ENTRY: u32 = 0xffffffffu;
// The table is at most half full while the bricks fit, and probe sequences are far shorter. A
// longer one counts as a full table: the host splits the work.
const MAX_PROBES: u32 = 256u;

// Bricks that this workgroup claimed, and the index of the first of them.
var<workgroup> found: atomic<u32>;
var<workgroup> found_base: u32;

struct Claim {
    entry: u32,
    // Whether this pair claimed the entry.
    is_new: bool,
}

fn hash_of(pair: Pair) -> u32 {
    var hash = (pair.node_xy * 0x9e3779b1u) ^ (node_z(pair) * 0x85ebca77u);
    hash = (hash ^ (hash >> 15u)) * 0x2c1b3c6du;
    return hash ^ (hash >> 12u);
}

fn same_brick(a: Pair, b: Pair) -> bool {
    return (a.node_xy == b.node_xy) && (node_z(a) == node_z(b));
}

fn claim_entry(index: u32, pair: Pair) -> Claim {
    var entry = hash_of(pair) & params.table_mask;
    var probes = 0u;
    while probes < MAX_PROBES {
        // Most bricks are in the table already: a load avoids the exchange.
        var holder = atomicLoad(&table[entry]);
        if holder == FREE {
            let exchange = atomicCompareExchangeWeak(&table[entry], FREE, index + 1u);
            if exchange.exchanged {
                return Claim(entry, true);
            }
            holder = exchange.old_value;
        }
        // A weak exchange may fail on a free entry: try again.
        if holder != FREE {
            if same_brick(pairs[holder - 1u], pair) {
                return Claim(entry, false);
            }
            entry = (entry + 1u) & params.table_mask;
            probes++;
        }
    }
    atomicOr(&counters[FAILURES], BRICKS_FULL);
    return Claim(NO_ENTRY, false);
}

fn new_brick(index: u32, entry: u32, pair: Pair) {
    if index >= params.brick_capacity {
        atomicOr(&counters[FAILURES], BRICKS_FULL);
        return;
    }
    brick_of_entry[entry] = index;
    let first = index * BRICK_WORDS;
    bricks[first] = pair.node_xy;
    bricks[first + 1u] = node_z(pair);
    for (var word = KEY_WORDS; word < BRICK_WORDS; word++) {
        bricks[first + word] = 0u;
    }
}

@compute @workgroup_size(GROUP)
fn find_bricks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * GROUP + lane;
    let count = min(atomicLoad(&counters[PAIRS]), params.pair_capacity);
    var pair = Pair(0u, 0u, 0u, 0u);
    var claim = Claim(NO_ENTRY, false);
    var rank = 0u;
    if index < count {
        pair = pairs[index];
        claim = claim_entry(index, pair);
        entry_of_pair[index] = claim.entry;
    }
    // One addition to the counter per workgroup, not per brick.
    if lane == 0u {
        atomicStore(&found, 0u);
    }
    workgroupBarrier();
    if claim.is_new {
        rank = atomicAdd(&found, 1u);
    }
    workgroupBarrier();
    if lane == 0u {
        found_base = atomicAdd(&counters[BRICKS], atomicLoad(&found));
    }
    workgroupBarrier();
    if claim.is_new {
        new_brick(found_base + rank, claim.entry, pair);
    }
}
