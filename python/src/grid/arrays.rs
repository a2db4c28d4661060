//! Makes NumPy's arrays of grids and of rows.

use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trivox::VoxelGrid;
use trivox::formats::Surface;
use trivox::grid::{Attribute, Attributes, Channel, Place, VoxelValues, mask_voxels};

use crate::error::{Failure, option_error};
use crate::job;
use crate::options::whole;

/// A new array of NumPy's, `empty` or `zeros`, that `fill` fills while detached. One that is too
/// large is a `MemoryError`.
fn new_array<'py, T: Element>(
    py: Python<'py>,
    make: &str,
    shape: &[u64],
    fill: impl FnOnce(&mut [T]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    let array =
        PyModule::import(py, "numpy")?.call_method1(make, (shape, numpy::dtype::<T>(py)))?;
    let mut data: PyReadwriteArrayDyn<'_, T> = array.extract()?;
    let flat = data.as_slice_mut().map_err(Failure::bug)?;
    job::on_pool(py, || fill(flat))?;
    drop(data);
    Ok(array)
}

/// A new array of so many rows of `N` elements; 1-D if `N` is 1.
pub fn filled<'py, T: Element + bytemuck::Pod, const N: usize>(
    py: Python<'py>,
    rows: u64,
    fill: impl FnOnce(&mut [[T; N]]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let fill = |flat: &mut [T]| fill(bytemuck::cast_slice_mut(flat));
    let shape = [rows, N as u64];
    new_array(py, "empty", if N == 1 { &shape[..1] } else { &shape }, fill)
}

/// An array of these rows.
pub fn of_rows<T: Element, const N: usize>(
    py: Python<'_>,
    rows: Vec<[T; N]>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = rows.len();
    rows.into_flattened().into_pyarray(py).reshape([count, N])
}

/// A new array of an element for each voxel, occupied or not.
pub fn dense<'py, T: Element>(
    py: Python<'py>,
    make: &str,
    dims: [u32; 3],
    fill: impl FnOnce(&mut [T]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    new_array(py, make, &dims.map(u64::from), fill)
}

/// A new array of a row for each voxel of `grid`, which `row` makes of it.
fn of_voxels<'py, T: Element + bytemuck::Pod, const N: usize>(
    py: Python<'py>,
    grid: &VoxelGrid,
    rows: u64,
    row: impl Fn([i32; 3]) -> [T; N] + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    filled(py, rows, |out| {
        grid.fill_voxels(out, |key, mask, out| {
            let voxels = mask_voxels(key.first_voxel(), *mask);
            set_all(out, voxels.map(|voxel| row(voxel.map(|c| c as i32))));
        });
    })
}

/// A new array of a row for each voxel of `grid`, which `row` makes of its value.
pub fn of_values<'py, V: Copy + Sync, T: Element + bytemuck::Pod, const N: usize>(
    py: Python<'py>,
    grid: &VoxelGrid,
    rows: u64,
    values: &VoxelValues<V>,
    row: impl Fn(V) -> [T; N] + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    filled(py, rows, |out| {
        grid.fill_voxels(out, |key, mask, out| {
            let values = values.of_brick(key);
            let voxels = mask_voxels([0; 3], *mask);
            set_all(out, voxels.map(|[x, y, z]| row(values.at(x, 8 * y + z))));
        });
    })
}

/// Voxels of `grid`, a row each.
pub fn coords<'py>(
    py: Python<'py>,
    grid: &VoxelGrid,
    rows: u64,
    order: &str,
    batch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.map(|batch| whole("batch", batch, i32::MIN..=i32::MAX)).transpose()?;
    let is_reversed = match order {
        "xyz" => false,
        "zyx" => true,
        _ => {
            let message = format!("order '{order}' is not possible: use 'xyz' or 'zyx'");
            return Err(option_error("option.order", message));
        }
    };
    // Without a branch for each voxel.
    match (is_reversed, batch) {
        (false, None) => of_voxels(py, grid, rows, |v| v),
        (true, None) => of_voxels(py, grid, rows, |[x, y, z]| [z, y, x]),
        (false, Some(b)) => of_voxels(py, grid, rows, |[x, y, z]| [b, x, y, z]),
        (true, Some(b)) => of_voxels(py, grid, rows, |[x, y, z]| [b, z, y, x]),
    }
}

/// Their centres in mesh units.
pub fn centers<'py>(py: Python<'py>, grid: &VoxelGrid, rows: u64) -> PyResult<Bound<'py, PyAny>> {
    let Some(Place { origin, voxel_size }) = grid.world.place else {
        let message = "the grid does not say where it lies: use coords()";
        return Err(option_error("option.world", message));
    };
    let centre = |c: i32, a: usize| origin[a] + (f64::from(c) + 0.5) * voxel_size;
    of_voxels(py, grid, rows, |[x, y, z]| [centre(x, 0), centre(y, 1), centre(z, 2)])
}

/// The surface as arrays: vertices, faces and colours.
pub fn mesh<'py>(py: Python<'py>, grid: &VoxelGrid) -> PyResult<Bound<'py, PyTuple>> {
    let surface = job::on_pool(py, || Surface::new(grid))?;
    let (vertices, triangles) = (surface.vertices(), surface.triangles());
    let positions = filled::<f64, 3>(py, vertices, |out| surface.fill_positions(out))?;
    let faces = filled::<i64, 3>(py, triangles, |out| {
        // Indices are below 2^63.
        surface.fill_triangles(bytemuck::cast_slice_mut(out));
    })?;
    let colors = grid.colors.as_ref().map(|_| filled(py, vertices, |out| surface.fill_colors(out)));
    (positions, faces, colors.transpose()?).into_pyobject(py)
}

/// Sets the elements to these values. `for_each` runs the nested loops inside the iterator; a `zip`
/// would call `next` for each value, which is slower.
fn set_all<T>(out: &mut [T], values: impl Iterator<Item = T>) {
    let mut out = out.iter_mut();
    values.for_each(|value| {
        if let Some(out) = out.next() {
            *out = value;
        }
    });
}

/// An attribute of the voxels of `grid`, a row each. `None` where they do not have it.
pub fn attribute<'py>(
    py: Python<'py>,
    grid: &VoxelGrid,
    rows: u64,
    attribute: Attribute,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let channels = grid.attributes.as_ref().map(Attributes::channels);
    let Some(channel) = channels.and_then(|all| all.get(&attribute)) else { return Ok(None) };
    let float = f32::from_bits;
    let array = match channel {
        Channel::Scalar(values) if attribute.is_float() => {
            of_values(py, grid, rows, values, |bits| [float(bits)])?
        }
        Channel::Scalar(values) => of_values(py, grid, rows, values, |bits| [bits.cast_signed()])?,
        Channel::Vector(values) if attribute.components() == 2 => {
            of_values(py, grid, rows, values, |[x, y, _]| [x, y].map(float))?
        }
        Channel::Vector(values) => of_values(py, grid, rows, values, |bits| bits.map(float))?,
    };
    Ok(Some(array))
}
