//! What voxels hold of the mesh's surface, besides its colour.

use std::collections::BTreeMap;
use std::sync::Arc;

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
}

named!(Attribute, "attribute", {
    Normal = "normal",
    Triangle = "triangle",
    Material = "material",
    Label = "label",
    Area = "area",
});

impl Attribute {
    /// The number of components: 3 for a vector.
    #[must_use]
    pub fn components(self) -> usize {
        if self == Self::Normal { 3 } else { 1 }
    }

    /// Whether its components are 32-bit floats; else they are 32-bit integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Normal | Self::Area)
    }

    /// Whether it is an index of [names](Attributes::names).
    #[must_use]
    pub fn has_names(self) -> bool {
        matches!(self, Self::Material | Self::Label)
    }

    /// The components in little-endian bytes; only the first are used where there are fewer.
    pub(crate) fn bytes_of(self, sample: &SurfaceSample) -> [[u8; 4]; 3] {
        let one = |bytes| [bytes, [0; 4], [0; 4]];
        match self {
            Self::Normal => sample.normal.map(f32::to_le_bytes),
            Self::Triangle => one(sample.triangle.to_le_bytes()),
            Self::Material => one(sample.material.to_le_bytes()),
            Self::Label => one(sample.label.to_le_bytes()),
            Self::Area => one(sample.area.to_le_bytes()),
        }
    }

    /// Sets the components that [`bytes_of`](Self::bytes_of) gives.
    ///
    /// # Panics
    /// There are too few.
    pub(crate) fn set(self, sample: &mut SurfaceSample, bytes: &[[u8; 4]]) {
        match self {
            Self::Normal => sample.normal = [0, 1, 2].map(|axis| f32::from_le_bytes(bytes[axis])),
            Self::Triangle => sample.triangle = i32::from_le_bytes(bytes[0]),
            Self::Material => sample.material = i32::from_le_bytes(bytes[0]),
            Self::Label => sample.label = i32::from_le_bytes(bytes[0]),
            Self::Area => sample.area = f32::from_le_bytes(bytes[0]),
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
pub struct AttributeSet(u8);

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
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

impl SurfaceSample {
    /// That of a voxel that no triangle touches.
    pub const NONE: Self =
        Self { normal: [0.0; 3], triangle: -1, material: -1, label: -1, area: 0.0 };
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
    pub(crate) fn new(
        set: AttributeSet,
        names: AttributeNames,
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

    /// Whether the other has the same attributes and names, of whatever voxels.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.set == other.set && self.names == other.names
    }
}
