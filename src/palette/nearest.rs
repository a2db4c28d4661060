//! The nearest colour of a palette, in Oklab, and the order in which people find colours.

use quantette::PaletteBuf;
use quantette::color_map::{IndexedColorMap, NearestNeighborColorMap};
use quantette::color_space::srgb8_to_oklab;
use quantette::deps::palette::{Oklab, Srgb, cast};

use super::{Palette, Rgb, UNUSED};

/// Finds the nearest of a palette's colours.
pub(super) struct Nearest {
    map: NearestNeighborColorMap<Oklab, f32, 3>,
    /// The index in the palette of each colour of the map: used ones, each once.
    indices: Vec<u8>,
    colors: Vec<Rgb>,
}

impl Nearest {
    pub(super) fn new(palette: &Palette) -> Self {
        let all = palette.colors();
        let (mut indices, mut colors) = (Vec::new(), Vec::new());
        for (index, &color) in (0..=u8::MAX).zip(all) {
            if color != UNUSED && !all[..usize::from(index)].contains(&color) {
                let [r, g, b, _] = color;
                indices.push(index);
                colors.push([r, g, b]);
            }
        }
        let looks = PaletteBuf::new(oklab(&colors)).expect("1 to 255 colours");
        Self { map: NearestNeighborColorMap::new(looks), indices, colors }
    }

    /// The colours that it may find, each with its index.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (u8, Rgb, Oklab)> {
        let looks = self.map.palette().iter();
        self.indices
            .iter()
            .zip(&self.colors)
            .zip(looks)
            .map(|((&i, &color), &look)| (i, color, look))
    }

    /// The index of the one nearest to each of `colors`.
    pub(super) fn of(&self, colors: &[Rgb]) -> Vec<u8> {
        let mut found = self.map.map_to_indices(&oklab(colors));
        found.iter_mut().for_each(|index| *index = self.indices[usize::from(*index)]);
        found
    }
}

/// `colors` in Oklab.
pub(super) fn oklab(colors: &[Rgb]) -> Vec<Oklab> {
    srgb8_to_oklab(cast::from_array_slice::<Srgb<u8>>(colors))
}

/// Sorts colours as they are looked for: greys, then hue by hue, and in these from dark to light.
pub(super) fn sort(colors: &mut [Rgb]) {
    colors.sort_by_cached_key(|&color| {
        let Oklab { l, a, b } = oklab(&[color])[0];
        // As an integer, so that it is ordered; what is as light is ordered by its value.
        (hue(a, b), (l * 1e6) as i32, color)
    });
}

/// Chroma up to which a colour is a grey.
const GREY: f32 = 0.02;

/// The eighth of the circle of hues in which a colour is, from red on; 0 for greys.
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
