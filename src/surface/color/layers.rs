//! Metalness, roughness, emission and opacity of materials, integrated over the surface as colours.

use pulp::Simd;

use crate::grid::{Attribute, AttributeSet, VoxelSample};
use crate::mesh::appearance::{Appearance, FilterChoice, Material};
use crate::surface::color::integrator::{BrickTriangles, Integrator, Shaded, Touched, voxels_of};
use crate::surface::color::shade::{Layer, Shading};

/// The material properties and texture coordinates for some attributes of a mesh.
#[derive(Default)]
pub(in crate::surface) struct Layers<'a> {
    list: Vec<(Layer, Shading<'a>)>,
    /// The texture coordinates of each triangle's corners, if they are needed.
    uvs: &'a [[[f32; 2]; 3]],
}

impl Layer {
    fn needed(appearance: &Appearance, set: &AttributeSet) -> impl Iterator<Item = Self> {
        let emitted = appearance.materials.iter().filter_map(|material| material.emission);
        // Not 0: it divides.
        let brightest = emitted.flatten().fold(f32::MIN_POSITIVE, f32::max);
        let has_same_textures = |of: &Material| of.metallic_texture == of.roughness_texture;
        let (metallic, roughness) = if appearance.materials.iter().all(has_same_textures) {
            (&[Attribute::Metallic, Attribute::Roughness][..], &[][..])
        } else {
            (&[Attribute::Metallic][..], &[Attribute::Roughness][..])
        };
        [
            (Self::Color, &[Attribute::Alpha][..]),
            (Self::Metallic, metallic),
            // After `Metallic`, whose roughness it replaces.
            (Self::Roughness, roughness),
            (Self::Emission { brightest }, &[Attribute::Emission]),
        ]
        .into_iter()
        .filter(move |(_, of)| of.iter().any(|attribute| set.contains(attribute)))
        .map(|(layer, _)| layer)
    }

    /// Sets the layer's attributes of a voxel to the means over its surface.
    fn set(self, sample: &mut VoxelSample, [r, g, b, opacity]: [f64; 4]) {
        match self {
            Self::Color => sample.alpha = opacity as f32,
            Self::Metallic => (sample.roughness, sample.metallic) = (g as f32, b as f32),
            Self::Roughness => sample.roughness = g as f32,
            Self::Emission { brightest } => {
                sample.emission = [r, g, b].map(|c| (c * f64::from(brightest)) as f32);
            }
        }
    }
}

impl<'a> Layers<'a> {
    /// An upper estimate of the bytes of [`new`](Self::new).
    pub(in crate::surface) fn bytes(appearance: &Appearance, set: &AttributeSet) -> u64 {
        Layer::needed(appearance, set).map(|layer| Shading::bytes(appearance, layer)).sum()
    }

    pub(in crate::surface) fn new(
        appearance: &'a Appearance,
        set: &AttributeSet,
        filter: FilterChoice,
    ) -> Self {
        let layer = |layer| (layer, Shading::new(appearance, filter, layer));
        let uvs = if set.contains(&Attribute::Uv) { &appearance.uvs[..] } else { &[] };
        Self { list: Layer::needed(appearance, set).map(layer).collect(), uvs }
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

    /// Sets the layers' attributes in `samples`, one for each touched voxel of a brick.
    #[inline(always)]
    pub(in crate::surface) fn set<S: Simd>(
        &self,
        simd: S,
        brick: &BrickTriangles,
        touched: &Touched,
        integrator: &mut Integrator,
        samples: &mut [VoxelSample],
    ) {
        for (layer, shading) in &self.list {
            let shadings = &brick.shadings(shading);
            integrator.add(simd, Shaded { brick, touched, shadings }, &touched.any);
            for (sample, voxel) in samples.iter_mut().zip(voxels_of(&touched.any)) {
                layer.set(sample, integrator.take(voxel).means());
            }
        }
    }
}
