//! What a run on a GPU reports of itself: everything that ran, the counts of known meshes, and
//! times only where they were asked for and can be had.
use std::process::Command;

use crate::common::prelude::*;
use crate::{by, run};
use trivox::backend::VoxelKernel;
use trivox::backend::report::{RunReport, StageReport};

const STAGES: [&str; 6] =
    ["seed", "refine", "mark_bricks", "scan_blocks", "rank_bricks", "voxel_rows"];
/// Bytes read beside the bricks: counters and timestamps.
const HEADER: u64 = 1024;
const BRICK: u64 = 72;

fn report(gpu: &Gpu, mesh: &PlacedMesh) -> RunReport {
    report_with(gpu, mesh, RunOptions::default())
}

fn report_with(gpu: &Gpu, mesh: &PlacedMesh, options: RunOptions) -> RunReport {
    run(gpu, mesh, (Rule::Conservative, options)).report.unwrap()
}

fn stage<'a>(report: &'a RunReport, name: &str) -> &'a StageReport {
    report.stages.iter().find(|stage| stage.name == name).unwrap()
}

/// A triangle with corners in the middle of voxels.
fn triangle(corners: [[i32; 3]; 3]) -> Triangle {
    corners.map(|corner| corner.map(|c| c * UNIT + UNIT / 2))
}

#[test]
fn counts_are_those_of_a_known_mesh() {
    // Within one brick, 3 x 2 rows; and across two bricks along x, 2 rows in one and 1 in the
    // other.
    let within = triangle([[1, 1, 1], [3, 2, 2], [1, 2, 5]]);
    let across = triangle([[6, 4, 1], [8, 4, 1], [7, 4, 3]]);
    let mesh = placed(&[within, across], [16, 8, 8]);
    for (_, gpu) in gpus(fast_adapters()) {
        let report = report(&gpu, &mesh);
        let counts = |name| {
            let stage = stage(&report, name);
            (stage.dispatches, stage.invocations, stage.tests)
        };
        assert_eq!(counts("seed"), (1, 2, 0));
        assert_eq!(counts("refine"), (1, 2, 2));
        // Three pairs on the level of voxels.
        assert_eq!(counts("mark_bricks"), (1, 3, 0));
        // A word of the bitmap.
        assert_eq!(counts("rank_bricks"), (1, 1, 0));
        assert_eq!(counts("voxel_rows"), (1, 9, 9));
        let bytes = |name| stage(&report, name).bytes;
        // Triangles of 48 bytes, pairs of 16, words, and bricks.
        assert_eq!(bytes("seed"), 2 * 48 + 2 * 16);
        // The first triangle starts in its brick.
        assert_eq!(bytes("refine"), 48 + 16 + 2 * 4 + 2 * 16);
        assert_eq!(bytes("mark_bricks"), 3 * (16 + 4) + 2 * 4);
        assert_eq!(bytes("scan_blocks"), 3 * 4);
        assert_eq!(bytes("rank_bricks"), 4 + 2 * BRICK);
        // Both stages before it append to a workgroup of their own.
        assert_eq!(bytes("voxel_rows"), 3 * (16 + 2 * 4 + 48) + 2 * 2 * 4 + 2 * 2 * BRICK);
        assert_eq!((report.runs, report.waits), (1, 1));
        // Two triangles, and six vertices.
        assert_eq!(report.upload_bytes, 4 * (2 * 3 + 6 * 3));
        // Voxels of the bounds: 3 x 2 x 5, and 3 x 1 x 3 in both bricks.
        let options = RunOptions { kernel: VoxelKernel::Voxels, ..RunOptions::default() };
        let plain = report_with(&gpu, &mesh, options);
        let voxels = stage(&plain, "voxels");
        assert_eq!((voxels.dispatches, voxels.invocations, voxels.tests), (1, 39, 39));
    }
}

#[test]
fn every_stage_reports_and_times_are_there_when_asked_for() {
    let mesh = placed_soup(1, 500, 40, 1);
    for (label, gpu) in gpus(fast_adapters()) {
        let untimed = report(&gpu, &mesh);
        assert!(untimed.stages.iter().all(|stage| stage.ms.is_none()));
        assert_eq!(untimed.gpu_ms(), None);

        let options = RunOptions { time_stages: true, ..RunOptions::default() };
        let timed = report_with(&gpu, &mesh, options);
        let names: Vec<&str> = timed.stages.iter().map(|stage| stage.name).collect();
        assert_eq!(names, STAGES);
        assert!(timed.stages.iter().all(|s| s.dispatches > 0 && s.invocations > 0 && s.bytes > 0));
        let features = gpu.device().device.features();
        if !features.contains(wgpu::Features::TIMESTAMP_QUERY) {
            assert_eq!(timed.gpu_ms(), None, "{label}");
            continue;
        }
        for stage in &timed.stages {
            let ms = stage.ms.unwrap();
            assert!(ms.is_finite() && ms >= 0.0, "{label}: {stage:?}");
        }
        let all = timed.gpu_ms().unwrap();
        assert!(all > 0.0 && all < 60_000.0, "{label}: {all} ms");
        // The order in which pairs are appended differs between runs, and so does the number of
        // workgroups: two words each.
        let counts = |report: &RunReport| -> Vec<StageReport> {
            let stages = report.stages.iter().cloned();
            stages.map(|stage| StageReport { ms: None, bytes: 0, ..stage }).collect()
        };
        assert_eq!(counts(&timed), counts(&untimed));
        for (timed, untimed) in timed.stages.iter().zip(&untimed.stages) {
            let differing = timed.bytes.abs_diff(untimed.bytes);
            let is_possible = differing % 8 == 0 && differing <= untimed.bytes / 100;
            assert!(is_possible, "{timed:?}, {untimed:?}");
        }
    }
}

#[test]
fn a_mesh_takes_one_wait_and_reads_what_it_occupies() {
    // More bricks than the shell of the grid has, so that a first run expects too few.
    let mesh = placed_soup(2, 300, 100, 1);
    for (label, gpu) in gpus(fast_adapters()) {
        let first = run(&gpu, &mesh, by(Rule::Conservative));
        let bricks = first.grid.brick_count();
        assert!(bricks > 1014, "{:?}", first.grid);
        assert_eq!(first.report.unwrap().waits, 2, "{label}");

        let again = report(&gpu, &mesh);
        assert_eq!((again.runs, again.waits), (1, 1));
        assert!(again.read_bytes >= BRICK * bricks);
        assert!(again.read_bytes <= HEADER + BRICK * (bricks + bricks / 8 + 1));

        let small = placed(&[triangle([[1, 1, 1], [3, 2, 2], [1, 2, 5]])], [8; 3]);
        report(&gpu, &small);
        let small = report(&gpu, &small);
        assert!(small.read_bytes <= HEADER + 2 * BRICK, "{small:?}");
    }
}

#[test]
fn only_what_is_new_of_a_mesh_is_uploaded() {
    let [knot, cube] = ["torus-knot.obj", "cube.obj"].map(asset);
    let [small, large] = [20, 30].map(|size| at_resolution(&knot, size));
    let other = at_resolution(&cube, 30);
    let bytes = |mesh: &PlacedMesh| [mesh.len(), mesh.vertices().len()].map(|n| 12 * n as u64);
    let [triangles, vertices] = bytes(&small);
    let all_of_other: u64 = bytes(&other).iter().sum();
    for (label, gpu) in gpus(fast_adapters()) {
        for (mesh, new) in [
            (&small, triangles + vertices),
            (&small, 0),
            (&large, vertices),
            (&small.clone(), vertices),
            (&other, all_of_other),
            (&small, triangles + vertices),
        ] {
            let run = run(&gpu, mesh, by(Rule::Conservative));
            assert_eq!(run.report.unwrap().upload_bytes, new, "{label}");
            assert_eq!(run.grid, surface(mesh));
        }
    }
}

#[test]
fn work_in_parts_adds_up() {
    let mesh = placed_soup(3, 100, 20, 1);
    let Some(gpu) = fast_gpu() else { return };
    let whole = report(&gpu, &mesh);
    let batch_limits = BatchLimits { triangles: 30, ..UNLIMITED };
    let parts = report(&gpu.with_batch_limits(batch_limits), &mesh);
    assert_eq!(parts.runs, 4);
    assert!(parts.waits >= 4);
    for name in ["seed", "refine", "mark_bricks", "voxel_rows"] {
        let (whole, parts) = (stage(&whole, name), stage(&parts, name));
        assert_eq!((whole.invocations, whole.tests), (parts.invocations, parts.tests), "{name}");
        assert!(parts.dispatches > whole.dispatches && parts.bytes >= whole.bytes);
    }
}

/// What the program prints to standard output and standard error for the cube.
fn voxelize_cube(arguments: &[&str]) -> [String; 2] {
    let mut program = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    program.arg(asset_path("cube.obj")).args(["--res", "32"]);
    let output = program.args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    assert!(output.status.success(), "{said:?}");
    said
}

#[test]
fn the_program_passes_the_report_on() {
    for adapter in fast_adapters() {
        let [json, _] = voxelize_cube(&["--json", "--adapter", &adapter.label()]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let stages = json["gpu"]["stages"].as_array().unwrap();
        let names: Vec<&str> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert_eq!(names, STAGES);
        assert_eq!(stages[0]["invocations"], 12);
        assert!(json["gpu"]["host_ms"]["wait"].as_f64().unwrap() > 0.0);
        let timed = stages.iter().filter(|stage| stage["ms"].is_f64()).count();
        assert_eq!(timed, json["gpu_ms"].as_object().map_or(0, serde_json::Map::len));
        assert!(timed == STAGES.len() || timed == 0);
    }
    let [on_cpu, _] = voxelize_cube(&["--json", "--backend", "cpu"]);
    let on_cpu: serde_json::Value = serde_json::from_str(&on_cpu).unwrap();
    assert!(on_cpu["occupied"].is_u64() && on_cpu["gpu"].is_null() && on_cpu["gpu_ms"].is_null());
}

#[test]
fn the_stages_are_shown_with_v() {
    let Some(adapter) = fast_adapters().into_iter().next() else { return };
    let [_, said] = voxelize_cube(&["-v", "--adapter", &adapter.label()]);
    assert!(said.contains("gpu       1 run, 1 wait; prepare "), "{said}");
    STAGES.iter().for_each(|stage| assert!(said.contains(stage), "{said}"));
}
