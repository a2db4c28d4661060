//! The library's errors as Python exceptions. Classes are defined in Python, so that they can be
//! pickled and can have a built-in class besides `TrivoxError` as their base.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use trivox::formats::{ReadError, UnknownFormat, WriteError};
use trivox::render::RenderError;
use trivox::transform::TransformError;
use trivox::verify::VerifyError;
use trivox::{BackendError, GpuError, GridError, MeshError, PlaceError, VoxelizeError};

/// An error while detached from the interpreter.
#[derive(Debug)]
pub enum Failure {
    /// An exception of this package.
    Own { class: &'static str, code: &'static str, message: String, path: Option<PathBuf> },
    /// The operating system's.
    Io { error: io::Error, path: Option<PathBuf> },
    /// An exception that a caller's function raised.
    Python(PyErr),
    /// The caller asked to stop, and is told why by whoever asked.
    Cancelled,
}

impl Failure {
    pub fn own(class: &'static str, code: &'static str, message: impl ToString) -> Self {
        Self::Own { class, code, message: message.to_string(), path: None }
    }

    pub fn option(code: &'static str, message: impl ToString) -> Self {
        Self::own("OptionError", code, message)
    }

    pub fn bug(message: impl ToString) -> Self {
        let message = format!("{}: this is a bug in trivox", message.to_string());
        Self::own("InternalError", "bug", message)
    }

    /// The same of the file at `path`.
    pub fn at(self, path: &Path) -> Self {
        let named = Some(path.to_owned());
        match self {
            Self::Own { class, code, message, .. } => {
                Self::Own { class, code, message, path: named }
            }
            Self::Io { error, .. } => Self::Io { error, path: named },
            other => other,
        }
    }

    pub fn into_py(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Own { class, code, message, path } => {
                let path = path.map(|path| path.to_string_lossy().into_owned());
                let made = errors(py)
                    .and_then(|module| module.getattr(class))
                    .and_then(|class| class.call1((message, code, path)));
                made.map_or_else(|error| error, |value| PyErr::from_value(value))
            }
            Self::Io { error, .. } if error.kind() == io::ErrorKind::OutOfMemory => {
                PyMemoryError::new_err("there is too little memory for the bytes of the file")
            }
            Self::Io { error, path: None } => error.into(),
            Self::Io { error, path: Some(path) } => {
                let name = path.into_os_string();
                // The built-in constructor chooses FileNotFoundError and the like by the number.
                let number = error.raw_os_error().or(match error.kind() {
                    io::ErrorKind::NotFound => Some(2),
                    io::ErrorKind::PermissionDenied => Some(13),
                    _ => None,
                });
                match number {
                    Some(number) => {
                        let text = io::Error::from_raw_os_error(number).to_string();
                        let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                        PyErr::new::<PyOSError, _>((number, text, name))
                    }
                    None => PyOSError::new_err(format!("{}: {error}", name.display())),
                }
            }
            Self::Python(error) => error,
            Self::Cancelled => Self::bug("cancelled without a reason").into_py(py),
        }
    }
}

/// `trivox._errors`.
pub fn errors(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || PyModule::import(py, "trivox._errors").map(Bound::unbind))?;
    Ok(module.bind(py).clone())
}

/// An exception about an option, while attached.
pub fn option_error(py: Python<'_>, code: &'static str, message: impl ToString) -> PyErr {
    Failure::option(code, message).into_py(py)
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io { error, path: None }
    }
}

impl From<MeshError> for Failure {
    fn from(error: MeshError) -> Self {
        let code = match &error {
            MeshError::NoTriangles => "mesh.no_triangles",
            MeshError::IndexOutOfRange { .. } => "mesh.index_out_of_range",
            MeshError::NotFinite { .. } => "mesh.not_finite",
            MeshError::TooLarge { .. } => "mesh.too_large",
            MeshError::Appearance(_) => "mesh.appearance",
            _ => "mesh",
        };
        Self::own("MeshError", code, error)
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        let code = match &error {
            PlaceError::Resolution(_) => "place.resolution",
            PlaceError::VoxelSize(_) => "place.voxel_size",
            PlaceError::Bounds { .. } => "place.bounds",
            PlaceError::NoExtent(_) => "place.no_extent",
            PlaceError::ExtentRange { .. } => "place.extent_range",
            PlaceError::TooManyVoxels { .. } => "place.too_many_voxels",
            PlaceError::TooFar { .. } => "place.too_far",
            PlaceError::Lattice(_) => "place.lattice",
            PlaceError::Tile(_) => "place.tile",
            _ => "place",
        };
        Self::own("PlaceError", code, error)
    }
}

impl From<GridError> for Failure {
    fn from(error: GridError) -> Self {
        let code = match &error {
            GridError::Dims(_) => "grid.dims",
            GridError::Outside { .. } => "grid.outside",
            GridError::Tile { .. } | GridError::Overlap { .. } => "grid.tile",
            GridError::NoTiles => "grid.no_tiles",
            GridError::SomeColors => "grid.some_colors",
            GridError::NoPlace => "grid.no_place",
            GridError::OtherLattice => "grid.other_lattice",
            _ => "grid",
        };
        Self::option(code, error)
    }
}

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        let code = match &error {
            BackendError::Memory { .. } => {
                return Self::own("MemoryLimitError", "memory", error);
            }
            BackendError::Cancelled => return Self::Cancelled,
            BackendError::Gpu(error) => return error.into(),
            BackendError::Failed(_) => "backend.failed",
            BackendError::NotInTiles(_) => "backend.not_in_tiles",
            BackendError::Width { .. } => return Self::option("option.width", error),
            BackendError::VoteTooLarge => "backend.vote_too_large",
            BackendError::Threads { .. } => "backend.threads",
            BackendError::Grid(_) => return Self::own("InternalError", "bug", error),
            _ => "backend",
        };
        Self::own("BackendError", code, error)
    }
}

impl From<&GpuError> for Failure {
    fn from(error: &GpuError) -> Self {
        let code = match error {
            GpuError::NoAdapter(_) => "backend.no_adapter",
            GpuError::Unsuitable { .. } => "backend.unsuitable",
            GpuError::Device(_) => "backend.device",
            GpuError::TooLarge { .. } => "backend.too_large",
            _ => "backend",
        };
        Self::own("BackendError", code, error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let code = match error {
            ReadError::Io(error) => return error.into(),
            ReadError::Mesh(error) => return error.into(),
            ReadError::Memory { .. } => return Self::own("MemoryLimitError", "memory", error),
            ReadError::Line { .. } => "read.line",
            ReadError::Content(_) => "read.content",
            ReadError::Grid(_) => "read.grid",
            ReadError::Unsupported(_) => "read.unsupported",
            _ => "read",
        };
        Self::own("ReadError", code, error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => error.into(),
            other => Self::own("WriteError", "write.unsupported", other),
        }
    }
}

impl From<UnknownFormat> for Failure {
    fn from(error: UnknownFormat) -> Self {
        Self::own("WriteError", "write.unsupported", error)
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Gpu(error) => (&error).into(),
            RenderError::Cancelled => Self::Cancelled,
            other => Self::option("option.render", other),
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Backend(error) => error.into(),
            other => Self::own("PlaceError", "place.verify", other),
        }
    }
}

impl From<VoxelizeError> for Failure {
    fn from(error: VoxelizeError) -> Self {
        match error {
            VoxelizeError::Read(error) => error.into(),
            VoxelizeError::Transform(TransformError::Mesh(error)) => error.into(),
            VoxelizeError::Transform(error) => Self::own("PlaceError", "place.scale", error),
            VoxelizeError::Place(error) => error.into(),
            VoxelizeError::Backend(error) => error.into(),
            other => Self::own("TrivoxError", "trivox", other),
        }
    }
}
