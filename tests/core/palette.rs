//! Palettes: exact where they can be, near where not, and the same however they are computed.

use crate::common::files::png_of;
use crate::common::oklab;
use crate::common::prelude::*;
use trivox::surface::palette::{IndexedColors, MAX_COLORS, Palette, PaletteError, count_colors};

/// Full bricks in a row, whose voxels have `colors` one after another; the last brick is filled up
/// with that of the rest.
fn grid_of(colors: &[Rgba]) -> VoxelGrid {
    let bricks = colors.chunks(512).enumerate();
    let bricks = bricks.map(|(brick, colors)| {
        let bits = |word: usize| match colors.len().saturating_sub(64 * word) {
            64.. => u64::MAX,
            n => (1 << n) - 1,
        };
        let at = brick as u32;
        let key = BrickKey::new([at % 4096, at / 4096, 0]);
        (key, std::array::from_fn(bits), colors.to_vec())
    });
    let bricks: Vec<_> = bricks.collect();
    let full = bricks.iter().map(|&(key, ..)| (key, FULL)).collect();
    let grid = VoxelGrid::from_bricks([32768, 4096, 8], full).unwrap();
    grid.with_colors(Colors::from_bricks(bricks, colors[0]))
}

fn random_colors(count: usize, seed: u64) -> Vec<Rgba> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| [random.u8(..), random.u8(..), random.u8(..), 255]).collect()
}

/// The colour that each voxel gets.
fn indexed(grid: &VoxelGrid, palette: Option<&Palette>, dither: bool) -> Vec<([u32; 3], Rgba)> {
    let colors = grid.colors.as_ref().unwrap();
    let indexed = IndexedColors::new(grid, palette, MAX_COLORS, dither).unwrap();
    let of = |voxel| {
        let index = indexed.index(voxel, &colors.of(voxel));
        (voxel, indexed.palette().colors()[usize::from(index)])
    };
    grid.voxels().map(of).collect()
}

fn distance(a: Rgba, b: Rgba) -> f64 {
    weighted_distance(a, b, 1.0)
}

/// The distance in Oklab, in which a difference in lightness has this weight.
fn weighted_distance(a: Rgba, b: Rgba, lightness: f64) -> f64 {
    let lab = |[r, g, b, _]: Rgba| {
        let [l, a, b] = oklab::oklab([r, g, b].map(|value| match f64::from(value) / 255.0 {
            c @ ..=0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        }));
        [lightness * l, a, b]
    };
    oklab::distance(lab(a), lab(b))
}

#[test]
fn up_to_255_colours_are_kept_exactly_and_in_the_same_order_wherever_they_are() {
    for count in [1, 2, 17, 254, 255] {
        let mut colors: Vec<Rgba> =
            BTreeSet::from_iter(random_colors(400, 1)).into_iter().take(count).collect();
        let grid = grid_of(&colors);
        let palette = Palette::of_grid(&grid).unwrap();
        assert_eq!((palette.colors().len(), count_colors(&grid)), (count, count));
        for (voxel, color) in indexed(&grid, None, false) {
            assert_eq!(color, grid.colors.as_ref().unwrap().of(voxel));
        }
        colors.reverse();
        colors.extend_from_within(..count / 2);
        assert_eq!(Palette::of_grid(&grid_of(&colors)).unwrap(), palette);
    }
}

#[test]
fn opacity_makes_no_other_colour() {
    let grid = grid_of(&[[9, 8, 7, 255], [9, 8, 7, 20], [1, 1, 1, 0]]);
    assert_eq!(Palette::of_grid(&grid).unwrap().colors(), [[1, 1, 1, 255], [9, 8, 7, 255]]);
}

#[test]
fn greys_come_first_and_hues_from_dark_to_light() {
    let colors = [[255, 0, 0], [250; 3], [90, 0, 0], [0, 0, 255], [5; 3], [0, 90, 0], [0, 200, 0]];
    let grid = grid_of(&colors.map(|[r, g, b]| [r, g, b, 255]));
    let found: Vec<_> =
        Palette::of_grid(&grid).unwrap().colors().iter().map(|&[r, g, b, _]| [r, g, b]).collect();
    let expected =
        [[5; 3], [250; 3], [90, 0, 0], [255, 0, 0], [0, 90, 0], [0, 200, 0], [0, 0, 255]];
    assert_eq!(found, expected);
}

#[test]
fn more_than_255_colours_become_255_and_the_commonest_are_hardly_changed() {
    let mut colors = vec![[200, 30, 60, 255]; 20_000];
    colors.extend(random_colors(5_000, 2));
    let grid = grid_of(&colors);
    let palette = Palette::of_grid(&grid).unwrap();
    assert!((200..=MAX_COLORS).contains(&palette.colors().len()));
    assert!(palette.colors().iter().any(|&color| distance(color, colors[0]) < 0.005));
    assert_eq!(BTreeSet::from_iter(palette.colors()).len(), palette.colors().len());
}

#[test]
fn every_voxel_has_the_nearest_colour_of_the_palette() {
    let grid = grid_of(&random_colors(3000, 3));
    let given = Palette::new(&random_colors(60, 4)).unwrap();
    for palette in [None, Some(&given)] {
        let own = Palette::of_grid(&grid).unwrap();
        let candidates = palette.unwrap_or(&own).colors();
        let weight = if palette.is_some() { 0.5 } else { 1.0 };
        let distance = |a, b| weighted_distance(a, b, weight);
        for (voxel, color) in indexed(&grid, palette, false) {
            let exact = grid.colors.as_ref().unwrap().of(voxel);
            let least = candidates.iter().map(|&c| distance(c, exact)).fold(9.0, f64::min);
            let found = distance(color, exact);
            assert!(found <= least + 1e-5, "{exact:?}: {color:?} at {found}, not {least}");
        }
    }
}

/// Of PICO-8's palette: by Oklab alone, a strong blue would be lavender.
#[test]
fn a_given_palette_keeps_hues() {
    let [blue, lavender, grey] = [[41, 173, 255, 255], [131, 118, 156, 255], [95, 87, 79, 255]];
    let palette = Palette::new(&[lavender, blue, grey]).unwrap();
    let sea = [31, 116, 191, 255];
    assert!(distance(sea, lavender) < distance(sea, blue));
    for (_, color) in indexed(&grid_of(&[sea]), Some(&palette), false) {
        assert_eq!(color, blue);
    }
}

#[test]
fn unused_and_repeated_indices_are_not_chosen() {
    let palette = [[0; 4], [9, 9, 9, 255], [9, 9, 9, 255], [0; 4]];
    let palette = Palette::new(&palette).unwrap();
    let grid = grid_of(&[[0, 0, 0, 255]]);
    let indexed = IndexedColors::new(&grid, Some(&palette), MAX_COLORS, true).unwrap();
    let found: BTreeSet<u8> = grid.voxels().map(|v| indexed.index(v, &[0, 0, 0, 255])).collect();
    assert_eq!(found, BTreeSet::from([1]));
}

#[test]
fn palettes_and_indices_are_the_same_on_any_number_of_threads() {
    let grid = grid_of(&random_colors(50_000, 5));
    let on = |threads: usize| {
        on_threads(threads, || [false, true].map(|dither| indexed(&grid, None, dither)))
    };
    let [one, two, five] = [1, 2, 5].map(on);
    assert!(one == two && one == five);
}

/// The result of an earlier version: another one changes users' files.
#[test]
fn a_palette_is_what_it_always_was() {
    let palette = Palette::of_grid(&grid_of(&random_colors(20_000, 6))).unwrap();
    let hash = blake3::hash(palette.colors().as_flattened()).to_hex();
    assert_eq!(&hash[..16], "a63807f384b18b3c", "{:?}", palette.colors());
}

#[test]
fn images_give_their_colours_in_order() {
    let [a, b, c] = [[3, 2, 1, 255], [1, 2, 3, 255], [7, 7, 7, 255]];
    let clear = [9, 9, 9, 0];
    let image = Texture::new([3, 2], vec![a, clear, b, a, b, [7, 7, 7, 1]]);
    assert_eq!(Palette::of_image(&image).unwrap().colors(), [a, b, c]);
    // As MagicaVoxel has it: with repeated and unused indices, and one pixel more than there are.
    let mut pixels = vec![a; 256];
    (pixels[1], pixels[2], pixels[255]) = (clear, b, c);
    let palette = Palette::of_image(&Texture::new([256, 1], pixels)).unwrap();
    assert_eq!(palette.colors().len(), MAX_COLORS);
    assert_eq!(palette.colors()[..4], [a, [0; 4], b, a]);
    assert!(!palette.colors().contains(&c));
}

#[test]
fn what_is_no_palette_is_refused_with_the_reason() {
    let of = |texels: Vec<Rgba>| {
        Palette::of_image(&Texture::new([texels.len() as u32, 1], texels)).unwrap_err().to_string()
    };
    let many: Vec<Rgba> = (0..300).map(|i| [(i % 250) as u8, (i / 250) as u8, 0, 255]).collect();
    assert!(of(many).contains("at most 255 colours"));
    assert!(of(vec![[5, 5, 5, 0]; 4]).contains("transparent"));
    assert!(matches!(Palette::new(&[]), Err(PaletteError::Empty)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("palette.png");
    assert!(matches!(Palette::read(&path), Err(PaletteError::Io(_))));
    std::fs::write(&path, "no image").unwrap();
    assert!(Palette::read(&path).unwrap_err().to_string().contains("not an image"));
    let whole = png_of([2, 1], &[[1, 2, 3], [4, 5, 6]]);
    for len in 8..whole.len() - 12 {
        let error = Texture::decode(&whole[..len], "palette.png", u64::MAX).unwrap_err();
        assert_eq!(error.to_string(), "it is cut off", "{len} bytes");
        assert_eq!(trivox::code_of(&error), Some("read.image"));
    }
    std::fs::write(&path, whole).unwrap();
    assert_eq!(Palette::read(&path).unwrap().colors(), [[1, 2, 3, 255], [4, 5, 6, 255]]);
}

/// The mean of colours in linear light.
fn mean(colors: impl Iterator<Item = Rgba>) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for color in colors {
        (0..3).for_each(|c| sum[c] += f64::from(linear_of(color[c])));
        count += 1.0;
    }
    sum.map(|sum| sum / count)
}

#[test]
fn dithered_areas_have_the_mean_of_their_colour() {
    let ends = [[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255], [255; 3]];
    let palette = Palette::new(&ends.map(|[r, g, b]| [r, g, b, 255])).unwrap();
    for color in [[128, 128, 128, 255], [200, 90, 60, 255], [40, 50, 60, 255], [250, 240, 230, 255]]
    {
        let grid = grid_of(&vec![color; 4096]);
        let exact = mean([color].into_iter());
        let off = |dither| {
            let mean = mean(indexed(&grid, Some(&palette), dither).into_iter().map(|(_, c)| c));
            (0..3).map(|c| (mean[c] - exact[c]).abs()).fold(0.0, f64::max) / 65535.0
        };
        let (dithered, plain) = (off(true), off(false));
        println!("{color:?}: off by {dithered:.4}, without dithering {plain:.4}");
        // Of sixteen colours in a mixture each counts for a sixteenth.
        assert!(dithered < 1.0 / 16.0 && dithered < 0.7 * plain, "{color:?}: {dithered}, {plain}");
    }
}

#[test]
fn dithered_areas_are_nearer_to_their_colour_than_the_best_of_255() {
    let palette = Palette::of_grid(&grid_of(&random_colors(20_000, 8))).unwrap();
    let mut sums = [0.0; 2];
    for color in random_colors(100, 9) {
        let grid = grid_of(&[color; 512]);
        let exact = mean([color].into_iter());
        for (sum, dither) in sums.iter_mut().zip([true, false]) {
            let mean = mean(indexed(&grid, Some(&palette), dither).into_iter().map(|(_, c)| c));
            *sum += (0..3).map(|c| (mean[c] - exact[c]).abs() / 65535.0).sum::<f64>() / 300.0;
        }
    }
    println!("off by {:.4}, without dithering {:.4}", sums[0], sums[1]);
    assert!(sums[0] < sums[1] / 3.0, "{sums:?}");
}

#[test]
fn no_voxel_stands_out_of_an_area_that_is_dithered_in_few_chosen_colours() {
    let grid = grid_of(&random_colors(2000, 4));
    let colors = grid.colors.as_ref().unwrap();
    let [dithered, nearest] =
        [true, false].map(|dither| IndexedColors::new(&grid, None, 16, dither).unwrap());
    assert_eq!(dithered.palette(), nearest.palette());
    let palette = nearest.palette().colors();
    let mut mixed = 0;
    for voxel in grid.voxels() {
        let wanted = colors.of(voxel);
        let [found, near] =
            [&dithered, &nearest].map(|of| palette[usize::from(of.index(voxel, &wanted))]);
        let most = distance(near, wanted) + 0.051;
        assert!(distance(found, wanted) < most, "{wanted:?}: {found:?}, not {near:?}");
        mixed += u64::from(found != near);
    }
    assert!(10 * mixed > grid.occupied(), "{mixed} of {} are mixed", grid.occupied());
}

#[test]
fn colours_of_the_palette_are_not_dithered() {
    let colors = random_colors(200, 7);
    let grid = grid_of(&colors);
    let palette = Palette::new(&colors).unwrap();
    assert!(indexed(&grid, Some(&palette), true) == indexed(&grid, Some(&palette), false));
}

#[test]
fn a_palette_has_at_most_the_colours_asked_for_and_more_of_them_are_nearer() {
    let grid = grid_of(&random_colors(4096, 5));
    let colors = grid.colors.as_ref().unwrap();
    let error = |most: usize| {
        let indexed = IndexedColors::new(&grid, None, most, false).unwrap();
        let palette = indexed.palette().colors();
        assert!(palette.len() <= most, "{} of {most}", palette.len());
        let off = |voxel| {
            let color = colors.of(voxel);
            distance(color, palette[usize::from(indexed.index(voxel, &color))])
        };
        grid.voxels().map(off).sum::<f64>() / grid.occupied() as f64
    };
    let errors = [1, 2, 16, 100, 255].map(error);
    assert!(errors.windows(2).all(|pair| pair[1] < 0.9 * pair[0]), "{errors:?}");
}
