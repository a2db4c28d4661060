//! Converts materials and their images to an appearance.
//!
//! Common practice differs from the specification:
//! - a grey `Kd` is ignored if there is an image: it is an exporter's default, and most readers
//!   ignore it. Other colours multiply the image.
//! - the opacity of a colour image is used, with or without `map_d`.
//! - images may be in UDIM tiles: that of a triangle is of the tile of its texture coordinates.
//! - vertex colours replace the colour of a material without an image, in triangles of which all
//!   vertices have one.

use std::array;
use std::collections::{BTreeSet, HashMap};

use crate::base::srgb::{Linear, linear, linear_of};
use crate::formats::Sidecars;
use crate::formats::io::warnings::NamedWarnings;
use crate::formats::mesh::obj::faces::Slot;
use crate::formats::mesh::obj::libraries::Materials;
use crate::formats::mesh::obj::materials::{
    self, COLOR, Definition, Map, OPACITY, TILE, before_comment, name_of_tile, tint_and_strength,
};
use crate::formats::mesh::textures::{LoadedTextures, TextureLoader};
use crate::mesh::appearance::{Alpha, Appearance, Material, Texture, TextureRef, Wrap};

/// The colour of materials without one: light grey.
const DEFAULT_COLOR: [u16; 3] = [linear_of(200); 3];
const WHITE: [u16; 3] = [u16::MAX; 3];

/// The appearance of triangles with these packed slots and texture coordinates, and warnings.
/// Images are read in at most `limit` bytes of memory.
pub(super) fn appearance(
    materials: &Materials,
    mut slots: Vec<u32>,
    mut uvs: Vec<[[f32; 2]; 3]>,
    vertex_colors: Vec<Linear>,
    sidecars: &Sidecars,
    limit: u64,
) -> (Appearance, Vec<String>) {
    let looks = looks(materials, &mut slots, &uvs);
    let has_colors = !vertex_colors.is_empty();
    let mut loader = TextureLoader::new(sidecars, limit);
    let request = |look: &Look| {
        let shown = with_images(materials, look.slot);
        shown.map_or([None; 5], |defined| request_of(defined, look.tile, &mut loader))
    };
    let images: Vec<[Option<usize>; 5]> = looks.iter().map(request).collect();
    let textures = Textures::new(loader.decode());

    let mut kept: Vec<Material> = Vec::new();
    let most = looks.iter().map(|look| look.number).max().unwrap_or(0);
    let mut index_of_look = vec![0; most as usize + 1];
    let mut ignored = NamedWarnings::default();
    let (mut last, mut first_kept) = (None, 0);
    for (look, &images) in looks.iter().zip(&images) {
        let Slot { material: number, is_plain, is_colorless } = Slot::unpack(look.slot);
        let defined = materials.get(number);
        let has_vertex_colors = has_colors && !is_colorless;
        let name = materials.name(number).to_owned();
        let material = Material { name, ..textures.material(defined, images, has_vertex_colors) };
        if let Some(defined) = defined {
            let all = ignored_properties(defined, is_plain, &material, has_vertex_colors);
            all.for_each(|what| ignored.add(what, &material.name));
        }
        if last.replace(number) != Some(number) {
            first_kept = kept.len();
        }
        // If its images could not be read, for example, slots of a material look the same.
        let same = (first_kept..kept.len()).find(|&at| kept[at] == material);
        index_of_look[look.number as usize] = same.unwrap_or(kept.len()) as u32;
        if same.is_none() {
            kept.push(material);
        }
    }
    let LoadedTextures { list: textures, mut warnings, .. } = textures.loaded;
    warnings.extend(ignored.list());
    let mut material_of = slots;
    material_of.iter_mut().for_each(|look| *look = index_of_look[*look as usize]);
    if kept.len() == 1 {
        material_of = Vec::new();
    }
    if textures.is_empty() {
        uvs = Vec::new();
    }
    (Appearance { materials: kept, material_of, textures, uvs, vertex_colors }, warnings)
}

/// The appearance of triangles: a slot and, if its images are in UDIM tiles, the tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    /// Packed.
    slot: u32,
    tile: Option<u32>,
    /// Its number in the list of triangles.
    number: u32,
}

/// The looks of triangles, in order. Replaces their slots by the numbers of looks.
fn looks(materials: &Materials, slots: &mut [u32], uvs: &[[[f32; 2]; 3]]) -> Vec<Look> {
    let used = used_slots(slots);
    let is_tiled = |slot: &u32| {
        let maps = with_images(materials, *slot).map(|defined| &defined.definition.maps);
        let mut maps = maps.into_iter().flatten().flatten();
        maps.any(|map| name_of_tile(&map.file, FIRST_TILE).is_some())
    };
    let mut next = used.last().map_or(0, |last| last + 1);
    let (tiled, others): (BTreeSet<u32>, BTreeSet<u32>) = used.into_iter().partition(is_tiled);
    let look = |slot| Look { slot, tile: None, number: slot };
    let mut looks: Vec<Look> = others.into_iter().map(look).collect();
    if tiled.is_empty() {
        return looks;
    }
    let mut numbers = HashMap::new();
    for (slot, uvs) in slots.iter_mut().zip(uvs).filter(|(slot, _)| tiled.contains(slot)) {
        let tile = tile_of(uvs);
        *slot = *numbers.entry((*slot, tile)).or_insert_with(|| {
            looks.push(Look { slot: *slot, tile: Some(tile), number: next });
            next += 1;
            next - 1
        });
    }
    looks.sort_unstable();
    looks
}

/// The material of a packed slot, if its images are shown.
fn with_images(materials: &Materials, slot: u32) -> Option<&materials::Material> {
    let Slot { material, is_plain, .. } = Slot::unpack(slot);
    materials.get(material).filter(|_| !is_plain)
}

/// The number of the UDIM tile of `u` and `v` below 1.
const FIRST_TILE: u32 = 1001;

/// The UDIM tile in which the middle of a triangle is, or the nearest: ten in a row, 100 rows.
fn tile_of(uvs: &[[f32; 2]; 3]) -> u32 {
    let mean = |axis: usize| uvs.iter().map(|uv| f64::from(uv[axis])).sum::<f64>() / 3.0;
    let [column, row] = [mean(0).clamp(0.0, 9.0), (1.0 - mean(1)).clamp(0.0, 99.0)];
    FIRST_TILE + column as u32 + 10 * row as u32
}

/// The slots in use, in order.
fn used_slots(slots: &[u32]) -> Vec<u32> {
    let most = slots.iter().copied().max().unwrap_or(0);
    let mut is_used = vec![false; most as usize + 1];
    slots.iter().for_each(|&slot| is_used[slot as usize] = true);
    // Without slots all triangles have the first.
    is_used[0] |= slots.is_empty();
    (0..=most).filter(|&slot| is_used[slot as usize]).collect()
}

/// The requests of a material's images, in the order of [`Definition::maps`].
fn request_of(
    defined: &materials::Material,
    tile: Option<u32>,
    loader: &mut TextureLoader,
) -> [Option<usize>; 5] {
    let materials::Material { definition, folders } = defined;
    let mut paths = definition.maps.each_ref().map(|map| {
        let map = map.as_ref()?;
        let of_tile = tile.and_then(|tile| name_of_tile(&map.file, tile));
        let file = match &of_tile {
            // Without an image of this tile, that of the first is repeated.
            Some(name) if map.file.contains(TILE) || loader.has(name, folders) => name,
            _ => &map.file,
        };
        loader.find(&[file, before_comment(file)], folders)
    });
    // The opacity of the colour image is used anyway.
    if paths[OPACITY] == paths[COLOR] {
        paths[OPACITY] = None;
    }
    array::from_fn(|n| Some(loader.request_file(paths[n].take()?, n == OPACITY)))
}

/// The images that could be read.
struct Textures {
    loaded: LoadedTextures,
    /// Whether each texture has transparency.
    are_transparent: Vec<bool>,
}

impl Textures {
    fn new(loaded: LoadedTextures) -> Self {
        let are_transparent = loaded.list.iter().map(Texture::has_transparency).collect();
        Self { loaded, are_transparent }
    }

    fn get(&self, request: Option<usize>, map: &Option<Map>) -> Option<TextureRef> {
        let texture = self.loaded.of_requests[request?]?;
        let Map { clamp, filter, .. } = map.as_ref()?;
        let wrap = if *clamp { Wrap::Clamp } else { Wrap::Repeat };
        Some(TextureRef { texture, wrap: [wrap; 2], filter: *filter })
    }

    /// The material `defined` with these images, on a mesh with or without vertex colours.
    fn material(
        &self,
        defined: Option<&materials::Material>,
        requests: [Option<usize>; 5],
        has_vertex_colors: bool,
    ) -> Material {
        let none = Definition::default();
        let definition = defined.map_or(&none, |defined| &defined.definition);
        let [texture, opacity, emission_texture, metallic_texture, roughness_texture] =
            array::from_fn(|n| self.get(requests[n], &definition.maps[n]));
        let has_vertex_colors = has_vertex_colors && texture.is_none();
        let [r, g, b] = match definition.color {
            _ if has_vertex_colors => WHITE,
            Some([r, g, b]) if texture.is_some() && r == g && g == b => WHITE,
            Some(color) => color.map(linear),
            None if texture.is_some() => WHITE,
            None => DEFAULT_COLOR,
        };
        let opaque = (definition.opacity() * f64::from(u16::MAX)).round() as u16;
        let is_transparent = |of: TextureRef| self.are_transparent[of.texture as usize];
        let is_blended =
            opaque < u16::MAX || opacity.is_some() || texture.is_some_and(is_transparent);
        let alpha = if is_blended { Alpha::Blend } else { Alpha::Opaque };
        // With an image, a missing factor or a factor of 0 counts as 1: of emission, metal and
        // roughness.
        let emission = match definition.emission {
            None | Some([0.0, 0.0, 0.0]) if emission_texture.is_some() => Some([1.0; 3]),
            stated => stated.map(tint_and_strength).map(|(tint, strength)| {
                tint.map(|c| f32::from(linear(c)) / 65535.0 * strength as f32)
            }),
        };
        let factor = |stated: Option<f64>, texture: Option<_>| match stated {
            None | Some(0.0) if texture.is_some() => Some(1.0),
            stated => stated.map(|number| number as f32),
        };
        Material {
            color: [r, g, b, opaque],
            texture,
            opacity,
            has_vertex_colors,
            alpha,
            metallic: factor(definition.metallic, metallic_texture),
            metallic_texture,
            roughness: factor(definition.roughness, roughness_texture),
            roughness_texture,
            emission,
            emission_texture,
            has_color_of_light: definition.has_color_of_light,
            ..Material::default()
        }
    }
}

/// A sentence for each property of `defined` that `material`, its conversion, does not have.
fn ignored_properties(
    defined: &materials::Material,
    is_plain: bool,
    material: &Material,
    has_vertex_colors: bool,
) -> impl Iterator<Item = &'static str> {
    let Definition { color, maps, has_other_maps, .. } = &defined.definition;
    let is_tinted = color.is_some_and(|[r, g, b]| r != g || g != b);
    let [one, two] = [COLOR, OPACITY].map(|n| maps[n].as_ref().map(|map| map.placement));
    let ignored = [
        (is_plain, "faces without texture coordinates have the plain colour of their materials"),
        (
            material.texture.is_some() && has_vertex_colors,
            "colours of vertices are not shown on materials with an image",
        ),
        (
            material.has_vertex_colors && is_tinted,
            "colours of vertices are shown instead of those of materials",
        ),
        (
            one.zip(two).is_some_and(|(one, two)| one != two),
            "the scale and offset of opacity maps (map_d) were ignored: those of map_Kd are used",
        ),
        (
            *has_other_maps,
            "images of emission, metal and roughness (map_Ke, map_Pm, map_Pr) with another scale \
             or offset than the first image were ignored",
        ),
    ];
    ignored.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what)
}
