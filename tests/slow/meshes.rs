//! Real models against counts that a slow program, which shares no code with this one, computed;
//! and at scale against themselves and, in places, against the oracle.
//!
//! `TRIVOX_MESHES` names a folder with OBJ files and an `expected.tsv` of the columns `mesh`,
//! `res`, `mode`, `dims` (`XxYxZ`) and `occupied`.
use crate::common::memory::{memory_needed, run_within};
use crate::common::prelude::*;

/// One line of `expected.tsv`.
#[derive(Debug, Clone)]
struct Row {
    mesh: String,
    resolution: u32,
    mode: String,
    dims: [u32; 3],
    occupied: u64,
}

impl Row {
    fn parse(line: &str) -> Self {
        let columns: Vec<&str> = line.split('\t').collect();
        let [mesh, resolution, mode, dims, occupied] = columns[..] else {
            panic!("not five columns: {line:?}");
        };
        let dims: Vec<u32> = dims.split('x').map(|d| d.parse().unwrap()).collect();
        Self {
            mesh: mesh.into(),
            resolution: resolution.parse().unwrap(),
            mode: mode.into(),
            dims: dims.try_into().unwrap(),
            occupied: occupied.parse().unwrap(),
        }
    }
}

fn mode(name: &str) -> Mode {
    match name {
        "surface" => Mode::Surface,
        "thin" => Mode::Thin,
        "solid" => Mode::Solid(Solid::default()),
        _ => panic!("no mode is called {name}"),
    }
}

/// The rows that are wrong.
fn wrong(folder: &Path, rows: &[Row]) -> Vec<String> {
    let mut meshes: BTreeMap<&str, Mesh> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows {
        let read = || read_mesh(folder.join(format!("{}.obj", row.mesh))).unwrap().mesh;
        let mesh = meshes.entry(&row.mesh).or_insert_with(read);
        let grid = in_mode(&at_resolution(mesh, row.resolution), mode(&row.mode)).grid;
        if (grid.dims(), grid.occupied()) != (row.dims, row.occupied) {
            wrong.push(format!("{row:?} is {grid:?}"));
        }
    }
    wrong
}

#[test]
fn real_models_have_the_expected_voxels_in_every_mode() {
    let Some(folder) = environment::models() else { return };
    let table = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows: Vec<Row> = table.lines().skip(1).map(Row::parse).collect();
    println!("{} rows", rows.len());
    assert_eq!(wrong(&folder, &rows), Vec::<String>::new());

    for mode in ["surface", "thin", "solid"] {
        let row = rows.iter().find(|row| row.mode == mode);
        let row = row.unwrap_or_else(|| panic!("no {mode} rows in expected.tsv"));
        // One voxel off is seen.
        let off = Row { occupied: row.occupied + 1, ..row.clone() };
        assert_eq!(wrong(&folder, &[off]).len(), 1, "{mode}");
    }
}

/// A model of the folder that `TRIVOX_MESHES` names, or else one of our own.
fn model(name: &str, own: &str) -> PathBuf {
    match environment::models() {
        Some(folder) => folder.join(name),
        None => asset_path(own),
    }
}

/// The voxels of `grid` in a cube of 64 around one of its bricks are those that the oracle finds.
fn assert_right_around_some_brick(grid: &VoxelGrid, mesh: &PlacedMesh, rng: &mut Rng) {
    let number = rng.u64(0..grid.brick_count());
    let (key, _) = grid.bricks().nth(number as usize).unwrap();
    let lo = key.position().map(|b| (b * BRICK + rng.u32(0..8)).saturating_sub(32));
    let hi: [u32; 3] = std::array::from_fn(|a| (lo[a] + 63).min(grid.dims()[a] - 1));
    let expected: BTreeSet<[u32; 3]> = oracle::voxels_between(mesh, lo, hi).into_iter().collect();
    assert!(!expected.is_empty());
    for voxel in voxels_in(lo, hi.map(|c| c + 1)) {
        assert_eq!(grid.contains(voxel), expected.contains(&voxel), "{voxel:?}");
    }
}

/// Few threads and many, as much memory as it takes and as little as does: one grid, which is that
/// of the oracle wherever one looks.
fn check_at_scale(path: &Path, resolution: u32, windows: usize) {
    let mesh = at_resolution(&read_mesh(path).unwrap().mesh, resolution);
    let grid = surface(&mesh);
    println!("{}: {grid:?}", path.display());
    let mut rng = Rng::with_seed(u64::from(resolution));
    (0..windows).for_each(|_| assert_right_around_some_brick(&grid, &mesh, &mut rng));
    let expected = grid.hash();
    drop(grid);
    let little = memory_needed(3, &mesh, Rule::Conservative);
    for (threads, memory) in [(1, u64::MAX), (3, little), (3, little + little / 3)] {
        let grid = run_within(threads, memory, &mesh, Rule::Conservative).unwrap();
        assert_eq!(grid.hash(), expected, "{threads} threads, {memory} bytes: {grid:?}");
    }
}

#[test]
fn grids_of_4096_are_equal_for_any_threads_and_memory_and_right_where_looked_at() {
    check_at_scale(&model("spot.obj", "torus-knot.obj"), 4096, 5);
}

#[test]
#[ignore = "takes a minute and 4 GB; `cargo test --release --test slow meshes -- --ignored` runs it"]
fn grids_of_16384_are_equal_for_any_threads_and_memory_and_right_where_looked_at() {
    check_at_scale(&model("dragon.obj", "lighthouse.obj"), 16_384, 100);
}
