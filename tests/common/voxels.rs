//! Meshes placed and voxelized on the CPU, and grids compared.

use std::path::{Path, PathBuf};

use trivox::backend::RunOptions;
use trivox::formats::read_mesh;
use trivox::lattice::Tile;
use trivox::solid::{Fill, FillReport, Solid};
use trivox::view::mesher::{self, Rectangle};
use trivox::{
    Bounds, Cpu, Mesh, Mode, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid, Voxelizer,
    Voxels, place, voxelize,
};

/// A file of the project's models.
pub fn asset_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

pub fn asset(name: &str) -> Mesh {
    read_mesh(asset_path(name)).unwrap().mesh
}

pub fn at_resolution(mesh: &Mesh, resolution: u32) -> PlacedMesh {
    place(mesh, &PlaceOptions::new(Sizing::Resolution(resolution))).unwrap()
}

pub fn at_voxel_size(mesh: &Mesh, size: f64) -> PlacedMesh {
    place(mesh, &PlaceOptions::new(Sizing::VoxelSize(size))).unwrap()
}

/// `mesh` in voxels of this size from `min` to `max`.
pub fn within(mesh: &Mesh, size: f64, min: [f64; 3], max: [f64; 3]) -> PlacedMesh {
    let options = PlaceOptions::new(Sizing::VoxelSize(size)).with_bounds(Bounds { min, max });
    place(mesh, &options).unwrap()
}

/// `mesh` in a grid of `dims` voxels of one mesh unit from the origin.
pub fn in_grid(mesh: &Mesh, dims: [u32; 3]) -> PlacedMesh {
    within(mesh, 1.0, [0.0; 3], dims.map(f64::from))
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
    let tiles: Vec<_> = (1..=x * y * z).map(tile).collect();
    let tiles: Vec<_> = tiles.iter().map(|(from, grid)| (*from, grid)).collect();
    VoxelGrid::assemble(dims, &tiles).unwrap()
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
