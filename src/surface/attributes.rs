//! The attributes of voxels: the normal, the triangle, its material and label, the area of the
//! surface inside each, and properties of its materials (`layers`). In solids the label is that of
//! the objects' own solids (`labels`), and the `coverage` that of the solid on a finer grid.
//!
//! Triangles are assigned to bricks as for colours. A triangle counts in exactly the voxels that it
//! touches. Its weight in a voxel is its area there, in units of `2^-k` of a face (`k` is 20 for
//! meshes of up to 134 million triangles), and one unit for touching: also voxels touched only in
//! points and edges have a normal. Sums are integers, so the order of triangles has no effect. All
//! other operations are basic ones on `f64`: attributes are the same on every machine, to the bit.

mod coverage;
mod labels;

use std::collections::{BTreeMap, HashMap};

use bytemuck::Pod;
use pulp::Simd;
use rayon::prelude::*;

use crate::backend::{BackendError, check_memory};
use crate::base::progress::{Latch, Progress};
use crate::base::vector::norm;
use crate::grid::{
    Attribute, AttributeNames, AttributeSet, Attributes, Bits, BrickKey, Channel, Mask, VoxelGrid,
    VoxelSample, VoxelValues, count, is_empty,
};
use crate::lattice::{Distinct, PlacedMesh, Triangle, normal};
use crate::mesh::appearance::Material;
use crate::solid::mode::Mode;
use crate::surface::attributes::labels::Objects;
use crate::surface::color::ColorOptions;
use crate::surface::color::descent::{self, BrickWork};
use crate::surface::color::integrator::{BrickTriangles, Integrator, voxels_of};
use crate::surface::color::layers::Layers;
use crate::surface::color::parts::{Part, each_part};
use crate::surface::color::sums::Weights;

/// Why `mode`, with the fill of the coverage, gives the voxels of the mesh no `attribute`; `None`
/// if it does.
pub(crate) fn why_missing(
    mesh: &PlacedMesh,
    attribute: Attribute,
    mode: Mode,
) -> Option<&'static str> {
    let any = |states: fn(&Material) -> bool| {
        mesh.appearance().is_some_and(|look| look.materials.iter().any(states))
    };
    let (has, without) = match attribute {
        Attribute::Normal | Attribute::Triangle | Attribute::Label | Attribute::Area => {
            return None;
        }
        Attribute::Material => (mesh.has_materials(), "the mesh has no materials"),
        Attribute::Alpha => (mesh.appearance().is_some(), "the mesh has no colours"),
        Attribute::Uv => {
            let has_uvs = mesh.appearance().is_some_and(|look| !look.uvs.is_empty());
            (has_uvs, "the mesh has no textures")
        }
        Attribute::Metallic => (any(|of| of.metallic.is_some()), "no material states metalness"),
        Attribute::Roughness => (any(|of| of.roughness.is_some()), "no material states roughness"),
        Attribute::Emission => (any(|of| of.emission.is_some()), "no material states emission"),
        Attribute::Coverage => return coverage::why_missing(mesh, mode),
    };
    (!has).then_some(without)
}

/// The attributes of a grid.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Attributed {
    /// The attributes.
    pub attributes: Attributes,
    /// The objects of a solid that are not closed: only voxels at their surface have their label.
    pub open_objects: Vec<u32>,
    /// The objects of a solid that are thinner than an eighth of a voxel: their coverage is not
    /// certain.
    pub thin_objects: Vec<u32>,
    /// Whether parts overlap in a column of the finer grid of the coverage, or may do so; `false`
    /// without coverage.
    pub overlap: bool,
}

/// The attributes `set` of the voxels of `grid`, a voxelization of `mesh`, with the mode, the
/// filter and the memory limit of `options`.
///
/// The coverage is by the fill that the mode names; `auto` chooses again on its finer grid.
///
/// # Errors
/// The memory limit, cancellation; more than 2,147,483,647 triangles, whose indices no 32-bit
/// integer holds.
///
/// # Panics
/// The dimensions of `grid` are not those of the mesh's lattice.
pub fn attributes(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    set: &AttributeSet,
    options: &ColorOptions,
    progress: &dyn Progress,
) -> Result<Attributed, BackendError> {
    assert_eq!(grid.dims(), mesh.lattice().dims, "the grid of the mesh");
    if i32::try_from(mesh.whole().len()).is_err() {
        let why = "attributes are for meshes of at most 2,147,483,647 triangles";
        return Err(BackendError::Failed(why.to_owned()));
    }
    let (&ColorOptions { filter, memory, .. }, look) = (options, mesh.appearance());
    let progress = &Latch::new(progress);
    progress.start("attributes", descent::SHARES);
    let needed = 2 * mesh.len() as u64 * size_of::<u32>() as u64
        + look.map_or(0, |look| Layers::bytes(look, set));
    check_memory(needed, memory)?;
    let layers = &look.map(|look| Layers::new(look, set, filter)).unwrap_or_default();
    let is_of_surface = |of: &Attribute| {
        of.is_of_surface() || *of == Attribute::Label && labels::has_several_objects(mesh)
    };
    let of_surface: AttributeSet = set.iter().copied().filter(is_of_surface).collect();
    let (material_names, index_of_material) = material_names(mesh);
    let (mut sampled, mut bytes) = (Sampled { set: of_surface, bricks: Vec::new() }, 0);
    if !sampled.set.is_empty() {
        let (distinct, set) = (&Distinct::of(mesh, true), &sampled.set);
        let is_solid = matches!(options.mode, Mode::Solid(_));
        let sampler = Sampler { layers, index_of_material, grid, is_solid, set };
        let found = descent::bricks(&sampler, distinct, grid, false, memory - needed, progress)
            .map_err(|error| error.with_kept_bytes(needed, memory))?;
        let is_touched = |brick: &SampledBrick| !is_empty(&brick.mask);
        sampled.bricks = found.into_iter().flatten().filter(is_touched).collect();
        sampled.bricks.par_sort_unstable_by_key(|brick| brick.key);
        let voxels = sampled.bricks.iter().map(Sampler::voxels).sum();
        bytes = sampler.bytes(sampled.bricks.len() as u64, voxels);
    }
    let (mut channels, mut objects, mut overlap) = (BTreeMap::new(), Objects::default(), false);
    let mut kept = needed + bytes;
    for &attribute in set {
        let left = memory.saturating_sub(kept);
        let beside = |error: BackendError| error.with_kept_bytes(kept, memory);
        let channel = match attribute {
            Attribute::Label => {
                let found = labels::channel(mesh, grid, &sampled, options.mode, left, progress);
                let (channel, found) = found.map_err(beside)?;
                objects = found;
                channel
            }
            Attribute::Coverage => {
                let found = coverage::channel(mesh, grid, options.mode, left, progress);
                let (channel, may_overlap) = found.map_err(beside)?;
                overlap = may_overlap;
                channel
            }
            _ => sampled.channel(attribute),
        };
        // The channels of the surface count in `bytes`.
        kept += if attribute.is_of_surface() { 0 } else { channel.bytes() };
        channels.insert(attribute, channel);
    }
    Ok(Attributed {
        attributes: Attributes::new(names(mesh, material_names, set), channels),
        open_objects: objects.open,
        thin_objects: objects.thin,
        overlap,
    })
}

/// Attributes of the surface in each brick that triangles touch.
struct Sampled {
    set: AttributeSet,
    /// In order of their keys.
    bricks: Vec<SampledBrick>,
}

struct SampledBrick {
    key: BrickKey,
    /// The voxels that triangles touch.
    mask: Mask,
    /// For each attribute the components of each voxel, as many as its [`stored_components`].
    columns: Vec<u32>,
}

/// The words that a [`Channel`] stores for a voxel.
fn stored_components(attribute: Attribute) -> usize {
    if attribute.components() == 1 { 1 } else { size_of::<Bits>() / size_of::<u32>() }
}

impl Sampled {
    /// The components of `attribute` in the voxels of a brick.
    fn column<'a>(&self, attribute: Attribute, brick: &'a SampledBrick) -> &'a [u32] {
        let voxels = count(&brick.mask) as usize;
        let before = self.set.range(..attribute).copied();
        &brick.columns[voxels * before.map(stored_components).sum::<usize>()..]
            [..voxels * stored_components(attribute)]
    }

    fn channel(&self, attribute: Attribute) -> Channel {
        let none = attribute.none();
        match stored_components(attribute) {
            1 => Channel::Scalar(self.values(attribute, none[0])),
            _ => Channel::Vector(self.values(attribute, none)),
        }
    }

    /// The values of `attribute`; `none` in other voxels.
    fn values<T: Pod + Sync>(&self, attribute: Attribute, none: T) -> VoxelValues<T> {
        let mut values = VoxelValues::uniform(none);
        let voxels = self.bricks.iter().map(|brick| count(&brick.mask) as usize);
        values.reserve(self.bricks.len(), voxels.sum());
        for brick in &self.bricks {
            let own = self.column(attribute, brick);
            values.push(brick.key, brick.mask, bytemuck::cast_slice(own));
        }
        values
    }
}

/// What determines the attributes of the surface.
struct Sampler<'a> {
    layers: &'a Layers<'a>,
    /// The index of the name of each material.
    index_of_material: Vec<u32>,
    grid: &'a VoxelGrid,
    is_solid: bool,
    set: &'a AttributeSet,
}

/// The names of materials, and the index of that of each material. Those of the same name are one,
/// such as a material with and without its texture; those without a name are not.
fn material_names(mesh: &PlacedMesh) -> (Vec<String>, Vec<u32>) {
    let mut names: Vec<String> = Vec::new();
    let mut known = HashMap::new();
    let materials = mesh.appearance().map_or(&[][..], |look| &look.materials);
    let indices = materials.iter().map(|material| {
        let next = names.len() as u32;
        let index = match &material.name[..] {
            "" => next,
            name => *known.entry(name).or_insert(next),
        };
        if index == next {
            names.push(material.name.clone());
        }
        index
    });
    let indices = indices.collect();
    (names, indices)
}

/// The names of the materials and objects of `mesh`, of those in `set`.
fn names(mesh: &PlacedMesh, materials: Vec<String>, set: &AttributeSet) -> AttributeNames {
    let mut names = AttributeNames::new();
    if set.contains(&Attribute::Material) && mesh.appearance().is_some() {
        names.insert(Attribute::Material, materials);
    }
    if set.contains(&Attribute::Label) {
        // Without labels all is one object.
        let objects = mesh.labels().map_or_else(|| vec![String::new()], |all| all.names().to_vec());
        names.insert(Attribute::Label, objects);
    }
    names
}

/// Scratch memory of a task.
#[derive(Default)]
struct Scratch {
    integrator: Integrator,
    /// By voxel: empty before the first brick, zeros between bricks.
    sums: Vec<AttributeSums>,
}

/// The properties of a triangle that its parts share.
#[derive(Default)]
struct TriangleFacts {
    /// The index in the file.
    source: u32,
    /// The number of triangles with the same corners.
    copies: u32,
    /// The unit normal, in parts of [`NORMAL_UNITS`].
    normal: [i64; 3],
    /// The [`plane_of`] the triangle.
    plane: Option<(usize, i64)>,
}

/// Components of a unit normal are rounded to this part of one, so that a normal is off by at most
/// `2^-16` along each axis.
const NORMAL_UNITS: f64 = 32768.0;

/// Sums over the triangles that touch a voxel.
///
/// A weight is at most `1.5 * 2^k + 1`, below `2^(k + 1)`, and a component of a normal at most
/// `2^15`. With `n` triangles no sum reaches `2^63` if `k + 16 + log2 n <= 63`, which
/// [`Weights::new`] ensures.
#[derive(Debug, Clone, Copy, Default)]
struct AttributeSums {
    normal: [i64; 3],
    weight: i64,
    /// In halves of units, without those for touching.
    half_area: u64,
    /// The largest area of a triangle, and the triangle; only if `weight` is not 0.
    largest: u64,
    triangle: u32,
    /// The barycentric weights of its second and third corner at the centroid of its part.
    centroid: [f64; 2],
}

impl AttributeSums {
    /// Adds a part of each of the copies of a triangle. `halves` of its area count for the voxel: 1
    /// in a face that two occupied voxels share, otherwise 2.
    #[inline(always)]
    fn add(&mut self, part: &Part, triangle: &TriangleFacts, halves: u64, weights: Weights) {
        let TriangleFacts { source, copies, normal, .. } = *triangle;
        let area = weights.units(part.area);
        let is_larger = area > self.largest || area == self.largest && source < self.triangle;
        if self.weight == 0 || is_larger {
            (self.largest, self.triangle, self.centroid) = (area, source, part.weights);
        }
        let weight = i64::from(copies) * (area as i64 + 1);
        for (sum, component) in self.normal.iter_mut().zip(normal) {
            *sum += weight * component;
        }
        self.weight += weight;
        self.half_area += u64::from(copies) * halves * area;
    }

    /// The normalized sum; zero where less than a 1024th of the weight is left.
    fn normal(&self) -> [f32; 3] {
        const LEAST: f64 = NORMAL_UNITS / 1024.0;
        let normal = self.normal.map(|sum| sum as f64);
        let length = norm(normal);
        if length < self.weight as f64 * LEAST || length == 0.0 {
            return [0.0; 3];
        }
        // Adding 0 turns -0 into 0.
        normal.map(|c| (c / length) as f32 + 0.0)
    }
}

/// The unit normal in units of `1 / NORMAL_UNITS`, by the right-hand rule; zeros for a triangle
/// without area.
fn normal_of(triangle: &Triangle) -> [i64; 3] {
    // Exact: at most 2^49.
    let normal = normal(triangle).map(|c| c as f64);
    let length = norm(normal);
    if length == 0.0 {
        return [0; 3];
    }
    // Rounded alike in both directions, so that opposite sides cancel.
    let rounded = |c: f64| if c < 0.0 { -((0.5 - c) as i64) } else { (c + 0.5) as i64 };
    normal.map(|c| rounded(c / length * NORMAL_UNITS))
}

impl BrickWork for Sampler<'_> {
    type Scratch = Scratch;
    type Output = SampledBrick;

    fn voxels(brick: &SampledBrick) -> u64 {
        count(&brick.mask).into()
    }

    /// Triangles touch few voxels of a solid.
    fn fills_masks(&self) -> bool {
        !self.is_solid
    }

    /// The columns, the channels, and three times the bricks, whose lists grow and are sorted.
    fn bytes(&self, bricks: u64, voxels: u64) -> u64 {
        let channels = self.set.iter().map(|&of| Channel::bytes_of(of, bricks, voxels));
        let columns = voxels * (self.components() * size_of::<u32>()) as u64;
        3 * bricks * size_of::<SampledBrick>() as u64 + columns + channels.sum::<u64>()
    }

    #[inline(always)]
    fn of_brick<S: Simd>(
        &self,
        simd: S,
        scratch: &mut Scratch,
        brick: &BrickTriangles,
    ) -> SampledBrick {
        let Self { grid, set, .. } = self;
        let touched = brick.touched(simd, &grid.mask_of(brick.key));
        if is_empty(&touched.any) {
            return SampledBrick { key: brick.key, mask: touched.any, columns: Vec::new() };
        }
        let Scratch { integrator, sums } = scratch;
        sums.resize(512, AttributeSums::default());
        // Only triangles that touch a voxel have parts; the facts of others are unused.
        let facts = touched.masks.iter().enumerate().map(|(index, mask)| {
            if is_empty(mask) { TriangleFacts::default() } else { facts_of(brick, index) }
        });
        let facts: Vec<TriangleFacts> = facts.collect();
        each_part(
            simd,
            touched.masks.iter().copied().enumerate(),
            #[inline(always)]
            |index| brick.corners(index),
            #[inline(always)]
            |part| {
                let triangle = &facts[part.triangle];
                let is_shared = |plane| is_beyond(grid, brick.key, plane, part.voxel);
                let halves = if triangle.plane.is_some_and(is_shared) { 1 } else { 2 };
                sums[part.voxel].add(part, triangle, halves, brick.weights);
            },
        );
        drop(facts);
        let mut samples = Vec::with_capacity(count(&touched.any) as usize);
        for voxel in voxels_of(&touched.any) {
            samples.push(self.sample_of(&std::mem::take(&mut sums[voxel]), brick));
        }
        self.layers.set(simd, brick, &touched, integrator, &mut samples);
        let mut columns = Vec::with_capacity(samples.len() * self.components());
        for &attribute in *set {
            let stored_components = stored_components(attribute);
            let bits = samples.iter().map(|sample| attribute.bits_of(sample));
            bits.for_each(|bits| columns.extend_from_slice(&bits[..stored_components]));
        }
        SampledBrick { key: brick.key, mask: touched.any, columns }
    }
}

impl Sampler<'_> {
    /// The number of stored components of all attributes.
    fn components(&self) -> usize {
        self.set.iter().copied().map(stored_components).sum()
    }

    /// A voxel's sample from its sums, without the attributes of [`Layers`].
    fn sample_of(&self, sums: &AttributeSums, brick: &BrickTriangles) -> VoxelSample {
        let (mesh, triangle) = (brick.distinct.mesh, sums.triangle as usize);
        let material = mesh.appearance().map(|look| look.material_index(triangle) as usize);
        let label = mesh.labels().map_or(0, |labels| labels.of_triangle(triangle));
        VoxelSample {
            normal: sums.normal(),
            triangle: sums.triangle as i32,
            material: material.map_or(-1, |index| self.index_of_material[index] as i32),
            label: label as i32,
            area: (brick.weights.faces(sums.half_area) / 2.0) as f32,
            uv: self.layers.uv(triangle, sums.centroid),
            ..VoxelSample::NONE
        }
    }
}

fn facts_of(brick: &BrickTriangles, index: usize) -> TriangleFacts {
    let (mesh, triangle) = (brick.distinct.mesh, brick.triangles[index]);
    TriangleFacts {
        source: mesh.source(triangle as usize) as u32,
        copies: brick.distinct.copies(triangle),
        normal: normal_of(&mesh.triangle(triangle as usize)),
        plane: plane_of(&brick.corners(index)),
    }
}

/// The axis and the coordinate of the plane between voxels that a triangle lies in, if it does: its
/// corners are exact.
fn plane_of(corners: &[[f64; 3]; 3]) -> Option<(usize, i64)> {
    let [first, rest @ ..] = corners;
    let is_in = |&axis: &usize| rest.iter().all(|corner| corner[axis] == first[axis]);
    let axis = (0..3).find(is_in)?;
    let plane = first[axis] as i64;
    (plane as f64 == first[axis]).then_some((axis, plane))
}

/// Whether the voxel on the other side of a `plane` is occupied. The plane has a face of `voxel`;
/// both are relative to the brick `key`.
fn is_beyond(grid: &VoxelGrid, key: BrickKey, (axis, plane): (usize, i64), voxel: usize) -> bool {
    let (first, voxel) = (key.first_voxel(), voxel as u32);
    let voxel = [voxel / 64, voxel / 8 % 8, voxel % 8];
    let mut beyond = [0, 1, 2].map(|a| i64::from(first[a] + voxel[a]));
    beyond[axis] = 2 * (i64::from(first[axis]) + plane) - 1 - beyond[axis];
    let beyond = beyond.map(u32::try_from);
    matches!(beyond, [Ok(x), Ok(y), Ok(z)] if grid.contains([x, y, z]))
}
