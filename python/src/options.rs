//! Converts the values of options from Python. A wrong type is a `TypeError`, a value out of range
//! an `OptionError`; both name the option.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use numpy::ndarray::{ArrayView, ArrayView1, Dimension};
use numpy::{PyArrayDescrMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use trivox::base::srgb::Rgba;
use trivox::grid::Attribute;
use trivox::lattice::MAX_DIM;
use trivox::solid::FillReport;
use trivox::view::render::MAX_SAMPLES;
use trivox::{ColorSource, Lattice, Tile, UnknownName};

use crate::error::{Failure, check_memory, option_error};

/// The solids that are refused, as of the program's `--strict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strict {
    /// None: False.
    Off,
    /// Doubtful ones: True.
    Doubtful,
    /// Doubtful ones, and those of meshes with holes: "closed".
    Closed,
}

impl Strict {
    pub fn refuses(self, fill: &FillReport) -> bool {
        match self {
            Self::Off => false,
            Self::Doubtful => fill.is_doubtful(),
            Self::Closed => fill.is_doubtful() || !fill.topology.is_closed(),
        }
    }
}

impl<'py> IntoPyObject<'py> for Strict {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self {
            Self::Closed => "closed".into_bound_py_any(py),
            other => (other == Self::Doubtful).into_bound_py_any(py),
        }
    }
}

/// What an option takes.
pub trait Taken<'a>: Sized {
    /// # Errors
    /// A `TypeError` that names the option, if `value` is of another type.
    fn taken(name: &str, value: &'a Bound<'_, PyAny>) -> PyResult<Self>;
}

impl Taken<'_> for bool {
    fn taken(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract().map_err(|_| wrong_type(name, value, "True or False"))
    }
}

impl Taken<'_> for Strict {
    fn taken(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        const CHOICES: &str = "True, False or 'closed'";
        match value.extract() {
            Ok("closed") => Ok(Self::Closed),
            Ok(text) => {
                let message = format!("{name} '{text}' is not possible: use {CHOICES}");
                Err(option_error("option.value", message))
            }
            Err(_) => match value.extract() {
                Ok(is_strict) => Ok(if is_strict { Self::Doubtful } else { Self::Off }),
                Err(_) => Err(wrong_type(name, value, CHOICES)),
            },
        }
    }
}

impl Taken<'_> for f64 {
    fn taken(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        match value.extract() {
            Ok(number) if !is_flag(value) => Ok(number),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                let message =
                    format!("{name} is not possible: use a number between -1.8e308 and 1.8e308");
                Err(option_error("option.range", message))
            }
            Err(error) if !error.is_instance_of::<PyTypeError>(py) => Err(error),
            _ => Err(wrong_type(name, value, "a number")),
        }
    }
}

impl Taken<'_> for f32 {
    fn taken(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        f64::taken(name, value).map(|number| number as Self)
    }
}

impl<'a> Taken<'a> for &'a str {
    fn taken(name: &str, value: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract().map_err(|_| wrong_type(name, value, "text"))
    }
}

impl Taken<'_> for HashMap<String, Vec<u8>> {
    fn taken(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract().map_err(|_| {
            PyTypeError::new_err(format!("{name} takes a dict of text to bytes, by file name"))
        })
    }
}

impl<'a, T: Taken<'a>> Taken<'a> for Option<T> {
    fn taken(name: &str, value: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        (!value.is_none()).then(|| T::taken(name, value)).transpose()
    }
}

/// A value that is not what the option `name` takes.
pub fn wrong_type(name: &str, value: &Bound<'_, PyAny>, takes: &str) -> PyErr {
    match value.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("{name} takes {takes}, not {kind}")),
        Err(error) => error,
    }
}

/// Whether it is True or False, of Python or of NumPy, which convert to numbers.
pub fn is_flag(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBool>()
        || value.get_type().name().is_ok_and(|kind| kind == "bool" || kind == "bool_")
}

/// Functions for `from_py_with`, which does not tell them the name of the option: each has it.
pub mod named {
    use super::{Bound, HashMap, PyAny, PyResult, Strict, Taken};

    macro_rules! options {
        ($($name:ident: $takes:ty),* $(,)?) => {$(
            #[allow(clippy::needless_lifetimes, reason = "text borrows from the value")]
            pub fn $name<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<$takes> {
                <$takes>::taken(stringify!($name), value)
            }
        )*};
    }

    options!(
        adapter: Option<&'a str>,
        as_placed: bool,
        backend: &'a str,
        blend: &'a str,
        camera: Option<&'a str>,
        center: bool,
        confine: bool,
        fill: &'a str,
        filter: &'a str,
        format: &'a str,
        include_surface: bool,
        keep_transparent: bool,
        mode: &'a str,
        on_error: &'a str,
        order: &'a str,
        scale: Option<f64>,
        signed: bool,
        sidecars: Option<HashMap<String, Vec<u8>>>,
        strict: Strict,
        time_limit: Option<f64>,
        turn: Option<f64>,
        up: &'a str,
        view: &'a str,
        voxel_size: Option<f64>,
        width: f32,
    );
}

/// The value with this name.
///
/// # Errors
/// There is none.
pub fn parsed<T: FromStr<Err = UnknownName>>(name: &str) -> PyResult<T> {
    name.parse().map_err(|error| option_error("option.value", error))
}

/// A whole number.
pub fn whole<T: TryFrom<i64> + PartialOrd + Display>(
    name: &str,
    value: &Bound<'_, PyAny>,
    range: RangeInclusive<T>,
) -> PyResult<T> {
    let number = match value.extract::<i64>() {
        Ok(_) if is_flag(value) => return Err(wrong_type(name, value, "a whole number")),
        Ok(number) => T::try_from(number).ok(),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => None,
        Err(_) => return Err(wrong_type(name, value, "a whole number")),
    };
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        let message = format!("{name} {value} is not possible: use {least} to {most}");
        option_error("option.range", message)
    })
}

/// So many whole numbers.
pub fn wholes<T: TryFrom<i64> + PartialOrd + Display + Clone, const N: usize>(
    name: &str,
    value: &Bound<'_, PyAny>,
    range: RangeInclusive<T>,
) -> PyResult<[T; N]> {
    let (least, most) = (range.start(), range.end());
    let wrong = || format!("{name} takes {N} whole numbers from {least} to {most}");
    let items = value.try_iter().map_err(|_| PyTypeError::new_err(wrong()))?;
    let numbers = items.map(|item| whole(name, &item?, range.clone()));
    let numbers = numbers.collect::<PyResult<Vec<T>>>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(value.py()) {
            PyTypeError::new_err(wrong())
        } else {
            error
        }
    })?;
    numbers.try_into().map_err(|numbers: Vec<T>| {
        let message = format!("{}, and got {}", wrong(), numbers.len());
        option_error("option.shape", message)
    })
}

/// An array of numbers of this shape, in C order.
pub fn numbers(name: &str, value: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<f64>> {
    let array = numbers_of(name, value, &shaped(shape), |given| given == shape)?;
    Ok(array.as_array().iter().copied().collect())
}

/// An upper bound of the bytes for a row: its coordinates, and its result as Rust's value and in
/// arrays.
const ROW: usize = 192;

/// The rows of an array of numbers of shape (n, 3), or the only one of (3,).
pub fn vectors(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<[f64; 3]>> {
    let is_fit = |shape: &[usize]| matches!(shape, [_, 3] | [3]);
    let array = numbers_of(name, value, "(n, 3) or (3,)", is_fit)?;
    let flat = array.as_slice().map_err(Failure::bug)?;
    check_memory(flat.len() / 3, ROW)?;
    Ok(flat.as_chunks().0.to_vec())
}

/// `value` as an array of NumPy, without a copy where it is one whose elements are aligned.
///
/// # Errors
/// NumPy makes no array of it; it is a masked array, whose mask would be lost.
pub fn array_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    let numpy = PyModule::import(py, "numpy")?;
    if !value.get_type().is(&numpy.getattr("ndarray")?)
        && value.is_instance(&PyModule::import(py, "numpy.ma")?.getattr("MaskedArray")?)?
    {
        let message = "a masked array is not possible: use array.filled(value) or \
                       array.compressed()";
        return Err(PyTypeError::new_err(message));
    }
    let array = numpy.call_method1("asarray", (value,))?;
    // Fields of records may have any address, which Rust's slices may not.
    let is_aligned: bool = array.getattr("flags")?.getattr("aligned")?.extract()?;
    let array = if is_aligned { array } else { array.call_method0("copy")? };
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// The colours of an array whose last axis is red, green, blue and perhaps opacity.
pub fn rgba_rows(array: ArrayView<'_, u8, impl Dimension>) -> Vec<Rgba> {
    let color =
        |row: ArrayView1<'_, u8>| [row[0], row[1], row[2], row.get(3).copied().unwrap_or(u8::MAX)];
    array.rows().into_iter().map(color).collect()
}

/// An array of numbers of a shape that `is_fit`, in C order; `wanted` names such shapes.
pub fn numbers_of<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    wanted: &str,
    is_fit: impl Fn(&[usize]) -> bool,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let py = value.py();
    let takes = format!("{name} takes numbers of shape {wanted}");
    // NumPy's or PyTorch's reason, such as a tensor that requires a gradient.
    let array = array_of(value)
        .map_err(|error| PyTypeError::new_err(format!("{takes}: {}", error.value(py))))?;
    if !matches!(array.dtype().kind(), b'f' | b'i' | b'u') {
        return Err(PyTypeError::new_err(format!("{takes}, not {}", array.dtype())));
    }
    if !is_fit(array.shape()) {
        let message =
            format!("{name} of shape {} is not possible: use {wanted}", shaped(array.shape()));
        return Err(option_error("option.shape", message));
    }
    let numpy = PyModule::import(py, "numpy")?;
    numpy.call_method1("ascontiguousarray", (array, "float64"))?.extract()
}

/// A shape as Python writes it.
pub fn shaped(shape: &[usize]) -> String {
    let sides: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({}{})", sides.join(", "), if shape.len() == 1 { "," } else { "" })
}

/// Minimum and maximum corner of `bounds`.
pub fn bounds_of(value: &Bound<'_, PyAny>) -> PyResult<trivox::Bounds> {
    let corners = numbers("bounds", value, &[2, 3])?;
    // Without -0.0: equal options have one text, which is hashed.
    let corner = |first: usize| [0, 1, 2].map(|a| corners[first + a] + 0.0);
    Ok(trivox::Bounds { min: corner(0), max: corner(3) })
}

/// Whose colours: True for the mesh's, False for none, or the colour of all voxels.
pub fn color_of(value: &Bound<'_, PyAny>) -> PyResult<ColorSource> {
    match value.extract() {
        Ok(true) => Ok(ColorSource::Mesh),
        Ok(false) => Ok(ColorSource::None),
        Err(_) if value.try_iter().is_ok() => {
            let [r, g, b] = wholes("color", value, 0..=u8::MAX)?;
            Ok(ColorSource::Uniform([r, g, b, u8::MAX]))
        }
        Err(_) => Err(wrong_type("color", value, "True, False or (red, green, blue)")),
    }
}

/// Names of attributes.
pub fn attributes_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<Attribute>> {
    let names: Vec<String> = value.extract().map_err(|_| {
        PyTypeError::new_err("attributes takes a sequence of names, such as ['normal', 'label']")
    })?;
    names.iter().map(|name| parsed(name)).collect()
}

pub fn tile_of(value: &Bound<'_, PyAny>) -> PyResult<Option<Tile>> {
    if value.is_none() {
        return Ok(None);
    }
    let text: String = value
        .extract()
        .map_err(|_| PyTypeError::new_err("tile takes text such as '3/8' or '3/2x2x2'"))?;
    text.parse().map(Some).map_err(|error| option_error("option.tile", error))
}

/// A lattice as reports have it.
pub fn lattice_of(value: &Bound<'_, PyAny>) -> PyResult<Lattice> {
    if !value.is_instance_of::<PyDict>() {
        let message = "lattice takes a dict: grid.report[\"lattice\"] of another grid";
        return Err(PyTypeError::new_err(message));
    }
    let json = PyModule::import(value.py(), "json")?.call_method1("dumps", (value,))?;
    serde_json::from_str(&json.extract::<String>()?).map_err(|error| {
        let message = format!("lattice is none of a grid's report: {error}");
        option_error("option.lattice", message)
    })
}

pub fn pad_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("pad", value, 0..=MAX_DIM)
}

pub fn named_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("named", value, 0..=u32::MAX)
}

pub fn samples_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("samples", value, 1..=MAX_SAMPLES)
}
