//! The CPU backend: triangles are sorted into tiles of 64^3 voxels, and threads fill one tile at a
//! time, row by row, in bits that stay in the first-level cache.

use rayon::prelude::*;

use crate::backend::Backend;
use crate::error::BackendError;
use crate::grid::{BRICK, BrickKey, Mask, VoxelGrid};
use crate::place::{Lattice, MIN_CUBE, PlacedMesh};
use crate::predicate::rows::{BoxRange, touched_rows};
use crate::progress::Progress;

/// Voxels along a tile's edge: a row of a tile is one word.
const TILE: usize = 64;
const TILE_BITS: u32 = TILE.ilog2();
// The bit budget has room for tiles in grids of any size.
const _: () = assert!(TILE as u32 <= MIN_CUBE);
/// Bricks along a tile's edge.
const TILE_BRICKS: usize = TILE / BRICK as usize;
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
    let mut runs = bin(mesh);
    runs.par_sort_unstable_by_key(|run| run.tile.0);
    let tiles: Vec<&[Run]> = runs.chunk_by(|a, b| a.tile == b.tile).collect();

    progress.start("voxelize", tiles.len() as u64);
    let bricks = tiles.par_iter().map_init(Tile::default, |tile, runs| {
        let bricks = tile.fill(mesh, runs);
        progress.advance(1);
        bricks
    });
    // Rows are clipped to the grid, so no voxel can lie outside it.
    VoxelGrid::from_bricks(dims, bricks.flatten_iter().collect())
        .expect("bricks lie inside the grid")
}

/// A tile's position in tiles, packed: at most 65,536 / 64 an axis, 10 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TileKey(u32);

impl TileKey {
    fn new([x, y, z]: [i32; 3]) -> Self {
        Self((z as u32) << 20 | (y as u32) << 10 | x as u32)
    }

    fn position(self) -> [i32; 3] {
        [0, 10, 20].map(|shift| (self.0 >> shift & 1023) as i32)
    }
}

/// Consecutive triangles that touch one tile. Meshes name neighbours one after another, so there
/// are far fewer runs than triangles.
#[derive(Debug, Clone, Copy)]
struct Run {
    tile: TileKey,
    first: u32,
    count: u32,
}

/// All pairs of a triangle and a tile that it touches.
fn bin(mesh: &PlacedMesh) -> Vec<Run> {
    (0..mesh.len().div_ceil(BIN_CHUNK))
        .into_par_iter()
        .map(|chunk| bin_chunk(mesh, chunk * BIN_CHUNK))
        .flatten_iter()
        .collect()
}

fn bin_chunk(mesh: &PlacedMesh, first: usize) -> Vec<Run> {
    let lattice = mesh.lattice();
    let tile_bits = lattice.unit_bits + TILE_BITS;
    let last = voxels_of(lattice).hi.map(|voxel| voxel >> TILE_BITS);
    let tiles = BoxRange { lo: [0; 3], hi: last };
    let mut runs: Vec<Run> = Vec::new();
    for index in first..mesh.len().min(first + BIN_CHUNK) {
        touched_rows(&mesh.triangle(index), tile_bits, &tiles, |x, y, z_lo, z_hi| {
            for z in z_lo..=z_hi {
                let tile = TileKey::new([x, y, z]);
                match runs.last_mut() {
                    Some(run) if run.tile == tile && run.first + run.count == index as u32 => {
                        run.count += 1;
                    }
                    _ => runs.push(Run { tile, first: index as u32, count: 1 }),
                }
            }
        });
    }
    runs
}

fn voxels_of(lattice: &Lattice) -> BoxRange {
    BoxRange { lo: [0; 3], hi: lattice.dims.map(|d| d as i32 - 1) }
}

/// The voxels of one tile: bit `z` of row `(x, y)`. 32 KiB.
struct Tile {
    rows: Box<[[u64; TILE]; TILE]>,
}

impl Default for Tile {
    fn default() -> Self {
        Self { rows: Box::new([[0; TILE]; TILE]) }
    }
}

impl Tile {
    /// The occupied bricks of the tile of `runs`. Leaves the tile empty.
    fn fill(&mut self, mesh: &PlacedMesh, runs: &[Run]) -> Vec<(BrickKey, Mask)> {
        let lattice = mesh.lattice();
        let base = runs[0].tile.position().map(|t| t << TILE_BITS);
        let last = base.map(|b| b + TILE as i32 - 1);
        let range = voxels_of(lattice).intersect(&BoxRange { lo: base, hi: last });
        for run in runs {
            for index in run.first..run.first + run.count {
                let triangle = mesh.triangle(index as usize);
                touched_rows(&triangle, lattice.unit_bits, &range, |x, y, z_lo, z_hi| {
                    // Both below 64, as the range is within the tile.
                    let (x, y) = ((x - base[0]) as usize, (y - base[1]) as usize);
                    let bits = u64::MAX >> (63 - (z_hi - z_lo)) << (z_lo - base[2]);
                    self.rows[x % TILE][y % TILE] |= bits;
                });
            }
        }
        self.take_bricks(base.map(|b| b as u32 / BRICK))
    }

    /// The bricks that hold a voxel, `first` being the lowest of the tile; empties the tile.
    fn take_bricks(&mut self, first: [u32; 3]) -> Vec<(BrickKey, Mask)> {
        let mut bricks = Vec::new();
        for x in 0..TILE_BRICKS {
            for y in 0..TILE_BRICKS {
                let mut masks = [[0; 8]; TILE_BRICKS];
                for (word, rows) in self.rows[8 * x..8 * x + 8].iter_mut().enumerate() {
                    let (rows, _) = rows[8 * y..8 * y + 8].as_chunks_mut::<8>();
                    for (mask, slice) in masks.iter_mut().zip(transpose(&rows[0])) {
                        mask[word] = slice;
                    }
                    rows[0] = [0; 8];
                }
                let key = |z: usize| {
                    BrickKey::new([first[0] + x as u32, first[1] + y as u32, first[2] + z as u32])
                };
                let occupied = masks.iter().enumerate().filter(|(_, mask)| **mask != [0; 8]);
                bricks.extend(occupied.map(|(z, mask)| (key(z), *mask)));
            }
        }
        bricks
    }
}

/// The 8 x 8 bytes of `rows` with rows and columns exchanged: from the `z` bits of eight rows along
/// `y` to the slices of eight bricks along `z`.
fn transpose(rows: &[u64; 8]) -> [u64; 8] {
    let bytes = rows.map(u64::to_le_bytes);
    std::array::from_fn(|z| u64::from_le_bytes(std::array::from_fn(|y| bytes[y][z])))
}
