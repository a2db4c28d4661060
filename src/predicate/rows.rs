//! [`touches`](super::touches()) solved for a whole row of boxes at once.
//!
//! The centres of the cubes that touch a triangle fill a convex set (the Minkowski sum of the
//! triangle and a cube), so along a row they form one interval. Each axis of the test bounds a
//! linear form in the centre, `lo <= n . c <= hi`, and for fixed `x` and `y` that is an interval
//! of `z`, found by exact integer division: one pair of divisions a row instead of thirteen tests
//! a box.
//!
//! Along `z`, since a row of voxels along `z` is a run of bits in a brick.

use crate::place::Triangle;
use crate::predicate::touches::{cross, dot, sub64};

/// Inclusive range of box indices per axis; a box of `2^k` units and index `i` is
/// `[i 2^k, (i + 1) 2^k]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxRange {
    /// Lowest index per axis.
    pub lo: [i32; 3],
    /// Highest index per axis; below `lo` where the range is empty.
    pub hi: [i32; 3],
}

impl BoxRange {
    /// The boxes of `2^box_bits` units that the bounding box of `triangle` touches.
    ///
    /// Box `i` meets `[min, max]` if and only if `(i + 1) 2^k >= min` and `i 2^k <= max`, hence
    /// from `floor((min - 1) / 2^k)` to `floor(max / 2^k)`.
    #[must_use]
    pub fn of_triangle(triangle: &Triangle, box_bits: u32) -> Self {
        let [a, b, c] = *triangle;
        Self {
            lo: std::array::from_fn(|i| (a[i].min(b[i]).min(c[i]) - 1) >> box_bits),
            hi: std::array::from_fn(|i| a[i].max(b[i]).max(c[i]) >> box_bits),
        }
    }

    /// The boxes in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            lo: std::array::from_fn(|i| self.lo[i].max(other.lo[i])),
            hi: std::array::from_fn(|i| self.hi[i].min(other.hi[i])),
        }
    }

    /// Whether no box is in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|i| self.lo[i] > self.hi[i])
    }

    /// Whether exactly one box is in the range.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.lo == self.hi
    }
}

/// Calls `visit(x, y, z_lo, z_hi)` for each row of boxes of `2^box_bits` units in `range` that
/// `triangle` touches, with the first and last box it touches there (all between are touched).
///
/// Coordinates and boxes must keep the bit budget of [`place`](mod@crate::place), and `box_bits`
/// must be at least 1, so that centres are integers.
pub fn touched_rows(
    triangle: &Triangle,
    box_bits: u32,
    range: &BoxRange,
    mut visit: impl FnMut(i32, i32, i32, i32),
) {
    let range = range.intersect(&BoxRange::of_triangle(triangle, box_bits));
    if range.is_empty() {
        return;
    }
    if range.is_one() && holds_corner(triangle, box_bits, &range) {
        return visit(range.lo[0], range.lo[1], range.lo[2], range.lo[2]);
    }
    let rows = Rows::new(triangle, box_bits, &range);
    // The bounds on z that depend on y alone are the same for each x.
    let z_of_y: Vec<Interval> = (rows.y.lo..=rows.y.hi).map(|y| rows.z_at(&rows.yz, y)).collect();

    for x in rows.x.lo..=rows.x.hi {
        let z_of_x = rows.z_at(&rows.xz, x);
        if z_of_x.is_empty() {
            continue;
        }
        let y_of_x = rows.y_at(x);
        for y in y_of_x.lo..=y_of_x.hi {
            let z = z_of_x.intersect(&z_of_y[(y - rows.y.lo) as usize]);
            let z = rows.z_on_plane(x, y, &z);
            if !z.is_empty() {
                let [bx, by, bz] = range.lo.map(i64::from);
                visit((bx + x) as i32, (by + y) as i32, (bz + z.lo) as i32, (bz + z.hi) as i32);
            }
        }
    }
}

/// Whether a corner of `triangle` lies in the one box of `range`: the commonest case of a fine
/// mesh, settled without any axis.
fn holds_corner(triangle: &Triangle, box_bits: u32, range: &BoxRange) -> bool {
    triangle.iter().any(|corner| (0..3).all(|a| corner[a] >> box_bits == range.lo[a]))
}

/// Inclusive interval of box indices, relative to the range's lowest box.
#[derive(Debug, Clone, Copy)]
struct Interval {
    lo: i64,
    hi: i64,
}

impl Interval {
    const EMPTY: Self = Self { lo: 1, hi: 0 };

    fn is_empty(&self) -> bool {
        self.lo > self.hi
    }

    fn intersect(&self, other: &Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The integers `k` of this interval with `lo <= n k 2^bits <= hi`: since `n k` is an integer,
    /// those with `ceil(lo / 2^bits) <= n k <= floor(hi / 2^bits)`.
    fn solve(&self, n: i64, bits: u32, lo: i128, hi: i128) -> Self {
        let (lo, hi) = (-(-lo >> bits), hi >> bits);
        match n {
            0 if lo <= 0 && 0 <= hi => *self,
            0 => Self::EMPTY,
            n if n > 0 => self.intersect(&Self { lo: div_ceil(lo, n), hi: div_floor(hi, n) }),
            n => self.intersect(&Self { lo: div_ceil(-hi, -n), hi: div_floor(-lo, -n) }),
        }
    }
}

/// `floor(a / b)` for `b > 0`. Quotients that leave `i64` are far outside any range of boxes, and
/// saturate.
fn div_floor(a: i128, b: i64) -> i64 {
    match i64::try_from(a) {
        Ok(a) => a.div_euclid(b),
        Err(_) => saturate(a.div_euclid(i128::from(b))),
    }
}

/// `ceil(a / b)` for `b > 0`.
fn div_ceil(a: i128, b: i64) -> i64 {
    -div_floor(-a, b)
}

fn saturate(a: i128) -> i64 {
    // Not i64::MIN, whose negation overflows.
    a.clamp(-i128::from(i64::MAX), i128::from(i64::MAX)) as i64
}

/// One edge axis in the plane of two box axes: `lo <= n0 c0 + n1 c1 <= hi` for the centre's two
/// coordinates. At most `2^51` in size (see [`touches`](super::touches())).
#[derive(Debug, Clone, Copy)]
struct Strip {
    n: [i64; 2],
    lo: i64,
    hi: i64,
}

impl Strip {
    /// The axis `e x normal`, with `normal` the third axis, for an edge `e` from `start`.
    fn new(e: [i64; 2], start: [i64; 2], across: [i64; 2], h: i64) -> Self {
        let n = [e[1], -e[0]];
        let p = n[0] * start[0] + n[1] * start[1];
        let q = n[0] * across[0] + n[1] * across[1];
        let r = h * (n[0].abs() + n[1].abs());
        Self { n, lo: p.min(q) - r, hi: p.max(q) + r }
    }
}

/// A triangle's axes as bounds on box centres. Coordinates are relative to the lowest corner of
/// the lowest box, so box `k` of a row has its centre at `k size + half`.
struct Rows {
    box_bits: u32,
    size: i64,
    x: Interval,
    y: Interval,
    z: Interval,
    xy: [Strip; 3],
    xz: [Strip; 3],
    yz: [Strip; 3],
    normal: [i64; 3],
    plane_lo: i128,
    plane_hi: i128,
}

impl Rows {
    fn new(triangle: &Triangle, box_bits: u32, range: &BoxRange) -> Self {
        let size = 1i64 << box_bits;
        let half = size / 2;
        let v = triangle.map(|corner| {
            std::array::from_fn(|a| i64::from(corner[a]) - i64::from(range.lo[a]) * size)
        });
        let strips = |a: usize, b: usize| {
            std::array::from_fn(|i| {
                let [start, end, across] =
                    [0, 1, 2].map(|j| [v[(i + j) % 3][a], v[(i + j) % 3][b]]);
                Strip::new([end[0] - start[0], end[1] - start[1]], start, across, half)
            })
        };
        let normal = cross(sub64(v[1], v[0]), sub64(v[2], v[1]));
        let d = dot(normal, v[0]);
        let r = dot(normal.map(i64::abs), [half; 3]);
        let axis = |a: usize| Interval { lo: 0, hi: i64::from(range.hi[a] - range.lo[a]) };
        Self {
            box_bits,
            size,
            x: axis(0),
            y: axis(1),
            z: axis(2),
            xy: strips(0, 1),
            xz: strips(0, 2),
            yz: strips(1, 2),
            normal,
            plane_lo: d - r,
            plane_hi: d + r,
        }
    }

    fn center(&self, index: i64) -> i64 {
        index * self.size + self.size / 2
    }

    /// The part of `interval` that the three `strips` allow where the first coordinate is that of
    /// box `index`.
    fn within(&self, strips: &[Strip; 3], index: i64, interval: Interval) -> Interval {
        strips.iter().fold(interval, |interval, strip| {
            let fixed = strip.n[0] * self.center(index) + strip.n[1] * self.center(0);
            let (lo, hi) = (strip.lo - fixed, strip.hi - fixed);
            interval.solve(strip.n[1], self.box_bits, lo.into(), hi.into())
        })
    }

    fn y_at(&self, x: i64) -> Interval {
        self.within(&self.xy, x, self.y)
    }

    fn z_at(&self, strips: &[Strip; 3], index: i64) -> Interval {
        self.within(strips, index, self.z)
    }

    /// The part of the row `z` at `x` and `y` that the triangle's plane allows.
    fn z_on_plane(&self, x: i64, y: i64, z: &Interval) -> Interval {
        let fixed = dot(self.normal, [self.center(x), self.center(y), self.center(0)]);
        z.solve(self.normal[2], self.box_bits, self.plane_lo - fixed, self.plane_hi - fixed)
    }
}
