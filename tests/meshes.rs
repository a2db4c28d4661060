//! Real models against counts that a slow program, which shares no code with this one, computed.
//!
//! `TRIVOX_MESHES` names a folder with OBJ files and an `expected.tsv` of the columns `mesh`,
//! `res`, `mode`, `dims` (`XxYxZ`) and `occupied`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use trivox::formats::read_mesh;
use trivox::{Backend, Cpu, Mesh, NoProgress, PlaceOptions, Sizing, VoxelGrid, place};

/// One line of `expected.tsv`.
#[derive(Debug, Clone, PartialEq)]
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

    fn matches(&self, grid: &VoxelGrid) -> bool {
        grid.dims() == self.dims && grid.occupied() == self.occupied
    }
}

fn voxelize(mesh: &Mesh, resolution: u32) -> VoxelGrid {
    let options = PlaceOptions::new(Sizing::Resolution(resolution));
    Cpu::default().voxelize(&place(mesh, &options).unwrap(), &NoProgress).unwrap()
}

/// The rows that do not match, and how many there are in all.
fn check(folder: &Path, rows: &[Row]) -> (Vec<String>, usize) {
    let mut by_mesh: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| by_mesh.entry(&row.mesh).or_default().push(row));
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (name, rows) in by_mesh {
        let loaded = read_mesh(&folder.join(format!("{name}.obj"))).unwrap();
        for row in rows {
            let grid = voxelize(&loaded.mesh, row.resolution);
            checked += 1;
            if !row.matches(&grid) {
                wrong.push(format!("{row:?} is {grid:?}"));
            }
        }
    }
    (wrong, checked)
}

#[test]
fn surfaces_of_real_models_have_the_expected_voxels() {
    let Some(folder) = std::env::var_os("TRIVOX_MESHES") else {
        println!("skipped: TRIVOX_MESHES not set");
        return;
    };
    let folder = Path::new(&folder);
    let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = table.lines().skip(1).map(Row::parse);
    let surface: Vec<Row> = rows.filter(|row| row.mode == "surface").collect();
    let (wrong, checked) = check(folder, &surface);
    println!("{checked} rows checked");
    assert!(checked > 0, "no surface rows in expected.tsv");
    assert_eq!(wrong, Vec::<String>::new());

    // One voxel off is seen.
    let off = Row { occupied: surface[0].occupied + 1, ..surface[0].clone() };
    assert_eq!(check(folder, &[off]).0.len(), 1);
}

#[test]
fn rows_are_read_as_they_are_written() {
    let row = Row::parse("spot\t33\tsurface\t19x33x33\t2962");
    let expected = Row {
        mesh: "spot".into(),
        resolution: 33,
        mode: "surface".into(),
        dims: [19, 33, 33],
        occupied: 2962,
    };
    assert_eq!(row, expected);
}
