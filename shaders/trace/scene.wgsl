// The acceleration structure for rays: a tree of nodes over the bricks of a grid, in buffers of a
// published layout, version 1. Other shaders can bind these buffers as here.
//
// A node is a cube of 8 x 8 x 8 cells: smaller nodes or, at level 1, bricks of 8 x 8 x 8 voxels. A
// cell of level l is 8^l voxels wide; level 0 is voxels. A mask has 16 words: cell or voxel (x, y,
// z) of its node or brick is bit 8 (y & 3) + z of word 2x + (y >> 2).

struct Scene {
    version: u32,
    // The level of the root, the node that contains all others: its cells are 8^top voxels wide.
    top: u32,
    // Index of the root, which begins at the grid's minimum corner; NO_NODES if the grid is empty.
    root: u32,
    // Colour of voxels without one of their own: sRGB, red in the lowest byte, opacity in the
    // highest.
    rest: u32,
    // First and last voxel, inclusive, of a box that contains all occupied voxels.
    lo: vec3<i32>,
    // Number of bricks.
    bricks: u32,
    hi: vec3<i32>,
    // 1 if voxels have colours of their own.
    has_colors: u32,
}

const SCENE_VERSION: u32 = 1u;
const NO_NODES: u32 = 0xffffffffu;

struct Node {
    // Cells with some, not all, voxels occupied, or with all occupied in several colours; in solids
    // filled on a GPU also nodes with all occupied.
    partial: array<u32, 16>,
    // Cells with all voxels occupied.
    full: array<u32, 16>,
    // Prefix sum of partial cells by x, exclusive: two 16-bit counts per word, lower x in the low
    // half.
    before: array<u32, 4>,
    // Index in `children` of the first child: one child per partial cell, in the order of mask
    // bits.
    first: u32,
    // Index of the parent node; 0 for the root.
    parent: u32,
}

// Words of a brick: its key, the position in bricks with x in the low and y in the high 16 bits of
// the first word and z in the second; then its mask.
const SCENE_BRICK_WORDS: u32 = 18u;
const SCENE_KEY_WORDS: u32 = 2u;

@group(1) @binding(0) var<uniform> scene: Scene;
@group(1) @binding(1) var<storage, read> nodes: array<Node>;
// Indices of nodes; at level 1, of bricks.
@group(1) @binding(2) var<storage, read> children: array<u32>;
@group(1) @binding(3) var<storage, read> scene_bricks: array<u32>;
// If voxels have colours of their own: for each brick the word offset of its colours, or 0 if it
// has none; then the colours, one per occupied voxel in the order of mask bits.
@group(1) @binding(4) var<storage, read> colors: array<u32>;

// The state of a cell of a node, or of a voxel of a brick.
struct Cell {
    kind: u32,
    // Index of the child, for a partial cell.
    child: u32,
}

const EMPTY: u32 = 0u;
const PARTIAL: u32 = 1u;
const FULL: u32 = 2u;

// The mask word and the bit in it of a cell or voxel, by its position in the whole level.
fn bit_in_mask(at: vec3<i32>) -> vec2<u32> {
    let v = vec3<u32>(at) & vec3<u32>(7u);
    return vec2<u32>(2u * v.x + (v.y >> 2u), 8u * (v.y & 3u) + v.z);
}

fn cell_of(node: u32, at: vec3<i32>) -> Cell {
    let bit = bit_in_mask(at);
    if ((nodes[node].full[bit.x] >> bit.y) & 1u) == 1u {
        return Cell(FULL, 0u);
    }
    let partial = nodes[node].partial[bit.x];
    if ((partial >> bit.y) & 1u) == 0u {
        return Cell(EMPTY, 0u);
    }
    let x = bit.x >> 1u;
    var rank = (nodes[node].before[x >> 1u] >> (16u * (x & 1u))) & 0xffffu;
    if (bit.x & 1u) == 1u {
        rank += countOneBits(nodes[node].partial[bit.x - 1u]);
    }
    rank += countOneBits(partial & ((1u << bit.y) - 1u));
    return Cell(PARTIAL, children[nodes[node].first + rank]);
}

fn voxel_of(brick: u32, at: vec3<i32>) -> Cell {
    let bit = bit_in_mask(at);
    let word = scene_bricks[brick * SCENE_BRICK_WORDS + SCENE_KEY_WORDS + bit.x];
    return Cell(select(EMPTY, FULL, ((word >> bit.y) & 1u) == 1u), 0u);
}

// The result of looking up a voxel in the tree.
struct Lookup {
    is_occupied: bool,
    // Whether it is in a brick, and the brick's index.
    has_brick: bool,
    brick: u32,
}

fn look_up(voxel: vec3<i32>) -> Lookup {
    let end = 1i << (3u * (scene.top + 1u));
    if scene.root == NO_NODES || any(voxel < vec3<i32>(0)) || any(voxel >= vec3<i32>(end)) {
        return Lookup(false, false, 0u);
    }
    var at = scene.root;
    for (var level = scene.top; level > 0u; level--) {
        let cell = cell_of(at, voxel >> vec3<u32>(3u * level));
        if cell.kind != PARTIAL {
            return Lookup(cell.kind == FULL, false, 0u);
        }
        at = cell.child;
    }
    return Lookup(voxel_of(at, voxel).kind == FULL, true, at);
}

// Whether a voxel is occupied; false outside the grid.
fn contains(voxel: vec3<i32>) -> bool {
    return look_up(voxel).is_occupied;
}

// The colour of an occupied voxel.
fn color_of(voxel: vec3<i32>) -> u32 {
    let found = look_up(voxel);
    if scene.has_colors == 0u || !found.has_brick || colors[found.brick] == 0u {
        return scene.rest;
    }
    let bit = bit_in_mask(voxel);
    let mask = found.brick * SCENE_BRICK_WORDS + SCENE_KEY_WORDS;
    var rank = countOneBits(scene_bricks[mask + bit.x] & ((1u << bit.y) - 1u));
    for (var word = 0u; word < bit.x; word++) {
        rank += countOneBits(scene_bricks[mask + word]);
    }
    return colors[colors[found.brick] + rank];
}
