//! Models on adapters: the project's own always, real ones where `TRIVOX_MESHES` names a
//! folder of them. Equal hashes everywhere.
#![cfg(feature = "gpu")]
use crate::common::prelude::*;
use crate::common::rules::RULES;
use trivox::gpu::Adapter;

/// Models with more triangles are left to the first hardware adapter, or the first llvmpipe.
const SMALL: usize = 100_000;

fn models(folder: &Path) -> Vec<(String, Mesh)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let model = |path: PathBuf| (name(&path), read_mesh(&path).unwrap().mesh);
    models_in(folder).into_iter().map(model).collect()
}

fn grid<'a>(backend: impl Into<Backend<'a>>, mesh: &PlacedMesh, rule: Rule) -> VoxelGrid {
    backend.into().run(mesh, rule, &RunOptions::default(), &NoProgress).unwrap().grid
}

/// Compares CPU and GPU by all rules, large models on the first adapter, and returns how many grids
/// were compared.
fn compare(adapters: Vec<Adapter>, models: &[(String, Mesh)], resolutions: &[u32]) -> usize {
    let mut compared = 0;
    for (index, (label, gpu)) in gpus(adapters).enumerate() {
        for (name, mesh) in models {
            if mesh.triangles().len() > SMALL && index > 0 {
                continue;
            }
            for &resolution in resolutions {
                let placed = at_resolution(mesh, resolution);
                for rule in RULES {
                    let on_cpu = grid(&Cpu, &placed, rule);
                    let on_gpu = grid(&gpu, &placed, rule);
                    let what = format!("{rule:?}, {name} at {resolution} on {label}");
                    assert_eq!(on_cpu.hash(), on_gpu.hash(), "{what}");
                    // In one voxel all may cancel out.
                    let is_empty = on_cpu.occupied() == 0;
                    assert!(on_cpu == on_gpu && !(is_empty && resolution > 1), "{what}");
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn our_models_have_the_same_hash_on_every_adapter() {
    let models = models(&asset_path(""));
    assert!(models.len() >= 4);
    let compared =
        compare(adapters(), &models, &[1, 64]) + compare(fast_adapters(), &models, &[100, 128]);
    println!("{compared} grids compared");
}

#[test]
fn real_models_have_the_same_hash_on_fast_adapters() {
    let Some(folder) = environment::models() else { return };
    let models = models(&folder);
    assert!(!models.is_empty());
    let compared = compare(fast_adapters(), &models, &[64, 128]);
    println!("{compared} grids compared");
}

#[test]
fn real_models_have_the_same_hash_at_a_fine_resolution() {
    let Some(folder) = environment::models() else { return };
    let first = fast_adapters().into_iter().take(1).collect();
    compare(first, &models(&folder), &[33, 256, 1024]);
}
