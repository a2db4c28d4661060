//! The attributes of voxels: the normal, the triangle, its material and label, and the area of the
//! surface inside each.
//!
//! Triangles are assigned to bricks and clipped to voxels as for colours. A triangle counts in
//! exactly the voxels that it touches. Its weight in a voxel is its area there, in units of `2^-k`
//! of a face (`k` is 20 for meshes of up to 134 million triangles), and one unit for touching: also
//! voxels touched only in points and edges have a normal. Sums are integers, so the order of
//! triangles has no effect. All other operations are basic ones on `f64`: attributes are the same on
//! every machine, to the bit.

use std::collections::HashMap;

use pulp::{Arch, Simd, WithSimd};

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::{Latch, Progress};
use crate::grid::{
    Attribute, AttributeNames, AttributeSet, Attributes, BRICK, BrickKey, Mask, SurfaceSample,
    VoxelGrid, VoxelValues, count, is_empty, mask_bounds, mask_places,
};
use crate::lattice::{Distinct, PlacedMesh, Triangle};
use crate::surface::color::clip::{ClipScratch, Plane, clip, corners};
use crate::surface::color::octree;
use crate::surface::color::sums::Weights;
use crate::surface::color::touched::brick_masks;

/// The attributes `set` of the voxels of `grid`, a voxelization of `mesh`, in `memory` bytes.
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
    memory: u64,
    progress: &dyn Progress,
) -> Result<Attributes, BackendError> {
    assert_eq!(grid.dims(), mesh.lattice().dims, "the grid of the mesh");
    if i32::try_from(mesh.whole().len()).is_err() {
        let why = "attributes are for meshes of at most 2,147,483,647 triangles";
        return Err(BackendError::Failed(why.to_owned()));
    }
    let progress = &Latch::new(progress);
    progress.start("attributes", octree::SHARES);
    let needed = 2 * mesh.len() as u64 * size_of::<u32>() as u64;
    check_memory(needed, memory)?;
    let distinct = &Distinct::of(mesh, true);
    let weights = Weights::new(mesh.whole().len());
    let arch = Arch::new();
    let work = |scratch: &mut Scratch, out: &mut Vec<SampledBrick>, key, triangles: &[u32]| {
        if progress.is_cancelled() {
            return 0;
        }
        let mask = grid.mask_of(key);
        out.extend(arch.dispatch(SampleBrick { distinct, key, mask, triangles, weights, scratch }));
        // In two lists while they are put in order.
        let voxels = out.last().map_or(0, |(.., samples)| samples.len());
        2 * (size_of::<SampledBrick>() + voxels * size_of::<SurfaceSample>()) as u64
    };
    let done = |shares| progress.advance(shares);
    let sampled = octree::bricks(distinct, grid, false, memory - needed, &work, &done);
    let sampled = sampled
        .map_err(|lists| BackendError::Memory { needed: needed + lists, allowed: memory })?;
    check_cancelled(progress)?;
    let mut sampled: Vec<SampledBrick> = sampled.into_iter().flatten().collect();
    let (material_names, index_of_material) = material_names(mesh);
    for sample in sampled.iter_mut().flat_map(|(.., samples)| samples) {
        if let Ok(material) = usize::try_from(sample.material) {
            sample.material = index_of_material[material] as i32;
        }
    }
    let values = VoxelValues::from_bricks(sampled, SurfaceSample::NONE);
    Ok(Attributes::new(set, names(mesh, material_names, set), values))
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
type SampledBrick = (BrickKey, Mask, Vec<SurfaceSample>);

/// Scratch memory of a task.
struct Scratch {
    clipped: ClipScratch,
    /// Empty between bricks.
    sums: Vec<Sums>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { clipped: ClipScratch::default(), sums: vec![Sums::default(); 512] }
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
        let length = length(normal);
        if length < self.weight as f64 * LEAST || length == 0.0 {
            return [0.0; 3];
        }
        // Adding 0 turns -0 into 0.
        normal.map(|c| (c / length) as f32 + 0.0)
    }
}

fn length(vector: [f64; 3]) -> f64 {
    let [x, y, z] = vector;
    (x * x + y * y + z * z).sqrt()
}

/// The unit normal in units of `1 / NORMAL_UNITS`, by the right-hand rule; zeros for a triangle
/// without area.
fn normal_of(&[a, b, c]: &Triangle) -> [i64; 3] {
    let [p, q] = [b, c].map(|corner| [0, 1, 2].map(|i| i64::from(corner[i]) - i64::from(a[i])));
    // Differences of at most 2^24: the products are below 2^50, and exact as `f64`.
    let normal = [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        (p[j] * q[k] - p[k] * q[j]) as f64
    });
    let length = length(normal);
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
    scratch: &'a mut Scratch,
}

impl WithSimd for SampleBrick<'_> {
    type Output = Option<SampledBrick>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<SampledBrick> {
        let Self { distinct, key, mask, triangles, weights, scratch } = self;
        let (mesh, Scratch { clipped, sums }) = (distinct.mesh, scratch);
        let base = key.position().map(|b| (b * BRICK) as i32);
        let mut touched = Mask::default();
        for (&index, own) in triangles.iter().zip(brick_masks(simd, mesh, triangles, base)) {
            let own: Mask = std::array::from_fn(|x| own[x] & mask[x]);
            if is_empty(&own) {
                continue;
            }
            (0..8).for_each(|x| touched[x] |= own[x]);
            let triangle = mesh.triangle(index as usize);
            let source = mesh.source(index as usize) as u32;
            let copies = distinct.copies(index);
            let normal = normal_of(&triangle);
            for (x, bit) in mask_places(own) {
                sums[(64 * x + bit) as usize].add(source, normal, 0, 1, copies);
            }
            let corners = corners(&triangle, base, mesh.lattice().fraction_bits);
            let plane = Plane::new(&corners);
            let [first, last] = mask_bounds(&own);
            clip(
                &corners,
                [0, 1, 2].map(|a| [first[a] as i32, last[a] as i32]),
                clipped,
                #[inline(always)]
                |[x, y, z], polygon| {
                    let voxel = (64 * x + 8 * y + z) as usize;
                    if own[voxel / 64] >> (voxel % 64) & 1 == 1 {
                        let area = weights.units(plane.area(polygon));
                        sums[voxel].add(source, normal, area, area as i64, copies);
                    }
                },
            );
        }
        if is_empty(&touched) {
            return None;
        }
        let mut samples = Vec::with_capacity(count(&touched) as usize);
        samples.extend(mask_places(touched).map(|(x, bit)| {
            let sums = std::mem::take(&mut sums[(64 * x + bit) as usize]);
            let triangle = sums.triangle as usize;
            let material = mesh.appearance().map(|look| look.material_index(triangle));
            let label = mesh.labels().map_or(0, |labels| labels.of_triangle(triangle));
            SurfaceSample {
                normal: sums.normal(),
                triangle: sums.triangle as i32,
                material: material.map_or(-1, |index| index as i32),
                label: label as i32,
                area: weights.faces(sums.area) as f32,
            }
        }));
        Some((key, touched, samples))
    }
}
