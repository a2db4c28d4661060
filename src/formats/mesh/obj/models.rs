//! `Mesh` from the models that `tobj` has read, with the feature `tobj`.

use crate::formats::mesh::polygons::Triangulator;
use crate::mesh::{Mesh, MeshError};

/// The triangles of all models, polygons triangulated as in files; without materials.
///
/// # Errors
/// Those of [`Mesh::new`].
impl TryFrom<&[tobj::Model]> for Mesh {
    type Error = MeshError;

    fn try_from(models: &[tobj::Model]) -> Result<Self, MeshError> {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        let mut triangulator = Triangulator::default();
        for mesh in models.iter().map(|model| &model.mesh) {
            // Past 32 bits, `Mesh::new` fails.
            let first = positions.len() as u32;
            let (own, _) = mesh.positions.as_chunks::<3>();
            positions.extend(own.iter().map(|position| position.map(f64::from)));
            let mut rest = &mesh.indices[..];
            let arities = mesh.face_arities.iter().map(|&arity| arity as usize);
            for arity in arities.chain(std::iter::repeat(3)) {
                let Some((face, after)) = rest.split_at_checked(arity.max(1)) else { break };
                rest = after;
                let vertices: Vec<u32> =
                    face.iter().map(|&vertex| first.saturating_add(vertex)).collect();
                // An index out of range is in a triangle too, and an error of `Mesh::new`.
                let place = |corner: usize| positions.get(vertices[corner] as usize).copied();
                let corners =
                    triangulator.face(vertices.len(), |corner| place(corner).unwrap_or_default());
                triangles.extend(corners.iter().map(|t| t.map(|i| vertices[i as usize])));
            }
        }
        Self::new(positions, triangles)
    }
}
