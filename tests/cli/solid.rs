//! `--mode`: thin surfaces and solids, how they were filled, and what `--strict` does about doubts.

use super::*;

/// The cube from (0, 0, 0) to (4, 4, 4) without the sides of these numbers: 0 is below, 1 above,
/// and so on around it.
fn cube_without(sides: &[usize]) -> String {
    let corners =
        (0..8).map(|i| format!("v {} {} {}\n", 4 * (i & 1), 4 * (i >> 1 & 1), 4 * (i >> 2)));
    let faces = ["1 5 7 3", "2 4 8 6", "1 2 6 5", "3 7 8 4", "1 3 4 2", "5 6 8 7"];
    let faces = faces.iter().enumerate().filter(|(side, _)| !sides.contains(side));
    corners.chain(faces.map(|(_, face)| format!("f {face}\n"))).collect()
}

/// A folder with the cube, the cube without a side across `x`, and without sides across `x` and
/// `y`.
fn cubes() -> Folder {
    let folder = folder();
    for (name, sides) in [("cube", &[][..]), ("open", &[1]), ("torn", &[1, 3])] {
        folder.write(format!("{name}.obj"), cube_without(sides));
    }
    folder
}

fn occupied(folder: &Path, args: &str) -> u64 {
    json_of(folder, &format!("{args} --json")).get("occupied").unwrap().as_u64().unwrap()
}

#[test]
fn a_cube_is_as_many_voxels_as_its_mode_says() {
    let folder = cubes();
    for (args, expected) in [
        ("", 8_u64.pow(3) - 6_u64.pow(3)),
        ("--mode surface", 8_u64.pow(3) - 6_u64.pow(3)),
        ("--mode thin", 8_u64.pow(3) - 6_u64.pow(3)),
        ("--mode thin --pad 1", 6 * 8 * 8 - 3 * 8 + 1),
        ("--mode solid", 8_u64.pow(3)),
        ("--mode solid --fill parity", 8_u64.pow(3)),
        ("--mode solid --fill winding", 8_u64.pow(3)),
        ("--mode solid --fill vote", 8_u64.pow(3)),
        ("--mode solid --fill flood", 8_u64.pow(3)),
        ("--mode solid --shell --pad 2", 10_u64.pow(3)),
        ("--mode solid --pad 2", 8_u64.pow(3)),
    ] {
        assert_eq!(occupied(&folder, &format!("cube.obj --res 8 {args}")), expected, "{args}");
    }
}

#[test]
fn a_solid_says_how_it_was_filled_and_why() {
    let folder = cubes();
    let closed = "\nfill      parity: the mesh is closed\n          1 shell\n";
    let said = says(&folder, "cube.obj --res 8 --mode solid", closed);
    assert!(said.contains(", fill ") && !said.contains("warning"), "{said}");
    let said = stderr(&voxelize(&folder, "open.obj --res 8 --mode solid"));
    let capped = "          capped at 1 boundary loop";
    assert!(said.contains("\nfill      winding: the mesh has 4 open edges\n"), "{said}");
    assert!(said.lines().any(|line| line.starts_with(capped)), "{said}");

    let fill =
        |args: &str| json_of(&folder, &format!("{args} --mode solid --json"))["fill"].clone();
    let closed = fill("cube.obj --voxel-size 0.5");
    let expected = serde_json::json!({
        "rule": "parity",
        "reason": "the mesh is closed",
        "doubtful": false,
        "doubts": [],
        "sentence": "1 shell, closed: filled by parity, the mesh is closed; the voxels have 100.00 % \
            of the mesh's volume",
        "closed": true,
        "oriented": true,
        "shells": 1,
        "edges": 18,
        "open_edges": 0,
        "non_manifold_edges": 0,
        "inconsistent_edges": 0,
        "odd_edges": 0,
        "unbalanced_edges": 0,
        "flipped_triangles": 0,
        "flipped_patches": 0,
        "example": null,
        "boundary_loops": null,
        "uncertain_voxels": null,
        "caps": null,
        "empty_shells": null,
        "empty_shells_text": null,
        "pieces": 1,
        "pieces_text": null,
        "axis_disagreement": null,
        "enclosed": null,
        "leaked": null,
        "open_columns": 0,
        "overlapping_columns": 0,
        "opposed_columns": 0,
        "voxel_volume": 64.0,
        "mesh_volume": 64.0,
    });
    assert_eq!(closed, expected);

    let keys = |fill: &serde_json::Value| -> Vec<String> {
        fill.as_object().unwrap().keys().cloned().collect()
    };
    for rule in ["parity", "winding", "flood", "vote"] {
        for mesh in ["cube.obj", "open.obj"] {
            let filled = fill(&format!("{mesh} --res 8 --fill {rule}"));
            assert_eq!(keys(&filled), keys(&closed), "{mesh}, {rule}");
        }
    }

    let open = fill("open.obj --res 8");
    assert_eq!((&open["rule"], &open["doubtful"]), (&"winding".into(), &false.into()), "{open}");
    assert_eq!(open["reason"], "the mesh has 4 open edges");
    assert_eq!((&open["open_edges"], &open["mesh_volume"]), (&4.into(), &().into()), "{open}");
    assert_eq!((&open["boundary_loops"], &open["flipped_triangles"]), (&1.into(), &0.into()));
    let voted = fill("open.obj --res 8 --fill vote");
    assert_eq!(voted["axis_disagreement"]["odd_columns"], serde_json::json!([64, 0, 0]));
    assert_eq!(voted["axis_disagreement"]["share"], 0.0);
    let ends = open["example"].as_array().unwrap();
    assert!(ends.iter().all(|end| end[0] == 4.0), "the open edges are at x = 4: {open}");

    assert_eq!(fill("cube.obj --res 8 --fill flood")["enclosed"], 6 * 6 * 6);
    assert!(json_of(&folder, "cube.obj --res 8 --json")["fill"].is_null());
}

#[test]
fn a_solid_says_how_many_shells_have_no_voxel() {
    let folder = folder();
    let tetrahedron = "v 5 0 0\nv 5.1 0 0\nv 5 0.1 0\nv 5 0 0.1\n\
                       f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n";
    folder.write("two.obj", cube_without(&[]) + tetrahedron);
    let text = "1 of 2 shells has no voxel (up to 0.2 voxels long): it is thinner than \
                a voxel, or a cavity";
    let line = format!("\n          {text}; --include-surface keeps it\n");
    let said = says(&folder, "two.obj --voxel-size 0.5 --mode solid --strict", &line);
    assert!(!said.contains("warning"), "{said}");
    let fill = |args: &str| {
        let args = format!("two.obj --voxel-size 0.5 --mode solid --json {args}");
        json_of(&folder, &args)["fill"].clone()
    };
    let found = fill("");
    assert_eq!((&found["empty_shells"], &found["empty_shells_text"]), (&1.into(), &text.into()));
    assert!(fill("--include-surface")["empty_shells"].is_null());
}

#[test]
fn a_solid_says_that_a_thin_shell_became_pieces() {
    let folder = folder();
    // A rod of 24 x 0.6 x 0.6 that rises by 10 and by 5.
    let corner = |i: u32| {
        let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2].map(f64::from);
        format!("v {} {} {}\n", 24.0 * x, 0.6 * y + 10.0 * x, 0.6 * z + 5.0 * x)
    };
    let faces =
        cube_without(&[]).lines().skip(8).map(|face| format!("{face}\n")).collect::<String>();
    folder.write("rod.obj", (0..8).map(corner).collect::<String>() + &faces);
    let run = |args: &str| {
        json_of(&folder, &format!("rod.obj --mode solid --json {args}"))["fill"].clone()
    };
    let broken = run("--voxel-size 1");
    let text = "1 shell became 6 pieces of voxels: parts of the mesh are thinner than a voxel";
    assert_eq!((&broken["pieces"], &broken["pieces_text"]), (&6.into(), &text.into()));
    assert!(broken["sentence"].as_str().unwrap().ends_with(&format!("; {text}")), "{broken}");
    let line = format!("\n          {text}; --include-surface joins them\n");
    says(&folder, "rod.obj --voxel-size 1 --mode solid --strict", &line);
    let whole = run("--voxel-size 0.2");
    assert_eq!((&whole["pieces"], &whole["pieces_text"]), (&1.into(), &().into()));
    assert!(run("--voxel-size 1 --include-surface")["pieces"].is_null());
}

#[test]
fn a_doubtful_fill_is_said_with_the_place_where_it_is_worst() {
    let folder = cubes();
    let output = voxelize(&folder, "torn.obj --res 8 --mode solid --fill vote -o torn.npy --json");
    let said = stderr(&output);
    let doubt = "the fill is doubtful: rays along different axes disagree in 64 of 64 columns (100 %), \
                 most near voxel (";
    assert!(said.contains(&format!("warning: {doubt}")), "{said}");
    let json = json(&output);
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with(doubt) && warning.ends_with("; try --fill winding"), "{json}");
    assert_eq!(json["fill"]["doubts"][0]["better"], "winding");
    assert_eq!(json["fill"]["axis_disagreement"]["columns"], 64);
    let worst = |field: &str| json["fill"]["axis_disagreement"][field][0].as_f64().unwrap();
    assert_eq!(worst("worst_position"), (worst("worst") + 0.5) * 0.5);
    assert!(folder.join("torn.npy").is_file());
}

#[test]
fn strict_refuses_a_doubtful_fill_and_force_writes_it() {
    let folder = cubes();
    folder.write("out.npy", "an old file");
    for quiet in ["", "-q"] {
        let args =
            format!("torn.obj --res 8 --mode solid --fill vote --strict -o out.npy --json {quiet}");
        let output = exits(&folder, &args, 1);
        let said = stderr(&output);
        assert!(said.starts_with("error: torn.obj: the fill is doubtful: rays along"), "{said}");
        let end = "; try --fill winding; nothing is written (--force writes it nevertheless)\n";
        assert!(said.ends_with(end), "{said}");
        let json = &json_lines(&output)[0];
        assert_eq!((&json["output"], &json["fill"]["doubtful"]), (&().into(), &true.into()));
        assert_eq!(fs::read_to_string(folder.join("out.npy")).unwrap(), "an old file");
    }
    let forced = "torn.obj --res 8 --mode solid --fill vote --strict --force -o out.npy";
    let forced = exits(&folder, forced, 1);
    assert!(stderr(&forced).contains("written nevertheless: out.npy"), "{}", stderr(&forced));
    assert_eq!(folder.grid("out.npy").occupied(), 512);
    // What else is to be said of it.
    for (first, of) in [("", ""), ("cube.obj", "torn.obj: ")] {
        let args = "torn.obj --res 8 --mode solid --fill vote --strict --force --color red";
        let said = stderr(&voxelize(&folder, &format!("{first} {args} --format npy -o out/")));
        let warning = format!("warning: {of}--color had no effect: .npy files hold no colours\n");
        assert!(said.contains(&warning), "{said}");
        assert_eq!(said.matches("the fill is doubtful").count(), 1, "{said}");
    }

    for mesh in ["cube", "open"] {
        let args = format!("{mesh}.obj --res 8 --mode solid --strict -o {mesh}.npy");
        succeeds(&folder, &args);
        assert!(folder.join(format!("{mesh}.npy")).is_file());
    }
    // No doubt, but a hole.
    let closed = "open.obj --res 8 --mode solid --strict=closed -o closed.npy";
    let said = stderr(&exits(&folder, closed, 1));
    let hole =
        "error: open.obj: the mesh is not closed: 4 edges of an odd number of triangles; nothing";
    assert!(said.starts_with(hole), "{said}");
    assert!(!folder.join("closed.npy").exists());
    succeeds(&folder, "cube.obj --res 8 --mode solid --strict=closed -o closed.npy");
}

#[test]
fn of_many_meshes_a_doubtful_one_fails_alone_and_again_with_resume() {
    let folder = cubes();
    let args =
        "cube.obj torn.obj open.obj --res 8 --mode solid --fill vote --strict -o out --resume";
    for (force, skipped, written) in
        [("", "", 2), ("", ", 2 skipped", 2), ("--force", ", 2 skipped", 3), ("", ", 2 skipped", 3)]
    {
        let said = stderr(&exits(&folder, &format!("{args} {force}"), 1));
        assert!(said.contains(&format!("{skipped}, 1 refused")), "{said}");
        let files = files(&folder.join("out"));
        assert_eq!(files.iter().filter(|name| name.ends_with(".vox")).count(), written, "{said}");
    }
    // Another mode, another fill: another file.
    for options in ["--mode thin", "--mode solid --fill winding", "--mode solid --shell"] {
        let args = format!("cube.obj --res 8 -o out/ --resume --json {options}");
        assert!(json_of(&folder, &args).get("skipped").is_none(), "{options}");
        assert_eq!(json_of(&folder, &args)["skipped"], true, "{options}");
    }
}

#[test]
fn any_warning_can_be_refused() {
    let folder = cubes();
    let strict = "cube.obj --res 8 --strict=warnings";
    succeeds(&folder, &format!("{strict} -o whole.npy"));
    let cut = format!("{strict} --bounds 100,100,100,101,101,101 -o cut.npy");
    for (force, is_written) in [("", false), ("--force", true)] {
        let run = exits(&folder, &format!("{cut} {force}"), 1);
        let said = stderr(&run);
        assert!(said.contains("error: cube.obj: 12 triangles reach outside the bounds"), "{said}");
        assert_eq!(folder.join("cut.npy").exists(), is_written, "{force}");
    }
}

#[test]
fn what_is_left_out_or_added_is_noted() {
    let folder = cubes();
    let coverage = "cube.obj --res 8 --mode solid --attributes coverage -o c.npz";
    let past = "cube.obj --voxel-size 0.7 --bounds 0,0,0,1,1,1.4 -o c.npz";
    for (args, note, is_said) in [
        (coverage.to_owned(), "their coverage: --include-surface adds them", true),
        (format!("{coverage} --include-surface"), "--include-surface adds them", false),
        (past.to_owned(), "so it ends at (1.4, 1.4, 1.4), past the bounds", true),
        (past.replace("0.7", "0.1"), "past the bounds", false),
    ] {
        let said = stderr(&succeeds(&folder, &args));
        assert_eq!(said.contains(note), is_said, "{args}: {said}");
    }
}

#[test]
fn options_of_solids_are_refused_without_one() {
    let folder = cubes();
    let fix = "is for solids: add --mode solid, or leave it out";
    for option in ["--fill vote", "--shell", "--strict"] {
        for mode in ["", "--mode thin"] {
            let args = format!("cube.obj --res 8 -o old.npy {mode} {option}");
            let name = option.split(" ").next().unwrap().replace("--shell", "--include-surface");
            refuses(&folder, &args, &format!("{name} {fix}"));
        }
    }
    refuses(&folder, "verify cube.obj old.npy --shell", fix);
    for (args, complaint) in [
        ("cube.obj --res 8 --mode solid --force", "--strict"),
        ("cube.obj --res 8 --mode hollow", "surface, thin, solid"),
        ("cube.obj --res 8 --mode solid --fill all", "auto, parity, winding, flood, vote"),
    ] {
        fails(&folder, args, complaint);
    }
}

#[test]
fn an_empty_solid_says_why() {
    let folder = cubes();
    let said = |args: &str| stderr(&voxelize(&folder, args));
    let empty = "warning: no voxel is occupied: ";
    let missed = said("cube.obj --voxel-size 1 --mode solid --bounds 8,8,8,9,9,9");
    assert!(missed.contains(&format!("{empty}the grid misses the surface")), "{missed}");
    folder.write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    for args in ["line.obj --res 8", "mesh.obj --res 8", "cube.obj --voxel-size 100"] {
        let said = said(&format!("{args} --mode solid"));
        let why = "doubtful: no voxel of the grid has its centre inside the mesh; use smaller";
        assert!(said.contains(why) && !said.contains(empty), "{said}");
    }
}

#[test]
fn strict_refuses_an_empty_solid() {
    let folder = cubes();
    let run = "cube.obj --voxel-size 100 --mode solid --strict";
    for fill in ["auto", "parity", "winding", "vote"] {
        exits(&folder, &format!("{run} --fill {fill} -o empty.npz"), 1);
        assert!(!folder.join("empty.npz").exists(), "{fill}");
    }
    // One with its surface is not empty, and a tile may be.
    for args in ["--include-surface", "--tile 1/1"] {
        succeeds(&folder, &format!("{run} {args}"));
    }
}
