//! Grids: arrays of their voxels, files, pictures.

pub mod arrays;
pub mod files;
pub mod make;
mod picture;
mod rays;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use trivox::formats::{GridFormat, WriteOptions, save_grid_with, write_grid};
use trivox::grid::{Attribute, Attributes, Place};
use trivox::lattice::MAX_DIM;
use trivox::{GridError, VoxelGrid};

use crate::error::{Failure, option_error};
use crate::glue;
use crate::grid::arrays::{filled, of_rows, of_values};
use crate::grid::files::{bytes_of, check_room, grid_format};
use crate::grid::make::{
    Names, grid_of_coords, indices, indices_of, names_of, refuse_non_binary, world_of,
};
use crate::grid::picture::picture;
use crate::grid::rays::{Hits, first_hits};
use crate::job;
use crate::options::{array_of, named, samples_of, shaped, whole, wholes};

/// A sparse voxel grid: an immutable set of voxels, where they lie, and their colours.
///
/// Voxel ``(i, j, k)`` is the closed cube from ``origin + voxel_size * (i, j, k)`` to one
/// `voxel_size` further along each axis. All arrays list voxels in one order: brick by brick
/// (8x8x8 voxels; bricks by z, then y, then x), in a brick by x, then y, then z.
///
/// ``a | b``, ``a & b``, ``a - b`` and ``a ^ b`` (what only one has) are set operations on the
/// voxels where they lie: of grids whose boxes differ, the result has the smallest box that holds
/// both. The grids must have voxels of one lattice: the same `voxel_size` and `up`, and origins that
/// differ by whole voxels; or both have no place. ``a & b`` and ``a - b`` keep the colours and
/// attributes of `a`; the others have none.
/// ``==``, ``hash()`` and `hash` are of dimensions and voxels; place and colours are not compared.
/// ``trivox.diff(a, b).other_colors`` counts the voxels of another colour.
#[pyclass(frozen, module = "trivox", name = "Grid")]
pub struct PyGrid {
    pub grid: Arc<VoxelGrid>,
    /// Counted once, on the pool.
    occupied: u64,
    /// JSON.
    pub report: String,
    pub warnings: Vec<String>,
}

impl PyGrid {
    /// To be called on a pool: voxels are counted in parallel.
    pub fn new(grid: VoxelGrid, report: String, warnings: Vec<String>) -> Self {
        Self { occupied: grid.occupied(), grid: Arc::new(grid), report, warnings }
    }

    /// A grid that was not voxelized here.
    pub fn restored(py: Python<'_>, grid: VoxelGrid, warnings: Vec<String>) -> PyResult<Self> {
        job::on_pool(py, || Self::new(grid, "{}".to_owned(), warnings))
    }

    /// A grid that `make` makes on the pool.
    pub fn made<E: Into<Failure> + Send>(
        py: Python<'_>,
        make: impl FnOnce() -> Result<VoxelGrid, E> + Send,
    ) -> PyResult<Self> {
        job::try_on_pool(py, || Ok::<_, E>(Self::new(make()?, "{}".to_owned(), vec![])))
    }

    fn place(&self) -> Option<Place> {
        self.grid.world.place
    }

    /// Whether a voxel is occupied; outside the grid none is.
    fn has(&self, voxel: [i64; 3]) -> bool {
        match voxel.map(u32::try_from) {
            [Ok(x), Ok(y), Ok(z)] => self.grid.contains([x, y, z]),
            _ => false,
        }
    }

    fn attribute<'py>(
        &self,
        py: Python<'py>,
        attribute: Attribute,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        arrays::attribute(py, &self.grid, self.occupied, attribute)
    }

    /// A dense array with `value` where a voxel is occupied.
    fn filled_with<'py, T: Element + Copy + Send + Sync>(
        &self,
        py: Python<'py>,
        value: T,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrays::dense(py, "zeros", self.grid.dims(), |out| self.grid.fill_dense(out, value))
    }

    /// The set operation on this grid and `other`.
    fn combined(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Self>,
        operation: fn(&VoxelGrid, &VoxelGrid) -> VoxelGrid,
    ) -> PyResult<Self> {
        let (a, b) = (&self.grid, &other.get().grid);
        let combine = || {
            if (a.dims(), a.world) == (b.dims(), b.world) {
                return Ok(operation(a, b));
            }
            let [a, b] = a.in_one_box(b).map_err(|error| match error {
                GridError::NoPlace | GridError::OtherLattice => {
                    let message = "the grids are not of one lattice: they differ in voxel_size or \
                                   up, or by parts of a voxel, or only one has a place: voxelize \
                                   both with the same bounds and voxel_size, or the second with \
                                   lattice=first.report[\"lattice\"]";
                    Failure::own("option.place", message)
                }
                error => error.into(),
            })?;
            Ok::<_, Failure>(operation(&a, &b))
        };
        Self::made(py, combine)
    }

    /// The voxels in a box of `dims` that begins at voxel `low`.
    fn in_box(&self, py: Python<'_>, low: [i64; 3], dims: [u32; 3]) -> PyResult<Self> {
        Self::made(py, || self.grid.in_box(low, dims))
    }

    /// Extracts the voxels of a `Grid` or of a dense array.
    pub fn given(value: &Bound<'_, PyAny>) -> PyResult<Arc<VoxelGrid>> {
        if let Ok(grid) = value.cast::<Self>() {
            return Ok(Arc::clone(&grid.get().grid));
        }
        if value.cast::<PyUntypedArray>().is_ok() {
            return Ok(Self::from_dense(value, None, None, "y")?.grid);
        }
        let kind = value.get_type().name()?;
        let use_ = "give a trivox.Grid (see Grid.from_dense and Grid.from_coords) or a dense array";
        Err(PyTypeError::new_err(format!("{kind} is no grid: {use_}")))
    }
}

#[pymethods]
impl PyGrid {
    /// Makes a grid of voxels.
    ///
    /// Parameters
    /// ----------
    /// coords : array_like of int, shape (n, 3)
    ///     Voxels as x, y, z, in any order, with any of them repeated.
    ///     Points are not voxels: voxelize a mesh, or floor them first.
    /// dims : sequence of 3 int
    ///     Voxels along x, y and z; 1 to 65,536.
    /// colors : array_like of uint8, shape (n, 4) or (n, 3), optional
    ///     The colour of each of `coords`, as `colors` gives them: sRGB and opacity. Of a repeated
    ///     voxel the first counts.
    /// attributes, names : dict, optional
    ///     Arrays with a row for each of `coords`, and lists of text: as `Grid.attributes` and
    ///     `Grid.names`.
    /// origin : sequence of 3 float, optional
    ///     The grid's minimum corner, in mesh units.
    /// voxel_size : float, optional
    ///     A voxel's edge, in mesh units; given with `origin` or not at all.
    /// up : {"y", "z"}, default "y"
    ///     The axis that points up.
    ///
    /// Returns
    /// -------
    /// Grid
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     Coordinates that are no integers; a voxel outside `dims`, or dimensions that are not
    ///     possible; colours or attributes of another shape; names without their attribute;
    ///     `origin` without `voxel_size`.
    #[staticmethod]
    #[pyo3(signature = (coords, dims, *, colors=None, attributes=None, names=Names::new(),
        origin=None, voxel_size=None, up="y"),
        text_signature = "(coords, dims, *, colors=None, attributes=None, names={}, \
        origin=None, voxel_size=None, up='y')")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn from_coords(
        coords: &Bound<'_, PyAny>,
        dims: &Bound<'_, PyAny>,
        colors: Option<&Bound<'_, PyAny>>,
        attributes: Option<&Bound<'_, PyDict>>,
        #[pyo3(from_py_with = names_of)] names: Names,
        origin: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::voxel_size)] voxel_size: Option<f64>,
        #[pyo3(from_py_with = named::up)] up: &str,
    ) -> PyResult<Self> {
        let world = world_of(origin, voxel_size, up)?;
        let dims = wholes("dims", dims, 1..=MAX_DIM)?;
        grid_of_coords(coords, dims, colors, attributes, names, world)
    }

    /// Makes a grid of a dense array.
    ///
    /// Parameters
    /// ----------
    /// array : array_like of bool, shape (nx, ny, nz)
    ///     Voxels by index ``[x, y, z]``; what is not zero is occupied. Floats are 0 or 1.
    /// origin, voxel_size, up
    ///     As in `from_coords`.
    ///
    /// Returns
    /// -------
    /// Grid
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     An array of another shape; floats other than 0 and 1, such as distances.
    #[staticmethod]
    #[pyo3(signature = (array, *, origin=None, voxel_size=None, up="y"))]
    fn from_dense(
        array: &Bound<'_, PyAny>,
        origin: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::voxel_size)] voxel_size: Option<f64>,
        #[pyo3(from_py_with = named::up)] up: &str,
    ) -> PyResult<Self> {
        let py = array.py();
        let world = world_of(origin, voxel_size, up)?;
        let numpy = PyModule::import(py, "numpy")?;
        let array = array_of(array)?;
        refuse_non_binary(&array)?;
        let array = numpy.call_method1("ascontiguousarray", (array, "bool"))?;
        let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
        let [nx, ny, nz] = shape[..] else {
            let shape = shaped(&shape);
            let message = format!("an array of shape {shape} is not possible: use (nx, ny, nz)");
            return Err(option_error("option.shape", message));
        };
        let dims = [nx, ny, nz].map(|d| u32::try_from(d).unwrap_or(u32::MAX));
        // The bytes of a NumPy bool may be other than 0 and 1, which a Rust `bool` must not be.
        let bytes = array.call_method1("view", ("uint8",))?;
        let bytes: PyReadonlyArrayDyn<'_, u8> = bytes.extract()?;
        let bytes = bytes.as_slice().map_err(Failure::bug)?;
        Self::made(py, || Ok::<_, GridError>(VoxelGrid::from_dense(dims, bytes)?.with_world(world)))
    }

    /// Voxels along x, y and z.
    #[getter]
    fn dims(&self) -> (u32, u32, u32) {
        self.grid.dims().into()
    }

    /// The same, as arrays call it.
    #[getter]
    fn shape(&self) -> (u32, u32, u32) {
        self.grid.dims().into()
    }

    /// How many voxels are occupied.
    #[getter]
    fn occupied(&self) -> u64 {
        self.occupied
    }

    fn __len__(&self) -> usize {
        self.occupied as usize
    }

    /// How many bricks of 8x8x8 voxels hold a voxel.
    #[getter]
    fn brick_count(&self) -> u64 {
        self.grid.brick_count()
    }

    /// Bytes of memory that voxels, colours and attributes take.
    #[getter]
    fn nbytes(&self) -> u64 {
        let colors = self.grid.colors.as_ref().map_or(0, |colors| colors.bytes());
        let channels = self.grid.attributes.iter().flat_map(Attributes::channels);
        let attributes: u64 = channels.map(|(_, channel)| channel.bytes()).sum();
        self.grid.bytes() + colors + attributes
    }

    /// The grid's minimum corner in mesh units, float64 of shape (3,); None where it is not known.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.place().map(|place| PyArray1::from_slice(py, &place.origin))
    }

    /// A voxel's edge in mesh units; None where it is not known.
    #[getter]
    fn voxel_size(&self) -> Option<f64> {
        self.place().map(|place| place.voxel_size)
    }

    /// The axis that points up, ``"y"`` or ``"z"``.
    #[getter]
    fn up(&self) -> &'static str {
        self.grid.world.up.name()
    }

    /// Smallest and largest occupied voxel along each axis, as voxel indices, int32 of shape
    /// (2, 3); None where no voxel is occupied. In mesh units, as ``Mesh.bounds`` is, the box is
    /// ``origin + voxel_size * (bounds + [[0], [1]])``.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<i32>>>> {
        let bounds = job::on_pool(py, || self.grid.occupied_bounds())?;
        let corners = |bounds: [[u32; 3]; 2]| bounds.map(|corner| corner.map(|c| c as i32));
        bounds.map(|bounds| of_rows(py, corners(bounds).to_vec())).transpose()
    }

    /// Hash of dimensions and voxels, 32 hexadecimal digits: the same for every backend, thread
    /// count, machine and file format. Place and colours are not part of it.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        job::on_pool(py, || self.grid.hash().to_string())
    }

    /// Whether the voxels' colours are known.
    #[getter]
    fn has_colors(&self) -> bool {
        self.grid.colors.is_some()
    }

    /// The report on the voxelization: a ``trivox.Report``, with keys of the program's ``--json``.
    /// Empty for a grid of a file or an array.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(py, "json")?.call_method1("loads", (&self.report,))
    }

    /// What the caller might not expect, a sentence each.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.warnings)
    }

    /// Whether each of these voxels is occupied; voxels outside the grid are not.
    ///
    /// Parameters
    /// ----------
    /// voxels : array_like of int, shape (n, 3)
    ///     Voxel indices. Those of points in mesh units are
    ///     ``np.floor((points - grid.origin) / grid.voxel_size).astype(int)``.
    ///
    /// Returns
    /// -------
    /// ndarray of bool, shape (n,)
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     Another shape, or no integers.
    fn contains<'py>(&self, voxels: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let py = voxels.py();
        let voxels = indices(voxels, "voxels")?;
        let view = voxels.as_array();
        let found: Vec<bool> =
            py.detach(|| view.outer_iter().map(|row| self.has([row[0], row[1], row[2]])).collect());
        Ok(found.into_pyarray(py))
    }

    /// The part of the grid in a box, with its colours and place.
    ///
    /// Parameters
    /// ----------
    /// bounds : array_like of int, shape (2, 3), optional
    ///     Smallest and largest voxel along each axis, as ``grid.bounds`` gives them; by default
    ///     those of the occupied voxels.
    ///
    /// Returns
    /// -------
    /// Grid
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     A box that is empty or not within the grid (`pad` makes a grid larger); without
    ///     `bounds`, a grid of which no voxel is occupied.
    #[pyo3(signature = (bounds=None))]
    fn crop(&self, py: Python<'_>, bounds: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let [low, high] = match bounds {
            Some(bounds) => {
                let wanted = "(2, 3), the smallest and the largest voxel";
                let corners = indices_of(bounds, "bounds", wanted, |shape| shape == [2, 3])?;
                let corners = corners.as_array();
                [0, 1].map(|n| [0, 1, 2].map(|a| corners[[n, a]]))
            }
            None => job::on_pool(py, || self.grid.occupied_bounds())?
                .ok_or_else(|| {
                    let message = "no voxel is occupied: give the bounds to crop to";
                    option_error("option.bounds", message)
                })?
                .map(|corner| corner.map(i64::from)),
        };
        let dims = self.grid.dims();
        if (0..3).any(|a| low[a] < 0 || low[a] > high[a] || high[a] >= i64::from(dims[a])) {
            let [x, y, z] = dims.map(|dim| dim - 1);
            let message = format!(
                "bounds from {low:?} to {high:?} are not a box in this grid, whose voxels go from \
                 [0, 0, 0] to [{x}, {y}, {z}]"
            );
            return Err(option_error("option.bounds", message));
        }
        self.in_box(py, low, [0, 1, 2].map(|a| (high[a] - low[a] + 1) as u32))
    }

    /// The grid padded with layers of empty voxels. Colours and world position are kept.
    ///
    /// Parameters
    /// ----------
    /// width : int, pair of int, or sequence of 3 pairs of int
    ///     Layers on all six sides; before and after the grid along every axis; or before and after
    ///     it along each axis, as ``numpy.pad`` takes them.
    ///
    /// Returns
    /// -------
    /// Grid
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     More than 65,536 voxels along an axis; a number below 0.
    fn pad(&self, py: Python<'_>, width: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shape = array_of(width).map(|array| array.shape().to_vec());
        let width: [[u32; 2]; 3] = match shape.as_deref() {
            Ok([]) => [[whole("width", width, 0..=MAX_DIM)?; 2]; 3],
            Ok([2]) => [wholes("width", width, 0..=MAX_DIM)?; 3],
            Ok([3, 2]) => {
                let axis = |a: usize| wholes("width", &width.get_item(a)?, 0..=MAX_DIM);
                [axis(0)?, axis(1)?, axis(2)?]
            }
            _ => {
                let message = "width takes a number of layers, (before, after), or \
                               ((x0, x1), (y0, y1), (z0, z1))";
                return Err(option_error("option.shape", message));
            }
        };
        let dims = self.grid.dims();
        let low = width.map(|[before, _]| -i64::from(before));
        self.in_box(py, low, [0, 1, 2].map(|a| dims[a] + width[a][0] + width[a][1]))
    }

    /// The occupied voxels.
    ///
    /// Parameters
    /// ----------
    /// order : {"xyz", "zyx"}, default "xyz"
    ///     Order of the columns.
    /// batch : int, optional
    ///     A number for a first column, as sparse convolutions take it: spconv and MinkowskiEngine
    ///     want (batch, x, y, z) or (batch, z, y, x).
    ///
    /// Returns
    /// -------
    /// ndarray of int32, shape (n, 3) or (n, 4)
    ///     Voxel indices from 0, in the grid's order.
    #[pyo3(signature = (order="xyz", batch=None))]
    fn coords<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = named::order)] order: &str,
        batch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrays::coords(py, &self.grid, self.occupied, order, batch)
    }

    /// Centres of the occupied voxels in mesh units.
    ///
    /// Returns
    /// -------
    /// ndarray of float64, shape (n, 3)
    ///     In the order of `coords`.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     It is not known where the grid lies.
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::centers(py, &self.grid, self.occupied)
    }

    /// The surface as a mesh: the faces of voxels that are not between two voxels.
    ///
    /// Faces of one plane and colour are merged into rectangles, so that an edge of one may lie
    /// along several of others: the mesh has no holes, and is not watertight by its edges.
    /// ``trimesh.Trimesh(vertices, faces, vertex_colors=colors, process=False)`` takes it;
    /// `save` to ``.ply``, ``.obj`` or ``.glb`` writes it.
    ///
    /// Returns
    /// -------
    /// vertices : ndarray of float64, shape (n, 3)
    ///     In mesh units; in voxels if it is not known where the grid lies.
    /// faces : ndarray of int64, shape (m, 3)
    ///     Vertex numbers of each triangle, counter-clockwise seen from outside.
    /// colors : ndarray of uint8, shape (n, 4), or None
    ///     Of each vertex, as of `colors`; None where no colours are known.
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        arrays::mesh(py, &self.grid)
    }

    /// The bricks that hold a voxel.
    ///
    /// Returns
    /// -------
    /// positions : ndarray of int32, shape (b, 3)
    ///     In bricks of 8 voxels: x, y, z.
    /// masks : ndarray of uint64, shape (b, 8)
    ///     ``masks[i, x]`` has bit ``8 * y + z`` set where voxel (x, y, z) of brick i is occupied:
    ///     the layout of an OpenVDB or NanoVDB leaf.
    fn bricks<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (grid, rows) = (&*self.grid, self.grid.brick_count());
        let positions = filled::<i32, 3>(py, rows, |out| {
            grid.fill_bricks(out, |key, _| key.position().map(|b| b as i32));
        })?;
        let masks = filled::<u64, 8>(py, rows, |out| {
            grid.fill_bricks(out, |_, mask| *mask);
        })?;
        Ok((positions, masks))
    }

    /// All voxels, occupied or not.
    ///
    /// Parameters
    /// ----------
    /// dtype : {"bool", "uint8", "float32"} or a dtype of NumPy's, default "bool"
    ///     Of the array; 1 or True where a voxel is occupied.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (nx, ny, nz)
    ///     In C order, index ``[x, y, z]``.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     Another dtype.
    /// MemoryError
    ///     The array does not fit; the voxelizer's `memory` does not bound it.
    #[pyo3(signature = (dtype=None), text_signature = "($self, dtype='bool')")]
    fn dense<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dtype = dtype.cloned().unwrap_or_else(|| PyString::new(py, "bool").into_any());
        let numpy = PyModule::import(py, "numpy")?;
        let name = numpy.call_method1("dtype", (&dtype,)).and_then(|dtype| dtype.getattr("name"));
        match name.and_then(|name| name.extract::<String>()).as_deref() {
            Ok("bool") => self.filled_with(py, true),
            Ok("uint8") => self.filled_with(py, 1_u8),
            Ok("float32") => self.filled_with(py, 1_f32),
            _ => {
                let given = dtype.repr()?;
                let message =
                    format!("dtype {given} is not possible: use 'bool', 'uint8' or 'float32'");
                Err(option_error("option.dtype", message))
            }
        }
    }

    /// Colours of the occupied voxels.
    ///
    /// Returns
    /// -------
    /// ndarray of uint8, shape (n, 4), or None
    ///     Red, green, blue (sRGB) and opacity, in the order of `coords`; None where no colours are
    ///     known.
    fn colors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of = |colors| of_values(py, &self.grid, self.occupied, colors, |color| color);
        self.grid.colors.as_ref().map(of).transpose()
    }

    /// What the voxels hold of the mesh besides colour: a dict of the attributes that the voxelizer
    /// was asked for, each an array in the order of `coords`. But for ``"label"`` and ``"coverage"``
    /// they are of the surface: in a voxel that no triangle touches, such as the inside of a solid,
    /// indices are -1 and all else is 0.
    ///
    /// ``"normal"``, float32 (n, 3): the area-weighted mean of the triangles' normals, of length 1;
    /// 0 where opposite sides cancel. ``"triangle"``, int32 (n,): the index of the triangle with the
    /// largest area in the voxel; of a `Mesh` in its `faces`. ``"material"`` and ``"label"``, int32
    /// (n,): the indices of that triangle's material and object, see `names`. ``"area"``, float32
    /// (n,): that of the surface in the voxel, in squares of `voxel_size`. ``"metallic"``,
    /// ``"roughness"`` and ``"alpha"`` (opacity), float32 (n,), and ``"emission"``, float32 (n, 3), in
    /// linear light: their area-weighted means; ``"alpha"`` of meshes with colours, the others only
    /// of meshes whose materials state them. ``"uv"``,
    /// float32 (n, 2): the mean texture coordinates of the triangle with the largest area, v down.
    ///
    /// In a solid ``"label"`` is that of the last object that is closed by itself and holds the voxel's
    /// centre, or else as above, and ``"coverage"``, float32 (n,), the fraction of the voxel's 8 x 8 x 8
    /// sub-voxels with their centre inside.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let attributes = PyDict::new(py);
        for &attribute in Attribute::ALL {
            if let Some(array) = self.attribute(py, attribute)? {
                attributes.set_item(attribute.name(), array)?;
            }
        }
        Ok(attributes)
    }

    /// The names of materials and objects by index, a dict of lists: ``names["label"][3]`` is the
    /// object of a voxel of label 3. Names may be empty.
    #[getter]
    fn names(&self) -> BTreeMap<&'static str, &[String]> {
        let names = self.grid.attributes.iter().flat_map(Attributes::names);
        names.map(|(attribute, names)| (attribute.name(), &names[..])).collect()
    }

    /// ``attributes["normal"]``, float32 of shape (n, 3); None where it was not asked for.
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.attribute(py, Attribute::Normal)
    }

    /// ``attributes["triangle"]``, int32 of shape (n,); None where it was not asked for.
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.attribute(py, Attribute::Triangle)
    }

    /// ``attributes["label"]``, int32 of shape (n,); None where it was not asked for.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.attribute(py, Attribute::Label)
    }

    /// The first voxel that each ray touches, exactly: as of a range scan of the grid.
    ///
    /// A ray hits the closed cube that it touches first, also along a face, an edge or through a
    /// corner. One that begins in a voxel hits this voxel, at distance 0.
    ///
    /// Parameters
    /// ----------
    /// origins : array_like, shape (n, 3) or (3,)
    ///     Where the rays begin, in mesh units, rounded to 2^-16 of a voxel: at most 2^20 voxels
    ///     from the grid's corner along each axis. Of a grid that does not say where it lies, in
    ///     voxels from its corner.
    /// directions : array_like, shape (n, 3) or (3,)
    ///     Of any length but 0. A direction is scaled so that its longest component is 2^24, and
    ///     rounded to whole numbers.
    ///
    /// Returns
    /// -------
    /// voxels : ndarray of int32, shape (n, 3)
    ///     Indices of the voxels; -1 where a ray hits nothing.
    /// normals : ndarray of int8, shape (n, 3)
    ///     Outward normals of the faces through which the rays enter; 0 where a ray begins in a
    ///     voxel, or hits nothing.
    /// distances : ndarray of float64, shape (n,)
    ///     From the origins, in mesh units; inf where a ray hits nothing.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     Arrays of other shapes, or a ray that is not possible: a number that is not finite, an
    ///     origin too far away, a direction of length 0.
    fn first_hits<'py>(
        &self,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
    ) -> PyResult<Hits<'py>> {
        first_hits(&self.grid, origins, directions)
    }

    /// Writes a file, by its extension; it is replaced only once the new one is complete.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     With an extension of ``trivox.GRID_FORMATS``.
    ///
    /// Raises
    /// ------
    /// WriteError
    ///     An unknown extension, or a grid that the format cannot hold.
    /// OSError
    ///     The file cannot be written; a file that was there is still there.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     The format does not hold all of the grid.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let format = GridFormat::of_path(&path).map_err(|error| Failure::from(error).at(&path))?;
        let (grid, file) = (Arc::clone(&self.grid), path.clone());
        let lost = job::run(py, move |job| {
            let options = WriteOptions::default();
            let saved = save_grid_with(&grid, &options, &file, &**job);
            saved.map_err(|error| Failure::from(error).at(&file))?;
            Ok(format.lost(&grid, &options))
        })?;
        glue::warn(py, Some(&path), &lost)
    }

    /// The bytes of a file.
    ///
    /// Parameters
    /// ----------
    /// format : str
    ///     One of ``trivox.GRID_FORMATS``, such as ``"npz"`` or ``"vox"``.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// WriteError
    ///     An unknown format, or one that cannot hold the grid.
    /// MemoryLimitError
    ///     The bytes do not fit.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     For each property that the format does not hold.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = named::format)] format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let format = grid_format(format)?;
        let grid = Arc::clone(&self.grid);
        let (bytes, lost) = job::run(py, move |job| {
            let options = WriteOptions::default();
            format.check_dims(grid.dims(), &options)?;
            check_room(format.file_size(grid.dims()))?;
            let bytes = bytes_of(job, |out| write_grid(&grid, format, out))?;
            Ok((bytes, format.lost(&grid, &options)))
        })?;
        glue::warn(py, None, &lost)?;
        glue::bytes(py, &bytes)
    }

    /// Draws a picture: by exact ray marching, the same to the bit on every machine.
    ///
    /// Parameters
    /// ----------
    /// size : int or (int, int), default 512
    ///     Width and height in pixels, up to 16,384.
    /// view : {"three-quarter", "iso", "front", "back", "left", "right", "top", "bottom"}, default "three-quarter"
    ///     From where.
    /// turn : float, optional
    ///     Degrees further around the up axis; pictures with a turn are framed alike.
    /// camera : {"perspective", "orthographic"}, optional
    ///     By default perspective for "three-quarter", orthographic for the others.
    /// background : {"gradient", "transparent"} or (int, int, int), default "gradient"
    ///     Behind the voxels; a colour is sRGB.
    /// samples : int, default 3
    ///     Rays along each side of a pixel, up to 16.
    ///
    /// Returns
    /// -------
    /// ndarray of uint8, shape (height, width, 4)
    ///     sRGB and opacity, rows from the top.
    #[pyo3(signature = (size=None, *, view="three-quarter", turn=None, camera=None, background=None, samples=3))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn render<'py>(
        &self,
        py: Python<'py>,
        size: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = named::view)] view: &str,
        #[pyo3(from_py_with = named::turn)] turn: Option<f64>,
        #[pyo3(from_py_with = named::camera)] camera: Option<&str>,
        background: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = samples_of)] samples: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let picture = picture(py, &self.grid, size, view, turn, camera, background, samples)?;
        let [width, height] = picture.size().map(u64::from);
        let array = filled::<u8, 4>(py, width * height, |out| {
            out.copy_from_slice(picture.pixels());
        })?;
        array.call_method1("reshape", ((height, width, 4),))
    }

    /// Draws a picture as a PNG file; parameters are those of `render`.
    ///
    /// Returns
    /// -------
    /// bytes
    #[pyo3(signature = (size=None, *, view="three-quarter", turn=None, camera=None, background=None, samples=3))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn png<'py>(
        &self,
        py: Python<'py>,
        size: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = named::view)] view: &str,
        #[pyo3(from_py_with = named::turn)] turn: Option<f64>,
        #[pyo3(from_py_with = named::camera)] camera: Option<&str>,
        background: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = samples_of)] samples: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let picture = picture(py, &self.grid, size, view, turn, camera, background, samples)?;
        let mut bytes = Vec::new();
        let written = py.detach(|| picture.write_png(&mut bytes));
        written.map_err(Failure::from)?;
        glue::bytes(py, &bytes)
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.png(py, None, "three-quarter", None, None, None, 2)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let png = self.png(py, None, "three-quarter", None, None, None, 2)?;
        glue::module(py)?.call_method1("page", (self.__repr__(), png))?.extract()
    }

    /// ``a | b``: the voxels of either grid. Colours, attributes and reports are not kept.
    fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        self.combined(py, other, VoxelGrid::union)
    }

    /// ``a & b``: the voxels of both grids, with the colours and attributes of `a`.
    fn __and__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        self.combined(py, other, VoxelGrid::intersection)
    }

    /// ``a - b``: the voxels of `a` that are not in `b`, with their colours and attributes.
    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        self.combined(py, other, VoxelGrid::subtract)
    }

    /// ``a ^ b``: the voxels that only one of the grids has.
    fn __xor__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        self.combined(py, other, VoxelGrid::symmetric_difference)
    }

    fn __contains__(&self, voxel: &Bound<'_, PyAny>) -> PyResult<bool> {
        let voxel: [i64; 3] = match voxel.extract() {
            Ok(voxel) => voxel,
            // An integer past any grid.
            Err(error) if error.is_instance_of::<PyOverflowError>(voxel.py()) => return Ok(false),
            Err(_) => {
                let row = indices_of(voxel, "voxels", "(3,)", |shape| shape == [3])?;
                [0, 1, 2].map(|a| row.as_array()[[0, a]])
            }
        };
        Ok(self.has(voxel))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| *other.get().grid == *self.grid)
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
        as_dtype(|| self.dense(py, None), dtype, copy)
    }

    /// The dense array (uint8, shape (nx, ny, nz)) for ``torch.from_dlpack(grid)`` and the like.
    ///
    /// ``coords()`` and the other arrays are handed over by ``torch.from_numpy`` or
    /// ``torch.from_dlpack`` without a copy.
    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.filled_with(py, 1_u8)?.call_method("__dlpack__", (), options)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        // kDLCPU.
        (1, 0)
    }

    fn __repr__(&self) -> String {
        let [x, y, z] = self.grid.dims();
        let colors = if self.has_colors() { ", colored" } else { "" };
        format!("<trivox.Grid: {x} x {y} x {z}, {} voxels{colors}>", self.occupied)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        // The format `bricks` has no attributes.
        let format = if self.grid.attributes.is_some() { "npz" } else { "bricks" };
        let bytes = self.to_bytes(py, format)?;
        let state = (bytes, &self.report, &self.warnings).into_pyobject(py)?;
        Ok((PyModule::import(py, "trivox._trivox")?.getattr("_restore_grid")?, state))
    }
}

/// What `__array__` gives of a new dense array.
pub fn as_dtype<'py>(
    dense: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    if copy == Some(false) {
        return Err(pyo3::exceptions::PyValueError::new_err("a dense array is always a copy"));
    }
    match dtype {
        Some(dtype) => dense()?.call_method1("astype", (dtype,)),
        None => dense(),
    }
}
