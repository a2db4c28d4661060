//! Signed distances around a surface.

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use rayon::prelude::*;
use trivox::formats::{
    GridFormat, LoadedGrid, ReadOptions, WriteOptions, read_grid_from, save_distances,
    write_distances, write_grid,
};
use trivox::solid::distance::check_width;
use trivox::{DistanceField, VoxelGrid};

use crate::error::Failure;
use crate::glue;
use crate::grid::arrays::{self, filled};
use crate::grid::files::{bytes_of, check_room, grid_format, read};
use crate::grid::make::{indices, voxel_in, world_of};
use crate::grid::{PyGrid, as_dtype};
use crate::job;
use crate::options::{named, numbers, numbers_of, vectors};

/// Signed distances from voxel centres to a surface, in a narrow band: a level set.
///
/// Made by `Voxelizer.distances` and `many_distances`, and read by `load_distances`. A distance is
/// in voxels, negative inside, and the float32 nearest to the exact one; the band has the voxels
/// whose distance, so rounded, is below the width. Arrays list voxels in the order of ``Grid``'s.
/// ``np.asarray(field)`` and ``torch.from_dlpack(field)`` are `dense`. Two fields are equal if
/// their dimensions, width, voxels and distances are; their place is not compared.
#[pyclass(frozen, module = "trivox", name = "DistanceField")]
pub struct PyDistanceField {
    field: Arc<DistanceField>,
    count: u64,
    /// JSON.
    pub report: String,
    pub warnings: Vec<String>,
}

impl PyDistanceField {
    /// To be called on a pool: voxels are counted in parallel.
    pub fn new(field: DistanceField, report: String, warnings: Vec<String>) -> Self {
        Self { count: field.band().occupied(), field: Arc::new(field), report, warnings }
    }

    fn of_voxels(
        width: f32,
        inside: VoxelGrid,
        voxels: Vec<([u32; 3], f32)>,
    ) -> Result<Self, Failure> {
        let field = DistanceField::of_voxels(width, inside, voxels);
        let field = field.map_err(|error| Failure::own("option.distances", error))?;
        Ok(Self::new(field, "{}".to_owned(), vec![]))
    }
}

#[pymethods]
impl PyDistanceField {
    /// Makes a field of arrays, such as those in a file of another program.
    ///
    /// Parameters
    /// ----------
    /// coords : array_like of int, shape (n, 3)
    ///     The voxels of the band as x, y, z, in any order.
    /// distances : array_like of float, shape (n,)
    ///     The distance of each, in voxels, negative inside, as float32.
    /// inside : Grid
    ///     The voxels whose centre is inside, in the band or not; the field has its dimensions and
    ///     its place.
    /// width : float
    ///     All distances are below it; at most 1024.
    ///
    /// Returns
    /// -------
    /// DistanceField
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     Arrays of other shapes; a voxel that is repeated or outside of the grid; a distance that
    ///     is not below `width`, or whose sign contradicts `inside`.
    #[staticmethod]
    fn from_coords(
        coords: &Bound<'_, PyAny>,
        distances: &Bound<'_, PyAny>,
        inside: &Bound<'_, PyGrid>,
        #[pyo3(from_py_with = named::width)] width: f32,
    ) -> PyResult<Self> {
        field_of_arrays(coords, distances, &inside.get().grid, width)
    }

    /// Makes a field from a dense array, such as `dense` returns.
    ///
    /// Parameters
    /// ----------
    /// distances : array_like of float, shape (nx, ny, nz)
    ///     Signed distances by index ``[x, y, z]``, in voxels, negative inside, as float32. A zero
    ///     is inside if it is -0.
    /// width : float
    ///     The band has the voxels that are nearer; at most 1024.
    /// origin, voxel_size, up
    ///     As in ``Grid.from_coords``.
    ///
    /// Returns
    /// -------
    /// DistanceField
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     An array of another shape; a distance that is not a number.
    #[staticmethod]
    #[pyo3(signature = (distances, width, *, origin=None, voxel_size=None, up="y"))]
    fn from_dense(
        distances: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = named::width)] width: f32,
        origin: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::voxel_size)] voxel_size: Option<f64>,
        #[pyo3(from_py_with = named::up)] up: &str,
    ) -> PyResult<Self> {
        check_width(width).map_err(Failure::from)?;
        let world = world_of(origin, voxel_size, up)?;
        let array = numbers_of("distances", distances, "(nx, ny, nz)", |shape| shape.len() == 3)?;
        let view = array.as_array();
        let dims = [0, 1, 2].map(|axis| u32::try_from(view.shape()[axis]).unwrap_or(u32::MAX));
        let make = || {
            let (mut inside, mut band) = (Vec::new(), Vec::new());
            for (index, &number) in view.indexed_iter() {
                let (voxel, distance) = ([0, 1, 2].map(|axis| index[axis] as u32), number as f32);
                if number.is_nan() {
                    let message = format!("the distance of voxel {voxel:?} is not a number");
                    return Err(Failure::own("option.distances", message));
                }
                inside.extend((number <= 0.0 && number.is_sign_negative()).then_some(voxel));
                band.extend((distance.abs() < width).then_some((voxel, distance)));
            }
            let inside = VoxelGrid::from_voxels(dims, inside)?.with_world(world);
            Self::of_voxels(width, inside, band)
        };
        job::try_on_pool(distances.py(), make)
    }

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
        self.field.world().place.map(|place| PyArray1::from_slice(py, &place.origin))
    }

    /// A voxel's edge in mesh units.
    #[getter]
    fn voxel_size(&self) -> Option<f64> {
        self.field.world().place.map(|place| place.voxel_size)
    }

    /// The axis that points up, ``"y"`` or ``"z"``.
    #[getter]
    fn up(&self) -> &'static str {
        self.field.world().up.name()
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
        job::on_pool(py, || self.field.hash().to_string())
    }

    /// The report, as that of `Grid`; distances has the width of the band and its number of voxels.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(py, "json")?.call_method1("loads", (&self.report,))
    }

    /// What the caller might not expect, a sentence each.
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
    /// Parameters
    /// ----------
    /// order, batch
    ///     As in ``Grid.coords``.
    ///
    /// Returns
    /// -------
    /// ndarray of int32, shape (n, 3) or (n, 4)
    #[pyo3(signature = (order="xyz", batch=None))]
    fn coords<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = named::order)] order: &str,
        batch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrays::coords(py, self.field.band(), self.count, order, batch)
    }

    /// Centres of the voxels of the band, in mesh units: the points of `distances`.
    ///
    /// Returns
    /// -------
    /// ndarray of float64, shape (n, 3)
    ///     In the order of `coords`.
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::centers(py, self.field.band(), self.count)
    }

    /// The signed distances of the voxels of the band, in voxels.
    ///
    /// Returns
    /// -------
    /// ndarray of float32, shape (n,)
    ///     In the order of `coords`.
    fn distances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        filled::<f32, 1>(py, self.count, |rows| {
            let distances = self.field.distances().map(|(_, distance)| [distance]);
            rows.iter_mut().zip(distances).for_each(|(row, distance)| *row = distance);
        })
    }

    /// The signed distances at any points, in voxels: by trilinear interpolation between voxel
    /// centres.
    ///
    /// Parameters
    /// ----------
    /// points : array_like, shape (n, 3) or (3,)
    ///     In mesh units.
    ///
    /// Returns
    /// -------
    /// ndarray of float32, shape (n,)
    ///     Outside the band a voxel counts as plus or minus the width. Outside the grid NaN.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     An array of another shape.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let points = vectors("points", points)?;
        let place = self.field.world().place.unwrap_or_default();
        let sample = |point: &[f64; 3]| self.field.sample(place.to_voxels(*point));
        let sampled: Vec<f32> = job::on_pool(py, || {
            points.par_iter().map(|point| sample(point).unwrap_or(f32::NAN)).collect()
        })?;
        Ok(sampled.into_pyarray(py))
    }

    /// The signed distances of all voxels, in voxels; outside the band plus or minus the width.
    ///
    /// Returns
    /// -------
    /// ndarray of float32, shape (nx, ny, nz)
    ///     In C order, index ``[x, y, z]``.
    ///
    /// Raises
    /// ------
    /// MemoryError
    ///     The array does not fit; the voxelizer's `memory` does not bound it.
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::dense(py, "empty", self.field.dims(), |out| self.field.fill_dense(out))
    }

    /// Writes the distances to a file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     .vdb and .nvdb are level sets, in mesh units; .vti is the dense array in mesh units, for
    ///     ParaView; .npz has coordinates and distances in voxels; .npy is the dense array.
    ///
    /// Raises
    /// ------
    /// WriteError
    ///     Another extension.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     The format does not hold where the field lies.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let format = GridFormat::of_path(&path).map_err(|error| Failure::from(error).at(&path))?;
        let (field, file) = (Arc::clone(&self.field), path.clone());
        let lost = job::run(py, move |job| {
            let saved = save_distances(&field, &file, &**job);
            saved.map_err(|error| Failure::from(error).at(&file))?;
            Ok(format.lost(field.inside(), &WriteOptions::default()))
        })?;
        glue::warn(py, Some(&path), &lost)
    }

    /// The bytes of a file.
    ///
    /// Parameters
    /// ----------
    /// format : {"vdb", "nvdb", "vti", "npz", "npy"}
    ///     As `save` writes them.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// WriteError
    ///     Another format.
    /// MemoryLimitError
    ///     The bytes do not fit.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     As `save`.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = named::format)] format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let format = grid_format(format)?;
        let field = Arc::clone(&self.field);
        let (bytes, lost) = job::run(py, move |job| {
            format.check_distances()?;
            check_room(format.distances_size(field.dims()))?;
            let bytes = bytes_of(job, |out| write_distances(&field, format, out))?;
            Ok((bytes, format.lost(field.inside(), &WriteOptions::default())))
        })?;
        glue::warn(py, None, &lost)?;
        glue::bytes(py, &bytes)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().field == self.field)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let hash = self.hash(py)?;
        Ok(u64::from_str_radix(&hash[..16], 16).unwrap_or(0))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        as_dtype(|| self.dense(py), dtype, copy)
    }

    /// The dense array, for ``torch.from_dlpack(field)`` and the like.
    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.dense(py)?.call_method("__dlpack__", (), options)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        // kDLCPU.
        (1, 0)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let field = &*self.field;
        let parts = || -> Result<[Vec<u8>; 3], Failure> {
            let [mut band, mut inside] = [vec![], vec![]];
            write_grid(field.band(), GridFormat::Bricks, &mut band)?;
            write_grid(field.inside(), GridFormat::Bricks, &mut inside)?;
            let distances: Vec<f32> = field.distances().map(|(_, distance)| distance).collect();
            Ok([band, inside, bytemuck::cast_slice(&distances).to_vec()])
        };
        let parts = job::try_on_pool(py, parts)?;
        let [band, inside, distances] = parts.map(|bytes| glue::bytes(py, &bytes));
        let [band, inside, distances] = [band?, inside?, distances?];
        let state = (band, inside, self.width(), distances, &self.report, &self.warnings);
        let restore = PyModule::import(py, "trivox._trivox")?.getattr("_restore_field")?;
        Ok((restore, state.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let [x, y, z] = self.field.dims();
        let (count, width) = (self.count, self.field.width());
        format!("<trivox.DistanceField: {x} x {y} x {z}, {count} voxels nearer than {width}>")
    }
}

fn field_of_arrays(
    coords: &Bound<'_, PyAny>,
    distances: &Bound<'_, PyAny>,
    inside: &VoxelGrid,
    width: f32,
) -> PyResult<PyDistanceField> {
    check_width(width).map_err(Failure::from)?;
    let py = coords.py();
    let coords = indices(coords, "coords")?;
    let rows = coords.as_array();
    let distances = numbers("distances", distances, &[rows.nrows()])?;
    let make = || {
        let dims = inside.dims();
        let row = |(row, &distance)| Ok((voxel_in(dims, row)?, distance as f32));
        let voxels = rows.outer_iter().zip(&distances).map(row);
        let voxels: Vec<_> = voxels.collect::<Result<_, Failure>>()?;
        PyDistanceField::of_voxels(width, inside.clone(), voxels)
    };
    job::try_on_pool(py, make)
}

/// Reads signed distances from a ``.npz``, ``.vdb``, ``.nvdb`` or ``.vti`` file, as
/// `DistanceField.save` and the program's ``--distance`` write it, or a level set of another
/// program. The field equals the one that was saved; from formats in mesh units a distance may be
/// the float32 next to it.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///
/// Returns
/// -------
/// DistanceField
///
/// Raises
/// ------
/// FileNotFoundError
///     With the file's name.
/// ReadError
///     A file of another format, or one that is malformed or holds no distances, or whose arrays
///     contradict each other.
#[pyfunction]
pub fn load_distances(py: Python<'_>, path: PathBuf) -> PyResult<PyDistanceField> {
    let LoadedGrid { distances, warnings, .. } = read(py, path.clone())?;
    let Some(field) = distances else {
        let none = "no distances are read from it: trivox.load reads its voxels";
        let why = iter::once(none).chain(warnings.iter().map(String::as_str));
        let why = why.collect::<Vec<_>>().join("; ");
        return Err(Failure::own("read.content", why).at(&path).into());
    };
    glue::warn(py, Some(&path), &warnings)?;
    job::on_pool(py, || PyDistanceField::new(field, "{}".to_owned(), warnings))
}

/// Makes a field of what pickling wrote.
#[pyfunction]
#[pyo3(name = "_restore_field")]
pub fn restore_field(
    py: Python<'_>,
    mut band: &[u8],
    mut inside: &[u8],
    width: f32,
    distances: &[u8],
    report: String,
    warnings: Vec<String>,
) -> PyResult<PyDistanceField> {
    let malformed = || Failure::own("read.pickle", "the pickled field is malformed");
    let make = || {
        let grids = [
            read_grid_from(&mut band, GridFormat::Bricks, &ReadOptions::default())?.grid,
            read_grid_from(&mut inside, GridFormat::Bricks, &ReadOptions::default())?.grid,
        ];
        let distances = bytemuck::allocation::pod_collect_to_vec(distances);
        let field = DistanceField::of_parts(width, grids, distances).ok_or_else(malformed)?;
        Ok(PyDistanceField::new(field, report, warnings))
    };
    job::try_on_pool::<_, Failure>(py, make)
}
