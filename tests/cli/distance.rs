//! `--distance`: signed distances instead of voxels.

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
