//! Exact area coverage of unit cells by a polygon: an accumulation buffer of signed coverage
//! deltas, prefix-summed along rows, as font rasterizers do (R. Levien, "Inside the fastest font
//! renderer in the world", 2016).

use crate::surface::color::floor;
use crate::surface::color::polygon::bounds;

/// Maximum number of cells of a polygon that is not divided, including one extra per row.
const MAX_CELLS: usize = 256;

/// Whether any polygon with this span along each axis has at most [`MAX_CELLS`].
pub(super) fn has_room(span: [f64; 2]) -> bool {
    // A span of `n` touches up to `n + 2` cells; a row has one more.
    (span[0] + 3.0) * (span[1] + 2.0) <= MAX_CELLS as f64
}

/// A reusable accumulation buffer.
pub(super) type Scratch = Vec<f64>;

/// The coverage of the cells in a polygon's bounds.
pub(super) struct Coverage<'a> {
    /// The minimum cell.
    first: [i64; 2],
    /// The number of cells along each axis.
    size: [usize; 2],
    /// Rows of `size[0] + 1` coverage deltas: the covered area of a cell minus that of the cell
    /// before.
    deltas: &'a mut [f64],
}

impl<'a> Coverage<'a> {
    /// The coverage by the convex polygon with these corners, in either orientation.
    pub(super) fn new(corners: &[[f64; 2]], scratch: &'a mut Scratch) -> Self {
        let [low, high] = bounds(corners);
        let first = low.map(floor);
        let origin = first.map(|i| i as f64);
        let size = [0, 1].map(|a| (high[a] - origin[a]) as usize + 1);
        scratch.clear();
        scratch.resize((size[0] + 1) * size[1], 0.0);
        let mut coverage = Self { first, size, deltas: scratch };
        let local = |p: &[f64; 2]| [p[0] - origin[0], p[1] - origin[1]];
        let Some(mut from) = corners.last().map(local) else { return coverage };
        for to in corners.iter().map(local) {
            coverage.add_edge(from, to);
            from = to;
        }
        coverage
    }

    /// The covered cells and their covered areas: the prefix sums of the deltas.
    pub(super) fn cells(&self) -> impl Iterator<Item = ([i64; 2], f64)> + '_ {
        let [width, height] = self.size;
        (0..height).flat_map(move |y| {
            let row = &self.deltas[y * (width + 1)..][..width];
            let mut covered = 0.0;
            row.iter().enumerate().filter_map(move |(x, delta)| {
                covered += delta;
                let cell = [self.first[0] + x as i64, self.first[1] + y as i64];
                let area = f64::abs(covered);
                // Smaller areas are rounding errors.
                (area > 1e-12).then_some((cell, area))
            })
        })
    }

    /// Adds an edge, split at rows.
    fn add_edge(&mut self, from: [f64; 2], to: [f64; 2]) {
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
            self.add_in_row(row, [x_at(y), x_at(end)], sign * (end - y));
            y = end;
        }
    }

    /// Adds a segment of an edge from one `x` to another over `height` within a row, split at
    /// cells.
    fn add_in_row(&mut self, row: usize, [a, b]: [f64; 2], height: f64) {
        let [mut x, end] = [a.min(b), a.max(b)];
        let [width, _] = self.size;
        let last = width - 1;
        let deltas = &mut self.deltas[row * (width + 1)..][..width + 1];
        let mut add = |cell: usize, from: f64, to: f64, height: f64| {
            // The area right of the segment: a part of this cell, all of those that follow.
            let left = (from + to) / 2.0 - cell as f64;
            deltas[cell] += height * (1.0 - left);
            deltas[cell + 1] += height * left;
        };
        let first = (x as usize).min(last);
        if end <= (first + 1) as f64 {
            return add(first, x, end, height);
        }
        let height_per_x = height / (end - x);
        for cell in first..=last {
            let to = end.min((cell + 1) as f64);
            add(cell, x, to, height_per_x * (to - x));
            x = to;
            if x >= end {
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
            let coverage = Coverage::new(&corners, &mut scratch);
            let cells: Vec<_> = coverage.cells().collect();
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
}
