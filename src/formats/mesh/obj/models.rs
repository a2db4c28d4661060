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
                let place = |&vertex: &u32| positions.get(vertex as usize).copied();
                let outline: Option<Vec<[f64; 3]>> = vertices.iter().map(place).collect();
                match (vertices.len(), outline) {
                    (..=2, _) => {}
                    (4.., Some(outline)) => {
                        let corners = triangulator.triangulate(&outline);
                        triangles.extend(corners.iter().map(|t| t.map(|i| vertices[i as usize])));
                    }
                    // An index out of range is an error of `Mesh::new`.
                    _ => triangles.extend(
                        (2..vertices.len()).map(|i| [vertices[0], vertices[i - 1], vertices[i]]),
                    ),
                }
            }
        }
        Self::new(positions, triangles)
    }
}
