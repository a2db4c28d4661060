//! `voxelize render --turntable`: animations and numbered pictures.

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
fn an_animation_and_numbered_files_are_the_same_pictures() {
    let folder = with_grid();
    for background in ["gradient", "transparent"] {
        let args = format!("render a.npz {SMALL} --background {background} --turntable 3");
        let run = voxelize(&folder, &format!("{args} -o a.png --fps 10"));
        let said = stderr(&run);
        assert!(run.status.success() && run.stdout.is_empty(), "{said}");
        assert!(said.contains("drew      3 pictures of 40 x 30 pixels in "), "{said}");
        assert!(said.contains("wrote     a.png, "), "{said}");
        let animation = folder.read("a.png");
        let run = voxelize(&folder, &format!("{args} -o b-##.png"));
        let said = stderr(&run);
        assert!(said.contains("wrote     b-01.png to b-03.png, "), "{said}");

        let frames = animated(&animation);
        assert_eq!(frames.len(), 3);
        for (n, (pixels, milliseconds)) in (1..).zip(&frames) {
            let file = fs::read(folder.join(format!("b-0{n}.png"))).unwrap();
            assert!(still(&file) == *pixels, "{n}, {background}");
            assert!((milliseconds - 100.0).abs() < 1e-6, "{milliseconds}");
        }
        assert!(frames[0].0 != frames[1].0 && frames[1].0 != frames[2].0);
        assert!(still(&animation) == frames[0].0, "where animations are not known");
        let run = voxelize(&folder, &format!("{args} -o - --fps 10 -q"));
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
fn a_webp_is_the_same_animation_as_a_png() {
    let folder = with_grid();
    for output in ["a.webp", "a.png"] {
        succeeds(&folder, &format!("render a.npz {SMALL} --turntable 3 --fps 10 -o {output}"));
    }
    let file = std::io::BufReader::new(fs::File::open(folder.join("a.webp")).unwrap());
    let webp = image::codecs::webp::WebPDecoder::new(file).unwrap();
    let frames = webp.into_frames().collect_frames().unwrap().into_iter().map(|frame| {
        let (milliseconds, of) = frame.delay().numer_denom_ms();
        (frame.into_buffer().into_raw(), f64::from(milliseconds) / f64::from(of))
    });
    assert!(frames.eq(animated(&folder.read("a.png"))));
}

#[test]
fn numbered_files_are_called_as_ffmpeg_and_blender_call_them_and_listed() {
    let folder = with_grid();
    fs::create_dir(folder.join("a#b")).unwrap();
    for (pattern, expected) in [
        ("x%03d.png", ["x001.png", "x002.png"]),
        ("y%d.png", ["y1.png", "y2.png"]),
        ("####.png", ["0001.png", "0002.png"]),
        ("a#b/#.png", ["a#b/1.png", "a#b/2.png"]),
    ] {
        let run = format!("render a.npz {SMALL} --turntable 2 --json -o {pattern}");
        let json = json(&voxelize(&folder, &run));
        assert_eq!(json["output"], serde_json::json!(expected), "{pattern}");
        let sizes = expected.map(|name| fs::metadata(folder.join(name)).unwrap().len());
        let bytes: u64 = sizes.iter().sum();
        assert_eq!((&json["bytes"], &json["frames"]), (&bytes.into(), &2.into()));
    }
    let json = json(&voxelize(&folder, &format!("render a.npz {SMALL} --json -o a-#.png")));
    assert_eq!((&json["output"], json.get("frames")), (&"a-#.png".into(), None));
    assert!(folder.join("a-#.png").exists(), "no number without a turntable");
}

#[test]
fn more_pictures_than_a_process_can_have_files_open_are_written() {
    let folder = with_grid();
    let script = format!(
        "ulimit -n 40; {VOXELIZE} render a.npz --size 4x4 --samples 1 --turntable 100 -o %d.png -q"
    );
    let run = bash(&folder, &script);
    assert!(run.status.success(), "{}", stderr(&run));
    assert_eq!(files(&folder).len(), 102);
}

#[test]
fn turntables_that_cannot_be_are_refused_and_change_nothing() {
    let folder = with_grid();
    fs::create_dir(folder.join("c-2.png")).unwrap();
    for (args, complaint) in [
        ("-o b-%s.png", "b-%s.png: '%' stands for the number of a picture, such as %04d"),
        ("-o b-%3d.png", "b-%3d.png: '%' stands for"),
        ("-o b-#-#.png", "b-#-#.png: has several places for the number of a picture"),
        ("-o b-##########.png", "use at most 9 digits"),
        ("-o b-#.png --fps 24", "b-#.png: --fps is for an animation in one file"),
        ("-o c-#.png", "c-2.png: is a folder"),
        ("-o gone/#.png", "there is no folder 'gone'"),
        ("-o gone/a.png", "there is no folder 'gone'"),
        ("-o b-#.gif", "b-#.gif: numbered pictures are .png files"),
        ("-o b-#.webp", "b-#.webp: numbered pictures are .png files"),
        ("-o b.gif --fps 51", "b.gif: a .gif has at most 50 pictures a second"),
        ("-o b-#.jpg", "b-#.jpg: unknown file extension '.jpg'"),
        ("-o - --json", "both write to standard output"),
    ] {
        refuses(&folder, &format!("render a.npz --turntable 3 {args}"), complaint);
    }
}

#[cfg(unix)]
#[test]
fn if_one_picture_cannot_be_written_none_is() {
    let folder = with_grid();
    folder.write("b-1.png", "old");
    // The target of a link is replaced, but not that of this one.
    std::os::unix::fs::symlink("elsewhere.png", folder.join("b-2.png")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.join("b-3.png")).unwrap();
    let args = format!("render a.npz {SMALL} --turntable 3 -o b-#.png");
    refuses(&folder, &args, "b-3.png: is not a regular file, and cannot be replaced");
    assert_eq!(fs::read_to_string(folder.join("b-1.png")).unwrap(), "old");
    let args = args.replace("--turntable 3", "--turntable 2");
    succeeds(&folder, &args);
    assert!(folder.join("elsewhere.png").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let folder = with_grid();
    for output in ["a.png", "a-#.png"] {
        let before = files(&folder);
        let args = format!("render a.npz --size 400x400 --turntable 500 -o {output}");
        let mut run = signalled();
        let run = run.current_dir(&folder).args(args.split_whitespace());
        let mut run = run.stderr(std::process::Stdio::null()).spawn().unwrap();
        assert!(becomes(|| files(&folder).len() > before.len()), "no temporary file was seen");
        send("INT", &run);
        assert_eq!(run.wait().unwrap().code(), Some(130), "{output}");
        assert_eq!(files(&folder), before, "{output}");
    }
}

#[test]
fn numbered_pictures_of_an_earlier_run_that_follow_the_last_are_named() {
    let folder = with_grid();
    let warnings = |number: u32| {
        let run = format!("render a.npz {SMALL} --turntable {number} --json -o b-##.png");
        json(&voxelize(&folder, &run))["warnings"].to_string()
    };
    assert_eq!(warnings(3), "[]");
    assert!(warnings(2).contains("b-03.png and perhaps others follow"), "{}", warnings(2));
    assert_eq!(warnings(3), "[]");
}
