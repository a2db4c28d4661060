//! Runs that need an adapter.

use super::*;

#[test]
fn check_compares_both_backends_and_says_so() {
    let Some(_) = adapter() else { return };
    let folder = folder();
    for backend in ["cpu", "gpu"] {
        let run = format!("mesh.obj --check --backend {backend} -o {backend}");
        folder.says(format!("{run}.npy --res 50"), "the same, bit for bit");
        let run = format!("{run}.vdb --res 20 --distance 3");
        let summary = folder.json(&run);
        let found = (&summary["check"]["differing"], &summary["backend"]);
        assert_eq!(found, (&0.into(), &backend.into()));
        assert!(!folder.said(&run).contains("distances were computed"));
    }
    assert_eq!(folder.read("cpu.npy"), folder.read("gpu.npy"));
    assert_eq!(folder.read("cpu.vdb"), folder.read("gpu.vdb"));
    for mode in ["thin", "solid --fill vote", "solid --fill winding --shell", "solid --fill flood"]
    {
        let args = format!("mesh.obj --res 20 --check --mode {mode}");
        folder.says(args, "the same, bit for bit");
    }
}

#[test]
fn a_kernel_without_a_gpu_is_said_to_have_no_effect() {
    folder().says("mesh.obj --res 8 --kernel voxels", "--kernel had no effect: the CPU");
}

#[test]
fn both_kernels_of_a_gpu_give_the_same_voxels() {
    let Some(_) = adapter() else { return };
    let folder = folder();
    let [rows, voxels] = ["rows", "VOXELS"]
        .map(|kernel| folder.json(format!("mesh.obj --res 50 --backend gpu --kernel {kernel}")));
    assert_eq!(rows["hash"], voxels["hash"]);
    let stages = |summary: &Value| summary["gpu"]["stages"].to_string();
    assert!(stages(&rows).contains("\"voxel_rows\""), "{rows}");
    assert!(stages(&voxels).contains("\"voxels\""), "{voxels}");
    assert!(!stages(&voxels).contains("\"voxel_rows\""), "{voxels}");
}

#[test]
fn an_adapter_that_is_not_there_fails_each_mesh_with_those_that_are() {
    let Some(_) = adapter() else { return };
    let folder = with_meshes(2);
    let listed = folder.json("adapters")[0]["adapter"].clone();
    let run = folder.exits("0.obj 1.obj --res 8 --adapter Voodoo --json -q", 2);
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
        let args = "@list.txt --res 30 --check --json --threads 3 -q";
        let lines = json_lines(&folder.succeeds(format!("{args} --backend {backend}")));
        assert_eq!(lines.len(), 4);
        for line in &lines {
            let found = (&line["check"]["differing"], &line["backend"]);
            assert_eq!(found, (&0.into(), &backend.into()));
        }
        // Those that come after the device is open do not open it.
        let start = |line: &Value| line["timings_ms"]["start"].as_f64().unwrap();
        let opened = lines.iter().filter(|line| start(line) > 1.0).count();
        assert!(opened <= 3, "{lines:?}");
    }
}

#[test]
fn a_picture_drawn_on_a_gpu_is_that_of_the_cpu() {
    let Some(adapter) = adapter() else { return };
    let folder = folder();
    // A name without spaces that it has.
    let named = format!("--adapter {}", adapter.label().split_whitespace().nth(1).unwrap());
    for (name, more) in [("cpu", ""), ("gpu", &*named), ("gpu", "--backend gpu")] {
        let options = format!("--res 9 --size 40x30 --background transparent -q {more}");
        let said = folder.json(format!("render mesh.obj -o {name}.png {options}"));
        let is_gpu = name == "gpu";
        assert_eq!((&said["backend"], said["adapter"].is_string()), (&name.into(), is_gpu));
        let warnings = said["warnings"].to_string();
        let is_slow = warnings.contains("is software: --backend cpu draws the same");
        assert_eq!(is_slow, is_gpu && adapter.is_software());
        assert!(folder.read("cpu.png") == folder.read(format!("{name}.png")), "{more}");
    }
}

#[test]
fn a_gpu_to_draw_with_that_is_not_there_is_refused() {
    let folder = folder();
    let run = "render mesh.obj --res 8 -o a.png --adapter voodoo";
    let said = folder.fails(run, "");
    let is_why = |why| said.contains(why);
    assert!(["no adapter matches 'voodoo'", "no GPU adapter"].into_iter().any(is_why), "{said}");
    folder.fails(format!("{run} --backend cpu"), "leave one of them out");
    assert!(!folder.join("a.png").exists());
}
