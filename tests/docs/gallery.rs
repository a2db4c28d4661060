//! The gallery: the committed pictures are what the program makes, and show what is so.

#[path = "../../examples/gallery/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called, and what it does for scans")]
mod example;

use std::fs;
use std::path::{Path, PathBuf};

use example::cases::CASES;
use example::drawing::sheet;
use image::RgbaImage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gallery")
}

fn decoded(png: &[u8]) -> RgbaImage {
    image::load_from_memory(png).unwrap().to_rgba8()
}

#[test]
fn committed_pictures_are_what_the_program_makes() {
    for (name, made) in example::own().unwrap() {
        let committed = fs::read(folder().join(name)).unwrap();
        let is_current = match name.ends_with(".svg") {
            true => committed == made,
            // The same to the bit on every machine, however a version of the encoder packs it.
            false => decoded(&committed) == decoded(&made),
        };
        assert!(is_current, "{name}: run `cargo run --release --example gallery`");
    }
}

#[test]
fn drawn_verdicts_are_the_published_answers_and_wrong_tests_in_floats_are_named() {
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
        // In `f64`, the 13 axes (1996) and the test of 2001 are wrong in two cases: a normal of
        // rounding errors separates the box from its own centre; a gap of one unit is rounded away.
        let wrong = drawing.split_once("f64 wrong: ").map(|(_, rest)| rest.split('<').next());
        let expected = match title {
            "Three points on a line, in tenths" => Some("test of 2001"),
            "Missed by 3e-19 of its edge" => Some("13 axes, test of 2001"),
            _ => None,
        };
        assert_eq!(wrong.flatten(), expected, "{title}");
    }
}

/// The half edge at which the case's box would first touch decides: shrunk by a unit it does not.
#[test]
fn canary_a_smaller_box_changes_verdicts_that_hang_by_a_unit() {
    let shrunk = CASES.iter().map(|case| {
        let half = case.half.map(|half| half - 1);
        example::cases::Case { half, ..*case }
    });
    let hang: Vec<_> = shrunk.filter(|case| case.half[0] > 1 << 14 && !case.overlaps()).collect();
    assert_eq!(hang.len(), 2);
}

#[test]
fn pages_show_all_pictures_and_they_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = fs::read_to_string(root.join("README.md")).unwrap();
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages += &fs::read_to_string(path).unwrap();
        }
    }
    let mut bytes = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let link = format!("gallery/{})", entry.file_name().to_string_lossy());
        assert!(pages.contains(&link), "{link}");
        bytes += entry.metadata().unwrap().len();
    }
    assert!(bytes < 2_400_000, "{bytes} bytes");
}
