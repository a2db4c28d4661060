//! Meshes: from arrays, files, bytes, and objects of other packages.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::ndarray::ArrayView1;
use numpy::{
    Element, PyArray2, PyArrayDescrMethods, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use trivox::base::srgb::{Linear, linear, linear_of_rgba};
use trivox::formats::{LoadedMesh, MeshFile, MeshSpec, ReadOptions, Sidecars, read_mesh_from};
use trivox::mesh::Labels;
use trivox::mesh::appearance::{Alpha, Material, Texture};
use trivox::{Appearance, MeshSource};

use crate::error::{Failure, check_memory, option_error};
use crate::glue;
use crate::grid::arrays::of_rows;
use crate::grid::files::bytes_in;
use crate::job::{self, Job};
use crate::options::{array_of, named, rgba_rows, shaped, wrong_type};

/// A triangle mesh, checked and immutable.
///
/// Every index names a vertex, and every vertex that a triangle uses is finite. Degenerate
/// triangles (a segment, a point) are valid. The parts of a trimesh Scene, an Open3D model or a
/// PyVista MultiBlock become objects with their names.
///
/// Parameters
/// ----------
/// vertices : array_like, shape (n, 3), or an object
///     Positions in mesh units; float32 and float64 are taken without an intermediate copy, other
///     numbers are converted. Or, alone, a mesh of trimesh, Open3D, PyVista, meshio, or anything
///     with ``vertices`` and ``faces``; colours, texture coordinates and a base-colour texture come
///     along.
/// faces : array_like of int, shape (m, 3)
///     Vertex numbers of each triangle, from 0.
/// vertex_colors : array_like, shape (n, 3) or (n, 4), optional
///     sRGB and opacity of each vertex: uint8 from 0 to 255, or float from 0 to 1; other values
///     are refused.
/// face_colors : array_like, shape (m, 3) or (m, 4), optional
///     The same of each triangle.
/// uv : array_like of float, shape (n, 2) or (m, 3, 2), optional
///     Texture coordinates of each vertex, or of each corner of each triangle; ``v`` points up, as
///     in OpenGL, OBJ and trimesh.
/// texture : array_like of uint8, shape (height, width, 3) or (height, width, 4), optional
///     The image for `uv`, sRGB, rows from the top. It repeats, and its texels are squares unless
///     the voxelizer's `filter` is "linear".
///
/// Raises
/// ------
/// MeshError
///     No triangles, an index out of range, a coordinate that is not finite, colours out of range,
///     or arrays of other shapes. The message has the first place.
/// OptionError
///     Arguments that do not go together, such as `uv` without `texture`.
/// TypeError
///     An object that is no mesh.
#[pyclass(frozen, module = "trivox", name = "Mesh", from_py_object)]
#[derive(Clone)]
pub struct PyMesh {
    pub mesh: Arc<trivox::Mesh>,
    pub warnings: Arc<Vec<String>>,
    pub path: Option<PathBuf>,
}

impl PyMesh {
    pub fn new(mesh: trivox::Mesh, warnings: Vec<String>, path: Option<PathBuf>) -> Self {
        Self { mesh: Arc::new(mesh), warnings: Arc::new(warnings), path }
    }

    /// An upper bound of the numbers, of at most eight bytes, that it has.
    fn numbers(&self) -> usize {
        let mesh = &*self.mesh;
        let of_look = mesh.appearance().map_or(0, |look| {
            let texels = look.textures.iter().map(|texture| texture.size().map(|n| n as usize));
            let texels: usize = texels.map(|[width, height]| width * height).sum();
            let of_triangles = look.material_of.len() + 6 * look.uvs.len();
            texels + of_triangles + 4 * look.vertex_colors.len()
        });
        3 * (mesh.positions().len() + mesh.triangles().len()) + of_look
    }

    /// `value` as a mesh, if it is one or is an object of another package.
    pub fn from_object(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(mesh) = value.cast::<Self>() {
            return Ok(mesh.get().clone());
        }
        let py = value.py();
        let found = glue::module(py)?.call_method1("mesh_parts", (value,))?;
        let (parts, notes): (Vec<Part<'_>>, Vec<String>) = found.extract()?;
        glue::warn(py, None, &notes)?;
        let are_objects = parts.iter().any(|(name, _)| name.is_some());
        let part = |(name, arrays): (Option<String>, Bound<'_, PyDict>)| {
            let mesh = py.get_type::<Self>().call((), Some(&arrays));
            let mesh = mesh.map_err(|error| match &name {
                Some(name) => glue::of_part(py, name, error),
                None => error,
            })?;
            PyResult::Ok((name.unwrap_or_default(), mesh.cast_into::<Self>()?.get().clone()))
        };
        let parts = parts.into_iter().map(part).collect::<PyResult<Vec<_>>>()?;
        if !are_objects && let [(_, mesh)] = &parts[..] {
            return Ok(mesh.clone());
        }
        Self::check_join(&parts)?;
        let named = parts.iter().map(|(name, part)| (&**name, &*part.mesh));
        let mesh = job::try_on_pool(py, || trivox::Mesh::join(named))?;
        let mesh = if are_objects { mesh } else { mesh.with_labels(None) };
        Ok(Self::new(mesh, vec![], None))
    }

    /// Checks that there is memory to join these parts to one mesh.
    fn check_join(parts: &[(String, Self)]) -> Result<(), Failure> {
        check_memory(parts.iter().map(|(_, part)| part.numbers()).sum(), 8)
    }
}

/// The name and the arrays of a part of another package's mesh.
type Part<'py> = (Option<String>, Bound<'py, PyDict>);

#[pymethods]
impl PyMesh {
    #[new]
    #[pyo3(signature = (vertices, faces=None, *, vertex_colors=None, face_colors=None, uv=None, texture=None))]
    fn py_new(
        vertices: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        vertex_colors: Option<&Bound<'_, PyAny>>,
        face_colors: Option<&Bound<'_, PyAny>>,
        uv: Option<&Bound<'_, PyAny>>,
        texture: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = vertices.py();
        let looks = [vertex_colors, face_colors, uv, texture];
        let Some(faces) = faces else {
            if looks.iter().any(Option::is_some) {
                let message = "colours are given with vertices and faces";
                return Err(option_error("option.combination", message));
            }
            return Self::from_object(vertices);
        };
        let triangles = triangles(faces)?;
        let positions = positions(vertices)?;
        let counts = [positions.len(), triangles.len()];
        let mesh = job::try_on_pool(py, || trivox::Mesh::new(positions, triangles))?;
        let mesh = match appearance(looks, counts, mesh.triangles())? {
            Some(look) => job::try_on_pool(py, || mesh.with_appearance(look))?,
            None => mesh,
        };
        Ok(Self::new(mesh, vec![], None))
    }

    /// One mesh of a dict of meshes: each becomes an object with its name, in the order of the dict.
    ///
    /// With ``attributes=["label"]`` the voxels of each can be told apart; where solids overlap, a
    /// voxel has the label of the later mesh. The label of a mesh is its place in this order, from 0.
    /// Materials and colours are kept; a mesh without any is white beside one with them. A closed
    /// mesh that is inside out is reversed, with a warning.
    ///
    /// Raises
    /// ------
    /// MeshError
    ///     There is no mesh, or there are more than 4,294,967,295 vertices or triangles.
    #[staticmethod]
    fn join(meshes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = meshes.py();
        let meshes = meshes
            .cast::<PyDict>()
            .map_err(|_| wrong_type("meshes", meshes, "a dict of names to meshes"))?;
        let part = |(name, mesh): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            PyResult::Ok((name.extract::<String>()?, Self::from_object(&mesh)?))
        };
        let parts = meshes.iter().map(part).collect::<PyResult<Vec<_>>>()?;
        Self::check_join(&parts)?;
        let loaded = |(name, part): &(String, Self)| {
            let warnings = part.warnings.iter().map(|text| format!("{name}: {text}")).collect();
            (name.clone(), LoadedMesh::new((*part.mesh).clone(), warnings))
        };
        let parts: Vec<_> = parts.iter().map(loaded).collect();
        // The warnings of the parts were issued when they were read.
        let issued: Vec<_> = parts.iter().flat_map(|(_, part)| part.warnings.clone()).collect();
        let LoadedMesh { mesh, warnings, .. } = job::try_on_pool(py, || LoadedMesh::join(parts))?;
        let new = warnings.iter().filter(|text| !issued.contains(text)).cloned();
        glue::warn(py, None, &new.collect::<Vec<_>>())?;
        Ok(Self::new(mesh, warnings, None))
    }

    /// Vertex positions in mesh units, float64 of shape (n, 3); a copy.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let positions = self.mesh.positions();
        check_memory(positions.len(), 24)?;
        of_rows(py, positions.to_vec())
    }

    /// Vertex numbers of each triangle, int64 of shape (m, 3); a copy.
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let triangles = self.mesh.triangles();
        check_memory(triangles.len(), 24)?;
        of_rows(py, triangles.iter().map(|triangle| triangle.map(i64::from)).collect())
    }

    /// Minimum and maximum corner of what triangles use, in mesh units, float64 of shape (2, 3).
    /// ``Grid.bounds`` is in voxel indices.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mesh = Arc::clone(&self.mesh);
        let bounds = job::run(py, move |_| Ok(mesh.bounds()))?;
        of_rows(py, bounds.to_vec())
    }

    /// Whether anything is known of the mesh's colours.
    #[getter]
    fn has_colors(&self) -> bool {
        self.mesh.appearance().is_some()
    }

    /// The warnings of reading and of `join`, a sentence each.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.warnings.iter())
    }

    /// The file that the mesh was read from; None for a mesh from arrays or bytes.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn __repr__(&self) -> String {
        let (vertices, triangles) = (self.mesh.positions().len(), self.mesh.triangles().len());
        let colors = if self.has_colors() { ", colored" } else { "" };
        format!("<trivox.Mesh: {vertices} vertices, {triangles} triangles{colors}>")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| *other.get().mesh == *self.mesh)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let mesh = &*self.mesh;
        // The bytes grow to twice their number, and are copied.
        check_memory(self.numbers(), 32)?;
        let parts = (mesh.positions(), mesh.triangles(), mesh.appearance(), mesh.labels());
        let bytes = postcard::to_stdvec(&parts).map_err(Failure::bug)?;
        let state = (glue::bytes(py, &bytes)?, self.warnings.to_vec(), self.path.as_deref());
        let restore = PyModule::import(py, "trivox._trivox")?.getattr("_restore_mesh")?;
        Ok((restore, state.into_pyobject(py)?))
    }
}

/// Makes a mesh of what pickling wrote.
#[pyfunction]
#[pyo3(name = "_restore_mesh")]
pub fn restore_mesh(
    py: Python<'_>,
    bytes: &[u8],
    warnings: Vec<String>,
    path: Option<PathBuf>,
) -> PyResult<PyMesh> {
    type Parts = (Vec<[f64; 3]>, Vec<[u32; 3]>, Option<Appearance>, Option<Labels>);
    let malformed = |_| Failure::own("read.pickle", "the pickled mesh is malformed");
    let make = || {
        let parts = postcard::from_bytes::<Parts>(bytes).map_err(malformed)?;
        let (positions, triangles, look, labels) = parts;
        let mesh = trivox::Mesh::new(positions, triangles)?.with_labels(labels);
        Ok(match look {
            Some(look) => mesh.with_appearance(look)?,
            None => mesh,
        })
    };
    let mesh = job::try_on_pool::<_, Failure>(py, make)?;
    Ok(PyMesh::new(mesh, warnings, path))
}

fn shape_failure(what: &str, wanted: &str, array: &Bound<'_, PyUntypedArray>) -> PyErr {
    let shape = shaped(array.shape());
    let message = format!("{what} of shape {shape} are not possible: use {wanted}");
    Failure::own("mesh.shape", message).into()
}

/// # Errors
/// The array is of another type than numbers, such as text.
fn check_numbers(what: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let dtype = array.dtype();
    if matches!(dtype.kind(), b'f' | b'i' | b'u') {
        return Ok(());
    }
    let message = format!("{what} of type {dtype} are not possible: use numbers");
    Err(Failure::own("mesh.type", message).into())
}

/// `value` as an array of `T`, converted where it is of another type.
fn converted<'py, T: Element>(value: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
    value.call_method1("astype", (numpy::dtype::<T>(value.py()),))
}

/// Rows of an array, each number by `convert`.
fn rows<T: Element + Copy, U, const N: usize>(
    array: &PyReadonlyArray2<'_, T>,
    convert: impl Fn(T) -> U,
) -> Vec<[U; N]> {
    let view = array.as_array();
    let row = |row: ArrayView1<'_, T>| std::array::from_fn(|a| convert(row[a]));
    view.outer_iter().map(row).collect()
}

/// An array of one axis or more.
///
/// # Errors
/// It is one value, such as None or a function.
fn array_named<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    wanted: &str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = array_of(value)?;
    match array.ndim() {
        0 => Err(wrong_type(name, value, &format!("an array of shape {wanted}"))),
        _ => Ok(array),
    }
}

fn positions(value: &Bound<'_, PyAny>) -> PyResult<Vec<[f64; 3]>> {
    let array = array_named("vertices", value, "(n, 3)")?;
    if array.ndim() != 2 || array.shape()[1] != 3 {
        return Err(shape_failure("vertices", "(n, 3)", &array));
    }
    // 8 bytes as float64, and 8 as an array that is converted first.
    check_memory(array.len(), 16)?;
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f64>>() {
        // `PyReadonlyArray::as_slice` also accepts Fortran order, where columns are contiguous.
        if let Some(flat) = array.as_array().as_slice() {
            return Ok(value.py().detach(|| bytemuck::cast_slice(flat).to_vec()));
        }
        return Ok(rows(&array, |c| c));
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f32>>() {
        return Ok(rows(&array, f64::from));
    }
    check_numbers("vertices", &array)?;
    // float64 represents every integer up to 2^53. The least int64 has no absolute value.
    let end = |end: &str| array.call_method0(end)?.call_method0("item");
    let is_exact = array.dtype().kind() == b'f'
        || array.is_empty()
        || end("min")?.ge(-1_i64 << 53)? && end("max")?.le(1_i64 << 53)?;
    if !is_exact {
        let message = "vertices of integers past 2^53 are not exact as float64";
        return Err(Failure::own("mesh.type", message).into());
    }
    let array = converted::<f64>(&array)?.extract::<PyReadonlyArray2<'_, f64>>()?;
    Ok(rows(&array, |c| c))
}

fn triangles(value: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    let array = array_named("faces", value, "(m, 3)")?;
    if array.ndim() != 2 || (array.shape()[1] != 3 && array.shape()[0] > 0) {
        return Err(shape_failure("faces", "(m, 3): triangulate polygons first", &array));
    }
    if array.shape()[0] == 0 {
        return Ok(vec![]);
    }
    // 4 bytes as u32, and 8 as other integers that are converted first.
    check_memory(array.len(), 12)?;
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, u32>>() {
        return Ok(rows(&array, |i| i));
    }
    match array.dtype().kind() {
        b'i' => match array.extract::<PyReadonlyArray2<'_, i32>>() {
            Ok(array) => indices(&array),
            Err(_) => indices::<i64>(&converted::<i64>(&array)?.extract()?),
        },
        b'u' => indices::<u64>(&converted::<u64>(&array)?.extract()?),
        _ => {
            let message = format!("faces of type {} are not possible: use integers", array.dtype());
            Err(Failure::own("mesh.type", message).into())
        }
    }
}

fn indices<T>(array: &PyReadonlyArray2<'_, T>) -> PyResult<Vec<[u32; 3]>>
where
    T: Element + Copy + Sync + Display,
    u32: TryFrom<T>,
{
    if let Some(index) = array.as_array().iter().find(|&&index| u32::try_from(index).is_err()) {
        let message =
            format!("a triangle uses vertex {index}, which no mesh has: vertices count from 0");
        return Err(Failure::own("mesh.index_out_of_range", message).into());
    }
    Ok(rows(array, |index| u32::try_from(index).unwrap_or_default()))
}

/// The appearance that these arrays give a mesh of so many `vertices` and `faces`, if any is given.
fn appearance(
    [vertex_colors, face_colors, uv, texture]: [Option<&Bound<'_, PyAny>>; 4],
    [vertices, faces]: [usize; 2],
    triangles: &[[u32; 3]],
) -> PyResult<Option<Appearance>> {
    let refuse = |message: &str| Err(option_error("option.combination", message));
    let given = [vertex_colors.is_some(), face_colors.is_some(), uv.is_some() || texture.is_some()];
    if given.iter().filter(|&&is| is).count() > 1 {
        return refuse("give vertex_colors, face_colors, or uv with texture, not several of them");
    }
    if let Some(colors) = vertex_colors {
        let vertex_colors = linear_colors(colors, vertices, "vertex_colors")?;
        let alpha = Alpha::of_colors(&vertex_colors);
        let material = Material { has_vertex_colors: true, alpha, ..Material::default() };
        let materials = vec![material];
        return Ok(Some(Appearance { materials, vertex_colors, ..Appearance::default() }));
    }
    if let Some(colors) = face_colors {
        let colors = linear_colors(colors, faces, "face_colors")?;
        let alpha = Alpha::of_colors(&colors);
        let mut distinct = colors.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let index = |color: &Linear| distinct.binary_search(color).unwrap_or(0) as u32;
        let material_of = colors.iter().map(index).collect();
        let material = |&color: &Linear| Material { color, alpha, ..Material::default() };
        let materials = distinct.iter().map(material).collect();
        return Ok(Some(Appearance { materials, material_of, ..Appearance::default() }));
    }
    match (uv, texture) {
        (Some(uv), Some(texture)) => textured(uv, texture, vertices, triangles).map(Some),
        (None, None) => Ok(None),
        _ => refuse("uv and texture are given together"),
    }
}

fn textured(
    uv: &Bound<'_, PyAny>,
    image: &Bound<'_, PyAny>,
    vertices: usize,
    triangles: &[[u32; 3]],
) -> PyResult<Appearance> {
    let uvs = array_of(uv)?;
    check_memory(uvs.len() + 6 * triangles.len(), 8)?;
    check_numbers("texture coordinates", &uvs)?;
    let floats = converted::<f32>(&uvs)?;
    let turned = |u: f32, v: f32| [u, 1.0 - v];
    let uvs: Vec<[[f32; 2]; 3]> = match *uvs.shape() {
        [n, 2] if n == vertices => {
            let array = floats.extract::<PyReadonlyArray2<'_, f32>>()?;
            let of_vertex = rows::<f32, f32, 2>(&array, |c| c);
            let corner = |index: u32| of_vertex[index as usize];
            let corners = |t: &[u32; 3]| t.map(corner).map(|[u, v]| turned(u, v));
            triangles.iter().map(corners).collect()
        }
        [m, 3, 2] if m == triangles.len() => {
            let array = floats.extract::<PyReadonlyArray3<'_, f32>>()?;
            let view = array.as_array();
            let corner = |t: usize, c: usize| turned(view[[t, c, 0]], view[[t, c, 1]]);
            (0..m).map(|t| [0, 1, 2].map(|c| corner(t, c))).collect()
        }
        _ => return Err(shape_failure("texture coordinates", "(n, 2) or (m, 3, 2)", &uvs)),
    };
    if !uvs.as_flattened().as_flattened().iter().all(|c| c.is_finite()) {
        let message = "a texture coordinate is not a finite 32-bit number";
        return Err(Failure::own("mesh.not_finite", message).into());
    }
    let pixels = array_of(image)?;
    let (height, width) = match *pixels.shape() {
        [height, width, 3 | 4] if height * width > 0 => (height, width),
        _ => return Err(shape_failure("a texture's pixels", "(height, width, 3 or 4)", &pixels)),
    };
    check_memory(height * width, 12)?;
    let array = pixels.extract::<PyReadonlyArray3<'_, u8>>();
    let array = array.map_err(|_| Failure::own("mesh.type", "a texture's pixels are uint8"))?;
    let texture = Texture::new([width as u32, height as u32], rgba_rows(array.as_array()));
    let materials = vec![Material::textured(0, &texture)];
    Ok(Appearance { materials, textures: vec![texture], uvs, ..Appearance::default() })
}

/// sRGB colours, uint8 or float, in linear light.
fn linear_colors(value: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<Linear>> {
    let array = array_of(value)?;
    if !matches!(*array.shape(), [n, 3 | 4] if n == count) {
        return Err(shape_failure(what, &format!("({count}, 3) or ({count}, 4)"), &array));
    }
    check_memory(count, 48)?;
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, u8>>() {
        return Ok(rgba_rows(array.as_array()).into_iter().map(linear_of_rgba).collect());
    }
    if array.dtype().kind() != b'f' {
        let message =
            format!("{what} of type {} are not possible: use uint8 or float", array.dtype());
        return Err(Failure::own("mesh.type", message).into());
    }
    let array = converted::<f64>(&array)?.extract::<PyReadonlyArray2<'_, f64>>()?;
    if let Some(wrong) = array.as_array().iter().find(|c| !(0.0..=1.0).contains(*c)) {
        let message = format!(
            "{what} as floats are from 0 to 1, and one is {wrong}: divide by 255, or give uint8 \
             from 0 to 255"
        );
        return Err(Failure::own("mesh.color", message).into());
    }
    let color = |row: ArrayView1<'_, f64>| {
        let [r, g, b] = [0, 1, 2].map(|c| linear(row[c]));
        [r, g, b, row.get(3).map_or(u16::MAX, |alpha| (alpha * 65535.0).round() as u16)]
    };
    Ok(array.as_array().outer_iter().map(color).collect())
}

/// What names a mesh: a path, or the mesh itself.
pub enum Source {
    Path(PathBuf),
    Mesh(PyMesh),
}

impl Source {
    /// Of a path, a mesh or an object of another package.
    pub fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
            return Ok(Self::Path(value.extract()?));
        }
        PyMesh::from_object(value).map(Self::Mesh)
    }

    /// Of two arrays, vertices and faces; without faces as [`of`](Self::of).
    pub fn of_parts(value: &Bound<'_, PyAny>, faces: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match faces {
            Some(_) => PyMesh::py_new(value, faces, None, None, None, None).map(Self::Mesh),
            None => Self::of(value),
        }
    }

    /// For the log.
    pub fn name(&self) -> String {
        self.path().map_or("mesh".into(), |path| path.display().to_string())
    }

    /// The file that it is from.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Path(path) => Some(path.clone()),
            Self::Mesh(mesh) => mesh.path.clone(),
        }
    }

    /// The mesh, read if it is a file, and with `confine` only with files beside it and below.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn load(self, confine: bool, job: &Job) -> Result<PyMesh, Failure> {
        match self {
            Self::Path(path) => load(path, confine, job),
            Self::Mesh(mesh) => Ok(mesh),
        }
    }

    /// As the library takes it.
    pub fn as_library(&self) -> MeshSource<'_> {
        match self {
            Self::Path(path) => path.into(),
            Self::Mesh(mesh) => (&*mesh.mesh).into(),
        }
    }

    /// A failure, of this file.
    pub fn failure(&self, failure: Failure) -> Failure {
        match self.path() {
            Some(path) => failure.at(&path),
            None => failure,
        }
    }
}

/// Reading takes at most the memory that is left.
fn read_options() -> ReadOptions {
    ReadOptions { memory: trivox::base::memory::left(), ..ReadOptions::default() }
}

fn load(path: PathBuf, confine: bool, job: &Job) -> Result<PyMesh, Failure> {
    let options = ReadOptions { confined: confine, ..read_options() };
    let pool = job::pool(None)?;
    // Not on the pool, whose threads must not wait for a disk.
    let loaded = MeshFile::read(&path, &options, job)
        .and_then(|file| pool.install(|| file.parse(job)))
        .map_err(|error| Failure::from(error).at(&path))?;
    Ok(PyMesh::new(loaded.mesh, loaded.warnings, Some(path)))
}

fn load_bytes(bytes: Vec<u8>, format: &str, sidecars: &Sidecars) -> Result<PyMesh, Failure> {
    let name = PathBuf::from(format!("mesh.{}", format.trim_start_matches('.')));
    let spec = MeshSpec::of_path(&name)?;
    let loaded = read_mesh_from(bytes, spec, sidecars, &read_options())?;
    Ok(PyMesh::new(loaded.mesh, loaded.warnings, None))
}

/// Reads a mesh.
///
/// Parameters
/// ----------
/// source : str, os.PathLike or bytes-like
///     A file, or what is in one.
/// format : str, optional
///     For bytes: their format, an extension such as ``"obj"``, ``"stl"``, ``"ply"``, ``"gltf"`` or
///     ``"glb"``.
/// sidecars : dict of str to bytes, optional
///     For bytes: the content of the files that they name (materials, images, buffers), by name. No
///     file of the machine is opened.
/// confine : bool, default False
///     For a path: whether only files beside it and below are read, as in `Voxelizer`.
///
/// Returns
/// -------
/// Mesh
///     With materials, textures and colours of the file and those that it names.
///
/// Raises
/// ------
/// FileNotFoundError
///     With the file's name.
/// ReadError
///     A file that is malformed, or of no format that is read; the message has the line.
/// MeshError
///     A file without a valid mesh.
///
/// Warns
/// -----
/// TrivoxWarning
///     Something in the file has no effect.
#[pyfunction]
#[pyo3(signature = (source, format=None, *, sidecars=None, confine=false))]
pub fn read_mesh(
    source: &Bound<'_, PyAny>,
    format: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = named::sidecars)] sidecars: Option<HashMap<String, Vec<u8>>>,
    #[pyo3(from_py_with = named::confine)] confine: bool,
) -> PyResult<PyMesh> {
    let py = source.py();
    let format = format.map(named::format).transpose()?.map(str::to_owned);
    let mesh = match bytes_in(source) {
        Ok(bytes) => {
            let Some(format) = format else {
                let message = "bytes do not say what they are: give format, such as 'obj'";
                return Err(option_error("option.format", message));
            };
            let sidecars = Sidecars::in_memory(sidecars.unwrap_or_default());
            job::run(py, move |_| load_bytes(bytes, &format, &sidecars))?
        }
        Err(_) => {
            let path: PathBuf = source.extract()?;
            if format.is_some() || sidecars.is_some() {
                let message = "format and sidecars apply to bytes only: a file's format is its \
                               extension, and its sidecar files are beside it";
                return Err(PyTypeError::new_err(message));
            }
            job::run_off_pool(py, move |job| load(path, confine, job))?
        }
    };
    glue::warn(py, mesh.path.as_deref(), &mesh.warnings)?;
    Ok(mesh)
}

/// The file `name` among `files`, with the others as its sidecars: names are relative to it.
fn file_among(
    name: &str,
    mut files: HashMap<String, Vec<u8>>,
) -> Result<MeshFile<'static>, Failure> {
    let spec = MeshSpec::of_path(name)?;
    let bytes = files.remove(name).unwrap_or_default();
    let sidecars = Sidecars::in_memory(files).of_mesh(name);
    Ok(MeshFile::of_bytes(bytes, spec, &sidecars, &read_options()))
}

/// The mesh in the file `name` of `files`.
#[pyfunction]
#[pyo3(name = "_read_files")]
pub fn read_files(
    py: Python<'_>,
    name: String,
    files: HashMap<String, Vec<u8>>,
) -> PyResult<PyMesh> {
    let loaded = job::run(py, move |job| Ok(file_among(&name, files)?.parse(&**job)?))?;
    let mesh = PyMesh::new(loaded.mesh, loaded.warnings, None);
    glue::warn(py, None, &mesh.warnings)?;
    Ok(mesh)
}

/// The missing sidecars of the file `name`: the candidate names of each.
#[pyfunction]
#[pyo3(name = "_missing_sidecars")]
pub fn missing_sidecars(
    py: Python<'_>,
    name: String,
    files: HashMap<String, Vec<u8>>,
) -> PyResult<Vec<Vec<String>>> {
    job::run(py, move |_| {
        // A file that is not read has none.
        Ok(file_among(&name, files).map_or(Vec::new(), MeshFile::missing_sidecars))
    })
}
