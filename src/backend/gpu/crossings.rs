//! Counts the crossings that the stages list: those of voxels that had one of the same direction.

use rayon::prelude::*;

use crate::backend::gpu::data::{CROSSING_WORDS, EXITS, KEY_WORDS};
use crate::grid::{BRICK, BrickKey, Mask};

/// Bytes of a crossing in the stages' list.
pub(super) const CROSSING_BYTES: usize = 4 * CROSSING_WORDS;

const VOXELS: u16 = (BRICK * BRICK * BRICK) as u16;

/// A crossing of a column and a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crossing {
    /// Its brick, with the direction mark.
    brick: BrickKey,
    /// Index of the voxel in the brick: 64x + 8y + z.
    voxel: u16,
}

impl Crossing {
    /// Decodes a crossing of the stages' list.
    pub(super) fn from_bytes(bytes: &[u8; CROSSING_BYTES]) -> Self {
        let [xy, z]: [u32; CROSSING_WORDS] = bytemuck::cast(*bytes);
        Self { brick: brick_of([xy, z & 0xffff]), voxel: (z >> 16) as u16 % VOXELS }
    }
}

/// The brick of a key.
pub(super) fn brick_of([xy, z]: [u32; KEY_WORDS]) -> BrickKey {
    let brick = BrickKey::new([xy & 0xffff, xy >> 16, z & !EXITS]);
    if z & EXITS == 0 { brick } else { brick.leaving() }
}

/// Counts `crossings` in unary: a brick occurs as often as the largest count of its voxels, and a
/// voxel is set in as many of them as it has crossings.
pub(super) fn count(mut crossings: Vec<Crossing>) -> Vec<(BrickKey, Mask)> {
    crossings.par_sort_unstable();
    let bricks = crossings.par_chunk_by(|a, b| a.brick == b.brick);
    bricks.flat_map_iter(layers).collect()
}

/// [`count`] for the sorted crossings of one brick.
fn layers(crossings: &[Crossing]) -> Vec<(BrickKey, Mask)> {
    let mut layers = Vec::new();
    for same in crossings.chunk_by(|a, b| a == b) {
        for (layer, &Crossing { brick, voxel }) in same.iter().enumerate() {
            if layer == layers.len() {
                layers.push((brick, [0; 8]));
            }
            layers[layer].1[usize::from(voxel / 64)] |= 1 << (voxel % 64);
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossing(voxel: [u32; 3], leaves: bool) -> Crossing {
        let [[x, y, z], place] = [voxel.map(|c| c / 8), voxel.map(|c| c % 8)];
        let z =
            z | if leaves { EXITS } else { 0 } | (64 * place[0] + 8 * place[1] + place[2]) << 16;
        Crossing::from_bytes(&bytemuck::cast([x | y << 16, z]))
    }

    #[test]
    fn crossings_of_one_voxel_take_as_many_bricks_and_those_of_others_none() {
        let (far, near) = ([65_535, 65_534, 65_533], [65_528, 65_528, 65_528]);
        let crossings = [(far, false), (near, true), (far, false), (near, false), (far, true)];
        let bricks = count(crossings.map(|(voxel, leaves)| crossing(voxel, leaves)).into());
        let brick = BrickKey::new([8191; 3]);
        let [near, far] = [[1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1 << 53]];
        let both = [1, 0, 0, 0, 0, 0, 0, 1 << 53];
        assert_ne!(near, far);
        assert_eq!(bricks, [(brick, both), (brick, far), (brick.leaving(), both)]);
    }
}
