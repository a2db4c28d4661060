// The bricks' masks, while they are set.

@group(0) @binding(11) var<storage, read_write> bricks: array<atomic<u32>>;

// Many triangles set the same voxels: a load avoids most atomic writes.
fn set_voxels(word: u32, mask: u32) {
    if (mask & ~atomicLoad(&bricks[word])) != 0u {
        atomicOr(&bricks[word], mask);
    }
}
