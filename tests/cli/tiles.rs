//! `--tile`, `--lattice` and `voxelize join`.

use super::*;

#[test]
fn tiles_joined_are_the_file_of_the_whole() {
    for (options, format) in
        [("--mode thin", "npz"), ("--mode solid --interior-color red --pad 1", "npz"), ("", "nvdb")]
    {
        let folder = Folder::new();
        let run = format!("{LIGHTHOUSE} --res 60 {options} --format {format} -q");
        folder.succeeds(format!("{run} -o whole.{format}"));
        let tiles = [1, 2, 3, 4, 5, 6].map(|number| {
            folder.succeeds(format!("{run} --tile {number}/3x2x1 -o tiles/"));
            format!("tiles/lighthouse.tile-{number}-of-3x2x1.{format}")
        });
        let joined = folder.json(format!("join {} -o joined.{format}", tiles.join(" ")));
        assert_eq!(joined["tiles"], 6);
        folder.succeeds(format!("diff --exact whole.{format} joined.{format}"));
        // An .nvdb holds the mean colour of its grid as the colour of empty voxels, and a tile's is
        // its own: `diff --exact` above has compared the voxels.
        let [whole, joined] =
            ["whole", "joined"].map(|name| folder.read(format!("{name}.{format}")));
        assert!(format == "nvdb" || whole == joined, "{options}");

        // Without the first or the last, with one of another mesh, and one without a number.
        let other = format!("other.tile-6-of-3x2x1.{format}");
        let nameless = format!("last.{format}");
        for copy in [&other, &nameless] {
            fs::copy(folder.join(&tiles[5]), folder.join(copy)).unwrap();
        }
        let five = tiles[..5].join(" ");
        let mixed = "is by its name a tile of another mesh or division than tiles/lighthouse";
        folder.each(&format!("join _ -o less.{format}")).refuses(&[
            (&five, "tile 6/3x2x1 is missing, by the names of the others"),
            (&tiles[5], "tile 1/3x2x1 is missing"),
            (&format!("{five} {other}"), &format!("{other}: {mixed}")),
        ]);
        let some = format!("join {} {nameless} -o less.{format}", tiles[..2].join(" "));
        let gap = &folder.json(some)["warnings"][0];
        assert!(gap.as_str().unwrap().ends_with("of the whole grid empty: is one missing?"));
    }
}

/// How large holes are is not known in a tile, so `--strict` cannot pass it.
#[test]
fn strict_refuses_a_tile_whose_holes_it_cannot_judge() {
    let folder = Folder::new();
    // The lower half of an octahedron, open at the top.
    let bowl =
        "v 1 0 0\nv 0 0 1\nv -1 0 0\nv 0 0 -1\nv 0 -1 0\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n";
    folder.write("bowl.obj", bowl);
    let strict = "bowl.obj --res 32 --mode solid --strict";
    for (tile, kind) in [("", "uncertain"), ("--tile 1/2", "unjudged"), ("--tile 2/2", "unjudged")]
    {
        let run = folder.exits(format!("{strict} {tile} -o a.npz --json"), 1);
        assert_eq!(json_lines(&run)[0]["fill"]["doubts"][0]["kind"], kind);
        let unjudged = stderr(&run).contains("a tile does not show whether they are large");
        assert_eq!(unjudged, kind == "unjudged", "{}", stderr(&run));
        assert!(!folder.join("a.npz").exists());
    }
    // Nothing is doubtful in a tile without an inside, or of a closed mesh.
    assert_eq!(folder.json(format!("{strict} --pad 8 --tile 1/1x4x1"))["occupied"], 0);
    folder.succeeds(format!("{LIGHTHOUSE} --res 32 --mode solid --strict --tile 1/2"));
}

#[test]
fn a_tile_says_where_it_lies_and_of_which_lattice() {
    let folder = folder();
    let tile = folder.json("mesh.obj --res 1048576 --tile 1/2048x2048x512");
    assert_eq!(tile["tile"], json!({"from": [0, 0, 0], "to": [512, 512, 512]}));
    assert_eq!(tile["dims"], json!([512, 512, 512]));
    assert_eq!(tile["lattice"]["dims"], json!([1048576, 1048576, 262144]));
    assert_eq!(tile["lattice"]["fraction_bits"], 4);
    folder.says("mesh.obj --res 64 --tile 2/2 -v", "from voxel (32, 0, 0) of 64 x 64 x 16");
}

#[test]
fn the_interior_of_a_tile_without_a_colour_is_said_to_differ() {
    let folder = Folder::new();
    for (more, is_said) in
        [("--tile 2/4", true), ("--tile 2/4 --interior-color #fff", false), ("", false)]
    {
        let said = folder.said(format!("{LIGHTHOUSE} --res 60 --mode solid -o a.npz {more}"));
        assert_eq!(said.contains("--interior-color"), is_said, "{more}: {said}");
    }
}

#[test]
fn a_lattice_of_one_run_places_the_meshes_of_others() {
    let folder = with_meshes(2);
    let first = folder.json("0.obj --res 40 --pad 3");
    let lattice = first["lattice"].to_string();
    folder.write("run.json", first.to_string());
    folder.write("lattice.json", &lattice);
    for file in ["run.json", "lattice.json"] {
        assert_eq!(folder.json(format!("0.obj --lattice {file}"))["hash"], first["hash"]);
        assert_eq!(folder.json(format!("1.obj --lattice {file}"))["lattice"], first["lattice"]);
    }
    folder.write("short.json", r#"{"lattice": {"dims": [8, 8, 8]}}"#);
    folder.write("wrong.json", lattice.replace("\"fraction_bits\":", "\"fraction_bits\":9"));
    folder.each("0.obj --lattice _").refuses(&[
        ("short.json", "short.json: is not a lattice as --json prints it"),
        ("wrong.json", "fraction_bits is not from 4 to 16"),
        ("gone.json", "gone.json"),
    ]);
    folder.fails("0.obj --lattice run.json --res 8", "cannot be used with");
}

#[test]
fn tiles_that_cannot_be_are_refused() {
    let folder = folder();
    folder.write("solid.obj", tetrahedron(1));
    for args in [
        "--res 64 --tile 1/2 -o a.npz",
        "--res 64 --tile 2/2 -o second.npz",
        "--res 64 --tile 1/2 --color red -o red.npz",
        "--res 64 --tile 1/2 -o a.npy",
        "--res 64 --tile 2/2 --up z -o z.npz",
        "--res 64 --tile 1/2 -o 1.binvox",
        "--res 64 --tile 2/2 -o 2.binvox",
        "--res 40 -o b.npz",
    ] {
        folder.succeeds(format!("mesh.obj {args}"));
    }
    let overlap = "overlap at voxel (0, 0, 0), but tiles of one grid do not: to combine several \
                   meshes, voxelize them together with --label file";
    folder.each("_").refuses(&[
        ("mesh.obj --res 64 --tile 1/9x1x1", "the grid has 8 bricks of 8 voxels there"),
        ("mesh.obj --res 1048577 --tile 1/2", "in tiles up to 1,048,576"),
        ("mesh.obj --res 1048576 --tile 1/2", "use more tiles"),
        ("mesh.obj --res 70000", "in tiles up to 1,048,576"),
        ("mesh.obj --res 8 --interior-color red", "--interior-color is for solids"),
        ("solid.obj --res 64 --mode solid --fill flood --tile 1/2", "use the fill winding"),
    ]);
    folder.each("join _ -o c.npz").refuses(&[
        ("a.npz a.npz", overlap),
        ("a.npz second.npz a.npz", "tiles of one: a.npz and a.npz: two grids overlap"),
        ("a.npz second.npz b.npz", "tiles of one: a.npz and b.npz: a tile is not on"),
        ("red.npz second.npz", "tiles of one: second.npz: some tiles have colours"),
        ("a.npy", "a.npy: does not say where it lies"),
        ("1.binvox 2.binvox", ".binvox pads them"),
    ]);
    folder.fails("join a.npz z.npz -o c.npz", "up axis");
    folder
        .each("mesh.obj --res 64 --tile _")
        .fails(&[("3/2", "no tile 3 of 2"), ("half", "write I/N or I/XxYxZ")]);
}
