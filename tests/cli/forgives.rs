//! What is forgiven on the command line, and what a mistake is answered with.

use super::*;

#[test]
fn without_a_resolution_there_are_256_voxels_and_that_is_said() {
    let folder = folder();
    says(&folder, "mesh.obj -o a.npy --backend cpu", "note: no resolution given: 256 voxels");
    let grid = folder.grid("a.npy");
    assert_eq!(grid.dims(), [256, 256, 64]);
    let said = stderr(&voxelize(&folder, "mesh.obj -r 8 --backend cpu"));
    assert!(!said.contains("resolution") && said.contains("note: no file is written"), "{said}");
}

#[test]
fn likely_mistakes_are_answered_with_what_was_likely_meant() {
    let folder = folder();
    let grid = "old.npy: is a grid of voxels, and not a mesh: use `voxelize convert`";
    let nameless = "vox: this is an extension without a name: use, for example, out.vox";
    for (args, complaint) in [
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
        ("mesh.obj -o a.schematic", "for Minecraft use .schem"),
        ("zzzzzzz", "zzzzzzz: is neither a command nor a file: see `voxelize --help`"),
        ("gone*.obj", "gone*.obj: no file matches this pattern"),
        ("mesh.obj --recursive", "--recursive is for folders"),
        ("mesh.obj --scale -1", "a scale of -1 is not possible: use a positive number"),
        ("- --res 8", "standard input: its format is not known"),
        ("mesh.obj --input-format obj", "--input-format is for standard input"),
        ("- --input-format a/b", "error: --input-format a/b is not read: see `voxelize formats`"),
        ("- --input-format foo", "error: --input-format foo is not read: see `voxelize formats`"),
        ("mesh.obj --force", "(files are replaced without it)"),
        ("gone.vox -o a.npz", "gone.vox: No such file"),
        ("mesh.obj 64", "64: there is no such file: did you mean --res 64?"),
        ("area", "area: is neither a command nor a file"),
        ("mesh.obj --attributes label normal -o a.npz", "such as --attributes label,normal"),
        (
            "mesh.obj --attributes normal label -o a.npz",
            "label: there is no such mesh: attributes are joined by commas, such as --attributes \
             normal,label",
        ),
        ("mesh.obj old.npy", grid),
        ("convert old.npy vox", nameless),
    ] {
        refuses(&folder, args, complaint);
    }
}

#[test]
fn other_names_of_options_and_the_place_of_a_picture_are_understood() {
    let folder = folder();
    for args in [
        "mesh.obj --resolution 8 --colour red -o a.npz",
        "slice a.npz --z 0",
        "mesh.obj --dims 8x8x8 --mode Solid --backend=CPU",
        "render a.npz c.png --size 16,16 --samples 1 --view Front",
        "render a.npz a.png --size 16x16 --samples 1",
        "render a.npz -o b.png --size 16x16 --samples 1",
        "mesh.obj --res 8 -o out/ --format .VOX",
        "convert a.npz - --format Npy",
    ] {
        succeeds(&folder, args);
    }
    assert_eq!(folder.read("a.png"), folder.read("b.png"));
    for args in ["slice a.npz s.png", "diff a.npz a.npz s.png"] {
        let (words, picture) = args.rsplit_once(' ').unwrap();
        succeeds(&folder, args);
        succeeds(&folder, &format!("{words} -o o.png"));
        assert_eq!(folder.read(picture), folder.read("o.png"), "{args}");
    }
}

#[test]
fn the_size_along_one_axis_can_be_given() {
    let folder = folder();
    // 8 x 2 x 4 units.
    let corner = |n: usize| format!("v {} {} {}\n", 8 * (n & 1), n & 2, n & 4);
    let corners: String = (0..8).map(corner).collect();
    folder.write("box.obj", corners + "f 1 2 4\nf 5 6 8\nf 1 4 8\n");
    let dims = |args: &str| json_of(&folder, &format!("box.obj --json {args}"))["dims"].clone();
    for (args, expected) in [
        ("--width 40", [40, 10, 20]),
        ("--height 30", [120, 30, 60]),
        ("--length 10", [20, 5, 10]),
        ("--up z --height 10", [20, 5, 10]),
        ("--up z --length 30 --pad 1", [122, 32, 62]),
    ] {
        assert_eq!(dims(args), serde_json::json!(expected), "{args}");
    }
    for args in ["--res 8", "--dims 8,8,8", "--cube 8", "--voxel-size 1", "--width 3"] {
        fails(&folder, &format!("box.obj --height 8 {args}"), "cannot be used with");
    }
    folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    refuses(&folder, "flat.obj --height 8", "there is no length along the y axis to divide");
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
        let said = fails(&folder, args, tip);
        // Clap's usage would be without the other arguments.
        assert!(!said.contains("Usage") && !said.contains("similar "), "{args}: {said}");
    }
    // Clap's tip to pass an option as a value helps only where there is such a file.
    let said = || stderr(&voxelize(&folder, "mesh.obj --qqq"));
    assert!(!said().contains("tip"), "{}", said());
    folder.write("--qqq", MESH);
    assert!(said().contains("tip: to pass '--qqq' as a value"), "{}", said());
    folder.write("-dash.obj", MESH);
    fails(&folder, "-dash.obj", "tip: write ./-dash.obj for the file");
}

#[test]
fn a_folder_stands_for_the_meshes_in_it() {
    let folder = with_meshes(2);
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    fs::rename(folder.join("1.obj"), folder.join("deep/er/1.obj")).unwrap();
    let meshes = |args: &str| -> Vec<String> {
        let run = voxelize(&folder, &format!("{args} --res 8 --json -q"));
        let lines = json_lines(&run);
        lines.iter().map(|line| line["mesh"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(meshes("."), ["./0.obj", "./mesh.obj"]);
    assert_eq!(meshes(". --recursive"), ["./0.obj", "./deep/er/1.obj", "./mesh.obj"]);
    // As if it were in quotes.
    assert_eq!(meshes("*.obj").len(), 2);
    refuses(&folder, "deep --res 8", "deep: no mesh is in this folder");
    // A mesh that is not read is named.
    folder.write("deep/er/b.FBX", "");
    let run = succeeds(&folder, "deep --recursive --res 8");
    let left_out = "warning: 1 mesh is left out, in formats that are not read: deep/er/b.FBX\n";
    assert!(stderr(&run).contains(left_out), "{}", stderr(&run));
    let sheet = succeeds(&folder, "render deep/er --res 8 -o sheet.png");
    assert!(stderr(&sheet).contains(left_out), "{}", stderr(&sheet));
    fs::remove_file(folder.join("deep/er/1.obj")).unwrap();
    refuses(&folder, "deep/er --res 8", ".fbx files are not read: export glTF");
}

#[test]
fn coordinates_far_from_the_origin_are_not_rounded_in_silence() {
    let folder = folder();
    let at = |x: f64, y: f64, scale: f64| {
        let corner = |i: f64, j: f64, k: f64| [x + scale * i, y + scale * j, scale * k];
        [corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 0.0), corner(0.0, 1.0, 1.0)]
    };
    let binary = |name: &str, corners: [[f64; 3]; 3]| {
        let mut bytes = [[0; 80].as_slice(), &1_u32.to_le_bytes(), &[0; 12]].concat();
        let words = corners.as_flattened().iter().map(|&c| (c as f32).to_le_bytes());
        bytes.extend(words.flatten().chain([0; 2]));
        folder.write(name, bytes);
    };
    let far = at(500_000.25, 4_600_000.5, 20.0);
    binary("far.stl", far);
    binary("large.stl", at(500_000.25, 4_600_000.5, 1e6));
    // No 32-bit floats.
    let [a, b, c] = at(500_000.3, 4_600_000.6, 20.0).map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    folder.write("far.obj", format!("{a}{b}{c}f 1 2 3\n"));
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
        let said = stderr(&succeeds(&folder, args)).contains(coarse);
        assert_eq!(said, is_said, "{args}");
    }
    let said = stderr(&succeeds(&folder, "far.obj --voxel-size 0.5"));
    assert!(said.contains("from (500000.3, 4600000.6, 0)"), "{said}");
}

#[test]
fn info_of_a_mesh_tells_its_bounds_and_its_boundary() {
    let folder = folder();
    let far = "v -1e308 0 0\nv 1e308 0 0\nv 0 1 0\nf 1 2 3\n";
    folder.write("far.obj", far);
    let far = stdout(&voxelize(&folder, "info far.obj"));
    assert!(far.contains("from (-1e308, 0, 0) to (1e308, 1, 0)"), "{far}");
    let unknown = "warning: its topology is unknown: the mesh is more than 1.8e308 units long";
    assert!(far.contains(unknown), "{far}");
    let twice = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 3\n";
    folder.write("twice.obj", twice);
    let info = stdout(&voxelize(&folder, "info twice.obj"));
    assert!(info.contains("2 loops of 6 boundary edges"), "{info}");
}

#[test]
fn standard_input_is_read_wherever_a_file_is() {
    let folder = folder();
    let from = |input: &str, args: &str| voxelize_from(&folder, input, args);
    succeeds(&folder, "mesh.obj --res 8 -o a.npy");
    let run = from("mesh.obj", "- --input-format obj --res 8 -o b.npy");
    assert!(run.status.success(), "{}", stderr(&run));
    assert!(from("a.npy", "diff - b.npy --input-format npy").status.success());
    assert!(from("a.npy", "convert - -o c.npy --input-format npy").status.success());
    assert_eq!(folder.read("a.npy"), folder.read("c.npy"));
    // Its copy is not named.
    let run = from("mesh.obj", "- --input-format obj --res 8 --json");
    assert_eq!(json_lines(&run)[0]["mesh"], "standard input");
    folder.write("bad.obj", "v 0 0 0\nf 1 2 9\n");
    let run = from("bad.obj", "- --input-format obj --res 8 -o bad.npy");
    assert!(stderr(&run).starts_with("error: standard input: line 2: "), "{}", stderr(&run));
}

#[test]
fn a_cube_holds_the_mesh_in_its_centre() {
    let folder = folder();
    let voxels = |args: &str| {
        let run = voxelize(&folder, &format!("mesh.obj {args} -o a.npy"));
        assert!(run.status.success() && !stderr(&run).contains("warning"), "{}", stderr(&run));
        let grid = folder.grid("a.npy");
        (grid.dims(), grid.occupied_bounds().unwrap())
    };
    // 4 x 4 x 1 units: 4 layers of voxels, and one on each side that it touches.
    assert_eq!(voxels("--cube 16"), ([16; 3], [[0, 0, 5], [15, 15, 10]]));
    assert_eq!(voxels("--dims 32,16,8").0, [32, 16, 8]);
    let (dims, [min, max]) = voxels("--cube 32 --res 16");
    assert_eq!((dims, min[0], max[0]), ([32; 3], 7, 24));
}

#[test]
fn meshes_are_scaled_rotated_and_centred_in_this_order() {
    let folder = folder();
    let json = json_of(&folder, "mesh.obj --res 8 --scale 2 --rotate x:90 --center --json");
    // x stays, y goes to z, z to -y.
    assert_eq!(json["dims"], serde_json::json!([8, 2, 8]));
    assert_eq!(json["origin"], serde_json::json!([-4.0, -1.0, -4.0]));
    assert_eq!(json["voxel_size"], 1.0);
}

#[test]
fn what_the_output_cannot_hold_is_said() {
    let folder = folder();
    folder.write("m.mtl", "newmtl red\nKd 1 0 0\n");
    folder.write("red.obj", format!("mtllib m.mtl\nusemtl red\n{MESH}"));
    let note = "note: the mesh has colours, but .npy files hold none";
    says(&folder, "red.obj --res 8 -o red.npy", note);
    says(&folder, "mesh.obj --res 400 -o high.schem", "warning: the schematic is 400 blocks high");
}

#[test]
fn completions_and_the_manual_are_those_of_this_program() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = voxelize(&folder, &format!("completions {shell}"));
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(script.contains("voxel-size") && script.contains("turntable"), "{shell}");
    }
    let page = stdout(&voxelize(&folder, "man"));
    assert!(page.starts_with(".ie") && page.contains("turntable"), "{page}");
    let header = page.lines().find(|line| line.starts_with(".TH ")).unwrap();
    assert!(header.contains(concat!("\"voxelize ", env!("CARGO_PKG_VERSION"), "\"")), "{header}");
    let lines: Vec<&str> = page.lines().collect();
    let items = lines.windows(3).filter(|lines| lines[0] == ".TP");
    let untold: Vec<_> = items.clone().filter(|item| item[2].trim().is_empty()).collect();
    assert!(items.count() > 150 && untold.is_empty(), "{untold:?}");
    assert!(page.contains("\\fBvoxelize\\fR [OPTIONS] <MESH>...\n"), "{page}");
    let titles: Vec<_> = lines.iter().filter(|line| line.starts_with(".TH ")).collect();
    assert!(titles.len() == 12 && titles[8].starts_with(".TH voxelize-render 1"), "{titles:?}");
    let version = stdout(&voxelize(&folder, "--version"));
    let number = format!("voxelize {}", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&number) && version.contains("\nfeatures: "), "{version}");
}
