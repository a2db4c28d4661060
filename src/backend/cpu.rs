//! The CPU backend: triangles are sorted into tiles, and threads fill one tile at a time, row by
//! row, in a bit mask that stays in the cache.

use rayon::prelude::*;

use crate::backend::Backend;
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, Mask, VoxelGrid};
use crate::place::{Lattice, PlacedMesh};
use crate::predicate::rows::{BoxRange, touched_rows};
use crate::progress::Progress;

/// Bricks along a tile's edge. 8^3 masks of 64 bytes are 32 KiB, a first-level cache.
const TILE_BRICKS: u32 = 8;
/// Voxels along a tile's edge, as a power of two.
const TILE_BITS: u32 = (TILE_BRICKS * BRICK).ilog2();
/// Triangles that one task sorts into tiles.
const BIN_CHUNK: usize = 1 << 14;

/// Voxelizes on the CPU's threads.
#[derive(Debug)]
pub struct Cpu {
    /// `None`: the process-wide pool.
    pool: Option<rayon::ThreadPool>,
}

impl Default for Cpu {
    /// One thread per core, shared with the rest of the process.
    fn default() -> Self {
        Self { pool: None }
    }
}

impl Cpu {
    /// With `threads` threads of its own.
    ///
    /// # Errors
    /// The operating system refused to start them.
    pub fn with_threads(threads: usize) -> Result<Self, BackendError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| BackendError::Threads { threads, reason: e.to_string() })?;
        Ok(Self { pool: Some(pool) })
    }
}

impl Backend for Cpu {
    fn voxelize(
        &self,
        mesh: &PlacedMesh,
        progress: &dyn Progress,
    ) -> Result<VoxelGrid, BackendError> {
        let run = || voxelize(mesh, progress);
        Ok(match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        })
    }
}

fn voxelize(mesh: &PlacedMesh, progress: &dyn Progress) -> VoxelGrid {
    let dims = mesh.lattice().dims;
    let mut entries = bin(mesh);
    entries.par_sort_unstable();
    let tiles: Vec<&[Entry]> = entries.chunk_by(|a, b| a.tile == b.tile).collect();

    progress.start("voxelize", tiles.len() as u64);
    let bricks = tiles.par_iter().flat_map_iter(|entries| {
        let bricks = fill_tile(mesh, entries);
        progress.advance(1);
        bricks
    });
    // Rows are clipped to the grid, so no voxel can lie outside it.
    VoxelGrid::from_bricks(dims, bricks.collect()).expect("bricks lie inside the grid")
}

/// A triangle that touches a tile. Ordered by tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The tile's position in tiles.
    tile: [u16; 3],
    triangle: u32,
}

/// All pairs of a triangle and a tile it touches.
fn bin(mesh: &PlacedMesh) -> Vec<Entry> {
    let lattice = mesh.lattice();
    let tile_bits = lattice.unit_bits + TILE_BITS;
    let all = voxels_of(lattice);
    let tiles = BoxRange { lo: [0; 3], hi: all.hi.map(|voxel| voxel >> TILE_BITS) };
    (0..mesh.len().div_ceil(BIN_CHUNK))
        .into_par_iter()
        .flat_map_iter(|chunk| {
            let mut entries = Vec::new();
            for index in chunk * BIN_CHUNK..mesh.len().min((chunk + 1) * BIN_CHUNK) {
                touched_rows(&mesh.triangle(index), tile_bits, &tiles, |x, y, z_lo, z_hi| {
                    // At most 65,536 / 64 tiles an axis.
                    entries.extend((z_lo..=z_hi).map(|z| Entry {
                        tile: [x, y, z].map(|t| t as u16),
                        triangle: index as u32,
                    }));
                });
            }
            entries
        })
        .collect()
}

fn voxels_of(lattice: &Lattice) -> BoxRange {
    BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) }
}

/// The occupied bricks of one tile.
fn fill_tile(mesh: &PlacedMesh, entries: &[Entry]) -> Vec<(BrickKey, Mask)> {
    let lattice = mesh.lattice();
    let base = entries[0].tile.map(|t| i32::from(t) << TILE_BITS);
    let last = base.map(|b| b + (1 << TILE_BITS) - 1);
    let range = voxels_of(lattice).intersect(&BoxRange { lo: base, hi: last });

    let mut masks = vec![[0u64; 8]; TILE_BRICKS.pow(3) as usize];
    for entry in entries {
        let triangle = mesh.triangle(entry.triangle as usize);
        touched_rows(&triangle, lattice.unit_bits, &range, |x, y, z_lo, z_hi| {
            let [x, y, z_lo, z_hi] =
                [x - base[0], y - base[1], z_lo - base[2], z_hi - base[2]].map(|c| c as u32);
            set_row(&mut masks, x, y, z_lo, z_hi);
        });
    }
    let first_brick = base.map(|b| b as u32 / BRICK);
    (0..)
        .zip(masks)
        .filter(|(_, mask)| *mask != [0; 8])
        .map(|(index, mask)| {
            let [x, y, z] = [index, index / TILE_BRICKS, index / TILE_BRICKS / TILE_BRICKS]
                .map(|i: u32| i % TILE_BRICKS);
            (BrickKey::new([first_brick[0] + x, first_brick[1] + y, first_brick[2] + z]), mask)
        })
        .collect()
}

/// Sets voxels `z_lo..=z_hi` of the row at `x`, `y`, all relative to the tile.
fn set_row(masks: &mut [Mask], x: u32, y: u32, z_lo: u32, z_hi: u32) {
    for brick_z in z_lo / BRICK..=z_hi / BRICK {
        let lo = z_lo.max(brick_z * BRICK) % BRICK;
        let hi = z_hi.min(brick_z * BRICK + BRICK - 1) % BRICK;
        let bits = (0xff >> (7 - hi)) & (0xff << lo);
        let brick = (brick_z * TILE_BRICKS + y / BRICK) * TILE_BRICKS + x / BRICK;
        masks[brick as usize][(x % BRICK) as usize] |= bits << (8 * (y % BRICK));
    }
}
