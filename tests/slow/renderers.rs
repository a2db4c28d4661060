//! Other people's renderers, by the scripts in the examples: what they draw of our files is what is
//! in them.
//!
//! These tests need `TRIVOX_PYTHON` to name a Python that has `mitsuba`, or `bpy`, which is
//! Blender.
use crate::common::prelude::*;
use std::process::{Command, Output};

use crate::common::environment::python_with;
use image::RgbaImage;
use serde_json::Value;
use tempfile::TempDir;

/// A script, and the module that it needs.
type Renderer = [&'static str; 2];
const MITSUBA: Renderer = ["mitsuba3.py", "mitsuba"];
const BLENDER: Renderer = ["blender.py", "bpy"];

fn voxelize(folder: &Path, args: &str) -> Output {
    let args = args.split_whitespace();
    let output =
        Command::new(env!("CARGO_BIN_EXE_voxelize")).current_dir(folder).args(args).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the script makes of `args`, or `None` where its module is not there.
fn script([name, module]: Renderer, folder: &Path, args: &str) -> Option<Output> {
    let python = python_with(module)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/renderers").join(name);
    // Without the folder of what was compiled, which would be left beside the script.
    let mut command = Command::new(python);
    command.arg("-B").arg(script).args(args.split_whitespace()).current_dir(folder);
    Some(command.output().unwrap())
}

/// The picture that the script draws of `file`.
fn drawn(renderer: Renderer, folder: &Path, file: &str, args: &str) -> Option<RgbaImage> {
    let output = script(renderer, folder, &format!("{file} theirs.png {args}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(picture(&folder.join("theirs.png")))
}

fn picture(path: &Path) -> RgbaImage {
    image::open(path).unwrap().to_rgba8()
}

/// A folder with the voxels of the lighthouse, in all formats that are needed.
fn lighthouse() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["lighthouse.obj", "lighthouse.mtl", "lighthouse.png"] {
        fs::copy(asset_path(name), folder.path().join(name)).unwrap();
    }
    voxelize(folder.path(), "lighthouse.obj --res 64 -o grid.vdb -q");
    voxelize(folder.path(), "convert grid.vdb grid.ply -q");
    voxelize(folder.path(), "convert grid.vdb grid.vol -q");
    folder
}

/// Our picture of the grid, without a background, and its camera as `camera.json`.
fn ours(folder: &Path, args: &str) -> RgbaImage {
    let args = format!("render grid.vdb -o ours.png --background transparent --json -q {args}");
    fs::write(folder.join("camera.json"), voxelize(folder, &args).stdout).unwrap();
    picture(&folder.join("ours.png"))
}

/// Moves the camera to the left by a part of a pixel.
fn shift(folder: &Path, pixels: f64) {
    let path = folder.join("camera.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let width = json["width"].as_f64().unwrap();
    let window = json["camera"]["screen_window"].as_array_mut().unwrap();
    let edge = |window: &[Value], i: usize| window[i].as_f64().unwrap();
    let pixel = (edge(window, 1) - edge(window, 0)) / width;
    for i in [0, 1] {
        window[i] = (edge(window, i) - pixels * pixel).into();
    }
    fs::write(path, json.to_string()).unwrap();
}

/// In how many pixels the opacity differs by more than one level.
fn other_opacity(a: &RgbaImage, b: &RgbaImage) -> usize {
    assert_eq!(a.dimensions(), b.dimensions());
    a.pixels().zip(b.pixels()).filter(|(a, b)| a[3].abs_diff(b[3]) > 1).count()
}

/// Compares the silhouettes of `file` and of our picture of the grid, pixel by pixel; a camera that
/// is moved by a pixel must not pass.
fn has_our_silhouette(renderer: Renderer, file: &str, view: &str, samples: u32) {
    // Each ray through a medium takes a thousand steps and more.
    let size = if file == "grid.vol" { "128x136" } else { "256x272" };
    let folder = lighthouse();
    let path = folder.path();
    // No face of a voxel is seen from its side through a sample: what is there is nobody's to say.
    let ours = ours(path, &format!("--size {size} {view} --samples {samples}"));
    let opaque = ours.pixels().filter(|pixel| pixel[3] == 255).count();
    assert!((3_000..60_000).contains(&opaque), "{opaque}");
    let args = format!("--camera camera.json --mask --samples {}", samples * samples);
    let Some(theirs) = drawn(renderer, path, file, &args) else { return };
    assert_eq!(other_opacity(&ours, &theirs), 0, "{file}, {view}");
    shift(path, 1.0);
    let shifted = drawn(renderer, path, file, &args).unwrap();
    assert!(other_opacity(&ours, &shifted) > 100, "{file}, {view}");
}

#[test]
fn mitsuba_has_the_silhouette_of_our_pictures() {
    has_our_silhouette(MITSUBA, "grid.ply", "--view front", 2);
    has_our_silhouette(MITSUBA, "grid.ply", "--view iso", 2);
    has_our_silhouette(MITSUBA, "grid.ply", "--view top --camera perspective", 1);
}

#[test]
fn mitsubas_medium_has_the_silhouette_of_our_pictures() {
    has_our_silhouette(MITSUBA, "grid.vol", "--view right", 1);
}

#[test]
fn blender_has_the_silhouette_of_our_pictures() {
    has_our_silhouette(BLENDER, "grid.ply", "--view front", 1);
    has_our_silhouette(BLENDER, "grid.ply", "--view iso", 1);
}

/// Which of red, green and blue is the most by far.
fn hue(pixel: &image::Rgba<u8>, by: u8) -> Option<usize> {
    let [r, g, b, _] = pixel.0;
    let most = r.max(g).max(b);
    let others = [r, g, b].into_iter().filter(|&c| u16::from(c) + u16::from(by) > u16::from(most));
    (others.count() == 1).then(|| [r, g, b].into_iter().position(|c| c == most)).flatten()
}

/// How many pixels are red, green or blue in ours, and the part of them that are in theirs.
fn of_our_hue(ours: &RgbaImage, theirs: &RgbaImage) -> (usize, f64) {
    let pairs = ours.pixels().zip(theirs.pixels()).filter(|(ours, _)| ours[3] == 255);
    let pairs = pairs.filter_map(|(ours, theirs)| Some((hue(ours, 60)?, hue(theirs, 1))));
    let hues: Vec<(usize, Option<usize>)> = pairs.collect();
    let same = hues.iter().filter(|(ours, theirs)| Some(*ours) == *theirs).count();
    (hues.len(), same as f64 / hues.len() as f64)
}

/// The mean of the pixels in theirs where ours has this opacity.
fn mean_where(opacity: u8, ours: &RgbaImage, theirs: &RgbaImage) -> [f64; 3] {
    let pixels = ours.pixels().zip(theirs.pixels()).filter(|(ours, _)| ours[3] == opacity);
    let pixels: Vec<_> = pixels.map(|(_, theirs)| theirs).collect();
    [0, 1, 2].map(|i| pixels.iter().map(|p| f64::from(p[i])).sum::<f64>() / pixels.len() as f64)
}

/// Compares the colours of `file` with those of our picture; red for blue must not pass.
fn has_our_colours(renderer: Renderer, file: &str, samples: u32) {
    let folder = lighthouse();
    let ours = ours(folder.path(), "--size 160x160");
    let args = format!("--camera camera.json --samples {samples}");
    let Some(theirs) = drawn(renderer, folder.path(), file, &args) else { return };
    let (count, part) = of_our_hue(&ours, &theirs);
    assert!(count > 2_000 && part > 0.9, "{part} of {count}");
    let [r, g, b] = mean_where(0, &ours, &theirs);
    assert!((r - g).abs() < 20.0 && (b - g).abs() < 20.0 && g > 120.0, "{r}, {g}, {b}");
    let mut swapped = theirs;
    swapped.pixels_mut().for_each(|pixel| pixel.0.swap(0, 2));
    let (_, part) = of_our_hue(&ours, &swapped);
    assert!(part < 0.3, "{part}");
}

#[test]
fn mitsuba_shows_our_colours() {
    has_our_colours(MITSUBA, "grid.ply", 16);
}

#[test]
fn blender_shows_our_colours_on_surfaces_and_in_volumes() {
    has_our_colours(BLENDER, "grid.ply", 16);
    has_our_colours(BLENDER, "grid.vdb", 4);
}

#[test]
fn mitsubas_medium_is_warm_where_our_voxels_are() {
    let folder = lighthouse();
    let ours = ours(folder.path(), "--size 96x96");
    let args = "--camera camera.json --samples 16";
    let Some(theirs) = drawn(MITSUBA, folder.path(), "grid.vol", args) else { return };
    let warmth = |[r, _, b]: [f64; 3]| r - b;
    let [inside, outside] = [255, 0].map(|part| warmth(mean_where(part, &ours, &theirs)));
    assert!(inside > 10.0 && outside < 0.0, "{inside}, {outside}");
}

#[test]
fn scripts_frame_all_of_the_voxels_by_themselves() {
    let folder = TempDir::new().unwrap();
    for up in ["y", "z"] {
        fs::write(folder.path().join("a.obj"), "v 5 0 0\nv 9 0 1\nv 5 3 7\nf 1 2 3\n").unwrap();
        voxelize(folder.path(), &format!("a.obj --res 20 --up {up} -o a.ply -q"));
        voxelize(folder.path(), &format!("a.obj --res 20 --up {up} -o a.vol -q"));
        for (renderer, file) in [(MITSUBA, "a.ply"), (MITSUBA, "a.vol"), (BLENDER, "a.ply")] {
            let args = format!("--size 90 60 --mask --samples 1 --up {up}");
            let Some(theirs) = drawn(renderer, folder.path(), file, &args) else { continue };
            let covered = |x, y| theirs.get_pixel(x, y)[3] > 0;
            let edge = (0..90).any(|x| covered(x, 0) || covered(x, 59))
                || (0..60).any(|y| covered(0, y) || covered(89, y));
            let count = theirs.pixels().filter(|pixel| pixel[3] > 0).count();
            assert!(!edge && count > 300, "{renderer:?}, {file}, {up}: {count}");
        }
    }
}

#[test]
fn bad_usage_of_scripts_is_refused_by_name() {
    let folder = lighthouse();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("other.json", "{\"camera\": 3}");
    write("other.ply", "ply\nformat ascii 1.0\nend_header\n");
    write(
        "cut.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 9\nelement face 9\nend_header\n",
    );
    write("eyeless.json", r#"{"width": 9, "height": 9, "camera": {"up": [0, 1, 0]}}"#);
    write("other.vol", "VOL");
    write("other.vdb", "none");
    for (renderer, args, complaint) in [
        (MITSUBA, "gone.ply out.png", "gone.ply: no such file"),
        (MITSUBA, "grid.vdb out.png", "grid.vdb: not one of .ply, .vol"),
        (MITSUBA, "other.ply out.png", "other.ply: no quads as voxelize writes them"),
        (MITSUBA, "other.vol out.png", "other.vol: no .vol file"),
        (MITSUBA, "grid.ply out.png --samples 0", "--samples and --size begin at 1"),
        (MITSUBA, "grid.ply out.png --camera gone.json", "gone.json: no such file"),
        (MITSUBA, "cut.ply out.png", "cut.ply: "),
        (MITSUBA, "grid.ply out.jpg", "out.jpg: pictures are .png files"),
        (MITSUBA, "grid.ply none/out.png", "there is no folder none"),
        (MITSUBA, "grid.ply out.png --camera eyeless.json", "eyeless.json: not what voxelize"),
        (MITSUBA, "grid.ply out.png --camera other.json", "other.json: not what voxelize render"),
        (BLENDER, "grid.vol out.png", "grid.vol: not one of .ply, .vdb"),
        (BLENDER, "other.ply out.png", "other.ply: Error: PLY Importer: failed"),
        (BLENDER, "other.vdb out.png", "other.vdb: no grid named density: "),
    ] {
        let Some(output) = script(renderer, folder.path(), args) else { continue };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert!(said.contains(complaint), "{args}: {said}");
        assert!(!folder.path().join("out.png").exists());
    }
}

/// The numbers after `word` in a scene of pbrt's.
fn numbers_after(scene: &str, word: &str) -> Vec<f64> {
    let (_, rest) = scene.split_once(word).unwrap_or_else(|| panic!("no {word}"));
    let words = rest.split([' ', '\n', '[', ']']).filter(|word| !word.is_empty());
    words.map_while(|word| word.parse().ok()).collect()
}

#[test]
fn the_numbers_in_the_scene_for_pbrt_are_those_of_the_file() {
    let scene = include_str!("../../examples/renderers/voxels.pbrt");
    let [comments, scene]: [String; 2] = [true, false].map(|is_comment| {
        let lines = scene.lines().filter(|line| line.starts_with('#') == is_comment);
        lines.map(|line| format!("{}\n", line.trim_start_matches(['#', ' ']))).collect()
    });
    let folder = lighthouse();
    let asset = "assets/lighthouse.obj";
    let commands: Vec<&str> =
        comments.lines().filter_map(|line| line.strip_prefix("voxelize ")).collect();
    let [make, render] = commands[..] else { panic!("{commands:?}") };
    assert!(make.contains(asset) && scene.contains("\"voxels.nvdb\""));
    voxelize(folder.path(), &make.replace(asset, "lighthouse.obj"));
    let said: Value = serde_json::from_slice(&voxelize(folder.path(), render).stdout).unwrap();
    let numbers =
        |key: &str| -> Vec<f64> { serde_json::from_value(said["camera"][key].clone()).unwrap() };
    let assert_near = |found: &[f64], expected: &[f64], by: f64| {
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= by);
        assert!(is_near && found.len() == expected.len(), "{found:?}, not {expected:?}");
    };
    let (eye, back) = (numbers("eye"), numbers("back"));
    let target: Vec<f64> = eye.iter().zip(&back).map(|(eye, back)| eye - back).collect();
    let looks = numbers_after(&scene, "LookAt");
    assert_near(&looks, &[&eye[..], &target, &[0.0, 1.0, 0.0]].concat(), 1e-3);
    assert_near(&numbers_after(&scene, "screenwindow\""), &numbers("screen_window"), 1e-5);
    let sides = ["xresolution\"", "yresolution\""].map(|side| numbers_after(&scene, side)[0]);
    assert_eq!([Some(sides[0]), Some(sides[1])], [said["width"].as_f64(), said["height"].as_f64()]);

    let info = voxelize(folder.path(), "info voxels.nvdb --json").stdout;
    let info: Value = serde_json::from_slice(&info).unwrap();
    let (middle, radius) =
        (numbers_after(&scene, "Translate"), numbers_after(&scene, "radius\"")[0]);
    let size = info["voxel_size"].as_f64().unwrap();
    assert!(comments.contains(&format!("{size} units")));
    let farthest = [0, 1, 2].map(|axis| {
        let low = info["origin"][axis].as_f64().unwrap();
        let high = low + size * info["dims"][axis].as_f64().unwrap();
        (low - middle[axis]).abs().max((high - middle[axis]).abs())
    });
    let to_corner = length(farthest);
    let to_eye = length([0, 1, 2].map(|axis| eye[axis] - middle[axis]));
    assert!(to_corner < radius && radius < to_eye, "{to_corner} < {radius} < {to_eye}");
    assert!(numbers_after(&scene, "AttributeEnd\n\nAttributeBegin\nTranslate")[1] < 0.0);
}
