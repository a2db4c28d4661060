//! `--resume`: what is there and can be trusted is left alone, the rest is made again.

use super::*;
use std::time::{Duration, SystemTime};

/// Runs `args` with `--resume`, and returns of which meshes it kept the voxels.
fn kept(folder: &Path, args: &str) -> Vec<String> {
    let run = succeeds(folder, &format!("{args} --resume --json -q"));
    let lines = json_lines(&run);
    let kept = lines.iter().filter(|line| line["skipped"] == true);
    kept.map(|line| line["mesh"].as_str().unwrap().to_owned()).collect()
}

fn none() -> Vec<String> {
    Vec::new()
}

/// The meshes that a first and a second run skip: none, then the one already made.
fn made_once() -> (Vec<String>, Vec<String>) {
    (none(), vec!["mesh.obj".to_owned()])
}

#[test]
fn what_is_done_is_skipped_and_said() {
    let folder = with_meshes(2);
    let made = voxelize(&folder, "0.obj 1.obj --res 12 -o out --json --resume");
    fs::remove_file(folder.join("out/1.vox")).unwrap();
    let kept_bytes = folder.read("out/0.vox");
    let changed = || fs::metadata(folder.join("out/0.vox")).unwrap().modified().unwrap();
    let before = changed();

    let again = succeeds(&folder, "0.obj 1.obj mesh.obj --res 12 -o out --json --resume");
    let lines = json_lines(&again);
    assert_eq!(lines[0]["skipped"], true);
    assert!(lines[0]["reason"].as_str().unwrap().contains("complete"), "{}", lines[0]);
    for field in ["mesh", "output", "dims", "occupied", "hash"] {
        assert_eq!(lines[0][field], json_lines(&made)[0][field], "{field}");
    }
    assert!(lines[1..].iter().all(|line| line.get("skipped").is_none()), "{lines:?}");
    assert_eq!(folder.read("out/0.vox"), kept_bytes);
    assert_eq!(changed(), before);
    let said = stderr(&again);
    assert!(said.starts_with("0.obj: skipped, out/0.vox is there"), "{said}");
    assert!(said.contains("\n3 meshes: 2 voxelized, 1 skipped, "), "{said}");
    assert_eq!(files(&folder.join("out")), [".voxelize", "0.vox", "1.vox", "mesh.vox"]);
    let notes = ["0.vox.json", "1.vox.json", "mesh.vox.json"];
    assert_eq!(files(&folder.join("out/.voxelize")), notes);
}

#[test]
fn records_that_a_killed_run_began_are_removed_though_all_outputs_are_kept() {
    let folder = with_meshes(1);
    assert_eq!(kept(&folder, "0.obj --res 12 -o out/"), none());
    let begun = folder.join("out/.voxelize/.trivox-1.2-3.tmp");
    let long_ago = SystemTime::now() - Duration::from_secs(25 * 3600);
    fs::File::create(begun).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(kept(&folder, "0.obj --res 12 -o out/"), ["0.obj"]);
    assert_eq!(files(&folder.join("out/.voxelize")), ["0.vox.json"]);
}

#[test]
fn no_gpu_is_started_for_what_is_skipped() {
    let folder = with_meshes(2);
    assert_eq!(kept(&folder, "0.obj 1.obj --res 12 -o out"), none());
    let gpu = "0.obj 1.obj --res 12 -o out --backend gpu --adapter voodoo";
    assert_eq!(kept(&folder, gpu), ["0.obj", "1.obj"]);
    fails(&folder, &format!("{gpu} mesh.obj --resume"), "2 skipped, 1 failed");
}

#[test]
fn what_is_cut_short_or_changed_is_made_again() {
    for format in ["vox", "npy"] {
        let folder = folder();
        let args = format!("mesh.obj --res 12 -o out.{format}");
        let file = folder.join(format!("out.{format}"));
        assert_eq!((kept(&folder, &args), kept(&folder, &args)), made_once());
        let whole = fs::read(&file).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for spoilt in [&whole[..whole.len() - 1], &changed, b"", b"something"] {
            fs::write(&file, spoilt).unwrap();
            assert_eq!(kept(&folder, &args), none(), "{} bytes", spoilt.len());
            assert!(fs::read(&file).unwrap() == whole);
        }
    }
}

#[test]
fn what_is_of_a_mesh_of_other_content_is_made_again() {
    let folder = with_meshes(1);
    let args = "mesh.obj --res 12 -o out.vox";
    assert_eq!(kept(&folder, args), none());
    let mesh = folder.join("mesh.obj");
    let at = fs::metadata(&mesh).unwrap().modified().unwrap();
    // Of the same name, length and time.
    let other = fs::read_to_string(&mesh).unwrap().replace("4 4 1", "4 4 2");
    fs::write(&mesh, other).unwrap();
    fs::File::options().append(true).open(&mesh).unwrap().set_modified(at).unwrap();
    assert_eq!((kept(&folder, args), kept(&folder, args)), made_once());
    // The same bytes in another format.
    fs::copy(&mesh, folder.join("mesh.off")).unwrap();
    exits(&folder, "mesh.off --res 12 -o out.vox --resume", 2);
}

#[test]
fn what_is_of_the_same_content_is_kept_at_another_time_and_place() {
    let folder = folder();
    textured(&folder.join("here"));
    assert_eq!(kept(&folder, "here/mesh.obj --res 12 -o here/out.vox"), none());
    let mesh = fs::File::options().append(true).open(folder.join("here/mesh.obj")).unwrap();
    mesh.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(20)).unwrap();
    assert_eq!(kept(&folder, "here/mesh.obj --res 12 -o here/out.vox"), ["here/mesh.obj"]);
    fs::rename(folder.join("here"), folder.join("there")).unwrap();
    assert_eq!(kept(&folder, "there/mesh.obj --res 12 -o there/out.vox"), ["there/mesh.obj"]);
    let inside = folder.join("there");
    assert_eq!(kept(&inside, "mesh.obj --res 12 -o out.vox"), ["mesh.obj"]);
}

#[test]
fn what_is_of_other_sidecar_files_is_made_again() {
    let folder = folder();
    textured(&folder);
    let run = || kept(&folder, "mesh.obj --res 12 -o out.vox");
    assert_eq!((run(), run()), made_once());
    for name in ["mesh.mtl", "red.png"] {
        let file = folder.join(name);
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!((run(), run()), made_once(), "{name} is missing");
        for content in [bytes.clone(), [&bytes[..], b"\n# more"].concat()] {
            fs::write(&file, content).unwrap();
            assert_eq!((run(), run()), made_once(), "{name} is there again, or another");
        }
    }
}

#[test]
fn an_image_that_the_mesh_only_names_may_change() {
    let folder = folder();
    textured(&folder);
    let materials = String::from_utf8(folder.read("mesh.mtl")).unwrap();
    folder.write("mesh.mtl", format!("{materials}norm red.png\nmap_Bump bump.png\n"));
    folder.write("bump.png", "bump");
    let run = || kept(&folder, "mesh.obj --res 12 -o out.vox");
    assert_eq!((run(), run()), made_once());
    folder.write("bump.png", "another");
    assert_eq!(run(), ["mesh.obj"]);
    folder.write("red.png", "no image");
    assert_eq!((run(), run()), made_once());
}

#[test]
fn a_texture_that_comes_where_it_is_looked_for_is_noticed() {
    for place in ["red.png", "textures/red.png"] {
        let folder = folder();
        textured(&folder);
        let image = folder.read("red.png");
        fs::remove_file(folder.join("red.png")).unwrap();
        let run = || kept(&folder, "mesh.obj --res 12 -o out.vox");
        assert_eq!((run(), run()), made_once(), "{place}");
        fs::create_dir_all(folder.join("textures")).unwrap();
        folder.write(place, &image);
        assert_eq!((run(), run()), made_once(), "{place}");
    }
}

/// A mesh in `folder` with a material, a texture, and the name of a folder in place of another.
fn textured(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let mesh = "mtllib mesh.mtl\nv 0 0 0\nv 4 0 0\nv 4 4 1\nv 0 4 1\nvt 0 0\nvt 1 0\nvt 1 1\n\
        usemtl red\nf 1/1 2/2 3/3\nusemtl folder\nf 1/1 3/3 4/2\n";
    fs::write(folder.join("mesh.obj"), mesh).unwrap();
    let materials = "newmtl red\nmap_Kd red.png\nnewmtl folder\nmap_Kd .\n";
    fs::write(folder.join("mesh.mtl"), materials).unwrap();
    let image = image::RgbImage::from_pixel(2, 2, image::Rgb([200, 0, 0]));
    image.save(folder.join("red.png")).unwrap();
}

#[test]
fn what_was_made_without_a_note_is_made_again() {
    let folder = folder();
    let args = "mesh.obj --res 12 -o out.vox";
    succeeds(&folder, args);
    assert_eq!(files(&folder), ["mesh.obj", "out.vox"]);
    assert_eq!(kept(&folder, args), none());
    for spoilt in ["", "{}", "[1]"] {
        folder.write(".voxelize/out.vox.json", spoilt);
        assert_eq!(kept(&folder, args), none());
    }
    assert_eq!(kept(&folder, args), ["mesh.obj"]);
    succeeds(&folder, "mesh.obj --res 13 -o out.vox");
    assert_eq!(kept(&folder, args), none(), "another run's");
}

#[test]
fn a_note_that_cannot_be_left_is_a_warning() {
    let folder = folder();
    folder.write(".voxelize", "a file");
    let run = json_of(&folder, "mesh.obj --res 12 -o out.vox --resume --json");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("--resume will make the output again"), "{warnings}");
    assert!(read_grid(folder.join("out.vox")).is_ok());
}

#[test]
fn what_was_made_with_other_options_is_made_again() {
    let bounds = "--bounds 0,0,0,4,8,2";
    let cases = [
        ("vox", "--res 12", "--res 13"),
        ("npy", "--res 12", "--res 13"),
        ("vox", "--res 12 --pad 1", "--res 12 --pad 2"),
        ("vox", "--voxel-size 0.5", "--voxel-size 0.51"),
        ("vox", "--res 12", "--res 12 --up z"),
        ("npy", "--res 12", "--res 12 --up z"),
        ("npy", "--res 14", "--res 12 --pad 1"),
        ("npy", "--voxel-size 0.5", "--voxel-size 0.51"),
        ("data", "--res 12 --format vox", "--res 12 --format npy"),
        ("vox", &format!("--res 12 {bounds}"), "--res 12 --bounds 1,0,0,5,8,2"),
        ("npy", &format!("--voxel-size 0.5 {bounds}"), "--voxel-size 0.5 --bounds 0,0,0,4,8,3"),
        ("npy", &format!("--voxel-size 0.5 {bounds}"), &format!("--voxel-size 0.25 {bounds}")),
    ];
    for (format, one, other) in cases {
        let folder = folder();
        let run = |size: &str| kept(&folder, &format!("mesh.obj -o out.{format} {size}"));
        assert_eq!((run(one), run(one)), made_once(), "{format} {one}");
        assert_eq!((run(other), run(other)), made_once(), "{format} {one}, then {other}");
    }
}

#[test]
fn a_mesh_that_is_gone_fails_though_its_voxels_are_there() {
    let folder = with_meshes(2);
    assert_eq!(kept(&folder, "0.obj 1.obj --res 12 -o out"), none());
    fs::remove_file(folder.join("0.obj")).unwrap();
    fails(&folder, "0.obj 1.obj --res 12 -o out --resume", "1 skipped, 1 failed");
    assert!(folder.join("out/0.vox").is_file());
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_is_finished() {
    let folder = with_meshes(40);
    let list: String = (0..40).map(|index| format!("{index}.obj\n")).collect();
    folder.write("list.txt", list);
    let out = folder.join("out");
    let args = "@list.txt --res 300 -o out -q --resume --threads 2";
    let args = args.split(' ');
    let mut run = Command::new(VOXELIZE).current_dir(&folder).args(args).spawn().unwrap();
    let done = || files(&out).iter().filter(|file| file.ends_with(".vox")).count();
    assert!(becomes(|| out.is_dir() && done() >= 3));
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
fn the_files_that_options_name_may_be_pipes() {
    let folder = folder();
    let lattice = json_of(&folder, "mesh.obj --res 12 --json")["lattice"].to_string();
    folder.write("lattice.json", lattice);
    folder.write("blocks.txt", "stone #777777\n");
    let args = "mesh.obj -o out.schem --resume --lattice <(cat lattice.json) --blocks";
    let skips = |blocks: &str| {
        let script = format!("{VOXELIZE} {args} <(echo '{blocks}')");
        let run = bash(&folder, &script);
        assert!(run.status.success(), "{}", stderr(&run));
        stderr(&run).contains("skipped")
    };
    assert!(!skips("stone #777777") && skips("stone #777777") && !skips("dirt #773311"));
}

#[cfg(unix)]
#[test]
fn a_mesh_that_is_a_pipe_is_made_again_and_that_is_said() {
    let folder = folder();
    let script = format!(
        "mkfifo pipe.obj; cat mesh.obj > pipe.obj & {VOXELIZE} pipe.obj --res 8 -o out.vox --resume"
    );
    let run = bash(&folder, &script);
    assert!(run.status.success(), "{}", stderr(&run));
    let why =
        "warning: --resume will make the output again: its record cannot be written: the mesh";
    assert!(stderr(&run).contains(why), "{}", stderr(&run));
}
