//! The mean of a filtered texture over small convex polygons, eight polygons at a time.
//!
//! The filtered texture is the sum of texels times boxes (nearest) or tents (linear). A box is the
//! difference of two steps; a tent is the second difference of ramps `max(0, x - a)`. So the
//! integral of a product of boxes or tents over a polygon is a difference of integrals of products
//! of steps or ramps. By Green's theorem these are sums over the polygon's edges, each clipped to
//! where the steps or ramps are above 0. No branch depends on a polygon.

use pulp::Simd;

use crate::base::lanes::{LANES, Lanes};
use crate::mesh::appearance::Filter;
use crate::mesh::appearance::texture::pyramid::Sample;
use crate::surface::color::polygon::TexelPolygon;
use crate::surface::color::texels::is_interpolated;
use crate::surface::color::{Color, floor};

/// Largest number of texels along an axis.
const MAX_TEXELS: usize = 6;
/// Vertices of a triangle clipped to a voxel.
const MAX_POINTS: usize = 9;

/// A vertex of each polygon.
type Point = [Lanes; 2];

/// The integrals of the texels' boxes or tents: `[i][j]` is the texel `i` along `u` and `j` along
/// `v`.
type Weights = [[Lanes; MAX_TEXELS]; MAX_TEXELS];

/// The voxel and the weight of the mean of a queued polygon.
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    /// The index of the triangle's shading.
    pub(super) triangle: usize,
    /// The index of the voxel in its brick.
    pub(super) voxel: usize,
    /// The weight of the polygon's mean.
    pub(super) weight: u64,
    /// The colour that multiplies the polygon's mean.
    pub(super) color: Color,
}

/// Polygons of the same number of texels along each axis.
struct Queue {
    filter: Filter,
    texels: [usize; 2],
    len: usize,
    /// The largest number of vertices.
    vertices: usize,
    /// In texels: from the corner of the first texel if it is a box, from its centre if a tent.
    points: [Point; MAX_POINTS],
    /// The texel of each polygon with the lowest indices.
    first: [[i64; 2]; LANES],
    targets: [Target; LANES],
}

/// A queue for each filter and each number of texels along each axis.
pub(super) struct Queues {
    queues: Vec<Queue>,
    /// The output of the last integration, reused.
    weights: Box<Weights>,
}

impl Default for Queues {
    fn default() -> Self {
        let empty = |index| Queue {
            filter: if index < MAX_TEXELS.pow(2) { Filter::Nearest } else { Filter::Linear },
            texels: [index / MAX_TEXELS % MAX_TEXELS + 1, index % MAX_TEXELS + 1],
            len: 0,
            vertices: 0,
            points: [Point::default(); MAX_POINTS],
            first: [[0; 2]; LANES],
            targets: [Target::default(); LANES],
        };
        Self { queues: (0..2 * MAX_TEXELS.pow(2)).map(empty).collect(), weights: Box::default() }
    }
}

/// An integrated polygon.
pub(super) struct Integrated<'a> {
    pub(super) target: &'a Target,
    /// The weight of each texel, with one polygon per lane.
    weights: &'a Weights,
    lane: usize,
    /// The texel with the lowest indices.
    first: [i64; 2],
    /// The number of texels along each axis.
    texels: [usize; 2],
}

impl Queues {
    /// Queues a polygon on a texture with this filter, and calls `done` when a queue is full.
    /// Returns `false` for a polygon of many texels, or of an area near the rounding error.
    #[inline(always)]
    pub(super) fn push<S: Simd>(
        &mut self,
        simd: S,
        filter: Filter,
        polygon: &TexelPolygon,
        target: Target,
        done: impl FnMut(&Integrated),
    ) -> bool {
        /// Largest ratio of the error of an area to the size of the polygon, times a million.
        const ERROR: f64 = 1e-8;
        let ([low, high], vertices) = (polygon.bounds(), polygon.points());
        let span = [high[0] - low[0], high[1] - low[1]];
        let is_linear = is_interpolated(filter, span);
        let center = if is_linear { 0.5 } else { 0.0 };
        let first = [floor(low[0] - center), floor(low[1] - center)];
        let origin = first.map(|i| i as f64 + center);
        // Their number may not fit `usize`, of 32 bits in a browser.
        if span[0].max(span[1]) > MAX_TEXELS as f64 {
            return false;
        }
        let squares = [(high[0] - origin[0]) as usize + 1, (high[1] - origin[1]) as usize + 1];
        let texels = squares.map(|squares| squares + usize::from(is_linear));
        let is_small = texels[0].max(texels[1]) <= MAX_TEXELS && vertices.len() <= MAX_POINTS;
        // False for NaN.
        let has_area = polygon.area() > ERROR * (span[0] + span[1]);
        if !is_small || !has_area {
            return false;
        }
        let index = (usize::from(is_linear) * MAX_TEXELS + texels[0] - 1) * MAX_TEXELS;
        let queue = &mut self.queues[index + texels[1] - 1];
        let lane = queue.len % LANES;
        let last = vertices[vertices.len() - 1];
        for (i, point) in queue.points.iter_mut().enumerate() {
            let vertex = vertices.get(i).unwrap_or(&last);
            (0..2).for_each(|a| point[a].0[lane] = vertex[a] - origin[a]);
        }
        (queue.first[lane], queue.targets[lane]) = (first, target);
        queue.vertices = queue.vertices.max(vertices.len());
        queue.len += 1;
        if queue.len == LANES {
            queue.integrate(simd, &mut self.weights, done);
        }
        true
    }

    /// Integrates all queued polygons.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&mut self, simd: S, mut done: impl FnMut(&Integrated)) {
        for queue in self.queues.iter_mut().filter(|queue| queue.len > 0) {
            queue.integrate(simd, &mut self.weights, &mut done);
        }
    }
}

impl Integrated<'_> {
    /// The mean of the samples of the texels, weighted by their integrals over the polygon.
    #[inline(always)]
    pub(super) fn mean(&self, sample: impl Fn([i64; 2]) -> Sample) -> Sample {
        let ([columns, rows], lane) = (self.texels, self.lane);
        let weights = self.weights[..columns].iter().map(|column| &column[..rows]);
        let area: f64 = weights.clone().flatten().map(|weight| weight.0[lane]).sum();
        let inverse = 1.0 / area;
        let mut mean = [0.0; 5];
        for (i, column) in weights.enumerate() {
            for (j, weight) in column.iter().enumerate() {
                let sample = sample([self.first[0] + i as i64, self.first[1] + j as i64]);
                let weight = weight.0[lane] * inverse;
                for c in 0..5 {
                    mean[c] += weight * sample[c];
                }
            }
        }
        for c in &mut mean {
            *c = c.max(0.0);
        }
        mean
    }
}

impl Queue {
    #[inline(always)]
    fn integrate<S: Simd>(
        &mut self,
        simd: S,
        weights: &mut Weights,
        mut done: impl FnMut(&Integrated),
    ) {
        let points = &self.points[..self.vertices];
        let (filter, texels) = (self.filter, self.texels);
        // Arrays of at least 2 more than the texels. Most polygons cover at most 3: a small array
        // is cleared.
        simd.vectorize(
            #[inline(always)]
            || match texels[0].max(texels[1]) {
                0..=3 => integrate::<5>(filter, points, texels, weights),
                _ => integrate::<{ MAX_TEXELS + 2 }>(filter, points, texels, weights),
            },
        );
        for (lane, target) in self.targets[..self.len].iter().enumerate() {
            done(&Integrated { target, weights, lane, first: self.first[lane], texels });
        }
        (self.len, self.vertices) = (0, 0);
    }
}

/// Integrates the texels of a queue's polygons.
#[inline(always)]
fn integrate<const N: usize>(
    filter: Filter,
    points: &[Point],
    texels: [usize; 2],
    weights: &mut Weights,
) {
    let squares = texels.map(|texels| texels - usize::from(filter == Filter::Linear));
    let mut sums = StepSums { filter, list: [[Lanes::default(); N]; N] };
    let Some(mut from) = points.last() else { return };
    for to in points {
        sums.add_edge([*from, *to], squares);
        from = to;
    }
    sums.differences(texels, weights);
}

/// The ends of a segment.
type Segment = [Point; 2];

/// Integrals by column and row. Nearest: entry `k` is the step at the start of square `k`. Linear:
/// entry 0 is the constant 1, entry `k` the ramp from the start of square `k - 1`. Entries past the
/// last square are 0.
struct StepSums<const N: usize> {
    filter: Filter,
    list: [[Lanes; N]; N],
}

impl<const N: usize> StepSums<N> {
    /// Adds an edge to the integrals. Integrals of steps are scaled by 2; those of zero, one and
    /// two ramps by 2, 6 and 24.
    #[inline(always)]
    fn add_edge(&mut self, edge: Segment, [columns, rows]: [usize; 2]) {
        let [[x0, y0], [x1, y1]] = edge;
        let (dx, dy) = (x1 - x0, y1 - y0);
        let (x_per_y, y_per_x) = (dx.ratio(dy), dy.ratio(dx));
        for row in 1..=rows {
            let part = if row == 1 { edge } else { above(edge, 1, row - 1, x_per_y) };
            for column in 1..=columns {
                let part = if column == 1 { part } else { above(part, 0, column - 1, y_per_x) };
                self.add_part(part, [column, row]);
            }
        }
    }

    /// Adds a segment in the quadrant from the start of a column and of a row on.
    #[inline(always)]
    fn add_part(&mut self, [p, q]: Segment, [column, row]: [usize; 2]) {
        let from_column = Lanes::splat((column - 1) as f64);
        let (x0, x1) = (p[0] - from_column, q[0] - from_column);
        let (x_sum, dy) = (x0 + x1, q[1] - p[1]);
        if self.filter == Filter::Nearest {
            return self.add([column - 1, row - 1], dy * x_sum);
        }
        let from_row = Lanes::splat((row - 1) as f64);
        let (y0, y1) = (p[1] - from_row, q[1] - from_row);
        let (y_sum, x0_y0, x1_y1) = (y0 + y1, x0 * y0, x1 * y1);
        let square = x_sum * x_sum;
        let corners = x0_y0 * x0 + x1_y1 * x1;
        self.add([column, row], dy * (square * y_sum + (corners + corners)));
        if row == 1 {
            self.add([column, 0], dy * (square - x0 * x1));
        }
        if column == 1 {
            self.add([0, row], dy * (x_sum * y_sum + (x0_y0 + x1_y1)));
        }
        if row == 1 && column == 1 {
            self.add([0, 0], dy * x_sum);
        }
    }

    #[inline(always)]
    fn add(&mut self, [column, row]: [usize; 2], value: Lanes) {
        let sum = &mut self.list[column][row];
        *sum = *sum + value;
    }

    /// Sets `weights` to the integrals of boxes, which are differences of integrals of steps, or of
    /// tents, which are differences of integrals of ramps.
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "the indices are coordinates")]
    fn differences(&mut self, [columns, rows]: [usize; 2], weights: &mut Weights) {
        let Self { filter, list } = self;
        for column in 0..columns {
            for row in 0..rows {
                // 1 / 2, 1 / 6 and 1 / 24, times 24; of steps all are alike.
                let factor = match (&*filter, column, row) {
                    (Filter::Nearest, ..) => continue,
                    (_, 0, 0) => 12.0,
                    (_, 0, _) | (_, _, 0) => 4.0,
                    _ => 1.0,
                };
                list[column][row] = list[column][row] * Lanes::splat(factor);
            }
        }
        for column in 0..columns {
            for row in 0..rows {
                let [here, next, after] =
                    [list[column][row], list[column][row + 1], list[column][row + 2]];
                list[column][row] = difference(*filter, row, here, next, after);
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let [here, next, after] =
                    [list[column][row], list[column + 1][row], list[column + 2][row]];
                weights[column][row] = difference(*filter, column, here, next, after);
            }
        }
    }
}

/// A segment with the coordinate `axis` clamped to at least `bound`. `slope` is the change of the
/// other coordinate per unit.
#[inline(always)]
fn above([p, q]: Segment, axis: usize, bound: usize, slope: Lanes) -> Segment {
    let (bound, other) = (Lanes::splat(bound as f64), 1 - axis);
    // Rounding must not move a point past the ends.
    let (low, high) = (p[other].min(q[other]), p[other].max(q[other]));
    let mut segment = [p, q];
    for point in &mut segment {
        let along = point[axis].max(bound);
        let across = point[other] + (along - point[axis]) * slope;
        point[axis] = along;
        point[other] = across.min(high).max(low);
    }
    segment
}

/// A box: `step i - step (i + 1)`. A tent: `1 - ramp 1 + ramp 2`, then
/// `ramp i - 2 ramp (i + 1) + ramp (i + 2)`.
#[inline(always)]
fn difference(filter: Filter, index: usize, here: Lanes, next: Lanes, after: Lanes) -> Lanes {
    if filter == Filter::Nearest {
        return here - next;
    }
    let twice = if index == 0 { next } else { next + next };
    here - twice + after
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::appearance::texture::pyramid::{Pyramid, TexelAlpha};
    use crate::mesh::appearance::{Texture, Wrap};
    use crate::predicate::InstructionSet;
    use crate::surface::color::coverage::Scratch;
    use crate::surface::color::texels::Sampler;
    use fastrand::Rng;
    use pulp::WithSimd;
    use std::sync::Arc;

    #[derive(Clone, Copy)]
    struct MeansOf<'a> {
        polygons: &'a [TexelPolygon],
        sampler: &'a Sampler,
    }

    impl WithSimd for MeansOf<'_> {
        type Output = Vec<Option<[f64; 5]>>;

        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Self { polygons, sampler } = self;
            let (mut queues, mut means) = (Queues::default(), vec![None; polygons.len()]);
            let mut done = |integrated: &Integrated| {
                means[integrated.target.voxel] = Some(sampler.weighted(integrated));
            };
            for (voxel, polygon) in polygons.iter().enumerate() {
                let target = Target { voxel, ..Target::default() };
                let is_queued = queues.push(simd, sampler.filter, polygon, target, &mut done);
                assert!(is_queued, "{polygon:?}");
            }
            queues.finish(simd, &mut done);
            means
        }
    }

    /// Parts of squares, of 3 or 4 corners in either orientation.
    fn convex_polygons(rng: &mut Rng) -> Vec<TexelPolygon> {
        let polygon = |_| {
            let reach = [0.01, 0.7, 1.5, 3.9][rng.usize(0..4)];
            let base = [(); 2].map(|()| 30.0 * rng.f64() - 15.0);
            let mut polygon = TexelPolygon::default();
            let [x, y] = [(); 2].map(|()| 0.1 + 0.9 * rng.f64());
            let mut corners = vec![[0.0, 0.0], [x, 0.0], [1.0, y], [0.0, 1.0]];
            corners.truncate(rng.usize(3..=4));
            if rng.bool() {
                corners.reverse();
            }
            let at = |c: [f64; 2]| [0, 1].map(|a| base[a] + reach * c[a]);
            corners.into_iter().for_each(|corner| polygon.push(at(corner)));
            polygon
        };
        (0..500).map(polygon).collect()
    }

    #[test]
    fn means_of_eight_polygons_are_those_of_each_by_any_instructions() {
        let mut rng = Rng::with_seed(1);
        let texels = (0..80).map(|_| [(); 4].map(|()| rng.u8(..))).collect();
        let texture = Texture::new([10, 8], texels);
        let alphas = [TexelAlpha::Opaque, TexelAlpha::Blend];
        let both = |alpha| [(Filter::Nearest, alpha), (Filter::Linear, alpha)];
        for (filter, alpha) in alphas.into_iter().flat_map(both) {
            let (texture, pyramid) = (texture.clone(), Arc::new(Pyramid::new(alpha)));
            let wrap = [Wrap::Repeat, Wrap::Mirror];
            let sampler = Sampler { texture, pyramid, wrap, filter };
            let polygons = convex_polygons(&mut rng);
            let means = MeansOf { polygons: &polygons, sampler: &sampler };
            let sets = InstructionSet::available();
            let all: Vec<_> = sets.iter().map(|set| (set, set.dispatch(means))).collect();
            for (index, polygon) in polygons.iter().enumerate() {
                let expected = sampler.mean(polygon, &mut Scratch::default());
                let expected = expected.expect("the polygon has an area");
                let first = all[0].1[index].expect("the polygon was integrated");
                for (found, expected) in first.into_iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-9, "{polygon:?}: {found}, {expected}");
                }
                for (set, means) in &all {
                    assert_eq!(means[index], Some(first), "{}: {polygon:?}", set.name());
                }
            }
        }
    }
}
