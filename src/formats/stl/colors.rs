//! Colours of triangles in binary STL files, in either of the two schemes that programs write into the
//! attributes, of which the format does not say what they are. Both have five bits a channel.

use crate::appearance::Appearance;
use crate::formats::flat_colors::PlainColors;
use crate::formats::stl::{HEADER, RECORD, attribute};
use crate::srgb::Rgba;

/// Triangles without a colour, where others have one.
const GREY: Rgba = [200, 200, 200, 255];
/// In the attributes.
const TOP_BIT: u16 = 1 << 15;

/// How attributes are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scheme {
    /// `VisCAM` and `SolidView`: blue, green, red from the lowest bit, where the top bit is set.
    BlueFirst,
    /// Magics, whose header has the colour of the whole: red, green, blue, where the top bit is not set.
    RedFirst { of_whole: Rgba },
    /// Magics, where no triangle has a colour of its own.
    Whole(Rgba),
}

impl Scheme {
    /// What the attributes of `records` tell, if they are colours; warns where they are none.
    pub(super) fn of(
        bytes: &[u8],
        records: &[[u8; RECORD]],
        warnings: &mut Vec<String>,
    ) -> Option<Self> {
        let mut attributes = records.iter().map(attribute);
        let has_attributes = attributes.clone().any(|attribute| attribute != 0);
        if let Some(of_whole) = of_whole(&bytes[..HEADER]) {
            // Black all over is what files would be that have the colour in their header only.
            let scheme =
                if has_attributes { Self::RedFirst { of_whole } } else { Self::Whole(of_whole) };
            return Some(scheme);
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
            Self::RedFirst { .. } if !is_top_set => [low, middle, high, 255],
            Self::RedFirst { of_whole } | Self::Whole(of_whole) => of_whole,
        }
    }
}

/// The lowest five bits, as eight.
fn channel(bits: u16) -> u8 {
    (((bits & 31) * 255 + 15) / 31) as u8
}

/// The colour that the header of a Magics file tells. Nothing says what its last channel is where it
/// would make all invisible.
fn of_whole(header: &[u8]) -> Option<Rgba> {
    const MARK: &[u8] = b"COLOR=";
    let at = header[..80].windows(MARK.len()).position(|word| word == MARK)?;
    let color: Rgba = *header[at + MARK.len()..80].first_chunk()?;
    Some(if color[3] == 0 { [color[0], color[1], color[2], 255] } else { color })
}

/// What the triangles look like.
pub(super) fn appearance(scheme: Scheme, records: &[[u8; RECORD]]) -> Appearance {
    if let Scheme::Whole(color) = scheme {
        let material = PlainColors::material(color);
        return Appearance { materials: vec![material], ..Appearance::default() };
    }
    let mut colors = PlainColors::new(Vec::new());
    let color = |record| colors.material_of(scheme.color(attribute(record)));
    let material_of = records.iter().map(color).collect();
    let (materials, _) = colors.finish();
    Appearance { materials, material_of, ..Appearance::default() }
}
