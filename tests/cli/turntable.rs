//! `voxelize render --turntable`: animations.

use super::*;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;

/// A folder with a grid.
fn with_grid() -> Folder {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 9 -o a.npz");
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

fn still(bytes: &[u8]) -> Vec<u8> {
    image::load_from_memory(bytes).unwrap().to_rgba8().into_raw()
}

const SMALL: &str = "--size 40x30 --samples 1";

#[test]
fn an_animation_is_written_and_said_and_begins_with_the_still_picture() {
    let folder = with_grid();
    for background in ["gradient", "transparent"] {
        let args = format!("render a.npz {SMALL} --background {background}");
        let run = voxelize(&folder, &format!("{args} --turntable 3 --fps 10 -o a.png"));
        let said = stderr(&run);
        assert!(run.status.success() && run.stdout.is_empty(), "{said}");
        assert!(said.contains("drew      3 pictures of 40 x 30 pixels in "), "{said}");
        assert!(said.contains("wrote     a.png, "), "{said}");
        let animation = folder.read("a.png");
        let frames = animated(&animation);
        assert_eq!(frames.len(), 3);
        assert!(frames.iter().all(|(_, milliseconds)| (milliseconds - 100.0).abs() < 1e-6));
        assert!(frames[0].0 != frames[1].0 && frames[1].0 != frames[2].0);
        assert!(still(&animation) == frames[0].0, "where animations are not known");
        let run = voxelize(&folder, &format!("{args} --turntable 3 --fps 10 -o - -q"));
        assert!(run.stdout == animation && stderr(&run).is_empty());
    }
}

#[test]
fn without_fps_an_orbit_takes_four_seconds() {
    let folder = with_grid();
    // At least one picture a second, and at most what every format can.
    for (number, seconds) in [(1, 1.0), (2, 2.0), (8, 4.0), (300, 6.0)] {
        let args = format!("render a.npz --size 4 --samples 1 --turntable {number} -o a.png");
        succeeds(&folder, &args);
        let frames = animated(&folder.read("a.png"));
        let time: f64 = frames.iter().map(|(_, milliseconds)| *milliseconds).sum();
        assert!(frames.len() == number && (time - 1000.0 * seconds).abs() < 1.0, "{time}");
    }
}

#[test]
fn a_gif_is_an_animation() {
    use image::AnimationDecoder;
    let folder = with_grid();
    succeeds(&folder, &format!("render a.npz {SMALL} --turntable 3 --fps 10 -o a.GIF"));
    let file = std::io::BufReader::new(fs::File::open(folder.join("a.GIF")).unwrap());
    let gif = image::codecs::gif::GifDecoder::new(file).unwrap();
    let frames = gif.into_frames().collect_frames().unwrap();
    assert_eq!(frames.len(), 3);
    assert!(frames.iter().all(|frame| frame.delay().numer_denom_ms() == (100, 1)));
    assert!(frames[0].buffer() != frames[1].buffer());
}

#[test]
fn turntables_that_cannot_be_are_refused_and_change_nothing() {
    let folder = with_grid();
    for (args, complaint) in [
        ("-o gone/a.png", "there is no folder 'gone'"),
        ("-o b.gif --fps 51", "b.gif: a .gif has at most 50 pictures a second"),
        (
            "-o b.webp",
            "b.webp: unknown file extension '.webp': pictures are .png files, animations",
        ),
        ("-o - --json", "both write to standard output"),
        ("-o turn-%03d.png", "a turntable is one file"),
    ] {
        refuses(&folder, &format!("render a.npz --turntable 3 {args}"), complaint);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let folder = with_grid();
    let before = files(&folder);
    let args = "render a.npz --size 400x400 --turntable 500 -o a.png";
    let mut run = signalled();
    let run = run.current_dir(&folder).args(args.split_whitespace());
    let mut run = run.stderr(std::process::Stdio::null()).spawn().unwrap();
    assert!(becomes(|| files(&folder).len() > before.len()), "no temporary file was seen");
    send("INT", &run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(files(&folder), before);
}
