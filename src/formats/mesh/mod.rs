//! The readers of meshes: OBJ, STL, PLY, OFF, glTF and 3MF.

mod flat_colors;
pub(super) mod gltf;
pub(super) mod obj;
pub(super) mod off;
mod out_of_range;
pub(super) mod ply;
mod polygons;
pub(super) mod sidecars;
pub(super) mod stl;
mod textures;
pub(super) mod threemf;
mod transform;
