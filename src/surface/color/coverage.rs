//! Weights of texels under a polygon, exact: the areas of unit cells, or the integrals of tents.
//!
//! An accumulation buffer of signed deltas is prefix-summed along rows, as font rasterizers do
//! (R. Levien, "Inside the fastest font renderer in the world", 2016). A tent, the weight of a texel
//! in the bilinear interpolant, is in each of the four squares between centres of texels around it
//! the product of a distance along `x` and one along `y`. Its integral follows from those of 1, `x`,
//! `y` and `x y` over each square's part of the polygon.

use crate::surface::color::floor;
use crate::surface::color::texel_polygon::bounds;

/// Capacity in cells, including one extra per row.
const CAPACITY: usize = 256;

/// Whether the buffers hold any polygon with this span along each axis.
pub(super) fn has_room(span: [f64; 2]) -> bool {
    // A span of `n` touches up to `n + 2` cells, and a row has one more; the texels around
    // squares are one more in each direction.
    (span[0] + 3.0) * (span[1] + 3.0) <= CAPACITY as f64
}

/// Reusable accumulation buffers.
pub(super) struct Scratch {
    areas: [f64; CAPACITY],
    moments: [Moments; CAPACITY],
}

/// Integrals of 1, `x`, `y` and `x y` from a cell's minimum corner, or deltas of them along a row.
type Moments = [f64; 4];

impl Default for Scratch {
    fn default() -> Self {
        Self { areas: [0.0; CAPACITY], moments: [[0.0; 4]; CAPACITY] }
    }
}

/// The texels in a polygon's bounds, and a weight for each.
pub(super) struct Weights<'a> {
    /// The minimum texel.
    first: [i64; 2],
    /// The number of texels along each axis.
    size: [usize; 2],
    /// Rows of `size[0]` weights; more may follow in a row.
    weights: &'a [f64],
    /// The length of a row.
    stride: usize,
}

impl<'a> Weights<'a> {
    /// The areas of unit cells that the convex polygon with these corners covers, in either
    /// orientation. There must be [room](has_room).
    pub(super) fn of_squares(corners: &[[f64; 2]], scratch: &'a mut Scratch) -> Self {
        let cells = Cells::of(corners, 0.0);
        let [width, height] = cells.size;
        let stride = width + 1;
        let deltas = &mut scratch.areas[..stride * height];
        deltas.fill(0.0);
        cells.each_part(corners, |[x, y], [p, q], height| {
            // The area right of the part: a share of this cell, all of those that follow.
            let left = (p[0] + q[0]) / 2.0;
            deltas[y * stride + x] += height * (1.0 - left);
            deltas[y * stride + x + 1] += height * left;
        });
        for row in deltas.chunks_exact_mut(stride) {
            let mut covered = 0.0;
            for value in row {
                covered += *value;
                *value = f64::abs(covered);
            }
        }
        Self { first: cells.first, size: cells.size, weights: deltas, stride }
    }

    /// The integrals over the polygon of the tents at the centres of texels.
    pub(super) fn of_tents(corners: &[[f64; 2]], scratch: &'a mut Scratch) -> Self {
        let cells = Cells::of(corners, 0.5);
        let [width, height] = cells.size;
        let stride = width + 1;
        let deltas = &mut scratch.moments[..stride * height];
        deltas.fill([0.0; 4]);
        cells.each_part(corners, |[x, y], [p, q], height| {
            let ([[a, b], [c, d]], twelfth) = ([p, q], height / 12.0);
            let (aa, ac, cc) = (a * a, a * c, c * c);
            // Integrals along the part of 1, 1/2, y and y/2, and of x, x^2/2, x y and x^2 y/2.
            let all = [12.0, 6.0, 6.0 * (b + d), 3.0 * (b + d)];
            let left = [
                6.0 * (a + c),
                2.0 * (aa + ac + cc),
                2.0 * (b * (a + a + c) + d * (a + c + c)),
                0.5 * (b * (3.0 * aa + 2.0 * ac + cc) + d * (aa + 2.0 * ac + 3.0 * cc)),
            ];
            let at = y * stride + x;
            (0..4).for_each(|k| {
                deltas[at][k] += twelfth * (all[k] - left[k]);
                deltas[at + 1][k] += twelfth * left[k];
            });
        });
        let weights = &mut scratch.areas[..stride * (height + 1)];
        weights.fill(0.0);
        for (y, row) in deltas.chunks_exact(stride).enumerate() {
            let mut moments = [0.0; 4];
            for (x, delta) in row[..width].iter().enumerate() {
                (0..4).for_each(|k| moments[k] += delta[k]);
                let [area, along_x, along_y, both] = moments;
                let at = y * stride + x;
                weights[at] += area - along_x - along_y + both;
                weights[at + 1] += along_x - both;
                weights[at + stride] += along_y - both;
                weights[at + stride + 1] += both;
            }
        }
        weights.iter_mut().for_each(|weight| *weight = weight.abs());
        Self { first: cells.first, size: [width + 1, height + 1], weights, stride }
    }

    /// The texels with a weight.
    pub(super) fn texels(&self) -> impl Iterator<Item = ([i64; 2], f64)> + '_ {
        let [width, height] = self.size;
        (0..height).flat_map(move |y| {
            let row = &self.weights[y * self.stride..][..width];
            row.iter().enumerate().filter_map(move |(x, &weight)| {
                let texel = [self.first[0] + x as i64, self.first[1] + y as i64];
                // Smaller weights are rounding errors.
                (weight > 1e-12).then_some((texel, weight))
            })
        })
    }
}

/// The unit cells in a polygon's bounds.
struct Cells {
    /// The minimum cell.
    first: [i64; 2],
    /// Its minimum corner.
    origin: [f64; 2],
    /// The number of cells along each axis.
    size: [usize; 2],
}

impl Cells {
    /// Those whose minimum corners are `shift` past whole numbers.
    fn of(corners: &[[f64; 2]], shift: f64) -> Self {
        let [low, high] = bounds(corners);
        let first = low.map(|c| floor(c - shift));
        let origin = first.map(|i| i as f64 + shift);
        let size = [0, 1].map(|a| (high[a] - origin[a]) as usize + 1);
        Self { first, origin, size }
    }

    /// Splits the polygon's edges at rows and cells: calls `add` with the cell of each part, its
    /// ends from the cell's minimum corner, and its height, negative in one direction.
    #[inline(always)]
    fn each_part(&self, corners: &[[f64; 2]], mut add: impl FnMut([usize; 2], [[f64; 2]; 2], f64)) {
        let local = |p: &[f64; 2]| [p[0] - self.origin[0], p[1] - self.origin[1]];
        let Some(mut from) = corners.last().map(local) else { return };
        let cell_of = |p: [f64; 2]| [0, 1].map(|a| (p[a] as usize).min(self.size[a] - 1));
        for to in corners.iter().map(local) {
            let cell = cell_of(from);
            if cell == cell_of(to) {
                let ends = [from, to].map(|p| [p[0] - cell[0] as f64, p[1] - cell[1] as f64]);
                add(cell, ends, to[1] - from[1]);
            } else {
                self.split_at_rows(from, to, &mut add);
            }
            from = to;
        }
    }

    #[inline(always)]
    fn split_at_rows(
        &self,
        from: [f64; 2],
        to: [f64; 2],
        add: &mut impl FnMut([usize; 2], [[f64; 2]; 2], f64),
    ) {
        let (from, to, sign) = if from[1] <= to[1] { (from, to, 1.0) } else { (to, from, -1.0) };
        let slope = (to[0] - from[0]) / (to[1] - from[1]);
        if !slope.is_finite() {
            // A horizontal edge contributes no area.
            return;
        }
        let x_at = |y: f64| {
            (from[0] + slope * (y - from[1])).clamp(from[0].min(to[0]), from[0].max(to[0]))
        };
        let mut y = from[1];
        for row in y as usize..self.size[1] {
            let end = to[1].min((row + 1) as f64);
            if end <= y {
                break;
            }
            let top = row as f64;
            self.split_at_cells(row, [[x_at(y), y - top], [x_at(end), end - top]], sign, add);
            y = end;
        }
    }

    /// Splits a part within a row.
    #[inline(always)]
    fn split_at_cells(
        &self,
        row: usize,
        [a, b]: [[f64; 2]; 2],
        sign: f64,
        add: &mut impl FnMut([usize; 2], [[f64; 2]; 2], f64),
    ) {
        let height = sign * (b[1] - a[1]);
        let [p, q] = if a[0] <= b[0] { [a, b] } else { [b, a] };
        let last = self.size[0] - 1;
        let first = (p[0] as usize).min(last);
        let from_cell = |point: [f64; 2], cell: usize| [point[0] - cell as f64, point[1]];
        if q[0] <= (first + 1) as f64 {
            return add([first, row], [from_cell(p, first), from_cell(q, first)], height);
        }
        let width = q[0] - p[0];
        let (y_per_x, height_per_x) = ((q[1] - p[1]) / width, height / width);
        let mut from = p;
        for cell in first..=last {
            let x = q[0].min((cell + 1) as f64);
            let to = [x, p[1] + y_per_x * (x - p[0])];
            let part = height_per_x * (x - from[0]);
            add([cell, row], [from_cell(from, cell), from_cell(to, cell)], part);
            from = to;
            if x >= q[0] {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn covered_areas_are_the_share_of_points_inside_the_triangle() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..300 {
            let reach = [0.3, 2.0, 11.0][rng.usize(0..3)];
            let base = [(); 2].map(|()| 10.0 * rng.f64() - 5.0);
            let mut corner = || base.map(|c| c + reach * rng.f64());
            let corners = [corner(), corner(), corner()];
            let mut scratch = Scratch::default();
            let weights = Weights::of_squares(&corners, &mut scratch);
            let cells: Vec<_> = weights.texels().collect();
            let total: f64 = cells.iter().map(|(_, part)| part).sum();
            let [a, b, c] = corners;
            let side = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
                (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
            };
            let area = side(a, b, c).abs() / 2.0;
            assert!((total - area).abs() < 1e-9, "{corners:?}: {total}, not {area}");
            for (cell, part) in cells {
                const N: u32 = 24;
                let point = |i: u32, j: u32| [i, j].map(|k| (f64::from(k) + 0.5) / f64::from(N));
                let is_inside = |p: [f64; 2]| {
                    let p = [cell[0] as f64 + p[0], cell[1] as f64 + p[1]];
                    let sides = [side(a, b, p), side(b, c, p), side(c, a, p)];
                    sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0)
                };
                let points = (0..N).flat_map(|i| (0..N).map(move |j| point(i, j)));
                let inside = points.filter(|&p| is_inside(p)).count();
                let expected = inside as f64 / f64::from(N * N);
                assert!((part - expected).abs() < 0.12, "{corners:?} {cell:?}: {part} {expected}");
            }
        }
    }
    /// The bilinear interpolant of 1, `x`, `y` and `x y` is the function itself.
    #[test]
    fn tents_reproduce_bilinear_functions_and_weigh_only_texels_around_the_polygon() {
        let mut rng = Rng::with_seed(2);
        for _ in 0..1000 {
            let reach = [0.01, 0.7, 2.0, 9.0][rng.usize(0..4)];
            let base = [(); 2]
                .map(|()| (10.0 * rng.f64() - 5.0).floor() + [0.0, 0.5, 0.3][rng.usize(0..3)]);
            let mut corner = || base.map(|c| c + reach * rng.f64());
            let [a, b, c] = [corner(), corner(), corner()];
            let mut scratch = Scratch::default();
            let weights = Weights::of_tents(&[a, b, c], &mut scratch);
            let mut sums = [0.0; 4];
            for (texel, weight) in weights.texels() {
                let [x, y] = texel.map(|i| i as f64 + 0.5);
                let values = [1.0, x, y, x * y];
                (0..4).for_each(|k| sums[k] += weight * values[k]);
                for axis in 0..2 {
                    let of = [a[axis], b[axis], c[axis]];
                    let center = texel[axis] as f64 + 0.5;
                    let is_near = |bound: f64| of.iter().any(|&c| (c - center) * bound < 1.0);
                    assert!(is_near(1.0) && is_near(-1.0), "{texel:?} of {:?}", [a, b, c]);
                }
            }
            // Means over a triangle: of a product, from the corners and the middles of edges.
            let double = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            let area = double.abs() / 2.0;
            let middle = |p: [f64; 2], q: [f64; 2]| [(p[0] + q[0]) / 2.0, (p[1] + q[1]) / 2.0];
            let middles = [middle(a, b), middle(b, c), middle(c, a)];
            let mean = |f: fn([f64; 2]) -> f64| middles.map(f).iter().sum::<f64>() / 3.0;
            let means = [1.0, mean(|p| p[0]), mean(|p| p[1]), mean(|p| p[0] * p[1])];
            for (sum, mean) in sums.into_iter().zip(means) {
                assert!(
                    (sum - area * mean).abs() < 1e-9,
                    "{:?}: {sum}, {}",
                    [a, b, c],
                    area * mean
                );
            }
        }
    }
}
