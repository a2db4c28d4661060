//! Signed distances around a surface.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trivox::formats::{GridFormat, write_distances};
use trivox::voxelizer::Distances;
use trivox::{DistanceField, Up};

use crate::error::Failure;
use crate::grid::PyGrid;
use crate::grid::arrays::{filled, new_array};
use crate::grid::files::write_file;
use crate::job;

/// Signed distances from voxel centres to a surface, in a narrow band: a level set.
///
/// Made by `Voxelizer.distances`. A distance is in voxels, negative inside, and the float32 nearest
/// to the exact one. Arrays list voxels in the order of ``Grid``'s.
#[pyclass(frozen, module = "trivox", name = "DistanceField")]
pub struct PyDistanceField {
    field: Arc<DistanceField>,
    count: u64,
    warnings: Vec<String>,
}

impl PyDistanceField {
    pub fn new(found: Distances) -> Self {
        let warnings = found.warnings.iter().map(ToString::to_string).collect();
        let count = found.field.band().occupied();
        Self { field: Arc::new(found.field), count, warnings }
    }

    pub fn sentences(&self) -> &[String] {
        &self.warnings
    }
}

#[pymethods]
impl PyDistanceField {
    /// Voxels along x, y and z.
    #[getter]
    fn dims(&self) -> (u32, u32, u32) {
        self.field.dims().into()
    }

    /// The same, as arrays call it.
    #[getter]
    fn shape(&self) -> (u32, u32, u32) {
        self.field.dims().into()
    }

    /// All distances of the band are below this, in voxels.
    #[getter]
    fn width(&self) -> f32 {
        self.field.width()
    }

    /// How many voxels are in the band.
    fn __len__(&self) -> usize {
        self.count as usize
    }

    /// The minimum corner in mesh units, float64 of shape (3,).
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.field.world().map(|world| PyArray1::from_slice(py, &world.origin))
    }

    /// A voxel's edge in mesh units.
    #[getter]
    fn voxel_size(&self) -> Option<f64> {
        self.field.world().map(|world| world.voxel_size)
    }

    /// The axis that points up, ``"y"`` or ``"z"``.
    #[getter]
    fn up(&self) -> &'static str {
        match self.field.world().map_or(Up::default(), |world| world.up) {
            Up::Y => "y",
            Up::Z => "z",
        }
    }

    /// Bytes of memory.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.field.bytes()
    }

    /// Hash of dimensions, width, voxels and distances, 32 hexadecimal digits: the same on every
    /// machine, with any number of threads.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        job::on_pool(py, || self.field.hash())
    }

    /// What the caller may not expect, a sentence each.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.warnings)
    }

    /// The voxels whose centre is inside, in the band or not, as a `Grid`.
    fn inside(&self, py: Python<'_>) -> PyResult<PyGrid> {
        PyGrid::restored(py, self.field.inside().clone(), vec![])
    }

    /// The voxels of the band.
    ///
    /// Returns
    /// -------
    /// ndarray of int32, shape (n, 3)
    fn coords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        filled::<i32, 3>(py, self.count, "int32", |rows| {
            let voxels = self.field.distances().map(|(voxel, _)| voxel.map(|c| c as i32));
            rows.iter_mut().zip(voxels).for_each(|(row, voxel)| *row = voxel);
        })
    }

    /// The signed distances of the voxels of the band, in voxels.
    ///
    /// Returns
    /// -------
    /// ndarray of float32, shape (n,)
    ///     In the order of `coords`.
    fn distances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let column = filled::<f32, 1>(py, self.count, "float32", |rows| {
            let distances = self.field.distances().map(|(_, distance)| [distance]);
            rows.iter_mut().zip(distances).for_each(|(row, distance)| *row = distance);
        })?;
        column.call_method1("reshape", (self.count,))
    }

    /// The signed distances of all voxels, in voxels; outside the band plus or minus the width.
    ///
    /// Returns
    /// -------
    /// ndarray of float32, shape (nx, ny, nz)
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = new_array(py, "empty", &self.field.dims().map(u64::from), "float32")?;
        let mut data: PyReadwriteArrayDyn<'_, f32> = array.extract()?;
        let flat = data.as_slice_mut().map_err(|error| Failure::bug(error).into_py(py))?;
        job::on_pool(py, || self.field.fill_dense(flat))?;
        drop(data);
        Ok(array)
    }

    /// Writes the distances to a file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     .vdb and .nvdb are level sets, in mesh units; .npz has coordinates and distances in
    ///     voxels; .npy is the dense array.
    ///
    /// Raises
    /// ------
    /// WriteError
    ///     Another extension.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let field = Arc::clone(&self.field);
        job::run(py, None, None, move |_| {
            let format = GridFormat::of_path(&path);
            let format = format
                .map_err(|message| Failure::own("WriteError", "write.unsupported", message))?;
            let write = || write_file(&path, |out| write_distances(&field, format, out));
            job::pool(None)?.install(write)
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().field == self.field)
    }

    fn __repr__(&self) -> String {
        let [x, y, z] = self.field.dims();
        let (count, width) = (self.count, self.field.width());
        format!("<trivox.DistanceField: {x} x {y} x {z}, {count} voxels nearer than {width}>")
    }
}
