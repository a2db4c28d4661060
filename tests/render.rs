//! Pictures: what is where in them, in which colour, and that they are the same however they are made.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use fastrand::Rng;
use trivox::grid::Colors;
use trivox::render::{
    Animation, Background, MAX_MARGIN, MAX_SIDE, Picture, Projection, RenderOptions, View, render,
};
use trivox::{Up, VoxelGrid, World};

const VIEWS: [View; 7] =
    [View::Front, View::Back, View::Left, View::Right, View::Top, View::Bottom, View::Iso];

/// Scattered voxels, with one at each end of a cube of 16.
fn scattered() -> VoxelGrid {
    let mut rng = Rng::with_seed(7);
    let ends = [[0, 0, 0], [15, 15, 15]];
    let voxels = (0..90).map(|_| std::array::from_fn(|_| rng.u32(0..16))).chain(ends);
    VoxelGrid::from_voxels([16; 3], voxels.collect::<Vec<_>>()).unwrap()
}

/// A pixel for each column of 16x16 voxels, times `scale`.
fn columns(view: View, scale: u32) -> RenderOptions {
    RenderOptions::new([16 * scale; 2])
        .with_view(view)
        .with_margin(0.0)
        .with_samples(1)
        .with_background(Background::Transparent)
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
    render(grid, options).unwrap()
}

#[test]
fn silhouettes_along_the_axes_are_the_voxels_projected_pixel_for_pixel() {
    for up in [Up::Y, Up::Z] {
        let world = World { origin: [0.0; 3], voxel_size: 1.0, up };
        let grid = scattered().with_world(world);
        for view in &VIEWS[..6] {
            for scale in [1, 3] {
                let picture = draw(&grid, &columns(*view, scale));
                for at in (0..256 * scale * scale).map(|n| [n % (16 * scale), n / (16 * scale)]) {
                    let column = at.map(|c| c / scale);
                    let voxel = |depth| in_column(*view, up, column, depth);
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
    let bricks = grid.bricks().map(|(key, mask)| {
        let base = key.position().map(|b| b * 8);
        let voxels = trivox::grid::mask_voxels(base, mask);
        (key, mask, voxels.map(|[x, y, z]| hues[((x + 2 * y + z) % 3) as usize]).collect())
    });
    let colors = Colors::from_bricks(bricks.collect(), [0; 4]);
    let grid = grid.with_colors(colors);
    for view in &VIEWS[..6] {
        let picture = draw(&grid, &columns(*view, 1));
        for at in (0..256).map(|n| [n % 16, n / 16]) {
            let mut voxels = (0..16).map(|depth| in_column(*view, Up::Y, at, depth));
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
    let plate = (0..16).flat_map(|x| (0..16).map(move |z| [x, 0, z]));
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
    for view in VIEWS {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            for size in [[90, 60], [60, 90]] {
                let options = RenderOptions::new(size)
                    .with_view(view)
                    .with_projection(projection)
                    .with_background(Background::Transparent);
                let picture = draw(&grid, &options);
                let covered = |column, row| picture.at(column, row)[3] > 0;
                let columns = (0..size[0]).filter(|&c| (0..size[1]).any(|r| covered(c, r)));
                let rows = (0..size[1]).filter(|&r| (0..size[0]).any(|c| covered(c, r)));
                let used = [columns.collect::<Vec<_>>(), rows.collect()];
                let part = |i: usize| used[i].len() as f64 / f64::from(size[i]);
                // All but twice the margin, one way or the other.
                let most = part(0).max(part(1));
                assert!((0.8..0.92).contains(&most), "{view:?}, {projection:?}, {size:?}: {most}");
                assert!(used[0][0] > 0 && used[1][0] > 0, "{view:?}, {projection:?}, {size:?}");
            }
        }
    }
}

#[test]
fn backgrounds_are_as_asked_for() {
    let grid = scattered();
    let options = RenderOptions::new([40, 40]);
    let corner = |background| draw(&grid, &options.with_background(background)).at(0, 0);
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
    let options = RenderOptions::new([80, 80]).with_background(Background::Color(white));
    let shadows = |view| {
        let picture = draw(&grid, &options.with_view(view));
        let clear = draw(&grid, &options.with_view(view).with_background(Background::Transparent));
        let pairs = picture.pixels().iter().zip(clear.pixels());
        pairs.filter(|(pixel, clear)| clear[3] == 0 && pixel[0] < 225).count()
    };
    assert!(shadows(View::Iso) > 50, "{}", shadows(View::Iso));
    assert_eq!(shadows(View::Front), 0);
}

#[test]
fn a_picture_does_not_depend_on_the_number_of_threads() {
    let grid = scattered();
    let draw_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(&grid, &RenderOptions::new([123, 77])))
    };
    let alone = draw_with(1);
    assert!([2, 3, 8].into_iter().all(|threads| draw_with(threads) == alone));
}

#[test]
fn a_png_has_the_pictures_pixels() {
    for background in [Background::Transparent, Background::Gradient] {
        let picture = draw(&scattered(), &RenderOptions::new([31, 17]).with_background(background));
        let mut bytes = Vec::new();
        picture.write_png(&mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut read = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut read).unwrap();
        assert_eq!([info.width, info.height], picture.size());
        let channels = if background == Background::Transparent { 4 } else { 3 };
        let expected = picture.pixels().iter().flat_map(|pixel| &pixel[..channels]);
        assert!(read.iter().eq(expected), "{background:?}");
    }
}

#[test]
fn an_empty_grid_is_a_picture_of_the_background() {
    let grid = VoxelGrid::empty([5, 6, 7]).unwrap();
    for view in VIEWS {
        let options = RenderOptions::new([9, 5]).with_view(view);
        let picture = draw(&grid, &options.with_background(Background::Color([1, 2, 3])));
        assert!(picture.pixels().iter().all(|&pixel| pixel == [1, 2, 3, 255]), "{view:?}");
    }
}

#[test]
fn the_largest_grids_are_in_reach_of_the_camera() {
    let ends = [[0, 0, 0], [65535, 65535, 65535]];
    let grid = VoxelGrid::from_voxels([65536; 3], ends).unwrap();
    for projection in [Projection::Perspective, Projection::Orthographic] {
        let options = RenderOptions::new([8, 8]).with_projection(projection);
        assert_eq!(draw(&grid, &options).size(), [8, 8]);
    }
}

#[test]
fn options_that_are_not_possible_are_refused() {
    let grid = scattered();
    let options = RenderOptions::new([8, 8]);
    for (options, complaint) in [
        (RenderOptions::new([0, 8]), "0x8 pixels"),
        (RenderOptions::new([8, 16385]), "use 1 to 16384 a side"),
        (options.with_samples(0), "0 rays"),
        (options.with_samples(17), "use 1 to 16"),
        (options.with_margin(0.491), "use 0 to 0.49"),
        (options.with_margin(-0.1), "use 0 to 0.49"),
        (options.with_margin(f64::NAN), "NaN"),
        (options.with_turn(f64::INFINITY), "a turn of inf degrees"),
    ] {
        let message = render(&grid, &options).unwrap_err().to_string();
        assert!(message.contains(complaint), "{message}");
    }
}

/// A plate with a tower off its middle and one voxel above that, all in a corner of the grid.
fn lopsided() -> VoxelGrid {
    let plate = (2..9).flat_map(|x| (1..6).map(move |z| [x, 3, z]));
    let tower = (4..12).map(|y| [7, y, 2]);
    VoxelGrid::from_voxels([40, 30, 20], plate.chain(tower)).unwrap()
}

#[test]
fn a_quarter_turn_further_is_the_next_view() {
    for up in [Up::Y, Up::Z] {
        let grid = lopsided().with_world(World { origin: [0.0; 3], voxel_size: 1.0, up });
        let from = |view, turn| {
            let options = RenderOptions::new([60, 50]).with_view(view).with_turn(turn);
            draw(&grid, &options)
        };
        let around = [View::Front, View::Right, View::Back, View::Left];
        for (n, view) in (0..).zip(around) {
            let turn = 90.0 * f64::from(n);
            assert!(from(View::Front, turn) == from(view, 0.0), "{view:?}, {up:?} up");
            assert!(from(view, -turn - 360.0) == from(View::Front, 0.0), "{view:?}, {up:?} up");
        }
        assert!(from(View::Iso, 90.0) != from(View::Iso, 0.0));
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
    for view in [View::Front, View::Iso] {
        for projection in [Projection::Orthographic, Projection::Perspective] {
            let options = RenderOptions::new([150, 90])
                .with_view(view)
                .with_projection(projection)
                .with_background(Background::Transparent)
                .with_margin(margin);
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
            assert!(
                highest >= 68 || widest >= 115,
                "{view:?}, {projection:?}: {highest}, {widest}"
            );
            // Level and without perspective, each voxel stays at its height.
            let is_level = view == View::Front && projection == Projection::Orthographic;
            assert!(!is_level || rows.iter().all(|row| *row == rows[0]), "{rows:?}");
        }
    }
}

#[test]
fn the_pictures_of_a_turntable_are_evenly_around() {
    let options = RenderOptions::new([8, 8]).with_turn(30.0);
    let turns: Vec<Option<f64>> = options.turntable(4).map(|frame| frame.turn).collect();
    assert_eq!(turns, [30.0, 120.0, 210.0, 300.0].map(Some));
    let alone = RenderOptions::new([8, 8]).turntable(1);
    assert_eq!(alone.map(|frame| frame.turn).collect::<Vec<_>>(), [Some(0.0)]);
    assert_eq!(options.turntable(0).len(), 0);
}

/// The pictures of an animated PNG, and how long each is shown in seconds, as a fraction.
fn animated(bytes: Vec<u8>) -> (Vec<Vec<u8>>, Vec<(u16, u16)>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let pictures = reader.info().animation_control.unwrap().num_frames;
    assert_eq!(reader.info().animation_control.unwrap().num_plays, 0);
    let read = |_| {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let control = reader.info().frame_control().unwrap();
        (pixels, (control.delay_num, control.delay_den))
    };
    (0..pictures).map(read).unzip()
}

#[test]
fn an_animation_has_the_pictures_in_order() {
    for background in [Background::Transparent, Background::Gradient] {
        let options = RenderOptions::new([31, 17]).with_background(background);
        let frames: Vec<Picture> =
            options.turntable(5).map(|frame| draw(&lopsided(), &frame)).collect();
        let mut bytes = Vec::new();
        let mut animation = Animation::new(&mut bytes, &options, 5, 12).unwrap();
        frames.iter().for_each(|frame| animation.add(frame).unwrap());
        animation.finish().unwrap();
        let channels = if background == Background::Transparent { 4 } else { 3 };
        let (read, delays) = animated(bytes);
        assert_eq!(delays, [(1, 12); 5]);
        for (read, frame) in read.iter().zip(&frames) {
            let expected = frame.pixels().iter().flat_map(|pixel| &pixel[..channels]);
            assert!(read.iter().eq(expected), "{background:?}");
        }
        assert!(frames[0] != frames[1]);
    }
}

#[test]
fn animations_that_are_not_possible_are_refused() {
    let options = RenderOptions::new([8, 9]);
    let picture = draw(&scattered(), &options);
    let turned = draw(&scattered(), &RenderOptions::new([9, 8]));
    let begin = |pictures, fps| Animation::new(std::io::sink(), &options, pictures, fps);
    assert!(begin(0, 24).is_err());
    let message = begin(1, 0).err().unwrap().to_string();
    assert!(message.contains("use 1 or more"), "{message}");
    let mut animation = begin(2, 24).unwrap();
    let message = animation.add(&turned).unwrap_err().to_string();
    assert!(message.contains("[9, 8]"), "{message}");
    animation.add(&picture).unwrap();
    assert!(animation.finish().is_err(), "one is missing");
    let mut animation = begin(1, 24).unwrap();
    animation.add(&picture).unwrap();
    assert!(animation.add(&picture).is_err(), "one too many");
}

#[test]
fn the_largest_margin_leaves_every_ray_a_direction() {
    for size in [[MAX_SIDE, 1], [1, MAX_SIDE]] {
        for view in VIEWS {
            let options = RenderOptions::new(size)
                .with_view(view)
                .with_projection(Projection::Perspective)
                .with_background(Background::Transparent)
                .with_margin(MAX_MARGIN);
            assert_eq!(draw(&scattered(), &options).size(), size);
        }
    }
}

/// Functions of floating-point numbers that each platform has its own of, with roundings of its own.
const OF_PLATFORMS: [&str; 13] = [
    ".acos(",
    ".asin(",
    ".atan(",
    ".atan2(",
    ".cbrt(",
    ".cos(",
    ".exp(",
    ".hypot(",
    ".ln(",
    ".powf(",
    ".sin(",
    ".sin_cos(",
    ".tan(",
];

#[test]
fn rays_and_pictures_are_made_without_functions_that_platforms_round_differently() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![source.join("render.rs"), source.join("raymarch.rs")];
    for folder in ["render", "raymarch"] {
        let entries = fs::read_dir(source.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.is_file()));
    }
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let found: Vec<_> = OF_PLATFORMS.iter().filter(|name| text.contains(**name)).collect();
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}
