//! What is easier said in Python: other packages' meshes, `warnings` and `logging`.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// `trivox._glue`.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    PyModule::import(py, "trivox._glue")
}

/// `bytes` in an object.
///
/// # Errors
/// There is too little memory.
pub fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |object| {
        object.copy_from_slice(bytes);
        Ok(())
    })
}

/// `error` of a part of a scene, with the name of the part before its message.
pub fn of_part(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let named = module(py).and_then(|glue| glue.call_method1("of_part", (name, error.value(py))));
    named.map_or_else(|error| error, PyErr::from_value)
}

/// Issues each sentence as a `TrivoxWarning` of the calling line of Python, with the path of the
/// file that it is about.
///
/// # Errors
/// The caller turned warnings into exceptions.
pub fn warn(py: Python<'_>, path: Option<&Path>, warnings: &[String]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let named = |warning: &String| match path {
        Some(path) => format!("{}: {warning}", path.display()),
        None => warning.clone(),
    };
    let warnings: Vec<String> = warnings.iter().map(named).collect();
    module(py)?.call_method1("warn", (warnings,)).map(|_| ())
}

/// Logs what became of a mesh: to `trivox`, at level `debug`.
///
/// # Errors
/// A handler failed.
pub fn log_done(py: Python<'_>, name: &str, report: &str) -> PyResult<()> {
    module(py)?.call_method1("log_done", (name, report)).map(|_| ())
}

/// Logs an item of a batch that has no voxels: to `trivox`, at level `warning`.
///
/// # Errors
/// A handler failed.
pub fn log_failed(py: Python<'_>, name: &Bound<'_, PyAny>, error: &PyErr) -> PyResult<()> {
    module(py)?.call_method1("log_failed", (name, error.value(py))).map(|_| ())
}
