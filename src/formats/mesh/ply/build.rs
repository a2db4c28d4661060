//! Builds the mesh and its appearance from the records of a PLY file.
//!
//! A texture replaces vertex colours, and these replace face colours: they are not multiplied.

use crate::base::srgb::{Linear, Rgba};
use crate::formats::io::tokens::quoted;
use crate::formats::io::warnings::counted_warning;
use crate::formats::mesh::flat_colors::{FlatColors, NO_COLOR, lacks_color};
use crate::formats::mesh::out_of_range::{clamped_colors, unplaced};
use crate::formats::mesh::ply::header::{Element, Header, VERTEX};
use crate::formats::mesh::polygons::Triangulator;
use crate::formats::mesh::textures::{LoadedTextures, TextureLoader};
use crate::mesh::appearance::{Appearance, Material, Texture, is_placed};
use crate::mesh::{Mesh, MeshError};

/// The appearance properties that are read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Attributes {
    pub(super) vertex_colors: bool,
    /// Whether a vertex of four zeros has no colour: Blender writes these for meshes without
    /// colours, where other meshes have some.
    pub(super) zeros_are_no_color: bool,
    pub(super) face_colors: bool,
    pub(super) vertex_texcoords: bool,
    pub(super) corner_texcoords: bool,
}

impl Attributes {
    /// The properties that `header` declares, without those of lower precedence, which cause a
    /// warning.
    pub(super) fn of(header: &Header, warnings: &mut Vec<String>) -> Self {
        let vertices = || header.named(VERTEX);
        let faces = || header.elements.iter().filter(|element| element.is_of_faces());
        let has_color = |element: &Element| element.channels().is_some();
        let vertex_colors = vertices().any(has_color);
        let mut attributes = Self {
            vertex_colors,
            zeros_are_no_color: header.is_of_blender && vertex_colors,
            face_colors: faces().any(has_color),
            vertex_texcoords: vertices().any(|element| element.texcoords().is_some()),
            corner_texcoords: faces().any(|element| element.corner_texcoords().is_some()),
        };
        let of_color = |element: &&Element| element.has_incomplete_color();
        if let Some(element) = header.elements.iter().find(of_color) {
            warnings.push(format!(
                "colours of the element {} were ignored: they need red, green and blue",
                quoted(element.name)
            ));
        }
        if attributes.vertex_colors && attributes.face_colors {
            warnings.push("colours of faces were ignored: those of vertices are shown".into());
            attributes.face_colors = false;
        }
        if attributes.has_texcoords() && header.textures.is_empty() {
            warnings.push(
                "texture coordinates were ignored: add a line such as 'comment TextureFile \
                 image.png' to the header"
                    .into(),
            );
            attributes = attributes.without_texcoords();
        }
        if let Some(texture) = header.textures.first()
            && !attributes.has_texcoords()
        {
            let texture = quoted(texture);
            warnings.push(format!(
                "the texture {texture} is not shown: no texture coordinates are found, which are \
                 called s and t, u and v, or texture_u and texture_v at vertices, and texcoord at \
                 faces"
            ));
        }
        attributes
    }

    pub(super) fn has_texcoords(self) -> bool {
        self.vertex_texcoords || self.corner_texcoords
    }

    pub(super) fn without_texcoords(self) -> Self {
        Self { vertex_texcoords: false, corner_texcoords: false, ..self }
    }

    /// Whether triangles differ in their material.
    pub(super) fn has_materials(self) -> bool {
        self.has_texcoords() || self.face_colors || self.zeros_are_no_color
    }
}

/// The appearance properties of a face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face<'a> {
    pub(super) color: Option<Rgba>,
    /// The texture index; negative for none.
    pub(super) texture: f64,
    /// Two numbers per corner, or empty.
    pub(super) texcoords: &'a [f64],
}

/// The mesh so far.
#[derive(Default)]
pub(super) struct Build {
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) triangulator: Triangulator,
    pub(super) attributes: Attributes,
    pub(super) vertex_colors: Vec<Linear>,
    pub(super) vertex_texcoords: Vec<[f32; 2]>,
    uvs: Vec<[[f32; 2]; 3]>,
    material_of: Vec<u32>,
    /// The materials of face colours, after the default and those of textures.
    colors: FlatColors,
    textures: Vec<Texture>,
    /// The material of each texture in the header, if the texture could be read.
    material_of_texture: Vec<Option<u32>>,
    /// The material of triangles without colours, where there is one.
    colorless: Option<u32>,
    /// Triangles with this material.
    colorless_triangles: u64,
    /// Faces with a missing texture or missing texture coordinates.
    misplaced: u64,
    /// Textured triangles whose texture coordinates are not finite.
    unplaced: u64,
    /// Vertices and faces with a colour outside the range of its scale.
    pub(super) clamped: [u64; 2],
}

/// The default material, without texture and colour.
const DEFAULT: u32 = 0;

impl Build {
    /// Empty, with capacity for `vertices` and `triangles`, and with the textures of these `names`,
    /// which `loader` reads.
    pub(super) fn new(
        mut attributes: Attributes,
        [vertices, triangles]: [usize; 2],
        names: &[&[u8]],
        mut loader: TextureLoader,
        warnings: &mut Vec<String>,
    ) -> Self {
        let request = |name: &&[u8]| loader.request_beside(&[&String::from_utf8_lossy(name)]);
        let requests: Vec<Option<usize>> = names.iter().map(request).collect();
        let LoadedTextures { list: textures, of_requests, warnings: said } = loader.decode();
        warnings.extend(said);
        // The default material, and one for each texture.
        let mut materials = vec![Material::default()];
        materials.extend(
            (0..).zip(&textures).map(|(index, texture)| Material::textured(index, texture)),
        );
        let material_of = |request: Option<usize>| Some(1 + of_requests[request?]?);
        let material_of_texture = requests.into_iter().map(material_of).collect();
        let colorless = attributes.zeros_are_no_color.then_some(materials.len() as u32);
        materials.extend(colorless.map(|_| Material::default()));
        if textures.is_empty() {
            attributes = attributes.without_texcoords();
        } else if attributes.vertex_colors {
            let what = "colours of vertices were ignored where there is a texture";
            warnings.push(what.into());
        }
        let room = |is_shown: bool, count: usize| if is_shown { count } else { 0 };
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(triangles),
            attributes,
            vertex_colors: Vec::with_capacity(room(attributes.vertex_colors, vertices)),
            vertex_texcoords: Vec::with_capacity(room(attributes.vertex_texcoords, vertices)),
            uvs: Vec::with_capacity(room(attributes.has_texcoords(), triangles)),
            material_of: Vec::with_capacity(room(attributes.has_materials(), triangles)),
            colors: FlatColors::new(materials),
            textures,
            material_of_texture,
            colorless,
            ..Self::default()
        }
    }

    /// The material of a face, and its texture coordinates.
    #[inline]
    fn material_of<'a>(&mut self, face: Face<'a>, corners: usize) -> FaceMaterial<'a> {
        if !self.attributes.has_materials() {
            return (DEFAULT, &[]);
        }
        let texcoords = Some(face.texcoords).filter(|list| list.len() == 2 * corners);
        match self.texture_of(face, texcoords.is_some()) {
            Some(material) => (material, texcoords.unwrap_or_default()),
            None => (face.color.map_or(DEFAULT, |color| self.colors.material_of(color)), &[]),
        }
    }

    /// The material of a face's texture, if it has one.
    fn texture_of(&mut self, face: Face, has_texcoords: bool) -> Option<u32> {
        if !self.attributes.has_texcoords() || face.texture < 0.0 {
            return None;
        }
        let is_bare = face.texcoords.is_empty();
        let is_placed = has_texcoords || is_bare && self.attributes.vertex_texcoords;
        match self.material_of_texture.get(face.texture as usize) {
            Some(&material) if is_placed => material,
            // The face has no texture coordinates, so none are missing.
            Some(_) if is_bare => None,
            _ => {
                self.misplaced += 1;
                None
            }
        }
    }

    /// Adds the triangles of a polygon.
    pub(super) fn add_face(&mut self, corners: &[i64], face: Face) -> Result<(), String> {
        if corners.len() > 3 {
            corners.iter().try_for_each(|&corner| self.vertex(corner).map(|_| ()))?;
        }
        let position = |corner: usize| self.positions[corners[corner] as usize];
        let triangles = self.triangulator.face(corners.len(), position);
        if triangles.is_empty() {
            return Ok(());
        }
        let material = self.material_of(face, corners.len());
        triangles.iter().try_for_each(|&triangle| self.add_triangle(corners, triangle, material))
    }

    /// Adds the triangles of strips; -1 or the end of the list ends a strip. The orientation
    /// alternates.
    pub(super) fn add_strip(&mut self, corners: &[i64], face: Face) -> Result<(), String> {
        let material = self.material_of(face, corners.len());
        let mut start = 0;
        for strip in corners.split(|&corner| corner == -1) {
            for at in 0..strip.len().saturating_sub(2) {
                let turned = at % 2;
                let triangle = [0, 1 + turned, 2 - turned].map(|i| (start + at + i) as u32);
                self.add_triangle(corners, triangle, material)?;
            }
            start += strip.len() + 1;
        }
        Ok(())
    }

    /// Adds the triangle of three of the `corners` of a face.
    #[inline]
    fn add_triangle(
        &mut self,
        corners: &[i64],
        triangle: [u32; 3],
        (material, texcoords): FaceMaterial,
    ) -> Result<(), String> {
        let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
        let vertices = [self.vertex(a)?, self.vertex(b)?, self.vertex(c)?];
        self.triangles.push(vertices);
        if self.attributes.has_materials() {
            let colorless = self
                .colorless
                .filter(|_| material == DEFAULT && lacks_color(vertices, &self.vertex_colors));
            self.colorless_triangles += u64::from(colorless.is_some());
            self.material_of.push(colorless.unwrap_or(material));
        }
        if self.attributes.has_texcoords() {
            let uvs = [0, 1, 2].map(|i| {
                let at = 2 * triangle[i] as usize;
                match texcoords.get(at..at + 2) {
                    Some(&[u, v]) => texcoord(u, v),
                    _ => {
                        self.vertex_texcoords.get(vertices[i] as usize).copied().unwrap_or_default()
                    }
                }
            });
            let is_textured = (1..=self.textures.len()).contains(&(material as usize));
            self.unplaced += u64::from(is_textured && !is_placed(&uvs));
            self.uvs.push(uvs);
        }
        Ok(())
    }

    fn vertex(&self, index: i64) -> Result<u32, String> {
        let count = self.positions.len();
        let vertex = u32::try_from(index).ok().filter(|&index| (index as usize) < count);
        vertex.ok_or_else(|| {
            format!("vertex index {index} is out of range: there are {count}, counted from 0")
        })
    }

    /// The mesh, with its appearance if the file has any.
    pub(super) fn finish(mut self, warnings: &mut Vec<String>) -> Result<Mesh, MeshError> {
        let mesh = Mesh::new(self.positions, self.triangles)?;
        let misplaced = "a texture that the header does not name, or not two coordinates a corner: \
                         a plain colour is shown";
        warnings.extend(counted_warning(self.misplaced, ["face has", "faces have"], misplaced));
        warnings.extend(unplaced(self.unplaced));
        warnings.extend(clamped_colors(self.clamped));
        if !self.attributes.vertex_colors && !self.attributes.has_materials() {
            return Ok(mesh);
        }
        let white = "no colour (0 0 0 0 in files of Blender): shown in white";
        let triangles_have = ["triangle has", "triangles have"];
        warnings.extend(counted_warning(self.colorless_triangles, triangles_have, white));
        if self.colorless.is_some() {
            // Not used, and not transparent.
            let missing = self.vertex_colors.iter_mut().filter(|color| **color == NO_COLOR);
            missing.for_each(|color| *color = [u16::MAX; 4]);
        }
        mesh.with_appearance(Appearance {
            materials: self.colors.finish(&self.vertex_colors, warnings),
            material_of: self.material_of,
            textures: self.textures,
            uvs: self.uvs,
            vertex_colors: self.vertex_colors,
        })
    }
}

/// The material of a triangle's face, and the texture coordinates of its corners.
type FaceMaterial<'a> = (u32, &'a [f64]);

/// Converts texture coordinates: in files `v` points up.
pub(super) fn texcoord(u: f64, v: f64) -> [f32; 2] {
    [u as f32, (1.0 - v) as f32]
}
