//! `voxelize verify`: what it prints, and its exit codes.

use super::*;

#[test]
fn what_the_program_writes_is_right() {
    let folder = folder();
    for (options, file, by) in [
        ("--res 30", "a.vox", "file"),
        ("--res 30 --pad 2 --up z", "a.vox", "file"),
        ("--voxel-size 0.3", "a.vox", "file"),
        ("--res 30 --bounds -1,-1,-1,5,5,5", "a.vox", "file bounds"),
        ("--res 30 --rotate z:30 --scale 2 --center", "a.vox", "file"),
        ("--cube 30", "a.npy", "centre"),
        ("--cube 40 --res 30", "a.npz", "file bounds"),
        ("--res 30", "a.npy", "fit"),
        ("--res 30 --pad 1", "a.npy", "fit"),
    ] {
        folder.succeeds(format!("mesh.obj {options} -o {file}"));
        let transform = options.find("--rotate").map_or("", |at| &options[at..]);
        let json = folder.json(format!("verify mesh.obj {file} {transform}"));
        assert_eq!(
            (&json["equal"], &json["placed"]["by"]),
            (&true.into(), &by.into()),
            "{options}"
        );
        assert_eq!(json["exact"]["hash"], json["grid"]["hash"], "{options}");
        let options = options.replace(" --up z", "");
        let stated = folder.json(format!("verify mesh.obj {file} --as-placed {options}"));
        assert_eq!(stated["equal"], true, "{options}");
    }
    let text = folder.printed("verify mesh.obj a.npy --backend cpu");
    let fitted = "fitted to the grid, as no placement was given: as with --res 30 --pad 1";
    assert!(text.contains(fitted), "{text}");
    assert!(text.ends_with("verdict   right: every voxel is exact\n"), "{text}");
    folder.succeeds("mesh.obj --cube 40 --res 30 -o b.npy");
    let json = folder.json("verify mesh.obj b.npy --cube 40 --res 30");
    assert_eq!([&json["missing"], &json["spurious"]], [0, 0]);
}

#[test]
fn faults_are_listed_with_their_places() {
    let folder = folder();
    let (gone, added) = ([0; 3], [0, 15, 0]);
    let faults = json!([
        { "voxel": gone, "position": [0.125, 0.125, 0.125], "fault": "missing" },
        { "voxel": added, "position": [0.125, 3.875, 0.125], "fault": "spurious" },
    ]);
    for file in ["a.vox", "a.npy"] {
        folder.succeeds(format!("mesh.obj --res 16 -o {file}"));
        let grid = folder.grid(file);
        assert!(grid.contains(gone) && !grid.contains(added));
        let voxels = grid.voxels().filter(|&voxel| voxel != gone).chain([added]);
        let wrong = VoxelGrid::from_voxels(grid.dims(), voxels).unwrap().with_world(grid.world);
        folder.write_grid(file, &wrong);
        let (json, code) = folder.report(format!("verify mesh.obj {file}"));
        assert_eq!((code, &json["equal"]), (Some(1), &false.into()), "{json}");
        assert_eq!([&json["missing"], &json["spurious"]], [1, 1]);
        assert_eq!(json["voxels"], faults);
        assert!(json["hint"].is_null(), "two voxels are no other mode: {json}");
    }
    let text = stdout(&folder.exits("verify mesh.obj a.vox", 1));
    let missing = "(0, 0, 0) missing, at (0.125, 0.125, 0.125)";
    assert!(text.contains(missing), "{text}");
    assert!(text.ends_with("verdict   wrong: 1 voxel missing and 1 spurious\n"), "{text}");
    let quiet = folder.exits("verify -q mesh.obj a.vox", 1);
    assert_eq!((quiet.stdout, quiet.stderr), (vec![], vec![]));
}

#[test]
fn thin_and_solid_grids_are_judged_by_their_mode_and_another_one_is_hinted_at() {
    let folder = Folder::new();
    folder.write("solid.obj", tetrahedron(4));
    for (mode, file) in [("thin", "thin.vox"), ("solid", "solid.npy")] {
        folder.succeeds(format!("solid.obj --res 32 --mode {mode} -o {file}"));
        let json = folder.json(format!("verify solid.obj {file} --mode {mode}"));
        assert_eq!(json["equal"], true, "{json}");
        assert_eq!(json.get("fill").is_some(), mode == "solid", "{json}");
        // Judged as the surface, it is wrong.
        let text = stdout(&folder.exits(format!("verify solid.obj {file}"), 1));
        assert!(text.contains("of another --mode"), "{text}");
    }
    let shell = "--res 8 --pad 1 --mode solid --shell";
    folder.succeeds(format!("solid.obj {shell} -o shell.vox"));
    folder.succeeds(format!("verify solid.obj shell.vox {shell}"));
}

#[test]
fn a_grid_that_lies_otherwise_is_said_to() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 16 -o a.npy");
    let grid = folder.grid("a.npy");
    let [nx, ny, nz] = grid.dims();
    let voxels = grid.voxels().map(|[x, y, z]| [x, ny - y, z]);
    folder.write_grid("b.npy", &VoxelGrid::from_voxels([nx, ny + 1, nz], voxels).unwrap());
    let text = folder.printed("verify mesh.obj b.npy --res 16");
    let moved = "as if the grid were mirrored in y and shifted by (0, 1, 0); as placed, ";
    assert!(text.contains(moved), "{text}");
    assert!(text.ends_with("right: every voxel is exact, aligned as said above\n"), "{text}");
    let as_placed = folder.exits("verify mesh.obj b.npy --res 16 --as-placed", 1);
    assert!(!stdout(&as_placed).contains("as if the grid were"));
    let alignment = &folder.json("verify mesh.obj b.npy --res 16")["alignment"];
    assert_eq!(alignment["mirrored"], json!([false, true, false]));
    assert_eq!(alignment["shift"], json!([0, 1, 0]));
}

#[test]
fn what_no_alignment_explains_is_said_in_plain_words() {
    let folder = folder();
    let grid = VoxelGrid::from_voxels([9, 9, 9], [[4, 4, 4], [1, 8, 3]]).unwrap();
    folder.write_grid("a.npy", &grid);
    for (options, fix) in
        [("", "state how, with --voxel-size and --bounds"), ("--res 9", "check the options")]
    {
        let text = stdout(&folder.exits(format!("verify mesh.obj a.npy {options}"), 1));
        assert!(text.contains(fix), "{text}");
    }
}

#[test]
fn options_that_contradict_the_file_are_a_warning() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 16 -o a.vox");
    let output = folder.exits("verify mesh.obj a.vox --res 20", 1);
    let warning = "warning: the grid's file says that it has voxels of 0.25 from (0, 0, 0);";
    assert!(stderr(&output).starts_with(warning), "{}", stderr(&output));
    assert_eq!(folder.said("verify mesh.obj a.vox --res 16"), "");
}

#[test]
fn what_cannot_be_judged_exits_with_2() {
    let folder = folder();
    folder.write_grid("a.npy", &VoxelGrid::empty([4, 4, 4]).unwrap());
    folder.each("verify mesh.obj _").refuses(&[
        ("old.npy", "old.npy: "),
        ("a.npy --res 0", "cannot place the mesh as the options say: 0 voxels"),
        ("a.npy --pad 2", "a padding of 2 on both sides leaves nothing of a grid of 4"),
        ("a.npy --backend cpu --adapter x", "leave one of them out"),
        ("a.npy --memory 1MiB", "or try --memory"),
    ]);
    for args in ["verify mesh.obj", "verify mesh.obj a.npy --res 4 --voxel-size 1"] {
        folder.exits(args, 2);
    }
}
