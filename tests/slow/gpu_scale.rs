//! Large grids on a GPU, in parts and with bounded buffers: equal to the CPU's by hash.
//!
//! `cargo test --release --test slow gpu_scale -- --ignored` runs the full sizes, for minutes on a
//! GPU in software; `TRIVOX_MESHES` adds the models of its folder that have few triangles.
#![cfg(feature = "gpu")]
use crate::common::prelude::*;

/// Buffers of less than 10 MB in all.
const SMALL: BatchLimits = BatchLimits {
    triangles: 1 << 14,
    pairs: 1 << 16,
    bricks: 1 << 15,
    crossings: 1 << 15,
    candidates: 1 << 20,
    groups: u32::MAX,
};

/// Voxelizes on both backends, and returns in how many runs the GPU did it.
fn compare(gpu: &Gpu, name: &str, mesh: &Mesh, resolution: u32) -> u32 {
    let mesh = at_resolution(mesh, resolution);
    let expected = surface(&mesh).hash();
    let run = voxelize(gpu, &mesh, Mode::Surface, &RunOptions::default(), &NoProgress).unwrap();
    assert_eq!(run.grid.hash(), expected, "{name} at {resolution}");
    let runs = run.report.unwrap().runs;
    println!("{name} at {resolution}: {:?}, {runs} runs", run.grid);
    runs
}

#[test]
fn a_model_in_many_parts_has_the_hash_of_the_cpu() {
    let Some(gpu) = fast_gpu() else { return };
    let gpu = gpu.with_batch_limits(SMALL);
    assert!(compare(&gpu, "torus-knot", &asset("torus-knot.obj"), 700) > 2);
}

#[test]
fn thin_meshes_in_the_largest_grids_have_the_hash_of_the_cpu() {
    // Slivers across the whole grid, and triangles of some voxels far apart.
    let mut rng = Rng::with_seed(12);
    let mut point = |size: f64| [(); 3].map(|()| rng.f64() * size);
    let mut triangles = Vec::new();
    for _ in 0..6 {
        let [a, b] = [point(1.0), point(1.0)];
        triangles.push([a, b, b.map(|c| c + 1e-4)]);
    }
    for _ in 0..300 {
        let base = point(0.99);
        triangles.push([(); 3].map(|()| plus(base, point(0.005))));
    }
    let mesh = mesh_of(&triangles);
    let Some(gpu) = fast_gpu() else { return };
    let gpu = gpu.with_batch_limits(BatchLimits { bricks: 1 << 12, ..SMALL });
    for resolution in [4096, 16_384] {
        assert!(compare(&gpu, "slivers", &mesh, resolution) > 1);
    }
}

#[test]
#[ignore = "takes many minutes and 4 GB; `cargo test --release --test slow gpu_scale -- --ignored` runs it"]
fn models_at_full_size_have_the_hash_of_the_cpu() {
    let gpu = fast_gpu().unwrap();
    compare(&gpu, "torus-knot", &asset("torus-knot.obj"), 4096);
    assert!(compare(&gpu, "torus-knot", &asset("torus-knot.obj"), 16_384) > 1);
    let Some(folder) = environment::models() else { return };
    for path in models_in(&folder) {
        let mesh = read_mesh(&path).unwrap().mesh;
        if mesh.triangles().len() < 100_000 {
            compare(&gpu, &path.display().to_string(), &mesh, 4096);
        }
    }
}

#[test]
fn a_run_is_cancelled_between_its_parts() {
    let Some(gpu) = fast_gpu() else { return };
    let gpu = gpu.with_batch_limits(SMALL);
    let mesh = at_resolution(&asset("torus-knot.obj"), 700);
    let progress = Counts::cancelled_at(1);
    let run = voxelize(&gpu, &mesh, Mode::Surface, &RunOptions::default(), &progress);
    assert!(matches!(run, Err(BackendError::Cancelled)));
    assert_eq!(progress.parts.into_inner(), 1);
}
