//! Models on adapters: the project's own always, real ones where `TRIVOX_MESHES` names a
//! folder of them. Equal hashes everywhere.
use crate::common::prelude::*;
use crate::common::rules::RULES;
use crate::{by, run};
use trivox::gpu::Adapter;

/// Models with more triangles are left to the first hardware adapter, or the first llvmpipe.
const SMALL: usize = 100_000;

fn models(folder: &Path) -> Vec<(String, Mesh)> {
    let model = |path: PathBuf| (path.display().to_string(), read_mesh(&path).unwrap().mesh);
    let models: Vec<_> = models_in(folder).into_iter().map(model).collect();
    assert!(models.len() >= 4, "{} has too few models", folder.display());
    models
}

/// Compares CPU and GPU by all rules, large models on the first adapter.
fn compare(adapters: Vec<Adapter>, models: &[(String, Mesh)], resolutions: &[u32]) {
    for (index, (label, gpu)) in gpus(adapters).enumerate() {
        let is_left_out = |mesh: &Mesh| mesh.triangles().len() > SMALL && index > 0;
        for (name, mesh) in models.iter().filter(|(_, mesh)| !is_left_out(mesh)) {
            for &resolution in resolutions {
                let placed = at_resolution(mesh, resolution);
                for rule in RULES {
                    let on_cpu = run(&Cpu, &placed, by(rule)).grid;
                    let on_gpu = run(&gpu, &placed, by(rule)).grid;
                    let what = format!("{rule:?}, {name} at {resolution} on {label}");
                    assert_same(&on_gpu, &on_cpu, &what);
                    // In one voxel all may cancel out.
                    assert!(on_cpu.occupied() > 0 || resolution == 1, "{what}");
                }
            }
        }
    }
}

#[test]
fn our_models_have_the_same_hash_on_every_adapter() {
    let models = models(&asset_path(""));
    compare(adapters(), &models, &[1, 64]);
    compare(fast_adapters(), &models, &[100, 128]);
}

#[test]
fn real_models_have_the_same_hash_on_fast_adapters_and_on_the_first_at_a_fine_resolution() {
    let Some(folder) = environment::models() else { return };
    let models = models(&folder);
    compare(fast_adapters(), &models, &[64, 128]);
    compare(fast_adapters().into_iter().take(1).collect(), &models, &[33, 256, 1024]);
}
