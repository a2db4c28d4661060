//! Values of options that are one of several names.

use std::fmt::Display;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use trivox::UnknownName;
use trivox::backend::{BackendChoice, VoxelKernel};
use trivox::grid::Attribute;
use trivox::mesh::appearance::FilterChoice;
use trivox::solid::Fill;
use trivox::view::render::{Projection, View};
use trivox::{Blend, Mode, Up};

pub fn mode() -> impl TypedValueParser<Value = Mode> {
    named(Mode::ALL, |mode| match mode {
        Mode::Surface => "Those that touch the mesh: conservative, 26-separating",
        Mode::Thin => {
            "Where an axis-parallel line through their centre crosses the mesh: 6-separating"
        }
        Mode::Solid(_) => "Those whose centre is inside the mesh",
        _ => "",
    })
}

pub fn fill() -> impl TypedValueParser<Value = Fill> {
    named(Fill::ALL, |fill| match fill {
        Fill::Auto => "Chosen by the mesh's topology; the report says why",
        Fill::Parity => {
            "Where a ray along x has an odd number of crossings: exact for closed meshes"
        }
        Fill::Winding => {
            "Where the generalized winding number is at least 1/2: for holes and overlapping parts"
        }
        Fill::Flood => {
            "The surface, and what a flood fill from outside does not reach: for small holes"
        }
        Fill::Vote => {
            "Where most rays along the three axes are inside, whichever way triangles face"
        }
        _ => "",
    })
}

pub fn blend() -> impl TypedValueParser<Value = Blend> {
    named(Blend::ALL, |blend| match blend {
        Blend::All => "The mean of all, weighted by area",
        Blend::Visible => "The mean of those that are seen from outside",
        Blend::None => {
            "The most typical colour of those that are seen: for pixel art and flat colours"
        }
    })
}

pub fn filter() -> impl TypedValueParser<Value = FilterChoice> {
    named(FilterChoice::ALL, |filter| match filter {
        FilterChoice::Auto => "As the file says, for each texture, and nearest where it does not",
        FilterChoice::Nearest => "Texels are squares",
        FilterChoice::Linear => {
            "Interpolated between the centres of texels, but not where a cutoff hides texels"
        }
    })
}

pub fn backend() -> impl TypedValueParser<Value = BackendChoice> {
    named(BackendChoice::ALL, |backend| match backend {
        BackendChoice::Auto => "The GPU where that is likely to be faster, else the CPU",
        BackendChoice::Gpu => "The GPU, or an error",
        BackendChoice::Cpu => "The CPU",
        _ => "",
    })
}

pub fn kernel() -> impl TypedValueParser<Value = VoxelKernel> {
    named(VoxelKernel::ALL, |kernel| match kernel {
        VoxelKernel::Rows => {
            "Up to eight voxels in a row by each invocation: the default, and the faster"
        }
        VoxelKernel::Voxels => {
            "One (triangle, voxel) candidate by each invocation: a second opinion on a new driver, \
             a baseline for measurements"
        }
        _ => "",
    })
}

pub fn render_backend() -> impl TypedValueParser<Value = BackendChoice> {
    named(&[BackendChoice::Gpu, BackendChoice::Cpu], |backend| match backend {
        BackendChoice::Gpu => "A GPU, or an error",
        BackendChoice::Cpu => "The CPU",
        _ => "",
    })
}

pub fn attribute() -> impl TypedValueParser<Value = Attribute> {
    named(Attribute::ALL, |_| "")
}

pub fn up() -> impl TypedValueParser<Value = Up> {
    named(Up::ALL, |_| "")
}

pub fn view() -> impl TypedValueParser<Value = View> {
    named(View::ALL, |view| match view {
        View::Iso => "From the front, the right and above: isometric, without perspective",
        View::ThreeQuarter => "From the front, the right and above, in perspective",
        _ => "",
    })
}

pub fn camera() -> impl TypedValueParser<Value = Projection> {
    named(Projection::ALL, |projection| match projection {
        Projection::Perspective => "Nearer voxels appear larger",
        Projection::Orthographic => "Parallel lines stay parallel",
    })
}

/// The parser of `values` by their names. `help` is the line of help of a value; it may be empty.
fn named<T>(values: &[T], help: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = UnknownName> + Display + Copy + Send + Sync + 'static,
{
    let value = |&value: &T| match help(value) {
        "" => PossibleValue::new(value.to_string()),
        help => PossibleValue::new(value.to_string()).help(help),
    };
    PossibleValuesParser::new(values.iter().map(value)).try_map(|name| name.to_lowercase().parse())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new value would fall into the wildcard arm of a match on its non-exhaustive enum.
    #[test]
    fn each_mode_fill_backend_and_kernel_has_a_line_of_help() {
        fn assert_explained<T>(parser: impl TypedValueParser<Value = T>) {
            for value in parser.possible_values().into_iter().flatten() {
                assert!(value.get_help().is_some(), "{}", value.get_name());
            }
        }
        assert_explained(mode());
        assert_explained(fill());
        assert_explained(backend());
        assert_explained(kernel());
        assert_explained(render_backend());
    }
}
