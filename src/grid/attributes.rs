//! Attributes of voxels: properties of the mesh besides its colour.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::base::names::named;
use crate::base::numbers::short;
use crate::grid::values::{BrickValues, VoxelValues};
use crate::grid::{BrickKey, Mask, VoxelGrid, mask_places};

/// A property of the mesh in a voxel: of the surface inside it, but for label and coverage in a
/// solid.
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
    /// The index of an object: in a solid, the last object that is closed and holds the voxel's
    /// centre; where there is none, and in surfaces, the object of [`Self::Triangle`].
    Label,
    /// The area of the surface in the closed voxel, in faces of a voxel.
    Area,
    /// The area-weighted mean of the metalness, from 0 to 1.
    Metallic,
    /// The area-weighted mean of the roughness, from 0 to 1.
    Roughness,
    /// The area-weighted mean of the emitted light: linear red, green and blue, 1 for that of
    /// white.
    Emission,
    /// The area-weighted mean of the opacity, from 0 to 1.
    Alpha,
    /// The area-weighted mean of the texture coordinates of [`Self::Triangle`] in the voxel; a mean
    /// across the seams of a texture would have no meaning.
    Uv,
    /// The fraction of the voxel's 8 x 8 x 8 sub-voxels whose centre is inside the solid.
    Coverage,
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
    Coverage = "coverage",
});

/// The components of an attribute in a voxel, as bits: only the first where there are fewer.
pub type Bits = [u32; 3];

/// The number of components of a [`VoxelSample`].
const COMPONENTS: usize = size_of::<VoxelSample>() / size_of::<u32>();

impl Attribute {
    /// The place of its components in a [`VoxelSample`].
    fn range(self) -> Range<usize> {
        let (offset, components) = match self {
            Self::Normal => (offset_of!(VoxelSample, normal), 3),
            Self::Triangle => (offset_of!(VoxelSample, triangle), 1),
            Self::Material => (offset_of!(VoxelSample, material), 1),
            Self::Label => (offset_of!(VoxelSample, label), 1),
            Self::Area => (offset_of!(VoxelSample, area), 1),
            Self::Metallic => (offset_of!(VoxelSample, metallic), 1),
            Self::Roughness => (offset_of!(VoxelSample, roughness), 1),
            Self::Emission => (offset_of!(VoxelSample, emission), 3),
            Self::Alpha => (offset_of!(VoxelSample, alpha), 1),
            Self::Uv => (offset_of!(VoxelSample, uv), 2),
            Self::Coverage => (offset_of!(VoxelSample, coverage), 1),
        };
        let first = offset / size_of::<u32>();
        first..first + components
    }

    /// The number of components: 3 for a vector.
    #[must_use]
    pub fn components(self) -> usize {
        self.range().len()
    }

    /// Whether its components are 32-bit floats; else they are 32-bit integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        self != Self::Triangle && !self.has_names()
    }

    /// Whether it is an index of [names](Attributes::names).
    #[must_use]
    pub fn has_names(self) -> bool {
        matches!(self, Self::Material | Self::Label)
    }

    /// Whether it comes from the materials and texture coordinates of the mesh.
    pub(crate) fn needs_appearance(self) -> bool {
        self.is_of_surface() && !matches!(self, Self::Normal | Self::Triangle | Self::Area)
    }

    /// Whether only voxels at the surface have it.
    #[must_use]
    pub fn is_of_surface(self) -> bool {
        !matches!(self, Self::Label | Self::Coverage)
    }

    /// Its components in a sample.
    #[must_use]
    pub fn bits_of(self, sample: &VoxelSample) -> Bits {
        let components: &[u32; COMPONENTS] = bytemuck::cast_ref(sample);
        let mut bits = [0; 3];
        bits.iter_mut().zip(&components[self.range()]).for_each(|(bits, of)| *bits = *of);
        bits
    }

    fn set(self, sample: &mut VoxelSample, bits: Bits) {
        let components: &mut [u32; COMPONENTS] = bytemuck::cast_mut(sample);
        components[self.range()].iter_mut().zip(bits).for_each(|(of, bits)| *of = bits);
    }

    /// The components in a voxel that does not have it: -1 of an index, else 0.
    #[must_use]
    pub fn none(self) -> Bits {
        self.bits_of(&VoxelSample::NONE)
    }

    /// The components as numbers.
    #[must_use]
    pub fn numbers(self, bits: Bits) -> [f64; 3] {
        bits.map(|bits| {
            if self.is_float() { f32::from_bits(bits).into() } else { bits.cast_signed().into() }
        })
    }

    /// Checks the components in a voxel, for an attribute with so many
    /// [names](Attributes::names), if it has a list of them.
    ///
    /// # Errors
    /// A float that is not finite or out of range; an index below -1 or without a name. The text
    /// has the number and what to use.
    pub fn check(self, bits: Bits, names: Option<usize>) -> Result<(), String> {
        let (range, wanted) = match (self, names) {
            (Self::Uv, _) => (f64::MIN..=f64::MAX, "finite numbers".to_owned()),
            // Unit vectors of other programs may be rounded up.
            (Self::Normal, _) => (-1.01..=1.01, "-1 to 1".to_owned()),
            (Self::Metallic | Self::Roughness | Self::Alpha | Self::Coverage, _) => {
                (0.0..=1.0, "0 to 1".to_owned())
            }
            _ if self.is_float() => (0.0..=f64::MAX, "finite numbers from 0".to_owned()),
            (_, Some(0)) => (-1.0..=-1.0, "-1, as there are no names".to_owned()),
            (_, Some(names)) => (-1.0..=names as f64 - 1.0, format!("-1 to {}", names - 1)),
            (_, None) => (-1.0..=f64::MAX, "-1 or more".to_owned()),
        };
        let numbers = self.numbers(bits);
        match numbers[..self.components()].iter().find(|&number| !range.contains(number)) {
            Some(wrong) => Err(format!("{} is not possible: use {wanted}", short(wrong))),
            None => Ok(()),
        }
    }
}

/// A set of attributes.
pub type AttributeSet = BTreeSet<Attribute>;

/// All attributes of a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct VoxelSample {
    /// See [`Attribute::Normal`].
    pub normal: [f32; 3],
    /// See [`Attribute::Triangle`]; -1 in a voxel that no triangle touches.
    pub triangle: i32,
    /// See [`Attribute::Material`]; -1 in a voxel that no triangle touches, and for meshes without
    /// materials.
    pub material: i32,
    /// See [`Attribute::Label`]; -1 in a voxel that no object holds and no triangle touches.
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
    /// See [`Attribute::Coverage`].
    pub coverage: f32,
}

impl VoxelSample {
    /// The sample of a voxel without attributes, in which no triangle is.
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
        coverage: 0.0,
    };
}

/// The values of an attribute.
#[derive(Debug, Clone)]
pub enum Channel {
    /// Values of one component.
    Scalar(VoxelValues<u32>),
    /// Values of two or three components.
    Vector(VoxelValues<Bits>),
}

/// The values of an attribute in a brick.
pub(crate) enum BrickChannel<'a> {
    Scalar(BrickValues<'a, u32>),
    Vector(BrickValues<'a, Bits>),
}

impl BrickChannel<'_> {
    pub(crate) fn at(&self, x: u32, bit: u32) -> Bits {
        match self {
            Self::Scalar(values) => [values.at(x, bit), 0, 0],
            Self::Vector(values) => values.at(x, bit),
        }
    }
}

impl Channel {
    /// The values of `attribute`, as [`VoxelValues::from_bricks`] takes them; all other voxels do
    /// not have it.
    ///
    /// # Panics
    /// As [`VoxelValues::from_bricks`].
    #[must_use]
    pub fn from_bricks(attribute: Attribute, bricks: Vec<(BrickKey, Mask, Vec<Bits>)>) -> Self {
        let none = attribute.none();
        if attribute.components() > 1 {
            return Self::Vector(VoxelValues::from_bricks(bricks, none));
        }
        let first = |of: Vec<Bits>| of.into_iter().map(|[first, ..]| first).collect();
        let bricks = bricks.into_iter().map(|(key, mask, own)| (key, mask, first(own)));
        Self::Scalar(VoxelValues::from_bricks(bricks.collect(), none[0]))
    }

    /// The components in each voxel of `grid`, in the order of [`VoxelGrid::voxels`].
    pub fn of_voxels<'a>(&'a self, grid: &'a VoxelGrid) -> impl Iterator<Item = Bits> + 'a {
        grid.bricks().flat_map(|(key, mask)| {
            let brick = self.of_brick(key);
            mask_places(mask).map(move |(x, bit)| brick.at(x, bit))
        })
    }

    pub(crate) fn of_brick(&self, key: BrickKey) -> BrickChannel<'_> {
        match self {
            Self::Scalar(values) => BrickChannel::Scalar(values.of_brick(key)),
            Self::Vector(values) => BrickChannel::Vector(values.of_brick(key)),
        }
    }

    /// The components in all voxels without their own value.
    pub(crate) fn rest(&self) -> Bits {
        match self {
            Self::Scalar(values) => [values.rest(), 0, 0],
            Self::Vector(values) => values.rest(),
        }
    }

    /// The number of voxels with their own value.
    #[must_use]
    pub fn own_count(&self) -> u64 {
        match self {
            Self::Scalar(values) => values.own_count(),
            Self::Vector(values) => values.own_count(),
        }
    }

    /// Bytes of memory of an attribute of so many bricks with `own` values in all.
    pub(crate) fn bytes_of(attribute: Attribute, bricks: u64, own: u64) -> u64 {
        match attribute.components() {
            1 => VoxelValues::<u32>::bytes_of(bricks, own),
            _ => VoxelValues::<Bits>::bytes_of(bricks, own),
        }
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Scalar(values) => values.bytes(),
            Self::Vector(values) => values.bytes(),
        }
    }
}

/// The attributes of a grid's voxels.
#[derive(Debug, Clone)]
pub struct Attributes {
    names: Arc<AttributeNames>,
    channels: BTreeMap<Attribute, Channel>,
}

/// The names of materials and objects, by index, of attributes that have them.
pub(crate) type AttributeNames = BTreeMap<Attribute, Vec<String>>;

impl Attributes {
    /// Attributes with these values, and the names of those that
    /// [have names](Attribute::has_names).
    ///
    /// # Panics
    /// A channel has another number of components than its attribute.
    #[must_use]
    pub fn new(
        names: BTreeMap<Attribute, Vec<String>>,
        channels: BTreeMap<Attribute, Channel>,
    ) -> Self {
        for (attribute, channel) in &channels {
            let is_scalar = matches!(channel, Channel::Scalar(_));
            assert_eq!(is_scalar, attribute.components() == 1, "components of {attribute}");
        }
        Self { names: Arc::new(names), channels }
    }

    /// The attributes that the voxels have.
    #[must_use]
    pub fn set(&self) -> AttributeSet {
        self.channels.keys().copied().collect()
    }

    /// The names of materials or objects, by index, for each attribute that has them.
    #[must_use]
    pub fn names(&self) -> &BTreeMap<Attribute, Vec<String>> {
        &self.names
    }

    /// The values of each attribute.
    #[must_use]
    pub fn channels(&self) -> &BTreeMap<Attribute, Channel> {
        &self.channels
    }

    /// All attributes of each voxel of `grid`, in the order of [`VoxelGrid::voxels`]; those that it
    /// does not have are as in [`VoxelSample::NONE`].
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
    pub fn of_voxels<'a>(&'a self, grid: &'a VoxelGrid) -> impl Iterator<Item = VoxelSample> + 'a {
        grid.bricks().flat_map(|(key, mask)| {
            let bricks: Vec<_> =
                self.channels.iter().map(|(of, channel)| (*of, channel.of_brick(key))).collect();
            mask_places(mask).map(move |(x, bit)| {
                let mut sample = VoxelSample::NONE;
                bricks.iter().for_each(|(of, brick)| of.set(&mut sample, brick.at(x, bit)));
                sample
            })
        })
    }

    /// The same attributes with other values.
    pub(crate) fn with_channels(&self, change: impl Fn(&Channel) -> Channel) -> Self {
        let changed = self.channels.iter().map(|(&of, channel)| (of, change(channel)));
        Self { names: Arc::clone(&self.names), channels: changed.collect() }
    }
}
