//! Metalness, roughness, emission and opacity of materials, integrated over the surface as colours.

use crate::grid::{Attribute, AttributeSet, VoxelSample};
use crate::mesh::appearance::{Appearance, FilterChoice, Material};
use crate::surface::color::clip::{Plane, Polygon, TexelMap};
use crate::surface::color::coverage;
use crate::surface::color::polygon::TexelPolygon;
use crate::surface::color::shade::{Layer, Shading, TriangleShading};
use crate::surface::color::sums::Sums;

/// The material properties and texture coordinates for some attributes of a mesh.
#[derive(Default)]
pub(in crate::surface) struct Layers<'a> {
    list: Vec<(Layer, Shading<'a>)>,
    /// The texture coordinates of each triangle's corners, if they are needed.
    uvs: &'a [[[f32; 2]; 3]],
}

/// The layers of a triangle.
pub(in crate::surface) struct TriangleLayers<'a>(Vec<(TriangleShading<'a>, Option<TexelMap>)>);

/// Scratch memory of a task.
pub(in crate::surface) struct LayerScratch {
    texels: TexelPolygon,
    coverage: coverage::Scratch,
    /// By voxel of a brick, then by layer. Empty between bricks.
    sums: Vec<Sums>,
}

impl Default for LayerScratch {
    fn default() -> Self {
        Self { texels: TexelPolygon::EMPTY, coverage: Default::default(), sums: Vec::new() }
    }
}

impl Layer {
    fn needed(appearance: &Appearance, set: AttributeSet) -> impl Iterator<Item = Self> {
        let emitted = appearance.materials.iter().filter_map(|material| material.emission);
        // Not 0: it divides.
        let brightest = emitted.flatten().fold(f32::MIN_POSITIVE, f32::max);
        let has_same_textures = |of: &Material| of.metallic_texture == of.roughness_texture;
        let (metallic, roughness) = match appearance.materials.iter().all(has_same_textures) {
            true => (&[Attribute::Metallic, Attribute::Roughness][..], &[][..]),
            false => (&[Attribute::Metallic][..], &[Attribute::Roughness][..]),
        };
        [
            (Self::Color, &[Attribute::Alpha][..]),
            (Self::Metallic, metallic),
            // After `Metallic`, whose roughness it replaces.
            (Self::Roughness, roughness),
            (Self::Emission { brightest }, &[Attribute::Emission]),
        ]
        .into_iter()
        .filter(move |(_, of)| of.iter().any(|&attribute| set.contains(attribute)))
        .map(|(layer, _)| layer)
    }
}

impl<'a> Layers<'a> {
    /// An upper estimate of the bytes of [`new`](Self::new).
    pub(in crate::surface) fn bytes(appearance: &Appearance, set: AttributeSet) -> u64 {
        Layer::needed(appearance, set).map(|layer| Shading::bytes(appearance, layer)).sum()
    }

    pub(in crate::surface) fn new(
        appearance: &'a Appearance,
        set: AttributeSet,
        filter: FilterChoice,
    ) -> Self {
        let layer = |layer| (layer, Shading::new(appearance, filter, layer));
        let uvs = if set.contains(Attribute::Uv) { &appearance.uvs[..] } else { &[] };
        Self { list: Layer::needed(appearance, set).map(layer).collect(), uvs }
    }

    pub(in crate::surface) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(in crate::surface) fn has_uvs(&self) -> bool {
        !self.uvs.is_empty()
    }

    /// The texture coordinates of a triangle at the point with these barycentric weights of its
    /// second and third corner; 0 if it has none.
    pub(in crate::surface) fn uv(&self, triangle: usize, [s, t]: [f64; 2]) -> [f32; 2] {
        let Some([a, b, c]) = self.uvs.get(triangle) else { return [0.0; 2] };
        let uv = [0, 1].map(|axis| {
            let [a, b, c] = [a, b, c].map(|uv| f64::from(uv[axis]));
            (a + s * (b - a) + t * (c - a)) as f32
        });
        if uv.iter().all(|c| c.is_finite()) { uv } else { [0.0; 2] }
    }

    /// The layers of a triangle with these vertices.
    pub(in crate::surface) fn of(
        &self,
        triangle: usize,
        vertices: [u32; 3],
        plane: Plane,
    ) -> TriangleLayers<'_> {
        let of_layers = self.list.iter().map(|(_, shading)| {
            let shading = shading.of(triangle, vertices);
            let is_uniform = shading.uniform().is_some();
            let map = if is_uniform { None } else { shading.texel_map(plane) };
            (shading, map)
        });
        TriangleLayers(of_layers.collect())
    }

    /// Sets the means over the polygons that were added in a voxel, and removes them.
    pub(in crate::surface) fn take(
        &self,
        scratch: &mut LayerScratch,
        voxel: usize,
        sample: &mut VoxelSample,
    ) {
        let sums = scratch.sums.iter_mut().skip(self.list.len() * voxel);
        for ((layer, _), sums) in self.list.iter().zip(sums) {
            let [r, g, b, opacity] = std::mem::take(sums).means();
            match layer {
                Layer::Color => sample.alpha = opacity as f32,
                Layer::Metallic => (sample.roughness, sample.metallic) = (g as f32, b as f32),
                Layer::Roughness => sample.roughness = g as f32,
                Layer::Emission { brightest } => {
                    let light = |c: f64| (c * f64::from(*brightest)) as f32;
                    sample.emission = [r, g, b].map(light);
                }
            }
        }
    }
}

impl LayerScratch {
    /// Adds a clipped polygon of a triangle with these layers.
    pub(in crate::surface) fn add(
        &mut self,
        TriangleLayers(layers): &TriangleLayers,
        voxel: usize,
        weight: u64,
        plane: &Plane,
        polygon: &Polygon,
    ) {
        self.sums.resize(512 * layers.len(), Sums::default());
        let sums = &mut self.sums[layers.len() * voxel..];
        for ((shading, map), sums) in layers.iter().zip(sums) {
            if let Some(map) = map {
                map.map(polygon, &mut self.texels);
            }
            let coverage = &mut self.coverage;
            sums.add(weight, &shading.mean(plane, polygon, map.as_ref(), &self.texels, coverage));
        }
    }
}
