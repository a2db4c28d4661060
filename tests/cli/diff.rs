//! `voxelize diff`: what it prints, and its exit codes.

use super::*;

/// A folder with a mesh and the grids `a.npy` and `b.npy`.
fn with_grids(
    (a_dims, a): ([u32; 3], &[[u32; 3]]),
    (b_dims, b): ([u32; 3], &[[u32; 3]]),
) -> Folder {
    let folder = folder();
    for (name, dims, voxels) in [("a.npy", a_dims, a), ("b.npy", b_dims, b)] {
        let grid = VoxelGrid::from_voxels(dims, voxels.iter().copied()).unwrap();
        folder.write_grid(name, &grid);
    }
    folder
}

#[test]
fn equal_grids_are_equal_across_formats() {
    let folder = folder();
    for file in ["a.vox", "a.npy"] {
        folder.succeeds(format!("mesh.obj --res 21 -o {file}"));
    }
    let json = folder.json("diff a.vox a.npy");
    assert_eq!((&json["equal"], &json["iou"]), (&true.into(), &1.0.into()));
    assert_eq!(json["a"]["hash"], json["b"]["hash"]);
    assert_eq!(json["bounds"], Value::Null);
    let output = folder.succeeds("diff a.vox a.npy");
    let verdict = "verdict   equal voxels, but only A has a place\n";
    assert!(stdout(&output).ends_with(verdict), "{}", stdout(&output));
    assert!(output.stderr.is_empty());
}

#[test]
fn differences_are_counted_and_located() {
    let a = [[0, 0, 0], [1, 2, 3], [9, 8, 7]];
    let folder = with_grids(([10; 3], &a), ([10; 3], &[[1, 2, 3], [4, 9, 1]]));
    let (json, code) = folder.report("diff a.npy b.npy");
    assert_eq!(code, Some(1));
    assert_eq!([&json["both"], &json["only_a"], &json["only_b"]], [1, 2, 1]);
    assert_eq!(json["iou"], 0.25);
    assert_eq!(json["bounds"], json!([[0, 0, 0], [9, 9, 7]]));
    let voxels = json!([
        { "voxel": [0, 0, 0], "only_in": "A" },
        { "voxel": [4, 9, 1], "only_in": "B" },
        { "voxel": [9, 8, 7], "only_in": "A" },
    ]);
    assert_eq!(json["voxels"], voxels);
    let text = stdout(&folder.exits("diff a.npy b.npy", 1));
    for part in ["only in A 2 voxels", "(4, 9, 1) only in B", "0.250000", "from (0, 0, 0) to"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.ends_with("verdict   different voxels\n"), "{text}");
    let quiet = folder.exits("diff -q a.npy b.npy", 1);
    assert_eq!((quiet.stdout, quiet.stderr), (vec![], vec![]));
}

#[test]
fn different_dimensions_are_a_difference() {
    let folder = with_grids(([4; 3], &[[1; 3]]), ([4, 5, 4], &[[1; 3]]));
    let text = stdout(&folder.exits("diff a.npy b.npy", 1));
    assert!(text.ends_with("verdict   different dimensions, the same voxels\n"), "{text}");
    let (json, _) = folder.report("diff a.npy b.npy");
    assert_eq!((&json["equal"], &json["iou"]), (&false.into(), &1.0.into()));
}

#[test]
fn what_differs_besides_voxels_is_said_and_counts_only_where_that_is_asked_for() {
    let folder = folder();
    folder.write("far.obj", MESH.replace("v 0 ", "v 8 ").replace("v 4 ", "v 12 "));
    folder.write("back.obj", MESH.replace("f 1 2 3 4", "f 4 3 2 1"));
    // Their colours are not known when they are read.
    folder.write("a.txt", "own:a #ff0000\n");
    folder.write("b.txt", "own:b #ff0000\n");
    for args in [
        "mesh.obj -o mesh.vox",
        "far.obj -o far.vox",
        "mesh.obj -o mesh.npy",
        "mesh.obj -o green.bricks --color #00FF00",
        "mesh.obj -o red.bricks --color #FF0000",
        "mesh.obj -o one.npz --attributes normal,label",
        "back.obj -o back.npz --attributes normal,area",
        "mesh.obj -o a.schem --color red --blocks a.txt",
        "mesh.obj -o b.schem --color red --blocks b.txt",
    ] {
        folder.succeeds(format!("{args} --res 8"));
    }
    for (grids, verdict) in [
        ("mesh.vox far.vox", "equal voxels, but places: A has voxels of 0.5 from (0, 0, 0), B"),
        ("mesh.vox mesh.npy", "only A has a place"),
        ("green.bricks red.bricks", "voxels of other colours"),
        ("mesh.npy red.bricks", "only B has colours"),
        ("one.npz back.npz", "voxels of another normal"),
        ("one.npz back.npz", "only A has label"),
        ("one.npz back.npz", "only B has area"),
        ("a.schem b.schem", "other blocks"),
    ] {
        let text = folder.printed(format!("diff {grids}"));
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("verdict   equal voxels, but "), "{last}");
        assert!(last.contains(verdict) && !last.contains("names"), "{last}");
        folder.exits(format!("diff --exact {grids}"), 1);
    }
    for grid in ["red.bricks", "one.npz", "a.schem"] {
        folder.succeeds(format!("diff --exact {grid} {grid}"));
    }
}

#[test]
fn a_picture_shows_which_grid_has_what() {
    let a = [[0, 0, 0], [1, 0, 0], [2, 0, 0]];
    let folder = with_grids(([3, 1, 1], &a), ([5, 2, 1], &[[1, 0, 0], [4, 0, 0]]));
    let text = stdout(&folder.exits("diff a.npy b.npy --preview d.png", 1));
    let drew = "drew      d.png: in both grey, only in A orange, only in B blue\n";
    assert!(text.contains(drew), "{text}");
    let picture = folder.picture("d.png");
    let count = |is: fn([i32; 3]) -> bool| {
        picture.pixels().filter(|pixel| is(pixel.0.map(i32::from))).count()
    };
    let orange = count(|[r, g, b]| r > 120 && r > g + 60 && g > b);
    let blue = count(|[r, g, b]| b > 90 && b > r + 60 && b > g);
    assert!(orange > 2_500 && blue > 1_250 && orange > blue, "{orange}, {blue}");
    let (json, code) = folder.report("diff b.npy a.npy --preview e.png -q");
    assert_eq!((code, &json["preview"]), (Some(1), &"e.png".into()));
    assert!(folder.picture("e.png") != picture);
    assert!(folder.report("diff b.npy a.npy").0.get("preview").is_none());
}

#[test]
fn voxels_that_differ_show_through_those_that_agree() {
    // A hollow cube, and one with a block in it.
    let is_inner = |voxel: &[u32; 3], by: u32| voxel.iter().all(|c| (by..16 - by).contains(c));
    let cells = (0..16 * 16 * 16).map(|n| [n % 16, n / 16 % 16, n / 256]);
    let (shell, inside): (Vec<_>, Vec<_>) = cells.partition(|voxel| !is_inner(voxel, 1));
    let block = inside.into_iter().filter(|voxel| is_inner(voxel, 6));
    let filled: Vec<_> = shell.iter().copied().chain(block).collect();
    let folder = with_grids(([16; 3], &shell), ([16; 3], &filled));
    for (grids, is_shown) in [("a.npy b.npy", true), ("a.npy a.npy", false)] {
        folder.exits(format!("diff {grids} --preview d.png"), i32::from(is_shown));
        let picture = folder.picture("d.png");
        let blue = picture.pixels().filter(|pixel| pixel[2] > pixel[0].saturating_add(60)).count();
        assert_eq!(blue > 1_000, is_shown, "{grids}: {blue}");
    }
}

#[cfg(unix)]
#[test]
fn a_difference_counts_though_nobody_reads_it() {
    let folder = with_grids(([4; 3], &[]), ([4; 3], &[[1; 3]]));
    for args in ["diff a.npy b.npy", "diff a.npy b.npy --json", "verify mesh.obj a.npy"] {
        // A pipe whose reader is gone before there is anything to write.
        let run = folder.bash(format!("(sleep 0.3; {VOXELIZE} {args}; echo $? >&2) | true"));
        assert_eq!(stderr(&run), "1\n", "{args}");
    }
}

#[test]
fn unreadable_grids_exit_with_2_and_a_picture_of_nothing_is_said() {
    let folder = with_grids(([4; 3], &[]), ([4; 3], &[]));
    folder.each("diff _").refuses(&[
        ("a.npy gone.npy", "gone.npy: No such file"),
        ("old.npy a.npy", "old.npy: "),
        ("a.npy .", ".: is a folder"),
        ("a.npy a.npy --preview d.jpg", "d.jpg: unknown file extension '.jpg': pictures are"),
        ("a.npy a.npy --preview gone/d.png", "gone/d.png: there is no folder 'gone'"),
    ]);
    folder.exits("diff a.npy", 2);
    let warning = "warning: no voxel is occupied: the picture is empty";
    folder.says("diff a.npy a.npy --preview d.png", warning);
}

#[cfg(unix)]
#[test]
fn a_picture_never_replaces_a_grid_that_is_read() {
    let folder = with_grids(([4; 3], &[]), ([4; 3], &[]));
    for name in ["a", "b"] {
        let link = format!("to_{name}.png");
        std::os::unix::fs::symlink(format!("{name}.npy"), folder.join(&link)).unwrap();
        let complaint = format!("{link}: would overwrite an input");
        folder.refuses(format!("diff a.npy b.npy --preview {link}"), &complaint);
    }
}

#[test]
fn distances_are_not_called_equal() {
    let folder = Folder::new();
    folder.write("cube.obj", cube(0.0, 1.0));
    for (width, files) in [
        (2, ["a.npz", "c.vdb", "e.nvdb", "again.npz", "again.vdb", "again.nvdb"].as_slice()),
        (3, &["b.npz", "d.vdb", "f.nvdb"]),
    ] {
        for file in files {
            folder.succeeds(format!("cube.obj --res 8 --pad 3 --distance {width} -o {file}"));
        }
    }
    folder.succeeds("convert a.npz v.bricks");
    folder.succeeds("cube.obj --res 10 --pad 2 --distance 2 -o g.vdb");
    folder.succeeds("cube.obj --res 10 --pad 2 --distance 2 -o h.npz");
    let widths = "widths of bands: A has 2 voxels, B has 3\n";
    for (grids, differ, code) in [
        ("a.npz b.npz", widths, 1),
        ("c.vdb d.vdb", widths, 1),
        ("e.nvdb f.nvdb", widths, 1),
        ("a.npz d.vdb", widths, 1),
        ("a.npz v.bricks", "only A has distances", 1),
    ] {
        let text = folder.printed(format!("diff {grids}"));
        assert!(text.contains(&format!("verdict   equal voxels, but {differ}")), "{text}");
        folder.exits(format!("diff {grids} --exact -q"), code);
    }
    // A voxel is an eighth: files in mesh units have the same distances.
    for grids in ["a.npz again.npz", "c.vdb again.vdb", "e.nvdb again.nvdb", "a.npz c.vdb"] {
        let text = folder.printed(format!("diff {grids} --exact"));
        assert!(text.ends_with("verdict   equal\n"), "{text}");
    }
}
