//! The bodies of the fuzz targets: each takes any bytes, and panics where a promise is broken.

use std::io::Cursor;

use trivox::backend::{BackendChoice, RunOptions};
use trivox::formats::{
    GridFormat, MESH_FORMATS, ReadOptions, Sidecars, WriteOptions, read_grid_from, read_mesh_from,
    write_grid,
};
use trivox::grid::{BrickKey, Colors, Mask, count};
use trivox::lattice::{SPAN_BITS, Triangle};
use trivox::predicate::blocks::BLOCK;
use trivox::predicate::crosses::blocks::{Hit, Pairs, Position};
use trivox::predicate::{Axis, InstructionSet, touches};
use trivox::solid::fill::{along_x, flood, vote};
use trivox::{
    Backend, Bounds, Cpu, NoProgress, Place, PlaceOptions, Sizing, Up, VoxelGrid, Voxelizer, World,
    place,
};

use crate::common::columns::{self, Column};
use crate::common::dense::{self, Dense, voxels};
use crate::common::rules::{self, RULES};
use crate::common::{oracle, shapes};

/// What a reader may take: much more than a file of a few kilobytes needs.
const MEMORY: u64 = 64 << 20;

/// Divides a mesh's file from the one file beside it.
pub const SIDECAR: &[u8] = b"\n--sidecar--\n";

/// The formats of grids that are read.
pub fn grid_formats() -> Vec<GridFormat> {
    GridFormat::ALL.into_iter().filter(|format| format.spec().is_read()).collect()
}

/// The mesh's file and the file beside it, which may be empty.
pub fn files(data: &[u8]) -> [&[u8]; 2] {
    let divider = data.windows(SIDECAR.len()).position(|window| window == SIDECAR);
    divider.map_or([data, &[]], |at| [&data[..at], &data[at + SIDECAR.len()..]])
}

/// A mesh's file, its format given by the first byte, and a sidecar file with every name that the
/// seeds use: it is refused, or a valid mesh that is placed, voxelized and coloured in bounded
/// memory.
pub fn meshes(data: &[u8]) {
    let Some((&format, data)) = data.split_first() else { return };
    let spec = MESH_FORMATS[usize::from(format) % MESH_FORMATS.len()];
    let [file, sidecar] = files(data);
    let sidecars = Sidecars::in_memory(["a.mtl", "a.bin", "a.png", "a.jpg"].map(|n| (n, sidecar)));
    let voxelizer =
        Voxelizer::new().resolution(9).memory(MEMORY).backend(BackendChoice::Cpu).pad(1);
    let read = read_mesh_from(file.to_vec(), spec, &sidecars, &voxelizer.read_options());
    let Ok(loaded) = read else { return };
    let mesh = loaded.mesh;
    let used = mesh.triangles().as_flattened().iter().map(|&i| mesh.positions()[i as usize]);
    assert!(used.flatten().all(f64::is_finite));
    // Triangles may be far smaller than a voxel, or all in one plane; only placement may refuse.
    if let Ok(voxelized) = voxelizer.run(&mesh) {
        let grid = voxelized.grid;
        let is_seen = grid.occupied() > 0 || voxelized.transparent > 0;
        assert!(is_seen, "a mesh within its own bounds touches no voxel");
    }
}

/// A grid's file, its format given by the first byte: it is refused, or a grid that is the same
/// after it is written and read again.
pub fn grids(data: &[u8]) {
    let Some((&format, data)) = data.split_first() else { return };
    let formats = grid_formats();
    let format = formats[usize::from(format) % formats.len()];
    let Ok(loaded) = read_grid_from(&mut Cursor::new(data), format, &ReadOptions::default()) else {
        return;
    };
    let grid = loaded.grid;
    if grid.brick_count() > 1 << 14 {
        return;
    }
    let mut bytes = Vec::new();
    write_grid(&grid, GridFormat::Bricks, &mut bytes).expect("any grid can be written");
    let back = read_grid_from(&mut &bytes[..], GridFormat::Bricks, &ReadOptions::default())
        .expect("it was just written");
    assert_same(&back.grid, &grid, true);
}

/// Fails if voxels or their colours differ. A file of a format that is always a cube has more room.
fn assert_same(found: &VoxelGrid, grid: &VoxelGrid, with_colors: bool) {
    let longest = grid.dims().into_iter().fold(1, u32::max);
    if found.dims() == [longest; 3] {
        assert!(found.bricks().eq(grid.bricks()), "{grid:?}, read {found:?}");
    } else {
        assert!(found == grid && found.hash() == grid.hash(), "{grid:?}, read {found:?}");
    }
    if let (true, Some(colors)) = (with_colors, &grid.colors) {
        let read = found.colors.as_ref().expect("the colours");
        assert!(grid.voxels().take(1 << 14).all(|voxel| read.of(voxel) == colors.of(voxel)));
    }
}

/// A stream of numbers; 0 past the end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let first = self.0.split_off_first();
        first.copied().unwrap_or(0)
    }

    fn short(&mut self) -> i16 {
        i16::from_le_bytes([self.byte(), self.byte()])
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From 1 to `most`.
    fn dims(&mut self, most: u8) -> [u32; 3] {
        [(); 3].map(|()| u32::from(self.byte() % most) + 1)
    }
}

/// Triangles in and around a small grid: the CPU's voxels by every rule are those of the oracles.
pub fn voxelize(data: &[u8]) {
    let mut numbers = Numbers(data);
    let dims = numbers.dims(14);
    let kind = numbers.byte();
    let mut triangles = Vec::new();
    while !numbers.is_empty() && triangles.len() < 12 {
        triangles.push([(); 3].map(|()| {
            [(); 3].map(|()| match kind % 4 {
                // Half voxels; the same, or a lattice unit beside them; 256ths; the whole range.
                0 => f64::from(numbers.byte() as i8 % 32) / 2.0,
                1 => {
                    let halves = f64::from(numbers.byte() as i8 % 32) / 2.0;
                    halves + f64::from(numbers.byte() as i8 % 2) / 65_536.0
                }
                2 => f64::from(numbers.short()) / 2048.0,
                _ => f64::from(numbers.word() % (16 << 16)) / 65_536.0,
            })
        }));
    }
    if triangles.is_empty() {
        return;
    }
    let bounds = Bounds { min: [0.0; 3], max: dims.map(f64::from) };
    let options = PlaceOptions::new(Sizing::VoxelSize(1.0)).with_bounds(bounds);
    let Ok(mesh) = place(&shapes::mesh_of(&triangles), &options) else { return };
    for rule in RULES {
        let run = Backend::Cpu(&Cpu).run(&mesh, rule, &RunOptions::default(), &NoProgress);
        let found = run.expect("the CPU does not fail").grid;
        assert!(found == rules::voxelize(&mesh, rule), "{rule:?}, {dims:?}, {triangles:?}");
    }
}

/// A triangle and a cube, and the column through it: the predicates, scalar and by vectors with
/// their filter, are right.
pub fn predicates(data: &[u8]) {
    const SPAN: u32 = 1 << SPAN_BITS;
    let mut numbers = Numbers(data);
    // Coordinates with few significant bits meet exactly.
    let (drop, shift) = (numbers.byte() % 24, numbers.byte() % 24);
    let half = (1 + numbers.word() % (1 << 23)).min((SPAN >> drop.min(22) << shift).max(1)) as i32;
    let axis = Axis::ALL[usize::from(numbers.byte() % 3)];
    let fraction_bits = 4 + u32::from(numbers.byte() % 13);
    while !numbers.is_empty() {
        let mut coordinate = || {
            let near = numbers.byte() as i8 % 2;
            let kept = (numbers.word() % (SPAN + 1)) >> drop;
            let on = (u64::from(kept) << shift).min(SPAN.into()) as i32;
            (on + i32::from(near)).clamp(0, SPAN as i32)
        };
        let triangle: Triangle = [(); 3].map(|()| [(); 3].map(|()| coordinate()));
        let center = [(); 3].map(|()| coordinate());
        let expected = oracle::touches(&triangle, center, half);
        assert_eq!(touches(&triangle, center, half), expected, "{triangle:?} {center:?} {half}");
        let count = (SPAN >> fraction_bits) as i32;
        let column =
            Column { triangle, axis, center: [center[0], center[1]], fraction_bits, count };
        assert_eq!(columns::crosses(&column), columns::oracle(&column), "{column:?}");
        block_of_columns(column);
    }
}

/// A block of columns that contains `column` has the crossings that the oracle finds one by one.
fn block_of_columns(column: Column) {
    let Column { triangle, axis, fraction_bits, count, .. } = column;
    let lowest = column.center.map(|c| (c >> fraction_bits).min(count - BLOCK));
    let mut pairs = Pairs::new(fraction_bits);
    pairs.push(triangle.map(|corner| axis.project(corner)), lowest);
    let set = InstructionSet::available()[0];
    let hits = pairs.solve_by(set, [BLOCK; 2], Position::Voxel(count));
    let columns = (0..BLOCK).flat_map(|i| (0..BLOCK).map(move |j| [lowest[0] + i, lowest[1] + j]));
    let expected = columns.filter_map(|index| {
        let center = index.map(|i| (i << fraction_bits) + (1 << (fraction_bits - 1)));
        let found = columns::oracle(&Column { center, ..column })?;
        Some(Hit { lane: 0, column: index, along: found.voxel, winding: found.winding })
    });
    assert_eq!(hits, expected.collect::<Vec<Hit>>(), "{column:?}");
}

/// Three grids of flips: every fill equals the same voxel by voxel.
pub fn fills(data: &[u8]) {
    let mut numbers = Numbers(data);
    let dims = numbers.dims(20);
    let flips = [(); 3].map(|()| {
        let density = numbers.byte();
        let mut rng = fastrand::Rng::with_seed(numbers.word().into());
        let mut dense = Dense::from_fn(dims, |_| rng.u8(..) < density);
        // Blocks, of which some fill bricks.
        for _ in 0..numbers.byte() % 4 {
            let (lo, size) = (numbers.dims(20).map(|c| c - 1), numbers.dims(20));
            for at in voxels(size).map(|v| [0, 1, 2].map(|a| lo[a] + v[a])) {
                if (0..3).all(|a| at[a] < dims[a]) {
                    dense.flip(at);
                }
            }
        }
        dense
    });
    let (grids, most) = (flips.each_ref().map(Dense::grid), u64::MAX);
    let found = along_x(&grids[0], dims, most, &NoProgress).expect("enough memory");
    assert!(found == dense::filled(&flips[0]), "along x");
    let found = vote(grids.each_ref(), dims, most, &NoProgress).expect("enough memory");
    assert!(found == dense::voted(&flips), "vote");
    let found = flood(&grids[0], most, &NoProgress).expect("enough memory");
    assert!(found == dense::flooded(&flips[0]), "flood");
}

/// Writes a small grid in one format twice: the bytes are the same. If the format can be read, the
/// voxels come back, and the colours too unless the format reports a loss. Files with changed bytes
/// are read or refused.
pub fn round_trips(data: &[u8]) {
    let mut numbers = Numbers(data);
    let dims = numbers.dims(70);
    let kind = numbers.byte();
    let format = GridFormat::ALL[usize::from(numbers.byte()) % GridFormat::ALL.len()];
    let mut bricks: Vec<(BrickKey, Mask)> = Vec::new();
    let place = (kind & 1 == 1).then(|| Place {
        origin: [(); 3].map(|()| f64::from(numbers.word() as i32) / 1024.0),
        voxel_size: f64::from(numbers.word() % 4096 + 1) / 512.0,
    });
    let up = if kind & 2 == 2 { Up::Z } else { Up::Y };
    let opacity = if kind & 4 == 4 { 0 } else { 255 };
    let rest = numbers.word().to_le_bytes().map(|c| c | opacity);
    while !numbers.is_empty() && bricks.len() < 64 {
        let voxel: [u32; 3] = std::array::from_fn(|a| u32::from(numbers.byte()) % dims[a]);
        let key = BrickKey::new(voxel.map(|c| c / 8));
        let fits = |a: usize| (voxel[a] / 8 + 1) * 8 <= dims[a];
        let mask = match numbers.byte() {
            0..4 if (0..3).all(fits) => [u64::MAX; 8],
            _ => {
                let mut mask = [0; 8];
                mask[voxel[0] as usize % 8] = 1 << (8 * (voxel[1] % 8) + voxel[2] % 8);
                mask
            }
        };
        bricks.push((key, mask));
    }
    let mut grid = VoxelGrid::from_bricks(dims, bricks).expect("inside");
    grid.world = World { up, place };
    if kind & 8 == 8 {
        let own = grid.bricks().map(|(key, mask)| {
            let seed = u32::from_le_bytes(rest) ^ key.position()[0];
            let color = |n: u32| (seed.wrapping_mul(n | 1)).to_le_bytes().map(|c| c | opacity);
            (key, mask, (0..count(&mask)).map(color).collect())
        });
        let own = own.collect();
        grid = grid.with_colors(Colors::from_bricks(own, rest));
    }
    if format.check_dims(dims, &WriteOptions::default()).is_err() {
        return;
    }
    let write = || {
        let mut bytes = Vec::new();
        write_grid(&grid, format, &mut bytes).map(|()| bytes)
    };
    let Ok(bytes) = write() else { return };
    assert!(write().expect("again") == bytes, "{format:?} is not deterministic");
    if format.spec().is_read() {
        let back = read_grid_from(&mut &bytes[..], format, &ReadOptions::default());
        let back = back.unwrap_or_else(|e| panic!("{format:?}: {e}")).grid;
        let keeps_colors =
            format.spec().has_colors && format.lost(&grid, &WriteOptions::default()).is_empty();
        assert_same(&back, &grid, keeps_colors && !format.has_palette());
        // A few changed bytes: read or refused.
        let mut rng = fastrand::Rng::with_seed(data.iter().map(|&b| u64::from(b)).sum());
        for _ in 0..4 {
            let mut changed = bytes.clone();
            for _ in 0..rng.usize(1..=3) {
                // What comes first says how to read the rest.
                let end = if rng.bool() { bytes.len().min(600) } else { bytes.len() };
                changed[rng.usize(..end)] = rng.u8(..);
            }
            let _ = read_grid_from(&mut &changed[..], format, &ReadOptions::default());
        }
    }
}
