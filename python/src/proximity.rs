//! Distances of any points to a mesh.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trivox::base::memory;
use trivox::{Fill, Progress, Proximity, ProximityError};

use crate::glue;
use crate::job;
use crate::mesh::{PyMesh, Source};
use crate::options::{array_of, named, parsed, vectors};
use crate::voxelizer::{parse_memory, threads_of};

type Array<'py> = Bound<'py, PyAny>;

/// Distances of any points to a mesh, the nearest triangles, and what is inside.
///
/// A search tree of the triangles, built once. Vertices and points are rounded once, to a lattice
/// whose unit is 2^-24 of the longest side of the mesh's bounding box: what float32 coordinates
/// lose anyway. On it the nearest triangle and the inside are exact, and distances have a relative
/// error below 2^-48; of points farther from the box than that side, below 2^-22. Results do not
/// depend on the machine, the threads or the order of points.
///
/// Parameters
/// ----------
/// mesh : Mesh, str, os.PathLike, or a mesh of another package
///     As `Voxelizer.voxelize` takes it.
/// fill : {"auto", "winding", "parity", "vote"}, default "auto"
///     What is inside, as of a solid's voxels: by winding numbers, generalized ones if the mesh has
///     holes; "auto" takes parity for a closed mesh that cannot be oriented.
/// threads : int, optional
///     CPU threads; as many as there are cores by default.
/// memory : int or str, optional
///     Most memory for the tree: bytes, or text such as "2 GiB"; nine tenths of what is available by
///     default.
/// confine : bool, default False
///     Of a path: whether only files beside it and below are read, as in `Voxelizer`.
///
/// Raises
/// ------
/// PlaceError
///     All vertices are at one point.
/// OptionError
///     An option that is not possible, such as ``fill="flood"``.
///
/// Examples
/// --------
/// >>> import trivox
/// >>> tetrahedron = trivox.Mesh([[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]],
/// ...                           [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
/// >>> proximity = trivox.Proximity(tetrahedron)
/// >>> proximity.distances([[1, 0.5, 2], [4, 4, -3]]).tolist()
/// [-0.5, 3.0]
/// >>> proximity.contains([[1, 0.5, 2], [4, 4, -3]]).tolist()
/// [True, False]
#[pyclass(frozen, module = "trivox", name = "Proximity")]
pub struct PyProximity {
    proximity: Arc<Proximity>,
    mesh: PyMesh,
    /// As given, for pickling.
    fill: String,
    threads: Option<usize>,
    memory: Option<u64>,
}

impl PyProximity {
    /// The answers for all points.
    fn ask<T: Send + 'static>(
        &self,
        points: &Bound<'_, PyAny>,
        ask: fn(&Proximity, &[[f64; 3]], &dyn Progress) -> Result<Vec<T>, ProximityError>,
    ) -> PyResult<Vec<T>> {
        let (proximity, threads) = (Arc::clone(&self.proximity), self.threads);
        let rows = vectors("points", points)?;
        job::run(points.py(), move |job| {
            Ok(job::pool(threads)?.install(|| ask(&proximity, &rows, &**job))?)
        })
    }
}

/// `values` as an array of this shape, of float32 if `like` is, else of float64.
fn floats<'py>(values: Vec<f64>, shape: &[isize], like: &Array<'py>) -> PyResult<Array<'py>> {
    let py = like.py();
    let values = values.into_pyarray(py).call_method1("reshape", (PyTuple::new(py, shape)?,))?;
    let is_single = array_of(like)?.dtype().is_equiv_to(&numpy::dtype::<f32>(py));
    if is_single { values.call_method1("astype", ("float32",)) } else { Ok(values) }
}

#[pymethods]
impl PyProximity {
    #[new]
    #[pyo3(signature = (mesh, *, fill="auto", threads=None, memory=None, confine=false))]
    fn new(
        mesh: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = named::fill)] fill: &str,
        threads: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::confine)] confine: bool,
    ) -> PyResult<Self> {
        let py = mesh.py();
        let source = Source::of(mesh)?;
        let rule: Fill = parsed(py, fill)?;
        let threads = threads.map(threads_of).transpose()?;
        let memory = memory.map(parse_memory).transpose()?;
        let is_file = matches!(source, Source::Path(_));
        let (mesh, proximity) = job::run_on(py, source.path(), None, None, move |job| {
            let mesh = source.load(confine, job)?;
            let memory = memory.unwrap_or_else(memory::left);
            let make = || Proximity::new(&mesh.mesh, rule, memory, &**job);
            let proximity = job::pool(threads)?.install(make)?;
            Ok((mesh, proximity))
        })?;
        if is_file {
            glue::warn(py, mesh.path.as_deref(), &mesh.warnings)?;
        }
        Ok(Self { proximity: Arc::new(proximity), mesh, fill: fill.to_owned(), threads, memory })
    }

    /// The mesh.
    #[getter]
    fn mesh(&self) -> PyMesh {
        self.mesh.clone()
    }

    /// How the inside is found: "winding", "parity" or "vote".
    #[getter]
    fn fill(&self) -> &'static str {
        self.proximity.fill().name()
    }

    /// The distance of each point from the mesh, in mesh units.
    ///
    /// Parameters
    /// ----------
    /// points : array_like, shape (n, 3) or (3,)
    ///     In mesh units.
    /// signed : bool, default True
    ///     Whether distances are negative inside. Without signs they take less time.
    ///
    /// Returns
    /// -------
    /// ndarray of float64, or of float32 if `points` is, shape (n,)
    ///     0 exactly for points on the mesh.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     An array of another shape, or a point that is not finite; the message has its index.
    #[pyo3(signature = (points, *, signed=true))]
    fn distances<'py>(
        &self,
        points: &Array<'py>,
        #[pyo3(from_py_with = named::signed)] signed: bool,
    ) -> PyResult<Array<'py>> {
        let distances = match signed {
            true => self.ask(points, |of, points, progress| of.distances(points, progress))?,
            false => {
                let nearest =
                    self.ask(points, |of, points, progress| of.nearest(points, progress))?;
                nearest.into_iter().map(|nearest| nearest.distance).collect()
            }
        };
        floats(distances, &[-1], points)
    }

    /// The point of the mesh that is nearest to each point.
    ///
    /// Parameters
    /// ----------
    /// points : array_like, shape (n, 3) or (3,)
    ///     In mesh units.
    ///
    /// Returns
    /// -------
    /// distances : ndarray of float64, shape (n,)
    ///     In mesh units, without signs.
    /// triangles : ndarray of int64, shape (n,)
    ///     The index of the nearest triangle; of several as near, the lowest.
    /// weights : ndarray of float64, shape (n, 3)
    ///     The barycentric coordinates of the nearest point: ``weights[i] @ values[faces[t]]``
    ///     interpolates values of the vertices.
    /// nearest : ndarray of float64, shape (n, 3)
    ///     The nearest point, in mesh units.
    ///
    /// All but `triangles` are of float32 if `points` is.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     As `distances`.
    fn nearest<'py>(&self, points: &Array<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let py = points.py();
        let found = self.ask(points, |of, points, progress| of.nearest(points, progress))?;
        let distances = found.iter().map(|nearest| nearest.distance).collect();
        let triangles = found.iter().map(|nearest| i64::from(nearest.triangle)).collect::<Vec<_>>();
        let weights = found.iter().flat_map(|nearest| nearest.weights).collect();
        let nearest = found.iter().flat_map(|nearest| nearest.point).collect();
        let parts = [
            floats(distances, &[-1], points)?,
            triangles.into_pyarray(py).into_any(),
            floats(weights, &[-1, 3], points)?,
            floats(nearest, &[-1, 3], points)?,
        ];
        PyTuple::new(py, parts)
    }

    /// Whether each point is inside.
    ///
    /// Parameters
    /// ----------
    /// points : array_like, shape (n, 3) or (3,)
    ///     In mesh units.
    ///
    /// Returns
    /// -------
    /// ndarray of bool, shape (n,)
    ///     A point on the mesh is on one of its sides, as the centre of a solid's voxel.
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     As `distances`.
    fn contains<'py>(&self, points: &Array<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let found = self.ask(points, |of, points, progress| of.contains(points, progress))?;
        Ok(found.into_pyarray(points.py()))
    }

    fn __repr__(&self) -> String {
        let triangles = self.mesh.mesh.triangles().len();
        format!("<trivox.Proximity: {triangles} triangles, fill {}>", self.fill())
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("fill", &self.fill)?;
        options.set_item("threads", self.threads)?;
        options.set_item("memory", self.memory)?;
        Ok((PyTuple::new(py, [self.mesh.clone()])?, options))
    }
}
