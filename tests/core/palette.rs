//! Palettes: exact where they can be, near where not, and the same however they are computed.

use crate::common::files::png_of;
use crate::common::oklab;
use crate::common::prelude::*;
use trivox::surface::palette::{IndexedColors, MAX_COLORS, Palette, PaletteError, count_colors};

/// Full bricks in a row, whose voxels have `colors` one after another; the last brick is filled up
/// with the first of them, the colour of the rest.
fn grid_of(colors: &[Rgba]) -> VoxelGrid {
    let brick = |(at, colors): (u32, &[Rgba])| {
        let bits = |word: usize| match colors.len().saturating_sub(64 * word) {
            64.. => u64::MAX,
            n => (1 << n) - 1,
        };
        let key = BrickKey::new([at % 4096, at / 4096, 0]);
        (key, std::array::from_fn(bits), colors.to_vec())
    };
    let bricks: Vec<_> = (0..).zip(colors.chunks(512)).map(brick).collect();
    let full = bricks.iter().map(|&(key, ..)| (key, FULL)).collect();
    let grid = VoxelGrid::from_bricks([32768, 4096, 8], full).unwrap();
    grid.with_colors(Colors::from_bricks(bricks, colors[0]))
}

fn random_colors(count: usize, seed: u64) -> Vec<Rgba> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| [random.u8(..), random.u8(..), random.u8(..), 255]).collect()
}

/// The palette of a grid whose voxels have these colours.
fn palette_of(colors: &[Rgba]) -> Palette {
    Palette::of_grid(&grid_of(colors)).unwrap()
}

/// The colour of each voxel, and the one that it gets.
fn indexed(grid: &VoxelGrid, palette: Option<&Palette>, dither: bool) -> Vec<(Rgba, Rgba)> {
    let indexed = IndexedColors::new(grid, palette, MAX_COLORS, dither).unwrap();
    let both = |voxel| (grid.color(voxel).unwrap(), chosen(grid, &indexed, voxel));
    grid.voxels().map(both).collect()
}

/// The colour of the palette that a voxel gets.
fn chosen(grid: &VoxelGrid, indexed: &IndexedColors, voxel: [u32; 3]) -> Rgba {
    let index = indexed.index(voxel, &grid.color(voxel).unwrap());
    indexed.palette().colors()[usize::from(index)]
}

fn distance(a: Rgba, b: Rgba) -> f64 {
    weighted_distance(a, b, 1.0)
}

/// The distance in Oklab, in which a difference in lightness has this weight.
fn weighted_distance(a: Rgba, b: Rgba, lightness: f64) -> f64 {
    let lab = |[r, g, b, _]: Rgba| {
        let [l, a, b] = oklab::oklab([r, g, b].map(oklab::light));
        [lightness * l, a, b]
    };
    oklab::distance(lab(a), lab(b))
}

#[test]
fn up_to_255_colours_are_kept_exactly_and_in_the_same_order_wherever_they_are() {
    let distinct = BTreeSet::from_iter(random_colors(400, 1));
    for count in [1, 2, 17, 254, 255] {
        let mut colors: Vec<Rgba> = distinct.iter().copied().take(count).collect();
        let grid = grid_of(&colors);
        let palette = Palette::of_grid(&grid).unwrap();
        assert_eq!((palette.colors().len(), count_colors(&grid)), (count, count));
        assert!(indexed(&grid, None, false).iter().all(|(own, found)| own == found));
        colors.reverse();
        colors.extend_from_within(..count / 2);
        assert_eq!(palette_of(&colors), palette);
    }
}

#[test]
fn opacity_makes_no_other_colour() {
    let palette = palette_of(&[[9, 8, 7, 255], [9, 8, 7, 20], [1, 1, 1, 0]]);
    assert_eq!(palette.colors(), [[1, 1, 1, 255], [9, 8, 7, 255]]);
}

#[test]
fn greys_come_first_and_hues_from_dark_to_light() {
    let [dark, light] = [[5, 5, 5, 255], [250, 250, 250, 255]];
    let [dark_red, dark_green, green] = [[90, 0, 0, 255], [0, 90, 0, 255], [0, 200, 0, 255]];
    let palette = palette_of(&[RED, light, dark_red, BLUE, dark, dark_green, green]);
    assert_eq!(palette.colors(), [dark, light, dark_red, RED, dark_green, green, BLUE]);
}

#[test]
fn more_than_255_colours_become_255_and_the_commonest_are_hardly_changed() {
    let mut colors = vec![[200, 30, 60, 255]; 20_000];
    colors.extend(random_colors(5_000, 2));
    let palette = palette_of(&colors);
    assert!((200..=MAX_COLORS).contains(&palette.colors().len()));
    assert!(palette.colors().iter().any(|&color| distance(color, colors[0]) < 0.005));
    assert_eq!(BTreeSet::from_iter(palette.colors()).len(), palette.colors().len());
}

#[test]
fn every_voxel_has_the_nearest_colour_of_the_palette() {
    let colors = random_colors(3000, 3);
    let (grid, own) = (grid_of(&colors), palette_of(&colors));
    let given = Palette::new(&random_colors(60, 4)).unwrap();
    for (palette, candidates, lightness) in [(None, &own, 1.0), (Some(&given), &given, 0.5)] {
        for (exact, color) in indexed(&grid, palette, false) {
            let distance = |color| weighted_distance(color, exact, lightness);
            let least = candidates.colors().iter().map(|&c| distance(c)).fold(9.0, f64::min);
            let found = distance(color);
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
    let found = indexed(&grid_of(&[sea]), Some(&palette), false);
    assert!(found.iter().all(|(_, color)| *color == blue));
}

#[test]
fn unused_and_repeated_indices_are_not_chosen() {
    let palette = Palette::new(&[[0; 4], [9, 9, 9, 255], [9, 9, 9, 255], [0; 4]]).unwrap();
    let grid = grid_of(&[[0, 0, 0, 255]]);
    let indexed = IndexedColors::new(&grid, Some(&palette), MAX_COLORS, true).unwrap();
    assert!(grid.voxels().all(|voxel| indexed.index(voxel, &[0, 0, 0, 255]) == 1));
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
    let palette = palette_of(&random_colors(20_000, 6));
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

/// How far the mean of a block of voxels of one colour, each with its colour of the palette, is
/// from that colour, along each channel in linear light.
fn error_of_mean(color: Rgba, palette: &Palette, dither: bool) -> [f64; 3] {
    let found = indexed(&grid_of(&[color; 4096]), Some(palette), dither);
    [0, 1, 2].map(|c| {
        let sum: f64 = found.iter().map(|(_, found)| f64::from(linear_of(found[c]))).sum();
        (sum / found.len() as f64 - f64::from(linear_of(color[c]))).abs() / 65535.0
    })
}

#[test]
fn dithered_areas_have_the_mean_of_their_colour() {
    let palette = Palette::new(&[[0, 0, 0, 255], RED, GREEN, BLUE, [255; 4]]).unwrap();
    for color in [[128, 128, 128, 255], [200, 90, 60, 255], [40, 50, 60, 255], [250, 240, 230, 255]]
    {
        let [dithered, plain] = [true, false]
            .map(|dither| error_of_mean(color, &palette, dither).into_iter().fold(0.0, f64::max));
        // Of sixteen colours in a mixture each counts for a sixteenth.
        assert!(dithered < 1.0 / 16.0 && dithered < 0.7 * plain, "{color:?}: {dithered}, {plain}");
    }
}

#[test]
fn dithered_areas_are_nearer_to_their_colour_than_the_best_of_255() {
    let palette = palette_of(&random_colors(20_000, 8));
    let [dithered, plain] = [true, false].map(|dither| {
        let errors =
            random_colors(100, 9).into_iter().flat_map(|c| error_of_mean(c, &palette, dither));
        errors.sum::<f64>()
    });
    assert!(dithered < plain / 3.0, "{dithered}, {plain}");
}

#[test]
fn no_voxel_stands_out_of_an_area_that_is_dithered_in_few_chosen_colours() {
    let grid = grid_of(&random_colors(2000, 4));
    let [dithered, nearest] =
        [true, false].map(|dither| IndexedColors::new(&grid, None, 16, dither).unwrap());
    assert_eq!(dithered.palette(), nearest.palette());
    let mut mixed = 0;
    for voxel in grid.voxels() {
        let wanted = grid.color(voxel).unwrap();
        let [found, near] = [&dithered, &nearest].map(|indexed| chosen(&grid, indexed, voxel));
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
    let error = |most: usize| {
        let indexed = IndexedColors::new(&grid, None, most, false).unwrap();
        assert!(indexed.palette().colors().len() <= most, "{most}");
        let off = |voxel| distance(grid.color(voxel).unwrap(), chosen(&grid, &indexed, voxel));
        grid.voxels().map(off).sum::<f64>()
    };
    let errors = [1, 2, 16, 100, 255].map(error);
    assert!(errors.windows(2).all(|pair| pair[1] < 0.9 * pair[0]), "{errors:?}");
}
