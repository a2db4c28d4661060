//! The appearance of primitives: materials, vertex colours and texture coordinates. Errors in them
//! are warnings.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::formats::ReadOptions;
use crate::formats::io::warnings::NamedWarnings;
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::images::DocumentTextures;
use crate::formats::mesh::gltf::json::Document;
use crate::formats::mesh::gltf::materials::{PlacedTexture, Surface, surfaces};
use crate::formats::mesh::gltf::parts::{Part, place};
use crate::formats::mesh::out_of_range::{clamped_colors, unplaced};
use crate::mesh::appearance::Material;

#[derive(Default)]
pub(super) struct DocumentAppearance {
    /// Whether the options ask for the appearance.
    is_read: bool,
    /// The document's materials.
    surfaces: Vec<Result<Surface, String>>,
    /// The materials in use, each with or without vertex colours and texture.
    pub(super) materials: Vec<Material>,
    number_of: HashMap<(Option<usize>, bool, bool), u32>,
    pub(super) textures: DocumentTextures,
    pub(super) faults: Faults,
    clamped_factors: NamedWarnings,
    /// Vertices with a colour outside its range.
    pub(super) clamped_colors: u64,
    /// Triangles with texture coordinates that are not finite.
    pub(super) unplaced: u64,
}

// The beginnings of warnings about faults.
const BAD_MATERIALS: &str = "a material was replaced by plain white";
pub(super) const BAD_COLORS: &str = "colours of vertices were ignored";
pub(super) const BAD_TEXCOORDS: &str = "a texture was replaced by a plain colour";
/// Maps that are not placed as the first texture of their material is.
const BAD_MAPS: &str = "a texture besides that of colour was ignored";

/// Errors by the beginning of their warning, and by material or by mesh and primitive.
#[derive(Default)]
pub(super) struct Faults(BTreeMap<&'static str, BTreeMap<[usize; 2], String>>);

impl Faults {
    /// The value read for a part of `mesh`; notes an error.
    pub(super) fn ok<T>(
        &mut self,
        what: &'static str,
        [mesh, part]: [usize; 2],
        read: Result<T, String>,
    ) -> Option<T> {
        let note = |why| self.add(what, [mesh, part], format!("{}: {why}", place(mesh, part)));
        read.map_err(note).ok()
    }

    fn add(&mut self, what: &'static str, at: [usize; 2], why: String) {
        self.0.entry(what).or_default().entry(at).or_insert(why);
    }

    /// A warning for each kind, with its first fault and the number of others.
    fn warnings(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(what, faults)| {
            let more = match faults.len() - 1 {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            faults.values().next().map(|first| format!("{what}: {first}{more}"))
        })
    }
}

impl DocumentAppearance {
    /// Parses the materials, if `options` ask for the appearance, and textures of metal, roughness
    /// and emission, if they ask for maps.
    pub(super) fn new(document: &Document, options: &ReadOptions) -> Self {
        let is_read = options.appearance;
        let (mut surfaces, clamped_factors) = surfaces(document.materials.filter(|_| is_read));
        if !options.maps {
            surfaces.iter_mut().flatten().for_each(|of| of.textures[1..].fill(None));
        }
        Self { is_read, surfaces, clamped_factors, ..Self::default() }
    }

    fn surface(&self, material: Option<usize>) -> Result<&Surface, &str> {
        let Some(index) = material else { return Ok(Surface::DEFAULT) };
        let surface = self.surfaces.get(index).ok_or("does not exist")?;
        surface.as_ref().map_err(|what| &what[..])
    }

    /// Finds the accessors of the colours and texture coordinates of a part of `mesh`.
    pub(super) fn locate(&mut self, arrays: &Arrays, mesh: usize, part: &mut Part) {
        if !self.is_read {
            return;
        }
        let attributes = &part.primitive.attributes;
        let checked =
            |accessor: usize| arrays.check_count(accessor, part.vertices).map(|()| accessor);
        if let Some(&accessor) = attributes.get("COLOR_0") {
            part.color = self.faults.ok(BAD_COLORS, [mesh, part.index], checked(accessor));
        }
        let surface = self.surface(part.primitive.material).ok();
        if let Some(first) = surface.and_then(Surface::first_texture) {
            let name = format!("TEXCOORD_{}", first.set);
            let accessor = attributes.get(&name).ok_or_else(|| format!("there is no {name}"));
            let accessor = accessor.and_then(|&accessor| checked(accessor));
            let accessor = self.faults.ok(BAD_TEXCOORDS, [mesh, part.index], accessor);
            part.texcoord = accessor.map(|accessor| (accessor, first));
        }
        part.has_appearance = part.primitive.material.is_some() || part.color.is_some();
    }

    /// The textures that a part shows, by their indices in the document.
    pub(super) fn textures_of(&self, part: &Part) -> [Option<usize>; 3] {
        match (self.surface(part.primitive.material), part.texcoord) {
            (Ok(Surface { textures, .. }), Some((_, first))) => {
                textures.map(|of| of.filter(|of| of.is_placed_like(&first)).map(|of| of.texture))
            }
            _ => [None; 3],
        }
    }

    /// Assigns a material to each part of the `used` meshes.
    pub(super) fn choose_materials(
        &mut self,
        textures: DocumentTextures,
        parts: &mut [Vec<Part>],
        used: impl Iterator<Item = usize>,
    ) {
        self.textures = textures;
        let mut chosen = HashSet::new();
        for mesh in used.filter(|&mesh| chosen.insert(mesh)) {
            parts[mesh].iter_mut().for_each(|part| self.choose_material(part));
        }
    }

    fn choose_material(&mut self, part: &mut Part) {
        let index = part.primitive.material;
        let shown = self.textures_of(part);
        let shown = shown.map(|texture| self.textures.references.get(&texture?).copied());
        let surface = match self.surface(index) {
            Ok(surface) => surface.clone(),
            Err(what) => {
                let index = index.unwrap_or(0);
                let what = format!("material {index} (counted from 0) {what}");
                self.faults.add(BAD_MATERIALS, [index, 0], what);
                Surface::DEFAULT.clone()
            }
        };
        let first = surface.first_texture();
        let is_placed = |of: &PlacedTexture| first.is_none_or(|first| of.is_placed_like(&first));
        if let (Some(index), false) = (index, surface.textures.iter().flatten().all(is_placed)) {
            let what = format!("material {index} (counted from 0) has other coordinates for it");
            self.faults.add(BAD_MAPS, [index, 0], what);
        }
        // Without a texture, no coordinates are needed.
        part.texcoord = part.texcoord.filter(|_| shown.iter().any(Option::is_some));
        let has_color = part.color.is_some();
        let key = (index, has_color, part.texcoord.is_some());
        part.material = *self.number_of.entry(key).or_insert_with(|| {
            let [texture, metallic_roughness, emission_texture] = shown;
            self.materials.push(Material {
                texture,
                metallic_texture: metallic_roughness,
                roughness_texture: metallic_roughness,
                emission_texture,
                has_vertex_colors: has_color,
                ..surface.material
            });
            self.materials.len() as u32 - 1
        });
    }

    /// A warning for each kind of deviation from the document.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let unread = self.textures.warnings.iter().cloned();
        let factors = self.clamped_factors.list().chain(unplaced(self.unplaced));
        let clamped = clamped_colors([self.clamped_colors, 0]);
        unread.chain(self.faults.warnings()).chain(factors).chain(clamped)
    }
}
