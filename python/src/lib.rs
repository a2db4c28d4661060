//! Python bindings of trivox. The package `trivox` re-exports what is here; documentation comments
//! are its docstrings (NumPy style).

mod batch;
mod core;
mod distance;
mod error;
mod glue;
mod grid;
mod job;
mod mesh;
mod options;
mod proximity;
mod results;
mod voxelizer;

#[pyo3::pymodule]
mod _trivox {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::distance::{PyDistanceField, load_distances, restore_field};
    #[pymodule_export]
    use crate::grid::PyGrid;
    #[pymodule_export]
    use crate::grid::files::{load, load_bytes, remove_temporary_files, restore_grid};
    #[pymodule_export]
    use crate::mesh::{PyMesh, missing_sidecars, read_files, read_mesh, restore_mesh};
    #[pymodule_export]
    use crate::proximity::PyProximity;
    #[pymodule_export]
    use crate::results::{adapters, diff, grid_formats, join, mesh_formats, verify};
    #[pymodule_export]
    use crate::voxelizer::PyVoxelizer;
}
