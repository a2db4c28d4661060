//! `--distance`: signed distances instead of voxels.

use trivox::Up;

use super::*;

fn with_tetrahedron() -> Folder {
    let folder = folder();
    folder.write("solid.obj", tetrahedron(8));
    folder
}

#[test]
fn distances_are_written_and_summarized() {
    let folder = with_tetrahedron();
    let summary = folder.json("solid.obj --res 8 --distance 2.5 -o out.npz");
    // Three voxels more on each side, the width rounded up.
    assert_eq!(summary["dims"], json!([14, 14, 14]));
    assert_eq!(summary["occupied"], 84);
    assert_eq!(summary["distances"]["width"], 2.5);
    assert!(summary["distances"]["voxels"].as_u64().unwrap() > 84);
    assert!(summary["timings_ms"]["distance"].as_f64().unwrap() > 0.0);
    assert_eq!(folder.grid("out.npz").occupied(), 84);
    let said = folder.says("solid.obj --res 8 --distance 2.5", "distances ");
    assert!(said.contains(" voxels nearer than 2.5\n"), "{said}");
}

#[test]
fn distances_are_the_same_from_any_fill() {
    let folder = with_tetrahedron();
    folder.succeeds("solid.obj --res 50 --distance 3 -o one.vdb");
    for args in ["--fill winding", "--fill vote", "--memory 200MB"] {
        folder.succeeds(format!("solid.obj --res 50 --distance 3 -o other.vdb {args}"));
        assert!(folder.read("other.vdb") == folder.read("one.vdb"), "{args}");
    }
}

#[test]
fn distances_are_converted_to_formats_that_hold_them_and_info_says_so() {
    let folder = with_tetrahedron();
    let run = folder.json("solid.obj --res 8 --distance 2.5 -o a.vdb");
    for (from, to) in
        [("a.vdb", "b.npz"), ("b.npz", "c.nvdb"), ("c.nvdb", "d.vti"), ("d.vti", "e.vdb")]
    {
        let converted = folder.json(format!("convert {from} {to}"));
        assert_eq!([&converted["hash"], &converted["notes"]], [&run["hash"], &json!([])], "{to}");
        let info = folder.json(format!("info {to}"));
        assert_eq!([&info["hash"], &info["distances"]], [&run["hash"], &run["distances"]], "{to}");
        let diff = folder.printed(format!("diff a.vdb {to} --exact"));
        assert!(diff.ends_with("verdict   equal\n"), "{diff}");
    }
    assert!(folder.read("e.vdb") == folder.read("a.vdb"));
    let info = folder.printed("info d.vti");
    assert!(info.contains("\ndistances ") && info.contains(" voxels nearer than 2.5\n"), "{info}");
    folder.succeeds("convert a.vdb dense.npy");
    folder.refuses("info dense.npy", "of floats only 0 and 1 are read (distances are read from");
    let lost = "its distances are not kept: the voxels are the solid inside";
    let solid = folder.json("convert a.vdb solid.bricks");
    assert_eq!(solid["notes"], json!([lost]));
    assert_eq!(solid["hash"], folder.json("info solid.bricks")["hash"]);
    let extent = "Extent=\"0 2 0 1 0 1\"";
    folder.write(
        "colored.vti",
        format!(
            "<VTKFile type=\"ImageData\"><ImageData Whole{extent}><Piece {extent}><CellData>
             <DataArray type=\"Float32\" Name=\"distance\">-1 2</DataArray>
             <DataArray type=\"UInt8\" Name=\"color\" NumberOfComponents=\"3\">
             1 2 3 0 0 0</DataArray>
             </CellData></Piece></ImageData></VTKFile>"
        ),
    );
    let lost = "its colours and attributes are not kept beside distances";
    for to in ["npz", "vdb", "nvdb", "vti"] {
        let converted = folder.json(format!("convert colored.vti of_colored.{to}"));
        assert_eq!(converted["notes"], json!([lost]), "{to}");
    }
    let converted = folder.json("convert colored.vti of_colored.bricks");
    assert!(folder.grid("of_colored.bricks").colors.is_some(), "{converted}");
    folder.succeeds("convert a.vdb turned.npz --up z");
    assert_eq!(folder.grid("turned.npz").world.up, Up::Z);
    let diff = folder.printed("diff a.vdb turned.npz");
    assert!(diff.ends_with("equal voxels, but up axes: A has y, B has z\n"), "{diff}");
    // Neither the same width nor the same voxels.
    folder.succeeds("solid.obj --res 8 --pad 3 --distance 2 -o other.npz");
    let diff = folder.printed("diff a.vdb other.npz");
    assert!(diff.ends_with("widths of bands: A has 2.5 voxels, B has 2\n"), "{diff}");
    folder.says(
        "render a.vdb --size 40 -o a.png",
        "its distances are left out: the voxels are the solid inside",
    );
}

#[test]
fn level_sets_are_compared_within_a_tolerance() {
    let folder = with_tetrahedron();
    // Voxels whose size is no power of two: mesh units are rounded.
    folder.succeeds("solid.obj --res 50 --distance 2 -o a.npz");
    folder.succeeds("convert a.npz b.vdb");
    let differs = |args: &str| stdout(&folder.exits(args, 1));
    let report = folder.json("diff a.npz b.vdb");
    let largest = report["distances"]["largest"].as_f64().unwrap();
    assert!(largest > 0.0 && largest < 1e-6, "{report}");
    assert!(report["distances"]["differing"].as_u64().unwrap() > 0);
    let said = folder.printed("diff a.npz b.vdb --tolerance 0.000001");
    assert!(said.ends_with("verdict   distances are equal within 0.000001 voxels\n"), "{said}");
    let said = differs("diff a.npz b.vdb --tolerance 0");
    assert!(said.contains(" voxels whose distances differ by more than 0 voxels, by "), "{said}");

    // A wider band, and the other grid's first voxel at (5, 5, 5).
    folder.succeeds("solid.obj --res 50 --distance 3 --pad 7 -o wide.npz");
    for pair in ["a.npz wide.npz", "wide.npz a.npz"] {
        let report = folder.json(format!("diff {pair} --tolerance 0.000001"));
        assert_eq!([&report["equal"], &report["within_tolerance"]], [false, true], "{report}");
    }
    let row = |origin: i32, distances: &str| {
        let extent = format!("Extent=\"0 {} 0 1 0 1\"", distances.split(' ').count());
        format!(
            "<VTKFile type=\"ImageData\"><ImageData Whole{extent} Origin=\"{origin} 0 0\">
             <Piece {extent}><CellData><DataArray type=\"Float32\" Name=\"distance\">{distances}
             </DataArray></CellData></Piece></ImageData></VTKFile>"
        )
    };
    folder.write("row.vti", row(4, "-0.5 0.5 1.5"));
    for (name, origin, distances, found) in [
        ("same.vti", 3, "1.5 -0.5 0.5 1.5 1.5", None),
        // The voxel before the row counts as outside, like all beyond a grid.
        ("solid.vti", 2, "1.5 -1.25 -0.5 0.5 1.5", Some((1, 2.75, -1))),
        ("wrong.vti", 4, "-0.25 0.75 1.5", Some((2, 0.25, 0))),
        ("moved.vti", 5, "-0.5 0.5 1.5", Some((3, 2.0, 0))),
    ] {
        folder.write(name, row(origin, distances));
        let diff = format!("diff row.vti {name} --tolerance 0.1");
        let code = i32::from(found.is_some());
        let report = &json_lines(&folder.exits(format!("{diff} --json"), code))[0];
        let (differing, largest, x) = found.unwrap_or((0, 0.0, 0));
        let errors = &report["distances"];
        assert_eq!(
            [&errors["differing"], &errors["largest"]],
            [&json!(differing), &json!(largest)]
        );
        if found.is_some() {
            assert_eq!(errors["at"], json!([x, 0, 0]), "{name}");
            let said = differs(&diff);
            assert!(said.contains(&format!("at ({x}, 0, 0) of A")), "{said}");
        }
    }
    let said = folder.printed("diff row.vti wrong.vti");
    assert!(said.ends_with("2 voxels of another distance, by up to about 0.25 voxels\n"), "{said}");
    folder.write("nowhere.vti", row(i32::MAX, "-0.5 0.5 1.5"));
    folder.refuses("diff row.vti nowhere.vti --tolerance 1", "are too far apart: ");
    folder.succeeds("solid.obj --res 50 --mode solid -o solid.vox");
    let refused = "--tolerance is for distances, and solid.vox has none: leave it out";
    folder.refuses("diff a.npz solid.vox --tolerance 1", refused);
    let negative = "<FieldData><DataArray type=\"Float32\" Name=\"width\" NumberOfTuples=\"1\">-3\
                    </DataArray></FieldData><Piece";
    folder.write("width.vti", folder.text("row.vti").replacen("<Piece", negative, 1));
    let diff = "diff row.vti width.vti --tolerance 1";
    folder.refuses(diff, "width.vti has none: its distances are not read (");
    for wrong in ["-1", "nan", "inf", "1mm"] {
        let diff = format!("diff a.npz a.npz --tolerance={wrong}");
        folder.fails(diff, "at least 0, such as 0.001");
    }
}

#[test]
fn the_report_on_the_inside_names_no_option_that_distances_refuse() {
    let folder = folder();
    let said = folder.says(format!("{LIGHTHOUSE} --res 32 --distance 2"), "shells have no voxel");
    assert!(!said.contains("--include-surface"), "{said}");
    folder.says(format!("{LIGHTHOUSE} --res 32 --mode solid"), "; --include-surface keeps them");
}

#[test]
fn bounds_are_kept_without_padding() {
    let folder = with_tetrahedron();
    for (args, dims) in [
        ("--cube 24", [24; 3]),
        ("--res 8 --bounds 0,0,0,8,8,8", [8; 3]),
        ("--res 8 --pad 5", [18; 3]),
    ] {
        assert_eq!(folder.dims(format!("solid.obj --distance 3 {args}")), dims, "{args}");
    }
}

#[test]
fn several_meshes_get_level_sets_in_a_folder_and_resume_knows_the_width() {
    let folder = with_tetrahedron();
    for (width, skipped) in [(2, 0), (2, 2), (3, 0)] {
        let run = format!("solid.obj mesh.obj --res 8 --distance {width} -o out --resume --json");
        let lines = json_lines(&folder.succeeds(run));
        assert_eq!(lines.iter().filter(|line| line["skipped"] == true).count(), skipped);
        assert_eq!(folder.files_in("out"), [".voxelize", "mesh.vdb", "solid.vdb"]);
    }
}

#[test]
fn distances_that_cannot_be_are_refused() {
    let folder = with_tetrahedron();
    let able = ".vox files cannot hold distances: use one of .npy, .npz, .vti, .vdb, .nvdb";
    folder
        .each("solid.obj --res 8 --distance 3 -o out._")
        .refuses(&[("vox", able), ("binvox", "cannot hold distances")]);
    folder.each("solid.obj --res 8 --distance _").fails(&[
        ("0", "above 0, at most 1024"),
        ("-1", "above 0, at most 1024"),
        ("NaN", "above 0, at most 1024"),
        ("1025", "above 0, at most 1024"),
        ("3 --mode thin", "cannot be used with"),
        ("3 --shell", "cannot be used with"),
        ("3 --preview out.png", "cannot be used with"),
        ("3 --tile 1/2", "cannot be used with"),
    ]);
}

#[test]
fn holes_and_a_doubtful_inside_are_said_and_strict_refuses_them() {
    let folder = with_tetrahedron();
    folder.says("mesh.obj --res 8 --distance 2", "warning: ");
    folder.exits("mesh.obj --res 8 --distance 2 --strict -o doubtful.vdb", 1);
    assert!(!folder.join("doubtful.vdb").exists());
    folder.write("open.obj", tetrahedron(8).replace("f 2 3 4\n", ""));
    folder.each("open.obj --res 16 --distance 3 -o out.vdb _").says(&[
        ("", "the mesh is not closed (1 boundary loop): distances change their sign"),
        ("--fill vote", "the mesh is not closed (3 open edges): distances"),
    ]);
    folder.exits("open.obj --res 16 --distance 3 -o out.vdb --strict=closed", 1);
    let solid = folder.said("open.obj --res 16 --mode solid");
    let closed = folder.said("solid.obj --res 16 --distance 3");
    assert!(!solid.contains("distances") && !closed.contains("not closed"), "{solid}{closed}");
}
