//! Nearest palette colours in Oklab, and the order of a palette.

use quantette::PaletteBuf;
use quantette::color_map::{IndexedColorMap, NearestNeighborColorMap};
use quantette::color_space::srgb8_to_oklab;
use quantette::deps::palette::{Oklab, Srgb, cast};

use super::{Matching, Palette, Rgb, UNUSED};

/// The distinct colours of a palette, each with its index and its [point](points).
pub(super) fn candidates(palette: &Palette) -> Vec<(u8, Rgb, Oklab)> {
    let all = palette.colors();
    let used = (0..=u8::MAX)
        .zip(all)
        .filter(|&(index, &color)| color != UNUSED && !all[..usize::from(index)].contains(&color));
    let (indices, colors): (Vec<u8>, Vec<Rgb>) =
        used.map(|(index, &[r, g, b, _])| (index, [r, g, b])).unzip();
    let points = points(&colors, palette.matching);
    indices.into_iter().zip(colors).zip(points).map(|((i, color), at)| (i, color, at)).collect()
}

/// Nearest-neighbour search over a palette.
pub(super) struct Nearest {
    map: NearestNeighborColorMap<Oklab, f32, 3>,
    /// The palette index of each colour of the map.
    indices: Vec<u8>,
    matching: Matching,
}

impl Nearest {
    pub(super) fn new(palette: &Palette) -> Self {
        let candidates = candidates(palette).into_iter();
        let (indices, points): (_, Vec<Oklab>) = candidates.map(|(i, _, at)| (i, at)).unzip();
        let points = PaletteBuf::new(points).expect("1 to 255 colours");
        Self { map: NearestNeighborColorMap::new(points), indices, matching: palette.matching }
    }

    /// The palette index nearest to each of `colors`.
    pub(super) fn of(&self, colors: &[Rgb]) -> Vec<u8> {
        let mut found = self.map.map_to_indices(&points(colors, self.matching));
        found.iter_mut().for_each(|index| *index = self.indices[usize::from(*index)]);
        found
    }
}

/// `colors` in Oklab.
pub(super) fn oklab(colors: &[Rgb]) -> Vec<Oklab> {
    srgb8_to_oklab(cast::from_array_slice::<Srgb<u8>>(colors))
}

/// `colors` in Oklab with the weight of lightness: where their distances are measured.
pub(super) fn points(colors: &[Rgb], matching: Matching) -> Vec<Oklab> {
    let mut points = oklab(colors);
    points.iter_mut().for_each(|point| point.l *= matching.lightness());
    points
}

pub(super) fn squared_distance(one: Oklab, two: Oklab) -> f32 {
    let [l, a, b] = [one.l - two.l, one.a - two.a, one.b - two.b];
    l * l + a * a + b * b
}

/// Sorts colours for display: greys first, then by hue, each from dark to light.
pub(super) fn sort(colors: &mut [Rgb]) {
    colors.sort_by_cached_key(|&color| {
        let Oklab { l, a, b } = oklab(&[color])[0];
        // Lightness as an integer, for a total order; ties are broken by value.
        (hue(a, b), (l * 1e6) as i32, color)
    });
}

/// Chroma below which a colour counts as grey.
const GREY: f32 = 0.02;

/// The octant of the hue circle, 1 to 8 from red on; 0 for greys.
fn hue(a: f32, b: f32) -> u32 {
    if a * a + b * b < GREY * GREY {
        return 0;
    }
    let is_steep = b.abs() > a.abs();
    match (a >= 0.0, b >= 0.0) {
        (true, true) => 1 + u32::from(is_steep),
        (false, true) => 4 - u32::from(is_steep),
        (false, false) => 5 + u32::from(is_steep),
        (true, false) => 8 - u32::from(is_steep),
    }
}
