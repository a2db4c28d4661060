//! The colour of a voxel as it is seen: of the surfaces in it only what rays hit first that enter
//! through its open faces, those of voxels without an occupied neighbour.
//!
//! A face of a part that lies behind a decal, or inside of another part, counts in the mean of all
//! surfaces, but is not seen. A ray that hits the back of a triangle first begins inside the mesh,
//! and has no effect.
//!
//! Rays are parallel to the axes and hit triangles by the signs of areas in `f64`; corners are
//! multiples of `2^-16` voxels near the brick, so that equal edges have equal signs, and the samples
//! of a voxel do not depend on other triangles.

use crate::base::srgb::{Rgba, rgba_of};
use crate::base::vector::{cross, minus};
use crate::grid::Mask;
use crate::surface::color::Blend;
use crate::surface::color::integrator::{Shaded, voxels_of};
use crate::surface::color::shade::Shade;
use crate::surface::color::sums::Sums;

/// Rays along each side of a face.
const RAYS: u32 = 4;

/// Scratch memory of a task.
pub(super) struct Visible {
    /// By voxel, the triangles that touch it.
    triangles: Vec<Vec<u32>>,
    samples: Vec<Shade>,
}

impl Default for Visible {
    fn default() -> Self {
        Self { triangles: vec![Vec::new(); 512], samples: Vec::new() }
    }
}

impl Visible {
    /// Calls `each` with the voxels of `wanted` that have a visible surface, and their colours;
    /// `covered` are the voxels with an occupied neighbour, by axis, below and above.
    pub(super) fn colors(
        &mut self,
        of: Shaded,
        wanted: &Mask,
        covered: &[[Mask; 2]; 3],
        blend: Blend,
        mut each: impl FnMut(usize, Rgba),
    ) {
        for (index, touched) in of.touched.masks.iter().enumerate() {
            let own = std::array::from_fn(|x| touched[x] & wanted[x]);
            voxels_of(&own).for_each(|voxel| self.triangles[voxel].push(index as u32));
        }
        for voxel in voxels_of(wanted) {
            let is_open = |mask: &Mask| mask[voxel / 64] & 1 << (voxel % 64) == 0;
            for (axis, sides) in covered.iter().enumerate() {
                for (side, _) in sides.iter().enumerate().filter(|(_, mask)| is_open(mask)) {
                    self.sample_face(of, voxel, axis, side == 1);
                }
            }
            let color = match blend {
                Blend::None => {
                    if self.samples.is_empty() {
                        self.sample_triangles(of, voxel);
                    }
                    most_typical(self.samples.iter().filter_map(color_of).collect())
                }
                _ => mean(&self.samples),
            };
            self.triangles[voxel].clear();
            self.samples.clear();
            if let Some(color) = color {
                each(voxel, color);
            }
        }
    }

    /// Samples the surface in a voxel through its lower or upper face across `axis`.
    fn sample_face(&mut self, of: Shaded, voxel: usize, axis: usize, is_upper: bool) {
        let Self { triangles, samples } = self;
        let lowest = corner_of(voxel);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let facing: Vec<Facing> = triangles[voxel]
            .iter()
            .map(|&index| Facing::new(of, index as usize, axis, is_upper))
            .collect();
        let step = 1.0 / f64::from(RAYS);
        for ray in 0..RAYS * RAYS {
            let [i, j] = [ray / RAYS, ray % RAYS].map(|i| (f64::from(i) + 0.5) * step);
            let point = [lowest[u] + i, lowest[v] + j];
            let start = lowest[axis] + f64::from(u8::from(is_upper));
            samples.extend(first_hit(of, &facing, point, start, is_upper));
        }
    }

    /// Samples each triangle in a voxel where it is about nearest to the voxel's centre.
    fn sample_triangles(&mut self, of: Shaded, voxel: usize) {
        let center = corner_of(voxel).map(|c| c + 0.5);
        for &index in &self.triangles[voxel] {
            let sides = [0, 1, 2].map(|axis| Facing::new(of, index as usize, axis, true));
            let (axis, facing) = (0..3).zip(&sides).fold((0, &sides[0]), |widest, other| {
                if other.1.area.abs() > widest.1.area.abs() { other } else { widest }
            });
            let areas = facing.areas([center[(axis + 1) % 3], center[(axis + 2) % 3]]);
            let inside = areas.map(|area| if area > 0.0 { area } else { 0.0 });
            let sum: f64 = inside.iter().sum();
            // A triangle without area has its first corner.
            let weights = [1, 2].map(|corner| if sum > 0.0 { inside[corner] / sum } else { 0.0 });
            self.samples.push(of.shadings[index as usize].at(weights));
        }
    }
}

/// The coordinates of a voxel's minimum corner, in voxels from that of the brick.
fn corner_of(voxel: usize) -> [f64; 3] {
    [voxel / 64, voxel / 8 % 8, voxel % 8].map(|c| c as f64)
}

/// A triangle, seen along an axis.
struct Facing {
    /// In the brick.
    index: usize,
    /// In the mesh.
    triangle: u32,
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
            index,
            triangle: of.brick.triangles[index],
            corners: corners.map(|corner| [corner[(axis + 1) % 3], corner[(axis + 2) % 3]]),
            heights: corners.map(|corner| corner[axis]),
            area,
            is_front: (area > 0.0) == from_above,
        }
    }

    /// The barycentric coordinates of a point: the areas of its triangles with the edges, in parts of
    /// the area.
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

/// The shade at the first point of a ray into a voxel that is not fully transparent, if it is on
/// the front of its triangle. Of several triangles there the first of the mesh is hit.
fn first_hit(
    of: Shaded,
    facing: &[Facing],
    point: [f64; 2],
    start: f64,
    from_above: bool,
) -> Option<Shade> {
    let depth = |height: f64| if from_above { start - height } else { height - start };
    let mut first: Option<(f64, &Facing, Shade)> = None;
    for facing in facing {
        let Some((height, weights)) = facing.at(point) else { continue };
        let depth = depth(height);
        let is_nearer = first.is_none_or(|(nearest, other, _)| {
            depth < nearest || depth == nearest && facing.triangle < other.triangle
        });
        if !(0.0..=1.0).contains(&depth) || !is_nearer {
            continue;
        }
        let shade = of.shadings[facing.index].at(weights);
        if shade.visible > 0 {
            first = Some((depth, facing, shade));
        }
    }
    first.filter(|(_, facing, _)| facing.is_front).map(|(.., shade)| shade)
}

fn mean(samples: &[Shade]) -> Option<Rgba> {
    let mut sums = Sums::default();
    samples.iter().for_each(|shade| sums.add(1, shade));
    sums.mean().map(rgba_of)
}

fn color_of(shade: &Shade) -> Option<Rgba> {
    mean(std::slice::from_ref(shade))
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
