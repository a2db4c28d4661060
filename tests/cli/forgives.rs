//! What is forgiven on the command line, and what a mistake is answered with.

use super::*;

#[test]
fn without_a_resolution_there_are_256_voxels_and_that_is_said() {
    let folder = folder();
    folder.says("mesh.obj -o a.npy --backend cpu", "note: no resolution given: 256 voxels");
    assert_eq!(folder.grid("a.npy").dims(), [256, 256, 64]);
    let said = folder.says("mesh.obj -r 8 --backend cpu", "note: no file is written");
    assert!(!said.contains("resolution"), "{said}");
}

#[test]
fn after_two_hyphens_an_argument_is_no_option() {
    let output = folder().exits("-- --json", 2);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).starts_with("error: --json: is neither a command nor a file"));
}

#[test]
fn likely_mistakes_are_answered_with_what_was_likely_meant() {
    let folder = folder();
    let grid = "old.npy: is a grid of voxels, and not a mesh: use `voxelize convert`";
    let nameless = "vox: this is an extension without a name: use, for example, out.vox";
    let joined = "label: there is no such mesh: attributes are joined by commas, such as \
                  --attributes normal,label";
    folder.each("_").refuses(&[
        ("mesh.obj out.vox", "out.vox: there is no such file: did you mean -o out.vox?"),
        ("mesh.obj out.png", "out.png: there is no such file: did you mean --preview out.png?"),
        ("inof mesh.obj", "inof: is neither a command nor a file: did you mean `voxelize info`?"),
        ("version", "did you mean `voxelize --version`?"),
        ("jion a.npz b.npz", "did you mean `voxelize join`?"),
        ("help!", "did you mean `voxelize help`?"),
        ("compare a.vox b.vox", "did you mean `voxelize diff`?"),
        ("stats a.vox", "did you mean `voxelize info`?"),
        ("verify a.vox mesh.obj", "did you mean `voxelize verify mesh.obj a.vox`?"),
        ("mesh.obj -o a.png", "a.png: a .png is a picture, not a format of voxels: draw one with"),
        ("mesh.obj -o a.schematic", "use .schem, which WorldEdit loads and saves"),
        ("zzzzzzz", "zzzzzzz: is neither a command nor a file: see `voxelize --help`"),
        ("gone*.obj", "gone*.obj: no file matches this pattern"),
        ("mesh.obj --recursive", "--recursive is for folders"),
        ("mesh.obj --scale -1", "a scale of -1 is not possible: use a positive number"),
        ("mesh.obj --scale=-1e-300", "a scale of -1e-300 is not possible: use a positive number"),
        ("- --res 8", "standard input: its format is not known"),
        ("mesh.obj --input-format obj", "--input-format is for standard input"),
        ("- --input-format a/b", "error: --input-format a/b is not read: see `voxelize formats`"),
        ("- --input-format foo", "error: --input-format foo is not read: see `voxelize formats`"),
        ("mesh.obj --force", "(files are replaced without it)"),
        ("gone.vox -o a.npz", "gone.vox: No such file"),
        ("mesh.obj 64", "64: there is no such file: did you mean --res 64?"),
        ("area", "area: is neither a command nor a file"),
        ("mesh.obj --attributes label normal -o a.npz", "such as --attributes label,normal"),
        ("mesh.obj --attributes normal label -o a.npz", joined),
        ("mesh.obj old.npy", grid),
        ("convert old.npy vox", nameless),
    ]);
}

#[test]
fn other_names_of_options_and_the_place_of_a_picture_are_understood() {
    let folder = folder();
    for args in [
        "mesh.obj --resolution 8 --colour red -o a.npz",
        "slice a.npz --z 0",
        "mesh.obj --dims 8x8x8 --mode Solid --backend=CPU",
        "render a.npz c.png --size 16,16 --samples 1 --view Front",
        "mesh.obj --res 8 -o out/ --format .VOX",
        "convert a.npz - --format Npy",
    ] {
        folder.succeeds(args);
    }
    for args in ["slice a.npz", "diff a.npz a.npz", "render a.npz --size 16x16 --samples 1"] {
        folder.succeeds(format!("{args} a.png"));
        folder.succeeds(format!("{args} -o b.png"));
        assert_eq!(folder.read("a.png"), folder.read("b.png"), "{args}");
    }
}

#[test]
fn the_size_along_one_axis_can_be_given() {
    let folder = Folder::new();
    folder.write("box.obj", cube_by(|[x, y, z]| [8.0 * x, 2.0 * y, 4.0 * z]));
    for (args, expected) in [
        ("--width 40", [40, 10, 20]),
        ("--height 30", [120, 30, 60]),
        ("--length 10", [20, 5, 10]),
        ("--up z --height 10", [20, 5, 10]),
        ("--up z --length 30 --pad 1", [122, 32, 62]),
    ] {
        assert_eq!(folder.dims(format!("box.obj {args}")), expected, "{args}");
    }
    for args in ["--res 8", "--dims 8,8,8", "--cube 8", "--voxel-size 1", "--width 3"] {
        folder.fails(format!("box.obj --height 8 {args}"), "cannot be used with");
    }
    folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    folder.refuses("flat.obj --height 8", "there is no length along the y axis to divide");
}

#[test]
fn options_that_other_programs_have_get_a_tip() {
    let folder = folder();
    for (args, tip) in [
        ("mesh.obj --solid", "tip: use --mode solid"),
        ("slice mesh.obj s.png --scale 4", "use --pixels N for the pixels of a voxel"),
        ("mesh.obj --cpu", "tip: use --backend cpu"),
        ("join mesh.obj mesh.obj out.npz", "tip: did you mean -o out.npz?"),
        ("mesh.obj --res 64x64x64", "or --dims X,Y,Z for a box"),
        ("mesh.obj -res 64", "long options have two hyphens: --res N"),
        ("mesh.obj --cube 8,8,8", "use one number of 1 to 65,536, or --dims X,Y,Z for a box"),
        ("mesh.obj --res 1,000", "write 1000, without the comma"),
        ("mesh.obj --res 128,128,128", "or --dims X,Y,Z for a box"),
        ("mesh.obj --res 1,00", "or --dims X,Y,Z for a box"),
        ("mesh.obj --depth 50", "tip: use --length N"),
        ("mesh.obj --labels", "tip: use --label object, or --label file"),
        ("mesh.obj --grid 64", "tip: use --res N"),
        ("mesh.obj --mode Shell", "or --mode solid --include-surface for a solid with its surface"),
        ("mesh.obj -o a.schem --format schematic", "tip: use schem, or litematic"),
        ("mesh.obj -o a.npz --attributes all", "name those that you want, with commas"),
        ("mesh.obj --backend cuda", "tip: use --backend gpu"),
        ("help rendr", "tip: did you mean `voxelize render`?"),
        ("mesh.obj --time-limit 0", "use a positive number of seconds, such as 60"),
        ("mesh.obj --voxel-size 1mm", "use a number without a unit, such as 0.5"),
        ("mesh.obj --up -z", "[possible values: y, z]"),
        ("mesh.obj --overwrite -o a.vox", "tip: files are replaced without asking: leave it out"),
        ("-i mesh.obj", "tip: inputs have no option: voxelize mesh.obj -o out.vox"),
        ("mesh.obj -j 4", "tip: use --threads N"),
        ("mesh.obj --device 0", "tip: use --adapter NAME"),
        ("slice a.npz --layer 3", "tip: use -x N, -y N or -z N"),
        ("mesh.obj --axis z", "tip: use --up AXIS for the up axis"),
        ("mesh.obj --output-format npz", "tip: use --format F"),
        ("mesh.obj -t binvox", "tip: use --format F"),
        ("-f mesh.obj", "a mesh has no option: voxelize mesh.obj"),
        ("mesh.obj --sdf", "tip: use --distance W"),
        ("mesh.obj --z-up", "tip: use --up z"),
        ("mesh.obj --cuda", "tip: use --backend gpu"),
        ("mesh.obj -d 64", "tip: use --res N"),
        ("mesh.obj -s 64", "tip: use --res N"),
        ("mesh.obj -m solid", "tip: use --mode M"),
        ("mesh.obj --outdir out", "tip: use -o DIR/"),
        ("mesh.obj --json=out.json", "--json writes to standard output: use `> out.json`"),
        ("slice a.npz -z -1", "use a whole number from 0 to 4,294,967,295"),
        ("mesh.obj --memory -1", "not a number of bytes, such as 512MiB"),
        ("mesh.obj --dims -1,8,8", "use three numbers of 1 to 65,536"),
        ("mesh.obj --threads 0", "use a whole number from 1 to 1,024"),
        ("mesh.obj --res 99999999999", "the most are 65,536"),
        ("mesh.obj --bounds 0", "use six numbers: X0,Y0,Z0,X1,Y1,Z1"),
        ("render a.npz a.png --resolution 512", "tip: use --size WxH for the pixels"),
        ("render mesh.obj a.png -o b.png", "cannot be used with"),
    ] {
        let said = folder.fails(args, tip);
        // Clap's usage would be without the other arguments.
        assert!(!said.contains("Usage") && !said.contains("similar "), "{args}: {said}");
    }
    // Clap's tip to pass an option as a value helps only where there is such a file.
    let message = folder.fails("mesh.obj --qqq", "--qqq");
    assert!(!message.contains("tip"), "{message}");
    folder.write("--qqq", MESH);
    folder.fails("mesh.obj --qqq", "tip: to pass '--qqq' as a value");
    folder.write("-dash.obj", MESH);
    folder.fails("-dash.obj", "tip: write ./-dash.obj for the file");
}

#[test]
fn a_folder_stands_for_the_meshes_in_it() {
    let folder = with_meshes(2);
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    fs::rename(folder.join("1.obj"), folder.join("deep/er/1.obj")).unwrap();
    for (args, expected) in [
        (".", ["./0.obj", "./mesh.obj"].as_slice()),
        (". --recursive", &["./0.obj", "./deep/er/1.obj", "./mesh.obj"]),
        // As if it were in quotes.
        ("*.obj", &["0.obj", "mesh.obj"]),
    ] {
        let run = folder.succeeds(format!("{args} --res 8 --json -q"));
        assert_eq!(meshes(&run), expected, "{args}");
    }
    folder.refuses("deep --res 8", "deep: no mesh is in this folder");
    // A mesh that is not read is named.
    folder.write("deep/er/b.FBX", "");
    let left_out = "warning: 1 mesh is left out, in formats that are not read: deep/er/b.FBX\n";
    folder.says("deep --recursive --res 8", left_out);
    fs::remove_file(folder.join("deep/er/1.obj")).unwrap();
    folder.refuses("deep/er --res 8", ".fbx files are not read: export glTF");
}

#[test]
fn coordinates_far_from_the_origin_are_not_rounded_in_silence() {
    let folder = Folder::new();
    // A triangle in 32-bit floats.
    let binary = |name: &str, size: f32| {
        let (x, y) = (500_000.25, 4_600_000.5);
        let corners = [[x, y, 0.0], [x + size, y, 0.0], [x, y + size, size]];
        let corners = corners.as_flattened().iter().flat_map(|c| c.to_le_bytes());
        let mut bytes = [[0; 80].as_slice(), &1_u32.to_le_bytes(), &[0; 12]].concat();
        bytes.extend(corners.chain([0; 2]));
        folder.write(name, bytes);
    };
    binary("far.stl", 20.0);
    binary("large.stl", 1e6);
    // No 32-bit floats.
    let corners = "v 500000.3 4600000.6 0\nv 500020.3 4600000.6 0\nv 500000.3 4600020.6 20\n";
    folder.write("far.obj", format!("{corners}f 1 2 3\n"));
    let coarse =
        "the mesh has 32-bit coordinates so far from the origin that they are 1 voxels apart";
    for (args, is_said) in [
        ("far.stl --voxel-size 0.5", true),
        ("far.stl --voxel-size 0.5 --center", true),
        ("far.stl --voxel-size 1 --scale 2 --rotate z:30", true),
        ("far.stl --voxel-size 5", false),
        ("large.stl --res 100", false),
        ("far.obj --voxel-size 0.5", false),
    ] {
        assert_eq!(folder.said(args).contains(coarse), is_said, "{args}");
    }
    folder.says("far.obj --voxel-size 0.5", "from (500000.3, 4600000.6, 0)");
}

#[test]
fn info_of_a_mesh_tells_its_bounds_and_its_boundary() {
    let folder = Folder::new();
    folder.write("far.obj", "v -1e308 0 0\nv 1e308 0 0\nv 0 1 0\nf 1 2 3\n");
    folder.write("huge.obj", cube_by(|corner| corner.map(|c| 1e80 * c)));
    // Flat on the lattice.
    folder.write("thin.obj", cube_by(|[x, y, z]| [1e6 * x, 1e-3 * y, z]));
    folder.write("twice.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 3\n");
    let unknown = "warning: its topology is unknown: the mesh is more than 1.8e308 units long";
    for (mesh, part) in [
        ("far.obj", "from (-1e308, 0, 0) to (1e308, 1, 0)"),
        ("far.obj", unknown),
        ("twice.obj", "2 loops of 6 boundary edges"),
        ("thin.obj", "mesh      12 triangles, 8 of them degenerate, 8 vertices"),
        ("thin.obj", "volume    1,000\narea      2,002,000"),
        ("huge.obj", "volume    1e240\narea      6e160"),
    ] {
        let info = folder.printed(format!("info {mesh}"));
        assert!(info.contains(part), "{info}");
    }
}

#[test]
fn standard_input_is_read_wherever_a_file_is() {
    let folder = folder();
    folder.write("bad.obj", "v 0 0 0\nf 1 2 9\n");
    folder.succeeds("mesh.obj --res 8 -o a.npy");
    let obj = "- --input-format obj --res 8";
    // Its copy is not named.
    for (input, args, code, printed, said) in [
        ("mesh.obj", &*format!("{obj} -o b.npy"), 0, "", "mesh      standard input, "),
        ("a.npy", "diff - b.npy --input-format npy", 0, "verdict   equal\n", ""),
        ("a.npy", "convert - -o c.npy --input-format npy", 0, "", ""),
        ("mesh.obj", &format!("{obj} --json"), 0, "\"mesh\":\"standard input\"", ""),
        ("bad.obj", &format!("{obj} -o bad.npy"), 2, "", "error: standard input: line 2: "),
    ] {
        let run = folder.voxelize_from(input, args);
        assert_eq!(run.status.code(), Some(code), "{args}: {}", stderr(&run));
        assert!(stdout(&run).contains(printed), "{args}: {}", stdout(&run));
        assert!(stderr(&run).contains(said), "{args}: {}", stderr(&run));
    }
    assert_eq!(folder.read("a.npy"), folder.read("c.npy"));
}

#[test]
fn a_cube_holds_the_mesh_in_its_centre() {
    let folder = folder();
    // 4 x 4 x 1 units: 4 layers of voxels, and one on each side that it touches.
    for (args, dims, min, max) in [
        ("--cube 16", [16; 3], [0, 0, 5], [15, 15, 10]),
        ("--dims 32,16,8", [32, 16, 8], [7, 0, 1], [24, 15, 6]),
        ("--cube 32 --res 16", [32; 3], [7, 7, 13], [24, 24, 18]),
    ] {
        let said = folder.said(format!("mesh.obj {args} -o a.npy"));
        assert!(!said.contains("warning"), "{said}");
        let grid = folder.grid("a.npy");
        assert_eq!((grid.dims(), grid.occupied_bounds()), (dims, Some([min, max])), "{args}");
    }
}

#[test]
fn meshes_are_scaled_rotated_and_centred_in_this_order() {
    let json = folder().json("mesh.obj --res 8 --scale 2 --rotate x:90 --center");
    // x stays, y goes to z, z to -y.
    assert_eq!(json["dims"], json!([8, 2, 8]));
    assert_eq!(json["origin"], json!([-4.0, -1.0, -4.0]));
    assert_eq!(json["voxel_size"], 1.0);
}

#[test]
fn what_the_output_cannot_hold_is_said() {
    let folder = folder();
    folder.write("m.mtl", "newmtl red\nKd 1 0 0\n");
    folder.write("red.obj", format!("mtllib m.mtl\nusemtl red\n{MESH}"));
    folder.each("_").says(&[
        ("red.obj --res 8 -o red.npy", "note: the mesh has colours, but .npy files hold none"),
        ("mesh.obj --res 400 -o high.schem", "warning: the schematic is 400 blocks high"),
    ]);
}

#[test]
fn completions_and_the_manual_are_those_of_this_program() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = folder.printed(format!("completions {shell}"));
        assert!(script.contains("voxel-size") && script.contains("turntable"), "{shell}");
    }
    let page = folder.printed("man");
    assert!(page.starts_with(".ie") && page.contains("turntable"), "{page}");
    assert!(page.contains("\\fBvoxelize\\fR [OPTIONS] <MESH>...\n"), "{page}");
    let lines: Vec<&str> = page.lines().collect();
    let titles: Vec<_> = lines.iter().filter(|line| line.starts_with(".TH ")).collect();
    let version = concat!("\"voxelize ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(titles.len() == 12 && titles[0].contains(version), "{titles:?}");
    assert!(titles[8].starts_with(".TH voxelize-render 1"), "{titles:?}");
    let items: Vec<_> = lines.windows(3).filter(|lines| lines[0] == ".TP").collect();
    assert!(items.len() > 150 && items.iter().all(|item| !item[2].trim().is_empty()), "{items:?}");
    let version = folder.printed("--version");
    let number = concat!("voxelize ", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(number) && version.contains("\nfeatures: "), "{version}");
}
