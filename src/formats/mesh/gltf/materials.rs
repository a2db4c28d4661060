//! The materials of a glTF document: base colours, metalness, roughness and emission.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::formats::io::warnings::NamedWarnings;
use crate::formats::mesh::gltf::accessors::light;
use crate::formats::mesh::gltf::json::without_place;
use crate::formats::mesh::out_of_range::clamped_factors;
use crate::mesh::appearance::{Alpha, Material};

#[derive(Debug, Clone)]
pub(super) struct Surface {
    /// The material without its textures.
    pub(super) material: Material,
    /// The textures of base colour, of metalness and roughness, and of emission.
    pub(super) textures: [Option<PlacedTexture>; 3],
}

/// A texture with its set of texture coordinates and their transform.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedTexture {
    /// Its index in the document.
    pub(super) texture: usize,
    /// The set of texture coordinates.
    pub(super) set: u32,
    pub(super) texture_from_set: UvTransform,
}

impl Surface {
    /// The material of primitives without one.
    pub(super) const DEFAULT: &'static Self =
        &Self { material: Material::WHITE, textures: [None; 3] };

    /// The material at `index`; factors outside their range are warnings.
    fn of(properties: Properties, index: usize, warnings: &mut NamedWarnings) -> Self {
        let Properties { name, pbr_metallic_roughness, alpha_mode, alpha_cutoff, .. } = properties;
        let Properties { emissive_factor, emissive_texture, extensions, .. } = properties;
        let name = name.unwrap_or_default();
        let called = match &name[..] {
            "" => &format!("material {index} (counted from 0)"),
            name => name,
        };
        let strength = extensions.emissive_strength.and_then(|of| of.emissive_strength);
        let strength = strength.unwrap_or(1.0);
        let emission = emissive_factor.map(|factor| factor * strength);
        let key = match strength {
            1.0 => "emissiveFactor",
            _ => "emissiveFactor by emissiveStrength",
        };
        // Light may be brighter than white.
        let emission = clamped_factors(warnings, [called, key], emission, f32::MAX.into());
        let emission_texture = emissive_texture.map(PlacedTexture::of);
        // The extension takes precedence, as it specifies, and states neither.
        let of_metal = extensions.specular_glossiness.is_none();
        let base = extensions.specular_glossiness.map_or(pbr_metallic_roughness, |other| Base {
            base_color_factor: other.diffuse_factor,
            base_color_texture: other.diffuse_texture,
            ..Base::default()
        });
        let key = if of_metal { "baseColorFactor" } else { "diffuseFactor" };
        let color = base.base_color_factor.unwrap_or([1.0; 4]);
        let mut color = clamped_factors(warnings, [called, key], color, 1.0);
        let mut color_texture = base.base_color_texture.map(PlacedTexture::of);
        let is_opaque = matches!(alpha_mode, AlphaMode::Opaque);
        let [.., opacity] = color;
        // Black but for its emission: a texture may still be that of its opacity.
        let has_color_of_light = color == [0.0, 0.0, 0.0, opacity]
            && emissive_factor != [0.0; 3]
            && (is_opaque || color_texture.is_none());
        if has_color_of_light {
            let [r, g, b] = emission;
            color = [r, g, b, opacity];
            color_texture = emission_texture;
        }
        let mut color = color.map(light);
        let alpha = match alpha_mode {
            AlphaMode::Opaque => Alpha::Opaque,
            AlphaMode::Blend => Alpha::Blend,
            AlphaMode::Mask => {
                let cutoff = alpha_cutoff.unwrap_or(0.5);
                if cutoff > 1.0 {
                    color[3] = 0;
                }
                Alpha::Mask(light(cutoff))
            }
        };
        let mut unit = |key: &str, factor: Option<f64>| {
            let factor = [factor.unwrap_or(1.0)];
            let [factor] = clamped_factors(warnings, [called, key], factor, 1.0);
            of_metal.then_some(factor as f32)
        };
        let metallic = unit("metallicFactor", base.metallic_factor);
        let roughness = unit("roughnessFactor", base.roughness_factor);
        let material = Material {
            name,
            color,
            alpha,
            metallic,
            roughness,
            emission: Some(emission.map(|light| light as f32)),
            has_color_of_light,
            ..Material::WHITE
        };
        let metallic_roughness = base.metallic_roughness_texture.map(PlacedTexture::of);
        Self { material, textures: [color_texture, metallic_roughness, emission_texture] }
    }

    /// The texture whose coordinates are those of the material: the first.
    pub(super) fn first_texture(&self) -> Option<PlacedTexture> {
        self.textures.into_iter().flatten().next()
    }
}

impl PlacedTexture {
    /// Whether it has the texture coordinates of the other.
    pub(super) fn is_placed_like(&self, other: &Self) -> bool {
        (self.set, self.texture_from_set) == (other.set, other.texture_from_set)
    }

    fn of(info: TextureInfo) -> Self {
        let transform = info.extensions.transform.unwrap_or_default();
        Self {
            texture: info.index,
            set: transform.tex_coord.unwrap_or(info.tex_coord),
            texture_from_set: UvTransform::of(&transform),
        }
    }
}

/// Two rows of an affine matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UvTransform([[f64; 3]; 2]);

impl UvTransform {
    /// Scale, then counter-clockwise rotation as seen with `v` down, then translation. Sines of
    /// `libm` are the same on every machine.
    fn of(transform: &Transform) -> Self {
        let [su, sv] = transform.scale.unwrap_or([1.0; 2]);
        let [u, v] = transform.offset;
        let (sin, cos) = libm::sincos(transform.rotation);
        Self([[cos * su, sin * sv, u], [-sin * su, cos * sv, v]])
    }

    pub(super) fn apply(self, [u, v]: [f64; 2]) -> [f32; 2] {
        self.0.map(|[a, b, c]| (a * u + b * v + c) as f32)
    }
}

/// The materials of a document's list, or the error of each, and warnings.
pub(super) fn surfaces(
    materials: Option<&RawValue>,
) -> (Vec<Result<Surface, String>>, NamedWarnings) {
    let mut warnings = NamedWarnings::default();
    let items = items(materials).into_iter().enumerate();
    let surface = |(index, material): (usize, Result<Properties, _>)| {
        material.map(|properties| Surface::of(properties, index, &mut warnings))
    };
    (items.map(surface).collect(), warnings)
}

/// The items of a list, parsed one by one, so that an error affects one item only. Anything but a
/// list has no items.
pub(super) fn items<T: DeserializeOwned>(list: Option<&RawValue>) -> Vec<Result<T, String>> {
    let items = list.and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()).ok());
    let parse = |item: &RawValue| {
        serde_json::from_str(item.get())
            .map_err(|error| format!("is malformed: {}", without_place(&error)))
    };
    items.unwrap_or_default().into_iter().map(parse).collect()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Properties {
    name: Option<String>,
    pbr_metallic_roughness: Base,
    alpha_mode: AlphaMode,
    alpha_cutoff: Option<f64>,
    /// In linear light.
    emissive_factor: [f64; 3],
    emissive_texture: Option<TextureInfo>,
    extensions: Extensions,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum AlphaMode {
    #[default]
    Opaque,
    Mask,
    Blend,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Base {
    /// In linear light.
    base_color_factor: Option<[f64; 4]>,
    base_color_texture: Option<TextureInfo>,
    metallic_factor: Option<f64>,
    roughness_factor: Option<f64>,
    metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    specular_glossiness: Option<SpecularGlossiness>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    emissive_strength: Option<EmissiveStrength>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EmissiveStrength {
    emissive_strength: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecularGlossiness {
    diffuse_factor: Option<[f64; 4]>,
    diffuse_texture: Option<TextureInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureInfo {
    index: usize,
    #[serde(default)]
    tex_coord: u32,
    #[serde(default)]
    extensions: TextureExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    transform: Option<Transform>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Transform {
    offset: [f64; 2],
    /// Radians.
    rotation: f64,
    scale: Option<[f64; 2]>,
    tex_coord: Option<u32>,
}
