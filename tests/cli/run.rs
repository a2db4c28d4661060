//! One mesh: what a run prints and writes.

use super::*;

#[test]
fn a_mesh_becomes_a_file_and_a_summary() {
    let folder = folder();
    let output = voxelize(&folder, "mesh.obj --res 16 -o out.npy --backend cpu -v");
    assert!(output.status.success() && output.stdout.is_empty());
    let summary = stderr(&output);
    for part in
        ["4 x 4 x 1 mesh units, from (0, 0, 0)", "16 x 16 x 4", "voxels in", "hash", "cpu", "wrote"]
    {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
    let grid = folder.grid("out.npy");
    assert_eq!(grid.dims(), [16, 16, 4]);
    assert!(summary.contains(&grid.hash().to_string()));
    assert_eq!(files(&folder), ["mesh.obj", "out.npy"]);
}

#[test]
fn json_is_one_object_with_the_documented_fields() {
    let folder = folder();
    let output = voxelize(&folder, "mesh.obj --res 8 --json -q --backend cpu -o a.vox");
    assert!(output.stderr.is_empty());
    let json = json(&output);
    let fields = [
        "dims",
        "voxel_size",
        "origin",
        "occupied",
        "hash",
        "backend",
        "adapter",
        "triangles",
        "degenerate",
        "timings_ms",
        "warnings",
    ];
    for field in fields {
        assert!(json.get(field).is_some(), "{field} is not in {json}");
    }
    for step in ["load", "place", "voxelize", "write", "total"] {
        assert!(json["timings_ms"][step].is_f64(), "{step} is not in {json}");
    }
    assert_eq!(json["dims"], serde_json::json!([8, 8, 2]));
    assert_eq!(json["voxel_size"], 0.5);
    assert_eq!(json["backend"], "cpu");
}

#[test]
fn info_prints_the_hash_that_the_run_printed() {
    let folder = folder();
    for file in ["a.vox", "a.npy"] {
        let run = voxelize(&folder, &format!("mesh.obj --res 21 --json -o {file}"));
        let info = voxelize(&folder, &format!("info --json {file}"));
        assert_eq!(json(&run)["hash"], json(&info)["hash"], "{file}");
        assert_eq!(json(&run)["dims"], json(&info)["dims"], "{file}");
    }
    let info = String::from_utf8(voxelize(&folder, "info --json a.vox").stdout).unwrap();
    assert!(info.contains(&format!("\"voxel_size\":{},", 4.0 / 21.0)), "{info}");
    assert!(info.contains("\"up\":\"y\""), "{info}");
    let info = voxelize(&folder, "info mesh.obj");
    assert!(String::from_utf8(info.stdout).unwrap().contains("2 triangles, 4 vertices"));
}

#[test]
fn sizes_bounds_and_padding_are_as_asked() {
    let folder = folder();
    let dims = |args: &str| json_of(&folder, &format!("mesh.obj --json -q {args}"))["dims"].clone();
    assert_eq!(dims("--res 16"), serde_json::json!([16, 16, 4]));
    assert_eq!(dims("--res 16 --pad 2"), serde_json::json!([20, 20, 8]));
    assert_eq!(dims("--voxel-size 0.5"), serde_json::json!([8, 8, 2]));
    assert_eq!(dims("--voxel-size 1 --bounds=-1,0,0,4,8,2"), serde_json::json!([5, 8, 2]));
    assert_eq!(dims("--res 10 --bounds -1,0,0,4,8,2"), serde_json::json!([7, 10, 3]));
}

#[test]
fn what_is_left_out_is_said() {
    let folder = folder();
    let text = format!("mtllib gone.mtl\n{MESH}l 1 2\np 1\n");
    folder.write("rich.obj", text);
    let warnings =
        |args: &str| json_of(&folder, &format!("{args} --json -q"))["warnings"].to_string();
    assert_eq!(warnings("mesh.obj --res 8"), "[]");
    let said = warnings("rich.obj --res 8");
    assert!(said.contains("gone.mtl") && said.contains("lines were skipped"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1 --bounds 0,0,0,2,2,2");
    assert!(said.contains("outside the bounds"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1e-4 --bounds 0,0,0,0.01,0.01,0.01");
    assert!(said.contains("rounded to 1/256 of a voxel instead of 1/65536"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1 --bounds 10,10,10,12,12,12");
    assert!(said.contains("no voxel is occupied"), "{said}");
    let notes = |output: &str| {
        let run = format!("mesh.obj --dims 8,8,4 --res 4 -o {output} --json -q");
        json_of(&folder, &run)["notes"].to_string()
    };
    assert!(notes("a.npy").contains("where the grid lies"), "{}", notes("a.npy"));
    assert!(notes("a.binvox").contains("8 x 8 x 4 voxels is padded to 8 x 8 x 8"));
    assert_eq!(notes("a.npz"), "[]");
}

#[test]
fn files_are_the_same_on_any_number_of_threads() {
    let folder = folder();
    for (args, file) in [
        ("mesh.obj --res 100", "a.vox"),
        ("LIGHTHOUSE --res 100", "l.vox"),
        ("LIGHTHOUSE --res 100", "l.npz"),
        ("LIGHTHOUSE --res 100", "l.vdb"),
        ("LIGHTHOUSE --res 60 --mode thin --attributes normal,area", "a.npz"),
        ("LIGHTHOUSE --res 50 --distance 3", "d.vdb"),
    ] {
        let args = args.replace("LIGHTHOUSE", LIGHTHOUSE);
        let write = |threads: u32| {
            succeeds(&folder, &format!("{args} -o {file} --threads {threads}"));
            folder.read(file)
        };
        let one = write(1);
        assert!(one == write(2) && one == write(5), "{args}");
    }
}

#[cfg(unix)]
#[test]
fn json_arrives_though_nobody_reads_the_talk() {
    let folder = folder();
    let script = format!("{VOXELIZE} mesh.obj --res 8 --json 2> >(exec <&-; sleep 1)");
    let output = bash(&folder, &script);
    assert_eq!(json(&output)["dims"][0], 8);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_cuts_the_file_but_not_the_preview() {
    let folder = folder();
    let script = format!(
        "set -o pipefail; {VOXELIZE} mesh.obj --res 300 -q -o - --format npy --preview p.png \
         | head -c 1 >/dev/null"
    );
    let output = bash(&folder, &script);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let complaint = "error: standard output: its reader closed it before the file was complete";
    assert!(said.starts_with(complaint) && said.lines().count() == 1, "{said}");
    assert!(image::open(folder.join("p.png")).is_ok());
    // Text is another matter: a reader takes what it wants of it.
    let script = format!("set -o pipefail; {VOXELIZE} formats | true");
    let output = bash(&folder, &script);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn auto_says_in_numbers_why_a_small_job_stays_on_the_cpu() {
    let folder = folder();
    // 8 x 8 x 2 bricks in the bounds of each of the two triangles.
    let reason = "about 256 triangle-brick pairs, fewer than the ";
    let output = voxelize(&folder, "mesh.obj --res 64 --json -v");
    let json = json(&output);
    assert!(json["reason"].as_str().unwrap().starts_with(reason), "{json}");
    assert!(stderr(&output).contains(&format!("backend   cpu ({reason}")), "{}", stderr(&output));
}
