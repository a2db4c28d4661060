//! The errors of all modules, each of which is declared beside what it is about.

pub use crate::grid::GridError;
pub use crate::mesh::MeshError;
pub use crate::place::PlaceError;
pub use crate::trace::RayError;
pub use crate::voxelize::BackendError;
