//! The attributes of voxels: the normal, the triangle, its material and label, the area of the
//! surface inside each, and properties of its materials (`layers`). In solids the label is that of
//! the objects' own solids (`labels`), and the `coverage` that of the solid on a finer grid.
//!
//! Triangles are assigned to bricks and clipped to voxels as for colours. A triangle counts in
//! exactly the voxels that it touches. Its weight in a voxel is its area there, in units of `2^-k`
//! of a face (`k` is 20 for meshes of up to 134 million triangles), and one unit for touching: also
//! voxels touched only in points and edges have a normal. Sums are integers, so the order of
//! triangles has no effect. All other operations are basic ones on `f64`: attributes are the same on
//! every machine, to the bit.

mod coverage;
mod labels;

use std::collections::{BTreeMap, HashMap};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::{Latch, Progress};
use crate::base::vector::{cross, minus, norm};
use crate::grid::{
    Attribute, AttributeNames, AttributeSet, Attributes, BrickKey, Channel, Mask, VoxelGrid,
    VoxelSample, VoxelValues, count, is_empty, mask_bounds, mask_places,
};
use crate::lattice::{Distinct, PlacedMesh, Triangle};
use crate::mesh::appearance::Material;
use crate::solid::mode::Mode;
use crate::surface::color::ColorOptions;
use crate::surface::color::clip::{ClipScratch, Plane, around, clip, corners};
use crate::surface::color::layers::{LayerScratch, Layers};
use crate::surface::color::octree;
use crate::surface::color::sums::Weights;
use crate::surface::color::touched::brick_masks;

/// The reason why voxels of the mesh by `mode`, whose fill is the one used, have no `attribute`;
/// `None` if they have it.
pub(crate) fn absence(mesh: &PlacedMesh, attribute: Attribute, mode: Mode) -> Option<&'static str> {
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
        Attribute::Coverage => return coverage::absence(mesh, mode),
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
}

/// The attributes `set` of the voxels of `grid`, a voxelization of `mesh`, with the mode, the filter
/// and the memory limit of `options`.
///
/// The coverage is by the fill that the mode names.
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
    set: AttributeSet,
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
    progress.start("attributes", octree::SHARES);
    let needed = 2 * mesh.len() as u64 * size_of::<u32>() as u64
        + look.map_or(0, |look| Layers::bytes(look, set));
    check_memory(needed, memory)?;
    let layers = &look.map(|look| Layers::new(look, set, filter)).unwrap_or_default();
    let is_of_surface =
        |of: &Attribute| of.is_of_surface() || *of == Attribute::Label && labels::are_several(mesh);
    let of_surface: AttributeSet = set.iter().filter(is_of_surface).collect();
    let (mut sampled, bytes) = match of_surface.is_empty() {
        true => (Vec::new(), 0),
        false => sample(mesh, grid, of_surface, layers, memory - needed, progress)
            .map_err(|error| error.beside(needed, memory))?,
    };
    let (material_names, index_of_material) = material_names(mesh);
    for sample in sampled.iter_mut().flat_map(|(.., samples)| samples) {
        if let Ok(material) = usize::try_from(sample.material) {
            sample.material = index_of_material[material] as i32;
        }
    }
    let (mut channels, mut open_objects) = (BTreeMap::new(), Vec::new());
    let mut kept = needed + bytes;
    for attribute in set.iter() {
        let left = memory.saturating_sub(kept);
        let channel = match attribute {
            Attribute::Label => labels::channel(mesh, grid, &sampled, options.mode, left, progress)
                .map(|(channel, open)| {
                    open_objects = open;
                    channel
                }),
            Attribute::Coverage => coverage::channel(mesh, grid, options.mode, left, progress),
            _ => Ok(of_samples(attribute, &sampled)),
        };
        let channel = channel.map_err(|error| error.beside(kept, memory))?;
        // Those of the surface are in `bytes`.
        kept += if attribute.is_of_surface() { 0 } else { channel.bytes() };
        channels.insert(attribute, channel);
    }
    Ok(Attributed {
        attributes: Attributes::new(names(mesh, material_names, set), channels),
        open_objects,
    })
}

/// The surface in the voxels of each brick, in order of the bricks, and the bytes of memory that it
/// and the attributes `set` of it take.
///
/// # Errors
/// More than `memory`, in bytes; cancellation.
fn sample(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    set: AttributeSet,
    layers: &Layers,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(Vec<SampledBrick>, u64), BackendError> {
    let distinct = &Distinct::of(mesh, true);
    let weights = Weights::new(mesh.whole().len());
    let arch = Arch::new();
    let bytes_of = |voxels: usize| {
        let channels = set.iter().map(|of| Channel::bytes_of(of, 1, voxels as u64)).sum::<u64>();
        // Lists of bricks grow and are put in order.
        (3 * size_of::<SampledBrick>() + voxels * size_of::<VoxelSample>()) as u64 + channels
    };
    let work = |scratch: &mut Scratch, out: &mut Vec<SampledBrick>, key, triangles: &[u32]| {
        if progress.is_cancelled() {
            return 0;
        }
        let mask = grid.mask_of(key);
        let brick = SampleBrick { distinct, key, mask, triangles, weights, layers, scratch };
        let sampled = arch.dispatch(brick);
        let bytes = sampled.as_ref().map_or(0, |(.., samples)| bytes_of(samples.len()));
        out.extend(sampled);
        bytes
    };
    let done = |shares| progress.advance(shares);
    let sampled = octree::bricks(distinct, grid, false, memory, &work, &done);
    let sampled = sampled.map_err(|needed| BackendError::Memory { needed, allowed: memory })?;
    check_cancelled(progress)?;
    let mut sampled: Vec<SampledBrick> = sampled.into_iter().flatten().collect();
    sampled.par_sort_unstable_by_key(|&(key, ..)| key);
    let bytes = sampled.iter().map(|(.., samples)| bytes_of(samples.len())).sum();
    Ok((sampled, bytes))
}

/// An attribute of the surface.
fn of_samples(attribute: Attribute, sampled: &[SampledBrick]) -> Channel {
    let (none, bits) = (attribute.none(), |sample: &VoxelSample| attribute.bits_of(sample));
    match attribute.components() {
        1 => Channel::Scalar(values_of(sampled, none[0], |sample| bits(sample)[0])),
        _ => Channel::Vector(values_of(sampled, none, bits)),
    }
}

/// What `of` makes of each sample; `none` in other voxels.
fn values_of<T: Copy + Sync>(
    sampled: &[SampledBrick],
    none: T,
    of: impl Fn(&VoxelSample) -> T,
) -> VoxelValues<T> {
    let mut values = VoxelValues::uniform(none);
    values.reserve(sampled.len(), sampled.iter().map(|(.., samples)| samples.len()).sum());
    for (key, mask, samples) in sampled {
        values.push(*key, *mask, &samples.iter().map(&of).collect::<Vec<T>>());
    }
    values
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
fn names(mesh: &PlacedMesh, materials: Vec<String>, set: AttributeSet) -> AttributeNames {
    let names = |attribute| match attribute {
        Attribute::Material => mesh.appearance().map(|_| materials.clone()),
        Attribute::Label => {
            // Without labels all is one object.
            Some(mesh.labels().map_or_else(|| vec![String::new()], |all| all.names().to_vec()))
        }
        _ => None,
    };
    set.iter().filter_map(|attribute| Some((attribute, names(attribute)?))).collect()
}

/// A brick, its voxels that triangles touch, and the surface in them.
type SampledBrick = (BrickKey, Mask, Vec<VoxelSample>);

/// Scratch memory of a task.
struct Scratch {
    clipped: ClipScratch,
    layers: LayerScratch,
    /// Empty between bricks.
    sums: Vec<Sums>,
}

impl Default for Scratch {
    fn default() -> Self {
        let (clipped, layers) = (ClipScratch::default(), LayerScratch::default());
        Self { clipped, layers, sums: vec![Sums::default(); 512] }
    }
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
struct Sums {
    normal: [i64; 3],
    weight: i64,
    /// In units, without those for touching.
    area: u64,
    /// The largest area of a triangle, and the triangle; only if `weight` is not 0.
    largest: u64,
    triangle: u32,
    /// The barycentric weights of its second and third corner at the centroid of its polygon.
    centroid: [f64; 2],
}

impl Sums {
    /// Adds a part of each of the `copies` of `triangle`, of `area` units and this weight.
    #[inline]
    fn add(&mut self, triangle: u32, normal: [i64; 3], area: u64, weight: i64, copies: u32) {
        let is_first = self.weight == 0;
        let is_larger = area > self.largest || area == self.largest && triangle < self.triangle;
        if is_first || is_larger {
            (self.largest, self.triangle) = (area, triangle);
        }
        let weight = i64::from(copies) * weight;
        for (sum, component) in self.normal.iter_mut().zip(normal) {
            *sum += weight * component;
        }
        self.weight += weight;
        self.area += u64::from(copies) * area;
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
fn normal_of(&[a, b, c]: &Triangle) -> [i64; 3] {
    let [a, b, c] = [a, b, c].map(|corner| corner.map(i64::from));
    // Differences of at most 2^24: the products are below 2^50, and exact as `f64`.
    let normal = cross(minus(b, a), minus(c, a)).map(|c| c as f64);
    let length = norm(normal);
    if length == 0.0 {
        return [0; 3];
    }
    // Rounded alike in both directions, so that opposite sides cancel.
    let rounded = |c: f64| if c < 0.0 { -((0.5 - c) as i64) } else { (c + 0.5) as i64 };
    normal.map(|c| rounded(c / length * NORMAL_UNITS))
}

/// Finds the surface in the voxels of a brick.
struct SampleBrick<'a> {
    distinct: &'a Distinct<'a>,
    key: BrickKey,
    /// The occupied voxels.
    mask: Mask,
    /// The triangles that touch it.
    triangles: &'a [u32],
    weights: Weights,
    layers: &'a Layers<'a>,
    scratch: &'a mut Scratch,
}

impl WithSimd for SampleBrick<'_> {
    type Output = Option<SampledBrick>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Option<SampledBrick> {
        let Self { distinct, key, mask, triangles, weights, layers, .. } = self;
        let mesh = distinct.mesh;
        let both = |one: &Mask, two: &Mask| -> Mask { std::array::from_fn(|x| one[x] & two[x]) };
        let masks = brick_masks(simd, mesh, triangles, key.first_voxel().map(|c| c as i32));
        let masks: Vec<Mask> = masks.iter().map(|touched| both(touched, &mask)).collect();
        let (mut touched, mut clipped) = (Mask::default(), Mask::default());
        for (&index, own) in triangles.iter().zip(&masks).filter(|(_, own)| !is_empty(own)) {
            (0..8).for_each(|x| touched[x] |= own[x]);
            self.add(index, own, None, &mut clipped);
        }
        if is_empty(&touched) {
            return None;
        }
        // Of these, rounding lost all polygons.
        let missed = std::array::from_fn(|x| touched[x] & !clipped[x]);
        let is_needed = !layers.is_empty() || layers.has_uvs();
        for (x, bit) in mask_places(missed).filter(|_| is_needed) {
            let mut voxel = Mask::default();
            voxel[x as usize] = 1 << bit;
            let center = Some([x, bit / 8, bit % 8].map(|c| f64::from(c) + 0.5));
            let masks = masks.iter().map(|touched| both(touched, &voxel));
            for (&index, own) in triangles.iter().zip(masks).filter(|(_, own)| !is_empty(own)) {
                self.add(index, &own, center, &mut clipped);
            }
        }
        let Scratch { sums, layers: scratch, .. } = self.scratch;
        let mut samples = Vec::with_capacity(count(&touched) as usize);
        samples.extend(mask_places(touched).map(|(x, bit)| {
            let voxel = (64 * x + bit) as usize;
            let sums = std::mem::take(&mut sums[voxel]);
            let triangle = sums.triangle as usize;
            let material = mesh.appearance().map(|look| look.material_index(triangle));
            let label = mesh.labels().map_or(0, |labels| labels.of_triangle(triangle));
            let mut sample = VoxelSample {
                normal: sums.normal(),
                triangle: sums.triangle as i32,
                material: material.map_or(-1, |index| index as i32),
                label: label as i32,
                area: weights.faces(sums.area) as f32,
                uv: layers.uv(triangle, sums.centroid),
                ..VoxelSample::NONE
            };
            layers.take(scratch, voxel, &mut sample);
            sample
        }));
        Some((key, touched, samples))
    }
}

impl SampleBrick<'_> {
    /// Adds a triangle to the sums of its `own` voxels, and these to `clipped` where it has a
    /// polygon. With the `center` of a voxel, where no triangle has: it is clipped [`around`] that,
    /// and only what does not depend on areas is added.
    #[inline(always)]
    fn add(&mut self, index: u32, own: &Mask, center: Option<[f64; 3]>, clipped: &mut Mask) {
        let Self { distinct, key, weights, layers, .. } = *self;
        let Scratch { clipped: clip_scratch, layers: layer_scratch, sums } = &mut *self.scratch;
        let mesh = distinct.mesh;
        let triangle = mesh.triangle(index as usize);
        let source = mesh.source(index as usize);
        let copies = distinct.copies(index);
        let normal = normal_of(&triangle);
        let base = key.first_voxel().map(|c| c as i32);
        let mut corners = corners(&triangle, base, mesh.lattice().fraction_bits);
        match center {
            Some(center) => corners = around(corners, center),
            None => mask_places(*own).for_each(|(x, bit)| {
                sums[(64 * x + bit) as usize].add(source as u32, normal, 0, 1, copies);
            }),
        }
        let plane = Plane::new(&corners);
        let needs_uv = layers.has_uvs();
        let layers = layers.of(source, mesh.indices()[index as usize], plane);
        let [first, last] = mask_bounds(own);
        clip(
            &corners,
            [0, 1, 2].map(|a| [first[a] as i32, last[a] as i32]),
            clip_scratch,
            #[inline(always)]
            |[x, y, z], polygon| {
                let voxel = (64 * x + 8 * y + z) as usize;
                if own[voxel / 64] >> (voxel % 64) & 1 == 0 {
                    return;
                }
                clipped[voxel / 64] |= 1 << (voxel % 64);
                let area = weights.units(plane.area(polygon));
                let sums = &mut sums[voxel];
                if center.is_none() {
                    sums.add(source as u32, normal, area, area as i64, copies);
                }
                if needs_uv && sums.triangle == source as u32 {
                    sums.centroid = plane.centroid(polygon);
                }
                let weight = u64::from(copies) * area.max(1);
                layer_scratch.add(&layers, voxel, weight, &plane, polygon);
            },
        );
    }
}
