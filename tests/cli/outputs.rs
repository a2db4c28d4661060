//! Where the voxels of each mesh go.

use super::*;

#[test]
fn several_meshes_go_into_a_folder_that_is_made() {
    let folder = with_meshes(2);
    succeeds(&folder, "0.obj 1.obj mesh.obj --res 8 -o out/voxels");
    assert_eq!(files(&folder.join("out/voxels")), ["0.vox", "1.vox", "mesh.vox"]);
    succeeds(&folder, "0.obj 1.obj --res 8 -o out/voxels --format npy");
    let all = ["0.npy", "0.vox", "1.npy", "1.vox", "mesh.vox"];
    assert_eq!(files(&folder.join("out/voxels")), all);
}

#[test]
fn one_mesh_goes_into_a_folder_where_one_is_named() {
    let folder = folder();
    fs::create_dir(folder.join("folder")).unwrap();
    succeeds(&folder, "mesh.obj --res 8 -o folder");
    assert_eq!(files(&folder.join("folder")), ["mesh.vox"]);
    succeeds(&folder, "mesh.obj --res 8 -o new/ --format npy");
    assert_eq!(files(&folder.join("new")), ["mesh.npy"]);
    let json = json_of(&folder, "mesh.obj --res 8 -o . --json");
    assert_eq!(json["output"], "./mesh.vox");
    assert!(read_grid(folder.join("mesh.vox")).is_ok());
}

#[test]
fn without_an_output_several_meshes_just_report() {
    let folder = with_meshes(3);
    let before = files(&folder);
    let run = voxelize(&folder, "0.obj 1.obj 2.obj --res 8");
    assert!(run.status.success() && run.stdout.is_empty());
    let said = stderr(&run);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 5, "{said}");
    for (index, line) in lines[..3].iter().enumerate() {
        assert!(line.starts_with(&format!("{index}.obj: 8 x 8 x ")), "{said}");
    }
    assert!(lines[3].starts_with("3 meshes: 3 voxelized, "), "{said}");
    assert_eq!(lines[4], "note: no file is written: name a folder with -o");
    assert_eq!(files(&folder), before);
}

#[test]
fn impossible_outputs_are_refused_before_anything_starts() {
    let folder = with_meshes(2);
    fs::create_dir(folder.join("sub")).unwrap();
    fs::copy(folder.join("1.obj"), folder.join("sub/0.obj")).unwrap();
    folder.write("file", "a file");
    let both = "out/0.vox: 0.obj and sub/0.obj would both be written there";
    for (args, complaint) in [
        ("0.obj 1.obj -o -", "standard output takes the voxels of one mesh"),
        ("0.obj 1.obj -o - --format vox", "name a folder"),
        (
            "0.obj 1.obj -o old.npy",
            "several meshes need a folder: end it with /; for one grid of all of them",
        ),
        ("0.obj 1.obj -o new.vox", "new.vox: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o new.voxx", "new.voxx: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o file", "file: names a file, but several meshes need a folder"),
        ("0.obj 1.obj -o file/", "file/: a file lies where the folder belongs: remove it, or"),
        ("0.obj 1.obj -o file/folder", "file/folder: a file lies where the folder belongs"),
        ("0.obj mesh.obj sub/0.obj -o out", both),
        ("0.obj sub/0.obj -o out --shard 1/2", "with --recursive, to keep the folders below it"),
        ("0.obj 0.stl -o out", "leave one out, by a pattern such as '*.glb', or rename one"),
    ] {
        refuses(&folder, &format!("{args} --res 8"), complaint);
    }
    for size in ["--res 0", "--height 0"] {
        let args = format!("0.obj 1.obj -o out {size}");
        refuses(&folder, &args, "0 voxels along an axis are not possible");
    }
    refuses(&folder, "0.obj 1.obj -o out --voxel-size nan", "a voxel size of NaN is not possible");
    succeeds(&folder, "0.obj 1.obj -o new.vox/ --res 8");
    assert_eq!(files(&folder.join("new.vox")), ["0.vox", "1.vox"]);
}

#[test]
fn outputs_of_a_folder_lie_in_its_folders() {
    let folder = with_meshes(2);
    for (mesh, home) in [("0.obj", "set/a/models"), ("1.obj", "set/b/models")] {
        fs::create_dir_all(folder.join(home)).unwrap();
        fs::rename(folder.join(mesh), folder.join(home).join("model.obj")).unwrap();
    }
    fs::rename(folder.join("mesh.obj"), folder.join("set/mesh.obj")).unwrap();
    let args = "set --recursive --res 8 -o out --resume --json -q";
    // Each part makes only the folders of its own meshes.
    for part in 1..=3 {
        succeeds(&folder, &format!("{args} --shard {part}/3"));
    }
    let outputs = ["out/a/models/model.vox", "out/b/models/model.vox", "out/mesh.vox"];
    let lines = json_lines(&voxelize(&folder, args));
    assert!(lines.iter().all(|line| line["skipped"] == true), "{lines:?}");
    let made: Vec<&str> = lines.iter().map(|line| line["output"].as_str().unwrap()).collect();
    assert_eq!(made, outputs);
    assert_ne!(lines[0]["hash"], lines[1]["hash"]);
}

#[cfg(unix)]
#[test]
fn two_outputs_that_are_links_to_one_file_are_refused_before_anything_starts() {
    use std::os::unix::fs::symlink;
    let folder = with_meshes(3);
    fs::create_dir(folder.join("out")).unwrap();
    symlink("out", folder.join("way")).unwrap();
    symlink("../way/1.vox", folder.join("out/0.vox")).unwrap();
    symlink("nowhere.vox", folder.join("out/2.vox")).unwrap();
    let complaint = "out/1.vox: 0.obj and 1.obj would both be written there";
    refuses(&folder, "0.obj 1.obj --res 8 -o out", complaint);
    succeeds(&folder, "0.obj 2.obj --res 8 -o out");
    assert_eq!(files(&folder.join("out")), ["0.vox", "1.vox", "2.vox", "nowhere.vox"]);
}

#[test]
fn a_mesh_of_voxels_is_read_as_a_mesh_and_never_replaces_what_it_was_made_of() {
    let folder = with_meshes(2);
    let before = folder.read("mesh.obj");
    for (args, file) in [
        ("mesh.obj --res 8 -o mesh.obj", "mesh.obj"),
        ("mesh.obj --res 8 -o ./mesh.obj", "./mesh.obj"),
        ("mesh.obj --res 8 -o . --format obj", "./mesh.obj"),
        ("0.obj mesh.obj --res 8 -o . --format obj", "./0.obj"),
    ] {
        refuses(&folder, args, &format!("{file}: would overwrite an input: name another file"));
    }
    assert_eq!(folder.read("mesh.obj"), before);
    succeeds(&folder, "0.obj mesh.obj --res 8 -o out --format obj");
    assert_eq!(files(&folder.join("out")), ["0.obj", "mesh.obj"]);
    for file in ["out.obj", "out.ply", "out.glb"] {
        succeeds(&folder, &format!("mesh.obj --res 8 -o {file}"));
        let info = json_of(&folder, &format!("info {file} --json"));
        assert_eq!(info["bounds"][0], serde_json::json!([0.0, 0.0, 0.0]), "{file}");
        for args in ["diff mesh.npy", "convert", "verify mesh.obj"] {
            voxelize(&folder, "mesh.obj --res 8 -o mesh.npy");
            let more = if args == "convert" { " b.npy" } else { "" };
            let complaint = format!("{file}: is a mesh: voxelize");
            refuses(&folder, &format!("{args} {file}{more}"), &complaint);
        }
        // Of the same voxels, and those that touch these.
        let again = json_of(&folder, &format!("{file} --voxel-size 0.5 --json"));
        assert_eq!(again["dims"], serde_json::json!([8, 8, 2]), "{file}");
    }
}

#[test]
fn no_file_that_a_run_reads_is_replaced() {
    let folder = folder();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for file in ["lighthouse.obj", "lighthouse.mtl", "lighthouse.png"] {
        fs::copy(assets.join(file), folder.join(file)).unwrap();
    }
    fs::copy(folder.join("lighthouse.png"), folder.join("p.png")).unwrap();
    folder.write("b.txt", "stone #777777\n");
    folder.write("mesh.vox", "mesh.obj\n");
    let lattice = json_of(&folder, "mesh.obj --res 8 --json")["lattice"].to_string();
    folder.write("l.json", lattice);
    // Images that are not used.
    let png = include_bytes!("../../assets/lighthouse.png");
    for file in ["ke", "pr", "bump", "nrm", "ns", "refl", "late", "plain", "t.1002", "g"] {
        folder.write(format!("{file}.png"), png);
    }
    let statements = "map_Ke ke.png\nmap_Pr pr.png\nmap_Bump -bm 1 bump.png\nnorm -new 2 nrm.png\n\
                      map_Ns NS.png\nrefl -type sphere refl.png\nmap_Kd plain.png\nmap_Kd late.png\n\
                      map_Ka t.<UDIM>.png\n";
    folder.write("tx.mtl", format!("newmtl a\n{statements}newmtl unused\nmap_Kd g.png\n"));
    let face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    folder.write("tx.obj", format!("mtllib tx.mtl\nusemtl a\n{face}"));
    let embedded =
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let gltf = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "buffers": [{"uri": "EMBEDDED", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "images": [{"uri": "n%72m.png"}, {"uri": "refl.png"}], "textures": [{"source": 0}],
        "materials": [{"normalTexture": {"index": 0}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}]}"#;
    folder.write("g.gltf", gltf.replace("EMBEDDED", embedded));
    let tiles = "mesh.obj --res 16 -o a.npz";
    succeeds(&folder, tiles);
    for (args, file) in [
        ("lighthouse.obj --res 8 -o out.vox --preview lighthouse.png", "lighthouse.png"),
        ("lighthouse.obj --res 8 -o lighthouse.mtl --format npz", "lighthouse.mtl"),
        ("render lighthouse.obj --res 8 -o lighthouse.png", "lighthouse.png"),
        // Files that a run without colours does not read.
        ("lighthouse.obj --res 8 --color none --preview lighthouse.png", "lighthouse.png"),
        ("lighthouse.obj --res 8 --distance 1 -o lighthouse.png --format npz", "lighthouse.png"),
        ("render lighthouse.obj --res 8 --color none lighthouse.png", "lighthouse.png"),
        ("render . --res 8 -o lighthouse.png", "lighthouse.png"),
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
        let run = voxelize(&folder, args);
        assert_eq!(run.status.code(), Some(2), "{args}: {}", stderr(&run));
        let said = stderr(&run);
        assert!(said.contains(&format!("{file}: would overwrite an input")), "{args}: {said}");
        assert_eq!(folder.read(file), before, "{args}");
    }
    assert!(!folder.join("out.vox").exists());
    let one = "mesh.obj --res 8 -o same.png --format npz --preview ./same.png";
    refuses(&folder, one, "would be both the voxels and their picture");
}

#[test]
fn resume_sees_a_changed_palette_and_changed_blocks() {
    let folder = folder();
    folder.write("p.png", include_bytes!("../../assets/lighthouse.png"));
    folder.write("b.txt", "stone #777777\n");
    let skipped = |args: &str| stderr(&voxelize(&folder, args)).contains("skipped");
    let vox = "mesh.obj --res 8 -o a.vox --palette p.png --resume";
    let schem = "mesh.obj --res 8 -o a.schem --blocks b.txt --resume";
    for args in [vox, schem] {
        assert!(!skipped(args) && skipped(args), "{args}");
    }
    folder.write("p.png", include_bytes!("../../docs/lighthouse.png"));
    folder.write("b.txt", "dirt #773311\n");
    for args in [vox, schem] {
        assert!(!skipped(args), "{args}");
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_to_a_mesh_of_the_run_is_refused() {
    let folder = with_meshes(2);
    fs::create_dir(folder.join("out")).unwrap();
    std::os::unix::fs::symlink("../1.obj", folder.join("out/0.obj")).unwrap();
    let complaint = "out/0.obj: would overwrite an input: name another file";
    refuses(&folder, "0.obj 1.obj --res 8 -o out --format obj", complaint);
    refuses(&folder, "0.obj 1.obj --res 8 -o out --format obj --shard 1/2", complaint);
}

#[test]
fn a_folder_with_the_name_of_a_file_is_refused_unless_it_is_meant() {
    let folder = folder();
    fs::create_dir(folder.join("part.npz")).unwrap();
    fails(&folder, "mesh.obj --res 8 -o part.npz", "part.npz: is a folder: name a file, or write");
    succeeds(&folder, "mesh.obj --res 8 -o part.npz/");
    assert!(folder.join("part.npz/mesh.vox").is_file());
}

#[test]
fn a_refused_command_line_leaves_no_folder() {
    let folder = with_meshes(2);
    for (args, complaint) in [
        ("--preview x.png -o new", "--preview draws one mesh"),
        ("--format schem --blocks none.txt -o new", "none.txt"),
        ("--distance 3 --format schem -o new", "error: .schem files cannot hold distances"),
        ("--attributes normal -o new", "error: .vox files cannot hold the attribute"),
    ] {
        fails(&folder, &format!("0.obj 1.obj --res 8 {args}"), complaint);
        assert!(!folder.join("new").exists(), "{args}");
    }
}
