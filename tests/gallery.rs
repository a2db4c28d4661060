//! The gallery: the committed pictures are what the program makes, and show what is so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/gallery/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called, and what it does for scans")]
mod gallery;

use std::fs;
use std::path::{Path, PathBuf};

use gallery::cases::CASES;
use gallery::drawing::sheet;
use image::RgbaImage;

const README: &str = include_str!("../README.md");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gallery")
}

fn decoded(png: &[u8]) -> RgbaImage {
    image::load_from_memory(png).unwrap().to_rgba8()
}

/// Whether two pictures look alike: of the same size, and hardly a pixel of another colour. Shading may
/// change by a little without a new gallery.
fn look_alike(a: &RgbaImage, b: &RgbaImage) -> bool {
    const A_LITTLE: u8 = 6;
    if a.dimensions() != b.dimensions() {
        return false;
    }
    let is_other = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > A_LITTLE)
    };
    let others = a.pixels().zip(b.pixels()).filter(is_other).count();
    others * 200 < a.pixels().len()
}

#[test]
fn committed_pictures_are_what_the_program_makes() {
    for (name, made) in gallery::own().unwrap() {
        let committed = fs::read(folder().join(name)).unwrap();
        let is_current = match name.ends_with(".svg") {
            true => committed == made,
            false => look_alike(&decoded(&committed), &decoded(&made)),
        };
        assert!(is_current, "{name}: run `cargo run --release --example gallery`");
    }
}

#[test]
fn canary_pictures_that_do_not_look_alike_are_told_apart() {
    let picture = decoded(&fs::read(folder().join("cut.png")).unwrap());
    assert!(look_alike(&picture, &picture));
    let brighter = image::imageops::brighten(&picture, 7);
    let narrower = image::imageops::crop_imm(&picture, 0, 0, 479, 480).to_image();
    let moved = image::imageops::rotate180(&picture);
    for other in [brighter, narrower, moved] {
        assert!(!look_alike(&picture, &other));
    }
    assert!(look_alike(&picture, &image::imageops::brighten(&picture, 1)));
}

#[test]
fn drawn_verdicts_are_the_published_answers() {
    let answers = CASES.map(|case| case.overlaps());
    let published = [true, true, true, true, false, false];
    let traps = [true, false, true, true, false, true];
    assert_eq!(answers.to_vec(), [published, traps].concat());
    for case in CASES {
        let drawing = sheet(&[case]);
        let title = case.title;
        assert_eq!(drawing.contains(">overlap<"), case.overlaps(), "{title}");
        assert_eq!(drawing.contains(">apart<"), !case.overlaps(), "{title}");
        // What they have in common is drawn, and of those that are apart nothing is.
        assert_eq!(drawing.contains(" common\""), case.overlaps(), "{title}");
    }
}

/// The half edge at which the case's box would first touch decides: shrunk by a unit it does not.
#[test]
fn canary_a_smaller_box_changes_verdicts_that_hang_by_a_unit() {
    let shrunk = CASES.iter().map(|case| {
        let half = case.half.map(|half| half - 1);
        gallery::cases::Case { half, ..*case }
    });
    let hang: Vec<_> = shrunk.filter(|case| case.half[0] > 1 << 14 && !case.overlaps()).collect();
    assert_eq!(hang.len(), 2);
}

#[test]
fn the_readme_shows_all_pictures_and_they_are_small() {
    let mut bytes = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let link = format!("](docs/gallery/{})", entry.file_name().to_string_lossy());
        assert!(README.contains(&link), "{link}");
        bytes += entry.metadata().unwrap().len();
    }
    assert!(bytes < 1_500_000, "{bytes} bytes");
}
