//! `voxelize render --turntable`: animations.

use image::AnimationDecoder;
use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;

use super::*;

/// A folder with a grid.
fn with_grid() -> Folder {
    let folder = folder();
    folder.succeeds("mesh.obj --res 9 -o a.npz");
    folder
}

/// The pictures of an animation, in red, green, blue and opacity, and milliseconds of each.
fn animated(bytes: &[u8]) -> Vec<(Vec<u8>, f64)> {
    let decoder = PngDecoder::new(std::io::Cursor::new(bytes)).unwrap();
    assert!(decoder.is_apng().unwrap());
    let frames = decoder.apng().unwrap().into_frames().map(|frame| {
        let frame = frame.unwrap();
        let (milliseconds, of) = frame.delay().numer_denom_ms();
        (frame.into_buffer().into_raw(), f64::from(milliseconds) / f64::from(of))
    });
    frames.collect()
}

#[test]
fn an_animation_is_written_and_said_and_begins_with_the_still_picture() {
    let folder = with_grid();
    for background in ["gradient", "transparent"] {
        let args = format!("--background {background} --turntable 3 --fps 10");
        let args = format!("render a.npz --size 40x30 --samples 1 {args}");
        let run = folder.succeeds(format!("{args} -o a.png"));
        let said = stderr(&run);
        assert!(said.contains("drew      3 pictures of 40 x 30 pixels in "), "{said}");
        assert!(said.contains("wrote     a.png, ") && run.stdout.is_empty(), "{said}");
        let animation = folder.read("a.png");
        let frames = animated(&animation);
        assert_eq!(frames.len(), 3);
        assert!(frames.iter().all(|(_, milliseconds)| (milliseconds - 100.0).abs() < 1e-6));
        assert!(frames[0].0 != frames[1].0 && frames[1].0 != frames[2].0);
        let still = image::load_from_memory(&animation).unwrap().to_rgba8().into_raw();
        assert!(still == frames[0].0, "where animations are not known");
        let run = folder.succeeds(format!("{args} -o - -q"));
        assert!(run.stdout == animation && run.stderr.is_empty());
    }
}

#[test]
fn without_fps_an_orbit_takes_four_seconds() {
    let folder = with_grid();
    // At least one picture a second, and at most what every format can.
    for (number, seconds) in [(1, 1.0), (2, 2.0), (8, 4.0), (300, 6.0)] {
        let options = format!("--size 4 --samples 1 --turntable {number}");
        folder.succeeds(format!("render a.npz {options} -o a.png"));
        let frames = animated(&folder.read("a.png"));
        let time: f64 = frames.iter().map(|(_, milliseconds)| *milliseconds).sum();
        assert!(frames.len() == number && (time - 1000.0 * seconds).abs() < 1.0, "{time}");
    }
}

#[test]
fn a_gif_is_an_animation() {
    let folder = with_grid();
    let options = "--size 40x30 --samples 1 --turntable 3 --fps 10";
    folder.succeeds(format!("render a.npz {options} -o a.GIF"));
    let gif = GifDecoder::new(std::io::Cursor::new(folder.read("a.GIF"))).unwrap();
    let frames = gif.into_frames().collect_frames().unwrap();
    assert_eq!(frames.len(), 3);
    assert!(frames.iter().all(|frame| frame.delay().numer_denom_ms() == (100, 1)));
    assert!(frames[0].buffer() != frames[1].buffer());
}

#[test]
fn turntables_that_cannot_be_are_refused_and_change_nothing() {
    let pictures = "b.webp: unknown file extension '.webp': pictures are .png files, animations";
    with_grid().each("render a.npz --turntable 3 -o _").refuses(&[
        ("gone/a.png", "there is no folder 'gone'"),
        ("b.gif --fps 51", "b.gif: a .gif has at most 50 pictures a second"),
        ("b.webp", pictures),
        ("- --json", "both write to standard output"),
        ("turn-%03d.png", "a turntable is one file"),
    ]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let folder = with_grid();
    let before = folder.files();
    let mut run = folder.start("render a.npz --size 400x400 --turntable 500 -o a.png");
    assert!(becomes(|| folder.files().len() > before.len()), "no temporary file was seen");
    send("INT", &run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(folder.files(), before);
}
