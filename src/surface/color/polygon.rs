//! Convex polygons, in space and in textures.

/// A convex polygon of at most `N` vertices in `D` dimensions.
#[derive(Debug, Clone, Copy)]
pub(in crate::surface) struct Vertices<const D: usize, const N: usize> {
    points: [[f64; D]; N],
    pub(super) len: usize,
}

/// A polygon in texels: nine vertices of a clipped triangle, one more for each side of a box, and
/// three to spare for rounding.
pub(super) type TexelPolygon = Vertices<2, 16>;

/// Integrals over a polygon, divided by its area.
pub(super) struct Moments {
    /// Signed.
    pub(super) area: f64,
    /// The means of `x`, `y` and `x y`.
    pub(super) mean: [f64; 3],
}

impl<const D: usize, const N: usize> Default for Vertices<D, N> {
    /// Without vertices.
    fn default() -> Self {
        Self { points: [[0.0; D]; N], len: 0 }
    }
}

impl<const D: usize, const N: usize> Vertices<D, N> {
    #[inline(always)]
    pub(super) fn points(&self) -> &[[f64; D]] {
        &self.points[..self.len]
    }

    #[inline(always)]
    pub(super) fn points_mut(&mut self) -> &mut [[f64; D]] {
        &mut self.points[..self.len]
    }

    /// Adds a vertex if there is room. After rounding, a sliver may cross a line or a plane more
    /// than twice; the vertices dropped then enclose negligible area.
    #[inline(always)]
    pub(super) fn push(&mut self, point: [f64; D]) {
        if let Some(slot) = self.points.get_mut(self.len) {
            *slot = point;
            self.len += 1;
        }
    }

    /// Splits at `bound` along `axis` into `below` and `above`. Points at it are in both.
    #[inline(always)]
    pub(super) fn split(&self, axis: usize, bound: f64, below: &mut Self, above: &mut Self) {
        (below.len, above.len) = (0, 0);
        let points = self.points();
        let Some(mut last) = points.last() else { return };
        let mut before = last[axis] - bound;
        for point in points {
            let now = point[axis] - bound;
            if before < 0.0 && now > 0.0 || before > 0.0 && now < 0.0 {
                let part = before / (before - now);
                let mut crossing = *last;
                for a in 0..D {
                    crossing[a] += part * (point[a] - last[a]);
                }
                crossing[axis] = bound;
                below.push(crossing);
                above.push(crossing);
            }
            if now <= 0.0 {
                below.push(*point);
            }
            if now >= 0.0 {
                above.push(*point);
            }
            (last, before) = (point, now);
        }
    }
}

impl TexelPolygon {
    #[inline(always)]
    pub(super) fn bounds(&self) -> [[f64; 2]; 2] {
        bounds(self.points())
    }

    /// Clips to `low..=high` along `axis`.
    pub(super) fn slab(mut self, axis: usize, [low, high]: [f64; 2]) -> Self {
        let ([min, max], mut dropped) = (self.bounds(), Self::default());
        if min[axis] < low {
            let whole = self;
            whole.split(axis, low, &mut dropped, &mut self);
        }
        if max[axis] > high {
            let whole = self;
            whole.split(axis, high, &mut self, &mut dropped);
        }
        self
    }

    #[inline(always)]
    pub(super) fn area(&self) -> f64 {
        area(self.points().iter().copied())
    }
}

/// The moments of a polygon with these vertices. `None` for one without area.
pub(super) fn moments(mut vertices: impl Iterator<Item = [f64; 2]>) -> Option<Moments> {
    // Relative to the first vertex, for precision.
    let [s, t] = vertices.next()?;
    let (mut area, mut x, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0);
    let mut p = [0.0; 2];
    for vertex in vertices {
        let q = [vertex[0] - s, vertex[1] - t];
        let double = p[0] * q[1] - p[1] * q[0];
        let sum = [p[0] + q[0], p[1] + q[1]];
        area += double;
        x += double * sum[0];
        y += double * sum[1];
        xy += double * (sum[0] * sum[1] + p[0] * p[1] + q[0] * q[1]);
        p = q;
    }
    if area == 0.0 {
        return None;
    }
    let [x, y, xy] = [x / (3.0 * area), y / (3.0 * area), xy / (12.0 * area)];
    let mean = [s + x, t + y, s * t + s * y + t * x + xy];
    Some(Moments { area: area / 2.0, mean })
}

/// The area of a polygon with these vertices.
#[inline(always)]
pub(super) fn area(mut vertices: impl Iterator<Item = [f64; 2]>) -> f64 {
    let Some(first) = vertices.next() else { return 0.0 };
    let (mut double, mut before) = (0.0, [0.0; 2]);
    for point in vertices {
        let now = [point[0] - first[0], point[1] - first[1]];
        double += before[0] * now[1] - before[1] * now[0];
        before = now;
    }
    f64::abs(double) / 2.0
}

/// Minimum and maximum along each axis.
#[inline(always)]
pub(super) fn bounds(points: &[[f64; 2]]) -> [[f64; 2]; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for point in points {
        for a in 0..2 {
            low[a] = low[a].min(point[a]);
            high[a] = high[a].max(point[a]);
        }
    }
    [low, high]
}
