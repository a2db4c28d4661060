//! Meshes placed and voxelized on the CPU, and grids compared.

use std::path::{Path, PathBuf};

use fastrand::Rng;
use rayon::prelude::*;
use trivox::backend::RunOptions;
use trivox::base::srgb::Rgba;
use trivox::formats::read_mesh;
use trivox::grid::{BRICK, Colors, mask_place, mask_voxels};
use trivox::lattice::Tile;
use trivox::solid::{Fill, FillReport, Solid};
use trivox::view::mesher::{self, Rectangle};
use trivox::view::render::{Background, RenderOptions};
use trivox::{
    Bounds, Cpu, Lattice, Mesh, Mode, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid,
    Voxelizer, Voxels, place, voxelize,
};

/// A file of the project's models.
pub fn asset_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

pub fn asset(name: &str) -> Mesh {
    read_mesh(asset_path(name)).unwrap().mesh
}

/// A picture of this size without a background, and so without the many rays of the ground.
pub fn without_background(size: [u32; 2]) -> RenderOptions {
    RenderOptions { background: Background::Transparent, ..RenderOptions::new(size) }
}

/// So many voxels along the longest side.
pub fn resolution(n: u32) -> PlaceOptions {
    PlaceOptions::new(Sizing::Resolution(n))
}

/// Voxels of this size.
pub fn voxel_size(size: f64) -> PlaceOptions {
    PlaceOptions::new(Sizing::VoxelSize(size))
}

pub fn at_resolution(mesh: &Mesh, n: u32) -> PlacedMesh {
    place(mesh, &resolution(n)).unwrap()
}

pub fn at_voxel_size(mesh: &Mesh, size: f64) -> PlacedMesh {
    place(mesh, &voxel_size(size)).unwrap()
}

/// `mesh`, placed by `options` with `pad` more voxels on all six sides.
pub fn padded(mesh: &Mesh, options: PlaceOptions, pad: u32) -> PlacedMesh {
    place(mesh, &options.with_pad(pad)).unwrap()
}

/// `mesh` in voxels of this size from `min` to `max`.
pub fn within(mesh: &Mesh, size: f64, min: [f64; 3], max: [f64; 3]) -> PlacedMesh {
    place(mesh, &voxel_size(size).with_bounds(Bounds { min, max })).unwrap()
}

/// `mesh` in a grid of `dims` voxels of one mesh unit from the origin.
pub fn in_grid(mesh: &Mesh, dims: [u32; 3]) -> PlacedMesh {
    within(mesh, 1.0, [0.0; 3], dims.map(f64::from))
}

/// The lattice of a grid from `origin` on.
pub fn lattice_at(
    origin: [f64; 3],
    voxel_size: f64,
    dims: [u32; 3],
    fraction_bits: u32,
) -> Lattice {
    let scale = f64::from(1 << fraction_bits) / voxel_size;
    let (anchor, anchor_voxel) = (origin, [0; 3]);
    Lattice { dims, fraction_bits, scale, voxel_size, origin, anchor, anchor_voxel }
}

pub fn in_mode(mesh: &PlacedMesh, mode: Mode) -> Voxels {
    voxelize(&Cpu, mesh, mode, &RunOptions::default(), &NoProgress).unwrap()
}

/// The voxels that the mesh touches.
pub fn surface(mesh: &PlacedMesh) -> VoxelGrid {
    in_mode(mesh, Mode::Surface).grid
}

/// A solid without its surface.
pub fn by_fill(fill: Fill) -> Mode {
    Mode::Solid(Solid { fill, include_surface: false })
}

pub fn solid(mesh: &PlacedMesh, fill: Fill) -> (VoxelGrid, FillReport) {
    let voxels = in_mode(mesh, by_fill(fill));
    (voxels.grid, voxels.fill_report.unwrap())
}

/// The grid of `dims` that is joined from the tiles of a mesh, so many along each axis.
pub fn joined_tiles(
    voxelizer: &Voxelizer,
    mesh: &Mesh,
    [x, y, z]: [u32; 3],
    dims: [u32; 3],
) -> VoxelGrid {
    let tile = |number: u32| {
        let tile = format!("{number}/{x}x{y}x{z}").parse::<Tile>().unwrap();
        let tile = voxelizer.clone().tile(tile).run(mesh).unwrap();
        (tile.window.unwrap().from, tile.grid)
    };
    assembled(dims, &(1..=x * y * z).map(tile).collect::<Vec<_>>())
}

/// The grid of `dims` of these tiles, each with its place.
pub fn assembled(dims: [u32; 3], tiles: &[([u32; 3], VoxelGrid)]) -> VoxelGrid {
    let tiles: Vec<_> = tiles.iter().map(|(from, grid)| (*from, grid)).collect();
    VoxelGrid::assemble(dims, &tiles).unwrap()
}

/// The voxels from `lo` up to, but not including, `hi`; along z the fastest.
pub fn voxels_in(lo: [u32; 3], hi: [u32; 3]) -> impl Iterator<Item = [u32; 3]> + Clone {
    let [_, y, z] = [0, 1, 2].map(|a| lo[a]..hi[a]);
    let columns = (lo[0]..hi[0]).flat_map(move |x| y.clone().map(move |y| [x, y]));
    columns.flat_map(move |[x, y]| z.clone().map(move |z| [x, y, z]))
}

/// The grid of those voxels.
pub fn block(dims: [u32; 3], lo: [u32; 3], hi: [u32; 3]) -> VoxelGrid {
    VoxelGrid::from_voxels(dims, voxels_in(lo, hi)).unwrap()
}

/// The grid whose occupied voxels are those for which `is_occupied` is true.
pub fn grid_where(dims: [u32; 3], is_occupied: impl Fn([u32; 3]) -> bool + Sync) -> VoxelGrid {
    let is_occupied = |voxel: &[u32; 3]| is_occupied(*voxel);
    let slab = |x: u32| voxels_in([x, 0, 0], [x + 1, dims[1], dims[2]]).filter(is_occupied);
    let voxels: Vec<[u32; 3]> = (0..dims[0]).into_par_iter().flat_map_iter(slab).collect();
    VoxelGrid::from_voxels(dims, voxels).unwrap()
}

/// The grid in which those voxels have colours of their own that `color` gives one, and the others
/// are of the colour `rest`.
pub fn painted_by(
    grid: VoxelGrid,
    rest: Rgba,
    color: impl Fn([u32; 3]) -> Option<Rgba>,
) -> VoxelGrid {
    let own = grid.bricks().map(|(key, mask)| {
        let (mut own, mut colors) = ([0; 8], Vec::new());
        for voxel in mask_voxels(key.first_voxel(), mask) {
            if let Some(color) = color(voxel) {
                let (slice, bit) = mask_place(voxel);
                own[slice] |= 1 << bit;
                colors.push(color);
            }
        }
        (key, own, colors)
    });
    let own = own.filter(|(.., colors)| !colors.is_empty()).collect();
    grid.with_colors(Colors::from_bricks(own, rest))
}

/// So many voxels, anywhere in the grid.
pub fn scattered(dims: [u32; 3], count: usize, rng: &mut Rng) -> VoxelGrid {
    VoxelGrid::from_voxels(dims, (0..count).map(|_| dims.map(|d| rng.u32(0..d)))).unwrap()
}

/// `count` random voxels and a random box of full bricks, all inside `dims`.
pub fn random_grid(dims: [u32; 3], count: usize, rng: &mut Rng) -> VoxelGrid {
    let grid = scattered(dims, count, rng);
    let whole = dims.map(|d| d / BRICK);
    if whole.contains(&0) {
        return grid;
    }
    let lo = whole.map(|n| rng.u32(0..n));
    let hi = [0, 1, 2].map(|a| (lo[a] + rng.u32(1..=6)).min(whole[a]));
    grid.union(&block(dims, lo.map(|b| BRICK * b), hi.map(|b| BRICK * b)))
}

pub fn assert_same(grid: &VoxelGrid, expected: &VoxelGrid, what: &str) {
    let difference: Vec<_> = grid.differing_voxels(expected).take(5).collect();
    assert!(grid == expected, "{what}: {grid:?} rather than {expected:?}: {difference:?}");
    assert_eq!(grid.hash(), expected.hash(), "{what}");
}

/// What `work` gives on a pool of so many threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// The surface of the grid's voxels.
pub fn rectangles(grid: &VoxelGrid) -> Vec<Rectangle> {
    let mut all = Vec::new();
    let take = |&rectangle: &Rectangle| -> Result<(), ()> {
        all.push(rectangle);
        Ok(())
    };
    mesher::rectangles(grid, take).unwrap();
    all
}

/// The OBJ files of a folder, by name.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_obj = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "obj");
    let mut files: Vec<PathBuf> = files.filter(is_obj).collect();
    files.sort();
    files
}
