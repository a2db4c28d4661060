//! Builds the mesh from the instances of a glTF scene.

use crate::base::numbers::grouped;
use crate::base::srgb::Linear;
use crate::formats::ReadError;
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::attributes::{BAD_COLORS, BAD_TEXCOORDS, DocumentAppearance};
use crate::formats::mesh::gltf::parts::{Part, in_primitive};
use crate::formats::mesh::gltf::pose::Skins;
use crate::formats::mesh::gltf::scene::Instance;
use crate::mesh::appearance::{Appearance, is_placed};
use crate::mesh::{Labels, Mesh, MeshError, check_counts};

const WHITE: Linear = [u16::MAX; 4];

/// Maximum of [`Totals::steps`]. So many displacements by morph targets take 14 s on one thread of
/// an AMD EPYC, if their accessors have no data.
const MAX_STEPS: u64 = 1 << 34;

/// The sizes of the mesh to build.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) vertices: u64,
    pub(super) triangles: u64,
    /// The parts, vertices, indices and displacements by morph targets to process, which bound the
    /// time. A small file can reference one accessor from many morph targets, primitives and nodes.
    steps: u64,
    /// The largest number of indices of a part.
    indices: u64,
    /// Vertices of the largest part with texture coordinates.
    painted: u64,
    /// The largest number of bytes for the pose of a part.
    posing: u64,
    has_appearance: bool,
    has_colors: bool,
    has_uvs: bool,
}

impl Totals {
    pub(super) fn of(instances: &[Instance], parts: &[Vec<Part>]) -> Self {
        let of_mesh =
            |parts: &Vec<Part>| parts.iter().map(Self::of_part).fold(Self::default(), Self::plus);
        let meshes: Vec<Self> = parts.iter().map(of_mesh).collect();
        instances.iter().map(|instance| meshes[instance.mesh]).fold(Self::default(), Self::plus)
    }

    fn of_part(part: &Part) -> Self {
        let targets = part.primitive.targets.len() as u64;
        let poses = (1 + targets).saturating_mul(part.vertices);
        Self {
            vertices: if part.shares_vertices_of.is_some() { 0 } else { part.vertices },
            triangles: part.triangles,
            steps: poses.saturating_add(part.indices).saturating_add(1),
            indices: part.indices,
            painted: if part.texcoord.is_some() { part.vertices } else { 0 },
            posing: part.posing_memory(),
            has_appearance: part.has_appearance,
            has_colors: part.color.is_some(),
            has_uvs: part.texcoord.is_some(),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            vertices: self.vertices.saturating_add(other.vertices),
            triangles: self.triangles.saturating_add(other.triangles),
            steps: self.steps.saturating_add(other.steps),
            indices: self.indices.max(other.indices),
            painted: self.painted.max(other.painted),
            posing: self.posing.max(other.posing),
            has_appearance: self.has_appearance | other.has_appearance,
            has_colors: self.has_colors | other.has_colors,
            has_uvs: self.has_uvs | other.has_uvs,
        }
    }

    pub(super) fn check(&self) -> Result<(), ReadError> {
        check_counts(self.vertices, self.triangles)?;
        ensure!(
            self.steps <= MAX_STEPS,
            "its nodes and morph targets repeat meshes too often: there are {} vertices and \
             indices to process, more than {}; export the scene in its pose, or in parts",
            grouped(self.steps),
            grouped(MAX_STEPS)
        );
        Ok(())
    }

    /// An upper bound of bytes of memory: for building, besides the `file`; or for placing the mesh
    /// afterwards, which takes more if there are many instances.
    pub(super) fn memory(&self, file: u64) -> u64 {
        let besides = (4 * self.indices + 16 * self.painted).saturating_add(self.posing);
        let while_gathered = file.saturating_add(besides);
        let while_placed = self.vertices.saturating_mul(size_of::<[i32; 3]>() as u64);
        let per_vertex = 24 + if self.has_colors { 8 } else { 0 };
        let for_looks = if self.has_appearance { 4 } else { 0 };
        let per_triangle = 12 + for_looks + if self.has_uvs { 24 } else { 0 };
        let vertices = self.vertices.saturating_mul(per_vertex);
        let kept = vertices.saturating_add(self.triangles.saturating_mul(per_triangle));
        kept.saturating_add(while_gathered.max(while_placed))
    }
}

/// Positions, triangles and appearance of all instances.
pub(super) struct Build<'a> {
    arrays: &'a Arrays<'a>,
    skins: &'a Skins,
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    pub(super) appearance: DocumentAppearance,
    has_appearance: bool,
    /// The colours of vertices; `None` if no instance has any.
    colors: Option<Vec<Linear>>,
    uvs: Option<Vec<[[f32; 2]; 3]>>,
    material_of: Option<Vec<u32>>,
    /// The first triangle of each node, and its name.
    objects: Vec<(usize, &'a str)>,
    /// The last node.
    node: Option<usize>,
}

/// A vector with capacity `count`. Nested instances may exceed the memory.
fn room<T>(count: u64) -> Result<Vec<T>, ReadError> {
    let mut list = Vec::new();
    list.try_reserve_exact(count as usize).map_err(std::io::Error::from)?;
    Ok(list)
}

impl<'a> Build<'a> {
    /// With capacity for all attributes in use.
    pub(super) fn new(
        arrays: &'a Arrays<'a>,
        skins: &'a Skins,
        totals: &Totals,
        appearance: DocumentAppearance,
    ) -> Result<Self, ReadError> {
        let &Totals { vertices, triangles, has_appearance, has_colors, has_uvs, .. } = totals;
        let has_materials = has_appearance && appearance.materials.len() > 1;
        Ok(Self {
            arrays,
            skins,
            positions: room(vertices)?,
            triangles: room(triangles)?,
            appearance,
            has_appearance,
            colors: has_colors.then(|| room(vertices)).transpose()?,
            uvs: has_uvs.then(|| room(triangles)).transpose()?,
            material_of: has_materials.then(|| room(triangles)).transpose()?,
            objects: Vec::new(),
            node: None,
        })
    }

    pub(super) fn add(&mut self, instance: &Instance<'a>, parts: &[Part]) -> Result<(), ReadError> {
        if self.node.replace(instance.node) != Some(instance.node) {
            self.objects.push((self.triangles.len(), instance.name));
        }
        // The first vertex of each part, and whether its transform mirrors.
        let mut placed: Vec<(usize, bool)> = Vec::with_capacity(parts.len());
        for part in parts {
            let error = |what: String| in_primitive(instance.mesh, part.index, &what);
            let (first, is_mirror) = match part.shares_vertices_of {
                Some(earlier) => placed[earlier],
                None => {
                    let first = self.positions.len();
                    self.arrays
                        .add_numbers(part.position, "positions", &mut self.positions)
                        .map_err(error)?;
                    self.add_colors(instance.mesh, part);
                    let added = &mut self.positions[first..];
                    let is_mirror = self.skins.place(self.arrays, instance, part, added);
                    (first, is_mirror.map_err(error)?)
                }
            };
            placed.push((first, is_mirror));
            let indices = part.primitive.indices.map(|at| self.arrays.indices(at));
            let indices: Option<Vec<[u32; 1]>> = indices.transpose().map_err(error)?;
            let vertices = part.vertices;
            if let Some([index]) = indices.iter().flatten().find(|&&[i]| u64::from(i) >= vertices) {
                let what =
                    format!("the index {index} is out of range: there are {vertices} vertices");
                return Err(error(what));
            }
            let vertex = |corner: usize| {
                indices.as_ref().map_or(corner as u32, |indices| indices[corner][0])
            };
            let triangles = (0..part.triangles as usize).map(|triangle| {
                let [a, b, c] = part.mode.corners(triangle).map(vertex);
                if is_mirror { [a, c, b] } else { [a, b, c] }
            });
            self.triangles
                .extend(triangles.clone().map(|triangle| triangle.map(|i| first as u32 + i)));
            self.add_uvs(instance.mesh, part, triangles);
            if let Some(material_of) = &mut self.material_of {
                material_of.resize(self.triangles.len(), part.material);
            }
        }
        Ok(())
    }

    /// Adds the colours of the vertices added last; white if there are none.
    fn add_colors(&mut self, mesh: usize, part: &Part) {
        let Some(colors) = &mut self.colors else { return };
        let start = colors.len();
        if let Some(accessor) = part.color {
            let read = self.arrays.colors(accessor, colors);
            match self.appearance.faults.ok(BAD_COLORS, [mesh, part.index], read) {
                Some(clamped) => self.appearance.clamped_colors += clamped,
                None => colors.truncate(start),
            }
        }
        colors.resize(self.positions.len(), WHITE);
    }

    /// Adds the texture coordinates of a part's `triangles`: NaN if they cannot be read, any value
    /// if the part has no texture.
    fn add_uvs(&mut self, mesh: usize, part: &Part, triangles: impl Iterator<Item = [u32; 3]>) {
        let Some(uvs) = &mut self.uvs else { return };
        let Some((accessor, first)) = part.texcoord else {
            uvs.resize(self.triangles.len(), [[0.0; 2]; 3]);
            return;
        };
        let texcoords = self.arrays.numbers(accessor, "texture coordinates");
        if let Some(texcoords) =
            self.appearance.faults.ok(BAD_TEXCOORDS, [mesh, part.index], texcoords)
        {
            let uv = |vertex: u32| first.texture_from_set.apply(texcoords[vertex as usize]);
            let before = uvs.len();
            uvs.extend(triangles.map(|triangle| triangle.map(uv)));
            let unplaced = uvs[before..].iter().filter(|uvs| !is_placed(uvs)).count();
            self.appearance.unplaced += unplaced as u64;
        } else {
            uvs.resize(self.triangles.len(), [[f32::NAN; 2]; 3]);
        }
    }

    /// The mesh, with its appearance if there is any.
    pub(super) fn finish(self) -> Result<Mesh, MeshError> {
        let labels = Labels::of(self.objects, self.triangles.len(), false);
        let appearance = self.has_appearance.then(|| Appearance {
            materials: self.appearance.materials,
            material_of: self.material_of.unwrap_or_default(),
            textures: self.appearance.textures.list,
            uvs: self.uvs.unwrap_or_default(),
            vertex_colors: self.colors.unwrap_or_default(),
        });
        Mesh::new(self.positions, self.triangles)?.with_labels(labels).with_appearance(appearance)
    }
}
