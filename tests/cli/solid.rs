//! `--mode`: thin surfaces and solids, how they were filled, and what `--strict` does about doubts.

use super::*;

/// A folder with a cube of 4 units, the cube without a side across `x`, and without sides across
/// `x` and `y`.
fn cubes() -> Folder {
    let folder = folder();
    let open = cube(0.0, 4.0).replace("f 2 4 8 6\n", "");
    folder.write("cube.obj", cube(0.0, 4.0));
    folder.write("torn.obj", open.replace("f 3 7 8 4\n", ""));
    folder.write("open.obj", open);
    folder
}

#[test]
fn a_cube_is_as_many_voxels_as_its_mode_says() {
    let folder = cubes();
    for (args, expected) in [
        ("", 8 * 8 * 8 - 6 * 6 * 6),
        ("--mode surface", 8 * 8 * 8 - 6 * 6 * 6),
        ("--mode thin", 8 * 8 * 8 - 6 * 6 * 6),
        ("--mode thin --pad 1", 6 * 8 * 8 - 3 * 8 + 1),
        ("--mode solid", 8 * 8 * 8),
        ("--mode solid --fill parity", 8 * 8 * 8),
        ("--mode solid --fill winding", 8 * 8 * 8),
        ("--mode solid --fill vote", 8 * 8 * 8),
        ("--mode solid --fill flood", 8 * 8 * 8),
        ("--mode solid --shell --pad 2", 10 * 10 * 10),
        ("--mode solid --pad 2", 8 * 8 * 8),
    ] {
        let summary = folder.json(format!("cube.obj --res 8 {args}"));
        assert_eq!(summary["occupied"], expected, "{args}");
    }
}

#[test]
fn a_solid_says_how_it_was_filled_and_why() {
    let folder = cubes();
    let closed = "\nfill      parity: the mesh is closed\n          1 shell\n";
    let said = folder.says("cube.obj --res 8 --mode solid", closed);
    assert!(said.contains(", fill ") && !said.contains("warning"), "{said}");
    let winding = "\nfill      winding: the mesh has 4 open edges\n";
    let said = folder.says("open.obj --res 8 --mode solid", winding);
    assert!(said.contains("\n          capped at 1 boundary loop"), "{said}");

    let fill = |args: &str| folder.json(format!("{args} --mode solid"))["fill"].clone();
    let closed = fill("cube.obj --voxel-size 0.5");
    let mut expected = json!({
        "rule": "parity",
        "reason": "the mesh is closed",
        "doubtful": false,
        "doubts": [],
        "sentence": "1 shell, closed: filled by parity, the mesh is closed; the voxels have \
            100.00 % of the mesh's volume",
        "closed": true,
        "oriented": true,
        "shells": 1,
        "pieces": 1,
        "edges": 18,
        "voxel_volume": 64.0,
        "mesh_volume": 64.0,
    });
    let zeros = "open_edges non_manifold_edges inconsistent_edges odd_edges unbalanced_edges \
                 flipped_triangles flipped_patches open_columns overlapping_columns \
                 opposed_columns";
    let nulls = "example boundary_loops uncertain_voxels caps empty_shells empty_shells_text \
                 pieces_text axis_disagreement enclosed leaked";
    for (fields, value) in [(zeros, json!(0)), (nulls, Value::Null)] {
        fields.split(' ').for_each(|field| expected[field] = value.clone());
    }
    assert_eq!(closed, expected);

    let keys = |fill: &Value| fill.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for rule in ["parity", "winding", "flood", "vote"] {
        for mesh in ["cube.obj", "open.obj"] {
            let filled = fill(&format!("{mesh} --res 8 --fill {rule}"));
            assert_eq!(keys(&filled), keys(&closed), "{mesh}, {rule}");
        }
    }

    let open = fill("open.obj --res 8");
    for (field, expected) in [
        ("rule", json!("winding")),
        ("doubtful", json!(false)),
        ("reason", json!("the mesh has 4 open edges")),
        ("open_edges", json!(4)),
        ("mesh_volume", json!(null)),
        ("boundary_loops", json!(1)),
        ("flipped_triangles", json!(0)),
    ] {
        assert_eq!(open[field], expected, "{field}");
    }
    let ends = open["example"].as_array().unwrap();
    assert!(ends.iter().all(|end| end[0] == 4.0), "the open edges are at x = 4: {open}");
    let voted = fill("open.obj --res 8 --fill vote");
    assert_eq!(voted["axis_disagreement"]["odd_columns"], json!([64, 0, 0]));
    assert_eq!(voted["axis_disagreement"]["share"], 0.0);
    assert_eq!(fill("cube.obj --res 8 --fill flood")["enclosed"], 6 * 6 * 6);
    assert!(folder.json("cube.obj --res 8")["fill"].is_null());
}

#[test]
fn a_solid_says_what_of_it_is_thinner_than_a_voxel() {
    let folder = Folder::new();
    let tetrahedron = "v 5 0 0\nv 5.1 0 0\nv 5 0.1 0\nv 5 0 0.1\n\
                       f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n";
    folder.write("two.obj", cube(0.0, 4.0) + tetrahedron);
    // A rod of 24 x 0.6 x 0.6 that rises by 10 and by 5.
    let rod = cube_by(|[x, y, z]| [24.0 * x, 0.6 * y + 10.0 * x, 0.6 * z + 5.0 * x]);
    folder.write("rod.obj", rod);
    let no_voxel = "1 of 2 shells has no voxel (up to 0.2 voxels long): it is thinner than \
                    a voxel, or a cavity";
    let broken = "1 shell became 6 pieces of voxels: parts of the mesh are thinner than a voxel";
    let fill = |args: &str| folder.json(format!("{args} --mode solid"))["fill"].clone();
    for (run, field, count, text, surface) in [
        ("two.obj --voxel-size 0.5", "empty_shells", 1, no_voxel, "keeps it"),
        ("rod.obj --voxel-size 1", "pieces", 6, broken, "joins them"),
    ] {
        let found = fill(run);
        let said = (&found[field], &found[format!("{field}_text")]);
        assert_eq!(said, (&count.into(), &text.into()), "{run}");
        let line = format!("\n          {text}; --include-surface {surface}\n");
        folder.says(format!("{run} --mode solid --strict"), &line);
        assert!(fill(&format!("{run} --include-surface"))[field].is_null(), "{run}");
    }
    assert!(!folder.said("two.obj --voxel-size 0.5 --mode solid --strict").contains("warning"));
    let sentence = &fill("rod.obj --voxel-size 1")["sentence"];
    assert!(sentence.as_str().unwrap().ends_with(&format!("; {broken}")), "{sentence}");
    let whole = fill("rod.obj --voxel-size 0.2");
    assert_eq!((&whole["pieces"], &whole["pieces_text"]), (&1.into(), &().into()));
}

#[test]
fn a_doubtful_fill_is_said_with_the_place_where_it_is_worst() {
    let folder = cubes();
    let doubt = "the fill is doubtful: rays along different axes disagree in 64 of 64 columns \
                 (100 %), most near voxel (";
    let run = "torn.obj --res 8 --mode solid --fill vote -o torn.npy --json";
    let output = folder.succeeds(run);
    let said = stderr(&output);
    assert!(said.contains(&format!("warning: {doubt}")), "{said}");
    let json = &json_lines(&output)[0];
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with(doubt) && warning.ends_with("; try --fill winding"), "{json}");
    assert_eq!(json["fill"]["doubts"][0]["better"], "winding");
    let disagreement = &json["fill"]["axis_disagreement"];
    assert_eq!(disagreement["columns"], 64);
    let worst = |field: &str| disagreement[field][0].as_f64().unwrap();
    assert_eq!(worst("worst_position"), (worst("worst") + 0.5) * 0.5);
    assert!(folder.join("torn.npy").is_file());
}

#[test]
fn strict_refuses_a_doubtful_fill_and_force_writes_it() {
    let folder = cubes();
    folder.write("out.npy", "an old file");
    let strict = "torn.obj --res 8 --mode solid --fill vote --strict";
    for quiet in ["", "-q"] {
        let output = folder.exits(format!("{strict} -o out.npy --json {quiet}"), 1);
        let said = stderr(&output);
        assert!(said.starts_with("error: torn.obj: the fill is doubtful: rays along"), "{said}");
        let end = "; try --fill winding; nothing is written (--force writes it nevertheless); an \
                   older out.npy is still there\n";
        assert!(said.ends_with(end), "{said}");
        let json = &json_lines(&output)[0];
        assert_eq!((&json["output"], &json["fill"]["doubtful"]), (&().into(), &true.into()));
        assert_eq!(folder.text("out.npy"), "an old file");
    }
    let forced = folder.exits(format!("{strict} --force -o out.npy"), 1);
    assert!(stderr(&forced).contains("written nevertheless: out.npy"), "{}", stderr(&forced));
    assert_eq!(folder.grid("out.npy").occupied(), 512);
    // What else is to be said of it.
    for (first, of) in [("", ""), ("cube.obj", "torn.obj: ")] {
        let args = format!("{first} {strict} --force --color red --format npy -o out/");
        let said = stderr(&folder.exits(args, 1));
        let warning = format!("warning: {of}--color had no effect: .npy files hold no colours\n");
        assert!(said.contains(&warning), "{said}");
        assert_eq!(said.matches("the fill is doubtful").count(), 1, "{said}");
    }

    for (run, file) in [
        ("cube.obj --strict", "cube.npy"),
        ("open.obj --strict", "open.npy"),
        ("cube.obj --strict=closed", "closed.npy"),
    ] {
        folder.succeeds(format!("{run} --res 8 --mode solid -o {file}"));
        assert!(folder.join(file).is_file());
    }
    // No doubt, but a hole.
    let run = folder.exits("open.obj --res 8 --mode solid --strict=closed -o holed.npy", 1);
    let hole =
        "error: open.obj: the mesh is not closed: 4 edges of an odd number of triangles; nothing";
    assert!(stderr(&run).starts_with(hole), "{}", stderr(&run));
    assert!(!folder.join("holed.npy").exists());
}

#[test]
fn of_many_meshes_a_doubtful_one_fails_alone_and_again_with_resume() {
    let folder = cubes();
    let run =
        "cube.obj torn.obj open.obj --res 8 --mode solid --fill vote --strict -o out --resume";
    for (force, skipped, written) in
        [("", "", 2), ("", ", 2 skipped", 2), ("--force", ", 2 skipped", 3), ("", ", 2 skipped", 3)]
    {
        let said = stderr(&folder.exits(format!("{run} {force}"), 1));
        assert!(said.contains(&format!("{skipped}, 1 refused")), "{said}");
        // And the folder of notes.
        assert_eq!(folder.files_in("out").len(), 1 + written, "{said}");
    }
}

#[test]
fn any_warning_can_be_refused() {
    let folder = cubes();
    let strict = "cube.obj --res 8 --strict=warnings";
    folder.succeeds(format!("{strict} -o whole.npy"));
    for (force, is_written) in [("", false), ("--force", true)] {
        let bounds = "--bounds 100,100,100,101,101,101";
        let said = stderr(&folder.exits(format!("{strict} {bounds} -o cut.npy {force}"), 1));
        assert!(said.contains("error: cube.obj: 12 triangles reach outside the bounds"), "{said}");
        assert_eq!(folder.join("cut.npy").exists(), is_written, "{force}");
    }
}

#[test]
fn what_is_left_out_or_added_is_noted() {
    let folder = cubes();
    let coverage = "--res 8 --mode solid --attributes coverage";
    let with_surface = format!("{coverage} --include-surface");
    let past = "so it ends at (1.4, 1.4, 1.4), past the bounds";
    for (args, note, is_said) in [
        (coverage, "their coverage: --include-surface adds them", true),
        (&with_surface, "--include-surface adds them", false),
        ("--voxel-size 0.7 --bounds 0,0,0,1,1,1.4", past, true),
        ("--voxel-size 0.1 --bounds 0,0,0,1,1,1.4", "past the bounds", false),
    ] {
        let said = folder.said(format!("cube.obj {args} -o c.npz"));
        assert_eq!(said.contains(note), is_said, "{args}: {said}");
    }
}

#[test]
fn options_of_solids_are_refused_without_one() {
    let folder = cubes();
    let fix = "is for solids: add --mode solid, or leave it out";
    for mode in ["", "--mode thin"] {
        folder.each(&format!("cube.obj --res 8 -o old.npy {mode} _")).refuses(&[
            ("--fill vote", &format!("--fill {fix}")),
            ("--shell", &format!("--include-surface {fix}")),
            ("--strict", &format!("--strict {fix}")),
        ]);
    }
    folder.refuses("verify cube.obj old.npy --shell", fix);
    folder.each("cube.obj --res 8 --mode _").fails(&[
        ("solid --force", "--strict"),
        ("hollow", "surface, thin, solid"),
        ("solid --fill all", "auto, parity, winding, flood, vote"),
    ]);
}

#[test]
fn an_empty_solid_says_why_and_strict_refuses_it() {
    let folder = cubes();
    folder.write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    let empty = "warning: no voxel is occupied: ";
    let missed = format!("{empty}the grid misses the surface");
    folder.says("cube.obj --voxel-size 1 --mode solid --bounds 8,8,8,9,9,9", &missed);
    let why = "doubtful: no voxel of the grid has its centre inside the mesh; use smaller";
    for args in ["line.obj --res 8", "mesh.obj --res 8", "cube.obj --voxel-size 100"] {
        let said = folder.says(format!("{args} --mode solid"), why);
        assert!(!said.contains(empty), "{said}");
    }
    let strict = "cube.obj --voxel-size 100 --mode solid --strict";
    for fill in ["auto", "parity", "winding", "vote"] {
        folder.exits(format!("{strict} --fill {fill} -o empty.npz"), 1);
        assert!(!folder.join("empty.npz").exists(), "{fill}");
    }
    // One with its surface is not empty, and a tile may be.
    for args in ["--include-surface", "--tile 1/1"] {
        folder.succeeds(format!("{strict} {args}"));
    }
}
