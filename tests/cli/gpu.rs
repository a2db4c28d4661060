//! Runs that need an adapter.

use super::*;

#[test]
fn check_compares_both_backends_and_says_so() {
    let Some(_) = adapter() else { return };
    let folder = folder();
    for backend in ["cpu", "gpu"] {
        let args = format!("mesh.obj --res 50 --check --backend {backend} -o {backend}.npy");
        says(&folder, &args, "the same, bit for bit");
    }
    assert_eq!(folder.read("cpu.npy"), folder.read("gpu.npy"));
    for mode in ["thin", "solid --fill vote", "solid --fill winding --shell", "solid --fill flood"]
    {
        let args = format!("mesh.obj --res 20 --check --mode {mode}");
        says(&folder, &args, "the same, bit for bit");
    }
}

#[test]
fn a_kernel_without_a_gpu_is_said_to_have_no_effect() {
    let run = voxelize(&folder(), "mesh.obj --res 8 --kernel voxels");
    assert!(stderr(&run).contains("--kernel had no effect: the CPU"), "{}", stderr(&run));
}

#[test]
fn both_kernels_of_a_gpu_give_the_same_voxels() {
    let Some(_) = adapter() else { return };
    let folder = folder();
    let run = |kernel: &str| {
        let args = format!("mesh.obj --res 50 --backend gpu --kernel {kernel} --json");
        json_of(&folder, &args)
    };
    let [rows, voxels] = ["rows", "VOXELS"].map(run);
    assert_eq!(rows["hash"], voxels["hash"]);
    let stages = |summary: &serde_json::Value| summary["gpu"]["stages"].to_string();
    assert!(stages(&rows).contains("\"voxel_rows\""), "{rows}");
    assert!(stages(&voxels).contains("\"voxels\""), "{voxels}");
    assert!(!stages(&voxels).contains("\"voxel_rows\""), "{voxels}");
}

#[test]
fn check_compares_distances_too() {
    let Some(_) = adapter() else { return };
    let folder = folder();
    for backend in ["cpu", "gpu"] {
        let args = format!("mesh.obj --res 20 --distance 3 --check --backend {backend}");
        let output = voxelize(&folder, &format!("{args} -o {backend}.npy --json"));
        let summary = json(&output);
        let found = (&summary["check"]["differing"], &summary["backend"]);
        assert_eq!(found, (&0.into(), &backend.into()));
        assert!(!stderr(&output).contains("distances were computed"), "{}", stderr(&output));
    }
    assert_eq!(folder.read("cpu.npy"), folder.read("gpu.npy"));
}

#[test]
fn an_adapter_that_is_not_there_fails_each_mesh_with_those_that_are() {
    let Some(_) = adapter() else { return };
    let folder = with_meshes(2);
    let listed = json_of(&folder, "adapters --json")[0]["adapter"].clone();
    let run = exits(&folder, "0.obj 1.obj --res 8 --adapter Voodoo --json -q", 2);
    assert_eq!(json_lines(&run).len(), 2);
    let said = stderr(&run);
    assert!(said.starts_with("error: 0.obj: no adapter matches 'Voodoo'"), "{said}");
    assert!(said.contains(listed.as_str().unwrap()), "{said}");
}

#[test]
fn many_meshes_share_one_gpu_and_are_checked() {
    let Some(_) = adapter() else { return };
    let folder = with_meshes(4);
    for backend in ["cpu", "gpu"] {
        let args = "0.obj 1.obj 2.obj 3.obj --res 30 --check --json --threads 3 -q";
        let run = succeeds(&folder, &format!("{args} --backend {backend}"));
        let lines = json_lines(&run);
        assert_eq!(lines.len(), 4);
        for line in &lines {
            let found = (&line["check"]["differing"], &line["backend"]);
            assert_eq!(found, (&0.into(), &backend.into()));
        }
        // Those that come after the device is open do not open it.
        let start = |line: &serde_json::Value| line["timings_ms"]["start"].as_f64().unwrap();
        let opened = lines.iter().filter(|line| start(line) > 1.0).count();
        assert!(opened <= 3, "{lines:?}");
    }
}

#[test]
fn a_picture_drawn_on_a_gpu_is_that_of_the_cpu() {
    let Some(adapter) = adapter() else { return };
    let folder = folder();
    let label = adapter.label();
    // A name without spaces that it has.
    let named = format!(" --adapter {}", label.split_whitespace().nth(1).unwrap());
    let options = "--res 9 --size 40x30 --background transparent --json -q";
    for (name, more) in [("cpu.png", ""), ("named.png", &named[..]), ("gpu.png", " --backend gpu")]
    {
        let said = json_of(&folder, &format!("render mesh.obj -o {name} {options}{more}"));
        assert_eq!(said["backend"], if more.is_empty() { "cpu" } else { "gpu" });
        assert_eq!(said["adapter"].is_string(), !more.is_empty());
        let is_slow = !more.is_empty() && adapter.is_software();
        let warnings = said["warnings"].to_string();
        assert_eq!(warnings.contains("is software: --backend cpu draws the same"), is_slow);
        assert!(folder.read("cpu.png") == folder.read(name), "{name}");
    }
}

#[test]
fn a_gpu_to_draw_with_that_is_not_there_is_refused() {
    let folder = folder();
    let refused = voxelize(&folder, "render mesh.obj --res 8 -o a.png --adapter voodoo");
    let said = stderr(&refused);
    let is_why =
        ["no adapter matches 'voodoo'", "no GPU adapter"].iter().any(|why| said.contains(why));
    assert!(refused.status.code() == Some(2) && is_why, "{said}");
    let both = "render mesh.obj --res 8 -o a.png --backend cpu --adapter voodoo";
    fails(&folder, both, "leave one of them out");
    assert!(!folder.join("a.png").exists());
}
