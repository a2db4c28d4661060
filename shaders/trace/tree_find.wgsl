// Stage: assigns an index to every node that has items, by a hash table with linear probing.
// Dispatch: one invocation per item.
//
// The table holds item indices plus one: a position is wider than an atomic. Claims race: the order of
// the nodes differs between runs, and no result depends on it.
//
// #import trace/tree

@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> table: array<atomic<u32>>;
// The table entry of each item.
@group(0) @binding(4) var<storage, read_write> entry_of_item: array<u32>;
// The node index of each table entry, relative to the level's first node.
@group(0) @binding(5) var<storage, read_write> node_of_entry: array<u32>;
// The positions of the nodes, packed as in an item.
@group(0) @binding(6) var<storage, read_write> positions: array<u32>;

const FREE: u32 = 0u;

@compute @workgroup_size(GROUP)
fn tree_find(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = index_of(group, lane);
    if item >= params.items {
        return;
    }
    let position = node_position_of(item);
    var hash = (position.x * 0x9e3779b1u) ^ (position.y * 0x85ebca77u);
    hash = (hash ^ (hash >> 15u)) * 0x2c1b3c6du;
    var entry = (hash ^ (hash >> 12u)) & params.table_mask;
    // At most half of the entries are taken, so one is free.
    loop {
        var holder = atomicLoad(&table[entry]);
        if holder == FREE {
            let exchange = atomicCompareExchangeWeak(&table[entry], FREE, item + 1u);
            if exchange.exchanged {
                let node = atomicAdd(&counters[0], 1u);
                node_of_entry[entry] = node;
                positions[2u * node] = position.x;
                positions[2u * node + 1u] = position.y;
                break;
            }
            holder = exchange.old_value;
        }
        // A weak exchange may fail on a free entry: try again.
        if holder != FREE {
            if all(node_position_of(holder - 1u) == position) {
                break;
            }
            entry = (entry + 1u) & params.table_mask;
        }
    }
    entry_of_item[item] = entry;
}
