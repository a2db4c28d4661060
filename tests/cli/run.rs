//! One mesh: what a run prints and writes.

use super::*;

#[test]
fn a_mesh_becomes_a_file_and_a_summary() {
    let folder = folder();
    let output = folder.succeeds("mesh.obj --res 16 -o out.npy --backend cpu -v");
    assert!(output.stdout.is_empty());
    let grid = folder.grid("out.npy");
    assert_eq!(grid.dims(), [16, 16, 4]);
    let (summary, hash) = (stderr(&output), grid.hash().to_string());
    let units = "4 x 4 x 1 mesh units, from (0, 0, 0)";
    for part in [units, "16 x 16 x 4", "voxels in", "hash", &hash, "cpu", "wrote"] {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
    assert_eq!(folder.files(), ["mesh.obj", "out.npy"]);
}

#[test]
fn json_is_one_object_with_the_documented_fields() {
    let folder = folder();
    let output = folder.succeeds("mesh.obj --res 8 --json -q --backend cpu -o a.vox");
    assert!(output.stderr.is_empty());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for field in ["origin", "occupied", "hash", "adapter", "triangles", "degenerate", "warnings"] {
        assert!(json.get(field).is_some(), "{field} is not in {json}");
    }
    for step in ["load", "place", "voxelize", "write", "total"] {
        assert!(json["timings_ms"][step].is_f64(), "{step} is not in {json}");
    }
    assert_eq!(json["dims"], json!([8, 8, 2]));
    assert_eq!(json["voxel_size"], 0.5);
    assert_eq!(json["backend"], "cpu");
}

#[test]
fn info_prints_the_hash_that_the_run_printed() {
    let folder = folder();
    for file in ["a.npy", "a.vox"] {
        let run = folder.json(format!("mesh.obj --res 21 -o {file}"));
        let info = folder.json(format!("info {file}"));
        assert_eq!([&run["hash"], &run["dims"]], [&info["hash"], &info["dims"]], "{file}");
    }
    let info = folder.printed("info --json a.vox");
    assert!(info.contains(&format!("\"voxel_size\":{},", 4.0 / 21.0)), "{info}");
    assert!(info.contains("\"up\":\"y\""), "{info}");
    assert!(folder.printed("info mesh.obj").contains("2 triangles, 4 vertices"));
}

#[test]
fn sizes_bounds_and_padding_are_as_asked() {
    let folder = folder();
    for (args, expected) in [
        ("--res 16", [16, 16, 4]),
        ("--res 16 --pad 2", [20, 20, 8]),
        ("--voxel-size 0.5", [8, 8, 2]),
        ("--voxel-size 1 --bounds=-1,0,0,4,8,2", [5, 8, 2]),
        ("--res 10 --bounds -1,0,0,4,8,2", [7, 10, 3]),
    ] {
        assert_eq!(folder.dims(format!("mesh.obj {args}")), expected, "{args}");
    }
}

#[test]
fn what_is_left_out_is_said() {
    let folder = folder();
    folder.write("rich.obj", format!("mtllib gone.mtl\n{MESH}l 1 2\np 1\n"));
    for (args, warning) in [
        ("mesh.obj --res 8", ""),
        ("rich.obj --res 8", "gone.mtl"),
        ("rich.obj --res 8", "lines were skipped"),
        ("mesh.obj --voxel-size 1 --bounds 0,0,0,2,2,2", "outside the bounds"),
        (
            "mesh.obj --voxel-size 1e-4 --bounds 0,0,0,0.01,0.01,0.01",
            "rounded to 1/256 of a voxel instead of 1/65536",
        ),
        ("mesh.obj --voxel-size 1 --bounds 10,10,10,12,12,12", "no voxel is occupied"),
    ] {
        let said = folder.json(args)["warnings"].to_string();
        assert!(said.contains(warning) && (said == "[]") == warning.is_empty(), "{said}");
    }
    for (file, note) in [
        ("a.npy", "where the grid lies"),
        ("a.binvox", "8 x 8 x 4 voxels is padded to 8 x 8 x 8"),
        ("a.npz", ""),
    ] {
        let said = folder.json(format!("mesh.obj --dims 8,8,4 --res 4 -o {file}"));
        let said = said["notes"].to_string();
        assert!(said.contains(note) && (said == "[]") == note.is_empty(), "{said}");
    }
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
        let [one, two, five] = [1, 2, 5].map(|threads| {
            folder.succeeds(format!("{args} -o {file} --threads {threads}"));
            folder.read(file)
        });
        assert!(one == two && one == five, "{args}");
    }
}

#[cfg(unix)]
#[test]
fn json_arrives_though_nobody_reads_the_talk() {
    let run = format!("{VOXELIZE} mesh.obj --res 8 --json 2> >(exec <&-; sleep 1)");
    assert_eq!(json_lines(&folder().bash(run))[0]["dims"][0], 8);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_cuts_the_file_but_not_the_preview() {
    let folder = folder();
    let run = "mesh.obj --res 300 -q -o - --format npy --preview p.png";
    let script = format!("set -o pipefail; {VOXELIZE} {run} | head -c 1 >/dev/null");
    let output = folder.bash(script);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let complaint = "error: standard output: its reader closed it before the file was complete";
    assert!(said.starts_with(complaint) && said.lines().count() == 1, "{said}");
    assert!(image::open(folder.join("p.png")).is_ok());
}

#[test]
fn auto_says_in_numbers_why_a_small_job_stays_on_the_cpu() {
    // 8 x 8 x 2 bricks in the bounds of each of the two triangles.
    let reason = "about 256 triangle-brick pairs, fewer than the ";
    let output = folder().succeeds("mesh.obj --res 64 --json -v");
    let json = &json_lines(&output)[0];
    assert!(json["reason"].as_str().unwrap().starts_with(reason), "{json}");
    assert!(stderr(&output).contains(&format!("backend   cpu ({reason}")), "{}", stderr(&output));
}
