//! What is refused: in one sentence, with exit code 2, and nothing made or changed.

use super::*;

#[test]
fn bad_input_is_refused_in_one_sentence_and_changes_nothing() {
    let folder = folder();
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty.obj", b"", "the file is empty"),
        ("binary.obj", b"\x00\x01\x02", "not an OBJ text file"),
        ("points.obj", b"v 0 0 0\np 1\n", "points"),
        ("nan.obj", b"v 0 0 0\nv 1 nan 0\nv 1 1 1\nf 1 2 3\n", "line 2: 'nan'"),
        ("range.obj", b"v 0 0 0\nv 1 2 0\nv 1 1 1\n\nf 1 2 4\n", "line 5: vertex index 4"),
        ("point.obj", b"v 3 4 5\nv 3 4 5\nf 1 2 1\n", "all vertices are at one point (3, 4, 5)"),
        ("cut.glb", b"glTF\x02\0\0\0\xff\0\0\0", ""),
    ];
    for (name, content, complaint) in cases {
        folder.write(name, content);
        let args = format!("{name} --res 8 -o old.npy");
        folder.refuses(&args, complaint);
        folder.refuses(&args, name);
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let folder = folder();
    folder.write("far.obj", "v 0 0 0\nv 1e308 0 0\nv -1e308 1 0\nf 1 2 3\n");
    folder.write("large.obj", "v 0 0 0\nv 1e30 0 0\nv 0 1e30 0\nf 1 2 3\n");
    folder.each("_ -o old.npy").refuses(&[
        ("mesh.obj --res 0", "use 1 to 65,536"),
        ("mesh.obj --res 65536 --pad 1", "at most 65,536"),
        ("mesh.obj --voxel-size -1", "use a positive number"),
        ("mesh.obj --voxel-size nan", "use a positive number"),
        ("far.obj --res 8", "scale the mesh"),
        ("mesh.obj --voxel-size 1 --bounds 0,nan,0,1,1,1", "y axis"),
        ("large.obj --voxel-size 1 --bounds 0,0,0,1,1,1", "larger voxels, cut the mesh"),
    ]);
    let digits = folder.fails("mesh.obj --voxel-size 1e-300", "");
    assert!(digits.len() < 200, "{digits}");
    folder.write("flat.obj", "v 0 0 2\nv 4 0 2\nv 0 3 2\nf 1 2 3\n");
    assert_eq!(folder.dims("flat.obj --res 8 --bounds 0,0,2,4,3,2"), [8, 6, 1]);
    // A large mesh is no problem by itself: 1e30 units are divided into 8 voxels.
    assert_eq!(folder.dims("large.obj --res 8")[0], 8);
}

#[test]
fn impossible_files_are_refused() {
    let folder = folder();
    folder.write_grid("grid.npy", &VoxelGrid::empty([4; 3]).unwrap());
    let page = "\n<!DOCTYPE html>\n<html lang=en>";
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    for (name, text) in [
        ("mesh.xyz", "solid\n"),
        ("mesh.fbx", "; FBX\n"),
        ("old.schematic", "\x1f"),
        ("part.step", "ISO-10303-21;\n"),
        ("pointer.glb", pointer),
        ("page.obj", page),
        ("page.npz", page),
    ] {
        folder.write(name, text);
    }
    folder.each("_").refuses(&[
        ("info nothere", "nothere: No such file"),
        ("info grid.npy --confine", "grid.npy: is no mesh, so --confine has no effect"),
        ("info mesh.obj --memory 1kB", "mesh.obj: for reading the mesh the program needs at least"),
        ("info .", ".: is a folder: name a file in it"),
        ("render nothere a.png", "nothere: No such file"),
        ("gone.obj --res 8", "gone.obj: No such file"),
        ("mesh.xyz --res 8", "unknown file extension '.xyz': use one of .obj, .stl"),
        ("mesh.fbx", "mesh.fbx: .fbx files are not read: export glTF from Blender (File, Export)"),
        ("info old.schematic", "use .schem, which WorldEdit loads and saves"),
        ("info mesh.fbx", "mesh.fbx: .fbx files are not read: export glTF from Blender"),
        ("render mesh.fbx a.png", "mesh.fbx: .fbx files are not read: export glTF from Blender"),
        ("part.step --res 8", "part.step: .step files are not read: export .stl from"),
        ("pointer.glb", "pointer.glb: is a Git LFS pointer and not the model: run `git lfs pull`"),
        ("page.obj", "page.obj: is a web page (HTML) and not the model"),
        ("info page.npz", "page.npz: is a web page (HTML) and not the model"),
        ("mesh.obj --res 8 -o out.xyz", "unknown file extension '.xyz': use one of .vox, .npy"),
        ("mesh.obj --res 8 -o out", "no file extension"),
        ("mesh.obj --res 8 -o -", "--format"),
        ("mesh.obj --res 8 -o gone/out.vox", "there is no folder 'gone'"),
        ("mesh.obj --res 8 -o a.npz --format vox", "a.npz: has the extension of another format"),
        ("mesh.obj --res 2001 -o a.vox", "a.vox: the grid is 2,001 voxels along the x axis"),
        ("info gone.vox", "gone.vox: No such file"),
        ("info old.npy", "old.npy"),
    ]);
}

#[test]
fn options_without_effect_are_refused_or_reported() {
    let folder = folder();
    folder.each("_").refuses(&[
        ("mesh.obj --mode solid --keep-transparent", "--keep-transparent is for surfaces"),
        ("mesh.obj --distance 2 --keep-transparent", "--keep-transparent is for surfaces"),
        ("mesh.obj --distance 2 --interior-color red", "--interior-color is for voxels"),
        ("verify mesh.obj a.npz --mode solid --interior-color red", "colours are not verified"),
        ("mesh.obj --lattice mesh.obj", "mesh.obj: is not one JSON object: name what `voxelize"),
        ("mesh.obj --lattice .", ".: is a folder: name a file in it"),
        ("mesh.obj --res 8 --backend cpu --adapter x", "leave one of them out"),
        ("mesh.obj --res 8 --backend cpu --kernel rows", "leave one of them out"),
        ("mesh.obj --res 8 --kernel voxels --mode thin", "--kernel is for tests of voxels"),
        ("mesh.obj --res 8 --kernel voxels --mode solid", "--kernel is for tests of voxels"),
        ("mesh.obj --res 8 --json -o - --format npy", "leave one of them out"),
        ("mesh.obj --res 8 --resume -o - --format npy", "leave one of them out"),
        ("mesh.obj --lattice old.npy", "old.npy: is a grid, which does not store its lattice"),
    ]);
    folder.succeeds("mesh.obj --res 8 -o a.npz");
    folder.each("_").says(&[
        ("join a.npz -o b.npz --dither", "--dither had no effect: .npz files hold no palette"),
        ("mesh.obj --distance 2 --color red -o a.vdb", "--color had no effect: distances hold no"),
    ]);
}

#[test]
fn bad_usage_exits_with_2() {
    let folder = folder();
    for args in [
        "--res 8",
        "mesh.obj --res 8 --voxel-size 1",
        "mesh.obj --res -1",
        "mesh.obj --res 8 --bounds 1,2,3",
        "mesh.obj --res 8 --threads 1025",
        "mesh.obj --res 8 --pad -1",
        "mesh.obj --res 8 --adapter=",
        "mesh.obj --res 8 --backend tpu",
        "mesh.obj --res 8 -q -v",
        "mesh.obj --res 8 --resume",
        "mesh.obj --res 8 -o out.vox --resume --compare-backends",
        "info mesh.obj mesh.obj",
    ] {
        assert!(folder.fails(args, "error: ").starts_with("error: "), "{args}");
    }
    folder.each("mesh.obj --res 8 --shard=_").fails(&[
        ("0/3", "parts are counted from 1: write 1/3 to 3/3"),
        ("4/3", "parts are counted from 1: write 1/3 to 3/3"),
        ("1/0", "there must be at least one part"),
    ]);
    for no_part in ["", "3", "/", "1/", "a/b", "-1/2", "1/2/3", "1.5/2", "1/99999999999999999999"] {
        folder.fails(format!("mesh.obj --shard={no_part}"), "such as 2/8");
    }
    folder.fails("", "Examples:\n");
    for command in ["", "info", "adapters", "diff", "verify"] {
        folder.succeeds(format!("{command} --help"));
    }
}

#[test]
fn with_json_a_failure_is_one_object_with_its_code() {
    let folder = folder();
    folder.write("word.obj", "v 0 0 zero\n");
    folder.write("word.xyz", "word\n");
    folder.write("far.obj", "v 0 0 0\nv 1e308 0 0\nv -1e308 1 0\nf 1 2 3\n");
    for (args, code) in [
        ("--wires", "usage"),
        ("mesh.obj --res ten", "usage"),
        ("info", "usage"),
        ("gone.obj", "io"),
        ("word.obj", "read.line"),
        ("far.obj", "place.extent_range"),
        ("mesh.obj --res 4096 --memory 40MB", "memory"),
        ("mesh.obj --time-limit 0.000001", "time_limit"),
        ("mesh.obj --color red --interior-color red", "other"),
        ("info gone.npz", "io"),
        ("info word.obj", "read.line"),
        ("info gone.xyz", "io"),
        ("info word.xyz", "read.unsupported"),
        ("convert gone.npz other.vox", "io"),
        ("join gone.npz -o other.vox", "io"),
        ("diff gone.npz gone.npz", "io"),
        ("verify mesh.obj gone.npz", "io"),
        ("verify gone.obj gone.npz", "io"),
        ("render gone.npz other.png", "io"),
        ("mesh.obj --res 8 -o gone/out.vox", "write.io"),
        ("render mesh.obj --res 8 -o gone/out.png", "write.io"),
        ("render word.obj other.png", "read.line"),
        ("slice gone.npz", "io"),
        ("slice . -z 0", "read.unsupported"),
    ] {
        let run = folder.exits(format!("{args} --json"), 2);
        let lines = json_lines(&run);
        let [line] = &lines[..] else { panic!("{args}: {lines:?}") };
        assert_eq!(line["code"], code, "{args}: {line}");
        let said = stderr(&run).split_whitespace().collect::<Vec<_>>().join(" ");
        let error = line["error"].as_str().unwrap();
        let is_gone = error.starts_with("gone.") && error.contains(": No such file");
        assert!(is_gone || code != "io", "{args}: {error}");
        assert!(error.split("; ").all(|part| said.contains(part)), "{args}: {line} and {said}");
    }
    for (args, error) in [
        ("mesh.obj --solid", "unexpected argument '--solid' found; tip: use --mode solid"),
        ("help rendr", "unrecognized subcommand 'rendr'; tip: did you mean `voxelize render`?"),
        ("render", "the following required arguments were not provided: <GRID|MESH>"),
        ("mesh.obj --backend x", "invalid value 'x' for '--backend <BACKEND>'; [possible values: "),
    ] {
        let (line, _) = folder.report(args);
        assert!(line["error"].as_str().unwrap().starts_with(error), "{line}");
    }
}
