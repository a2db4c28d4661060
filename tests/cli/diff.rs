//! `voxelize diff`: what it prints, and its exit codes.

use super::*;

#[test]
fn equal_grids_are_equal_across_formats() {
    let folder = folder();
    for file in ["a.vox", "a.npy"] {
        succeeds(&folder, &format!("mesh.obj --res 21 -o {file}"));
    }
    let (json, code) = report(&folder, "diff a.vox a.npy --json");
    assert_eq!((code, &json["equal"], &json["iou"]), (Some(0), &true.into(), &1.0.into()));
    assert_eq!(json["a"]["hash"], json["b"]["hash"]);
    assert_eq!(json["bounds"], serde_json::Value::Null);
    let output = voxelize(&folder, "diff a.vox a.npy");
    let verdict = "verdict   equal voxels, but only A has a place\n";
    assert!(stdout(&output).ends_with(verdict), "{}", stdout(&output));
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn differences_are_counted_and_located() {
    let folder = folder();
    let a = [[0, 0, 0], [1, 2, 3], [9, 8, 7]];
    write_grid(&folder, "a.npy", &VoxelGrid::from_voxels([10, 10, 10], a).unwrap());
    let b = [[1, 2, 3], [4, 9, 1]];
    write_grid(&folder, "b.npy", &VoxelGrid::from_voxels([10, 10, 10], b).unwrap());
    let (json, code) = report(&folder, "diff a.npy b.npy --json");
    assert_eq!(code, Some(1));
    assert_eq!([&json["both"], &json["only_a"], &json["only_b"]], [1, 2, 1]);
    assert_eq!(json["iou"], 0.25);
    assert_eq!(json["bounds"], serde_json::json!([[0, 0, 0], [9, 9, 7]]));
    let voxels = serde_json::json!([
        { "voxel": [0, 0, 0], "only_in": "A" },
        { "voxel": [4, 9, 1], "only_in": "B" },
        { "voxel": [9, 8, 7], "only_in": "A" },
    ]);
    assert_eq!(json["voxels"], voxels);
    let text = stdout(&voxelize(&folder, "diff a.npy b.npy"));
    for part in ["only in A 2 voxels", "(4, 9, 1) only in B", "0.250000", "from (0, 0, 0) to"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.ends_with("verdict   different voxels\n"), "{text}");
    let quiet = voxelize(&folder, "diff -q a.npy b.npy");
    assert_eq!((quiet.status.code(), quiet.stdout, quiet.stderr), (Some(1), vec![], vec![]));
}

#[test]
fn different_dimensions_are_a_difference() {
    let folder = folder();
    write_grid(&folder, "a.npy", &VoxelGrid::from_voxels([4, 4, 4], [[1, 1, 1]]).unwrap());
    write_grid(&folder, "b.npy", &VoxelGrid::from_voxels([4, 5, 4], [[1, 1, 1]]).unwrap());
    let text = stdout(&exits(&folder, "diff a.npy b.npy", 1));
    assert!(text.ends_with("verdict   different dimensions, the same voxels\n"), "{text}");
    let (json, code) = report(&folder, "diff a.npy b.npy --json");
    assert_eq!((code, &json["equal"], &json["iou"]), (Some(1), &false.into(), &1.0.into()));
}

#[test]
fn what_differs_besides_voxels_is_said_and_counts_only_where_that_is_asked_for() {
    let folder = folder();
    folder.write("far.obj", MESH.replace("v 0 ", "v 8 ").replace("v 4 ", "v 12 "));
    for args in [
        "mesh.obj --res 8 -o mesh.vox",
        "far.obj --res 8 -o far.vox",
        "mesh.obj --res 8 -o mesh.npy",
        "mesh.obj --res 8 -o green.bricks --color #00FF00",
        "mesh.obj --res 8 -o red.bricks --color #FF0000",
    ] {
        succeeds(&folder, args);
    }
    for (grids, verdict) in [
        ("mesh.vox far.vox", "equal voxels, but places: A has voxels of 0.5 from (0, 0, 0), B"),
        ("mesh.vox mesh.npy", "only A has a place"),
        ("green.bricks red.bricks", "voxels of other colours"),
        ("mesh.npy red.bricks", "only B has colours"),
    ] {
        let text = stdout(&succeeds(&folder, &format!("diff {grids}")));
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("verdict   equal voxels, but "), "{last}");
        assert!(last.contains(verdict), "{last}");
        exits(&folder, &format!("diff --exact {grids}"), 1);
    }
    succeeds(&folder, "diff --exact red.bricks red.bricks");
    let attributes = "mesh.obj --res 8 --attributes normal,label -o";
    succeeds(&folder, &format!("{attributes} one.npz"));
    folder.write("back.obj", MESH.replace("f 1 2 3 4", "f 4 3 2 1"));
    succeeds(&folder, "back.obj --res 8 --attributes normal,area -o back.npz");
    let text = stdout(&exits(&folder, "diff --exact one.npz back.npz", 1));
    for part in ["voxels of another normal", "only A has label", "only B has area"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("names"), "{text}");
    succeeds(&folder, "diff --exact one.npz one.npz");
}

#[test]
fn a_picture_shows_which_grid_has_what() {
    let folder = folder();
    let row = |voxels: &[u32], dims| {
        VoxelGrid::from_voxels(dims, voxels.iter().map(|&x| [x, 0, 0])).unwrap()
    };
    write_grid(&folder, "a.npy", &row(&[0, 1, 2], [3, 1, 1]));
    write_grid(&folder, "b.npy", &row(&[1, 4], [5, 2, 1]));
    let text = stdout(&exits(&folder, "diff a.npy b.npy --preview d.png", 1));
    let drew = "drew      d.png: in both grey, only in A orange, only in B blue\n";
    assert!(text.contains(drew), "{text}");
    let picture = image::open(folder.join("d.png")).unwrap().to_rgb8();
    let count = |is: fn([i32; 3]) -> bool| {
        picture.pixels().filter(|pixel| is(pixel.0.map(i32::from))).count()
    };
    let orange = count(|[r, g, b]| r > 120 && r > g + 60 && g > b);
    let blue = count(|[r, g, b]| b > 90 && b > r + 60 && b > g);
    assert!(orange > 2_500 && blue > 1_250 && orange > blue, "{orange}, {blue}");
    // The legend: squares of the three colours at the bottom.
    let bottom = |color: [u8; 3]| picture.rows().nth(494).unwrap().filter(|p| p.0 == color).count();
    assert_eq!([[208, 208, 204], [213, 94, 0], [0, 114, 178]].map(bottom), [12; 3]);
    let (json, code) = report(&folder, "diff b.npy a.npy --json --preview e.png -q");
    assert_eq!((code, &json["preview"]), (Some(1), &"e.png".into()));
    let swapped = image::open(folder.join("e.png")).unwrap().to_rgb8();
    assert!(swapped.as_raw() != picture.as_raw());
    let (json, _) = report(&folder, "diff b.npy a.npy --json");
    assert!(json.get("preview").is_none());
}

#[test]
fn voxels_that_differ_show_through_those_that_agree() {
    let folder = folder();
    // A hollow cube, and one with a block in it.
    let is_inner = |voxel: [u32; 3], by: u32| voxel.iter().all(|&c| (by..16 - by).contains(&c));
    let cells = (0..16 * 16 * 16).map(|n| [n % 16, n / 16 % 16, n / 256]);
    let shell: Vec<[u32; 3]> = cells.clone().filter(|&voxel| !is_inner(voxel, 1)).collect();
    let block = cells.filter(|&voxel| is_inner(voxel, 6));
    let filled = shell.iter().copied().chain(block);
    write_grid(&folder, "a.npy", &VoxelGrid::from_voxels([16; 3], shell.clone()).unwrap());
    write_grid(&folder, "b.npy", &VoxelGrid::from_voxels([16; 3], filled).unwrap());
    for (grids, is_shown) in [("a.npy b.npy", true), ("a.npy a.npy", false)] {
        voxelize(&folder, &format!("diff {grids} --preview d.png"));
        let picture = image::open(folder.join("d.png")).unwrap().to_rgb8();
        let blue = picture.pixels().filter(|pixel| pixel[2] > pixel[0].saturating_add(60)).count();
        assert_eq!(blue > 1_000, is_shown, "{grids}: {blue}");
    }
}

#[test]
fn the_picture_of_empty_grids_is_said_to_be_empty() {
    let folder = folder();
    write_grid(&folder, "a.npy", &VoxelGrid::empty([4, 4, 4]).unwrap());
    let warning = "warning: no voxel is occupied: the picture is empty";
    says(&folder, "diff a.npy a.npy --preview d.png", warning);
}

#[cfg(unix)]
#[test]
fn a_difference_counts_though_nobody_reads_it() {
    let folder = folder();
    write_grid(&folder, "a.npy", &VoxelGrid::empty([4, 4, 4]).unwrap());
    write_grid(&folder, "b.npy", &VoxelGrid::from_voxels([4, 4, 4], [[1, 1, 1]]).unwrap());
    for args in ["diff a.npy b.npy", "diff a.npy b.npy --json", "verify mesh.obj a.npy"] {
        // A pipe whose reader is gone before there is anything to write.
        let script = format!("(sleep 0.3; {VOXELIZE} {args}; echo $? >&2) | true");
        let run = bash(&folder, &script);
        assert_eq!(stderr(&run), "1\n", "{args}");
    }
}

#[test]
fn unreadable_grids_exit_with_2() {
    let folder = folder();
    write_grid(&folder, "a.npy", &VoxelGrid::empty([4, 4, 4]).unwrap());
    for (args, complaint) in [
        ("diff a.npy gone.npy", "gone.npy: No such file"),
        ("diff old.npy a.npy", "old.npy: "),
        ("diff a.npy mesh.obj", "mesh.obj: is a mesh: voxelize it first"),
        ("diff a.npy .", ".: is a folder"),
        ("diff a.npy a.npy --preview d.jpg", "d.jpg: unknown file extension '.jpg': pictures are"),
        ("diff a.npy a.npy --preview gone/d.png", "gone/d.png: there is no folder 'gone'"),
    ] {
        refuses(&folder, args, complaint);
    }
    exits(&folder, "diff a.npy", 2);
}

#[cfg(unix)]
#[test]
fn a_picture_never_replaces_a_grid_that_is_read() {
    let folder = folder();
    for name in ["a.npy", "b.npy"] {
        let _ = fs::remove_file(folder.join("link.png"));
        std::os::unix::fs::symlink(name, folder.join("link.png")).unwrap();
        for name in ["a.npy", "b.npy"] {
            write_grid(&folder, name, &VoxelGrid::empty([4, 4, 4]).unwrap());
        }
        let complaint = "link.png: would overwrite an input";
        refuses(&folder, "diff a.npy b.npy --preview link.png", complaint);
    }
}

#[test]
fn distances_are_not_called_equal() {
    let folder = Folder::new();
    folder.write("cube.obj", include_str!("../../assets/cube.obj"));
    for (width, file) in [(2, "a.npz"), (3, "b.npz"), (2, "c.vdb")] {
        let args = format!("cube.obj --res 8 --pad 3 --distance {width} -o {file}");
        succeeds(&folder, &args);
    }
    for file in ["d.vdb", "e.nvdb", "f.nvdb"] {
        let width = if file == "e.nvdb" { 2 } else { 3 };
        succeeds(&folder, &format!("cube.obj --res 8 --pad 3 --distance {width} -o {file}"));
    }
    let verdict = |of: &str| stdout(&succeeds(&folder, &format!("diff {of}")));
    for (of, differ) in [
        ("a.npz b.npz", "other distances"),
        ("c.vdb d.vdb", "other distances"),
        ("e.nvdb f.nvdb", "other distances"),
        ("a.npz c.vdb", "the distances of two formats are not compared"),
        ("a.npz v.npz", "only A has distances"),
    ] {
        if of.contains("v.npz") {
            succeeds(&folder, "convert a.npz v.npz");
        }
        let text = verdict(of);
        assert!(text.ends_with(&format!("verdict   equal voxels, but {differ}\n")), "{text}");
        let exit = if of == "a.npz c.vdb" { 2 } else { 1 };
        exits(&folder, &format!("diff {of} --exact -q"), exit);
    }
    for file in ["a.npz", "c.vdb", "e.nvdb"] {
        let again = format!("again.{}", &file[2..]);
        succeeds(&folder, &format!("cube.obj --res 8 --pad 3 --distance 2 -o {again}"));
        let text = stdout(&succeeds(&folder, &format!("diff {file} {again} --exact")));
        assert!(text.ends_with("verdict   equal\n"), "{text}");
    }
}
