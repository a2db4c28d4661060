//! [`touches`](super::touches()) solved for rows of boxes at once.
//!
//! The centres of the cubes that touch a triangle fill a convex set (the Minkowski sum of the
//! triangle and a cube), so along a row they form one interval. Each axis of the test bounds a
//! linear form in the centre, `lo <= n . c <= hi`; for fixed `x` and `y` that is an interval of
//! `z`, and the row is the intersection of those intervals. Along `z`, since a row of voxels along
//! `z` is a run of bits.
//!
//! The bounds are found in `f64`, and exactly:
//!
//! - *Edges.* All numbers of an edge axis are integers of at most `2^52` (see
//!   [`touches`](super::touches())), which `f64` holds. A quotient `a / d` is rounded to an
//!   integer `k`, which is less than one off, and the sign of the remainder `a - k d`, an integer
//!   below `2^53` again, says on which side of `k` it lies.
//! - *Plane.* Where its numbers are below `2^53` the same holds. Otherwise the remainder has an
//!   error, bounded by `Plane::slack`; where it is no larger than that, the row is solved in
//!   `i128`.

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
    #[inline]
    pub fn of_triangle(triangle: &Triangle, box_bits: u32) -> Self {
        let [a, b, c] = *triangle;
        let lo = |i: usize| (a[i].min(b[i]).min(c[i]) - 1) >> box_bits;
        let hi = |i: usize| a[i].max(b[i]).max(c[i]) >> box_bits;
        Self { lo: [lo(0), lo(1), lo(2)], hi: [hi(0), hi(1), hi(2)] }
    }

    /// The boxes in both.
    #[must_use]
    #[inline]
    pub fn intersect(&self, other: &Self) -> Self {
        let lo = |i: usize| self.lo[i].max(other.lo[i]);
        let hi = |i: usize| self.hi[i].min(other.hi[i]);
        Self { lo: [lo(0), lo(1), lo(2)], hi: [hi(0), hi(1), hi(2)] }
    }

    /// Whether no box is in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|i| self.lo[i] > self.hi[i])
    }

    /// Whether its boxes are one, or one line of them along an axis.
    #[must_use]
    pub fn is_straight(&self) -> bool {
        (0..3).filter(|&i| self.lo[i] != self.hi[i]).count() <= 1
    }
}

/// Calls `visit(x, y, z_lo, z_hi)` for each row of boxes of `2^box_bits` units in `range` that
/// `triangle` touches, with the first and last box it touches there (all between are touched).
///
/// Coordinates and boxes must keep the bit budget of [`place`](mod@crate::place), and `box_bits`
/// must be at least 1, so that centres are integers.
#[inline]
pub fn touched_rows(
    triangle: &Triangle,
    box_bits: u32,
    range: &BoxRange,
    mut visit: impl FnMut(i32, i32, i32, i32),
) {
    let bounds = BoxRange::of_triangle(triangle, box_bits);
    let range = range.intersect(&bounds);
    if range.is_empty() {
        return;
    }
    if bounds.is_straight() {
        // A triangle within one line of boxes passes through all of them that it reaches.
        let [lo, hi] = [range.lo, range.hi];
        for x in lo[0]..=hi[0] {
            (lo[1]..=hi[1]).for_each(|y| visit(x, y, lo[2], hi[2]));
        }
        return;
    }
    Rows::new(triangle, box_bits, &range).visit(&mut visit);
}

/// Bounds on box indices, relative to the range's lowest box, as what the index is at least and
/// what its negative is at least: both lanes of a vector do the same.
type Bounds = [f64; 2];

/// Farther than any box from any other; boxes per axis are at most `2^20`.
const FAR: f64 = (1 << 30) as f64;

#[inline]
fn tighter(a: Bounds, b: Bounds) -> Bounds {
    // Not f64::max, which minds NaN.
    [if a[0] > b[0] { a[0] } else { b[0] }, if a[1] > b[1] { a[1] } else { b[1] }]
}

#[inline]
fn is_empty(bounds: Bounds) -> bool {
    bounds[0] + bounds[1] > 0.0
}

/// `2^52 + 2^51`: the sum with a number below `2^51` has no room for a fraction, and ends in the
/// bits of the nearest integer.
const SHIFT: f64 = (3u64 << 51) as f64;

/// To the nearest integer, for `|x| < 2^51`, and farther out to a number of that size; two additions
/// on every processor.
#[inline]
fn round(x: f64) -> f64 {
    (x + SHIFT) - SHIFT
}

/// The integer that `x` is.
#[inline]
fn index(x: f64) -> i32 {
    (x + SHIFT).to_bits() as i32
}

/// The factor `d >= 0` of the index that is bounded: `a <= d k` for integers `k` from
/// `ceil(a / d)`. Where `d` is 0 all `k` will do if `a <= 0`, else none.
#[derive(Clone, Copy)]
struct Factor {
    d: f64,
    /// Where `d` is 0 so large that any number leads out of sight, to the side of its sign.
    inverse: f64,
}

impl Factor {
    #[inline]
    fn new(d: f64) -> Self {
        Self { d, inverse: if d == 0.0 { 4.0 * FAR } else { 1.0 / d } }
    }

    /// What to take from `a` before the division: where `d` is 0 it makes 0 negative, as all
    /// integers that will do are then.
    #[inline]
    fn bias(&self) -> f64 {
        if self.d == 0.0 { 0.5 } else { 0.0 }
    }

    /// The bounds `a[0] <= d k` and `a[1] <= d (-k)`, and the remainders that decided them. `a` is
    /// given less the bias.
    #[inline]
    fn bounds(&self, a: [f64; 2]) -> (Bounds, [f64; 2]) {
        let k = [round(a[0] * self.inverse), round(a[1] * self.inverse)];
        let remainder = [a[0] - k[0] * self.d, a[1] - k[1] * self.d];
        let raise = |r: f64| if r > 0.0 { 1.0 } else { 0.0 };
        ([k[0] + raise(remainder[0]), k[1] + raise(remainder[1])], remainder)
    }
}

/// One edge axis in the plane of two box axes: `least[0] <= fixed c + d k` and
/// `least[1] <= -(fixed c + d k)` for a centre's first coordinate `c` and the index `k` of its
/// second.
#[derive(Clone, Copy)]
struct Strip {
    fixed: f64,
    factor: Factor,
    least: [f64; 2],
}

impl Strip {
    /// The axis `e x normal`, with `normal` the third axis, of the edge from `start` to `end`.
    #[inline]
    fn new([start, end, across]: [[f64; 2]; 3], size: f64) -> Self {
        let (e, half) = ([end[0] - start[0], end[1] - start[1]], size / 2.0);
        // Of the axis and its negative the one whose second coordinate is not negative.
        let n = if e[0] > 0.0 { [-e[1], e[0]] } else { [e[1], -e[0]] };
        let p = n[0] * start[0] + n[1] * start[1];
        let q = n[0] * across[0] + n[1] * across[1];
        let r = half * (n[0].abs() + n[1]);
        // The centre of box k is at k size + half.
        let offset = n[1] * half;
        let [min, max] = if p < q { [p, q] } else { [q, p] };
        let factor = Factor::new(n[1] * size);
        let least = [min - r - offset - factor.bias(), offset - r - max - factor.bias()];
        Self { fixed: n[0], factor, least }
    }
}

/// What three strips allow of `bounds` where the first coordinate is `center`.
#[inline]
fn within(strips: &[Strip; 3], center: f64, bounds: Bounds) -> Bounds {
    strips.iter().fold(bounds, |bounds, strip| {
        let fixed = strip.fixed * center;
        let (narrower, _) = strip.factor.bounds([strip.least[0] - fixed, strip.least[1] + fixed]);
        tighter(bounds, narrower)
    })
}

/// The triangle's plane: `least[0] <= n . c` and `least[1] <= -(n . c)` for the first two
/// coordinates of a centre and the index of its third.
struct Plane {
    nx: f64,
    ny: f64,
    factor: Factor,
    least: [f64; 2],
    /// What a remainder must exceed for its sign to be certain; negative where all are exact.
    slack: f64,
    /// How many boxes a bound may be off where it is not certain.
    blur: f64,
    exact: ExactPlane,
}

/// The same in integers.
struct ExactPlane {
    normal: [i64; 3],
    least: [i128; 2],
    box_bits: u32,
}

impl Plane {
    /// `last` is the farthest box. `None` where the bounding box decides as much: there is no
    /// plane, or it is parallel to a face of the boxes.
    #[inline]
    fn new(v: &[[i64; 3]; 3], last: [i32; 3], box_bits: u32) -> Option<Self> {
        let n = cross(sub64(v[1], v[0]), sub64(v[2], v[1]));
        if n.iter().filter(|&&n| n != 0).count() <= 1 {
            return None;
        }
        let normal = if n[2] < 0 { n.map(|n| -n) } else { n };
        let (size, half) = ((1i64 << box_bits) as f64, 1i64 << (box_bits - 1));
        let (d, r) = (dot(normal, v[0]), dot(normal.map(i64::abs), [half; 3]));
        let offset = dot(normal, [0, 0, half]);
        let exact = ExactPlane { normal, least: [d - r - offset, offset - r - d], box_bits };

        let [nx, ny, nz] = normal.map(|n| n as f64);
        let least = exact.least.map(to_f64);
        // No number below is larger: the bounds, and the terms of the farthest box.
        let reach = |axis: usize| (f64::from(last[axis]) + 1.0) * size;
        let terms = nx.abs() * reach(0) + ny.abs() * reach(1) + nz * size;
        let largest = least[0].abs().max(least[1].abs()) + terms;
        let factor = Factor::new(nz * size);
        // Eight roundings lead to a remainder: the bound, its bias, two products, two sums, k d and
        // the last difference. Each is off by at most 2^-53 of the largest number, so together by
        // 2^-50 of it; doubled. Six of them and two of its own lie in the quotient: below 2^48 it
        // is off by less than 1/4, and k by less than 3/4. Larger ones leave nothing certain.
        let (slack, blur) = match largest {
            m if m < (1u64 << 53) as f64 => (-1.0, 0.0),
            m if m * factor.inverse < (1u64 << 48) as f64 => (m / (1u64 << 49) as f64, 1.0),
            _ => (f64::INFINITY, f64::INFINITY),
        };
        let least = least.map(|least| least - factor.bias());
        Some(Self { nx, ny, factor, least, slack, blur, exact })
    }

    /// The part of the row `z` at the centres `x` and `y` that the plane allows.
    #[inline]
    fn narrow(&self, x: f64, y: f64, z: Bounds) -> Bounds {
        let fixed = self.nx * x + self.ny * y;
        let (narrower, remainder) =
            self.factor.bounds([self.least[0] - fixed, self.least[1] + fixed]);
        if remainder[0].abs().min(remainder[1].abs()) <= self.slack {
            let blurred = narrower.map(|bound| bound - self.blur);
            if !is_empty(tighter(z, blurred)) {
                return self.exact.narrow(x as i64, y as i64, z);
            }
        }
        tighter(z, narrower)
    }
}

impl ExactPlane {
    #[cold]
    fn narrow(&self, x: i64, y: i64, z: Bounds) -> Bounds {
        let [nx, ny, nz] = self.normal;
        let fixed = dot([nx, ny, 0], [x, y, 0]);
        let bound = |least: i128| {
            // n k is an integer, so `least <= n k 2^bits` is `ceil(least / 2^bits) <= n k`.
            let least = -(-least >> self.box_bits);
            match nz {
                0 if least <= 0 => -FAR,
                0 => FAR,
                nz => to_f64(-(-least).div_euclid(i128::from(nz))).clamp(-FAR, FAR),
            }
        };
        tighter(z, [bound(self.least[0] - fixed), bound(self.least[1] + fixed)])
    }
}

/// The nearest float; nearly all values fit in the integers that processors convert.
#[inline]
fn to_f64(value: i128) -> f64 {
    i64::try_from(value).map_or_else(|_| value as f64, |value| value as f64)
}

/// A triangle's axes as bounds on box centres. Coordinates are relative to the lowest corner of
/// the lowest box, so box `k` of a row has its centre at `k size + half`.
struct Rows {
    base: [i32; 3],
    /// The last box of each axis, relative to the first.
    last: [i32; 3],
    size: f64,
    xy: [Strip; 3],
    xz: [Strip; 3],
    yz: [Strip; 3],
    plane: Option<Plane>,
}

/// Rows along `y` whose bounds that depend on `y` alone are kept at a time.
const KEPT: usize = 8;

impl Rows {
    #[inline]
    fn new(triangle: &Triangle, box_bits: u32, range: &BoxRange) -> Self {
        let base = range.lo.map(|lo| i64::from(lo) << box_bits);
        let relative = |p: [i32; 3]| sub64([p[0].into(), p[1].into(), p[2].into()], base);
        let v = [relative(triangle[0]), relative(triangle[1]), relative(triangle[2])];
        let size = (1i64 << box_bits) as f64;
        let strips = |a: usize, b: usize| {
            let corner = |i: usize| [v[i][a] as f64, v[i][b] as f64];
            let [p, q, r] = [corner(0), corner(1), corner(2)];
            [Strip::new([p, q, r], size), Strip::new([q, r, p], size), Strip::new([r, p, q], size)]
        };
        let last = |a: usize| range.hi[a] - range.lo[a];
        let last = [last(0), last(1), last(2)];
        Self {
            base: range.lo,
            last,
            size,
            xy: strips(0, 1),
            xz: strips(0, 2),
            yz: strips(1, 2),
            plane: Plane::new(&v, last, box_bits),
        }
    }

    #[inline]
    fn center(&self, index: i32) -> f64 {
        (f64::from(index) + 0.5) * self.size
    }

    #[inline]
    fn visit(&self, visit: &mut impl FnMut(i32, i32, i32, i32)) {
        let [last_x, last_y, last_z] = self.last;
        let z_all = [0.0, -f64::from(last_z)];
        for y_first in (0..=last_y).step_by(KEPT) {
            let y_last = last_y.min(y_first + KEPT as i32 - 1);
            let y_all = [f64::from(y_first), -f64::from(y_last)];
            let mut z_of_y = [z_all; KEPT];
            for (y, bounds) in (y_first..=y_last).zip(&mut z_of_y) {
                *bounds = within(&self.yz, self.center(y), z_all);
            }
            for x in 0..=last_x {
                let center_x = self.center(x);
                let y_of_x = within(&self.xy, center_x, y_all);
                let z_of_x = within(&self.xz, center_x, z_all);
                if is_empty(y_of_x) || is_empty(z_of_x) {
                    continue;
                }
                for y in index(y_of_x[0])..=index(-y_of_x[1]) {
                    let mut z = tighter(z_of_x, z_of_y[(y - y_first) as usize]);
                    if let Some(plane) = &self.plane {
                        z = plane.narrow(center_x, self.center(y), z);
                    }
                    if !is_empty(z) {
                        let [base_x, base_y, base_z] = self.base;
                        let (z_lo, z_hi) = (index(z[0]), index(-z[1]));
                        visit(base_x + x, base_y + y, base_z + z_lo, base_z + z_hi);
                    }
                }
            }
        }
    }
}
