//! Distances of any points to a mesh.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::{IntoPyArray, PyArray1, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trivox::base::memory;
use trivox::{Fill, Progress, Proximity, ProximityError};

use crate::error::Failure;
use crate::glue;
use crate::job;
use crate::mesh::{PyMesh, Source};
use crate::options::{Strict, array_of, named, parsed, vectors};
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
/// faces : array_like of int, shape (m, 3), optional
///     Vertex numbers of each triangle, if `mesh` is the array of vertices.
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
/// strict : bool or "closed", default False
///     Whether a mesh whose signs are doubtful is a `DoubtfulError`. Any hole makes them doubtful, so
///     that "closed" is the same as True.
///
/// Raises
/// ------
/// DoubtfulError
///     With `strict`: the mesh is not closed, or cannot be oriented. Its report is None.
/// PlaceError
///     All vertices are at one point.
/// OptionError
///     An option that is not possible, such as ``fill="flood"``.
///
/// Warns
/// -----
/// TrivoxWarning
///     Something in the file has no effect; at the first question for signs, what is doubtful about
///     them: see `warnings`.
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
    strict: Strict,
    /// Whether a caller was warned of doubtful signs.
    has_warned: AtomicBool,
}

/// A query of [`Proximity`], for many points.
type Query<T> = fn(&Proximity, &[[f64; 3]], &dyn Progress) -> Result<Vec<T>, ProximityError>;

impl PyProximity {
    /// Warns of doubtful signs once.
    fn warn_of_signs(&self, py: Python<'_>) -> PyResult<()> {
        if !self.has_warned.load(Ordering::Relaxed) {
            glue::warn(py, self.mesh.path.as_deref(), &sentences(&self.proximity))?;
            self.has_warned.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The answers for all points.
    fn ask<T: Send + 'static>(&self, points: &Bound<'_, PyAny>, ask: Query<T>) -> PyResult<Vec<T>> {
        let (proximity, threads) = (Arc::clone(&self.proximity), self.threads);
        let rows = vectors("points", points)?;
        job::run_off_pool(points.py(), move |job| {
            Ok(job::pool(threads)?.install(|| ask(&proximity, &rows, &**job))?)
        })
    }
}

/// What is doubtful about signs.
fn sentences(proximity: &Proximity) -> Vec<String> {
    let doubt = proximity.doubt();
    doubt.map(|doubt| format!("the signs are doubtful: {doubt}")).into_iter().collect()
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
    #[pyo3(signature = (mesh, faces=None, *, fill="auto", threads=None, memory=None, confine=false,
        strict=Strict::Off),
        text_signature = "(mesh, faces=None, *, fill='auto', threads=None, memory=None, \
        confine=False, strict=False)")]
    fn new(
        mesh: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::fill)] fill: &str,
        threads: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::confine)] confine: bool,
        #[pyo3(from_py_with = named::strict)] strict: Strict,
    ) -> PyResult<Self> {
        let py = mesh.py();
        let source = Source::of_parts(mesh, faces)?;
        let rule: Fill = parsed(fill)?;
        let threads = threads.map(threads_of).transpose()?;
        let memory = memory.map(parse_memory).transpose()?;
        let is_file = matches!(source, Source::Path(_));
        let (mesh, proximity) = job::run_off_pool(py, move |job| {
            let mesh = source.load(confine, job)?;
            let memory = memory.unwrap_or_else(memory::left);
            let make = || Proximity::new(&mesh.mesh, rule, memory, &**job);
            let proximity = job::pool(threads)?.install(make)?;
            let warnings = sentences(&proximity);
            if strict == Strict::Off || warnings.is_empty() {
                return Ok((mesh, proximity));
            }
            let (message, path) = (warnings.join("; "), mesh.path.clone());
            Err(Failure::Doubtful { message, report: "null".to_owned(), warnings, path })
        })?;
        if is_file {
            glue::warn(py, mesh.path.as_deref(), &mesh.warnings)?;
        }
        Ok(Self {
            proximity: Arc::new(proximity),
            mesh,
            fill: fill.to_owned(),
            threads,
            memory,
            strict,
            has_warned: AtomicBool::new(false),
        })
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

    /// Whether the mesh is closed: every edge has an even number of triangles. Otherwise signs, and
    /// what is inside, are doubtful.
    #[getter]
    fn is_closed(&self) -> bool {
        self.proximity.topology().is_closed()
    }

    /// What is doubtful about signs, and about what is inside, a sentence each; the first
    /// `contains` or signed `distances` warns of it.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, sentences(&self.proximity))
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
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     Of doubtful signs, once: see `warnings`.
    #[pyo3(signature = (points, *, signed=true))]
    fn distances<'py>(
        &self,
        points: &Array<'py>,
        #[pyo3(from_py_with = named::signed)] signed: bool,
    ) -> PyResult<Array<'py>> {
        if signed {
            self.warn_of_signs(points.py())?;
        }
        let distances = if signed {
            self.ask(points, |of, points, progress| of.distances(points, progress))?
        } else {
            let nearest = self.ask(points, |of, points, progress| of.nearest(points, progress))?;
            nearest.into_iter().map(|nearest| nearest.distance).collect()
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
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     As `distances`.
    fn contains<'py>(&self, points: &Array<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        self.warn_of_signs(points.py())?;
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
        options.set_item("strict", self.strict)?;
        Ok((PyTuple::new(py, [self.mesh.clone()])?, options))
    }
}
