//! Many meshes in one run: at once, in order, and none stopped by another.

use super::*;

/// The JSON lines without what differs from run to run: times, and what a GPU must be worth.
fn steady(output: &Output) -> Vec<Value> {
    let mut lines = json_lines(output);
    for line in &mut lines {
        for differs in ["timings_ms", "reason"] {
            line.as_object_mut().unwrap().remove(differs).unwrap();
        }
    }
    lines
}

#[test]
fn a_mesh_that_fails_does_not_stop_the_others() {
    let folder = with_meshes(3);
    folder.write("broken.obj", "v 0 0 zero\n");
    let args = "0.obj broken.obj 1.obj 2.obj gone.obj --res 16";
    let run = folder.exits(format!("{args} -o out --json"), 2);
    assert_eq!(folder.files_in("out"), ["0.vox", "1.vox", "2.vox"]);
    assert_eq!(meshes(&run), ["0.obj", "broken.obj", "1.obj", "2.obj", "gone.obj"]);
    let lines = json_lines(&run);
    for line in &lines {
        let fails = line["mesh"] == "broken.obj" || line["mesh"] == "gone.obj";
        assert_eq!(line.get("error").is_some(), fails);
        assert_eq!(line.get("hash").is_some(), !fails);
    }
    let broken = &lines[1];
    assert_eq!((broken.as_object().unwrap().len(), &broken["code"]), (3, &"read.line".into()));
    assert!(broken["error"].as_str().unwrap().contains("line 1: 'zero'"), "{broken}");
    let said = stderr(&run);
    assert!(said.contains("\nerror: broken.obj: line 1: 'zero'"), "{said}");
    assert!(said.contains("\nerror: gone.obj: No such file"), "{said}");
    assert!(said.contains("\n5 meshes: 3 voxelized, 2 failed, "), "{said}");
    let quiet = folder.fails(format!("{args} -q"), "error: gone.obj: ");
    assert!(quiet.lines().count() == 2 && quiet.starts_with("error: broken.obj"), "{quiet}");
}

#[cfg(unix)]
#[test]
fn control_characters_of_file_names_do_not_reach_the_terminal() {
    let folder = folder();
    fs::create_dir(folder.join("set")).unwrap();
    folder.write("set/good\u{1b}[31m.obj", MESH);
    folder.write("set/bad\u{1b}]0;\r.obj", "v 0 0 zero\n");
    let run = folder.exits("set --res 8 --json", 2);
    let said = stderr(&run);
    assert!(said.starts_with("error: set/bad\\u{1b}]0;\\r.obj: line 1: 'zero'"), "{said:?}");
    assert!(said.contains("\nset/good\\u{1b}[31m.obj: 8 x"), "{said:?}");
    assert!(!said.contains(['\u{1b}', '\r']), "{said:?}");
    assert_eq!(meshes(&run)[1], "set/good\u{1b}[31m.obj");
}

#[cfg(unix)]
#[test]
fn a_line_end_in_a_file_name_is_escaped_in_every_message() {
    let folder = folder();
    for args in [
        "mesh.obj --res 8 -o $'a\\nb.npz' --preview $'a\\nb.png'",
        "mesh.obj mesh.obj --res 8 --label file -o $'a\\nb.npz'",
        "convert $'a\\nb.npz' $'a\\nb.vox'",
        "diff $'a\\nb.npz' $'a\\nb.vox' $'a\\nb.png'",
        "join $'a\\nb.npz' -o $'a\\nb.bricks'",
        "slice $'a\\nb.npz' $'a\\nb.png'",
        "render $'a\\nb.npz' $'a\\nb.png' --size 16 --samples 1",
        "info $'a\\nb.stl'",
        "mesh.obj --res 8 -o $'a\\nb/c.npz'",
        "slice $'a\\nb.npz' $'a\\nb/c.png'",
    ] {
        let run = folder.bash(format!("{VOXELIZE} {args}"));
        let said = stdout(&run) + &stderr(&run);
        assert!(said.contains("a\\nb") && !said.contains("a\nb"), "{args}: {said}");
    }
}

#[test]
fn a_mesh_that_takes_longer_than_the_time_limit_fails() {
    let folder = with_meshes(2);
    let run = folder.exits("@list.txt --res 64 --time-limit 0.000001 -o out --json -q", 2);
    let why = "takes longer than --time-limit 0.000001: allow more, or use a lower resolution";
    for line in json_lines(&run) {
        assert!(line["error"].as_str().unwrap().ends_with(why), "{line}");
    }
    assert!(folder.files_in("out").is_empty());
    folder.succeeds("@list.txt --res 64 --time-limit 600 -o out -q");
}

#[test]
fn an_output_that_cannot_be_written_fails_its_mesh_alone_and_names_it() {
    let folder = with_meshes(2);
    fs::create_dir_all(folder.join("out/0.vox")).unwrap();
    let run = folder.exits("@list.txt --res 8 -o out --json -q", 2);
    assert!(stderr(&run).starts_with("error: 0.obj: out/0.vox: is a folder"), "{}", stderr(&run));
    assert!(json_lines(&run)[0]["error"].as_str().unwrap().starts_with("out/0.vox: is a folder"));
    assert!(read_grid(folder.join("out/1.vox")).is_ok());
}

#[test]
fn threads_change_neither_files_nor_json() {
    let folder = with_meshes(12);
    let run = |threads: u32| {
        // The first is the last to be done.
        let args = "mesh.obj @list.txt --res 150 --json -q --backend cpu -o out";
        let run = folder.succeeds(format!("{args} --threads {threads}"));
        let names = folder.files_in("out");
        let files: Vec<_> = names.iter().map(|name| folder.read(format!("out/{name}"))).collect();
        fs::remove_dir_all(folder.join("out")).unwrap();
        (steady(&run), names, files)
    };
    let alone = run(1);
    assert_eq!((alone.0.len(), alone.1.len()), (13, 13));
    for threads in [2, 5] {
        assert!(run(threads) == alone, "{threads} threads");
    }
}

#[test]
fn a_mesh_of_many_has_the_json_that_it_has_alone() {
    let folder = with_meshes(2);
    folder.write("broken.obj", "v 0 0 zero\n");
    let lines = |meshes: &str, code: i32| {
        folder.exits(format!("{meshes} --res 30 --json -q --backend cpu"), code)
    };
    let many = steady(&lines("0.obj 1.obj", 0));
    assert_eq!([steady(&lines("0.obj", 0)), steady(&lines("1.obj", 0))].concat(), many);
    // One that fails too.
    let [one, several] =
        ["broken.obj", "broken.obj 1.obj"].map(|meshes| json_lines(&lines(meshes, 2)));
    assert_eq!(one, several[..1]);
}

#[cfg(unix)]
#[test]
fn two_thousand_meshes_need_few_open_files_and_little_time() {
    let folder = with_meshes(2000);
    let began = std::time::Instant::now();
    let run = format!("{VOXELIZE} @list.txt --res 8 -o out --threads 4");
    let run = folder.bash(format!("ulimit -n 40; exec {run}"));
    let said = stderr(&run);
    assert!(run.status.success(), "{said}");
    assert_eq!(folder.files_in("out").len(), 2000);
    assert_eq!(said.lines().count(), 2001);
    assert!(said.contains("\n2,000 meshes: 2,000 voxelized, "), "{said}");
    // 30 ms each, most of which a slow disk may take to confirm each file.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn what_is_said_of_a_mesh_names_it() {
    let folder = with_meshes(2);
    folder.write("rich.obj", format!("{MESH}p 1\n"));
    let meshes = "0.obj rich.obj gone.obj lost.obj --res 8";
    let said = folder.fails(meshes, "\nwarning: rich.obj: ");
    assert!(said.contains("\nfailed: gone.obj, lost.obj\nnote: no file is written"), "{said}");
    let summary = "mesh      rich.obj, 2 triangles\ngrid      8 x 8 x 2 voxels of 0.5\n          \
                   4 x 4 x 1 mesh units, from (0, 0, 0)\n";
    let said = folder.says("0.obj rich.obj --res 8 -v", summary);
    assert!(said.contains("triangle-brick pairs, fewer than the"), "{said}");
    assert!(said.contains("\nnote: rich.obj: no file is written"), "{said}");
}

#[cfg(unix)]
#[test]
fn files_are_made_and_failures_told_though_the_reader_of_json_goes_away() {
    let folder = with_meshes(50);
    let run = format!("{VOXELIZE} @list.txt --res 8 -q --json -o out");
    let run = folder.bash(format!("set -o pipefail; {run} | true"));
    assert_eq!((run.status.code(), stderr(&run)), (Some(0), String::new()));
    assert_eq!(folder.files_in("out").len(), 50);

    let mut run = folder.start("gone.obj 0.obj 1.obj --res 8 --json -q");
    drop(run.stdout.take());
    assert_eq!(run.wait().unwrap().code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_file_of_any_of_those_at_work() {
    let folder = with_meshes(4);
    // 2 GB each, which are not written in the time it takes to see that they have begun.
    let mut run = folder.start("@list.txt --res 2000 -o out --format npy --threads 4 -q");
    let begun = becomes(|| folder.join("out").is_dir() && folder.files_in("out").len() > 1);
    send("INT", &run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(begun, "two temporary files at once were not seen");
    assert_eq!(folder.files_in("out"), Vec::<String>::new());
}

/// Some systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_can_be_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    for name in [&b"x\xff.obj"[..], b"x\xfe.obj", b"two\nlines.obj"] {
        folder.write(std::ffi::OsStr::from_bytes(name), "f 1 2 3\n");
    }
    let run = folder.exits(". --res 8 --json -q", 2);
    assert_eq!(meshes(&run), ["./mesh.obj", "./two\nlines.obj", "./x\\xfe.obj", "./x\\xff.obj"]);
    let said = stderr(&run);
    let failed = said.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!((failed, said.contains("two\\nlines.obj: ")), (3, true), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_to_a_missing_mesh_and_a_pipe_in_a_folder_are_errors_and_the_others_are_made() {
    let folder = with_meshes(1);
    std::os::unix::fs::symlink("gone.obj", folder.join("lost.obj")).unwrap();
    let run = folder.exits(". --res 8 --json -q", 2);
    assert_eq!(json_lines(&run).len(), 3);
    assert!(stderr(&run).contains("lost.obj: No such file"), "{}", stderr(&run));
    assert!(Command::new("mkfifo").arg(folder.join("pipe.obj")).status().unwrap().success());
    let run = folder.exits(". --res 8 -o out --json -q", 2);
    let said = "error: ./pipe.obj: is a pipe or a device: name it itself, or take it out of";
    assert!(stderr(&run).contains(said), "{}", stderr(&run));
    assert_eq!(meshes(&run), ["./0.obj", "./lost.obj", "./mesh.obj", "./pipe.obj"]);
    assert_eq!(folder.files_in("out"), ["0.vox", "mesh.vox"]);
}

/// A folder with permission to read, and none to search.
#[cfg(target_os = "linux")]
#[test]
fn a_mesh_in_a_folder_that_cannot_be_looked_at_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let inside = folder.join("in");
    fs::create_dir(&inside).unwrap();
    folder.write("in/mesh.obj", MESH);
    let allow = |mode| fs::set_permissions(&inside, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o444);
    let is_stopped = fs::metadata(inside.join("mesh.obj")).is_err();
    let run = folder.voxelize("in --res 8 --json -q");
    allow(0o755);
    if !is_stopped {
        eprintln!("skipped: this user may look into any folder");
        return;
    }
    assert_eq!((run.status.code(), json_lines(&run).len()), (Some(2), 1));
    assert!(stderr(&run).contains("in/mesh.obj: Permission denied"), "{}", stderr(&run));
}
