//! Where the voxels of each mesh go.

use super::*;

#[test]
fn several_meshes_and_one_where_a_folder_is_named_go_into_a_folder_that_is_made() {
    let folder = with_meshes(2);
    folder.succeeds("0.obj 1.obj mesh.obj --res 8 -o out/voxels");
    assert_eq!(folder.files_in("out/voxels"), ["0.vox", "1.vox", "mesh.vox"]);
    folder.succeeds("0.obj 1.obj --res 8 -o out/voxels --format npy");
    let all = ["0.npy", "0.vox", "1.npy", "1.vox", "mesh.vox"];
    assert_eq!(folder.files_in("out/voxels"), all);

    fs::create_dir(folder.join("folder")).unwrap();
    folder.succeeds("mesh.obj --res 8 -o folder");
    assert_eq!(folder.files_in("folder"), ["mesh.vox"]);
    folder.succeeds("mesh.obj --res 8 -o new/ --format npy");
    assert_eq!(folder.files_in("new"), ["mesh.npy"]);
    assert_eq!(folder.json("mesh.obj --res 8 -o .")["output"], "./mesh.vox");
    assert!(read_grid(folder.join("mesh.vox")).is_ok());
    // A folder with the name of a file has to be meant.
    fs::create_dir(folder.join("part.npz")).unwrap();
    folder.fails("mesh.obj --res 8 -o part.npz", "part.npz: is a folder: name a file, or write");
    folder.succeeds("mesh.obj --res 8 -o part.npz/");
    assert!(folder.join("part.npz/mesh.vox").is_file());
}

#[test]
fn without_an_output_several_meshes_just_report() {
    let folder = with_meshes(3);
    let before = folder.files();
    let run = folder.succeeds("0.obj 1.obj 2.obj --res 8");
    assert!(run.stdout.is_empty());
    let said = stderr(&run);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 5, "{said}");
    for (index, line) in lines[..3].iter().enumerate() {
        assert!(line.starts_with(&format!("{index}.obj: 8 x 8 x ")), "{said}");
    }
    assert!(lines[3].starts_with("3 meshes: 3 voxelized, "), "{said}");
    assert_eq!(lines[4], "note: no file is written: name a folder with -o");
    assert_eq!(folder.files(), before);
}

#[test]
fn impossible_outputs_are_refused_before_anything_starts() {
    let folder = with_meshes(2);
    fs::create_dir(folder.join("sub")).unwrap();
    folder.write("sub/0.obj", MESH);
    folder.write("file", "a file");
    let one_grid = "several meshes need a folder: end it with /; for one grid of all of them";
    folder.each("0.obj _ --res 8").refuses(&[
        ("1.obj -o -", "standard output takes the voxels of one mesh"),
        ("1.obj -o - --format vox", "name a folder"),
        ("1.obj -o old.npy", one_grid),
        ("1.obj -o new.vox", "new.vox: names a file, but several meshes need a folder"),
        ("1.obj -o new.voxx", "new.voxx: names a file, but several meshes need a folder"),
        ("1.obj -o file", "file: names a file, but several meshes need a folder"),
        ("1.obj -o file/", "file/: a file lies where the folder belongs: remove it, or"),
        ("1.obj -o file/folder", "file/folder: a file lies where the folder belongs"),
        ("mesh.obj sub/0.obj -o out", "out/0.vox: 0.obj and sub/0.obj would both be written there"),
        ("sub/0.obj -o out --shard 1/2", "with --recursive, to keep the folders below it"),
        ("0.stl -o out", "by a pattern such as '*.glb' ('set/**/*.glb' with --recursive), or"),
    ]);
    folder.each("0.obj 1.obj -o out _").refuses(&[
        ("--res 0", "0 voxels along an axis are not possible"),
        ("--height 0", "0 voxels along an axis are not possible"),
        ("--voxel-size nan", "a voxel size of NaN is not possible"),
    ]);
    // Nor is a folder left where a file or an option is at fault.
    folder.each("0.obj 1.obj --res 8 -o new _").refuses(&[
        ("--preview x.png", "--preview draws one mesh"),
        ("--format schem --blocks none.txt", "none.txt"),
        ("--distance 3 --format schem", "error: .schem files cannot hold distances"),
        ("--attributes normal", "error: .vox files cannot hold the attribute"),
    ]);
    folder.succeeds("0.obj 1.obj -o new.vox/ --res 8");
    assert_eq!(folder.files_in("new.vox"), ["0.vox", "1.vox"]);
}

#[test]
fn outputs_of_a_folder_lie_in_its_folders() {
    let folder = with_meshes(2);
    for (mesh, home) in [("0.obj", "set/a/models"), ("1.obj", "set/b/models")] {
        fs::create_dir_all(folder.join(home)).unwrap();
        fs::rename(folder.join(mesh), folder.join(home).join("model.obj")).unwrap();
    }
    folder.write("set/mesh.obj", MESH);
    let args = "set --recursive --res 8 -o out --resume --json -q";
    // Each part makes only the folders of its own meshes.
    for part in 1..=3 {
        folder.succeeds(format!("{args} --shard {part}/3"));
    }
    let lines = json_lines(&folder.succeeds(args));
    assert!(lines.iter().all(|line| line["skipped"] == true), "{lines:?}");
    let made: Vec<&Value> = lines.iter().map(|line| &line["output"]).collect();
    assert_eq!(made, ["out/a/models/model.vox", "out/b/models/model.vox", "out/mesh.vox"]);
    assert_ne!(lines[0]["hash"], lines[1]["hash"]);
}

#[cfg(unix)]
#[test]
fn two_outputs_that_are_links_to_one_file_and_one_to_a_mesh_are_refused() {
    use std::os::unix::fs::symlink;
    let folder = with_meshes(3);
    fs::create_dir(folder.join("out")).unwrap();
    symlink("out", folder.join("way")).unwrap();
    symlink("../way/1.vox", folder.join("out/0.vox")).unwrap();
    symlink("nowhere.vox", folder.join("out/2.vox")).unwrap();
    let complaint = "out/1.vox: 0.obj and 1.obj would both be written there";
    folder.refuses("0.obj 1.obj --res 8 -o out", complaint);
    folder.succeeds("0.obj 2.obj --res 8 -o out");
    assert_eq!(folder.files_in("out"), ["0.vox", "1.vox", "2.vox", "nowhere.vox"]);

    symlink("nowhere", folder.join("lost")).unwrap();
    let complaint = "lost/: a link that leads nowhere lies where the folder belongs";
    folder.refuses("0.obj --res 8 -o lost/", complaint);

    symlink("../1.obj", folder.join("out/0.obj")).unwrap();
    for shard in ["", "--shard 1/2"] {
        let run = format!("0.obj 1.obj --res 8 -o out --format obj {shard}");
        folder.refuses(run, "out/0.obj: would overwrite an input: name another file");
    }
}

#[test]
fn a_mesh_of_voxels_is_read_as_a_mesh_and_never_replaces_what_it_was_made_of() {
    let folder = with_meshes(2);
    let before = folder.read("mesh.obj");
    for (args, file) in [
        ("mesh.obj -o mesh.obj", "mesh.obj"),
        ("mesh.obj -o ./mesh.obj", "./mesh.obj"),
        ("mesh.obj -o . --format obj", "./mesh.obj"),
        ("0.obj mesh.obj -o . --format obj", "./0.obj"),
    ] {
        let complaint = format!("{file}: would overwrite an input: name another file");
        folder.refuses(format!("{args} --res 8"), &complaint);
    }
    assert_eq!(folder.read("mesh.obj"), before);
    folder.succeeds("0.obj mesh.obj --res 8 -o out --format obj");
    assert_eq!(folder.files_in("out"), ["0.obj", "mesh.obj"]);
    folder.succeeds("mesh.obj --res 8 -o mesh.npy");
    for file in ["out.obj", "out.ply", "out.glb"] {
        folder.succeeds(format!("mesh.obj --res 8 -o {file}"));
        let info = folder.json(format!("info {file}"));
        assert_eq!(info["bounds"][0], json!([0.0, 0.0, 0.0]), "{file}");
        let complaint = format!("{file}: is a mesh: voxelize it first");
        for args in ["diff mesh.npy FILE", "convert FILE b.npy", "verify mesh.obj FILE"] {
            folder.refuses(args.replace("FILE", file), &complaint);
        }
        // Of the same voxels, and those that touch these.
        assert_eq!(folder.dims(format!("{file} --voxel-size 0.5")), [8, 8, 2], "{file}");
    }
}

#[test]
fn no_file_that_a_run_reads_is_replaced() {
    let folder = folder();
    for file in ["lighthouse.obj", "lighthouse.mtl", "lighthouse.png"] {
        fs::copy(Path::new(ROOT).join("assets").join(file), folder.join(file)).unwrap();
    }
    folder.write("b.txt", "stone #777777\n");
    folder.write("mesh.vox", "mesh.obj\n");
    folder.write("l.json", folder.json("mesh.obj --res 8")["lattice"].to_string());
    // Images that are not used.
    let png = folder.read("lighthouse.png");
    for file in ["p", "ke", "pr", "bump", "nrm", "ns", "refl", "late", "plain", "t.1002", "g"] {
        folder.write(format!("{file}.png"), &png);
    }
    let statements = "map_Ke ke.png\nmap_Pr pr.png\nmap_Bump -bm 1 bump.png\nnorm -new 2 nrm.png\n\
                      map_Ns NS.png\nrefl -type sphere refl.png\nmap_Kd plain.png\n\
                      map_Kd late.png\nmap_Ka t.<UDIM>.png\n";
    folder.write("tx.mtl", format!("newmtl a\n{statements}newmtl unused\nmap_Kd g.png\n"));
    let face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    folder.write("tx.obj", format!("mtllib tx.mtl\nusemtl a\n{face}"));
    let embedded =
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let gltf = json!({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "buffers": [{"uri": embedded, "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "images": [{"uri": "n%72m.png"}, {"uri": "refl.png"}], "textures": [{"source": 0}],
        "materials": [{"normalTexture": {"index": 0}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}]
    });
    folder.write("g.gltf", gltf.to_string());
    folder.succeeds("mesh.obj --res 16 -o a.npz");
    for (args, file) in [
        ("lighthouse.obj --res 8 -o out.vox --preview lighthouse.png", "lighthouse.png"),
        ("lighthouse.obj --res 8 -o lighthouse.mtl --format npz", "lighthouse.mtl"),
        ("render lighthouse.obj --res 8 -o lighthouse.png", "lighthouse.png"),
        // Files that a run without colours does not read.
        ("lighthouse.obj --res 8 --color none --preview lighthouse.png", "lighthouse.png"),
        ("lighthouse.obj --res 8 --distance 1 -o lighthouse.png --format npz", "lighthouse.png"),
        ("render lighthouse.obj --res 8 --color none lighthouse.png", "lighthouse.png"),
        ("slice lighthouse.obj --res 8 -o lighthouse.png", "lighthouse.png"),
        ("slice lighthouse.obj --res 8 --color none -o lighthouse.png", "lighthouse.png"),
        ("tx.obj --res 4 --preview ke.png", "ke.png"),
        ("tx.obj --res 4 -o out.vox --preview pr.png", "pr.png"),
        ("tx.obj --res 4 --preview bump.png", "bump.png"),
        ("render tx.obj --res 4 -o nrm.png", "nrm.png"),
        ("render tx.obj --res 4 --color none ns.png", "ns.png"),
        ("tx.obj --res 4 --preview refl.png", "refl.png"),
        ("tx.obj --res 4 --preview plain.png", "plain.png"),
        ("tx.obj --res 4 --preview late.png", "late.png"),
        ("tx.obj --res 4 --preview g.png", "g.png"),
        ("tx.obj --res 4 --preview t.1002.png", "t.1002.png"),
        ("g.gltf --res 4 --preview nrm.png", "nrm.png"),
        ("render g.gltf --res 4 -o refl.png", "refl.png"),
        ("mesh.obj --res 8 -o out.vox --palette p.png --preview p.png", "p.png"),
        ("mesh.obj --res 8 -o b.txt --format schem --blocks b.txt", "b.txt"),
        ("mesh.obj --lattice l.json -o l.json --format npz", "l.json"),
        ("@mesh.vox --res 8 -o .", "mesh.vox"),
        ("convert a.npz p.png --format vox --palette p.png", "p.png"),
        ("join a.npz -o a.npz", "a.npz"),
    ] {
        let before = folder.read(file);
        folder.fails(args, &format!("{file}: would overwrite an input"));
        assert_eq!(folder.read(file), before, "{args}");
    }
    assert!(!folder.join("out.vox").exists());
    let one = "mesh.obj --res 8 -o same.png --format npz --preview ./same.png";
    folder.refuses(one, "would be both the voxels and their picture");
}
