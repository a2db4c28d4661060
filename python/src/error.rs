//! The library's errors as Python exceptions. Classes are defined in Python, so that they can be
//! pickled and can have a built-in class besides `TrivoxError` as their base.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use trivox::base::numbers::binary_bytes_apart;
use trivox::formats::{ReadError, WriteError};
use trivox::view::render::RenderError;
use trivox::{BackendError, ErrorCode, GridError, MeshError, ProximityError, VoxelizeError};

/// An error while detached from the interpreter.
#[derive(Debug)]
pub enum Failure {
    /// An exception of this package.
    Own { code: &'static str, message: String, path: Option<PathBuf> },
    /// A solid that a strict voxelizer refuses: its report (JSON) and its warnings.
    Doubtful { message: String, report: String, warnings: Vec<String>, path: Option<PathBuf> },
    /// The operating system's.
    Io { error: io::Error, path: Option<PathBuf> },
    /// The caller asked to stop, and is told why by whoever asked.
    Cancelled,
}

impl Failure {
    pub fn own(code: &'static str, message: impl ToString) -> Self {
        Self::Own { code, message: message.to_string(), path: None }
    }

    /// An error of the library, which is not one of the operating system.
    fn of(error: impl ErrorCode) -> Self {
        match error.code() {
            "cancelled" => Self::Cancelled,
            code => Self::own(code, error),
        }
    }

    pub fn bug(message: impl ToString) -> Self {
        Self::own("bug", format!("{}: this is a bug in trivox", message.to_string()))
    }

    /// The same error, of `file`.
    pub fn at(mut self, file: &Path) -> Self {
        match &mut self {
            Self::Own { path, .. } | Self::Doubtful { path, .. } | Self::Io { path, .. } => {
                *path = Some(file.to_owned());
            }
            Self::Cancelled => {}
        }
        self
    }

    fn into_py(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Own { code, message, path } => {
                let path = path.map(|path| path.to_string_lossy().into_owned());
                raised(py, class_of(code), (message, code, path))
            }
            Self::Doubtful { message, report, warnings, path } => {
                let path = path.map(|path| path.to_string_lossy().into_owned());
                raised(py, "DoubtfulError", (message, DOUBTFUL, path, report, warnings))
            }
            Self::Io { error, .. } if error.kind() == io::ErrorKind::OutOfMemory => {
                let message = "there is too little memory for the bytes of the file";
                Self::own("memory", message).into_py(py)
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
            Self::Cancelled => Self::bug("cancelled without a reason").into_py(py),
        }
    }
}

/// Checks that there is memory for `count` items of so many bytes each: an allocation that fails
/// would end the process.
///
/// # Errors
/// There is too little.
pub fn check_memory(count: usize, each: usize) -> Result<(), Failure> {
    /// Bytes that are allowed without a measurement.
    const SMALL: u64 = 1 << 20;
    let needed = count as u64 * each as u64;
    if needed <= SMALL { Ok(()) } else { check_left(needed, "the arrays need", "give fewer rows") }
}

/// Checks that there is memory for so many bytes; the error is a sentence of `need`, both amounts
/// and `advice`.
///
/// # Errors
/// There is too little.
pub fn check_left(bytes: u64, need: &str, advice: &str) -> Result<(), Failure> {
    let left = trivox::base::memory::left();
    if bytes <= left {
        return Ok(());
    }
    let [bytes, left] = binary_bytes_apart([bytes, left]);
    let message = format!("{need} {bytes}, and there is memory for {left}: {advice}");
    Err(Failure::own("memory", message))
}

/// The code of a solid that a strict caller refuses.
const DOUBTFUL: &str = "solid.doubtful";

/// An exception of `trivox._errors`.
fn raised<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let module = PyModule::import(py, "trivox._errors");
    let made = module.and_then(|module| module.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The name of the exception for errors of a code.
fn class_of(code: &str) -> &'static str {
    match code.split('.').next() {
        Some("backend") => "BackendError",
        Some("bug") => "InternalError",
        Some("grid" | "option") => "OptionError",
        Some("memory") => "MemoryLimitError",
        Some("mesh") => "MeshError",
        Some("place") => "PlaceError",
        Some("read") => "ReadError",
        Some("time_limit") => "TimeLimitError",
        Some("write") => "WriteError",
        _ => "TrivoxError",
    }
}

/// An exception about an option.
pub fn option_error(code: &'static str, message: impl ToString) -> PyErr {
    Failure::own(code, message).into()
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| failure.into_py(py))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io { error, path: None }
    }
}

/// Converts errors of the library. After `::` is the name of a variant that wraps another error,
/// which has a conversion of its own.
macro_rules! from_library {
    ($($error:ident $(:: $variant:ident)?),+) => {
        $(
            impl From<$error> for Failure {
                fn from(error: $error) -> Self {
                    $(
                        if let $error::$variant(error) = error {
                            return error.into();
                        }
                    )?
                    Self::of(error)
                }
            }
        )+
    };
}

from_library!(
    BackendError,
    GridError,
    MeshError,
    ProximityError,
    ReadError::Io,
    RenderError,
    VoxelizeError::Read,
    WriteError::Io
);
