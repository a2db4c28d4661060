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
    folder.refuses("in --recursive --res 8", "error: in/closed: Permission denied");
}
