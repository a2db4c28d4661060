//! Writes grids into NumPy's arrays.

use numpy::{Element, PyReadonlyArray2, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trivox::VoxelGrid;
use trivox::formats::Surface;
use trivox::grid::{Attribute, Attributes, BrickKey, Channel, Mask, Place, VoxelValues};

use crate::error::{Failure, option_error};
use crate::job;

/// A new array of NumPy's: `empty` or `zeros`. Too large a one is a `MemoryError`.
pub fn new_array<'py>(
    py: Python<'py>,
    make: &str,
    shape: &[u64],
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    PyModule::import(py, "numpy")?.call_method1(make, (shape, dtype))
}

/// A new array of so many rows of `N`, which `fill` fills while detached.
pub fn filled<'py, T: Element + bytemuck::Pod, const N: usize>(
    py: Python<'py>,
    rows: u64,
    dtype: &str,
    fill: impl FnOnce(&mut [[T; N]]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let array = new_array(py, "empty", &[rows, N as u64], dtype)?;
    let mut data: PyReadwriteArrayDyn<'_, T> = array.extract()?;
    let flat = data.as_slice_mut().map_err(|error| Failure::bug(error).into_py(py))?;
    let rows = bytemuck::cast_slice_mut(flat);
    job::on_pool(py, || fill(rows))?;
    drop(data);
    Ok(array)
}

/// Voxels of `grid`, a row each.
pub fn coords<'py>(
    py: Python<'py>,
    grid: &VoxelGrid,
    rows: u64,
    order: &str,
    batch: Option<i32>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_reversed = match order {
        "xyz" => false,
        "zyx" => true,
        _ => {
            let message = format!("order '{order}' is not possible: use 'xyz' or 'zyx'");
            return Err(option_error(py, "option.order", message));
        }
    };
    // Without a branch for each voxel.
    match (is_reversed, batch) {
        (false, None) => filled::<i32, 3>(py, rows, "int32", |out| {
            grid.fill_voxels(out, |key, mask, out| write_rows(key, mask, out, |v| v));
        }),
        (true, None) => filled::<i32, 3>(py, rows, "int32", |out| {
            grid.fill_voxels(out, |key, mask, out| {
                write_rows(key, mask, out, |[x, y, z]| [z, y, x]);
            });
        }),
        (false, Some(b)) => filled::<i32, 4>(py, rows, "int32", |out| {
            grid.fill_voxels(out, |key, mask, out| {
                write_rows(key, mask, out, |[x, y, z]| [b, x, y, z]);
            });
        }),
        (true, Some(b)) => filled::<i32, 4>(py, rows, "int32", |out| {
            grid.fill_voxels(out, |key, mask, out| {
                write_rows(key, mask, out, |[x, y, z]| [b, z, y, x]);
            });
        }),
    }
}

/// Their centres in mesh units.
pub fn centers<'py>(py: Python<'py>, grid: &VoxelGrid, rows: u64) -> PyResult<Bound<'py, PyAny>> {
    let Some(Place { origin, voxel_size }) = grid.world.place else {
        let message = "the grid does not say where it lies: use coords()";
        return Err(option_error(py, "option.world", message));
    };
    let centre = |c: i32, a: usize| origin[a] + (f64::from(c) + 0.5) * voxel_size;
    let coords: PyReadonlyArray2<'_, i32> = coords(py, grid, rows, "xyz", None)?.extract()?;
    let coords = coords.as_slice().map_err(|error| Failure::bug(error).into_py(py))?;
    filled::<f64, 3>(py, coords.len() as u64 / 3, "float64", |out| {
        for (out, voxel) in out.iter_mut().zip(coords.chunks_exact(3)) {
            *out = std::array::from_fn(|a| centre(voxel[a], a));
        }
    })
}

/// The surface as arrays: vertices, faces and colours.
pub fn mesh<'py>(py: Python<'py>, grid: &VoxelGrid) -> PyResult<Bound<'py, PyTuple>> {
    let surface = job::on_pool(py, || Surface::new(grid))?;
    let (vertices, triangles) = (surface.vertices(), surface.triangles());
    let positions = filled::<f64, 3>(py, vertices, "float64", |out| surface.fill_positions(out))?;
    let faces = filled::<i64, 3>(py, triangles, "int64", |out| {
        // Indices are below 2^63.
        surface.fill_triangles(bytemuck::cast_slice_mut(out));
    })?;
    let colors = grid
        .colors
        .as_ref()
        .map(|_| filled::<u8, 4>(py, vertices, "uint8", |out| surface.fill_colors(out)));
    (positions, faces, colors.transpose()?).into_pyobject(py)
}

/// Writes a row for each voxel of a brick.
pub fn write_rows<const N: usize>(
    key: BrickKey,
    mask: &Mask,
    out: &mut [[i32; N]],
    row: impl Fn([i32; 3]) -> [i32; N],
) {
    let [x0, y0, z0] = key.first_voxel().map(|c| c as i32);
    let mut out = out.iter_mut();
    for (x, &word) in (x0..).zip(mask) {
        let mut word = word;
        while word != 0 {
            let bit = word.trailing_zeros() as i32;
            word &= word - 1;
            if let Some(out) = out.next() {
                *out = row([x, y0 + bit / 8, z0 + bit % 8]);
            }
        }
    }
}

/// Writes what `of` makes of the value of each voxel of a brick.
pub fn write_values<T: Copy + Sync, U>(
    values: &VoxelValues<T>,
    key: BrickKey,
    mask: &Mask,
    out: &mut [U],
    of: impl Fn(T) -> U,
) {
    let values = values.of_brick(key);
    let mut out = out.iter_mut();
    for (x, &word) in (0..).zip(mask) {
        let mut word = word;
        while word != 0 {
            if let Some(out) = out.next() {
                *out = of(values.at(x, word.trailing_zeros()));
            }
            word &= word - 1;
        }
    }
}

/// An attribute of the voxels of `grid`, a row each; 1-D for one of one component. `None` where
/// they do not have it.
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
            filled::<f32, 1>(py, rows, "float32", |out| {
                grid.fill_voxels(out, |key, mask, out| {
                    write_values(values, key, mask, out, |bits| [float(bits)]);
                });
            })?
        }
        Channel::Scalar(values) => filled::<i32, 1>(py, rows, "int32", |out| {
            grid.fill_voxels(out, |key, mask, out| {
                write_values(values, key, mask, out, |bits| [bits.cast_signed()]);
            });
        })?,
        Channel::Vector(values) if attribute.components() == 2 => {
            filled::<f32, 2>(py, rows, "float32", |out| {
                grid.fill_voxels(out, |key, mask, out| {
                    write_values(values, key, mask, out, |[x, y, _]| [x, y].map(float));
                });
            })?
        }
        Channel::Vector(values) => filled::<f32, 3>(py, rows, "float32", |out| {
            grid.fill_voxels(out, |key, mask, out| {
                write_values(values, key, mask, out, |bits| bits.map(float));
            });
        })?,
    };
    match attribute.components() {
        1 => array.call_method1("reshape", (rows,)).map(Some),
        _ => Ok(Some(array)),
    }
}

pub fn fill_dense<'py, T: Element + Copy + Send + Sync>(
    grid: &VoxelGrid,
    array: Bound<'py, PyAny>,
    value: T,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let mut data: PyReadwriteArrayDyn<'_, T> = array.extract()?;
    let flat = data.as_slice_mut().map_err(|error| Failure::bug(error).into_py(py))?;
    job::on_pool(py, || grid.fill_dense(flat, value))?;
    drop(data);
    Ok(array)
}
