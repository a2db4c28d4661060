//! Pictures: what is where in them, in which colour, and that they are the same however they are
//! made.
use std::io::Write;

use crate::common::prelude::*;
use trivox::grid::DEFAULT_COLOR;
use trivox::view::render::{
    Background, Camera, GifAnimation, MAX_MARGIN, MAX_SIDE, Picture, PngAnimation, Projection,
    RenderError, RenderOptions, Renderer, View,
};

const ALONG_AXES: [View; 6] =
    [View::Front, View::Back, View::Left, View::Right, View::Top, View::Bottom];

/// Scattered voxels, with one at each end of a cube of 16.
fn scattered() -> VoxelGrid {
    let mut rng = Rng::with_seed(7);
    let ends = [[0, 0, 0], [15, 15, 15]];
    let voxels = (0..90).map(|_| [(); 3].map(|()| rng.u32(0..16))).chain(ends);
    VoxelGrid::from_voxels([16; 3], voxels).unwrap()
}

/// A pixel for each column of 16x16 voxels, times `scale`.
fn columns(view: View, scale: u32) -> RenderOptions {
    RenderOptions { view, margin: 0.0, samples: 1, ..without_background([16 * scale; 2]) }
}

/// Which voxel is in the column of a pixel, counted from the eye.
fn in_column(view: View, up: Up, [column, row]: [u32; 2], depth: u32) -> [u32; 3] {
    let (i, j, k) = (column, 15 - row, 15 - depth);
    // By right, up and front.
    let [right, above, front] = match view {
        View::Front => [i, j, k],
        View::Back => [15 - i, j, 15 - k],
        View::Left => [15 - k, j, i],
        View::Right => [k, j, 15 - i],
        View::Top => [i, k, 15 - j],
        View::Bottom => [i, 15 - k, j],
        _ => unreachable!("it has no columns"),
    };
    match up {
        Up::Y => [right, above, front],
        Up::Z => [right, 15 - front, above],
    }
}

fn draw(grid: &VoxelGrid, options: &RenderOptions) -> Picture {
    Renderer::new(grid).render(options, &NoProgress).unwrap()
}

#[test]
fn silhouettes_along_the_axes_are_the_voxels_projected_pixel_for_pixel() {
    for &up in Up::ALL {
        let world = World::at([0.0; 3], 1.0, up);
        let grid = scattered().with_world(world);
        for view in ALONG_AXES {
            for scale in [1, 3] {
                let picture = draw(&grid, &columns(view, scale));
                for at in (0..256 * scale * scale).map(|n| [n % (16 * scale), n / (16 * scale)]) {
                    let column = at.map(|c| c / scale);
                    let voxel = |depth| in_column(view, up, column, depth);
                    let expected = (0..16).any(|depth| grid.contains(voxel(depth)));
                    let opacity = picture.at(at[0], at[1])[3];
                    assert_eq!(opacity, 255 * u8::from(expected), "{view:?}, {up:?} up, {at:?}");
                }
            }
        }
    }
}

#[test]
fn the_nearest_voxel_of_a_column_is_seen_in_its_hue() {
    let hues = [[230, 20, 20, 255], [20, 230, 20, 255], [20, 20, 230, 255]];
    let grid = scattered();
    let grid = painted_by(grid, [0; 4], |[x, y, z]| Some(hues[((x + 2 * y + z) % 3) as usize]));
    for view in ALONG_AXES {
        let picture = draw(&grid, &columns(view, 1));
        for at in (0..256).map(|n| [n % 16, n / 16]) {
            let mut voxels = (0..16).map(|depth| in_column(view, Up::Y, at, depth));
            let Some([x, y, z]) = voxels.find(|&voxel| grid.contains(voxel)) else { continue };
            let [r, g, b, _] = picture.at(at[0], at[1]);
            let brightest = [r, g, b].iter().position(|&c| c == r.max(g).max(b)).unwrap();
            assert_eq!(brightest as u32, (x + 2 * y + z) % 3, "{view:?}, {at:?}");
        }
    }
}

#[test]
fn a_lit_face_is_about_as_bright_as_its_colour_and_a_shadow_darker() {
    let color = [200, 120, 60, 255];
    let plate = voxels_in([0; 3], [16, 1, 16]);
    let tower = (1..9).map(|y| [8, y, 8]);
    let grid = VoxelGrid::from_voxels([16; 3], plate.chain(tower)).unwrap();
    let picture = draw(&grid.with_colors(Colors::uniform(color)), &columns(View::Top, 8));
    let light = |pixel: [u8; 4]| pixel.map(i32::from);
    let [bright, dark] = [[12, 116], [94, 102]].map(|[column, row]| light(picture.at(column, row)));
    for channel in 0..3 {
        let own = i32::from(color[channel]);
        assert!((bright[channel] - own).abs() * 5 < own, "{bright:?} of {color:?}");
        assert!(dark[channel] * 10 < bright[channel] * 9, "{dark:?} beside {bright:?}");
    }
}

#[test]
fn the_whole_grid_is_in_the_picture_and_fills_it() {
    let grid = scattered();
    for &view in View::ALL {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            for size in [[90, 60], [60, 90]] {
                let options = RenderOptions {
                    view,
                    projection: Some(projection),
                    ..without_background(size)
                };
                let picture = draw(&grid, &options);
                let used = [covered(&picture, false), covered(&picture, true)];
                let part = |i: usize| used[i].len() as f64 / f64::from(size[i]);
                // All but twice the margin, one way or the other.
                let most = part(0).max(part(1));
                assert!((0.75..0.92).contains(&most), "{view:?}, {projection:?}, {size:?}: {most}");
                assert!(used[0][0] > 0 && used[1][0] > 0, "{view:?}, {projection:?}, {size:?}");
            }
        }
    }
}

#[test]
fn backgrounds_are_as_asked_for() {
    let grid = scattered();
    let options = RenderOptions::new([40, 40]);
    let corner = |background| draw(&grid, &RenderOptions { background, ..options }).at(0, 0);
    assert_eq!(corner(Background::Color([12, 200, 99])), [12, 200, 99, 255]);
    assert_eq!(corner(Background::Transparent), [0; 4]);
    let picture = draw(&grid, &options);
    assert!(picture.pixels().iter().all(|pixel| pixel[3] == 255));
    assert!(picture.at(0, 0)[0] > picture.at(0, 39)[0], "it is lighter at the top");
}

#[test]
fn voxels_cast_a_shadow_on_the_ground() {
    let grid = VoxelGrid::from_voxels([1, 4, 1], (0..4).map(|y| [0, y, 0])).unwrap();
    let white = [255, 255, 255];
    let options =
        RenderOptions { background: Background::Color(white), ..RenderOptions::new([80, 80]) };
    let shadows = |view| {
        let picture = draw(&grid, &RenderOptions { view, ..options });
        let clear = draw(&grid, &RenderOptions { view, ..without_background([80, 80]) });
        let pairs = picture.pixels().iter().zip(clear.pixels());
        pairs.filter(|(pixel, clear)| clear[3] == 0 && pixel[0] < 225).count()
    };
    for view in [View::Iso, View::ThreeQuarter] {
        assert!(shadows(view) > 50, "{view:?}: {}", shadows(view));
    }
    assert_eq!(shadows(View::Front), 0);
}

#[test]
fn a_picture_does_not_depend_on_the_number_of_threads() {
    let grid = scattered();
    let draw_with =
        |threads: usize| on_threads(threads, || draw(&grid, &RenderOptions::new([123, 77])));
    let alone = draw_with(1);
    assert!([2, 3, 8].into_iter().all(|threads| draw_with(threads) == alone));
}

#[test]
fn a_cancelled_picture_ends_after_a_few_rows() {
    let grid = scattered();
    let options = RenderOptions { samples: 2, ..RenderOptions::new([300; 2]) };
    let counts = Counts::cancelled_at(40);
    let cancelled = on_threads(1, || Renderer::new(&grid).render(&options, &counts));
    assert!(matches!(cancelled, Err(RenderError::Cancelled)), "{cancelled:?}");
    assert_eq!(counts.done.into_inner(), 40);
}

/// The pictures of a PNG, or of an animated one, and how long each is shown in seconds, as a
/// fraction.
fn of_png(bytes: Vec<u8>) -> (Vec<Vec<u8>>, Vec<Option<[u16; 2]>>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let animation = reader.info().animation_control;
    assert_eq!(animation.map_or(0, |animation| animation.num_plays), 0);
    let read = |_| {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let control = reader.info().frame_control();
        (pixels, control.map(|control| [control.delay_num, control.delay_den]))
    };
    (0..animation.map_or(1, |animation| animation.num_frames)).map(read).unzip()
}

/// The pictures of a turntable on a clear and on an opaque background.
fn turntables() -> [(RenderOptions, Vec<Picture>); 2] {
    [Background::Transparent, Background::Gradient].map(|background| {
        let options = RenderOptions { background, ..RenderOptions::new([31, 17]) };
        (options, options.turntable(5).map(|frame| draw(&lopsided(), &frame)).collect())
    })
}

#[test]
fn a_png_has_the_pictures_pixels_and_an_animation_the_pictures_in_order() {
    for (options, frames) in turntables() {
        let (mut still, mut moving) = (Vec::new(), Vec::new());
        frames[0].write_png(&mut still).unwrap();
        let mut animation = PngAnimation::new(&mut moving, &options, 5, 12).unwrap();
        frames.iter().for_each(|frame| animation.add(frame).unwrap());
        animation.finish().unwrap();
        let channels = if options.background == Background::Transparent { 4 } else { 3 };
        let opaque = |frame: &Picture| -> Vec<u8> {
            frame.pixels().iter().flat_map(|pixel| &pixel[..channels]).copied().collect()
        };
        let expected: Vec<Vec<u8>> = frames.iter().map(opaque).collect();
        assert!(expected[0] != expected[1]);
        assert!(of_png(still) == (expected[..1].to_vec(), vec![None]), "{options:?}");
        assert!(of_png(moving) == (expected, vec![Some([1, 12]); 5]), "{options:?}");
    }
}

type Writer<'a> = &'a dyn Fn(&mut dyn Write) -> std::io::Result<()>;

#[test]
fn a_picture_that_cannot_be_written_to_its_end_is_an_error() {
    let options = RenderOptions::new([31, 17]);
    let picture = draw(&scattered(), &options);
    let png = |out: &mut dyn Write| picture.write_png(out);
    let gif = |out: &mut dyn Write| {
        let mut animation = GifAnimation::new(out, &options, 24)?;
        animation.add(&picture)?;
        animation.finish()
    };
    for (what, write) in [("PNG", &png as Writer<'_>), ("GIF", &gif)] {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        for room in [0, bytes.len() - 1] {
            assert!(write(&mut &mut vec![0; room][..]).is_err(), "{what}, {room} bytes");
        }
        write(&mut &mut vec![0; bytes.len()][..]).unwrap();
    }
}

#[test]
fn an_empty_grid_is_a_picture_of_the_background() {
    let grid = VoxelGrid::empty([5, 6, 7]).unwrap();
    for &view in View::ALL {
        let options = RenderOptions { view, ..RenderOptions::new([9, 5]) };
        let picture =
            draw(&grid, &RenderOptions { background: Background::Color([1, 2, 3]), ..options });
        assert!(picture.pixels().iter().all(|&pixel| pixel == [1, 2, 3, 255]), "{view:?}");
    }
}

#[test]
fn the_largest_grids_and_margins_are_in_reach_of_the_camera() {
    let ends = [[0, 0, 0], [65535, 65535, 65535]];
    let largest = VoxelGrid::from_voxels([65536; 3], ends).unwrap();
    for projection in Projection::ALL.iter().copied().map(Some) {
        let options = RenderOptions { projection, ..RenderOptions::new([8, 8]) };
        assert_eq!(draw(&largest, &options).size(), [8, 8]);
        for size in [[MAX_SIDE, 1], [1, MAX_SIDE]] {
            for &view in View::ALL {
                let empty = without_background(size);
                let widest = RenderOptions { view, projection, margin: MAX_MARGIN, ..empty };
                assert_eq!(draw(&scattered(), &widest).size(), size);
            }
        }
    }
}

#[test]
fn options_that_are_not_possible_are_refused() {
    let grid = scattered();
    let options = RenderOptions::new([8, 8]);
    for (options, complaint) in [
        (RenderOptions::new([0, 8]), "0x8 pixels"),
        (RenderOptions::new([8, 16385]), "use 1 to 16,384 a side"),
        (RenderOptions { samples: 0, ..options }, "0 rays"),
        (RenderOptions { samples: 17, ..options }, "use 1 to 16"),
        (RenderOptions { margin: 0.491, ..options }, "use 0 to 0.49"),
        (RenderOptions { margin: -0.1, ..options }, "use 0 to 0.49"),
        (RenderOptions { margin: f64::NAN, ..options }, "NaN"),
        (RenderOptions { turn: Some(f64::INFINITY), ..options }, "a turn of inf degrees"),
        (RenderOptions { azimuth: Some(f64::NAN), ..options }, "an azimuth of NaN degrees"),
        (
            RenderOptions { elevation: Some(90.1), ..options },
            "an elevation of 90.1 degrees is not possible: use -90 to",
        ),
        (RenderOptions { elevation: Some(f64::NAN), ..options }, "an elevation of NaN degrees"),
        (RenderOptions { zoom: 0.0, ..options }, "a zoom of 0 is not possible: use 0.01 to 100"),
        (RenderOptions { zoom: 1e-300, ..options }, "a zoom of 1e-300 is"),
        (RenderOptions { zoom: f64::NAN, ..options }, "a zoom of NaN"),
        (
            RenderOptions { sun: Some([0.0, -1.0]), ..options },
            "a sun at an elevation of -1 degrees",
        ),
        (RenderOptions { sun: Some([f64::INFINITY, 1.0]), ..options }, "an azimuth of inf degrees"),
    ] {
        let message = Renderer::new(&grid).render(&options, &NoProgress).unwrap_err().to_string();
        assert!(message.contains(complaint), "{message}");
        let camera = Camera::new(&grid, Up::Y, &options);
        assert_eq!(camera.unwrap_err().to_string(), message);
    }
}

/// A plate with a tower off its middle and one voxel above that, all in a corner of the grid.
fn lopsided() -> VoxelGrid {
    let plate = voxels_in([2, 3, 1], [9, 4, 6]);
    let tower = (4..12).map(|y| [7, y, 2]);
    VoxelGrid::from_voxels([40, 30, 20], plate.chain(tower)).unwrap()
}

#[test]
fn a_quarter_turn_further_is_the_next_view() {
    for &up in Up::ALL {
        let grid = lopsided().with_world(World::at([0.0; 3], 1.0, up));
        let from = |view, turn| {
            let options = RenderOptions { view, turn: Some(turn), ..RenderOptions::new([60, 50]) };
            draw(&grid, &options)
        };
        let around = [View::Front, View::Right, View::Back, View::Left];
        for (n, view) in (0..).zip(around) {
            let turn = 90.0 * f64::from(n);
            assert!(from(View::Front, turn) == from(view, 0.0), "{view:?}, {up:?} up");
            assert!(from(view, -turn - 360.0) == from(View::Front, 0.0), "{view:?}, {up:?} up");
        }
        assert!(from(View::ThreeQuarter, 90.0) != from(View::ThreeQuarter, 0.0));
        assert!(from(View::Top, 90.0) != from(View::Top, 0.0));
    }
}

/// The rows or columns of a picture in which something is.
fn covered(picture: &Picture, is_rows: bool) -> Vec<u32> {
    let [width, height] = picture.size();
    let (lines, across) = if is_rows { (height, width) } else { (width, height) };
    let at = |line, i| if is_rows { picture.at(i, line) } else { picture.at(line, i) };
    (0..lines).filter(|&line| (0..across).any(|i| at(line, i)[3] > 0)).collect()
}

#[test]
fn all_pictures_of_an_orbit_are_framed_alike_and_show_all() {
    let grid = lopsided();
    let margin = 0.1;
    for view in [View::Front, View::Iso, View::ThreeQuarter] {
        for projection in [Projection::Orthographic, Projection::Perspective] {
            let projection = Some(projection);
            let options =
                RenderOptions { view, projection, margin, ..without_background([150, 90]) };
            let (mut widest, mut highest) = (0, 0);
            let mut rows = Vec::new();
            for frame in options.turntable(24) {
                let picture = draw(&grid, &frame);
                for (is_rows, side) in [(true, 90.0), (false, 150.0)] {
                    let lines = covered(&picture, is_rows);
                    let (first, last) = (f64::from(lines[0]), f64::from(*lines.last().unwrap()));
                    let free = margin * side - 1.0;
                    assert!(first > free && last + 1.0 < side - free, "{view:?}, {projection:?}");
                    let part = lines.len() as u32;
                    if is_rows { highest = highest.max(part) } else { widest = widest.max(part) }
                }
                rows.push(covered(&picture, true));
            }
            // Some pixels of the polygon about the circle; of a perspective more.
            let fills = highest >= 68 || widest >= 115;
            assert!(fills, "{view:?}, {projection:?}: {highest}, {widest}");
            // Level and without perspective, each voxel stays at its height.
            let is_level = view == View::Front && projection == Some(Projection::Orthographic);
            assert!(!is_level || rows.iter().all(|row| *row == rows[0]), "{rows:?}");
        }
    }
}

#[test]
fn the_pictures_of_a_turntable_are_evenly_around() {
    let options = RenderOptions { turn: Some(30.0), ..RenderOptions::new([8, 8]) };
    let turns: Vec<Option<f64>> = options.turntable(4).map(|frame| frame.turn).collect();
    assert_eq!(turns, [30.0, 120.0, 210.0, 300.0].map(Some));
    let alone = RenderOptions::new([8, 8]).turntable(1);
    assert_eq!(alone.map(|frame| frame.turn).collect::<Vec<_>>(), [Some(0.0)]);
    assert_eq!(options.turntable(0).len(), 0);
}

#[test]
fn animations_that_are_not_possible_are_refused() {
    let options = RenderOptions::new([8, 9]);
    let [picture, turned] =
        [[8, 9], [9, 8]].map(|size| draw(&scattered(), &RenderOptions::new(size)));
    let png = |pictures, fps| PngAnimation::new(std::io::sink(), &options, pictures, fps);
    assert!(png(0, 24).is_err());
    let message = png(1, 0).err().unwrap().to_string();
    assert!(message.contains("use 1 or more"), "{message}");
    let mut animation = png(2, 24).unwrap();
    let message = animation.add(&turned).unwrap_err().to_string();
    assert!(message.contains("[9, 8]"), "{message}");
    animation.add(&picture).unwrap();
    assert!(animation.finish().is_err(), "one is missing");
    let mut animation = png(1, 24).unwrap();
    animation.add(&picture).unwrap();
    assert!(animation.add(&picture).is_err(), "one too many");

    let gif = |size, fps| GifAnimation::new(std::io::sink(), &RenderOptions::new(size), fps);
    for (size, fps) in [([8, 9], 0), ([8, 9], 51), ([65_536, 8], 24), ([8, 0], 24)] {
        assert!(gif(size, fps).is_err(), "{size:?}, {fps}");
    }
    let mut animation = gif([8, 9], 50).unwrap();
    assert!(animation.add(&turned).is_err());
    assert!(animation.finish().is_err(), "no picture");
}

/// Functions of floating-point numbers that each platform has its own of, with roundings of its
/// own.
const OF_PLATFORMS: &str = "acos asin atan atan2 cbrt cos exp hypot ln powf sin sin_cos tan";

#[test]
fn rays_and_pictures_are_made_without_functions_that_platforms_round_differently() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/view");
    let mut files = Vec::new();
    for folder in ["render", "trace"] {
        let entries = fs::read_dir(source.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.is_file()));
    }
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_called = |name: &&str| text.contains(&format!(".{name}("));
        let found: Vec<_> = OF_PLATFORMS.split(' ').filter(is_called).collect();
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

/// A camera's axes: right, up and back.
fn axes(options: &RenderOptions, up: Up) -> [[f64; 3]; 3] {
    Camera::new(&scattered(), up, options).unwrap().axes
}

#[test]
fn azimuth_and_elevation_are_those_of_the_named_views() {
    let options = RenderOptions::new([50, 40]);
    let from = |azimuth, elevation, up| {
        let [azimuth, elevation] = [Some(azimuth), Some(elevation)];
        axes(&RenderOptions { azimuth, elevation, ..options }, up)
    };
    for (view, azimuth, elevation) in [
        (View::Front, 360.0, 0.0),
        (View::Right, 90.0, 0.0),
        (View::Back, -180.0, 0.0),
        (View::Left, -90.0, 0.0),
        (View::Top, 0.0, 90.0),
        (View::Bottom, 0.0, -90.0),
        (View::Iso, 45.0, 0.5_f64.sqrt().atan().to_degrees()),
        (View::ThreeQuarter, 38.0, 28.0),
    ] {
        for &up in Up::ALL {
            let named = axes(&RenderOptions { view, ..options }, up);
            let given = from(azimuth, elevation, up);
            let pairs = named.as_flattened().iter().zip(given.as_flattened());
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{view:?}, {up:?} up");
            let is_exact = !matches!(view, View::Iso | View::ThreeQuarter);
            assert!(!is_exact || named == given, "{view:?}, {up:?} up");
        }
    }
    // One of them alone leaves the other as in the view.
    let right = RenderOptions { view: View::Right, ..options };
    let raised = RenderOptions { elevation: Some(30.0), ..right };
    assert_eq!(axes(&raised, Up::Y), from(90.0, 30.0, Up::Y));
    let turned = RenderOptions { azimuth: Some(0.0), ..right };
    assert_eq!(axes(&turned, Up::Y), from(0.0, 0.0, Up::Y));
}

#[test]
fn an_isometric_picture_has_axes_of_equal_length_and_equal_angles() {
    let options = RenderOptions { view: View::Iso, ..RenderOptions::new([50, 50]) };
    let camera = Camera::new(&scattered(), Up::Y, &options).unwrap();
    assert_eq!(camera.projection, Projection::Orthographic);
    let [right, up, _] = camera.axes;
    let drawn = [0, 1, 2].map(|a| [right[a], up[a], 0.0]);
    for a in 0..3 {
        let (along, next) = (drawn[a], drawn[(a + 1) % 3]);
        assert!((dot(along, along) - 2.0 / 3.0).abs() < 1e-12, "{drawn:?}");
        assert!((dot(along, next) / (2.0 / 3.0) + 0.5).abs() < 1e-12, "not 120 degrees: {drawn:?}");
    }
}

#[test]
fn twice_the_zoom_is_the_middle_of_twice_the_picture() {
    let grid = scattered();
    for &view in View::ALL {
        // Not on a gradient, which is that of the whole picture.
        let options = |size| RenderOptions { view, ..without_background([size; 2]) };
        let [large, close] =
            [options(80), RenderOptions { zoom: 2.0, ..options(40) }].map(|o| draw(&grid, &o));
        for [column, row] in (0..1600).map(|n| [n % 40, n / 40]) {
            let in_large = large.at(column + 20, row + 20);
            assert_eq!(close.at(column, row), in_large, "{view:?}, ({column}, {row})");
        }
    }
}

#[test]
fn shadows_fall_away_from_the_sun_however_the_view_is_turned() {
    let plate = voxels_in([0; 3], [17, 1, 17]);
    let tower = (1..6).map(|y| [8, y, 8]);
    let grid = VoxelGrid::from_voxels([17, 6, 17], plate.chain(tower)).unwrap();
    let options = RenderOptions { view: View::Top, margin: 0.0, ..without_background([170, 170]) };
    // About three voxels from the tower, in an orbit four: to the right, left, below and above in
    // the picture.
    let sides = [[113, 85], [57, 85], [85, 113], [85, 57]];
    for (azimuth, turn, in_shadow) in [
        (90.0, None, 1),
        (-90.0, None, 0),
        (0.0, None, 3),
        (180.0, None, 2),
        (90.0, Some(180.0), 0),
        (90.0, Some(90.0), 3),
    ] {
        let picture = draw(&grid, &RenderOptions { sun: Some([azimuth, 45.0]), turn, ..options });
        let light = sides.map(|[column, row]| u32::from(picture.at(column, row)[1]));
        for (side, light_there) in light.into_iter().enumerate() {
            let is_dark = light_there * 10 < light.iter().max().unwrap() * 9;
            assert_eq!(is_dark, side == in_shadow, "sun {azimuth}, turn {turn:?}: {light:?}");
        }
    }
}

#[test]
fn edges_are_drawn_unless_they_are_not_wanted() {
    let grid = VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap();
    let options = columns(View::Front, 4);
    let hues = |options| {
        let picture = draw(&grid, &options);
        picture.pixels().iter().copied().collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(hues(RenderOptions { edges: false, ..options }), 1);
    assert!(hues(options) > 1);
}

#[test]
fn voxels_without_colours_are_drawn_in_one_that_is_not_grey() {
    let (plain, options) = (scattered(), RenderOptions::new([40, 30]));
    let colored = scattered().with_colors(Colors::uniform(DEFAULT_COLOR));
    assert!(draw(&plain, &options) == draw(&colored, &options));
    let [r, g, b, _] = DEFAULT_COLOR;
    assert!(r.max(g).max(b) - r.min(g).min(b) > 40);
}

#[test]
fn a_picture_is_laid_over_another_by_its_opacity() {
    let options = RenderOptions { view: View::Front, margin: 0.25, ..RenderOptions::new([16, 16]) };
    let blue = draw(
        &scattered(),
        &RenderOptions { background: Background::Color([0, 0, 200]), ..options },
    );
    let clear = draw(
        &VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap(),
        &RenderOptions { background: Background::Transparent, edges: false, ..options },
    );
    let [middle, corner] = [[8, 8], [0, 0]].map(|[x, y]| (clear.at(x, y), blue.at(x, y)));
    assert!(middle.0[3] == 255 && corner.0[3] == 0);
    let laid = |opacity| {
        let mut picture = blue.clone();
        picture.overlay(&clear, opacity);
        [picture.at(8, 8), picture.at(0, 0)]
    };
    assert_eq!(laid(1.0), [middle.0, corner.1]);
    assert_eq!(laid(0.0), [middle.1, corner.1]);
    // Over transparent pixels the colour is that of the picture above.
    let mut above_nothing = clear.clone();
    above_nothing.overlay(&blue, 0.5);
    let [r, g, b, _] = corner.1;
    assert_eq!(above_nothing.at(0, 0), [r, g, b, 128]);
    let [half, _] = laid(0.5);
    for (i, channel) in half.into_iter().enumerate().take(3) {
        let mean = (f64::from(middle.0[i]) + f64::from(middle.1[i])) / 2.0;
        assert!((f64::from(channel) - mean).abs() <= 1.0, "{half:?}");
    }
}

#[test]
fn a_gif_has_the_pictures_in_order_in_256_colours_each() {
    use image::AnimationDecoder;
    for (options, frames) in turntables() {
        let mut bytes = Vec::new();
        let mut animation = GifAnimation::new(&mut bytes, &options, 24).unwrap();
        frames.iter().for_each(|frame| animation.add(frame).unwrap());
        drop(animation);
        let gif = image::codecs::gif::GifDecoder::new(std::io::Cursor::new(bytes)).unwrap();
        let read = gif.into_frames().collect_frames().unwrap();
        assert_eq!(read.len(), 5);
        for (read, drawn) in read.iter().zip(&frames) {
            assert_eq!(read.delay().numer_denom_ms(), (40, 1));
            for (a, b) in read.buffer().pixels().zip(drawn.pixels()) {
                assert_eq!(a.0[3] == 255, b[3] >= 128, "{options:?}");
                let far = (0..3).map(|i| a.0[i].abs_diff(b[i])).max().unwrap();
                assert!(a.0[3] == 0 || far < 24, "{options:?}: {a:?} of {b:?}");
            }
        }
    }
}
