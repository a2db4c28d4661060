//! Reads and writes grids as files.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use trivox::formats::{
    GridFormat, LoadedGrid, ReadOptions, Reporting, WriteError, is_mesh, read_grid_from,
    read_grid_with, temporary,
};

use crate::error::{Failure, check_left};
use crate::glue;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::options::{named, wrong_type};

pub fn grid_format(name: &str) -> Result<GridFormat, Failure> {
    Ok(GridFormat::of_extension(name)?)
}

/// # Errors
/// Bytes of this size, if it is known, are more than there is memory for.
pub fn check_room(size: Option<u64>) -> Result<(), Failure> {
    let advice = "use a sparse format such as 'bricks' or 'vdb', or a lower resolution";
    size.map_or(Ok(()), |size| check_left(size, "the bytes would be at least", advice))
}

/// A copy of the bytes of an object with a buffer.
///
/// # Errors
/// It has no buffer.
pub fn bytes_in(data: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let view = PyMemoryView::from(data).map_err(|_| wrong_type("data", data, "bytes"))?;
    view.call_method0("tobytes")?.extract()
}

/// The bytes that `write` writes.
///
/// # Errors
/// Errors of `write`; an I/O error if there is too little memory.
pub fn bytes_of(
    job: &Job,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Bytes(Vec::new());
    write(&mut Reporting::new(&mut bytes, job))?;
    Ok(bytes.0)
}

/// Bytes in memory; where there is too little, an error instead of the process's end.
struct Bytes(Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(buffer.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes this process's temporary files when the interpreter exits: a save that Ctrl-C cancelled
/// may still run then.
#[pyfunction]
#[pyo3(name = "_remove_temporary_files")]
pub fn remove_temporary_files(py: Python<'_>) {
    py.detach(|| drop(temporary::remove_temporary_files()));
}

/// Makes a grid of what pickling wrote.
#[pyfunction]
#[pyo3(name = "_restore_grid")]
pub fn restore_grid(
    py: Python<'_>,
    mut bytes: &[u8],
    report: String,
    warnings: Vec<String>,
) -> PyResult<PyGrid> {
    job::try_on_pool(py, || {
        let format = if bytes.starts_with(b"PK") { GridFormat::Npz } else { GridFormat::Bricks };
        read_grid_from(&mut bytes, format, &ReadOptions::default())
            .map(|l| PyGrid::new(l.grid, report, warnings))
    })
}

/// Reads a grid of voxels.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///     A file with an extension of ``trivox.GRID_FORMATS`` that is read: .bricks, .npz, .npy, .vox,
///     .vti, .vdb, .nvdb, .binvox and others.
///
/// Returns
/// -------
/// Grid
///
/// Raises
/// ------
/// FileNotFoundError
///     With the file's name.
/// ReadError
///     A file that is malformed, or of a format that is not read.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyGrid> {
    let (grid, warnings) = read(py, path.clone())?.into_grid();
    glue::warn(py, Some(&path), &warnings)?;
    PyGrid::restored(py, grid, warnings)
}

/// The grid in the file at `path`.
pub fn read(py: Python<'_>, path: PathBuf) -> PyResult<LoadedGrid> {
    job::run(py, move |job| {
        let read = read_grid_with(&path, &ReadOptions::default(), &**job);
        read.map_err(|error| Failure::from(error).at(&path))
    })
}

/// Reads a grid of voxels from the bytes of a file.
///
/// Parameters
/// ----------
/// data : bytes-like
/// format : str
///     Their format, such as ``"bricks"`` or ``"npz"``.
///
/// Returns
/// -------
/// Grid
///
/// Raises
/// ------
/// ReadError
///     The bytes are malformed, or of a format that is not read.
#[pyfunction]
pub fn load_bytes(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = named::format)] format: &str,
) -> PyResult<PyGrid> {
    let data = bytes_in(data)?;
    let extension = format.trim_start_matches('.');
    if is_mesh(Path::new(&format!("mesh.{extension}"))) {
        let message = format!(
            ".{extension} is a format of meshes, and not of grids of voxels: voxelize \
             trivox.read_mesh(data, format)"
        );
        return Err(Failure::own("read.unsupported", message).into());
    }
    let format = GridFormat::of_extension(format)
        .map_err(|error| Failure::own("read.unsupported", error))?;
    let loaded = job::run(py, move |job| {
        let mut data = BufReader::new(Reporting::new(&data[..], &**job));
        Ok(read_grid_from(&mut data, format, &ReadOptions::default())?)
    })?;
    let (grid, warnings) = loaded.into_grid();
    glue::warn(py, None, &warnings)?;
    PyGrid::restored(py, grid, warnings)
}
