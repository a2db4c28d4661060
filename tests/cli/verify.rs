//! `voxelize verify`: what it prints, and its exit codes.

use super::*;

/// The file's grid without one voxel and with one too many.
fn faulty(folder: &Folder, file: &str, gone: [u32; 3], added: [u32; 3]) {
    let grid = folder.grid(file);
    assert!(grid.contains(gone) && !grid.contains(added));
    let voxels = grid.voxels().filter(|&voxel| voxel != gone).chain([added]);
    let wrong = VoxelGrid::from_voxels(grid.dims(), voxels).unwrap().with_world(grid.world);
    write_grid(folder, file, &wrong);
}

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
        succeeds(&folder, &format!("mesh.obj {options} -o {file}"));
        let transform = options.find("--rotate").map_or("", |at| &options[at..]);
        let (json, code) = report(&folder, &format!("verify mesh.obj {file} --json {transform}"));
        assert_eq!((code, &json["equal"]), (Some(0), &true.into()), "{options}: {json}");
        assert_eq!(json["placed"]["by"], by, "{options}");
        assert_eq!(json["exact"]["hash"], json["grid"]["hash"], "{options}");
        let options = options.replace(" --up z", "");
        let stated = format!("verify mesh.obj {file} --as-placed --json {options}");
        assert_eq!(report(&folder, &stated).0["equal"], true, "{options}");
    }
    succeeds(&folder, "mesh.obj --cube 40 --res 30 -o b.npy");
    let (json, code) = report(&folder, "verify mesh.obj b.npy --cube 40 --res 30 --json");
    assert_eq!((code, &json["missing"], &json["spurious"]), (Some(0), &0.into(), &0.into()));
    let text = stdout(&voxelize(&folder, "verify mesh.obj a.npy --backend cpu"));
    let fitted = "fitted to the grid, as no placement was given: as with --res 30 --pad 1";
    assert!(text.contains(fitted), "{text}");
    assert!(text.ends_with("verdict   right: every voxel is exact\n"), "{text}");
}

#[test]
fn faults_are_listed_with_their_places() {
    let folder = folder();
    for file in ["a.vox", "a.npy"] {
        succeeds(&folder, &format!("mesh.obj --res 16 -o {file}"));
        faulty(&folder, file, [0; 3], [0, 15, 0]);
        let (json, code) = report(&folder, &format!("verify mesh.obj {file} --json"));
        assert_eq!((code, &json["equal"]), (Some(1), &false.into()), "{json}");
        let voxels = serde_json::json!([
            { "voxel": [0, 0, 0], "position": [0.125, 0.125, 0.125], "fault": "missing" },
            { "voxel": [0, 15, 0], "position": [0.125, 3.875, 0.125], "fault": "spurious" },
        ]);
        let counts = [&json["missing"], &json["spurious"]];
        assert_eq!((&json["voxels"], counts), (&voxels, [&1.into(); 2]));
    }
    let output = voxelize(&folder, "verify mesh.obj a.vox");
    let text = stdout(&output);
    for part in [
        "(0, 0, 0) missing, at (0.125, 0.125, 0.125)",
        "verdict   wrong: 1 voxel missing and 1 spurious\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let quiet = voxelize(&folder, "verify -q mesh.obj a.vox");
    assert_eq!((quiet.status.code(), quiet.stdout, quiet.stderr), (Some(1), vec![], vec![]));
}

#[test]
fn faults_in_thin_and_solid_grids_are_listed_and_another_mode_is_hinted_at() {
    let folder = folder();
    // A tetrahedron with its right angle at the origin.
    let corner = "v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    folder.write("solid.obj", corner);
    for (mode, file) in [("thin", "thin.vox"), ("solid", "solid.npy")] {
        let made = format!("solid.obj --res 32 --mode {mode} -o {file}");
        succeeds(&folder, &made);
        let judged = format!("verify solid.obj {file} --mode {mode} --json");
        let (json, code) = report(&folder, &judged);
        assert_eq!((code, &json["equal"]), (Some(0), &true.into()), "{json}");
        assert_eq!(json.get("fill").is_some(), mode == "solid", "{json}");
        // Judged as the surface, it is wrong.
        let text = stdout(&exits(&folder, &format!("verify solid.obj {file}"), 1));
        assert!(text.contains("of another --mode"), "{text}");

        let (gone, added) = ([1, 1, 1], [30, 30, 30]);
        let gone = if folder.grid(file).contains(gone) { gone } else { [0, 1, 1] };
        faulty(&folder, file, gone, added);
        let (json, code) = report(&folder, &judged);
        assert_eq!(code, Some(1), "{json}");
        let place = |[x, y, z]: [u32; 3]| [x, y, z].map(|c| (f64::from(c) + 0.5) / 8.0);
        let voxels = serde_json::json!([
            { "voxel": gone, "position": place(gone), "fault": "missing" },
            { "voxel": added, "position": place(added), "fault": "spurious" },
        ]);
        assert_eq!(json["voxels"], voxels, "{mode}");
        assert!(json["hint"].is_null(), "two voxels are no other mode: {json}");
    }
    let shell = "--res 8 --pad 1 --mode solid --shell";
    succeeds(&folder, &format!("solid.obj {shell} -o shell.vox"));
    succeeds(&folder, &format!("verify solid.obj shell.vox {shell}"));
}

#[test]
fn a_grid_that_lies_otherwise_is_said_to() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 16 -o a.npy");
    let grid = folder.grid("a.npy");
    let [nx, ny, nz] = grid.dims();
    let voxels = grid.voxels().map(|[x, y, z]| [x, ny - y, z]);
    write_grid(&folder, "b.npy", &VoxelGrid::from_voxels([nx, ny + 1, nz], voxels).unwrap());
    let text = stdout(&exits(&folder, "verify mesh.obj b.npy --res 16", 0));
    let moved = "as if the grid were mirrored in y and shifted by (0, 1, 0); as placed, ";
    assert!(text.contains(moved), "{text}");
    assert!(text.ends_with("right: every voxel is exact, aligned as said above\n"), "{text}");
    let as_placed = exits(&folder, "verify mesh.obj b.npy --res 16 --as-placed", 1);
    assert!(!stdout(&as_placed).contains("as if the grid were"));
    let (json, _) = report(&folder, "verify mesh.obj b.npy --res 16 --json");
    assert_eq!(json["alignment"]["mirrored"], serde_json::json!([false, true, false]));
    assert_eq!(json["alignment"]["shift"], serde_json::json!([0, 1, 0]));
}

#[test]
fn what_no_alignment_explains_is_said_in_plain_words() {
    let folder = folder();
    let grid = VoxelGrid::from_voxels([9, 9, 9], [[4, 4, 4], [1, 8, 3]]).unwrap();
    write_grid(&folder, "a.npy", &grid);
    let text = stdout(&voxelize(&folder, "verify mesh.obj a.npy"));
    assert!(text.contains("state how, with --voxel-size and --bounds"), "{text}");
    let text = stdout(&voxelize(&folder, "verify mesh.obj a.npy --res 9"));
    assert!(text.contains("check the options"), "{text}");
}

#[test]
fn options_that_contradict_the_file_are_a_warning() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 16 -o a.vox");
    let output = exits(&folder, "verify mesh.obj a.vox --res 20", 1);
    let warning = "warning: the grid's file says that it has voxels of 0.25 from (0, 0, 0);";
    assert!(stderr(&output).starts_with(warning), "{}", stderr(&output));
    assert!(voxelize(&folder, "verify mesh.obj a.vox --res 16").stderr.is_empty());
}

#[test]
fn what_cannot_be_judged_exits_with_2() {
    let folder = folder();
    write_grid(&folder, "a.npy", &VoxelGrid::empty([4, 4, 4]).unwrap());
    let nothing = "a padding of 2 on both sides leaves nothing of a grid of 4";
    for (args, complaint) in [
        ("verify mesh.obj mesh.obj", "mesh.obj: is a mesh: voxelize it first"),
        ("verify mesh.obj old.npy", "old.npy: "),
        ("verify mesh.obj a.npy --res 0", "cannot place the mesh as the options say: 0 voxels"),
        ("verify mesh.obj a.npy --pad 2", nothing),
        ("verify mesh.obj a.npy --backend cpu --adapter x", "leave one of them out"),
        ("verify mesh.obj a.npy --memory 1MiB", "or try --memory"),
    ] {
        refuses(&folder, args, complaint);
    }
    for args in ["verify mesh.obj", "verify mesh.obj a.npy --res 4 --voxel-size 1"] {
        exits(&folder, args, 2);
    }
}
