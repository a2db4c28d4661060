//! `--attributes`: what voxels hold of the surface.

use std::collections::BTreeSet;

use trivox::grid::Attribute;

use super::*;

#[test]
fn attributes_are_written_and_formats_without_them_are_refused_before_any_work() {
    let folder = color::in_colors();
    let run = "three.obj --res 25 --attributes normal,triangle,material,label,AREA --color none -o";
    for name in ["all.npz", "all.vti"] {
        let summary = json_of(&folder, &format!("{run} {name} --json"));
        assert!(summary["timings_ms"]["attributes"].as_f64().unwrap() > 0.0);
        let names = &summary["attribute_names"];
        assert_eq!(names["material"], serde_json::json!(["red", "blue", "air"]));
        assert_eq!(names["label"], serde_json::json!([""]));
        let file = folder.read(name);
        let has = |text: &str| file.windows(text.len()).any(|window| window == text.as_bytes());
        for attribute in ["normal", "triangle", "material", "material_names", "label", "area"] {
            assert!(has(attribute), "{name}: {attribute}");
        }
    }
    for (name, able) in [
        ("out.npy", ", or .ply as points (--points)"),
        ("out.ply", ", or .ply as points (--points)"),
        ("out.vox --points", ", .ply"),
    ] {
        let name = format!("three.obj --attributes normal -o {name}");
        let refused =
            "files cannot hold the attribute 'normal': use one of .npz, .vti, .vdb, .nvdb";
        refuses(&folder, &name, &format!("{refused}{able}"));
    }
    for (args, complaint) in [
        ("--attributes normal,colour -o out.npz", "invalid value 'colour'"),
        ("--attributes normal --distance 2 -o out.npz", "cannot be used with"),
    ] {
        fails(&folder, &format!("three.obj --res 8 {args}"), complaint);
    }
}

#[test]
fn files_of_attributes_are_described_and_converted() {
    let folder = color::in_colors();
    let run = "three.obj --res 25 --attributes triangle,material,area --color none -o a.npz -q";
    succeeds(&folder, run);
    let text = stdout(&voxelize(&folder, "info a.npz"));
    assert!(text.contains("\nmaterial  from 0 to 2: red, blue, air\n"), "{text}");
    assert!(text.contains("\ntriangle  from 0 to 5\n"), "{text}");
    let info = json_of(&folder, "info a.npz --json");
    assert_eq!(info["attributes"]["triangle"], serde_json::json!({"min": [0], "max": [5]}));
    assert!(info["attributes"]["area"]["max"][0].as_f64().unwrap() > 0.5);
    for name in ["b.npz", "b.vti", "b.ply --points"] {
        succeeds(&folder, &format!("convert a.npz -o {name}"));
    }
    succeeds(&folder, &format!("{} --points", run.replace("a.npz", "a.ply")));
    assert!(folder.read("a.ply") == folder.read("b.ply"));
    says(&folder, "convert a.npz c.ply", "the voxels' attributes are not kept: triangle, material");
    says(&folder, "convert a.npz c.vti --points", "no effect: .vti files hold no point cloud");
    assert!(folder.read("a.npz") == folder.read("b.npz"));
    let vti = folder.read("b.vti");
    assert!(String::from_utf8_lossy(&vti).contains("Name=\"material_names\" NumberOfTuples=\"3\""));
}

#[test]
fn tiles_of_several_meshes_are_joined_with_the_attributes_and_names_of_all() {
    let folder = folder();
    folder.write("m.mtl", "newmtl m1\nnewmtl m2\nnewmtl m3\n");
    let square = |object: &str, material: &str, z: f64| {
        let corners = [(0, 0), (4, 0), (0, 4)].map(|(x, y)| format!("v {x} {y} {z}\n")).concat();
        format!("o {object}\nusemtl {material}\n{corners}f -3 -2 -1\n")
    };
    let mesh = |squares: [String; 2]| format!("mtllib m.mtl\n{}", squares.concat());
    folder.write("a.obj", mesh([square("red", "m1", 0.5), square("blue", "m2", 3.5)]));
    folder.write("b.obj", mesh([square("green", "m2", 8.5), square("red", "m3", 12.5)]));
    let tile = |mesh: &str, file: &str, attributes: &str| {
        let bounds = if mesh == "a" { "0,0,0,8,8,8" } else { "0,0,8,8,8,16" };
        let run = format!("{mesh}.obj --voxel-size 1 --color none --bounds {bounds} -o {file}.npz");
        succeeds(&folder, &format!("{run} {attributes}"));
    };
    tile("a", "a", "--attributes material,label,area");
    tile("b", "b", "--attributes material,label,area");
    tile("b", "less", "--attributes normal,label");
    tile("b", "none", "");
    let join = |tiles: &str| json_of(&folder, &format!("join {tiles} -o x.npz --json"));
    let info = || json_of(&folder, "info x.npz --json")["attributes"].clone();

    assert_eq!(join("a.npz b.npz")["warnings"], serde_json::json!([]));
    let text = stdout(&succeeds(&folder, "info x.npz"));
    assert!(text.contains("\nmaterial  from 0 to 2: m1, m2, m3\n"), "{text}");
    assert!(text.contains("\nlabel     from 0 to 2: red, blue, green\n"), "{text}");
    // The tiles are as they were where the names of one table are those of both.
    join("a.npz");
    assert!(folder.read("x.npz") == folder.read("a.npz"));

    let said = join("a.npz less.npz")["warnings"].to_string();
    assert!(said.contains("not all tiles have: normal, material, area: make"), "{said}");
    assert_eq!(info().as_object().unwrap().keys().collect::<Vec<_>>(), ["label"]);
    let said = join("none.npz a.npz")["warnings"].to_string();
    assert!(said.contains("not all tiles have: material, label, area: make"), "{said}");
    assert!(!info().to_string().contains("label"));
}

#[test]
fn attributes_of_no_voxel_have_no_range() {
    let folder = color::in_colors();
    folder.write("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (bounds, range) in [("", "from 0 to 0"), ("--bounds 5,5,5,6,6,6", "of no voxel")] {
        let run = format!("bare.obj --res 8 {bounds} --attributes label,normal -o a.npz -q");
        succeeds(&folder, &run);
        let text = stdout(&voxelize(&folder, "info a.npz"));
        assert!(text.contains(&format!("\nlabel     {range}: (unnamed)\n")), "{text}");
        let info = json_of(&folder, "info a.npz --json");
        let count = info["attributes"]["normal"]["max"].as_array().unwrap().len();
        assert_eq!(count, if bounds.is_empty() { 3 } else { 0 });
    }
}

#[test]
fn a_mesh_without_materials_has_no_attribute_of_them_and_says_so() {
    let folder = color::in_colors();
    folder.write("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\no part\nf 1 2 3\n");
    let summary =
        json_of(&folder, "bare.obj --res 8 --attributes label,material -o out.npz --json");
    assert_eq!(summary["attribute_names"], serde_json::json!({"label": ["part"]}));
    let said = "the mesh has no materials: voxels have no attribute 'material'";
    assert_eq!(summary["warnings"], serde_json::json!([said]));
    folder.write("metal.mtl", "newmtl steel\nKd 1 1 1\nPm 1\nmap_Pr none.png\n");
    folder
        .write("metal.obj", "mtllib metal.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl steel\nf 1 2 3\n");
    for (attributes, said) in [
        ("metallic,alpha", ["faces without texture coordinates", "no material states roughness"]),
        ("material,alpha", ["no material", "no material"]),
    ] {
        let run =
            format!("metal.obj --res 8 --attributes {attributes},roughness -o out.npz --json");
        let warnings = json_of(&folder, &run)["warnings"].to_string();
        assert!(said.iter().all(|said| warnings.contains(said)), "{warnings}");
    }
    let info = json_of(&folder, "info out.npz --json");
    assert_eq!(info["attributes"]["alpha"], serde_json::json!({"min": [1.0], "max": [1.0]}));
    let quiet = "metal.obj --res 8 --attributes material -o out.npz --json";
    assert!(json_of(&folder, quiet)["warnings"].as_array().unwrap().is_empty());
    let only = json_of(&folder, "bare.obj --res 8 --attributes material -o b.npz --json");
    assert_eq!(only["attribute_names"], serde_json::json!({}));
}

#[test]
fn voxels_inside_a_solid_have_no_attributes_of_the_surface_and_that_is_said() {
    let folder = Folder::new();
    let cube = include_str!("../../assets/cube.obj");
    folder.write("cube.obj", cube);
    // Two objects that are open.
    let (head, faces) = cube.split_at(cube.find("\nf ").unwrap());
    let lines: Vec<&str> = faces.lines().collect();
    let (one, two) = lines.split_at(lines.len() / 2);
    let halves = format!("{head}\no one{}\no two\n{}\n", one.join("\n"), two.join("\n"));
    folder.write("halves.obj", halves);
    let notes = |mesh: &str, mode: &str, attributes: &str| {
        let args = format!("{mesh}.obj --res 8 --mode {mode} --attributes {attributes}");
        json_of(&folder, &format!("{args} -o a.npz --json -q"))["notes"].to_string()
    };
    // A cube of 6 voxels within the layer at the faces.
    let said = "216 interior voxels have no normal, area: only voxels at the surface have";
    let found = notes("cube", "solid", "area,label,normal");
    assert!(found.contains(said), "{found}");
    for (mesh, mode) in [("cube", "solid"), ("cube", "surface"), ("halves", "surface")] {
        assert_eq!(notes(mesh, mode, "label"), "[]", "{mesh} {mode}");
    }
    let said = "216 interior voxels have the label -1: no object that is closed holds the centre";
    let found = notes("halves", "solid", "label");
    assert!(found.contains(said), "{found}");
}

/// A cube with this corner and edge as an OBJ file.
fn cube(min: f64, edge: f64) -> String {
    let moved = |line: &str| match line.strip_prefix("v ") {
        None => line.to_owned(),
        Some(point) => {
            let of = |c: &str| (min + edge * c.parse::<f64>().unwrap()).to_string();
            format!("v {}", point.split(' ').map(of).collect::<Vec<_>>().join(" "))
        }
    };
    let lines = include_str!("../../assets/cube.obj").lines();
    lines.map(|line| moved(line) + "\n").collect()
}

#[test]
fn files_are_objects_of_one_grid_and_the_later_wins() {
    let folder = Folder::new();
    folder.write("large.obj", cube(0.0, 8.0));
    folder.write("inner.obj", cube(2.0, 2.0));
    fs::create_dir(folder.join("x")).unwrap();
    folder.write("x/beside.obj", cube(6.0, 4.0));
    let run = "x/beside.obj large.obj inner.obj --label FILE --mode solid --voxel-size 0.5";
    for name in ["parts.npz", "parts.vti"] {
        let summary = json_of(&folder, &format!("{run} -o {name} --json"));
        let names = &summary["attribute_names"]["label"];
        assert_eq!(*names, serde_json::json!(["beside", "large", "inner"]));
        assert_eq!(summary["mesh"], "x/beside.obj and 2 more");
        assert_eq!(summary["dims"], serde_json::json!([20, 20, 20]));
    }
    let grid = folder.grid("parts.npz");
    let attributes = grid.attributes.as_ref().unwrap();
    for (voxel, of) in grid.voxels().zip(attributes.of_voxels(&grid)) {
        let is_in = |from: u32, to: u32| voxel.iter().all(|c| (from..to).contains(c));
        let expected = if is_in(4, 8) { 2 } else { i32::from(is_in(0, 16)) };
        assert_eq!(of.label, expected, "{voxel:?}");
    }
    assert_eq!(grid.occupied(), 16_u64.pow(3) + 8_u64.pow(3) - 4_u64.pow(3));
    // An object in a later one, and one that is not closed.
    let last = cube(0.0, 1.0);
    folder.write("open.obj", &last[..last.trim_end().rfind('\n').unwrap()]);
    let run = "inner.obj open.obj large.obj --label file --mode solid --voxel-size 0.5";
    let summary = json_of(&folder, &format!("{run} -o hidden.npz --json"));
    let warnings = summary["warnings"].to_string();
    for said in ["label of objects that are not closed: open\"", "and are cavities: inner, open\""]
    {
        assert!(warnings.contains(said), "{warnings}");
    }
    // A file that is inside out is no cavity.
    let reversed = |line: &str| line.split(' ').rev().collect::<Vec<_>>().join(" ");
    let turned = cube(2.0, 2.0);
    let turned = turned.lines().map(|line| match line.strip_prefix("f ") {
        Some(corners) => format!("f {}\n", reversed(corners)),
        None => format!("{line}\n"),
    });
    folder.write("turned.obj", turned.collect::<String>());
    let run = "large.obj turned.obj --label file --mode solid --voxel-size 0.5 -o turned.npz";
    says(&folder, run, "warning: turned is inside out: its triangles are reversed");
    assert_eq!(folder.grid("turned.npz").occupied(), 16_u64.pow(3));
    // Distances are those of all together.
    let run = "large.obj inner.obj --label file --voxel-size 0.5 --distance 2";
    succeeds(&folder, &format!("{run} -o distances.npz"));
    let object = "large.obj --label object --distance 2 -o object.npz";
    refuses(&folder, object, "--label object is for voxels, but --distance writes distances");
    // A pattern and one mesh alone are no exceptions.
    let summary = json_of(&folder, "[il]*.obj --label file --mode solid --res 8 -o a.npz --json");
    assert_eq!(summary["attribute_names"]["label"], serde_json::json!(["inner", "large"]));
    let summary = json_of(&folder, "large.obj --label file --res 8 -o a.npz --json");
    assert_eq!(summary["attribute_names"]["label"], serde_json::json!(["large"]));
    assert_eq!(summary["mesh"], "large.obj");
    let summary = json_of(&folder, "large.obj --label object --res 8 -o a.npz --json");
    assert_eq!(summary["attribute_names"]["label"], serde_json::json!([""]));
}

#[test]
fn one_grid_of_several_files_is_one_output_of_a_format_with_attributes() {
    let folder = Folder::new();
    folder.write("a.obj", cube(0.0, 1.0));
    folder.write("b.obj", cube(1.0, 1.0));
    folder.write("broken.obj", "v 0 0 0\nf 1 2 3\n");
    // A warning names the file.
    folder.write("odd.obj", format!("odd\n{}", cube(2.0, 1.0)));
    let summary = json_of(&folder, "a.obj odd.obj --label file --res 8 -o a.npz --json");
    assert_eq!(summary["mesh"], "a.obj and 1 more");
    assert!(summary["warnings"][0].as_str().unwrap().starts_with("odd.obj: "), "{summary}");
    assert!(summary["timings_ms"]["load"].is_number(), "{summary}");
    fs::remove_file(folder.join("a.npz")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    for (args, complaint) in [
        ("-o out", "out: is a folder, but --label file makes one grid: name a file in it"),
        ("-o new/", "new/: is a folder, but --label file makes one grid"),
        ("-o a.npz --resume", "--resume is for many outputs, but --label file makes one"),
        ("-o a.npz --shard 1/2", "--shard is for many outputs, but --label file makes one"),
        ("-o a.npy", "files cannot hold the attribute"),
        ("broken.obj -o a.npz", "broken.obj"),
    ] {
        refuses(&folder, &format!("a.obj b.obj --label file --res 8 {args}"), complaint);
    }
    says(&folder, "a.obj b.obj --label file", "no file is written");
    succeeds(&folder, "a.obj b.obj --label file --res 8 -o both.vox");
    let attributes = folder.grid("both.vox").attributes.unwrap();
    assert_eq!(attributes.names()[&Attribute::Label], ["a", "b"]);
    // Without the option, the way to one grid is named.
    fails(&folder, "a.obj b.obj -o out.npz", "for one grid of all of them, give --label file");
}

#[test]
fn materials_of_several_files_are_kept_and_a_file_without_is_white() {
    let folder = color::in_colors();
    folder.write("bare.obj", cube(7.0, 2.0));
    let run = "three.obj bare.obj --label file --attributes material --res 25 -o a.npz --json";
    let summary = json_of(&folder, run);
    let names = &summary["attribute_names"];
    assert_eq!(names["material"], serde_json::json!(["red", "blue", "air", ""]));
    let grid = folder.grid("a.npz");
    let colors = grid.colors.as_ref().unwrap();
    let attributes = grid.attributes.as_ref().unwrap();
    let mut seen = BTreeSet::new();
    for (voxel, of) in grid.voxels().zip(attributes.of_voxels(&grid)) {
        assert_eq!(of.label, i32::from(of.material == 3));
        seen.insert((of.material, colors.of(voxel)));
    }
    let expected =
        [(0, [255, 0, 0, 255]), (1, [0, 0, 255, 255]), (3, [255; 4])].into_iter().collect();
    assert_eq!(seen, expected);
}

#[test]
fn light_that_colours_leave_out_is_said() {
    let folder = Folder::new();
    let text = cube(0.0, 1.0);
    let text = text.replacen("\nf ", "\nusemtl lamp\nf ", 1);
    folder.write("lamp.obj", format!("mtllib lamp.mtl\n{text}"));
    let said = "note: the mesh emits light, which colours leave out: --attributes emission keeps it \
                in .vox, .npz, .vti, .vdb, .nvdb";
    for (material, is_left_out) in [
        ("Kd 0.1 0.1 0.1\nKe 1 0.8 0\n", true),
        // Its colour is that of the light.
        ("Kd 0 0 0\nKe 1 0.8 0\n", false),
        ("Kd 0.1 0.1 0.1\nKe 0 0 0\n", false),
    ] {
        folder.write("lamp.mtl", format!("newmtl lamp\n{material}"));
        let says = |args: &str| {
            stderr(&succeeds(&folder, &format!("lamp.obj --res 9 {args}"))).contains(said)
        };
        assert_eq!(says("-o a.vox"), is_left_out, "{material}");
        assert!(!says("-o a.vox --attributes emission") && !says("-o a.vox --color none"));
    }
}
