//! `--tile`, `--lattice` and `voxelize join`.

use super::*;

#[test]
fn tiles_joined_are_the_file_of_the_whole() {
    let folder = folder();
    for (options, format) in
        [("--mode thin", "npz"), ("--mode solid --interior-color red --pad 1", "npz"), ("", "nvdb")]
    {
        let run = |more: &str| {
            let args = format!("{LIGHTHOUSE} --res 60 {options} --format {format} -q {more}");
            succeeds(&folder, &args);
        };
        run(&format!("-o whole.{format}"));
        (1..=6).for_each(|number| run(&format!("--tile {number}/3x2x1 -o tiles/")));
        let tiles = files(&folder.join("tiles"));
        assert_eq!(tiles[5], format!("lighthouse.tile-6-of-3x2x1.{format}"));
        let tiles = tiles.iter().map(|name| format!("tiles/{name}")).collect::<Vec<_>>().join(" ");
        let joined = voxelize(&folder, &format!("join {tiles} -o joined.{format} --json"));
        assert_eq!(json(&joined)["tiles"], 6, "{}", stderr(&joined));
        let (all_but_last, last) = tiles.rsplit_once(' ').unwrap();
        let missing = "tile 6/3x2x1 is missing, by the names of the others";
        refuses(&folder, &format!("join {all_but_last} -o less.{format}"), missing);
        let missing = "tile 1/3x2x1 is missing";
        refuses(&folder, &format!("join {last} -o less.{format}"), missing);
        let other = "other.tile-6-of-3x2x1";
        fs::copy(folder.join(last), folder.join(format!("{other}.{format}"))).unwrap();
        let mixed = format!("join {all_but_last} {other}.{format} -o less.{format}");
        let complaint = "is by its name a tile of another mesh or division than tiles/lighthouse";
        refuses(&folder, &mixed, &format!("{other}.{format}: {complaint}"));
        fs::rename(folder.join(last), folder.join(format!("last.{format}"))).unwrap();
        let first_two = all_but_last.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let some = format!("join {first_two} last.{format} -o less.{format} --json");
        let joined = succeeds(&folder, &some);
        let gap = &json(&joined)["warnings"][0];
        assert!(gap.as_str().unwrap().ends_with("of the whole grid empty: is one missing?"));
        succeeds(&folder, &format!("diff --exact whole.{format} joined.{format}"));
        // An .nvdb holds the mean colour of its grid as the colour of empty voxels, and a tile's is
        // its own: `diff --exact` above has compared the voxels.
        let read = |name: &str| fs::read(folder.join(format!("{name}.{format}"))).unwrap();
        assert!(format == "nvdb" || read("whole") == read("joined"), "{options}");
        fs::remove_dir_all(folder.join("tiles")).unwrap();
    }
}

/// How large holes are is not known in a tile, so `--strict` cannot pass it.
#[test]
fn strict_refuses_a_tile_whose_holes_it_cannot_judge() {
    let folder = folder();
    // The lower half of an octahedron, open at the top.
    let bowl =
        "v 1 0 0\nv 0 0 1\nv -1 0 0\nv 0 0 -1\nv 0 -1 0\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n";
    folder.write("bowl.obj", bowl);
    let run = |args: &str, code| exits(&folder, &format!("{args} --mode solid --json"), code);
    let whole = run("bowl.obj --res 32 --strict -o whole.npz", 1);
    assert_eq!(json_lines(&whole)[0]["fill"]["doubts"][0]["kind"], "uncertain");
    for tile in ["1/2", "2/2"] {
        let tile = run(&format!("bowl.obj --res 32 --strict --tile {tile} -o tile.npz"), 1);
        assert!(stderr(&tile).contains("a tile does not show whether they are large"));
        assert_eq!(json_lines(&tile)[0]["fill"]["doubts"][0]["kind"], "unjudged");
        assert!(!folder.join("tile.npz").exists());
    }
    // Nothing is doubtful in a tile without an inside, or of a closed mesh.
    let empty = run("bowl.obj --res 32 --pad 8 --strict --tile 1/1x4x1", 0);
    assert_eq!(json(&empty)["occupied"], 0);
    run(&format!("{LIGHTHOUSE} --res 32 --strict --tile 1/2"), 0);
}

#[test]
fn tiles_that_are_padded_to_cubes_are_not_joined() {
    let folder = folder();
    for number in [1, 2] {
        let args = format!("mesh.obj --res 64 --tile {number}/2 -o {number}.binvox -q");
        succeeds(&folder, &args);
    }
    refuses(&folder, "join 1.binvox 2.binvox -o both.npz", ".binvox pads them");
}

#[test]
fn tiles_with_other_up_axes_are_not_joined() {
    let folder = folder();
    for (number, up) in [(1, "y"), (2, "z")] {
        let args = format!("mesh.obj --res 32 --tile {number}/2 --up {up} -o {up}.npz -q");
        succeeds(&folder, &args);
    }
    fails(&folder, "join y.npz z.npz -o both.npz", "up axis");
}

#[test]
fn a_tile_says_where_it_lies_and_of_which_lattice() {
    let folder = folder();
    let tile = json_of(&folder, "mesh.obj --res 1048576 --tile 1/2048x2048x512 --json -q");
    assert_eq!(tile["tile"], serde_json::json!({"from": [0, 0, 0], "to": [512, 512, 512]}));
    assert_eq!(tile["dims"], serde_json::json!([512, 512, 512]));
    assert_eq!(tile["lattice"]["dims"], serde_json::json!([1048576, 1048576, 262144]));
    assert_eq!(tile["lattice"]["fraction_bits"], 4);
    says(&folder, "mesh.obj --res 64 --tile 2/2 -v", "from voxel (32, 0, 0) of 64 x 64 x 16");
}

#[test]
fn the_interior_of_a_tile_without_a_colour_is_said_to_differ() {
    let folder = folder();
    let said = |more: &str| {
        let args = format!("{LIGHTHOUSE} --res 60 --mode solid -o a.npz {more}");
        stderr(&voxelize(&folder, &args))
    };
    assert!(said("--tile 2/4").contains("--interior-color"));
    assert!(!said("--tile 2/4 --interior-color #fff").contains("--interior-color"));
    assert!(!said("").contains("--interior-color"));
}

#[test]
fn a_lattice_of_one_run_places_the_meshes_of_others() {
    let folder = with_meshes(2);
    let first = voxelize(&folder, "0.obj --res 40 --json -q --pad 3");
    folder.write("run.json", &first.stdout);
    folder.write("lattice.json", json(&first)["lattice"].to_string());
    for file in ["run.json", "lattice.json"] {
        let again = voxelize(&folder, &format!("0.obj --lattice {file} --json -q"));
        assert_eq!(json(&again)["hash"], json(&first)["hash"]);
        let other = voxelize(&folder, &format!("1.obj --lattice {file} --json -q"));
        assert_eq!(json(&other)["lattice"], json(&first)["lattice"]);
    }
    folder.write("short.json", r#"{"lattice": {"dims": [8, 8, 8]}}"#);
    let wrong =
        json(&first)["lattice"].to_string().replace("\"fraction_bits\":", "\"fraction_bits\":9");
    folder.write("wrong.json", wrong);
    for (file, complaint) in [
        ("short.json", "short.json: is not a lattice as --json prints it"),
        ("wrong.json", "fraction_bits is not from 4 to 16"),
        ("0.obj", "0.obj: is not one JSON object"),
        ("gone.json", "gone.json"),
    ] {
        refuses(&folder, &format!("0.obj --lattice {file}"), complaint);
    }
    fails(&folder, "0.obj --lattice run.json --res 8", "cannot be used with");
}

#[test]
fn tiles_that_cannot_be_are_refused() {
    let folder = folder();
    folder.write("tetrahedron.obj", include_str!("../../assets/tetrahedron.obj"));
    voxelize(&folder, "mesh.obj --res 64 --tile 1/2 -o a.npz -q");
    voxelize(&folder, "mesh.obj --res 64 --tile 2/2 -o second.npz -q");
    voxelize(&folder, "mesh.obj --res 64 --tile 1/2 --color red -o red.npz -q");
    voxelize(&folder, "mesh.obj --res 64 --tile 1/2 -o a.npy -q");
    voxelize(&folder, "mesh.obj --res 40 -o b.npz -q");
    for (args, complaint) in [
        ("mesh.obj --res 64 --tile 1/9x1x1", "the grid has 8 bricks of 8 voxels there"),
        ("mesh.obj --res 1048577 --tile 1/2", "in tiles up to 1,048,576"),
        ("mesh.obj --res 1048576 --tile 1/2", "use more tiles"),
        ("mesh.obj --res 70000", "in tiles up to 1,048,576"),
        ("mesh.obj --res 8 --interior-color red", "--interior-color is for solids"),
        ("tetrahedron.obj --res 64 --mode solid --fill flood --tile 1/2", "use the fill winding"),
        (
            "join a.npz a.npz -o c.npz",
            "overlap at voxel (0, 0, 0), but tiles of one grid do not: to combine several meshes, \
             put them into one file as objects",
        ),
        (
            "join a.npz second.npz a.npz -o c.npz",
            "tiles of one: a.npz and a.npz: two grids overlap",
        ),
        ("join a.npz second.npz b.npz -o c.npz", "tiles of one: a.npz and b.npz: a tile is not on"),
        ("join red.npz second.npz -o c.npz", "tiles of one: second.npz: some tiles have colours"),
        ("join a.npy -o c.npz", "a.npy: does not say where it lies"),
        ("join a.npz -o a.npz", "a.npz"),
    ] {
        refuses(&folder, args, complaint);
    }
    for (tile, complaint) in [("3/2", "no tile 3 of 2"), ("half", "write I/N or I/XxYxZ")] {
        fails(&folder, &format!("mesh.obj --res 64 --tile {tile}"), complaint);
    }
}
