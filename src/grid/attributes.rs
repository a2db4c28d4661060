//! Attributes of voxels: properties of the mesh's surface besides its colour.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::base::names::named;
use crate::grid::values::VoxelValues;
use crate::grid::{VoxelGrid, mask_places};

/// A property of the surface inside a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Attribute {
    /// The area-weighted mean of the triangles' unit normals, a unit vector; zero where opposite
    /// sides cancel.
    Normal,
    /// The index of the triangle with the largest area in the voxel, the lowest of equals.
    Triangle,
    /// The index of that triangle's material.
    Material,
    /// The index of that triangle's object.
    Label,
    /// The area of the surface in the closed voxel, in faces of a voxel.
    Area,
    /// The area-weighted mean of the metalness, from 0 to 1.
    Metallic,
    /// The area-weighted mean of the roughness, from 0 to 1.
    Roughness,
    /// The area-weighted mean of the emitted light: linear red, green and blue, 1 for that of white.
    Emission,
    /// The area-weighted mean of the opacity, from 0 to 1.
    Alpha,
    /// The area-weighted mean of the texture coordinates of [`Self::Triangle`] in the voxel; a mean
    /// across the seams of a texture would have no meaning.
    Uv,
}

named!(Attribute, "attribute", {
    Normal = "normal",
    Triangle = "triangle",
    Material = "material",
    Label = "label",
    Area = "area",
    Metallic = "metallic",
    Roughness = "roughness",
    Emission = "emission",
    Alpha = "alpha",
    Uv = "uv",
});

/// The type of the components of an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Index,
    /// An index of [names](Attributes::names).
    NamedIndex,
}

/// The number of components of a [`SurfaceSample`].
const COMPONENTS: usize = size_of::<SurfaceSample>() / size_of::<u32>();

impl Attribute {
    /// Its place in a [`SurfaceSample`] in bytes, the number and the kind of its components.
    const fn column(self) -> (usize, usize, Kind) {
        match self {
            Self::Normal => (offset_of!(SurfaceSample, normal), 3, Kind::Float),
            Self::Triangle => (offset_of!(SurfaceSample, triangle), 1, Kind::Index),
            Self::Material => (offset_of!(SurfaceSample, material), 1, Kind::NamedIndex),
            Self::Label => (offset_of!(SurfaceSample, label), 1, Kind::NamedIndex),
            Self::Area => (offset_of!(SurfaceSample, area), 1, Kind::Float),
            Self::Metallic => (offset_of!(SurfaceSample, metallic), 1, Kind::Float),
            Self::Roughness => (offset_of!(SurfaceSample, roughness), 1, Kind::Float),
            Self::Emission => (offset_of!(SurfaceSample, emission), 3, Kind::Float),
            Self::Alpha => (offset_of!(SurfaceSample, alpha), 1, Kind::Float),
            Self::Uv => (offset_of!(SurfaceSample, uv), 2, Kind::Float),
        }
    }

    fn range(self) -> Range<usize> {
        let (offset, components, _) = self.column();
        offset / size_of::<u32>()..offset / size_of::<u32>() + components
    }

    /// The number of components: 3 for a vector.
    #[must_use]
    pub fn components(self) -> usize {
        self.column().1
    }

    /// Whether its components are 32-bit floats; else they are 32-bit integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.column().2 == Kind::Float
    }

    /// Whether it is an index of [names](Attributes::names).
    #[must_use]
    pub fn has_names(self) -> bool {
        self.column().2 == Kind::NamedIndex
    }

    /// Whether it comes from the materials and texture coordinates of the mesh.
    pub(crate) fn needs_appearance(self) -> bool {
        !matches!(self, Self::Normal | Self::Triangle | Self::Label | Self::Area)
    }

    /// The components in little-endian bytes; only the first are used where there are fewer.
    pub(crate) fn bytes_of(self, sample: &SurfaceSample) -> [[u8; 4]; 3] {
        let components: &[u32; COMPONENTS] = bytemuck::cast_ref(sample);
        let mut bytes = [[0; 4]; 3];
        for (bytes, component) in bytes.iter_mut().zip(&components[self.range()]) {
            *bytes = component.to_le_bytes();
        }
        bytes
    }

    /// Sets the components, in little-endian bytes; those without bytes are kept.
    pub fn set(self, sample: &mut SurfaceSample, bytes: &[[u8; 4]]) {
        let components: &mut [u32; COMPONENTS] = bytemuck::cast_mut(sample);
        for (component, bytes) in components[self.range()].iter_mut().zip(bytes) {
            *component = u32::from_le_bytes(*bytes);
        }
    }

    /// The components as numbers; only the first are used where there are fewer.
    #[must_use]
    pub fn numbers(self, sample: &SurfaceSample) -> [f64; 3] {
        self.bytes_of(sample).map(|bytes| match self.is_float() {
            true => f32::from_le_bytes(bytes).into(),
            false => i32::from_le_bytes(bytes).into(),
        })
    }
}

/// A set of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AttributeSet(u16);

impl AttributeSet {
    /// Whether it has `attribute`.
    #[must_use]
    pub fn contains(self, attribute: Attribute) -> bool {
        self.0 >> attribute as u8 & 1 == 1
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those in it, in the order of [`Attribute::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Attribute> {
        Attribute::ALL.iter().copied().filter(move |&attribute| self.contains(attribute))
    }
}

impl FromIterator<Attribute> for AttributeSet {
    fn from_iter<I: IntoIterator<Item = Attribute>>(attributes: I) -> Self {
        Self(attributes.into_iter().fold(0, |set, attribute| set | 1 << attribute as u8))
    }
}

/// The surface inside a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SurfaceSample {
    /// See [`Attribute::Normal`].
    pub normal: [f32; 3],
    /// See [`Attribute::Triangle`]; -1 in a voxel that no triangle touches.
    pub triangle: i32,
    /// See [`Attribute::Material`]; -1 in a voxel that no triangle touches, and for meshes without
    /// materials.
    pub material: i32,
    /// See [`Attribute::Label`]; -1 in a voxel that no triangle touches.
    pub label: i32,
    /// See [`Attribute::Area`].
    pub area: f32,
    /// See [`Attribute::Metallic`].
    pub metallic: f32,
    /// See [`Attribute::Roughness`].
    pub roughness: f32,
    /// See [`Attribute::Emission`].
    pub emission: [f32; 3],
    /// See [`Attribute::Alpha`].
    pub alpha: f32,
    /// See [`Attribute::Uv`]; as [`Appearance::uvs`](crate::Appearance::uvs), with `v` down.
    pub uv: [f32; 2],
}

impl SurfaceSample {
    /// That of a voxel that no triangle touches.
    pub const NONE: Self = Self {
        normal: [0.0; 3],
        triangle: -1,
        material: -1,
        label: -1,
        area: 0.0,
        metallic: 0.0,
        roughness: 0.0,
        emission: [0.0; 3],
        alpha: 0.0,
        uv: [0.0; 2],
    };
}

/// The attributes of a grid's voxels.
#[derive(Debug, Clone)]
pub struct Attributes {
    set: AttributeSet,
    names: Arc<AttributeNames>,
    values: VoxelValues<SurfaceSample>,
}

/// The names of materials and objects, by index, of attributes that have them.
pub(crate) type AttributeNames = BTreeMap<Attribute, Vec<String>>;

impl Attributes {
    /// Attributes with these values, and the names of those that [have names](Attribute::has_names).
    #[must_use]
    pub fn new(
        set: AttributeSet,
        names: BTreeMap<Attribute, Vec<String>>,
        values: VoxelValues<SurfaceSample>,
    ) -> Self {
        Self { set, names: Arc::new(names), values }
    }

    /// The attributes that were asked for. The others are not written to files.
    #[must_use]
    pub fn set(&self) -> AttributeSet {
        self.set
    }

    /// The names of materials or objects, by index, for each attribute that has them.
    #[must_use]
    pub fn names(&self) -> &BTreeMap<Attribute, Vec<String>> {
        &self.names
    }

    /// The surface in each voxel; [`SurfaceSample::NONE`] where there is none.
    #[must_use]
    pub fn values(&self) -> &VoxelValues<SurfaceSample> {
        &self.values
    }

    /// The surface in each voxel of `grid`, in the order of [`VoxelGrid::voxels`].
    ///
    /// ```
    /// use trivox::grid::Attribute;
    /// use trivox::{Mesh, Voxelizer};
    ///
    /// let corners = vec![[0.0, 0.0, 0.5], [4.0, 0.0, 0.5], [0.0, 4.0, 0.5]];
    /// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
    /// let grid = Voxelizer::new().resolution(4).attributes([Attribute::Normal]).run(&mesh)?.grid;
    /// let attributes = grid.attributes.as_ref().expect("they were asked for");
    /// let normals: Vec<[f32; 3]> = attributes.of_voxels(&grid).map(|of| of.normal).collect();
    /// assert_eq!(normals, vec![[0.0, 0.0, 1.0]; grid.occupied() as usize]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_voxels<'a>(
        &'a self,
        grid: &'a VoxelGrid,
    ) -> impl Iterator<Item = SurfaceSample> + 'a {
        grid.bricks().flat_map(|(key, mask)| {
            let brick = self.values.of_brick(key);
            mask_places(mask).map(move |(x, bit)| brick.at(x, bit))
        })
    }

    /// The same attributes with other values.
    pub(crate) fn with_values(&self, values: VoxelValues<SurfaceSample>) -> Self {
        Self { values, ..self.clone() }
    }
}
