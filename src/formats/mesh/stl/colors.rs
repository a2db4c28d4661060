//! Face colours of binary STL files. Two schemes store them in the attribute bytes, which the
//! format leaves undefined, with five bits per channel.

use crate::base::srgb::Rgba;
use crate::formats::mesh::flat_colors::FlatColors;
use crate::formats::mesh::stl::{HEADER, RECORD, attribute};
use crate::mesh::appearance::Appearance;

/// The colour of triangles without one, in files with colours.
const GREY: Rgba = [200, 200, 200, 255];
/// The attributes' flag bit.
const TOP_BIT: u16 = 1 << 15;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scheme {
    /// `VisCAM` and `SolidView`: blue, green, red from the lowest bit; valid if the top bit is set.
    BlueFirst,
    /// Magics, with a default colour in the header: red, green, blue; valid if the top bit is
    /// clear. `MeshLab` writes the same, but valid if the top bit is set, and a header without
    /// opacity.
    RedFirst { of_whole: Rgba, is_meshlab: bool },
    /// Magics, where all triangles have the default colour.
    Whole(Rgba),
}

impl Scheme {
    /// The scheme of the attributes of `records`, if they are colours; otherwise a warning.
    pub(super) fn of(
        bytes: &[u8],
        records: &[[u8; RECORD]],
        warnings: &mut Vec<String>,
    ) -> Option<Self> {
        let mut attributes = records.iter().map(attribute);
        let has_attributes = attributes.clone().any(|attribute| attribute != 0);
        if let Some((of_whole, is_meshlab)) = of_whole(&bytes[..HEADER]) {
            // Files with a colour in the header only have zero attributes, which would be all
            // black.
            return Some(if has_attributes {
                Self::RedFirst { of_whole, is_meshlab }
            } else {
                Self::Whole(of_whole)
            });
        }
        if attributes.any(|attribute| (1..TOP_BIT).contains(&attribute)) {
            warnings.push("attributes of triangles were ignored: they are not colours".into());
            return None;
        }
        has_attributes.then_some(Self::BlueFirst)
    }

    fn color(self, attribute: u16) -> Rgba {
        let is_top_set = attribute & TOP_BIT != 0;
        let [low, middle, high] = [0, 5, 10].map(|shift| channel(attribute >> shift));
        match self {
            Self::BlueFirst if is_top_set => [high, middle, low, 255],
            Self::BlueFirst => GREY,
            Self::RedFirst { is_meshlab, .. } if is_top_set == is_meshlab => {
                [low, middle, high, 255]
            }
            Self::RedFirst { of_whole, .. } | Self::Whole(of_whole) => of_whole,
        }
    }
}

/// Expands the lowest five bits to eight.
fn channel(bits: u16) -> u8 {
    (((bits & 31) * 255 + 15) / 31) as u8
}

/// The colour in the header of a Magics file, and whether `MeshLab` wrote it: the colour's three
/// bytes, then ` MATERIAL=`. A last channel of 0 is not opacity, as it would make everything
/// invisible.
fn of_whole(header: &[u8]) -> Option<(Rgba, bool)> {
    const MARK: &[u8] = b"COLOR=";
    let at = header[..80].windows(MARK.len()).position(|word| word == MARK)?;
    let rest = &header[at + MARK.len()..80];
    let [r, g, b, a] = *rest.first_chunk()?;
    let is_meshlab = rest[3..].starts_with(b" MATERIAL=");
    Some(([r, g, b, if a == 0 || is_meshlab { 255 } else { a }], is_meshlab))
}

pub(super) fn appearance(scheme: Scheme, records: &[[u8; RECORD]]) -> Appearance {
    if let Scheme::Whole(color) = scheme {
        let material = FlatColors::material(color);
        return Appearance { materials: vec![material], ..Appearance::default() };
    }
    let mut colors = FlatColors::new(Vec::new());
    let color = |record| colors.material_of(scheme.color(attribute(record)));
    let material_of = records.iter().map(color).collect();
    let (materials, _) = colors.finish();
    Appearance { materials, material_of, ..Appearance::default() }
}
