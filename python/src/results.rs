//! Comparisons, verdicts, and lists of what there is.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use serde_json::{Value, json};
use trivox::backend::BackendChoice;
use trivox::engine::verify::{KnownPlacement, VerifyOptions};
use trivox::formats::{GridFormat, MESH_FORMATS};
use trivox::gpu::Adapter;
use trivox::lattice::MAX_DIM;
use trivox::{ColorSource, Sizing, VoxelGrid, Voxelizer, compare};

use crate::core::sentence;
use crate::error::option_error;
use crate::glue;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::mesh::Source;
use crate::options::{bounds_of, named, named_of, pad_of, whole, wholes};
use crate::voxelizer::{parse_mode, texts, transform_of};

/// Puts the tiles of a grid together, each where it lies.
///
/// Parameters
/// ----------
/// tiles : iterable of Grid
///     That `Voxelizer(..., tile=...)` made of one mesh with the same options. Together they have
///     at most 65,536 voxels along an axis.
///
/// Returns
/// -------
/// Grid
///     With colours if all tiles have.
///
/// Raises
/// ------
/// OptionError
///     There is none, two overlap, or one lies on another lattice or nowhere.
///
/// Warns
/// -----
/// TrivoxWarning
///     A tile of the grid is missing, according to the tiles' reports; attributes that some tiles
///     lack were left out.
#[pyfunction]
pub fn join(tiles: &Bound<'_, PyAny>) -> PyResult<PyGrid> {
    let py = tiles.py();
    let tiles = tiles.try_iter()?.map(|tile| Ok(tile?.cast_into::<PyGrid>()?));
    let tiles = tiles.collect::<PyResult<Vec<_>>>()?;
    let missing = missing(tiles.iter().map(|tile| &*tile.get().report));
    let grids: Vec<_> = tiles.iter().map(|tile| Arc::clone(&tile.get().grid)).collect();
    let (whole, left_out) = job::run(py, move |_| {
        let tiles: Vec<&VoxelGrid> = grids.iter().map(|grid| &**grid).collect();
        let whole = VoxelGrid::join(&tiles)?;
        let left_out = whole.left_out(tiles);
        Ok((whole, left_out))
    })?;
    let warnings: Vec<String> = missing.into_iter().chain(left_out).collect();
    glue::warn(py, None, &warnings)?;
    PyGrid::restored(py, whole, warnings)
}

/// A warning, if the tiles of these reports are not all of their grid.
fn missing<'a>(reports: impl Iterator<Item = &'a str>) -> Option<String> {
    let volume = |from: [u64; 3], to: [u64; 3]| -> u128 {
        (0..3).map(|a| u128::from(to[a].saturating_sub(from[a]))).product()
    };
    let (mut sum, mut whole) = (0, 0);
    for report in reports {
        let report: Value = serde_json::from_str(report).ok()?;
        let corner = |corner: &Value| serde_json::from_value(corner.clone()).ok();
        let tile = &report["tile"];
        sum += volume(corner(&tile["from"])?, corner(&tile["to"])?);
        whole = volume([0; 3], corner(&report["lattice"]["dims"])?);
    }
    (sum < whole).then(|| {
        let percent = 100.0 * sum as f64 / whole as f64;
        format!("a tile is missing: these are {percent:.0} % of the grid")
    })
}

/// Compares two grids voxel by voxel, by their indices, wherever they lie.
///
/// Parameters
/// ----------
/// a, b : Grid, or dense array of shape (nx, ny, nz)
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
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = named_of)] named: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let (a, b) = (PyGrid::given(a)?, PyGrid::given(b)?);
    let found = job::run(py, move |_| Ok(compare(&a, &b, named as usize)))?;
    let fields = PyDict::new(py);
    fields.set_item("equal", found.is_equal())?;
    fields.set_item("dims", (found.dims[0], found.dims[1]))?;
    fields.set_item("both", found.both)?;
    fields.set_item("only_a", found.only[0])?;
    fields.set_item("only_b", found.only[1])?;
    fields.set_item("iou", found.iou())?;
    fields.set_item("other_colors", found.other_colors)?;
    let other = found.other_attributes.iter().map(|(of, other)| (of.name(), *other));
    fields.set_item("other_attributes", other.into_py_dict(py)?)?;
    fields.set_item("bounds", found.bounds)?;
    let first = found.first.iter().map(|&([x, y, z], of)| ((x, y, z), ["a", "b"][of]));
    fields.set_item("first", first.collect::<Vec<_>>())?;
    glue::module(py)?.getattr("Difference")?.call((), Some(&fields))
}

/// Judges a grid, whoever made it, by the exact voxels of its mesh.
///
/// Parameters
/// ----------
/// mesh : Mesh, path, or a mesh of another package
/// grid : Grid, or dense array of shape (nx, ny, nz)
///     What is not zero in an array is occupied; ``Grid.from_dense`` also takes its place.
/// mode, fill, include_surface
///     What the grid's voxels are, as in `Voxelizer`.
/// scale, rotate, center
///     How the mesh was transformed first, as in `Voxelizer`.
/// resolution, voxel_size, bounds, pad, cube, dims
///     How the mesh was placed, as in `Voxelizer`, where that is known. Otherwise the grid's origin and voxel size
///     say, or the ways in which tools commonly fit a mesh to a grid are tried.
/// as_placed : bool, default False
///     Whether no permutation, mirror or shift of the axes is looked for.
/// named : int, default 8
///     How many wrong voxels are listed, at most.
/// confine : bool, default False
///     Of a path: whether only files beside it and below are read, as in `Voxelizer`.
///
/// Returns
/// -------
/// Verdict
///     Truthy if no voxel is wrong.
#[pyfunction]
#[pyo3(signature = (mesh, grid, *, mode="surface", fill="auto", include_surface=false,
    scale=None, rotate=None, center=false, resolution=None, voxel_size=None, bounds=None, pad=None,
    cube=None, dims=None, as_placed=false, named=8, confine=false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn verify<'py>(
    mesh: &Bound<'py, PyAny>,
    grid: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = named::mode)] mode: &str,
    #[pyo3(from_py_with = named::fill)] fill: &str,
    #[pyo3(from_py_with = named::include_surface)] include_surface: bool,
    #[pyo3(from_py_with = named::scale)] scale: Option<f64>,
    rotate: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = named::center)] center: bool,
    resolution: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = named::voxel_size)] voxel_size: Option<f64>,
    bounds: Option<&Bound<'py, PyAny>>,
    pad: Option<&Bound<'py, PyAny>>,
    cube: Option<&Bound<'py, PyAny>>,
    dims: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = named::as_placed)] as_placed: bool,
    #[pyo3(from_py_with = named_of)] named: u32,
    #[pyo3(from_py_with = named::confine)] confine: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = mesh.py();
    let mode = parse_mode(mode, fill, include_surface)?;
    let rotate = rotate.map(texts).transpose()?.unwrap_or_default();
    let transform = transform_of(scale, &rotate, center)?;
    if resolution.is_some() && voxel_size.is_some() {
        let message = "give resolution or voxel_size, not both";
        return Err(option_error("option.combination", message));
    }
    let sizing = resolution.map(|voxels| whole("resolution", voxels, 1..=MAX_DIM)).transpose()?;
    let cube = cube.map(|cube| whole("cube", cube, 1..=MAX_DIM)).transpose()?;
    let dims = dims.map(|dims| wholes("dims", dims, 1..=MAX_DIM)).transpose()?;
    let is_boxed = bounds.is_some() || pad.is_some();
    if cube.is_some() && (dims.is_some() || is_boxed) || dims.is_some() && is_boxed {
        let message = "give cube, or dims, or bounds and pad";
        return Err(option_error("option.combination", message));
    }
    let placement = KnownPlacement {
        sizing: sizing.map(Sizing::Resolution).or(voxel_size.map(Sizing::VoxelSize)),
        bounds: bounds.map(bounds_of).transpose()?,
        pad: pad.map(|pad| pad_of(pad)).transpose()?,
        dims: dims.or(cube.map(|n| [n; 3])),
    };
    let options = VerifyOptions { placement, as_placed, named: named as usize };
    let (source, grid) = (Source::of(mesh)?, PyGrid::given(grid)?);
    let path = source.path();
    let verified = job::run_off_pool(py, move |job| {
        let voxelizer = Voxelizer::new()
            .mode(mode)
            .transform(transform)
            .color(ColorSource::Transparency)
            .confined(confine)
            .backend(BackendChoice::Cpu)
            .pool(job::pool(None)?)
            .memory_from(trivox::base::memory::left)
            .progress(Arc::<Job>::clone(job));
        let verified = voxelizer.verify(source.as_library(), &grid, &options);
        verified.map_err(|error| source.failure(error.into()))
    })?;
    let warnings: Vec<String> = verified.warnings.iter().map(sentence).collect();
    glue::warn(py, path.as_deref(), &warnings)?;
    let found = verified.verdict;
    let first = found.first.iter().map(|wrong| {
        let [x, y, z] = wrong.voxel;
        ((x, y, z), wrong.fault.name())
    });
    let fields = PyDict::new(py);
    fields.set_item("source", json!(found.source)["by"].as_str())?;
    fields.set_item("alignment", found.alignment.to_string())?;
    fields.set_item("agreeing", found.agreeing)?;
    fields.set_item("missing", found.missing)?;
    fields.set_item("spurious", found.spurious)?;
    fields.set_item("iou", found.iou())?;
    fields.set_item("bounds", found.bounds)?;
    fields.set_item("first", first.collect::<Vec<_>>())?;
    fields.set_item("exact", Bound::new(py, PyGrid::restored(py, found.exact, vec![])?)?)?;
    glue::module(py)?.getattr("Verdict")?.call((), Some(&fields))
}

/// The machine's GPUs, as they are named for ``Voxelizer(adapter=...)``.
///
/// Returns
/// -------
/// list of dict
///     ``label``, ``driver`` and ``is_software`` of each, best first.
#[pyfunction]
pub fn adapters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let found = job::run_off_pool(py, |_| Ok(Adapter::all()))?;
    let entry = |adapter: &Adapter| {
        let entry = PyDict::new(py);
        entry.set_item("label", adapter.label())?;
        entry.set_item("driver", adapter.driver())?;
        entry.set_item("is_software", adapter.is_software())?;
        Ok(entry)
    };
    found.iter().map(entry).collect()
}

/// Extensions of the grid formats, with whether they are read.
#[pyfunction]
#[pyo3(name = "_grid_formats")]
pub fn grid_formats() -> Vec<(&'static str, bool)> {
    let entry = |format: GridFormat| (format.extension(), format.spec().is_read());
    GridFormat::ALL.into_iter().map(entry).collect()
}

/// Extensions of the mesh formats.
#[pyfunction]
#[pyo3(name = "_mesh_formats")]
pub fn mesh_formats() -> Vec<&'static str> {
    MESH_FORMATS.iter().map(|spec| spec.extension).collect()
}
