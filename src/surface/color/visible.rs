//! The visible colour of a voxel: rays enter through its open faces, those without an occupied
//! neighbour, and sample the surface that they hit first.
//!
//! So a surface behind a decal, or inside of another part, has no effect. Neither has a ray that
//! hits the back of a triangle first: it begins inside the mesh.
//!
//! Rays are parallel to the axes and hit triangles by the signs of areas in `f64`; corners are
//! multiples of `2^-16` voxels near the brick, so that equal edges have equal signs. The samples of
//! a voxel depend on its triangles alone.

use crate::base::srgb::{Rgba, rgba_of};
use crate::base::vector::{cross, minus};
use crate::grid::Mask;
use crate::surface::color::Blend;
use crate::surface::color::clip::largest;
use crate::surface::color::integrator::Shaded;
use crate::surface::color::shade::Shade;
use crate::surface::color::sums::Sums;

/// Rays along each side of a face.
const RAYS: usize = 4;

/// Most triangles of a voxel without a visible surface that are sampled.
const MAX_SAMPLED: usize = 256;

/// The visible colour of a voxel, if it has one. `covered` has the voxels with an occupied
/// neighbour, by axis, below and above; `samples` is scratch memory.
pub(super) fn color(
    of: Shaded,
    voxel: usize,
    covered: &[[Mask; 2]; 3],
    blend: Blend,
    samples: &mut Vec<Shade>,
) -> Option<Rgba> {
    let is_set = |mask: &Mask| mask[voxel / 64] & 1 << (voxel % 64) != 0;
    let touching = || (0..of.touched.masks.len()).filter(|&index| is_set(&of.touched.masks[index]));
    samples.clear();
    for (axis, sides) in covered.iter().enumerate() {
        for (side, _) in sides.iter().enumerate().filter(|(_, mask)| !is_set(mask)) {
            sample_face(of, touching(), voxel, (axis, side == 1), samples);
        }
    }
    if blend != Blend::None {
        return Sums::of(samples).mean().map(rgba_of);
    }
    if samples.is_empty() {
        let step = touching().count().div_ceil(MAX_SAMPLED).max(1);
        samples.extend(touching().step_by(step).map(|index| sample(of, voxel, index)));
    }
    most_typical(samples.iter().filter_map(Shade::color).collect())
}

/// Samples the triangles `touching` a voxel through its face across an axis, the upper one if
/// `from_above`: for each ray the shade at its first point that is not fully transparent, if that
/// is on the front of its triangle. Of several triangles there the first of the mesh is hit.
fn sample_face(
    of: Shaded,
    touching: impl Iterator<Item = usize>,
    voxel: usize,
    (axis, from_above): (usize, bool),
    samples: &mut Vec<Shade>,
) {
    let lowest = corner_of(voxel);
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut first = [None::<(f64, u32, bool, Shade)>; RAYS * RAYS];
    for index in touching {
        let facing = Facing::new(of, index, axis, from_above);
        for (ray, first) in first.iter_mut().enumerate() {
            let [i, j] = [ray / RAYS, ray % RAYS].map(|i| (i as f64 + 0.5) / RAYS as f64);
            let Some((height, weights)) = facing.at([lowest[u] + i, lowest[v] + j]) else {
                continue;
            };
            let above = height - lowest[axis];
            let depth = if from_above { 1.0 - above } else { above };
            let triangle = of.brick.triangles[index];
            let is_nearer =
                first.is_none_or(|(nearest, other, ..)| (depth, triangle) < (nearest, other));
            if !(0.0..=1.0).contains(&depth) || !is_nearer {
                continue;
            }
            let shade = of.shadings[index].at(weights);
            if shade.is_visible() {
                *first = Some((depth, triangle, facing.is_front, shade));
            }
        }
    }
    let fronts = first.into_iter().flatten().filter(|(_, _, is_front, _)| *is_front);
    samples.extend(fronts.map(|(.., shade)| shade));
}

/// The shade of a triangle where it is about nearest to a voxel's centre.
fn sample(of: Shaded, voxel: usize, index: usize) -> Shade {
    let center = corner_of(voxel).map(|c| c + 0.5);
    let sides = [0, 1, 2].map(|axis| Facing::new(of, index, axis, true));
    let axis = largest(sides.each_ref().map(|side| side.area));
    // A triangle without area has its first corner.
    if sides[axis].area == 0.0 {
        return of.shadings[index].at([0.0; 2]);
    }
    let areas = sides[axis].areas([center[(axis + 1) % 3], center[(axis + 2) % 3]]);
    let inside = areas.map(|area| if area > 0.0 { area } else { 0.0 });
    let sum: f64 = inside.iter().sum();
    of.shadings[index].at([inside[1] / sum, inside[2] / sum])
}

/// The coordinates of a voxel's minimum corner, in voxels from that of the brick.
fn corner_of(voxel: usize) -> [f64; 3] {
    [voxel / 64, voxel / 8 % 8, voxel % 8].map(|c| c as f64)
}

/// A triangle, seen along an axis.
struct Facing {
    /// The corners across the axis.
    corners: [[f64; 2]; 3],
    /// Their coordinates along the axis.
    heights: [f64; 3],
    /// Twice the area, seen along the axis; negative for clockwise corners.
    area: f64,
    is_front: bool,
}

impl Facing {
    fn new(of: Shaded, index: usize, axis: usize, from_above: bool) -> Self {
        let corners = of.brick.corners(index);
        let [a, b, c] = corners;
        let area = cross(minus(b, a), minus(c, a))[axis];
        Self {
            corners: corners.map(|corner| [corner[(axis + 1) % 3], corner[(axis + 2) % 3]]),
            heights: corners.map(|corner| corner[axis]),
            area,
            is_front: (area > 0.0) == from_above,
        }
    }

    /// The barycentric coordinates of a point: the areas of its triangles with the edges, in parts
    /// of the area.
    fn areas(&self, point: [f64; 2]) -> [f64; 3] {
        let [a, b, c] = self.corners.map(|corner| [corner[0] - point[0], corner[1] - point[1]]);
        let twice = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
        [twice(b, c), twice(c, a), twice(a, b)].map(|area| area / self.area)
    }

    /// The height at a point of the triangle, and the barycentric weights of its second and third
    /// corner. A triangle that is seen from the side has no point.
    fn at(&self, point: [f64; 2]) -> Option<(f64, [f64; 2])> {
        let areas = self.areas(point);
        let is_inside = self.area != 0.0 && areas.iter().all(|&area| area >= 0.0);
        let [p, q, r] = self.heights;
        let height = p + areas[1] * (q - p) + areas[2] * (r - p);
        is_inside.then_some((height, [areas[1], areas[2]]))
    }
}

/// The colour with the least sum of differences to all: the median, if colours have one channel.
/// Of equals the first in the order of their bytes.
pub(super) fn most_typical(mut colors: Vec<Rgba>) -> Option<Rgba> {
    colors.sort_unstable();
    let counted: Vec<(Rgba, u32)> =
        colors.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)).collect();
    let difference = |a: &Rgba, b: &Rgba| -> u32 {
        a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum()
    };
    let to_all = |(color, _): &&(Rgba, u32)| -> u32 {
        counted.iter().map(|(other, count)| count * difference(color, other)).sum()
    };
    counted.iter().min_by_key(to_all).map(|&(color, _)| color)
}
