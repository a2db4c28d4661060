// What rays search: a tree of nodes over the bricks of a grid, in buffers of a published layout,
// version 1. Whoever has these buffers can bind them as here in shaders of their own.
//
// A node is a cube of 8 x 8 x 8 cells, which are smaller nodes, or bricks at level 1; a brick has as
// many voxels. Cells of level l are 8^l voxels wide; level 0 are voxels. A mask has 16 words: the cell
// or voxel (x, y, z) of its node or brick is bit 8 (y & 3) + z of word 2x + (y >> 2).

struct Scene {
    version: u32,
    // The level of the root, the node in which all others are: its cells are 8^top voxels wide.
    top: u32,
    // The number of the root, which begins at the grid's minimum corner; NO_NODES if all is empty.
    root: u32,
    // The colour of voxels that have none of their own: sRGB, red lowest, opacity highest.
    rest: u32,
    // Smallest and largest voxel, inclusive, of a box with all that are occupied.
    lo: vec3<i32>,
    // How many bricks there are.
    bricks: u32,
    hi: vec3<i32>,
    // 1 if voxels have colours of their own.
    has_colors: u32,
}

const SCENE_VERSION: u32 = 1u;
const NO_NODES: u32 = 0xffffffffu;

struct Node {
    // The cells in which some voxels are occupied, but not all, or not all of one colour.
    partial: array<u32, 16>,
    // The cells in which all voxels are occupied.
    full: array<u32, 16>,
    // How many partial cells come before those of each x, two in a word, the first in the low half.
    before: array<u32, 4>,
    // Where its children begin in `children`: one for each of the partial cells, in the order of bits.
    first: u32,
    // The number of the node that this is a cell of; of the root 0.
    parent: u32,
}

// Words of a brick: its position in bricks, x in the low 16 bits of the first and y in the high, z
// in the second; then its mask.
const SCENE_BRICK_WORDS: u32 = 18u;
const SCENE_KEY_WORDS: u32 = 2u;

@group(1) @binding(0) var<uniform> scene: Scene;
@group(1) @binding(1) var<storage, read> nodes: array<Node>;
// Numbers of nodes; at level 1, of bricks.
@group(1) @binding(2) var<storage, read> children: array<u32>;
@group(1) @binding(3) var<storage, read> scene_bricks: array<u32>;
// If voxels have colours of their own: for each brick the word at which its colours begin, one for
// each occupied voxel in the order of bits, or 0; then these.
@group(1) @binding(4) var<storage, read> colors: array<u32>;

// What a node has of a cell, or a brick of a voxel.
struct Cell {
    kind: u32,
    // Of a partial cell.
    child: u32,
}

const EMPTY: u32 = 0u;
const PARTIAL: u32 = 1u;
const FULL: u32 = 2u;

// The word and the bit in it, in the mask of its node or brick, of a cell or voxel anywhere.
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

// Where a voxel is in the tree.
struct Place {
    is_occupied: bool,
    // If it is in a brick, and which.
    has_brick: bool,
    brick: u32,
}

fn place_of(voxel: vec3<i32>) -> Place {
    let end = 1i << (3u * (scene.top + 1u));
    if scene.root == NO_NODES || any(voxel < vec3<i32>(0)) || any(voxel >= vec3<i32>(end)) {
        return Place(false, false, 0u);
    }
    var at = scene.root;
    for (var level = scene.top; level > 0u; level--) {
        let cell = cell_of(at, voxel >> vec3<u32>(3u * level));
        if cell.kind != PARTIAL {
            return Place(cell.kind == FULL, false, 0u);
        }
        at = cell.child;
    }
    return Place(voxel_of(at, voxel).kind == FULL, true, at);
}

// Whether a voxel is occupied; false outside the grid.
fn contains(voxel: vec3<i32>) -> bool {
    return place_of(voxel).is_occupied;
}

// The colour of an occupied voxel.
fn color_of(voxel: vec3<i32>) -> u32 {
    let place = place_of(voxel);
    if scene.has_colors == 0u || !place.has_brick || colors[place.brick] == 0u {
        return scene.rest;
    }
    let bit = bit_in_mask(voxel);
    let mask = place.brick * SCENE_BRICK_WORDS + SCENE_KEY_WORDS;
    var rank = countOneBits(scene_bricks[mask + bit.x] & ((1u << bit.y) - 1u));
    for (var word = 0u; word < bit.x; word++) {
        rank += countOneBits(scene_bricks[mask + word]);
    }
    return colors[colors[place.brick] + rank];
}
