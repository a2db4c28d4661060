//! Parsers of option values.

use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use trivox::Bounds;
use trivox::ColorSource;
use trivox::base::srgb::Rgba;
use trivox::lattice::MAX_DIM;
use trivox::solid::distance::MAX_WIDTH;
use trivox::view::render::{Background, MAX_SIDE};

use crate::text::grouped;

pub fn parse_size(text: &str) -> Result<ByteSize, String> {
    text.parse().map_err(|_| "not a number of bytes, such as 512MiB, 4GB or 1000000".to_owned())
}

pub fn parse_pixels(text: &str) -> Result<[u32; 2], String> {
    let sides = numbers(text, &['x', ',']).or_else(|| numbers(text, &[]).map(|[side]| [side; 2]));
    let is_side = |side: &u32| (1..=MAX_SIDE).contains(side);
    let sides = sides.filter(|sides: &[u32; 2]| sides.iter().all(is_side));
    sides.ok_or_else(|| {
        format!("use width and height of 1 to {} pixels, such as 1920x1080", most(MAX_SIDE))
    })
}

/// Parses the value of `--color`.
pub fn parse_color(text: &str) -> Result<ColorSource, String> {
    match text {
        "auto" => Ok(ColorSource::Mesh),
        "none" => Ok(ColorSource::None),
        _ => css_color(text).map(ColorSource::Uniform).ok_or_else(|| {
            "use auto, none or a CSS colour such as red, #fff or #C08040 (in quotes, where # \
             begins a comment)"
                .to_owned()
        }),
    }
}

/// Parses an opaque CSS colour: a name, or hexadecimal digits with or without `#`.
pub fn css_color(text: &str) -> Option<Rgba> {
    let color = csscolorparser::parse(text).ok()?.to_rgba8();
    (color[3] == u8::MAX).then_some(color)
}

pub fn parse_interior(text: &str) -> Result<Rgba, String> {
    css_color(text).ok_or_else(|| "use a CSS colour such as #C08040, #fff or red".to_owned())
}

pub fn parse_background(text: &str) -> Result<Background, String> {
    match text {
        "gradient" => Ok(Background::Gradient),
        "transparent" => Ok(Background::Transparent),
        _ => css_color(text).map(|[r, g, b, _]| Background::Color([r, g, b])).ok_or_else(|| {
            "use gradient, transparent or a CSS colour such as #C08040 (in quotes, where # begins \
             a comment)"
                .to_owned()
        }),
    }
}

pub fn parse_light(text: &str) -> Result<[f64; 2], String> {
    numbers(text, &[','])
        .ok_or_else(|| "use azimuth and elevation in degrees, such as -45,30".to_owned())
}

/// As many numbers as are expected, with one of `separators` between each and the next.
fn numbers<T: FromStr, const N: usize>(text: &str, separators: &[char]) -> Option<[T; N]> {
    let numbers = text.split(separators).map(|number| number.trim().parse().ok());
    numbers.collect::<Option<Vec<T>>>()?.try_into().ok()
}

/// The range is the library's to check.
pub fn parse_res(text: &str) -> Result<u32, String> {
    let why = match text {
        // Of -res and -resolution, the part that would be the value of -r.
        "es" | "esolution" => "long options have two hyphens: --res N",
        _ => "use a whole number of voxels along the longest axis, or --dims X,Y,Z for a box",
    };
    match text.parse::<u64>() {
        Ok(number) => u32::try_from(number).map_err(|_| format!("the most are {}", most(MAX_DIM))),
        // As messages print it; with two commas it may be the three numbers of a box.
        Err(_) => {
            match text.split_once(',').and_then(|(one, two)| format!("{one}{two}").parse().ok()) {
                Some(number) if grouped(number) == text => {
                    Err(format!("write {number}, without the comma"))
                }
                _ => Err(why.to_owned()),
            }
        }
    }
}

pub fn parse_cube(text: &str) -> Result<[u32; 3], String> {
    let edge = text.parse().ok().filter(is_edge);
    edge.map(|edge| [edge; 3]).ok_or_else(|| {
        format!("use one number of 1 to {}, or --dims X,Y,Z for a box", most(MAX_DIM))
    })
}

pub fn parse_count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("use a whole number from 0 to {}", most(u32::MAX)))
}

/// The parser of a whole number from `LEAST` to `MOST`.
pub fn parse_in<T: TryFrom<u32>, const LEAST: u32, const MOST: u32>(
    text: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("use a whole number from {LEAST} to {}", most(MOST)))
}

pub fn parse_number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "use a number without a unit, such as 0.5".to_owned())
}

pub fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|&voxels: &f64| voxels >= 0.0 && voxels.is_finite());
    tolerance.ok_or_else(|| "use a number of voxels, at least 0, such as 0.001".to_owned())
}

pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "use a positive number of seconds, such as 60".to_owned())
}

/// A limit as messages print it.
fn most(number: u32) -> String {
    grouped(number.into())
}

fn is_edge(voxels: &u32) -> bool {
    (1..=MAX_DIM).contains(voxels)
}

pub fn parse_dims(text: &str) -> Result<[u32; 3], String> {
    let dims = numbers(text, &[',', 'x']).filter(|dims: &[u32; 3]| dims.iter().all(is_edge));
    dims.ok_or_else(|| format!("use three numbers of 1 to {}, such as 64,64,32", most(MAX_DIM)))
}

pub fn parse_bounds(text: &str) -> Result<Bounds, String> {
    let [x0, y0, z0, x1, y1, z1] =
        numbers(text, &[',']).ok_or_else(|| "use six numbers: X0,Y0,Z0,X1,Y1,Z1".to_owned())?;
    Ok(Bounds { min: [x0, y0, z0], max: [x1, y1, z1] })
}

pub fn parse_width(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(width) if width > 0.0 && width <= MAX_WIDTH => Ok(width),
        _ => Err(format!("use a number of voxels above 0, at most {MAX_WIDTH}, such as 3")),
    }
}
