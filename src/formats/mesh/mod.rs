//! The readers of meshes: OBJ, STL, PLY, OFF and glTF.

mod flat_colors;
pub(super) mod gltf;
pub(super) mod obj;
pub(super) mod off;
pub(super) mod ply;
mod polygons;
pub(super) mod sidecars;
pub(super) mod stl;
mod textures;
