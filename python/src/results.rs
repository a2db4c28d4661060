//! Comparisons, verdicts, and lists of what there is.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trivox::backend::gpu::adapters::Adapter;
use trivox::compare;
use trivox::formats::{GridFormat, MESH_FORMATS};

use crate::error::Failure;
use crate::glue;
use crate::grid::PyGrid;
use crate::job;

/// Compares two grids voxel by voxel, by their indices, wherever they lie.
///
/// Parameters
/// ----------
/// a, b : Grid
/// named : int, default 8
///     How many differing voxels are listed, at most.
///
/// Returns
/// -------
/// Difference
///     Truthy if the grids differ in dimensions or voxels.
#[pyfunction]
#[pyo3(signature = (a, b, *, named=8))]
pub fn diff<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyGrid>,
    b: &Bound<'py, PyGrid>,
    named: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (a, b) = (a.get().grid.clone(), b.get().grid.clone());
    let found = job::run(py, None, None, move |_| {
        Ok(job::pool(None)?.install(|| compare(&a, &b, named)))
    })?;
    let fields = PyDict::new(py);
    fields.set_item("equal", found.is_equal())?;
    fields.set_item("dims", (found.dims[0], found.dims[1]))?;
    fields.set_item("both", found.both)?;
    fields.set_item("only_a", found.only[0])?;
    fields.set_item("only_b", found.only[1])?;
    fields.set_item("iou", found.iou())?;
    fields.set_item("other_colors", found.other_colors)?;
    fields.set_item("bounds", found.bounds)?;
    let first = found.first.iter().map(|&([x, y, z], of)| ((x, y, z), ["a", "b"][of]));
    fields.set_item("first", first.collect::<Vec<_>>())?;
    glue::module(py)?.getattr("Difference")?.call((), Some(&fields))
}

/// The machine's GPUs, as they are named for ``Voxelizer(adapter=...)``.
///
/// Returns
/// -------
/// list of dict
///     ``label``, ``driver`` and ``is_software`` of each, best first.
#[pyfunction]
pub fn adapters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let found = job::run(py, None, None, |_| Ok::<_, Failure>(Adapter::all()))?;
    let entry = |adapter: &Adapter| {
        let entry = PyDict::new(py);
        entry.set_item("label", adapter.label())?;
        entry.set_item("driver", adapter.driver())?;
        entry.set_item("is_software", adapter.is_software())?;
        Ok(entry)
    };
    found.iter().map(entry).collect()
}

/// Extensions of the grid formats, with whether they are read and written.
#[pyfunction]
#[pyo3(name = "_grid_formats")]
pub fn grid_formats() -> Vec<(&'static str, bool, bool)> {
    let entry = |format: GridFormat| {
        (format.extension(), format.spec().is_read(), format.spec().is_written())
    };
    GridFormat::ALL.into_iter().map(entry).collect()
}

/// Extensions of the mesh formats.
#[pyfunction]
#[pyo3(name = "_mesh_formats")]
pub fn mesh_formats() -> Vec<&'static str> {
    MESH_FORMATS.iter().map(|spec| spec.extension).collect()
}
