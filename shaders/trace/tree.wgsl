// Shared by the stages that build a scene's tree over its bricks. There is a node for each position
// of each level, with bricks or not: level 1 first, and within a level in canonical order, x
// fastest. So a position gives the index of its node, and no stage needs the counts of another
// level.
//
// #import voxelize/counters

// Invocations per workgroup.
const GROUP: u32 = 256u;

struct Params {
    // Bricks of the grid along each axis.
    bricks: vec3<u32>,
    // Level of the root.
    top: u32,
    // Nodes of all levels.
    nodes: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
    padding: vec2<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;

// Words of a node, and word offsets in it.
const NODE_WORDS: u32 = 38u;
const PARTIAL_MASK: u32 = 0u;
const FULL_MASK: u32 = 16u;
const BEFORE: u32 = 32u;
const FIRST: u32 = 36u;
const PARENT: u32 = 37u;

// The position of a node on its level.
struct Place {
    position: vec3<u32>,
    level: u32,
}

fn index_of(group: vec3<u32>, lane: u32) -> u32 {
    return (group.y * params.max_groups + group.x) * GROUP + lane;
}

// The number of bricks; none after a failure.
fn brick_count() -> u32 {
    return select(atomicLoad(&counters[BRICKS]), 0u, atomicLoad(&counters[FAILURES]) != 0u);
}

// Nodes of a level along each axis.
fn size_of(level: u32) -> vec3<u32> {
    return ((params.bricks - 1u) >> vec3<u32>(3u * level)) + 1u;
}

fn node_index(place: Place) -> u32 {
    var first = 0u;
    for (var level = 1u; level < place.level; level++) {
        let size = size_of(level);
        first += size.x * size.y * size.z;
    }
    let size = size_of(place.level);
    let at = place.position;
    return first + (at.z * size.y + at.y) * size.x + at.x;
}

// The place of a node of the list.
fn place_of(index: u32) -> Place {
    var rest = index;
    var level = 1u;
    while level < params.top {
        let size = size_of(level);
        let count = size.x * size.y * size.z;
        if rest < count {
            break;
        }
        rest -= count;
        level++;
    }
    let size = size_of(level);
    let row = rest / size.x;
    return Place(vec3<u32>(rest % size.x, row % size.y, row / size.y), level);
}

// The word and the bit of a cell in the masks of its node.
fn bit_of_cell(cell: vec3<u32>) -> vec2<u32> {
    let v = cell & vec3<u32>(7u);
    return vec2<u32>(2u * v.x + (v.y >> 2u), 8u * (v.y & 3u) + v.z);
}
