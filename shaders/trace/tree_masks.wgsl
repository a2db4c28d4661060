// The masks of the tree's nodes, while they are set.
//
// #import trace/tree

@group(0) @binding(3) var<storage, read_write> nodes: array<atomic<u32>>;

// Sets the bit of a brick in a mask of its node, PARTIAL_MASK or FULL_MASK, and that of the node
// among the partial cells of the node above.
fn set_cell(brick: vec3<u32>, brick_mask: u32) {
    var cell = brick;
    var mask = brick_mask;
    for (var level = 1u; level <= params.top; level++) {
        let place = bit_of_cell(cell);
        cell = cell >> vec3<u32>(3u);
        let word = node_index(Place(cell, level)) * NODE_WORDS + mask + place.x;
        let bit = 1u << place.y;
        // The invocation that set it sets those above.
        if (atomicLoad(&nodes[word]) & bit) != 0u || (atomicOr(&nodes[word], bit) & bit) != 0u {
            return;
        }
        mask = PARTIAL_MASK;
    }
}
