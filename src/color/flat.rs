//! Convex polygons in the plane of a texture.

/// Vertices, at most: nine of a piece of a triangle and four for the sides of a box, with room for
/// rounding.
const MOST: usize = 16;

/// A convex polygon, in texels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flat {
    points: [[f64; 2]; MOST],
    len: usize,
}

/// Integrals over a polygon, divided by its area.
pub(super) struct Moments {
    /// The signed area.
    pub(super) area: f64,
    /// The means of `x`, `y` and `x y`.
    pub(super) mean: [f64; 3],
}

impl Flat {
    pub(super) const EMPTY: Self = Self { points: [[0.0; 2]; MOST], len: 0 };

    #[inline]
    pub(super) fn points(&self) -> &[[f64; 2]] {
        &self.points[..self.len]
    }

    #[inline]
    pub(super) fn points_mut(&mut self) -> &mut [[f64; 2]] {
        &mut self.points[..self.len]
    }

    /// Adds a vertex. Rounding may have a sliver cross a line more than twice: what there is no room for
    /// then has no area to speak of.
    #[inline(always)]
    pub(super) fn push(&mut self, point: [f64; 2]) {
        if let Some(place) = self.points.get_mut(self.len) {
            *place = point;
            self.len += 1;
        }
    }

    /// The least and the greatest value along each axis.
    #[inline]
    pub(super) fn bounds(&self) -> [[f64; 2]; 2] {
        let nothing = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        self.points().iter().fold(nothing, |[low, high], p| {
            [[low[0].min(p[0]), low[1].min(p[1])], [high[0].max(p[0]), high[1].max(p[1])]]
        })
    }

    /// What of it is in `low..=high` along `axis`.
    pub(super) fn slab(&self, axis: usize, [low, high]: [f64; 2]) -> Self {
        let [least, most] = self.bounds();
        let mut part = *self;
        if least[axis] < low {
            part = part.half(axis, low, 1.0);
        }
        if most[axis] > high {
            part = part.half(axis, high, -1.0);
        }
        part
    }

    /// What of it is on one side of `bound`: above it where `sign` is 1, below it where it is -1.
    fn half(&self, axis: usize, bound: f64, sign: f64) -> Self {
        let mut part = Self::EMPTY;
        let Some(mut last) = self.points().last() else { return part };
        let height = |point: &[f64; 2]| sign * (point[axis] - bound);
        let mut before = height(last);
        for point in self.points() {
            let now = height(point);
            if before < 0.0 && now > 0.0 || before > 0.0 && now < 0.0 {
                let share = before / (before - now);
                let mut crossing = [0, 1].map(|a| last[a] + share * (point[a] - last[a]));
                crossing[axis] = bound;
                part.push(crossing);
            }
            if now >= 0.0 {
                part.push(*point);
            }
            (last, before) = (point, now);
        }
        part
    }

    /// `None` where it has no area.
    pub(super) fn moments(&self) -> Option<Moments> {
        let [first, rest @ ..] = self.points() else { return None };
        // From the first vertex, for precision.
        let local = |p: &[f64; 2]| [p[0] - first[0], p[1] - first[1]];
        let (mut area, mut x, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0);
        for pair in rest.windows(2) {
            let [p, q] = [local(&pair[0]), local(&pair[1])];
            let double = p[0] * q[1] - p[1] * q[0];
            let sum = [p[0] + q[0], p[1] + q[1]];
            area += double;
            x += double * sum[0];
            y += double * sum[1];
            xy += double * (sum[0] * sum[1] + p[0] * p[1] + q[0] * q[1]);
        }
        if area == 0.0 {
            return None;
        }
        let [x, y, xy] = [x / (3.0 * area), y / (3.0 * area), xy / (12.0 * area)];
        let [s, t] = *first;
        let mean = [s + x, t + y, s * t + s * y + t * x + xy];
        Some(Moments { area: area / 2.0, mean })
    }

    pub(super) fn area(&self) -> f64 {
        let [first, rest @ ..] = self.points() else { return 0.0 };
        let cross = |pair: &[[f64; 2]]| {
            let [p, q] = [pair[0], pair[1]].map(|p| [p[0] - first[0], p[1] - first[1]]);
            p[0] * q[1] - p[1] * q[0]
        };
        (rest.windows(2).map(cross).sum::<f64>() / 2.0).abs()
    }
}
