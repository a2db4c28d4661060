//! Makes grids of arrays.

use std::collections::BTreeMap;

use numpy::ndarray::ArrayView1;
use numpy::{PyArrayDescrMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use trivox::base::srgb::Rgba;
use trivox::grid::{
    Attribute, Attributes, Bits, BrickKey, Channel, Mask, VoxelValues, World, mask_place,
};
use trivox::{Up, VoxelGrid};

use crate::error::{Failure, check_memory, option_error};
use crate::grid::PyGrid;
use crate::options::{array_of, numbers, parsed, rgba_rows, shaped};

/// Voxel indices: integers of shape (n, 3), named `name`.
///
/// # Errors
/// Another shape or type.
pub fn indices<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArray2<'py, i64>> {
    indices_of(value, name, "(n, 3)", |shape| matches!(shape, [_, 3] | [0]))
}

/// The same of a shape that `is_fit`; `wanted` names such shapes.
pub fn indices_of<'py>(
    value: &Bound<'py, PyAny>,
    name: &str,
    wanted: &str,
    is_fit: impl Fn(&[usize]) -> bool,
) -> PyResult<PyReadonlyArray2<'py, i64>> {
    let untyped = array_of(value)?;
    if !is_fit(untyped.shape()) {
        let shape = shaped(untyped.shape());
        let message = format!("{name} of shape {shape} are not possible: use {wanted}");
        return Err(option_error("option.shape", message));
    }
    let kind = untyped.dtype();
    // An empty list is an array of floats.
    if !matches!(kind.kind(), b'i' | b'u') && !untyped.is_empty() {
        let message = format!(
            "{name} of type {kind} are not possible: use voxel indices, which are integers (points \
             are voxelized, or floored first)"
        );
        return Err(option_error("option.dtype", message));
    }
    let array = untyped.call_method1("reshape", ((-1, 3),))?;
    // Past the range of int64, a voxel is outside in either type.
    let clipped = match kind.kind() {
        b'u' => array.call_method1("clip", (0, i64::MAX))?,
        _ => array,
    };
    let array = clipped.call_method1("astype", ("int64",))?;
    array.extract()
}

/// The voxel of a row of [`indices`].
///
/// # Errors
/// It is not in a grid of these dimensions.
pub fn voxel_in(dims: [u32; 3], row: ArrayView1<'_, i64>) -> Result<[u32; 3], Failure> {
    let [x, y, z] = [row[0], row[1], row[2]];
    // Past every grid where it is no index.
    let voxel = [x, y, z].map(|c| u32::try_from(c).unwrap_or(u32::MAX));
    if (0..3).all(|a| voxel[a] < dims[a]) {
        return Ok(voxel);
    }
    let [dx, dy, dz] = dims;
    let message = format!("voxel ({x}, {y}, {z}) lies outside a grid of {dx}x{dy}x{dz}");
    Err(Failure::own("grid.outside", message))
}

/// Makes a grid of the voxels in an array of shape (n, 3).
pub fn grid_of_coords(
    coords: &Bound<'_, PyAny>,
    dims: [u32; 3],
    colors: Option<&Bound<'_, PyAny>>,
    attributes: Option<&Bound<'_, PyDict>>,
    names: Names,
    world: World,
) -> PyResult<PyGrid> {
    let py = coords.py();
    let array = indices(coords, "coords")?;
    let count = array.shape()[0];
    let each = 64 + 16 * attributes.map_or(0, |arrays| arrays.len());
    check_memory(count, each)?;
    let colors = colors.map(|colors| rgba(colors, count)).transpose()?;
    let none = PyDict::new(py);
    let attributes = attributes.or((!names.is_empty()).then_some(&none));
    let rows = attributes.map(|arrays| rows(arrays, &names, count)).transpose()?;
    let view = array.as_array();
    let make = || -> Result<VoxelGrid, Failure> {
        let voxels = view.outer_iter().map(|row| voxel_in(dims, row));
        let voxels = voxels.collect::<Result<Vec<[u32; 3]>, _>>()?;
        let colors =
            colors.map(|colors| VoxelValues::from_bricks(bricks_of(&voxels, &colors), [0; 4]));
        let attributes = rows.map(|rows| {
            let channel = |(of, rows): (Attribute, Vec<Bits>)| {
                (of, Channel::from_bricks(of, bricks_of(&voxels, &rows)))
            };
            Attributes::new(names, rows.into_iter().map(channel).collect())
        });
        let mut grid = VoxelGrid::from_voxels(dims, voxels)?;
        grid.world = world;
        grid.colors = colors;
        grid.attributes = attributes;
        Ok(grid)
    };
    PyGrid::made(py, make)
}

/// The colours in an array of as many rows as there are voxels.
fn rgba(colors: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Rgba>> {
    let array = array_of(colors)?;
    match array.extract::<PyReadonlyArray2<'_, u8>>() {
        Ok(array) if array.shape() == [count, 3] || array.shape() == [count, 4] => {
            Ok(rgba_rows(array.as_array()))
        }
        _ => {
            let message =
                format!("colors are uint8 of shape ({count}, 4) or ({count}, 3): one a voxel");
            Err(option_error("option.shape", message))
        }
    }
}

/// The names of materials and objects, by index.
pub type Names = BTreeMap<Attribute, Vec<String>>;

/// The names in a dict of lists of text.
pub fn names_of(value: &Bound<'_, PyAny>) -> PyResult<Names> {
    let names: BTreeMap<String, Vec<String>> = value.extract().map_err(|_| {
        PyTypeError::new_err("names takes a dict of lists of text, such as grid.names")
    })?;
    names.into_iter().map(|(name, names)| Ok((parsed(&name)?, names))).collect()
}

/// The attributes in a dict of arrays of as many rows as there are voxels.
fn rows(
    arrays: &Bound<'_, PyDict>,
    names: &Names,
    count: usize,
) -> PyResult<BTreeMap<Attribute, Vec<Bits>>> {
    let refuse = |message: String| Err(option_error("option.attributes", message));
    let mut rows = BTreeMap::new();
    for (name, array) in arrays {
        let name: String = name.extract()?;
        let attribute: Attribute = parsed(&name)?;
        let shape = [count, attribute.components()];
        let numbers = numbers(&name, &array, if shape[1] == 1 { &shape[..1] } else { &shape })?;
        let is_held = |n: f64| attribute.is_float() || f64::from(n as i32) == n;
        if let Some(wrong) = numbers.iter().find(|&&n| !is_held(n)) {
            return refuse(format!("{name} has {wrong}: use whole numbers of 32 bits"));
        }
        let bits = |&n: &f64| {
            if attribute.is_float() { (n as f32).to_bits() } else { (n as i32).cast_unsigned() }
        };
        let row = |row: &[f64]| {
            let mut own = Bits::default();
            own.iter_mut().zip(row).for_each(|(own, n)| *own = bits(n));
            own
        };
        let own: Vec<Bits> = numbers.chunks_exact(shape[1]).map(row).collect();
        let names = names.get(&attribute).map(Vec::len);
        for (n, &bits) in own.iter().enumerate() {
            if let Err(wrong) = attribute.check(bits, names) {
                return refuse(format!("{name}, row {n}: {wrong}"));
            }
        }
        rows.insert(attribute, own);
    }
    match names.keys().find(|&&name| !(name.has_names() && rows.contains_key(&name))) {
        Some(name) => refuse(format!("names of '{}' are without its array", name.name())),
        None => Ok(rows),
    }
}

/// The value of each voxel, by brick; the first one given where a voxel is repeated.
fn bricks_of<T: Copy + Send>(voxels: &[[u32; 3]], values: &[T]) -> Vec<(BrickKey, Mask, Vec<T>)> {
    // By brick, then in the order of its mask; sorting is stable.
    let place = |voxel: [u32; 3]| (BrickKey::of_voxel(voxel), mask_place(voxel));
    let mut own: Vec<_> = voxels.iter().map(|&v| place(v)).zip(values.iter().copied()).collect();
    own.par_sort_by_key(|&(place, _)| place);
    own.dedup_by_key(|&mut (place, _)| place);
    let bricks = own.chunk_by(|((a, _), _), ((b, _), _)| a == b).map(|voxels| {
        let mut mask: Mask = [0; 8];
        voxels.iter().for_each(|&((_, (slice, bit)), _)| mask[slice] |= 1 << bit);
        (voxels[0].0.0, mask, voxels.iter().map(|&(_, value)| value).collect())
    });
    bricks.collect()
}

/// Refuses an array of other types than booleans and integers, such as distances and probabilities,
/// except for floats that are all 0 or 1.
///
/// # Errors
/// There are other values.
pub fn refuse_non_binary(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let dtype = array.dtype();
    let kind = dtype.kind();
    if matches!(kind, b'b' | b'i' | b'u') {
        return Ok(());
    }
    if kind != b'f' {
        let message = format!("an array of {dtype} is not possible: give booleans or integers");
        return Err(option_error("option.dtype", message));
    }
    let is = |value: u8| array.rich_compare(value, CompareOp::Eq);
    if is(0)?.bitor(is(1)?)?.call_method0("all")?.extract()? {
        return Ok(());
    }
    let message = format!(
        "an array of {dtype} has values other than 0 and 1: give booleans, such as array > 0.5, or \
         distances < 0"
    );
    Err(option_error("option.values", message))
}

/// The world of a grid: `origin` and `voxel_size` are given together or not at all.
pub fn world_of(
    origin: Option<&Bound<'_, PyAny>>,
    voxel_size: Option<f64>,
    up: &str,
) -> PyResult<World> {
    let up: Up = parsed(up)?;
    match (origin, voxel_size) {
        (Some(origin), Some(voxel_size)) => {
            let origin = numbers("origin", origin, &[3])?;
            let origin = [origin[0], origin[1], origin[2]];
            if !(voxel_size > 0.0 && voxel_size.is_finite() && origin.iter().all(|c| c.is_finite()))
            {
                let message = "use finite numbers for origin, and a positive one for voxel_size";
                return Err(option_error("option.world", message));
            }
            Ok(World::at(origin, voxel_size, up))
        }
        (None, None) => Ok(World { up, place: None }),
        _ => {
            let message = "origin and voxel_size are given together";
            Err(option_error("option.combination", message))
        }
    }
}
