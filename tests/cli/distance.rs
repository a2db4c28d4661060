//! `--distance`: signed distances instead of voxels.

use super::*;

const TETRAHEDRON: &str =
    "v 0 0 0\nv 8 0 0\nv 0 8 0\nv 0 0 8\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn with_tetrahedron() -> Folder {
    let folder = folder();
    folder.write("solid.obj", TETRAHEDRON);
    folder
}

#[test]
fn distances_are_written_and_summarized() {
    let folder = with_tetrahedron();
    let summary = json_of(&folder, "solid.obj --res 8 --distance 2.5 -o out.npz --json");
    // Three voxels more on each side, the width rounded up.
    assert_eq!(summary["dims"], serde_json::json!([14, 14, 14]));
    assert_eq!(summary["occupied"], 84);
    assert_eq!(summary["distances"]["width"], 2.5);
    assert!(summary["distances"]["voxels"].as_u64().unwrap() > 84);
    assert!(summary["timings_ms"]["distance"].as_f64().unwrap() > 0.0);
    assert_eq!(folder.grid("out.npz").occupied(), 84);
    let said = stderr(&voxelize(&folder, "solid.obj --res 8 --distance 2.5"));
    assert!(said.contains("distances ") && said.contains(" voxels nearer than 2.5\n"), "{said}");
}

#[test]
fn distances_are_the_same_from_any_fill() {
    let folder = with_tetrahedron();
    let write = |name: &str, args: &str| {
        let args = format!("solid.obj --res 50 --distance 3 -o {name} {args}");
        succeeds(&folder, &args);
        folder.read(name)
    };
    let expected = write("one.vdb", "");
    for args in ["--fill winding", "--fill vote", "--memory 200MB"] {
        assert!(write("other.vdb", args) == expected, "{args}");
    }
}

#[test]
fn bounds_are_kept_without_padding() {
    let folder = with_tetrahedron();
    let dims = |args: &str| {
        let args = format!("solid.obj --distance 3 --json {args}");
        json_of(&folder, &args)["dims"].clone()
    };
    assert_eq!(dims("--cube 24"), serde_json::json!([24, 24, 24]));
    assert_eq!(dims("--res 8 --bounds 0,0,0,8,8,8"), serde_json::json!([8, 8, 8]));
    assert_eq!(dims("--res 8 --pad 5"), serde_json::json!([18, 18, 18]));
}

#[test]
fn several_meshes_get_level_sets_in_a_folder_and_resume_knows_the_width() {
    let folder = with_tetrahedron();
    let args = "solid.obj mesh.obj --res 8 --distance 2 -o out --resume --json";
    succeeds(&folder, args);
    let written = files(&folder.join("out"));
    assert_eq!(written, [".voxelize", "mesh.vdb", "solid.vdb"]);
    let skipped = |args: &str| {
        let lines = json_lines(&voxelize(&folder, args));
        lines.iter().filter(|line| line["skipped"] == true).count()
    };
    assert_eq!(skipped(args), 2);
    assert_eq!(skipped(&args.replace("--distance 2", "--distance 3")), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = with_tetrahedron();
    for (args, complaint) in [
        (
            "-o out.vox",
            ".vox files cannot hold distances: use one of .npy, .npz, .vti, .vdb, .nvdb",
        ),
        ("-o out.binvox", "cannot hold distances"),
    ] {
        refuses(&folder, &format!("solid.obj --res 8 --distance 3 {args}"), complaint);
    }
    for (args, complaint) in [
        ("--distance 0", "above 0, at most 1024"),
        ("--distance -1", "above 0, at most 1024"),
        ("--distance NaN", "above 0, at most 1024"),
        ("--distance 1025", "above 0, at most 1024"),
        ("--distance 3 --mode thin", "cannot be used with"),
        ("--distance 3 --shell", "cannot be used with"),
        ("--distance 3 --preview out.png", "cannot be used with"),
        ("--distance 3 --tile 1/2", "cannot be used with"),
    ] {
        fails(&folder, &format!("solid.obj --res 8 {args}"), complaint);
    }
}

#[test]
fn a_doubtful_inside_is_said_and_strict_refuses_it() {
    let folder = with_tetrahedron();
    says(&folder, "mesh.obj --res 8 --distance 2", "warning: ");
    exits(&folder, "mesh.obj --res 8 --distance 2 --strict -o out.vdb", 1);
    assert!(!folder.join("out.vdb").exists());
}

#[test]
fn holes_across_which_distances_change_their_sign_are_said() {
    let folder = with_tetrahedron();
    let open = TETRAHEDRON.trim_end().trim_end_matches("f 2 3 4");
    folder.write("open.obj", open);
    let run = "open.obj --res 16 --distance 3 -o out.vdb";
    says(&folder, run, "the mesh is not closed (1 boundary loop): distances change their sign");
    says(
        &folder,
        &format!("{run} --fill vote"),
        "the mesh is not closed (3 open edges): distances",
    );
    exits(&folder, &format!("{run} --strict=closed"), 1);
    let solid = stderr(&voxelize(&folder, "open.obj --res 16 --mode solid"));
    let closed = stderr(&voxelize(&folder, "solid.obj --res 16 --distance 3"));
    assert!(!solid.contains("distances") && !closed.contains("not closed"), "{solid}{closed}");
}
