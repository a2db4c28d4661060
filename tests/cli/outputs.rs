//! Where the voxels of each mesh go.

use super::*;

#[test]
fn several_meshes_go_into_a_folder_that_is_made() {
    let folder = with_meshes(2);
    let path = folder.path();
    let run = voxelize(path, "0.obj 1.obj mesh.obj --res 8 -o out/voxels");
    assert!(run.status.success(), "{}", stderr(&run));
    assert_eq!(files(&path.join("out/voxels")), ["0.vox", "1.vox", "mesh.vox"]);
    let run = voxelize(path, "0.obj 1.obj --res 8 -o out/voxels --format npy");
    assert!(run.status.success(), "{}", stderr(&run));
    let all = ["0.npy", "0.vox", "1.npy", "1.vox", "mesh.vox"];
    assert_eq!(files(&path.join("out/voxels")), all);
}

#[test]
fn one_mesh_goes_into_a_folder_where_one_is_named() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join("folder.npy")).unwrap();
    assert!(voxelize(path, "mesh.obj --res 8 -o folder.npy").status.success());
    assert_eq!(files(&path.join("folder.npy")), ["mesh.vox"]);
    assert!(voxelize(path, "mesh.obj --res 8 -o new/ --format npy").status.success());
    assert_eq!(files(&path.join("new")), ["mesh.npy"]);
    let json = json(&voxelize(path, "mesh.obj --res 8 -o . --json"));
    assert_eq!(json["output"], "./mesh.vox");
    assert!(read_grid(&path.join("mesh.vox")).is_ok());
}

#[test]
fn without_an_output_several_meshes_just_report() {
    let folder = with_meshes(3);
    let before = files(folder.path());
    let run = voxelize(folder.path(), "0.obj 1.obj 2.obj --res 8");
    assert!(run.status.success() && run.stdout.is_empty());
    let said = stderr(&run);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    for (index, line) in lines[..3].iter().enumerate() {
        assert!(line.starts_with(&format!("{index}.obj: 8 x 8 x ")), "{said}");
    }
    assert!(lines[3].starts_with("3 meshes: 3 voxelized, "), "{said}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn impossible_outputs_are_refused_before_anything_starts() {
    let folder = with_meshes(2);
    let path = folder.path();
    fs::create_dir(path.join("sub")).unwrap();
    fs::copy(path.join("1.obj"), path.join("sub/0.obj")).unwrap();
    fs::write(path.join("file"), "a file").unwrap();
    for (args, complaint) in [
        ("0.obj 1.obj -o -", "standard output takes the voxels of one mesh"),
        ("0.obj 1.obj -o - --format vox", "name a folder"),
        ("0.obj 1.obj -o old.npy", "old.npy: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o new.vox", "new.vox: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o new.voxx", "new.voxx: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o file", "file: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o file/", "file/: cannot make the folder"),
        ("0.obj 1.obj -o file/folder", "file/folder: cannot make the folder"),
        (
            "0.obj mesh.obj sub/0.obj -o out",
            "out/0.vox: 0.obj and sub/0.obj would both be written there",
        ),
        ("0.obj sub/0.obj -o out --shard 1/2", "would both be written there"),
        ("0.obj .. -o out", "..: is a folder"),
    ] {
        refuses(path, &format!("{args} --res 8"), complaint);
    }
    refuses(path, "0.obj 1.obj -o out --res 0", "a resolution of 0 is not possible");
    refuses(path, "0.obj 1.obj -o out --voxel-size nan", "a voxel size of NaN is not possible");
    assert!(voxelize(path, "0.obj 1.obj -o new.vox/ --res 8").status.success());
    assert_eq!(files(&path.join("new.vox")), ["0.vox", "1.vox"]);
}

#[cfg(unix)]
#[test]
fn two_outputs_that_are_links_to_one_file_are_refused_before_anything_starts() {
    use std::os::unix::fs::symlink;
    let folder = with_meshes(3);
    let path = folder.path();
    fs::create_dir(path.join("out")).unwrap();
    symlink("out", path.join("way")).unwrap();
    symlink("../way/1.vox", path.join("out/0.vox")).unwrap();
    symlink("nowhere.vox", path.join("out/2.vox")).unwrap();
    let complaint = "out/1.vox: 0.obj and 1.obj would both be written there";
    refuses(path, "0.obj 1.obj --res 8 -o out", complaint);
    assert!(voxelize(path, "0.obj 2.obj --res 8 -o out").status.success());
    assert_eq!(files(&path.join("out")), ["0.vox", "1.vox", "2.vox", "nowhere.vox"]);
}
