//! From a list of crossings to bricks that count them: what a grid of winding numbers is made of.

use rayon::prelude::*;

use crate::grid::{BrickKey, Mask};
use crate::voxelize::gpu::data::{CROSSING_WORDS, LEAVES};

/// Bytes of a crossing where the stages list it.
pub(super) const CROSSING_BYTES: usize = 4 * CROSSING_WORDS;

/// A crossing of a column and a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crossing {
    /// The brick it is in; [`leaving`](BrickKey::leaving) where the column leaves.
    brick: BrickKey,
    /// Which of the brick's voxels, as bits of its mask are numbered.
    voxel: u16,
}

impl Crossing {
    /// From what the stages list.
    pub(super) fn from_bytes(bytes: &[u8; CROSSING_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        let [xy, z] = [0, 1].map(|i| u32::from_le_bytes(words[i]));
        let [x, y, z, leaves] = [xy & 0xffff, xy >> 16, z & !LEAVES, z & LEAVES];
        let brick = BrickKey::of_voxel([x, y, z].map(|c| c as i32));
        Self {
            brick: if leaves == 0 { brick } else { brick.leaving() },
            voxel: (64 * (x % 8) + 8 * (y % 8) + z % 8) as u16,
        }
    }
}

/// The bricks that hold `crossings`, each as often as the most that one of its voxels has.
pub(super) fn count(mut crossings: Vec<Crossing>) -> Vec<(BrickKey, Mask)> {
    crossings.par_sort_unstable();
    let bricks = crossings.par_chunk_by(|a, b| a.brick == b.brick);
    bricks.flat_map_iter(layers).collect()
}

/// The same for the crossings of one brick, in order.
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

    fn crossing([x, y, z]: [u32; 3], leaves: bool) -> Crossing {
        let [low, high] = [x | y << 16, z | u32::from(leaves) << 31].map(u32::to_le_bytes);
        let mut bytes = [0; CROSSING_BYTES];
        bytes[..4].copy_from_slice(&low);
        bytes[4..].copy_from_slice(&high);
        Crossing::from_bytes(&bytes)
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
