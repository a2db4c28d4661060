//! `--attributes`: what voxels hold of the surface.

use trivox::grid::Attribute;

use super::*;

const BARE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\no part\nf 1 2 3\n";

#[test]
fn attributes_are_written_and_formats_without_them_are_refused_before_any_work() {
    let folder = color::in_colors();
    let run = "three.obj --res 25 --attributes normal,triangle,material,label,AREA --color none -o";
    for name in ["all.npz", "all.vti"] {
        let summary = folder.json(format!("{run} {name}"));
        assert!(summary["timings_ms"]["attributes"].as_f64().unwrap() > 0.0);
        let names = json!({"material": ["red", "blue", "air"], "label": [""]});
        assert_eq!(summary["attribute_names"], names);
        let file = folder.read(name);
        for attribute in ["normal", "triangle", "material", "material_names", "label", "area"] {
            let mut places = file.windows(attribute.len());
            assert!(places.any(|text| text == attribute.as_bytes()), "{name}: {attribute}");
        }
    }
    let cannot = "files cannot hold the attribute 'normal': use one of .npz, .vti, .vdb, .nvdb";
    folder.each("three.obj --attributes normal -o out._").refuses(&[
        ("npy", &format!("{cannot}, or .ply as points (--points); `voxelize convert` makes other")),
        ("ply", &format!("{cannot}, or .ply as points (--points)")),
        ("vox --points", &format!("{cannot}, .ply")),
    ]);
    folder
        .each("three.obj --res 8 --attributes normal_ -o out.npz")
        .fails(&[(",colour", "invalid value 'colour'"), (" --distance 2", "cannot be used with")]);
}

#[test]
fn files_of_attributes_are_described_and_converted() {
    let folder = color::in_colors();
    let run = "three.obj --res 25 --attributes triangle,material,area --color none -q -o";
    folder.succeeds(format!("{run} a.npz"));
    let text = folder.printed("info a.npz");
    assert!(text.contains("\nmaterial  from 0 to 2: red, blue, air\n"), "{text}");
    assert!(text.contains("\ntriangle  from 0 to 5\n"), "{text}");
    let info = folder.json("info a.npz");
    assert_eq!(info["attributes"]["triangle"], json!({"min": [0], "max": [5]}));
    assert!(info["attributes"]["area"]["max"][0].as_f64().unwrap() > 0.5);
    for name in ["b.npz", "b.vti", "b.ply --points"] {
        folder.succeeds(format!("convert a.npz -o {name}"));
    }
    folder.succeeds(format!("{run} a.ply --points"));
    assert!(folder.read("a.ply") == folder.read("b.ply"));
    assert!(folder.read("a.npz") == folder.read("b.npz"));
    let vti = folder.read("b.vti");
    assert!(String::from_utf8_lossy(&vti).contains("Name=\"material_names\" NumberOfTuples=\"3\""));
    folder.each("convert a.npz c._").says(&[
        ("ply", "the voxels' attributes are not kept: triangle, material"),
        ("vti --points", "no effect: .vti files hold no point cloud"),
    ]);
}

#[test]
fn tiles_of_several_meshes_are_joined_with_the_attributes_and_names_of_all() {
    let folder = folder();
    folder.write("m.mtl", "newmtl m1\nnewmtl m2\nnewmtl m3\n");
    let square = |object: &str, material: &str, z: f64| {
        let corners = format!("v 0 0 {z}\nv 4 0 {z}\nv 0 4 {z}\n");
        format!("o {object}\nusemtl {material}\n{corners}f -3 -2 -1\n")
    };
    let mesh = |squares: [String; 2]| format!("mtllib m.mtl\n{}", squares.concat());
    folder.write("a.obj", mesh([square("red", "m1", 0.5), square("blue", "m2", 3.5)]));
    folder.write("b.obj", mesh([square("green", "m2", 8.5), square("red", "m3", 12.5)]));
    for (run, z, attributes) in [
        ("a.obj -o a.npz", 0, "--attributes material,label,area"),
        ("b.obj -o b.npz", 8, "--attributes material,label,area"),
        ("b.obj -o less.npz", 8, "--attributes normal,label"),
        ("b.obj -o none.npz", 8, ""),
    ] {
        let bounds = format!("--bounds 0,0,{z},8,8,{}", z + 8);
        folder.succeeds(format!("{run} --voxel-size 1 --color none {bounds} {attributes}"));
    }
    let join = |tiles: &str| folder.json(format!("join {tiles} -o x.npz"))["warnings"].to_string();
    let attributes = || folder.json("info x.npz")["attributes"].clone();

    assert_eq!(join("a.npz b.npz"), "[]");
    let text = folder.printed("info x.npz");
    assert!(text.contains("\nmaterial  from 0 to 2: m1, m2, m3\n"), "{text}");
    assert!(text.contains("\nlabel     from 0 to 2: red, blue, green\n"), "{text}");
    // The tiles are as they were where the names of one table are those of both.
    join("a.npz");
    assert!(folder.read("x.npz") == folder.read("a.npz"));

    let said = join("a.npz less.npz");
    assert!(said.contains("not all tiles have: normal, material, area: make"), "{said}");
    assert_eq!(attributes().as_object().unwrap().keys().collect::<Vec<_>>(), ["label"]);
    let said = join("none.npz a.npz");
    assert!(said.contains("not all tiles have: material, label, area: make"), "{said}");
    assert!(!attributes().to_string().contains("label"));
}

#[test]
fn attributes_of_no_voxel_have_no_range() {
    let folder = Folder::new();
    folder.write("bare.obj", BARE.replace("o part\n", ""));
    for (bounds, range, count) in
        [("", "from 0 to 0", 3), ("--bounds 5,5,5,6,6,6", "of no voxel", 0)]
    {
        folder.succeeds(format!("bare.obj --res 8 {bounds} --attributes label,normal -o a.npz"));
        let text = folder.printed("info a.npz");
        assert!(text.contains(&format!("\nlabel     {range}: (unnamed)\n")), "{text}");
        let normal = &folder.json("info a.npz")["attributes"]["normal"];
        assert_eq!(normal["max"].as_array().unwrap().len(), count);
    }
}

#[test]
fn a_mesh_without_materials_has_no_attribute_of_them_and_says_so() {
    let folder = Folder::new();
    folder.write("bare.obj", BARE);
    let run = |mesh: &str, attributes: &str| {
        folder.json(format!("{mesh}.obj --res 8 --attributes {attributes} -o out.npz"))
    };
    let summary = run("bare", "label,material");
    assert_eq!(summary["attribute_names"], json!({"label": ["part"]}));
    let said = "the mesh has no materials: voxels have no attribute 'material'";
    assert_eq!(summary["warnings"], json!([said]));
    assert_eq!(run("bare", "material")["attribute_names"], json!({}));

    folder.write("metal.mtl", "newmtl steel\nKd 1 1 1\nPm 1\nmap_Pr none.png\n");
    folder.write("metal.obj", format!("mtllib metal.mtl\nusemtl steel\n{BARE}"));
    for (attributes, said) in [
        ("metallic,alpha", ["faces without texture coordinates", "no material states roughness"]),
        ("material,alpha", ["no material", "no material"]),
    ] {
        let warnings = run("metal", &format!("{attributes},roughness"))["warnings"].to_string();
        assert!(said.iter().all(|said| warnings.contains(said)), "{warnings}");
    }
    let info = folder.json("info out.npz");
    assert_eq!(info["attributes"]["alpha"], json!({"min": [1.0], "max": [1.0]}));
    assert_eq!(run("metal", "material")["warnings"], json!([]));
}

#[test]
fn voxels_inside_a_solid_have_no_attributes_of_the_surface_and_that_is_said() {
    let folder = Folder::new();
    folder.write("cube.obj", cube(0.0, 1.0));
    // Two objects that are open.
    let halves = cube(0.0, 1.0).replacen("\nf ", "\no one\nf ", 1);
    folder.write("halves.obj", halves.replace("f 3 ", "o two\nf 3 "));
    // A cube of 6 voxels within the layer at the faces.
    let no_normal = "216 interior voxels have no normal, area: only voxels at the surface have";
    let no_label =
        "216 interior voxels have the label -1: no object that is closed holds the centre";
    for (run, said) in [
        ("cube.obj --mode solid --attributes area,label,normal", no_normal),
        ("halves.obj --mode solid --attributes label", no_label),
        ("cube.obj --mode solid --attributes label", ""),
        ("cube.obj --mode surface --attributes label", ""),
        ("halves.obj --mode surface --attributes label", ""),
    ] {
        let notes = folder.json(format!("{run} --res 8 -o a.npz"))["notes"].to_string();
        assert!(notes.contains(said) && (notes == "[]") == said.is_empty(), "{run}: {notes}");
    }
}

#[test]
fn files_are_objects_of_one_grid_and_the_later_wins() {
    let folder = Folder::new();
    folder.write("large.obj", cube(0.0, 8.0));
    folder.write("inner.obj", cube(2.0, 2.0));
    fs::create_dir(folder.join("x")).unwrap();
    folder.write("x/beside.obj", cube(6.0, 4.0));
    let run = |args: &str| folder.json(format!("{args} --mode solid --voxel-size 0.5"));
    for name in ["parts.npz", "parts.vti"] {
        let summary = run(&format!("x/beside.obj large.obj inner.obj --label FILE -o {name}"));
        assert_eq!(summary["attribute_names"]["label"], json!(["beside", "large", "inner"]));
        assert_eq!(summary["mesh"], "x/beside.obj and 2 more");
        assert_eq!(summary["dims"], json!([20, 20, 20]));
    }
    let grid = folder.grid("parts.npz");
    let attributes = grid.attributes.as_ref().unwrap();
    let count = |label| attributes.of_voxels(&grid).filter(|of| of.label == label).count();
    let voxels = |edge: usize| edge.pow(3);
    // The overlap of `beside` and `large` has half the edge of `beside`.
    assert_eq!([0, 1, 2].map(count), [voxels(8) - voxels(4), voxels(16) - voxels(4), voxels(4)]);
    // An object in a later one, and one that is not closed.
    folder.write("open.obj", cube(0.0, 1.0).replace("f 5 6 8 7\n", ""));
    let summary = run("inner.obj open.obj large.obj --label file -o hidden.npz");
    let said = summary["warnings"].to_string();
    assert!(said.contains("label of objects that are not closed: open\""), "{said}");
    assert!(said.contains("and are cavities: inner, open\""), "{said}");
    // Distances are those of all together.
    let distances = "large.obj inner.obj --label file --voxel-size 0.5 --distance 2";
    folder.succeeds(format!("{distances} -o distances.npz"));
    let object = "large.obj --label object --distance 2 -o object.npz";
    folder.refuses(object, "--label object is for voxels, but --distance writes distances");
    // A pattern and one mesh alone are no exceptions.
    for (args, labels) in [
        ("[il]*.obj --label file", json!(["inner", "large"])),
        ("large.obj --label file", json!(["large"])),
        ("large.obj --label object", json!([""])),
    ] {
        let summary = run(&format!("{args} -o a.npz"));
        assert_eq!(summary["attribute_names"]["label"], labels, "{args}");
        let is_alone = args.starts_with("large");
        assert_eq!(summary["mesh"] == "large.obj", is_alone, "{args}");
    }
}

#[test]
fn one_grid_of_several_files_is_one_output_of_a_format_with_attributes() {
    let folder = Folder::new();
    folder.write("a.obj", cube(0.0, 1.0));
    folder.write("b.obj", cube(1.0, 1.0));
    folder.write("broken.obj", "v 0 0 0\nf 1 2 3\n");
    // A warning names the file.
    folder.write("odd.obj", format!("odd\n{}", cube(2.0, 1.0)));
    let summary = folder.json("a.obj odd.obj --label file --res 8 -o a.npz");
    assert_eq!(summary["mesh"], "a.obj and 1 more");
    assert!(summary["warnings"][0].as_str().unwrap().starts_with("odd.obj: "), "{summary}");
    assert!(summary["timings_ms"]["load"].is_number(), "{summary}");
    fs::remove_file(folder.join("a.npz")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    folder.each("a.obj b.obj --label file --res 8 _").refuses(&[
        ("-o out", "out: is a folder, but --label file makes one grid: name a file in it"),
        ("-o new/", "new/: is a folder, but --label file makes one grid"),
        ("-o a.npz --resume", "--resume is for many outputs, but --label file makes one"),
        ("-o a.npz --shard 1/2", "--shard is for many outputs, but --label file makes one"),
        ("-o a.npy", "files cannot hold the attribute"),
        ("broken.obj -o a.npz", "broken.obj"),
    ]);
    folder.says("a.obj b.obj --label file", "no file is written");
    folder.succeeds("a.obj b.obj --label file --res 8 -o both.vox");
    let attributes = folder.grid("both.vox").attributes.unwrap();
    assert_eq!(attributes.names()[&Attribute::Label], ["a", "b"]);
    // Without the option, the way to one grid is named.
    folder.fails("a.obj b.obj -o out.npz", "for one grid of all of them, give --label file");
}

#[test]
fn materials_of_several_files_are_kept_and_a_file_without_has_one_without_a_name() {
    let folder = color::in_colors();
    folder.write("bare.obj", cube(7.0, 2.0));
    let run = "three.obj bare.obj --label file --attributes material --res 25 -o a.npz";
    let names = &folder.json(run)["attribute_names"];
    assert_eq!(names["material"], json!(["red", "blue", "air", ""]));
}

#[test]
fn light_that_colours_leave_out_is_said() {
    let folder = Folder::new();
    let lamp = cube(0.0, 1.0).replacen("\nf ", "\nusemtl lamp\nf ", 1);
    folder.write("lamp.obj", format!("mtllib lamp.mtl\n{lamp}"));
    let note = "note: the mesh emits light, which colours leave out: --attributes emission keeps \
                it in .vox, .npz, .vti, .vdb, .nvdb";
    for (material, is_left_out) in [
        ("Kd 0.1 0.1 0.1\nKe 1 0.8 0\n", true),
        // Its colour is that of the light.
        ("Kd 0 0 0\nKe 1 0.8 0\n", false),
        ("Kd 0.1 0.1 0.1\nKe 0 0 0\n", false),
    ] {
        folder.write("lamp.mtl", format!("newmtl lamp\n{material}"));
        for (more, keeps_colors) in
            [("", true), ("--attributes emission", false), ("--color none", false)]
        {
            let said = folder.said(format!("lamp.obj --res 9 -o a.vox {more}"));
            assert_eq!(said.contains(note), is_left_out && keeps_colors, "{material} {more}");
        }
    }
}
