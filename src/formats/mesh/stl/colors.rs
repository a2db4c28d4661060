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

/// How attributes are read as colours.
///
/// `VisCAM` and `SolidView` write blue, green, red from the lowest bit; valid if the top bit is
/// set. Magics writes red, green, blue, valid if the top bit is clear, and a default colour in the
/// header. `MeshLab` writes the same, but valid if the top bit is set, and a header without
/// opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scheme {
    /// The colour of triangles without one.
    default: Rgba,
    is_blue_first: bool,
    /// The top bit of valid colours; `None` if all triangles have the default colour.
    valid: Option<bool>,
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
        if let Some((default, is_meshlab)) = of_whole(&bytes[..HEADER]) {
            // Files with a colour in the header only have zero attributes, which would be all
            // black.
            let valid = has_attributes.then_some(is_meshlab);
            return Some(Self { default, is_blue_first: false, valid });
        }
        if attributes.any(|attribute| (1..TOP_BIT).contains(&attribute)) {
            warnings.push("attributes of triangles were ignored: they are not colours".into());
            return None;
        }
        let scheme = Self { default: GREY, is_blue_first: true, valid: Some(true) };
        has_attributes.then_some(scheme)
    }

    fn color(self, attribute: u16) -> Rgba {
        if self.valid != Some(attribute & TOP_BIT != 0) {
            return self.default;
        }
        let [low, middle, high] = [0, 5, 10].map(|shift| channel(attribute >> shift));
        if self.is_blue_first { [high, middle, low, 255] } else { [low, middle, high, 255] }
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

pub(super) fn appearance(
    scheme: Scheme,
    records: &[[u8; RECORD]],
    warnings: &mut Vec<String>,
) -> Appearance {
    if scheme.valid.is_none() {
        let material = FlatColors::material(scheme.default);
        return Appearance { materials: vec![material], ..Appearance::default() };
    }
    let mut colors = FlatColors::default();
    let color = |record| colors.material_of(scheme.color(attribute(record)));
    let material_of = records.iter().map(color).collect();
    let materials = colors.finish(&[], warnings);
    Appearance { materials, material_of, ..Appearance::default() }
}
