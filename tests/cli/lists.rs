//! Meshes that a list names, and parts of lists.

use super::*;

#[test]
fn a_list_names_meshes_as_if_they_were_typed() {
    let folder = with_meshes(4);
    fs::copy(folder.join("3.obj"), folder.join("@3.obj")).unwrap();
    fs::copy(folder.join("3.obj"), folder.join("3 #.obj")).unwrap();
    folder.write("list.txt", "\u{feff}# comment\n2.obj\r\n\n   \n./@3.obj\n3 #.obj\n1.obj");
    let run = folder.succeeds("mesh.obj @list.txt 0.obj --res 8 --json -q");
    assert_eq!(meshes(&run), ["mesh.obj", "2.obj", "./@3.obj", "3 #.obj", "1.obj", "0.obj"]);
    folder.write("input", "1.obj\n0.obj\n");
    let run = folder.voxelize_from("input", "@- --res 8 --json -q");
    assert_eq!(meshes(&run), ["1.obj", "0.obj"]);
}

#[test]
fn a_list_of_one_mesh_is_treated_as_a_list() {
    let folder = folder();
    folder.write("list.txt", "mesh.obj\n");
    let run = folder.succeeds("@list.txt --res 8 -o voxels --json");
    assert_eq!(meshes(&run), ["mesh.obj"]);
    assert_eq!(folder.files_in("voxels"), ["mesh.vox"]);
    assert!(stderr(&run).contains("1 mesh: 1 voxelized"), "{}", stderr(&run));
    let complaint = "standard output takes the voxels of one";
    folder.refuses("@list.txt --res 8 -o - --format vox", complaint);
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_may_name_files_whose_names_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    folder.write(std::ffi::OsStr::from_bytes(b"na\xefve.obj"), MESH);
    folder.write("list.txt", b"mesh.obj\nna\xefve.obj\n");
    let run = folder.succeeds("@list.txt --res 8 --json -q -o voxels");
    assert_eq!(meshes(&run).len(), 2);
    assert!(folder.join("voxels").join(std::ffi::OsStr::from_bytes(b"na\xefve.vox")).exists());
}

#[test]
fn lists_that_name_no_meshes_are_refused() {
    let folder = folder();
    folder.write("empty.txt", "\n# nothing\n");
    folder.write("nested.txt", "mesh.obj\n@more.txt\n");
    folder.write("wide.txt", b"\xff\xfem\0e\0");
    folder.each("_ --res 8 -o voxels").refuses(&[
        ("@gone.txt", "gone.txt: cannot read the list of meshes: No such file"),
        ("@.", ".: cannot read the list of meshes"),
        ("@", "'@' names no list"),
        ("@empty.txt", "empty.txt: the list names no mesh"),
        ("@-", "standard input: the list names no mesh"),
        ("@nested.txt", "nested.txt: line 2: a list cannot name another: write ./@more.txt"),
        ("@/dev/zero", "/dev/zero: cannot read the list of meshes: has more than 64 MiB"),
        ("mesh.obj --blocks /dev/zero", "/dev/zero: has more than 64 MiB: name a smaller file"),
        ("mesh.obj --palette /dev/zero", "/dev/zero: has more than 256 MiB: name a smaller image"),
        ("@wide.txt", "wide.txt: the list is UTF-16 text: save it as UTF-8"),
    ]);
}

#[test]
fn a_mesh_that_is_named_twice_is_made_once_with_a_warning() {
    let folder = folder();
    folder.write("twice.txt", "mesh.obj\n./mesh.obj\n");
    for (args, warning) in [
        ("@twice.txt", "warning: ./mesh.obj: the same mesh as mesh.obj, and made once\n"),
        ("mesh.obj mesh.obj", "warning: mesh.obj: the mesh is named twice, and made once\n"),
    ] {
        let run = folder.succeeds(format!("{args} --res 8 -o voxels --json"));
        assert_eq!(json_lines(&run).len(), 1, "{args}");
        let said = stderr(&run);
        assert!(said.starts_with(warning) && said.contains("\n1 mesh: 1 voxelized, "), "{said}");
    }
    // Links of other names have outputs of their own.
    #[cfg(unix)]
    {
        let link = |name: &str| std::os::unix::fs::symlink("mesh.obj", folder.join(name)).unwrap();
        ["a.obj", "b.obj"].into_iter().for_each(link);
        let run = folder.succeeds("mesh.obj a.obj ./a.obj b.obj --res 8 -o links --json");
        assert_eq!(meshes(&run), ["mesh.obj", "a.obj", "b.obj"]);
        assert_eq!(folder.files_in("links").len(), 3);
        fs::create_dir(folder.join("x")).unwrap();
        std::os::unix::fs::symlink("../mesh.obj", folder.join("x/mesh.obj")).unwrap();
        let run = folder.succeeds("mesh.obj x/mesh.obj --res 8 -o one --json");
        assert_eq!(meshes(&run), ["mesh.obj"]);
    }
}

/// A data set may link its parts to one folder of all meshes.
#[cfg(unix)]
#[test]
fn links_in_other_folders_have_outputs_of_their_own_and_links_to_folders_are_left_out() {
    let folder = folder();
    for part in ["set/all", "set/test"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    folder.write("set/all/a.obj", MESH);
    let link = |to, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link("../all/a.obj", "set/test/a.obj");
    link("all", "set/linked");
    let run = folder.succeeds("set --recursive --res 8 -o out --json");
    let left_out = "warning: 1 link to a folder is left out, as links are not followed: set/linked";
    assert!(stderr(&run).starts_with(left_out), "{}", stderr(&run));
    let lines = json_lines(&run);
    assert_eq!(lines[0]["left_out"], "a link to a folder, which is not followed");
    assert_eq!(meshes(&run), ["set/linked", "set/all/a.obj", "set/test/a.obj"]);
    assert_eq!(folder.files_in("out/all"), ["a.vox"]);
    assert_eq!(folder.files_in("out/test"), ["a.vox"]);
    // Nor does a pattern follow them below a folder, where they may be cyclic.
    link("..", "set/test/up");
    let run = folder.succeeds("set/**/*.obj --recursive --res 8 -o deep --json -q");
    let expected = ["set/linked", "set/test/up", "set/all/a.obj", "set/test/a.obj"];
    assert_eq!(meshes(&run), expected);
    fs::remove_file(folder.join("set/test/up")).unwrap();
    // Both would have the same output.
    let run = folder.succeeds("set/all/a.obj set/test/a.obj --res 8 -o flat/ --json -q");
    assert_eq!(meshes(&run), ["set/all/a.obj"]);
    let run = folder.succeeds("set/test set/test/a.obj --res 8 -o flat/ --json -q");
    assert_eq!(meshes(&run), ["set/test/a.obj"]);
    let run = folder.succeeds("set set/test/a.obj --recursive --res 8 -o out --json -q");
    assert_eq!(meshes(&run), ["set/linked", "set/all/a.obj", "set/test/a.obj"]);
}

#[test]
fn what_is_left_out_of_a_folder_is_said_in_json_too() {
    let folder = folder();
    fs::create_dir_all(folder.join("in/deep.obj")).unwrap();
    for name in ["a.obj", "._a.obj", "b.FBX", "c.stl.gz", "others.zip"] {
        folder.write(format!("in/{name}"), MESH);
    }
    let left_out = |args: &str| -> Vec<String> {
        let run = folder.succeeds(format!("{args} --res 8 --json -q"));
        assert_eq!(stderr(&run), "");
        let lines = json_lines(&run);
        let left_out = lines.iter().filter(|line| line["left_out"].is_string());
        left_out.map(|line| format!("{}: {}", line["mesh"], line["left_out"])).collect()
    };
    let expected = [
        r#""in/._a.obj": "an AppleDouble file of macOS""#,
        r#""in/b.FBX": "its format is not read""#,
        r#""in/c.stl.gz": "its format is not read""#,
    ];
    assert_eq!(left_out("in"), expected);
    let expected = [r#""in/deep.obj": "a folder that matches a pattern""#];
    assert_eq!(left_out("in/*.obj"), expected);
    folder.fails("in/c.stl.gz --res 8", ".gz files are not read: decompress the file in it");
    folder.refuses("in/d* --res 8", "in/d*: only folders match this pattern: name them");
}

#[test]
fn a_pattern_keeps_the_folders_below_its_fixed_part_in_recursion() {
    let folder = folder();
    for part in ["a", "b/c"] {
        fs::create_dir_all(folder.join("set").join(part)).unwrap();
        for name in ["model.obj", "model.stl"] {
            folder.write(format!("set/{part}/{name}"), MESH);
        }
    }
    folder.refuses("set --recursive --res 8 -o out", "both be written there");
    folder.refuses("set/**/*.obj --res 8 -o out", "such as 'set/**/*.glb', with --recursive");
    let run = folder.succeeds("set/**/*.obj --recursive --res 8 -o out --json -q");
    assert_eq!(meshes(&run), ["set/a/model.obj", "set/b/c/model.obj"]);
    assert_eq!(folder.files_in("out/a"), ["model.vox"]);
    assert_eq!(folder.files_in("out/b/c"), ["model.vox"]);
    // The folders that match hold files that do.
    for part in ["a", "b/c"] {
        fs::remove_file(folder.join("set").join(part).join("model.stl")).unwrap();
    }
    let run = folder.succeeds("./set/**/* --recursive --res 8 -o other --json -q");
    assert_eq!(meshes(&run).len(), 2);
    assert_eq!(folder.files_in("other/b/c"), ["model.vox"]);
}

#[test]
fn a_pattern_in_the_current_folder_has_outputs_as_named() {
    let folder = folder();
    let run = folder.succeeds("*.obj --recursive --res 8 -o out --json -q");
    assert_eq!(json_lines(&run)[0]["output"], "out/mesh.vox");
    let run = folder.succeeds("./*.obj --recursive --res 8 -o out --json -q");
    assert_eq!(json_lines(&run)[0]["output"], "out/mesh.vox");
}

#[test]
fn outputs_of_earlier_runs_in_a_folder_below_are_no_meshes() {
    let folder = folder();
    fs::create_dir(folder.join("in")).unwrap();
    for name in ["a.obj", "b.obj"] {
        folder.write(format!("in/{name}"), MESH);
    }
    for shard in ["1/2", "2/2"] {
        folder.succeeds(format!("in --recursive --res 8 --format ply -o in/out --shard {shard}"));
    }
    assert_eq!(folder.files_in("in/out"), ["a.ply", "b.ply"]);
    let run = folder.succeeds("in --recursive --res 8 --format ply -o in/out --json -q");
    assert_eq!(meshes(&run), ["in/out", "in/a.obj", "in/b.obj"]);
    assert_eq!(json_lines(&run)[0]["left_out"], "in the output folder (-o)");
    let run = folder.succeeds("in/**/*.* --recursive --res 8 --format ply -o in/out --json -q");
    assert_eq!(meshes(&run)[..2], ["in/out/a.ply", "in/out/b.ply"]);
    assert_eq!(meshes(&run)[2..], ["in/a.obj", "in/b.obj"]);
    // A pattern may be for files beside their outputs.
    let run = folder.succeeds("in/*.obj --res 8 --format ply -o in/ --json -q");
    assert_eq!(meshes(&run), ["in/a.obj", "in/b.obj"]);
    let run = folder.succeeds("*.obj --res 8 --format ply -o ./ --json -q");
    assert_eq!(meshes(&run), ["mesh.obj"]);
    for name in ["in/a.ply", "in/b.ply", "mesh.ply"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    // Of the first shard only.
    let second = "in --recursive --res 8 --format ply -o in/out --json -q --shard 2/2";
    assert_eq!(meshes(&folder.succeeds(second)), ["in/b.obj"]);
    // Meshes in the folder of outputs that are none.
    let run = folder.succeeds("in --recursive --res 8 -o in/out --shard 2/2 --json -q");
    assert_eq!(meshes(&run).len(), 2);
}

#[test]
fn names_that_end_in_zero_bytes_may_have_lines() {
    let folder = folder();
    folder.write("two\nlines.obj", MESH);
    folder.write("#x.obj", MESH);
    folder.write("names", "#x.obj\0mesh.obj\0two\nlines.obj\0");
    let run = folder.succeeds("@names --res 8 --json -q");
    assert_eq!(meshes(&run), ["#x.obj", "mesh.obj", "two\nlines.obj"]);
}

#[test]
fn a_file_that_is_no_mesh_fails_alone() {
    let folder = folder();
    folder.write("mesh.mtl", "newmtl a\n");
    let run = folder.exits("mesh.mtl mesh.obj --res 8 -o out --json -q", 2);
    assert!(json_lines(&run)[0]["error"].is_string());
    assert_eq!(folder.files_in("out"), ["mesh.vox"]);
}

#[test]
fn shards_together_make_the_whole() {
    let folder = with_meshes(7);
    folder.succeeds("@list.txt --res 20 -o whole");
    let shard = |args: &str| folder.succeeds(format!("@list.txt --res 20 --json {args}"));
    let parts = [1, 2, 3].map(|index| meshes(&shard(&format!("-o parts --shard {index}/3"))));
    assert!(parts.iter().all(|part| matches!(part.len(), 2 | 3) && part.is_sorted()), "{parts:?}");
    let mut together = parts.concat();
    together.sort();
    assert_eq!(together, [0, 1, 2, 3, 4, 5, 6].map(|number| format!("{number}.obj")));
    assert_eq!(folder.files_in("parts"), folder.files_in("whole"));
    for file in folder.files_in("whole") {
        let [part, whole] = ["parts", "whole"].map(|home| folder.read(format!("{home}/{file}")));
        assert!(part == whole, "{file}");
    }
    let empty = shard("--shard 8/8");
    assert_eq!(meshes(&empty), Vec::<String>::new());
    assert!(stderr(&empty).starts_with("shard 8/8, 0 of 7 meshes: "), "{}", stderr(&empty));
}

#[test]
fn brackets_in_a_pattern_are_those_of_names_where_there_are_such() {
    let folder = folder();
    fs::create_dir_all(folder.join("run[1]")).unwrap();
    folder.write("run[1]/a[2].obj", MESH);
    folder.write("b1.obj", MESH);
    for (pattern, mesh) in [
        ("run[1]/a[2].obj", "run[1]/a[2].obj"),
        ("run[1]/*.obj", "run[1]/a[2].obj"),
        ("?[1].obj", "b1.obj"),
    ] {
        let run = folder.succeeds(format!("{pattern} --res 8 --json -q"));
        assert_eq!(meshes(&run), [mesh]);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_the_one_that_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let closed = folder.join("in/closed");
    fs::create_dir_all(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        eprintln!("skipped: this user may read any folder");
        return;
    }
    folder.refuses("in --recursive --res 8 -q", "error: in/closed: Permission denied");
    folder.write("in/mesh.obj", MESH);
    let run = folder.exits("in --recursive --res 8 -o out --json -q", 2);
    assert_eq!(meshes(&run), ["in/closed", "in/mesh.obj"]);
    assert_eq!(json_lines(&run)[0]["code"], "io");
    assert_eq!(folder.files_in("out"), ["mesh.vox"]);
}
