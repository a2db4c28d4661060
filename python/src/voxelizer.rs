//! The voxelizer: options, and what becomes of a mesh with them.

use std::time::Duration;

use bytesize::ByteSize;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trivox::base::numbers::short;
use trivox::lattice::transform::CenteredGrid;
use trivox::lattice::{MAX_DIM, MAX_SPAN_VOXELS};
use trivox::mesh::appearance::FilterChoice;
use trivox::solid::distance::check_width;
use trivox::solid::{Fill, Solid};
use trivox::{
    Blend, Bounds, ColorSource, Mode, PlaceOptions, Sizing, Tile, Transform, Up, Voxelizer,
};

use crate::batch::{Batch, OnError};
use crate::core::Plan;
use crate::distance::PyDistanceField;
use crate::error::{Failure, option_error};
use crate::glue;
use crate::grid::PyGrid;
use crate::job;
use crate::mesh::Source;
use crate::options::{
    Strict, attributes_of, bounds_of, color_of, lattice_of, named, pad_of, parsed, tile_of, whole,
    wholes,
};

/// Turns meshes into voxels, with fixed options. Immutable, picklable, and safe to share between
/// threads.
///
/// A mesh gives the same grid on every CPU and GPU, with any number of threads. Voxels are decided
/// by exact signs of integer polynomials; holes of solids are closed by floating-point sums in a
/// fixed order, with an error bound.
///
/// Parameters
/// ----------
/// resolution : int, optional
///     Voxels along the mesh's longest axis, padding not counted; 256 unless `voxel_size` is given.
/// res : int, optional
///     The same, by the name of the program's option.
/// voxel_size : float, optional
///     A voxel's edge, in mesh units; instead of `resolution`.
/// height, width, length : int, optional
///     Voxels along the up axis, along x, or along the other horizontal axis: one of them, instead
///     of `resolution`. Not with `cube` or `dims`.
/// bounds : array_like of float, shape (2, 3), optional
///     Minimum and maximum corner of what is voxelized, in mesh units (not voxels, as
///     ``Grid.bounds``); the mesh's own by default.
/// pad : int, default 0
///     Voxels added on all six sides.
/// cube : int, optional
///     Make a grid of so many voxels along each axis with the mesh in its centre: grids of all
///     meshes have one shape. With `resolution` or `voxel_size` these set the size of the mesh in
///     it; otherwise its longest axis takes all voxels. Not with `dims`, `bounds` or `pad`.
/// dims : sequence of 3 int, optional
///     Make a grid of so many voxels along x, y and z with the mesh in its centre, as `cube` does.
/// scale : float, optional
///     Multiply the mesh's coordinates by this first.
/// rotate : str or sequence of str, optional
///     Then rotate the mesh about an axis by an angle in degrees, counter-clockwise seen from the
///     axis's tip, such as ``"x:90"``; several apply in the order given.
/// center : bool, default False
///     Then move the centre of the mesh's bounding box to the origin.
/// mode : {"surface", "thin", "solid"}, default "surface"
///     "surface": all voxels that the surface touches (Akenine-Moller 2001, conservative).
///     "thin": those that lines through voxel centres cross it in (6-separating, Laine 2013).
///     "solid": those whose centre is inside.
/// fill : {"auto", "parity", "winding", "flood", "vote"}, default "auto"
///     How a solid decides what is inside; "auto" suits the mesh, and the report says why.
/// include_surface : bool, default False
///     Whether a solid also has the voxels that its surface touches.
/// strict : bool or "closed", default False
///     Whether a doubtful solid, or distances with a doubtful inside, are a `DoubtfulError`; with
///     "closed" those of any mesh with a hole too. It needs ``mode="solid"``, for distances too.
/// up : {"y", "z"}, default "y"
///     The mesh's up axis; files and pictures turn accordingly.
/// color : bool or (int, int, int), default True
///     Whether voxels get the mesh's colours, if it has any; or the colour, sRGB, of all voxels.
///     With False the mesh's appearance is ignored, and transparent voxels are kept.
/// keep_transparent : bool, default False
///     Whether voxels in which all is transparent are kept.
/// interior_color : (int, int, int), optional
///     The colour, sRGB, of a solid's voxels far from its surface; the mean of the surface's by
///     default.
/// filter : {"auto", "nearest", "linear"}, default "auto"
///     How textures are read where their texels are larger than voxels: as squares, or interpolated
///     between the centres of texels. "auto" is as the file says, and "nearest" where it does not.
/// blend : {"all", "visible", "none"}, default "all"
///     Which surfaces in a voxel make its colour: the mean of all by area, the mean of those that
///     are seen from outside, or the most typical colour of these, unmixed.
/// attributes : sequence of {"normal", "triangle", "material", "label", "area", "metallic", "roughness", "emission", "alpha", "uv", "coverage"}, optional
///     What each voxel holds of the mesh besides colour: see ``Grid.attributes``.
/// tile : str, optional
///     Make only this tile of the grid: "3/8", or "3/2x2x2" of so many along x, y and z, counted
///     from 1 with x fastest. Tiles put together are the whole to the bit; it may have up to
///     1,048,576 voxels along an axis. ``grid.report["tile"]`` says where the tile lies; see
///     `join`.
/// lattice : dict, optional
///     Place the mesh on the lattice of another grid: its ``grid.report["lattice"]``. Not with
///     `resolution`, `voxel_size`, `height`, `width`, `length`, `bounds`, `pad`, `cube` or `dims`.
/// backend : {"auto", "cpu", "gpu"}, default "auto"
///     "auto" takes a hardware GPU where that is likely to be faster.
/// adapter : str, optional
///     The GPU to use: a part of its label in ``trivox.adapters()``.
/// threads : int, optional
///     CPU threads; as many as there are cores by default.
/// memory : int or str, optional
///     Most memory for a grid and the work on it: bytes, or text such as "2 GiB"; nine tenths of
///     what is available by default. It does not bound the arrays that a grid gives, such as
///     `dense`.
/// time_limit : float, optional
///     Seconds that one call may take, and in `many` the work on one mesh; more is a
///     `TimeLimitError`. In `many`, the parsing of a file, with the reading of the material files,
///     images and buffers that it names, is not interrupted.
/// confine : bool, default False
///     Whether only files beside a mesh's file and below are read: a material file, image or buffer
///     elsewhere counts as missing. For untrusted meshes.
///
/// Raises
/// ------
/// OptionError
///     An option that is not possible; the message names what would be.
/// TypeError
///     An option of another type.
///
/// See Also
/// --------
/// voxelize : what calling a voxelizer does.
///
/// Examples
/// --------
/// >>> import trivox
/// >>> tetrahedron = trivox.Mesh([[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]],
/// ...                           [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
/// >>> trivox.Voxelizer(resolution=8, mode="solid")(tetrahedron)
/// <trivox.Grid: 8 x 8 x 8, 84 voxels>
#[pyclass(frozen, module = "trivox", name = "Voxelizer")]
pub struct PyVoxelizer {
    plan: Plan,
    /// As they were given, without those that have their default value.
    options: Py<PyDict>,
}

/// Most threads of a pool, as of the program.
const MAX_THREADS: u32 = 1024;

/// What voxels are.
///
/// # Errors
/// A name that is not known; a fill for what is no solid.
pub fn parse_mode(mode: &str, fill: &str, include_surface: bool) -> PyResult<Mode> {
    let (mode, fill) = (parsed(mode)?, parsed(fill)?);
    match mode {
        Mode::Solid(_) => Ok(Mode::Solid(Solid { fill, include_surface })),
        _ if fill != Fill::Auto || include_surface => {
            let message = "fill and include_surface are of solids: give mode='solid'";
            Err(option_error("option.combination", message))
        }
        mode => Ok(mode),
    }
}

fn parse_on_error(on_error: &str) -> PyResult<OnError> {
    match on_error {
        "return" => Ok(OnError::Return),
        "raise" => Ok(OnError::Raise),
        "skip" => Ok(OnError::Skip),
        _ => {
            let message =
                format!("on_error '{on_error}' is not possible: use 'return', 'raise', 'skip'");
            Err(option_error("option.value", message))
        }
    }
}

/// A number of threads.
pub fn threads_of(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    whole("threads", value, 1..=MAX_THREADS).map(|threads| threads as usize)
}

/// A number of bytes, or text with a unit.
pub fn parse_memory(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let Ok(text) = value.extract::<&str>() else {
        return whole("memory", value, 0..=i64::MAX as u64);
    };
    let bytes = text.trim().parse().ok().map(|ByteSize(bytes)| bytes);
    bytes.filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(|| {
        let message = "memory is a number of bytes, or text such as '2 GiB' or '500 MB'";
        option_error("option.memory", message)
    })
}

/// A time limit.
fn seconds(limit: f64) -> PyResult<Duration> {
    let time = Duration::try_from_secs_f64(limit).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| {
        let limit = short(&limit);
        let message = format!(
            "time_limit {limit} is not possible: use a positive number of seconds, below 1e19"
        );
        option_error("option.range", message)
    })
}

/// One text, or several.
pub fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let texts = value.extract::<String>().map(|text| vec![text]);
    texts.or_else(|_| value.extract()).map_err(|_: PyErr| {
        PyTypeError::new_err("rotate takes text such as 'x:90', or a sequence of such texts")
    })
}

/// The transformation of a mesh that these options ask for.
pub fn transform_of(scale: Option<f64>, rotate: &[String], center: bool) -> PyResult<Transform> {
    let rotation = |text: &String| {
        text.parse().map_err(|error| {
            let message = format!("rotate '{text}' is not possible: {error}");
            option_error("option.rotate", message)
        })
    };
    let rotations = rotate.iter().map(rotation).collect::<PyResult<_>>()?;
    Ok(Transform { scale, rotations, center, ..Transform::default() })
}

/// Sets an option that was given.
fn set<'py>(
    options: &Bound<'py, PyDict>,
    name: &str,
    value: Option<impl IntoPyObject<'py>>,
) -> PyResult<()> {
    value.map_or(Ok(()), |value| options.set_item(name, value))
}

#[pymethods]
impl PyVoxelizer {
    #[new]
    #[pyo3(signature = (resolution=None, *, res=None, voxel_size=None, height=None, width=None, length=None,
        bounds=None, pad=0, cube=None, dims=None, scale=None, rotate=None, center=false,
        mode="surface", fill="auto", include_surface=false, strict=Strict::Off, up="y",
        color=ColorSource::Mesh, keep_transparent=false,
        interior_color=None, filter="auto", blend="all", attributes=None, tile=None, lattice=None,
        backend="auto",
        adapter=None, threads=None, memory=None, time_limit=None, confine=false),
        text_signature = "(resolution=None, *, res=None, voxel_size=None, height=None, width=None, \
        length=None, \
        bounds=None, pad=0, cube=None, dims=None, scale=None, rotate=None, center=False, \
        mode='surface', fill='auto', include_surface=False, strict=False, up='y', color=True, \
        keep_transparent=False, \
        interior_color=None, filter='auto', blend='all', attributes=None, tile=None, lattice=None, \
        backend='auto', adapter=None, threads=None, memory=None, time_limit=None, confine=False)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        py: Python<'_>,
        resolution: Option<&Bound<'_, PyAny>>,
        res: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::voxel_size)] voxel_size: Option<f64>,
        height: Option<&Bound<'_, PyAny>>,
        width: Option<&Bound<'_, PyAny>>,
        length: Option<&Bound<'_, PyAny>>,
        bounds: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = pad_of)] pad: u32,
        cube: Option<&Bound<'_, PyAny>>,
        dims: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::scale)] scale: Option<f64>,
        rotate: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::center)] center: bool,
        #[pyo3(from_py_with = named::mode)] mode: &str,
        #[pyo3(from_py_with = named::fill)] fill: &str,
        #[pyo3(from_py_with = named::include_surface)] include_surface: bool,
        #[pyo3(from_py_with = named::strict)] strict: Strict,
        #[pyo3(from_py_with = named::up)] up: &str,
        #[pyo3(from_py_with = color_of)] color: ColorSource,
        #[pyo3(from_py_with = named::keep_transparent)] keep_transparent: bool,
        interior_color: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::filter)] filter: &str,
        #[pyo3(from_py_with = named::blend)] blend: &str,
        attributes: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = tile_of)] tile: Option<Tile>,
        lattice: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::backend)] backend: &str,
        #[pyo3(from_py_with = named::adapter)] adapter: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::time_limit)] time_limit: Option<f64>,
        #[pyo3(from_py_with = named::confine)] confine: bool,
    ) -> PyResult<Self> {
        let refuse = |message: &str| Err(option_error("option.combination", message));
        let most = if tile.is_some() { MAX_SPAN_VOXELS } else { MAX_DIM };
        let up_of: Up = parsed(up)?;
        let voxels = |name: &str, given: Option<&Bound<'_, PyAny>>| {
            given.map(|given| whole(name, given, 1..=most)).transpose()
        };
        if resolution.is_some() && res.is_some() {
            return refuse("give resolution or res, not both: they are the same");
        }
        let resolution = voxels("resolution", resolution)?.or(voxels("res", res)?);
        let along = [voxels("height", height)?, voxels("width", width)?, voxels("length", length)?];
        let bounds = bounds.map(bounds_of).transpose()?;
        let cube = cube.map(|cube| whole("cube", cube, 1..=MAX_DIM)).transpose()?;
        let dims = dims.map(|dims| wholes::<_, 3>("dims", dims, 1..=MAX_DIM)).transpose()?;
        let rotate = rotate.map(texts).transpose()?.unwrap_or_default();
        let threads = threads.map(threads_of).transpose()?;
        let interior_color = interior_color.map(|rgb| wholes("interior_color", rgb, 0..=u8::MAX));
        let interior_color = interior_color.transpose()?;
        let attributes = attributes.map(attributes_of).transpose()?.unwrap_or_default();
        if cube.is_some() && dims.is_some() {
            return refuse("give cube or dims, not both");
        }
        let grid = dims.or(cube.map(|n| [n; 3]));
        if grid.is_some() && (bounds.is_some() || pad > 0) {
            return refuse(
                "cube and dims place the grid around the mesh: leave bounds and pad out",
            );
        }
        let mut transform = transform_of(scale, &rotate, center)?;
        let sizes = [resolution.map(Sizing::Resolution), voxel_size.map(Sizing::VoxelSize)];
        let sizes = sizes.into_iter().chain(up_of.sizings(along));
        let names = ["resolution", "voxel_size", "height", "width", "length"];
        let given = sizes.zip(names).filter_map(|(sizing, name)| Some((sizing?, name)));
        let given: Vec<(Sizing, &str)> = given.collect();
        if let [(_, one), (_, other), ..] = given[..] {
            return refuse(&format!("give {one} or {other}, not both"));
        }
        if grid.is_some() && along != [None; 3] {
            return refuse(
                "height, width and length are of the grid, as cube and dims are: leave one out",
            );
        }
        let sizing = given.first().map(|&(sizing, _)| sizing);
        let (has_size, fills) = (sizing.is_some() || grid.is_some(), sizing.is_none());
        transform.grid = grid.map(|dims| CenteredGrid { dims, fills });
        let sizing = sizing.unwrap_or(Sizing::Resolution(Sizing::DEFAULT_RESOLUTION));
        let mode_of = parse_mode(mode, fill, include_surface)?;
        let choice = parsed(backend)?;
        if backend == "cpu" && adapter.is_some() {
            return refuse("adapter names a GPU, and backend='cpu' uses none: leave one out");
        }
        for (option, is_given) in
            [("interior_color", interior_color.is_some()), ("strict", strict != Strict::Off)]
        {
            if is_given && mode != "solid" {
                return refuse(&format!("{option} is of solids: give mode='solid'"));
            }
        }
        if keep_transparent && mode == "solid" {
            return refuse("keep_transparent is of surfaces: a solid keeps all its voxels");
        }
        for (option, is_given) in [("filter", filter != "auto"), ("blend", blend != "all")] {
            if is_given && color == ColorSource::None {
                return refuse(&format!("{option} is of colours, which color=False ignores"));
            }
        }
        if lattice.is_some() && (has_size || bounds.is_some() || pad > 0) {
            return refuse("lattice is the size and the place of the grid: leave the others out");
        }
        let lattice_of = lattice.map(lattice_of).transpose()?;
        let memory = memory.map(parse_memory).transpose()?;
        let time = time_limit.map(seconds).transpose()?;
        let mut place = PlaceOptions::new(sizing).with_pad(pad);
        if let Some(bounds) = bounds {
            place = place.with_bounds(bounds);
        }
        let (filter_of, blend_of) = (parsed(filter)?, parsed(blend)?);
        let options = PyDict::new(py);
        let resolution = match sizing {
            Sizing::Resolution(n) if lattice.is_none() && !(grid.is_some() && fills) => Some(n),
            _ => None,
        };
        set(&options, "voxel_size", voxel_size)?;
        set(&options, "resolution", resolution)?;
        let [height, width, length] = along;
        set(&options, "height", height)?;
        set(&options, "width", width)?;
        set(&options, "length", length)?;
        set(&options, "bounds", bounds.map(|Bounds { min, max }| [min, max]))?;
        set(&options, "cube", cube)?;
        set(&options, "dims", dims)?;
        set(&options, "scale", scale)?;
        set(&options, "rotate", (!rotate.is_empty()).then_some(rotate))?;
        set(&options, "pad", (pad > 0).then_some(pad))?;
        set(&options, "mode", (mode != "surface").then_some(mode))?;
        set(&options, "fill", (fill != "auto").then_some(fill))?;
        set(&options, "up", (up != "y").then_some(up))?;
        set(&options, "backend", (backend != "auto").then_some(backend))?;
        set(&options, "center", center.then_some(true))?;
        set(&options, "include_surface", include_surface.then_some(true))?;
        set(&options, "strict", (strict != Strict::Off).then_some(strict))?;
        set(&options, "keep_transparent", keep_transparent.then_some(true))?;
        match color {
            ColorSource::Mesh => {}
            ColorSource::Uniform([r, g, b, _]) => options.set_item("color", (r, g, b))?,
            _ => options.set_item("color", false)?,
        }
        set(&options, "lattice", lattice.map(deep_copy).transpose()?)?;
        set(&options, "filter", (filter != "auto").then_some(filter))?;
        set(&options, "blend", (blend != "all").then_some(blend))?;
        set(&options, "interior_color", interior_color.map(|rgb| rgb.map(u32::from)))?;
        let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name()).collect();
        set(&options, "attributes", (!names.is_empty()).then_some(names))?;
        set(&options, "tile", tile.map(|tile| tile.to_string()))?;
        set(&options, "adapter", adapter)?;
        set(&options, "threads", threads)?;
        set(&options, "memory", memory)?;
        set(&options, "time_limit", time_limit)?;
        set(&options, "confine", confine.then_some(true))?;
        let mut voxelizer = Voxelizer::new()
            .place_options(place)
            .transform(transform)
            .up(up_of)
            .mode(mode_of)
            .color(color)
            .keep_transparent(keep_transparent)
            .confined(confine)
            .filter(filter_of)
            .blend(blend_of)
            .attributes(attributes.iter().copied());
        if let Some(tile) = tile {
            voxelizer = voxelizer.tile(tile);
        }
        if let Some(lattice) = lattice_of {
            voxelizer = voxelizer.lattice(lattice);
        }
        if let Some([r, g, b]) = interior_color {
            voxelizer = voxelizer.interior_color([r, g, b, u8::MAX]);
        }
        voxelizer = match memory {
            Some(bytes) => voxelizer.memory(bytes),
            None => voxelizer.memory_from(trivox::base::memory::left),
        };
        // What no mesh can change is refused now.
        let check = || voxelizer.check().map_err(|error| Failure::own("option.place", error));
        job::try_on_pool(py, check)?;
        let of_voxels = [
            ("mode=\"thin\"", mode_of == Mode::Thin),
            ("include_surface", include_surface),
            ("interior_color", interior_color.is_some()),
            ("filter", filter_of != FilterChoice::Auto),
            ("blend", blend_of != Blend::All),
            ("attributes", !attributes.is_empty()),
            ("color", matches!(color, ColorSource::Uniform(_))),
        ];
        let given = of_voxels.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name);
        let given = given.collect::<Vec<_>>().join(", ");
        let sentence = || format!("options without effect on distances: {given}");
        let without_effect_on_distances = (!given.is_empty()).then(sentence);
        let plan = Plan {
            voxelizer,
            choice,
            adapter: adapter.map(str::to_owned),
            threads,
            time_limit: time,
            strict,
            without_effect_on_distances,
        };
        Ok(Self { plan, options: options.unbind() })
    }

    /// Voxelizes a mesh; ``vox(mesh)`` is the same.
    ///
    /// Parameters
    /// ----------
    /// mesh : Mesh, str, os.PathLike, or a mesh of trimesh, Open3D, PyVista or meshio
    ///     A path is read with the files that it names. With `faces`, the vertices, as of `Mesh`.
    /// faces : array_like of int, shape (m, 3), optional
    ///     Vertex numbers of each triangle, from 0: ``vox(vertices, faces)``.
    /// progress : callable, optional
    ///     Called now and then, in this thread, as ``progress(step, done, total)``; total is 0
    ///     where it is not known. What it raises ends the run. See ``trivox.progress_bar``.
    ///
    /// Returns
    /// -------
    /// Grid
    ///
    /// Raises
    /// ------
    /// FileNotFoundError, ReadError, MeshError, PlaceError, BackendError, DoubtfulError,
    /// MemoryLimitError, TimeLimitError
    ///     See there; KeyboardInterrupt ends the run within a tenth of a second.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     Something that the caller might not expect: see ``grid.warnings``.
    #[pyo3(signature = (mesh, faces=None, *, progress=None))]
    fn voxelize(
        &self,
        mesh: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyGrid> {
        let py = mesh.py();
        let source = Source::of_parts(mesh, faces)?;
        let (name, path) = (source.name(), source.path());
        let made = self.plan.run(py, source, progress, |plan, voxelizer, mesh| {
            plan.grid_of(voxelizer.run(mesh)?)
        })?;
        glue::warn(py, path.as_deref(), &made.warnings)?;
        glue::log_done(py, &name, &made.report)?;
        Ok(made)
    }

    /// As `voxelize`.
    #[pyo3(signature = (mesh, faces=None, *, progress=None))]
    fn __call__(
        &self,
        mesh: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyGrid> {
        self.voxelize(mesh, faces, progress)
    }

    /// Signed distances from voxel centres to the surface, in a narrow band around it.
    ///
    /// The inside is that of ``mode="solid"``, by this voxelizer's `fill` if that is its mode.
    /// Without `bounds`, `cube` or `dims` the grid is padded by the width, so that the band is
    /// whole.
    ///
    /// Parameters
    /// ----------
    /// mesh, faces
    ///     As in `voxelize`.
    /// width : float, default 3.0
    ///     The voxels nearer than this, in voxels, have a distance; at most 1024.
    /// progress : callable, optional
    ///     As in `voxelize`.
    ///
    /// Returns
    /// -------
    /// DistanceField
    ///
    /// Raises
    /// ------
    /// OptionError
    ///     A width that is not possible.
    /// FileNotFoundError, ReadError, MeshError, PlaceError, BackendError, DoubtfulError,
    /// MemoryLimitError, TimeLimitError
    ///     As `voxelize`.
    ///
    /// Warns
    /// -----
    /// TrivoxWarning
    ///     Something that the caller might not expect, such as a doubtful inside, or an option of
    ///     this voxelizer that has no effect on distances.
    #[pyo3(signature = (mesh, faces=None, *, width=3.0, progress=None))]
    fn distances(
        &self,
        mesh: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::width)] width: f32,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyDistanceField> {
        let py = mesh.py();
        check_width(width).map_err(Failure::from)?;
        if let Some(number) = faces.filter(|faces| faces.extract::<f64>().is_ok()) {
            let message = format!("faces is an array, not {number}: give width={number} by name");
            return Err(PyTypeError::new_err(message));
        }
        let source = Source::of_parts(mesh, faces)?;
        let (name, path) = (source.name(), source.path());
        let found = self.plan.run(py, source, progress, move |plan, voxelizer, mesh| {
            plan.field_of(voxelizer.distances(mesh, width)?)
        })?;
        glue::warn(py, path.as_deref(), &found.warnings)?;
        glue::log_done(py, &name, &found.report)?;
        Ok(found)
    }

    /// Voxelizes many meshes, several at once.
    ///
    /// Parameters
    /// ----------
    /// items : iterable
    ///     Of what `voxelize` takes, of pairs (vertices, faces), or of pairs (key, mesh); taken as
    ///     results are asked for, a few ahead.
    /// on_error : {"return", "raise", "skip"}, default "return"
    ///     What becomes of an item that fails: it has the exception as its result, or the exception
    ///     is raised in its turn, or it is left out and logged.
    ///
    /// Returns
    /// -------
    /// iterator of (key, Grid or Exception)
    ///     In the order of `items`. The key is the one given, else the path, else the item's
    ///     number. Warnings are in ``grid.warnings`` alone.
    #[pyo3(signature = (items, *, on_error="return"))]
    fn many(
        &self,
        items: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = named::on_error)] on_error: &str,
    ) -> PyResult<Batch> {
        Batch::new(&self.plan, items, parse_on_error(on_error)?, None)
    }

    /// The distances of many meshes, several at once: as `many`, but of `distances`.
    ///
    /// Parameters
    /// ----------
    /// items, on_error
    ///     As in `many`.
    /// width : float, default 3.0
    ///     As in `distances`.
    ///
    /// Returns
    /// -------
    /// iterator of (key, DistanceField or Exception)
    ///     As of `many`.
    #[pyo3(signature = (items, width=3.0, *, on_error="return"))]
    fn many_distances(
        &self,
        items: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = named::width)] width: f32,
        #[pyo3(from_py_with = named::on_error)] on_error: &str,
    ) -> PyResult<Batch> {
        check_width(width).map_err(Failure::from)?;
        Batch::new(&self.plan, items, parse_on_error(on_error)?, Some(width))
    }

    /// What voxelizing a mesh is likely to take; the mesh is placed, and its triangles are sampled.
    ///
    /// Parameters
    /// ----------
    /// mesh, faces
    ///     As in `voxelize`.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``dims``: voxels along each axis; ``brick_pairs``: (triangle, brick) pairs, the measure
    ///     of the work; ``core_seconds``: of one CPU core for the surface, within a factor of about
    ///     four (a solid takes up to ten times as long);
    ///     ``memory``: bytes for the mesh and the grid's surface.
    #[pyo3(signature = (mesh, faces=None))]
    fn estimate<'py>(
        &self,
        mesh: &Bound<'py, PyAny>,
        faces: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = mesh.py();
        let source = Source::of_parts(mesh, faces)?;
        let estimate =
            self.plan.run(py, source, None, |_, voxelizer, mesh| Ok(voxelizer.estimate(mesh)?))?;
        let fields = PyDict::new(py);
        fields.set_item("dims", estimate.dims)?;
        fields.set_item("brick_pairs", estimate.brick_pairs)?;
        fields.set_item("core_seconds", estimate.core_seconds)?;
        fields.set_item("memory", estimate.memory)?;
        Ok(fields)
    }

    /// The options that were given, as a dict; ``Voxelizer(**options)`` is an equal voxelizer.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(deep_copy(self.options.bind(py))?.cast_into()?)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Self>() {
            Ok(other) => self.options.bind(py).eq(other.get().options.bind(py)),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        // Equal lattices may be written differently.
        let options = self.options.bind(py).copy()?;
        if options.contains("lattice")? {
            options.del_item("lattice")?;
        }
        options.repr()?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        for (name, value) in self.options.bind(py) {
            parts.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("trivox.Voxelizer({})", parts.join(", ")))
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.options(py)?))
    }
}

/// A copy that shares no lists or dicts with `value`.
fn deep_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    PyModule::import(value.py(), "copy")?.call_method1("deepcopy", (value,))
}
