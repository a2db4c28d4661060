//! `--resume`: what is there and can be trusted is left alone, the rest is made again.

use std::time::{Duration, SystemTime};

use super::*;

/// Runs `args` with `--resume`, and returns of which meshes it kept the voxels.
fn kept(folder: &Folder, args: &str) -> Vec<String> {
    let lines = json_lines(&folder.succeeds(format!("{args} --resume --json -q")));
    let kept = lines.iter().filter(|line| line["skipped"] == true);
    kept.map(|line| line["mesh"].as_str().unwrap().to_owned()).collect()
}

/// Runs `args` twice, which must make the voxels of `mesh.obj` and then keep them.
fn is_made_once(folder: &Folder, args: &str, why: &str) {
    is_made(folder, args, why);
    assert_eq!(kept(folder, args), ["mesh.obj"], "{args}: {why}");
}

/// Asserts that `args` makes the voxels of its mesh.
fn is_made(folder: &Folder, args: &str, why: &str) {
    assert_eq!(kept(folder, args), Vec::<String>::new(), "{args}: {why}");
}

#[test]
fn what_is_done_is_skipped_and_said_and_needs_its_mesh_but_no_gpu() {
    let folder = with_meshes(2);
    let made = json_lines(&folder.succeeds("0.obj 1.obj --res 12 -o out --json --resume"));
    fs::remove_file(folder.join("out/1.vox")).unwrap();
    let changed = || fs::metadata(folder.join("out/0.vox")).unwrap().modified().unwrap();
    let before = (folder.read("out/0.vox"), changed());

    let again = folder.succeeds("0.obj 1.obj mesh.obj --res 12 -o out --json --resume");
    let lines = json_lines(&again);
    assert_eq!(lines[0]["skipped"], true);
    assert!(lines[0]["reason"].as_str().unwrap().contains("complete"), "{}", lines[0]);
    for field in ["mesh", "output", "dims", "occupied", "hash"] {
        assert_eq!(lines[0][field], made[0][field], "{field}");
    }
    assert!(lines[1..].iter().all(|line| line.get("skipped").is_none()), "{lines:?}");
    assert!((folder.read("out/0.vox"), changed()) == before);
    let said = stderr(&again);
    assert!(said.starts_with("0.obj: skipped, out/0.vox is there"), "{said}");
    assert!(said.contains("\n3 meshes: 2 voxelized, 1 skipped, "), "{said}");
    assert_eq!(folder.files_in("out"), [".voxelize", "0.vox", "1.vox", "mesh.vox"]);
    let notes = ["0.vox.json", "1.vox.json", "mesh.vox.json"];
    assert_eq!(folder.files_in("out/.voxelize"), notes);

    // What a killed run began is removed though all outputs are kept.
    let begun = folder.join("out/.voxelize/.trivox-1.2-3.tmp");
    let long_ago = SystemTime::now() - Duration::from_secs(25 * 3600);
    fs::File::create(begun).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(kept(&folder, "0.obj --res 12 -o out/"), ["0.obj"]);
    assert_eq!(folder.files_in("out/.voxelize"), notes);

    // No GPU is started for what is skipped.
    let gpu = "0.obj 1.obj --res 12 -o out --backend gpu --adapter voodoo";
    assert_eq!(kept(&folder, gpu), ["0.obj", "1.obj"]);
    folder.write("new.obj", MESH);
    folder.fails(format!("{gpu} new.obj --resume"), "2 skipped, 1 failed");

    // A mesh that is gone fails though its voxels are there.
    fs::remove_file(folder.join("0.obj")).unwrap();
    folder.fails("0.obj 1.obj --res 12 -o out --resume", "1 skipped, 1 failed");
    assert!(folder.join("out/0.vox").is_file());
}

#[test]
fn what_was_warned_of_is_said_again() {
    let folder = Folder::new();
    let (open, corners) = ("f 1 2 3\nf 1 2 4\nf 2 3 4\n", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
    folder.write("open.obj", format!("mtllib lost.mtl\n{corners}usemtl a\n{open}"));
    let args = "open.obj --res 16 --mode solid -o out/ --resume --json";
    let made = json_lines(&folder.succeeds(args));
    let again = folder.succeeds(args);
    let kept = &json_lines(&again)[0];
    let warnings = &made[0]["warnings"];
    assert_eq!(warnings.as_array().unwrap().len(), 2, "{warnings}");
    assert_eq!((&kept["warnings"], &kept["skipped"]), (warnings, &true.into()));
    assert_eq!((&made[0]["fill"]["doubtful"], &kept["doubtful"]), (&true.into(), &true.into()));
    let said = stderr(&again);
    let first = warnings[0].as_str().unwrap();
    assert!(said.contains(&format!("warning: open.obj: {first}\n")), "{said}");
}

#[test]
fn what_is_cut_short_or_changed_is_made_again() {
    for format in ["vox", "npy"] {
        let folder = folder();
        let args = format!("mesh.obj --res 12 -o out.{format}");
        let file = folder.join(format!("out.{format}"));
        is_made_once(&folder, &args, "new");
        let whole = fs::read(&file).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for spoilt in [&whole[..whole.len() - 1], &changed, b"", b"something"] {
            fs::write(&file, spoilt).unwrap();
            is_made(&folder, &args, &format!("{} bytes", spoilt.len()));
            assert!(fs::read(&file).unwrap() == whole);
        }
    }
}

#[test]
fn what_is_of_a_mesh_of_other_content_is_made_again() {
    let folder = folder();
    let args = "mesh.obj --res 12 -o out.vox";
    is_made_once(&folder, args, "new");
    let mesh = folder.join("mesh.obj");
    let at = fs::metadata(&mesh).unwrap().modified().unwrap();
    // Of the same name, length and time.
    fs::write(&mesh, MESH.replace("4 4 1", "4 4 2")).unwrap();
    fs::File::options().append(true).open(&mesh).unwrap().set_modified(at).unwrap();
    is_made_once(&folder, args, "other content");
    // The same bytes in another format.
    fs::copy(&mesh, folder.join("mesh.off")).unwrap();
    folder.exits("mesh.off --res 12 -o out.vox --resume", 2);
}

#[cfg(unix)]
#[test]
fn what_is_of_the_same_content_is_kept_at_another_time_and_place() {
    let folder = folder();
    fs::create_dir(folder.join("here")).unwrap();
    write_textured(&folder, "here/");
    is_made(&folder, "here/mesh.obj --res 12 -o here/out.vox", "new");
    let mesh = fs::File::options().append(true).open(folder.join("here/mesh.obj")).unwrap();
    mesh.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(20)).unwrap();
    assert_eq!(kept(&folder, "here/mesh.obj --res 12 -o here/out.vox"), ["here/mesh.obj"]);
    fs::rename(folder.join("here"), folder.join("there")).unwrap();
    assert_eq!(kept(&folder, "there/mesh.obj --res 12 -o there/out.vox"), ["there/mesh.obj"]);
    let inside = folder.bash(format!("cd there; {VOXELIZE} mesh.obj --res 12 -o out.vox --resume"));
    assert!(stderr(&inside).contains("skipped"), "{}", stderr(&inside));
}

/// Writes a mesh with a material, a texture, and the name of a folder in place of another, into
/// the folder of `home`.
fn write_textured(folder: &Folder, home: &str) {
    let mesh = "mtllib mesh.mtl\nv 0 0 0\nv 4 0 0\nv 4 4 1\nv 0 4 1\nvt 0 0\nvt 1 0\nvt 1 1\n\
        usemtl red\nf 1/1 2/2 3/3\nusemtl folder\nf 1/1 3/3 4/2\n";
    folder.write(format!("{home}mesh.obj"), mesh);
    let materials = "newmtl red\nmap_Kd red.png\nnewmtl folder\nmap_Kd .\n";
    folder.write(format!("{home}mesh.mtl"), materials);
    let image = image::RgbImage::from_pixel(2, 2, image::Rgb([200, 0, 0]));
    image.save(folder.join(format!("{home}red.png"))).unwrap();
}

#[test]
fn what_is_of_other_sidecar_files_is_made_again() {
    let folder = folder();
    write_textured(&folder, "");
    let args = "mesh.obj --res 12 -o out.vox";
    is_made_once(&folder, args, "new");
    for name in ["mesh.mtl", "red.png"] {
        let bytes = folder.read(name);
        fs::remove_file(folder.join(name)).unwrap();
        is_made_once(&folder, args, &format!("{name} is missing"));
        for content in [bytes.clone(), [&bytes[..], b"\n# more"].concat()] {
            folder.write(name, content);
            is_made_once(&folder, args, &format!("{name} is there again, or another"));
        }
    }
    // A texture comes where it is looked for.
    let image = folder.read("red.png");
    for place in ["red.png", "textures/red.png"] {
        fs::remove_file(folder.join("red.png")).unwrap();
        is_made_once(&folder, args, "without a texture");
        fs::create_dir_all(folder.join("textures")).unwrap();
        folder.write(place, &image);
        is_made_once(&folder, args, place);
    }
}

#[test]
fn an_image_that_the_mesh_only_names_may_change() {
    let folder = folder();
    write_textured(&folder, "");
    let materials = folder.text("mesh.mtl") + "norm red.png\nmap_Bump bump.png\n";
    folder.write("mesh.mtl", materials);
    folder.write("bump.png", "bump");
    let args = "mesh.obj --res 12 -o out.vox";
    is_made_once(&folder, args, "new");
    folder.write("bump.png", "another");
    assert_eq!(kept(&folder, args), ["mesh.obj"]);
    folder.write("red.png", "no image");
    is_made_once(&folder, args, "another texture");
}

#[test]
fn what_was_made_without_a_note_is_made_again() {
    let folder = folder();
    let args = "mesh.obj --res 12 -o out.vox";
    folder.succeeds(args);
    assert_eq!(folder.files(), ["mesh.obj", "out.vox"]);
    is_made(&folder, args, "without a note");
    for spoilt in ["", "{}", "[1]"] {
        folder.write(".voxelize/out.vox.json", spoilt);
        is_made(&folder, args, spoilt);
    }
    assert_eq!(kept(&folder, args), ["mesh.obj"]);
    folder.succeeds("mesh.obj --res 13 -o out.vox");
    is_made(&folder, args, "another run's");
}

#[test]
fn a_note_that_cannot_be_left_is_a_warning() {
    let folder = folder();
    folder.write(".voxelize", "a file");
    let warnings = &folder.json("mesh.obj --res 12 -o out.vox --resume")["warnings"];
    assert!(warnings.to_string().contains("--resume will make the output again"), "{warnings}");
    assert!(read_grid(folder.join("out.vox")).is_ok());
}

#[test]
fn what_was_made_with_other_options_is_made_again() {
    for (format, one, other) in [
        ("vox", "--res 12", "--res 13"),
        ("npy", "--res 12", "--res 13"),
        ("vox", "--res 12 --pad 1", "--res 12 --pad 2"),
        ("vox", "--voxel-size 0.5", "--voxel-size 0.51"),
        ("vox", "--res 12", "--res 12 --up z"),
        ("npy", "--res 12", "--res 12 --up z"),
        ("npy", "--res 14", "--res 12 --pad 1"),
        ("npy", "--voxel-size 0.5", "--voxel-size 0.51"),
        ("data", "--res 12 --format vox", "--res 12 --format npy"),
        ("vox", "--res 12 --bounds 0,0,0,4,8,2", "--res 12 --bounds 1,0,0,5,8,2"),
        ("npy", "--voxel-size 0.5 --bounds 0,0,0,4,8,2", "--voxel-size 0.5 --bounds 0,0,0,4,8,3"),
        ("npy", "--voxel-size 0.5 --bounds 0,0,0,4,8,2", "--voxel-size 0.25 --bounds 0,0,0,4,8,2"),
        ("npz", "--res 8 --mode thin", "--res 8 --mode solid --fill winding"),
        ("npz", "--res 8 --mode solid --fill winding", "--res 8 --mode solid --shell"),
    ] {
        let folder = folder();
        for options in [one, other] {
            let args = format!("mesh.obj -o out.{format} {options}");
            is_made_once(&folder, &args, &format!("{one}, then {other}"));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_is_finished() {
    let folder = with_meshes(40);
    let mut run = folder.start("@list.txt --res 300 -o out -q --resume --threads 2");
    let is_voxels = |name: &String| name.ends_with(".vox");
    let done = || folder.files_in("out").iter().filter(|&name| is_voxels(name)).count();
    assert!(becomes(|| folder.join("out").is_dir() && done() >= 3));
    run.kill().unwrap();
    run.wait().unwrap();
    let there = done();
    assert!(there < 40, "all were done before the run was killed");
    // Two may not have had their note.
    let kept_ones = kept(&folder, "@list.txt --res 300 -o out").len();
    assert!((there - 2..=there).contains(&kept_ones), "{kept_ones} of {there}");
    assert_eq!(done(), 40);
    assert_eq!(kept(&folder, "@list.txt --res 300 -o out").len(), 40);
}

#[cfg(unix)]
#[test]
fn the_files_that_options_name_may_change_and_may_be_pipes() {
    let folder = folder();
    folder.write("lattice.json", folder.json("mesh.obj --res 12")["lattice"].to_string());
    folder.write("blocks.txt", "stone #777777\n");
    color::write_palette(&folder, [[200, 20, 10], [5, 5, 90]]);
    let args = [
        "-o out.schem --lattice <(cat lattice.json) --blocks <(cat blocks.txt)",
        "-o blocks.schem --res 8 --blocks blocks.txt",
        "-o a.vox --res 8 --palette two.png",
    ];
    let skips = |args: &str| {
        let run = folder.bash(format!("{VOXELIZE} mesh.obj --resume {args}"));
        assert!(run.status.success(), "{}", stderr(&run));
        stderr(&run).contains("skipped")
    };
    for args in args {
        assert!(!skips(args) && skips(args), "{args}");
    }
    folder.write("blocks.txt", "dirt #773311\n");
    color::write_palette(&folder, [[200, 20, 10], [255; 3]]);
    for args in args {
        assert!(!skips(args), "{args}");
    }
}

#[cfg(unix)]
#[test]
fn a_mesh_that_is_a_pipe_is_made_again_and_that_is_said() {
    let folder = folder();
    let run = format!("{VOXELIZE} pipe.obj --res 8 -o out.vox --resume");
    let run = folder.bash(format!("mkfifo pipe.obj; cat mesh.obj > pipe.obj & {run}"));
    assert!(run.status.success(), "{}", stderr(&run));
    let why =
        "warning: --resume will make the output again: its record cannot be written: the mesh";
    assert!(stderr(&run).contains(why), "{}", stderr(&run));
}
