//! The colour and texture properties of a PLY file, by the names that programs use, and the scales
//! of their values.

use crate::formats::mesh::ply::header::{Element, Scalar};

const CHANNELS: [[&[u8]; 4]; 3] = [
    [b"red", b"green", b"blue", b"alpha"],
    [b"r", b"g", b"b", b"a"],
    [b"diffuse_red", b"diffuse_green", b"diffuse_blue", b"diffuse_alpha"],
];
const TEXCOORDS: [[&[u8]; 2]; 3] = [[b"s", b"t"], [b"u", b"v"], [b"texture_u", b"texture_v"]];

/// The properties of a colour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channels {
    pub(super) light: [usize; 3],
    pub(super) opacity: Option<usize>,
}

impl Channels {
    /// The colour properties of an element, if it has any.
    pub(super) fn of(element: &Element) -> Option<Self> {
        CHANNELS.iter().find_map(|&[red, green, blue, opacity]| {
            let find = |name| element.find(&[name], false);
            let light = [find(red)?, find(green)?, find(blue)?];
            Some(Self { light, opacity: find(opacity) })
        })
    }
}

/// The texture coordinate properties of a vertex.
pub(super) fn texcoords(element: &Element) -> Option<[usize; 2]> {
    TEXCOORDS
        .iter()
        .find_map(|&[u, v]| Some([element.find(&[u], false)?, element.find(&[v], false)?]))
}

/// The texture coordinate property of a face: a list of two numbers per corner.
pub(super) fn corner_texcoords(element: &Element) -> Option<usize> {
    element.find(&[b"texcoord"], true)
}

/// The texture index property of a face.
pub(super) fn texture_number(element: &Element) -> Option<usize> {
    element.find(&[b"texnumber"], false)
}

/// Whether the type of a channel determines its full value; otherwise the values do.
pub(super) fn is_told_by_type(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I8 | Scalar::U8 | Scalar::U16)
}

/// The full value of channels of this type with the maximum `largest`. Values above 1 on a scale of
/// 1 are below 2.
pub(super) fn full(scalar: Scalar, largest: f64) -> f64 {
    match scalar {
        Scalar::I8 | Scalar::U8 => 255.0,
        Scalar::U16 => 65535.0,
        Scalar::F32 | Scalar::F64 if largest <= 2.0 => 1.0,
        _ if largest <= 255.0 => 255.0,
        _ => 65535.0,
    }
}
