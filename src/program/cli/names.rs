//! Values of options that are one of several names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use trivox::UnknownName;
use trivox::backend::{BackendChoice, VoxelKernel};
use trivox::grid::Attribute;
use trivox::mesh::appearance::FilterChoice;
use trivox::solid::Fill;
use trivox::view::render::{Projection, View};
use trivox::{Blend, Mode, Up};

pub fn mode() -> impl TypedValueParser<Value = Mode> {
    named(&[
        ("surface", "Those that touch the mesh: conservative, 26-separating"),
        ("thin", "Where an axis-parallel line through their centre crosses the mesh: 6-separating"),
        ("solid", "Those whose centre is inside the mesh"),
    ])
}

pub fn fill() -> impl TypedValueParser<Value = Fill> {
    named(&[
        ("auto", "Chosen by the mesh's topology; the report says why"),
        ("parity", "Where a ray along x has an odd number of crossings: exact for closed meshes"),
        (
            "winding",
            "Where the generalized winding number is at least 1/2: for holes and overlapping parts",
        ),
        (
            "flood",
            "The surface, and what a flood fill from outside does not reach: for small holes",
        ),
        ("vote", "Where most rays along the three axes are inside, whichever way triangles face"),
    ])
}

pub fn blend() -> impl TypedValueParser<Value = Blend> {
    named(&[
        ("all", "The mean of all, weighted by area"),
        ("visible", "The mean of those that are seen from outside"),
        ("none", "The most typical colour of those that are seen: for pixel art and flat colours"),
    ])
}

pub fn filter() -> impl TypedValueParser<Value = FilterChoice> {
    named(&[
        ("auto", "As the file says, for each texture, and nearest where it does not"),
        ("nearest", "Texels are squares"),
        (
            "linear",
            "Interpolated between the centres of texels, but not where a cutoff hides texels",
        ),
    ])
}

pub fn backend() -> impl TypedValueParser<Value = BackendChoice> {
    named(&[
        ("auto", "The GPU where that is likely to be faster, else the CPU"),
        ("gpu", "The GPU, or an error"),
        ("cpu", "The CPU"),
    ])
}

pub fn kernel() -> impl TypedValueParser<Value = VoxelKernel> {
    named(&[
        ("rows", "Up to eight voxels in a row by each invocation: the default, and the faster"),
        (
            "voxels",
            "One (triangle, voxel) candidate by each invocation: a second opinion on a new driver, \
             a baseline for measurements",
        ),
    ])
}

pub fn render_backend() -> impl TypedValueParser<Value = BackendChoice> {
    named(&[("gpu", "A GPU, or an error"), ("cpu", "The CPU")])
}

pub fn attribute() -> impl TypedValueParser<Value = Attribute> {
    let names: Vec<_> = Attribute::ALL.iter().map(|of| (of.name(), "")).collect();
    named(&names)
}

pub fn up() -> impl TypedValueParser<Value = Up> {
    named(&[("y", ""), ("z", "")])
}

pub fn view() -> impl TypedValueParser<Value = View> {
    named(&[
        ("front", ""),
        ("back", ""),
        ("left", ""),
        ("right", ""),
        ("top", ""),
        ("bottom", ""),
        ("iso", "From the front, the right and above: isometric, without perspective"),
        ("three-quarter", "From the front, the right and above, in perspective"),
    ])
}

pub fn camera() -> impl TypedValueParser<Value = Projection> {
    named(&[
        ("perspective", "Nearer voxels appear larger"),
        ("orthographic", "Parallel lines stay parallel"),
    ])
}

/// The parser of the library's values with these names; each may have a line of help.
fn named<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = UnknownName> + Clone + Send + Sync + 'static,
{
    let value = |&(name, help): &(&'static str, &'static str)| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    };
    PossibleValuesParser::new(names.iter().map(value)).try_map(|name| name.to_lowercase().parse())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};
    use std::fmt::Display;

    fn parses_all<T>(parser: impl TypedValueParser<Value = T>, values: &[T])
    where
        T: Display + PartialEq + Clone + Send + Sync + std::fmt::Debug + 'static,
    {
        let names = parser.possible_values().map(Iterator::count);
        assert_eq!(names, Some(values.len()));
        let arg = Arg::new("value").value_parser(parser).ignore_case(true);
        let command = Command::new("test").arg(arg);
        for value in values {
            let text = value.to_string().to_uppercase();
            let parsed = command.clone().try_get_matches_from(["test".to_owned(), text.clone()]);
            let parsed = parsed.map(|parsed| parsed.get_one::<T>("value").cloned());
            assert_eq!(parsed.unwrap_or_else(|error| panic!("{error}")).as_ref(), Some(value));
        }
    }

    #[test]
    fn all_values_of_the_library_are_values_of_options() {
        parses_all(mode(), Mode::ALL);
        parses_all(fill(), Fill::ALL);
        parses_all(filter(), FilterChoice::ALL);
        parses_all(blend(), Blend::ALL);
        parses_all(backend(), BackendChoice::ALL);
        parses_all(kernel(), VoxelKernel::ALL);
        parses_all(render_backend(), &[BackendChoice::Cpu, BackendChoice::Gpu]);
        parses_all(up(), Up::ALL);
        parses_all(attribute(), Attribute::ALL);
        parses_all(view(), View::ALL);
        parses_all(camera(), Projection::ALL);
    }
}
