//! Collects the triangles and texture coordinates of all models.

use crate::formats::obj::appearance::Gathered;
use crate::formats::obj::colors::VertexColors;
use crate::formats::obj::face_materials::FaceMaterial;
use crate::formats::obj::libraries::Materials;
use crate::formats::obj::materials::Placement;
use crate::formats::polygons::Cutter;

/// The triangles of all models.
pub(super) struct Build<'a> {
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) gathered: Gathered,
    materials: &'a Materials,
    colors: Option<VertexColors>,
    pub(super) cutter: Cutter,
    /// Faces of fewer than three corners, points and lines included.
    pub(super) lean: usize,
}

/// The texture coordinates of a triangle without any.
const NO_UVS: [[f32; 2]; 3] = [[f32::NAN; 2]; 3];

/// The slot of a material index, without or with its images.
fn slot(material: u32, is_plain: bool) -> u32 {
    2 * material + u32::from(is_plain)
}

/// The material index of a slot, and whether it is without images.
pub(super) fn of_slot(slot: u32) -> (u32, bool) {
    (slot / 2, slot % 2 == 1)
}

impl<'a> Build<'a> {
    /// With capacity for all models.
    pub(super) fn for_models(
        models: &[tobj::Model],
        materials: &'a Materials,
        colors: Option<VertexColors>,
    ) -> Self {
        let vertices = models.iter().map(|model| model.mesh.positions.len() / 3).sum();
        let triangles = models.iter().map(|model| triangle_count(&model.mesh)).sum();
        let gathered = Gathered {
            slots: Vec::with_capacity(if materials.are_there { triangles } else { 0 }),
            uvs: Vec::with_capacity(if materials.have_maps { triangles } else { 0 }),
            vertex_colors: Vec::with_capacity(if colors.is_some() { vertices } else { 0 }),
        };
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(triangles),
            gathered,
            materials,
            colors,
            cutter: Cutter::default(),
            lean: 0,
        }
    }

    /// Adds a model. `face_materials` yields the material of each of its faces.
    pub(super) fn add(
        &mut self,
        model: &tobj::Mesh,
        face_materials: &mut impl Iterator<Item = FaceMaterial>,
    ) {
        // Past `u32`, `Mesh::new` fails: there are too many positions.
        let base = self.positions.len() as u32;
        let (positions, _) = model.positions.as_chunks::<3>();
        self.positions.extend_from_slice(positions);
        if let Some(meaning) = self.colors {
            let (colors, _) = model.vertex_color.as_chunks::<3>();
            self.gathered.vertex_colors.extend(colors.iter().map(|&color| meaning.linear(color)));
        }
        if model.face_arities.is_empty() && !self.materials.are_there {
            let (triangles, _) = model.indices.as_chunks::<3>();
            self.triangles.extend(triangles.iter().map(|t| t.map(|i| base.wrapping_add(i))));
            return;
        }
        let mut start = 0;
        for arity in arities(model) {
            let face = Face {
                model,
                base,
                start,
                face_material: face_materials.next().unwrap_or_default(),
            };
            match arity {
                0..=2 => self.lean += 1,
                3 => self.add_triangle(&face, [0, 1, 2]),
                _ => {
                    let indices = &model.indices[start..start + arity];
                    let corners: Vec<[f64; 3]> =
                        indices.iter().map(|&i| positions[i as usize]).collect();
                    let triangles = self.cutter.cut(&corners);
                    triangles.into_iter().for_each(|corners| self.add_triangle(&face, corners));
                }
            }
            start += arity;
        }
    }

    /// Adds the triangle between these corners of `face`.
    fn add_triangle(&mut self, face: &Face, corners: [u32; 3]) {
        let corners = corners.map(|corner| face.start + corner as usize);
        let index = |at: usize| face.base.wrapping_add(face.model.indices[at]);
        self.triangles.push(corners.map(index));
        if !self.materials.are_there {
            return;
        }
        let placement = self.materials.placement(face.face_material);
        let uvs = placement.map(|placement| face.uvs(corners, placement));
        self.gathered.slots.push(slot(face.face_material.material, uvs == Some(None)));
        if self.materials.have_maps {
            self.gathered.uvs.push(uvs.flatten().unwrap_or(NO_UVS));
        }
    }
}

/// A face of a model.
struct Face<'a> {
    model: &'a tobj::Mesh,
    /// The offset of the model's indices.
    base: u32,
    /// The index of its first corner in the model.
    start: usize,
    face_material: FaceMaterial,
}

impl Face<'_> {
    /// The texture coordinates of these corners of the model, transformed by `placement`; in the
    /// file `v` points up. `None` if one is missing.
    fn uvs(&self, corners: [usize; 3], placement: Placement) -> Option<[[f32; 2]; 3]> {
        if !self.face_material.has_uvs {
            return None;
        }
        let (texcoords, _) = self.model.texcoords.as_chunks::<2>();
        let Placement { scale, offset } = placement;
        let mut uvs = NO_UVS;
        for (uv, corner) in uvs.iter_mut().zip(corners) {
            let [u, v] = texcoords[*self.model.texcoord_indices.get(corner)? as usize];
            let moved = [u * scale[0] + offset[0], 1.0 - (v * scale[1] + offset[1])];
            *uv = moved.map(|coordinate| coordinate as f32);
        }
        uvs.as_flattened().iter().all(|coordinate| coordinate.is_finite()).then_some(uvs)
    }
}

/// The number of corners of each face.
fn arities(model: &tobj::Mesh) -> impl Iterator<Item = usize> {
    let all_triangles = if model.face_arities.is_empty() { model.indices.len() / 3 } else { 0 };
    let each = model.face_arities.iter().map(|&arity| arity as usize);
    each.chain(std::iter::repeat_n(3, all_triangles))
}

/// The number of triangles of the faces of `model`.
fn triangle_count(model: &tobj::Mesh) -> usize {
    arities(model).map(|arity| arity.saturating_sub(2)).sum()
}
