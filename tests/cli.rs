//! The program as a user runs it, in a fresh folder: what it prints, writes and refuses.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use trivox::formats::read_grid;

const VOXELIZE: &str = env!("CARGO_BIN_EXE_voxelize");

/// Two triangles of four corners; the second quad's worth of a mesh.
const MESH: &str = "v 0 0 0\nv 4 0 0\nv 4 4 1\nv 0 4 1\nf 1 2 3 4\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mesh.obj"), MESH).unwrap();
    folder
}

fn voxelize(folder: &Path, args: &str) -> Output {
    let args = args.split_whitespace();
    Command::new(VOXELIZE).current_dir(folder).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|e| name(e).unwrap()).collect();
    names.sort();
    names
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs `args`, which must fail with exit code 2, one sentence that contains `complaint`, and
/// nothing made or changed.
fn refuses(folder: &Path, args: &str, complaint: &str) {
    fs::write(folder.join("old.npy"), "an old file").unwrap();
    let before = files(folder);
    let output = voxelize(folder, args);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args}: {message}");
    assert!(message.contains(complaint), "{args}: {message}");
    assert!(message.starts_with("voxelize: ") && message.lines().count() == 1, "{args}: {message}");
    assert!(output.stdout.is_empty(), "{args}");
    assert_eq!(files(folder), before, "{args}");
    assert_eq!(fs::read_to_string(folder.join("old.npy")).unwrap(), "an old file", "{args}");
}

#[test]
fn a_mesh_becomes_a_file_and_a_summary() {
    let folder = folder();
    let output = voxelize(folder.path(), "mesh.obj --res 16 -o out.npy --backend cpu");
    assert!(output.status.success() && output.stdout.is_empty());
    let summary = stderr(&output);
    for part in
        ["mesh.obj, 2 triangles", "16 x 16 x 4", "voxels in", "hash", "cpu", "time", "wrote"]
    {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
    let grid = read_grid(&folder.path().join("out.npy")).unwrap().grid;
    assert_eq!(grid.dims(), [16, 16, 4]);
    assert!(summary.contains(&grid.hash().to_string()));
    assert_eq!(files(folder.path()), ["mesh.obj", "out.npy"]);
}

#[test]
fn json_is_one_object_with_the_documented_fields() {
    let folder = folder();
    let output = voxelize(folder.path(), "mesh.obj --res 8 --json -q --backend cpu -o a.vox");
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
        let run = voxelize(folder.path(), &format!("mesh.obj --res 21 --json -o {file}"));
        let info = voxelize(folder.path(), &format!("info --json {file}"));
        assert_eq!(json(&run)["hash"], json(&info)["hash"], "{file}");
        assert_eq!(json(&run)["dims"], json(&info)["dims"], "{file}");
    }
    let info = String::from_utf8(voxelize(folder.path(), "info --json a.vox").stdout).unwrap();
    assert!(info.contains(&format!("\"voxel_size\":{},", 4.0 / 21.0)), "{info}");
    assert!(info.contains("\"up\":\"y\""), "{info}");
    let info = voxelize(folder.path(), "info mesh.obj");
    assert!(String::from_utf8(info.stdout).unwrap().contains("2 triangles, 4 vertices"));
}

#[test]
fn sizes_bounds_and_padding_are_as_asked() {
    let folder = folder();
    let dims = |args: &str| {
        json(&voxelize(folder.path(), &format!("mesh.obj --json -q {args}")))["dims"].clone()
    };
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
    fs::write(folder.path().join("rich.obj"), text).unwrap();
    let warnings = |args: &str| {
        json(&voxelize(folder.path(), &format!("{args} --json -q")))["warnings"].to_string()
    };
    assert_eq!(warnings("mesh.obj --res 8"), "[]");
    let said = warnings("rich.obj --res 8");
    assert!(said.contains("gone.mtl") && said.contains("lines were skipped"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1 --bounds 0,0,0,2,2,2");
    assert!(said.contains("outside the bounds"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1e-4 --bounds 0,0,0,0.01,0.01,0.01");
    assert!(said.contains("rounded to 1/256 of a voxel instead of 1/65536"), "{said}");
    let said = warnings("mesh.obj --voxel-size 1 --bounds 10,10,10,12,12,12");
    assert!(said.contains("no voxel is occupied"), "{said}");
}

#[test]
fn standard_output_carries_the_file() {
    let folder = folder();
    let output = voxelize(folder.path(), "mesh.obj --res 9 -o - --format npy -q");
    voxelize(folder.path(), "mesh.obj --res 9 -o a.npy");
    assert_eq!(output.stdout, fs::read(folder.path().join("a.npy")).unwrap());
    refuses(folder.path(), "mesh.obj --res 9 -o -", "--format");
}

#[test]
fn the_same_run_writes_the_same_bytes() {
    let folder = folder();
    let write = |file: &str, threads: u32| {
        voxelize(folder.path(), &format!("mesh.obj --res 100 -o {file} --threads {threads}"));
        fs::read(folder.path().join(file)).unwrap()
    };
    assert_eq!(write("a.vox", 1), write("b.vox", 3));
}

#[test]
fn bad_input_is_refused_in_one_sentence_and_changes_nothing() {
    let folder = folder();
    let path = folder.path();
    let cases: [(&str, &[u8], &str); 12] = [
        ("empty", b"", "the file is empty"),
        ("binary", b"\x00\x01\x02", "not an OBJ text file"),
        ("text", b"hello\nworld\n", "no faces"),
        ("faceless", b"v 0 0 0\nv 1 1 1\n", "no faces"),
        ("points", b"v 0 0 0\np 1\n", "points"),
        ("nan", b"v 0 0 0\nv 1 nan 0\nv 1 1 1\nf 1 2 3\n", "line 2: 'nan'"),
        ("inf", b"v 0 0 0\nv 1 2 0\nv 1 1 -inf\nf 1 2 3\n", "line 3: '-inf'"),
        ("huge", b"v 0 0 0\nv 1e999 2 0\nv 1 1 1\nf 1 2 3\n", "line 2: '1e999'"),
        ("range", b"v 0 0 0\nv 1 2 0\nv 1 1 1\n\nf 1 2 4\n", "line 5: vertex index 4"),
        ("zero", b"v 0 0 0\nv 1 2 0\nv 1 1 1\nf 0 1 2\n", "line 4: vertex index 0"),
        ("word", b"v 0 0 zero\n", "line 1: 'zero'"),
        (
            "point",
            b"v 3 4 5\nv 3 4 5\nv 3 4 5\nf 1 2 3\n",
            "all vertices are at one point (3, 4, 5)",
        ),
    ];
    for (name, content, complaint) in cases {
        fs::write(path.join(format!("{name}.obj")), content).unwrap();
        let args = format!("{name}.obj --res 8 -o old.npy");
        refuses(path, &args, complaint);
        refuses(path, &args, &format!("{name}.obj"));
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("far.obj"), "v 0 0 0\nv 1e308 0 0\nv -1e308 1 0\nf 1 2 3\n").unwrap();
    fs::write(path.join("large.obj"), "v 0 0 0\nv 1e30 0 0\nv 0 1e30 0\nf 1 2 3\n").unwrap();
    fs::write(path.join("tiny.obj"), "v 0 0 0\nv 1e-320 0 0\nv 0 1e-321 0\nf 1 2 3\n").unwrap();
    for (args, complaint) in [
        ("mesh.obj --res 0", "use 1 to 65536"),
        ("mesh.obj --res 70000", "use 1 to 65536"),
        ("mesh.obj --res 65536 --pad 1", "at most 65536"),
        ("mesh.obj --voxel-size 0", "use a positive number"),
        ("mesh.obj --voxel-size -1", "use a positive number"),
        ("mesh.obj --voxel-size nan", "use a positive number"),
        ("mesh.obj --voxel-size 1e-9", "at most 65536"),
        ("large.obj --voxel-size 1", "at most 65536"),
        ("far.obj --res 8", "scale the mesh"),
        ("tiny.obj --res 8", "scale the mesh"),
        ("mesh.obj --voxel-size 1 --bounds 0,0,0,0,1,1", "x axis"),
        ("mesh.obj --voxel-size 1 --bounds 0,0,2,1,1,1", "z axis"),
        ("mesh.obj --voxel-size 1 --bounds 0,nan,0,1,1,1", "y axis"),
        ("large.obj --voxel-size 1 --bounds 0,0,0,1,1,1", "larger voxels or cut the mesh"),
    ] {
        refuses(path, &format!("{args} -o old.npy"), complaint);
    }
    let digits = stderr(&voxelize(path, "mesh.obj --voxel-size 1e-300"));
    assert!(digits.len() < 200, "{digits}");
    // A large mesh is no problem by itself: 1e30 units are divided into 8 voxels.
    assert_eq!(json(&voxelize(path, "large.obj --res 8 --json"))["dims"][0], 8);
}

#[test]
fn impossible_files_are_refused() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join("folder.npy")).unwrap();
    fs::write(path.join("mesh.stl"), "solid\n").unwrap();
    for (args, complaint) in [
        ("gone.obj --res 8", "gone.obj: No such file"),
        (". --res 8", "is a folder"),
        ("mesh.stl --res 8", "unknown file extension '.stl': use one of .obj"),
        ("mesh.obj --res 8 -o out.xyz", "unknown file extension '.xyz': use one of .vox, .npy"),
        ("mesh.obj --res 8 -o out", "no file extension"),
        ("mesh.obj --res 8 -o gone/out.vox", "there is no folder 'gone'"),
        ("mesh.obj --res 8 -o folder.npy", "is a folder"),
        ("mesh.obj --res 8 -o .", "is a folder"),
        ("mesh.obj --res 8 -o mesh.obj --format npy", "is the mesh itself"),
        ("mesh.obj --res 2001 -o old.vox", "at most 2000"),
        ("info .", "is a folder"),
        ("info gone.vox", "gone.vox: No such file"),
        ("info old.npy", "old.npy"),
    ] {
        refuses(path, args, complaint);
    }
}

#[test]
fn bad_usage_exits_with_2() {
    let folder = folder();
    for args in [
        "",
        "mesh.obj",
        "--res 8",
        "mesh.obj --res 8 --voxel-size 1",
        "mesh.obj --res x",
        "mesh.obj --res -1",
        "mesh.obj --res 8 --bounds 1,2,3",
        "mesh.obj --res 8 --threads 0",
        "mesh.obj --res 8 --threads 1025",
        "mesh.obj --res 8 --pad -1",
        "mesh.obj --res 8 --adapter=",
        "mesh.obj --res 8 --backend tpu",
        "mesh.obj --res 8 -q -v",
        "mesh.obj b.obj --res 8",
        "info",
        "mesh.obj --res 8 --nonsense",
    ] {
        let output = voxelize(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(stderr(&output).starts_with("error: "), "{args}: {}", stderr(&output));
    }
    for args in ["--help", "--version", "info --help", "adapters --help"] {
        assert!(voxelize(folder.path(), args).status.success(), "{args}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_and_no_other() {
    let folder = folder();
    fs::write(folder.path().join("out.npy"), "an old file").unwrap();
    // 8 blocks of 512 or 1024 bytes are the most that a file may grow to; the grid needs 64^2.
    let script =
        format!("trap '' XFSZ; ulimit -f 1; exec {VOXELIZE} mesh.obj --res 200 -o out.npy");
    let output = Command::new("sh").current_dir(&folder).args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("voxelize: out.npy: "), "{}", stderr(&output));
    assert_eq!(files(folder.path()), ["mesh.obj", "out.npy"]);
    assert_eq!(fs::read_to_string(folder.path().join("out.npy")).unwrap(), "an old file");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_the_old_file_and_no_other() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = folder();
        let path = folder.path();
        fs::write(path.join("out.npy"), "an old file").unwrap();
        // 2 GB, which is not written in the time it takes to see that it has begun.
        let args = ["mesh.obj", "--res", "2000", "-o", "out.npy", "-q"];
        let mut run = Command::new(VOXELIZE).current_dir(path).args(args).spawn().unwrap();
        let begun = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            files(path).len() > 2
        });
        assert!(begun, "no temporary file was seen");
        // The name is there a moment before it is known that it must be removed.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let pid = run.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert_eq!(run.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(files(path), ["mesh.obj", "out.npy"], "{signal}");
        assert_eq!(fs::read_to_string(path.join("out.npy")).unwrap(), "an old file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = folder();
    let output = voxelize(folder.path(), "mesh.obj --res 64 -o /dev/full --format npy");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/dev/full: No space left"), "{}", stderr(&output));
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    assert!(
        voxelize(folder.path(), "mesh.obj --res 64 -o /dev/null --format npy").status.success()
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("real.npy"), "old").unwrap();
    fs::set_permissions(path.join("real.npy"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.npy", path.join("link.npy")).unwrap();
    assert!(voxelize(path, "mesh.obj --res 8 -o link.npy").status.success());
    assert!(fs::symlink_metadata(path.join("link.npy")).unwrap().is_symlink());
    assert!(read_grid(&path.join("real.npy")).is_ok());
    assert_eq!(fs::metadata(path.join("real.npy")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let folder = folder();
    let path = folder.path();
    refuses(path, "mesh.obj --res 8 --backend cpu --adapter x", "leave one of them out");
    refuses(path, "mesh.obj --res 8 --json -o - --format npy", "leave one of them out");
}

#[cfg(unix)]
#[test]
fn json_arrives_though_nobody_reads_the_talk() {
    let folder = folder();
    let script = format!("{VOXELIZE} mesh.obj --res 8 --json 2> >(exec <&-; sleep 1)");
    let output = Command::new("bash").current_dir(&folder).args(["-c", &script]).output().unwrap();
    assert_eq!(json(&output)["dims"][0], 8);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let folder = folder();
    let path = folder.path();
    std::os::unix::fs::symlink("new.npy", path.join("link.npy")).unwrap();
    std::os::unix::fs::symlink("round.npy", path.join("round.npy")).unwrap();
    assert!(voxelize(path, "mesh.obj --res 8 -o link.npy").status.success());
    assert!(fs::symlink_metadata(path.join("link.npy")).unwrap().is_symlink());
    assert!(read_grid(&path.join("new.npy")).is_ok());
    refuses(path, "mesh.obj --res 8 -o round.npy", "too many links");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let script =
        format!("{VOXELIZE} mesh.obj --res 300 -q -o - --format npy | head -c 1 >/dev/null");
    let script = format!("set -o pipefail; {script}");
    let output = Command::new("bash").current_dir(&folder).args(["-c", &script]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::*;
    use trivox::backend::gpu::adapters::Adapter;

    fn no_adapter() -> bool {
        let none = Adapter::preferred().is_empty();
        assert!(!none || std::env::var_os("TRIVOX_GPU").is_none(), "an adapter was promised");
        if none {
            println!("skipped: no adapter");
        }
        none
    }

    #[test]
    fn check_compares_both_backends_and_says_so() {
        if no_adapter() {
            return;
        }
        let folder = folder();
        for backend in ["cpu", "gpu"] {
            let args = format!("mesh.obj --res 50 --check --backend {backend} -o {backend}.npy");
            let output = voxelize(folder.path(), &args);
            assert!(output.status.success(), "{}", stderr(&output));
            assert!(stderr(&output).contains("the same, bit for bit"), "{}", stderr(&output));
        }
        let bytes =
            ["cpu", "gpu"].map(|b| fs::read(folder.path().join(format!("{b}.npy"))).unwrap());
        assert_eq!(bytes[0], bytes[1]);
    }

    #[test]
    fn an_adapter_that_is_not_there_is_refused_with_those_that_are() {
        if no_adapter() {
            return;
        }
        let folder = folder();
        let output = voxelize(folder.path(), "mesh.obj --res 8 --backend gpu --adapter voodoo");
        assert_eq!(output.status.code(), Some(2));
        let listed = voxelize(folder.path(), "adapters --json");
        let listed = json(&listed)[0]["adapter"].as_str().unwrap().to_owned();
        assert!(stderr(&output).contains(&listed), "{}", stderr(&output));
    }
}
