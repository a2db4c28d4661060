//! Many meshes in one run: at once, in order, and none stopped by another.

use super::*;
#[cfg(unix)]
use std::process::Stdio;

/// The JSON lines without what differs from run to run: times, and what a GPU must be worth.
fn steady(output: &Output) -> Vec<serde_json::Value> {
    let mut lines = json_lines(output);
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        for differs in ["timings_ms", "reason"] {
            line.remove(differs).unwrap();
        }
    }
    lines
}

#[test]
fn a_mesh_that_fails_does_not_stop_the_others() {
    let folder = with_meshes(3);
    folder.write("broken.obj", "v 0 0 zero\n");
    let meshes = "0.obj broken.obj 1.obj 2.obj gone.obj";
    let run = exits(&folder, &format!("{meshes} --res 16 -o out --json"), 2);
    assert_eq!(files(&folder.join("out")), ["0.vox", "1.vox", "2.vox"]);
    let lines = json_lines(&run);
    assert_eq!(lines.len(), 5);
    for (line, mesh) in lines.iter().zip(meshes.split(' ')) {
        assert_eq!(line["mesh"], mesh);
        assert_eq!(line.get("error").is_some(), ["broken.obj", "gone.obj"].contains(&mesh));
        assert_eq!(line.get("hash").is_some(), line.get("error").is_none());
    }
    assert_eq!((lines[1].as_object().unwrap().len(), &lines[1]["code"]), (3, &"read.line".into()));
    assert!(lines[1]["error"].as_str().unwrap().contains("line 1: 'zero'"), "{}", lines[1]);
    let said = stderr(&run);
    assert!(said.contains("\nerror: broken.obj: line 1: 'zero'"), "{said}");
    assert!(said.contains("\nerror: gone.obj: No such file"), "{said}");
    assert!(said.contains("\n5 meshes: 3 voxelized, 2 failed, "), "{said}");
    let quiet = stderr(&voxelize(&folder, &format!("{meshes} --res 16 -q")));
    assert!(quiet.lines().count() == 2 && quiet.starts_with("error: broken.obj"), "{quiet}");
}

#[cfg(unix)]
#[test]
fn control_characters_of_file_names_do_not_reach_the_terminal() {
    let folder = folder();
    fs::create_dir(folder.join("set")).unwrap();
    fs::copy(folder.join("mesh.obj"), folder.join("set/good\u{1b}[31m.obj")).unwrap();
    folder.write("set/bad\u{1b}]0;\r.obj", "v 0 0 zero\n");
    let run = voxelize(&folder, "set --res 8 --json");
    let said = stderr(&run);
    assert!(said.starts_with("error: set/bad\\u{1b}]0;\\r.obj: line 1: 'zero'"), "{said:?}");
    assert!(said.contains("\nset/good\\u{1b}[31m.obj: 8 x"), "{said:?}");
    assert!(!said.contains(['\u{1b}', '\r']), "{said:?}");
    assert_eq!(json_lines(&run)[1]["mesh"], "set/good\u{1b}[31m.obj");
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
        "render . $'a\\nb.png' --size 16 --samples 1",
        "info $'a\\nb.stl'",
        "mesh.obj --res 8 -o $'a\\nb/c.npz'",
        "slice $'a\\nb.npz' $'a\\nb/c.png'",
    ] {
        let run = bash(&folder, &format!("{VOXELIZE} {args}"));
        let said = stdout(&run) + &stderr(&run);
        assert!(said.contains("a\\nb") && !said.contains("a\nb"), "{args}: {said}");
    }
}

#[test]
fn a_mesh_that_takes_longer_than_the_time_limit_fails() {
    let folder = with_meshes(2);
    let args = "0.obj 1.obj --res 64 --time-limit 0.000001 -o out --json -q";
    let run = exits(&folder, args, 2);
    let why = "takes longer than --time-limit 0.000001: allow more, or use a lower resolution";
    for line in json_lines(&run) {
        assert!(line["error"].as_str().unwrap().ends_with(why), "{line}");
    }
    assert!(files(&folder.join("out")).is_empty());
    succeeds(&folder, "0.obj 1.obj --res 64 --time-limit 600 -o out -q");
}

#[test]
fn an_output_that_cannot_be_written_fails_its_mesh_alone_and_names_it() {
    let folder = with_meshes(2);
    fs::create_dir_all(folder.join("out/0.vox")).unwrap();
    let run = exits(&folder, "0.obj 1.obj --res 8 -o out --json -q", 2);
    assert!(stderr(&run).starts_with("error: 0.obj: out/0.vox: is a folder"), "{}", stderr(&run));
    assert!(json_lines(&run)[0]["error"].as_str().unwrap().starts_with("out/0.vox: is a folder"));
    assert!(read_grid(folder.join("out/1.vox")).is_ok());
}

#[test]
fn threads_change_neither_files_nor_json() {
    let folder = with_meshes(12);
    // The first is the last to be done.
    folder.write("list.txt", format!("mesh.obj\n{}", list(12)));
    let run = |threads: u32| {
        let args =
            format!("@list.txt --res 150 --json -q --threads {threads} --backend cpu -o out");
        let run = succeeds(&folder, &args);
        let out = folder.join("out");
        let files = files(&out).into_iter().map(|f| (fs::read(out.join(&f)).unwrap(), f));
        let files: Vec<_> = files.collect();
        fs::remove_dir_all(&out).unwrap();
        (steady(&run), files)
    };
    let alone = run(1);
    assert_eq!((alone.0.len(), alone.1.len()), (13, 13));
    for threads in [2, 5] {
        let several = run(threads);
        assert_eq!(several.0, alone.0, "{threads} threads");
        assert!(several.1 == alone.1, "{threads} threads");
    }
}

#[test]
fn a_mesh_of_many_has_the_json_that_it_has_alone() {
    let folder = with_meshes(2);
    let backend = "--res 30 --json -q --backend cpu";
    let many = voxelize(&folder, &format!("0.obj 1.obj {backend}"));
    for (index, line) in steady(&many).into_iter().enumerate() {
        let alone = voxelize(&folder, &format!("{index}.obj {backend}"));
        assert_eq!(steady(&alone), [line]);
    }
    // One that fails too.
    folder.write("broken.obj", "v 0 0 zero\n");
    let of = |args: &str| json_lines(&voxelize(&folder, &format!("{args} {backend}")));
    let [one, several] = [of("broken.obj"), of("broken.obj 1.obj")];
    assert_eq!((one.len(), &one[0]), (1, &several[0]));
}

fn list(number: usize) -> String {
    (0..number).map(|index| format!("{index}.obj\n")).collect()
}

#[cfg(unix)]
#[test]
fn two_thousand_meshes_need_few_open_files_and_little_time() {
    let folder = with_meshes(2000);
    folder.write("list.txt", list(2000));
    let began = std::time::Instant::now();
    let script = format!("ulimit -n 40; exec {VOXELIZE} @list.txt --res 8 -o out --threads 4");
    let run = bash(&folder, &script);
    let said = stderr(&run);
    assert!(run.status.success(), "{said}");
    assert_eq!(files(&folder.join("out")).len(), 2000);
    assert_eq!(said.lines().count(), 2001);
    assert!(said.contains("\n2,000 meshes: 2,000 voxelized, "), "{said}");
    // 30 ms each, most of which a slow disk may take to confirm each file.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn what_is_said_of_a_mesh_names_it() {
    let folder = with_meshes(2);
    folder.write("rich.obj", format!("{MESH}p 1\n"));
    let said = fails(&folder, "0.obj rich.obj gone.obj lost.obj --res 8", "\nwarning: rich.obj: ");
    assert!(said.contains("\nfailed: gone.obj, lost.obj\nnote: no file is written"), "{said}");
    let summary = "mesh      rich.obj, 2 triangles\ngrid      8 x 8 x 2 voxels of 0.5\n          \
                   4 x 4 x 1 mesh units, from (0, 0, 0)\n";
    let said = says(&folder, "0.obj rich.obj --res 8 -v", summary);
    assert!(said.contains("triangle-brick pairs, fewer than the"), "{said}");
    assert!(said.contains("\nnote: rich.obj: no file is written"), "{said}");
}

#[cfg(unix)]
#[test]
fn files_are_made_though_the_reader_of_json_goes_away() {
    let folder = with_meshes(50);
    folder.write("list.txt", list(50));
    let script = format!("set -o pipefail; {VOXELIZE} @list.txt --res 8 -q --json -o out | true");
    let run = bash(&folder, &script);
    assert_eq!((run.status.code(), stderr(&run)), (Some(0), String::new()));
    assert_eq!(files(&folder.join("out")).len(), 50);
}

#[cfg(unix)]
#[test]
fn a_failure_is_told_by_the_exit_code_though_the_reader_of_json_goes_away() {
    let folder = with_meshes(2);
    let args = ["gone.obj", "0.obj", "1.obj", "--res", "8", "--json", "-q"];
    let mut run = Command::new(VOXELIZE);
    let run = run.current_dir(&folder).args(args);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(run.stdout.take());
    assert_eq!(run.wait().unwrap().code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_file_of_any_of_those_at_work() {
    let folder = with_meshes(4);
    // 2 GB each, which are not written in the time it takes to see that they have begun.
    let args = "0.obj 1.obj 2.obj 3.obj --res 2000 -o out --format npy --threads 4 -q";
    let args = args.split(' ');
    let mut run = signalled().current_dir(&folder).args(args).spawn().unwrap();
    let out = folder.join("out");
    let begun = becomes(|| out.is_dir() && files(&out).len() > 1);
    send("INT", &run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(begun, "two temporary files at once were not seen");
    assert_eq!(files(&out), Vec::<String>::new());
}

/// Some systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_can_be_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let folder = with_meshes(0);
    for name in [&b"x\xff.obj"[..], b"x\xfe.obj", b"two\nlines.obj"] {
        fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), "f 1 2 3\n").unwrap();
    }
    let run = voxelize(&folder, ". --res 8 --json -q");
    let names: Vec<_> = json_lines(&run).into_iter().map(|line| line["mesh"].clone()).collect();
    assert_eq!(names, ["./mesh.obj", "./two\nlines.obj", "./x\\xfe.obj", "./x\\xff.obj"]);
    let said = stderr(&run);
    let failed = said.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!((failed, said.contains("two\\nlines.obj: ")), (3, true), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_in_a_folder_and_no_file_is_refused() {
    let folder = with_meshes(1);
    assert!(Command::new("mkfifo").arg(folder.join("pipe.obj")).status().unwrap().success());
    refuses(&folder, ". --res 8", "./pipe.obj: is a pipe or a device: name it itself");
}

/// A folder with permission to read, and none to search.
#[cfg(target_os = "linux")]
#[test]
fn a_mesh_in_a_folder_that_cannot_be_looked_at_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_meshes(1);
    let inside = folder.join("in");
    fs::create_dir(&inside).unwrap();
    fs::copy(folder.join("mesh.obj"), inside.join("mesh.obj")).unwrap();
    let allow = |mode| fs::set_permissions(&inside, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o444);
    let is_stopped = fs::metadata(inside.join("mesh.obj")).is_err();
    let run = voxelize(&folder, "in --res 8 --json -q");
    allow(0o755);
    if !is_stopped {
        eprintln!("skipped: this user may look into any folder");
        return;
    }
    assert_eq!((run.status.code(), json_lines(&run).len()), (Some(2), 1));
    assert!(stderr(&run).contains("in/mesh.obj: Permission denied"), "{}", stderr(&run));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_missing_mesh_in_a_folder_is_an_error() {
    let folder = with_meshes(1);
    std::os::unix::fs::symlink("gone.obj", folder.join("lost.obj")).unwrap();
    let run = exits(&folder, ". --res 8 --json -q", 2);
    assert_eq!(json_lines(&run).len(), 3);
    assert!(stderr(&run).contains("lost.obj: No such file"), "{}", stderr(&run));
}
