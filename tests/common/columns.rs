//! For `crosses`: an oracle in `i128` that shares no code and no formula with the library, and a
//! seeded generator of columns that are hard to decide, all within the bit budget of
//! [`trivox::place`].

use fastrand::Rng;
use trivox::lattice::Triangle;
use trivox::predicate::{Axis, ProjectedTriangle};

use super::pairs::{Pair, SPAN, pairs, scaled, triangle_past_the_origin};
use super::vector::{cross, minus};

/// A column of `count` voxels of `2^fraction_bits` units, and a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    pub triangle: Triangle,
    pub axis: Axis,
    pub center: [i32; 2],
    pub fraction_bits: u32,
    pub count: i32,
}

/// Where a column crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub winding: i32,
    pub first_center: i32,
    pub voxel: i32,
}

/// What the library says.
pub fn crosses(column: &Column) -> Option<Found> {
    let projected = ProjectedTriangle::new(&column.triangle, column.axis);
    projected.at(column.center).map(|height| Found {
        winding: projected.winding(),
        first_center: height.first_center(column.fraction_bits),
        voxel: height.voxel(column.fraction_bits, column.count),
    })
}

/// A mistake to plant in the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Edges that run up are owned instead.
    TieTurned,
    /// Level edges belong to the wrong side, all others to the right one.
    LevelTieTurned,
    /// Edges belong to both sides.
    EdgesOfBoth,
    /// A crossing at a centre counts as past it.
    CenterRoundedUp,
    /// A crossing at the face between two voxels is in the lower.
    FaceRoundedDown,
    FarFaceOutside,
    /// The fraction is cut towards zero instead of down.
    CutTowardsZero,
    WindingTurned,
    PlaneInI64,
}

impl Mistake {
    pub const ALL: [Self; 9] = [
        Self::TieTurned,
        Self::LevelTieTurned,
        Self::EdgesOfBoth,
        Self::CenterRoundedUp,
        Self::FaceRoundedDown,
        Self::FarFaceOutside,
        Self::CutTowardsZero,
        Self::WindingTurned,
        Self::PlaneInI64,
    ];
}

/// The right answer.
pub fn oracle(column: &Column) -> Option<Found> {
    mistaken(Mistake::None, column)
}

/// The oracle with a mistake in it.
///
/// The tie rule is a moved centre: up the first coordinate by an infinitesimal step and down the
/// second by a far smaller one, here small fractions; it is then on no edge, and it is inside if
/// it lies between the two crossings of the projected outline and the line `p = center`. The height
/// is where the column meets the triangle's plane, from the normal; voxels are those which
/// multiplication says.
pub fn mistaken(mistake: Mistake, column: &Column) -> Option<Found> {
    let corners = column.triangle.map(|[x, y, z]| match column.axis {
        Axis::X => [y, z, x],
        Axis::Y => [z, x, y],
        Axis::Z => [x, y, z],
    });
    let [p, q] = column.center;
    let seen = corners.map(|[a, b, _]| [i64::from(a - p), i64::from(b - q)]);
    let covered = match mistake {
        Mistake::TieTurned => is_inside(seen, [-1, 1]),
        Mistake::LevelTieTurned => is_inside(seen, [1, 1]),
        Mistake::EdgesOfBoth => {
            [[1, 1], [1, -1], [-1, 1], [-1, -1]].into_iter().any(|step| is_inside(seen, step))
        }
        _ => is_inside(seen, [1, -1]),
    };
    let [a, b, c] = corners.map(|corner| corner.map(i128::from));
    let n = cross(minus(b, a), minus(c, a));
    if !covered || n[2] == 0 {
        return None;
    }
    let across = n[0] * (a[0] - i128::from(p)) + n[1] * (a[1] - i128::from(q));
    let sum = across + n[2] * a[2];
    let sum = if mistake == Mistake::PlaneInI64 { i128::from(sum as i64) } else { sum };
    let (numerator, denominator) = if n[2] < 0 { (-sum, -n[2]) } else { (sum, n[2]) };
    let size = 1 << column.fraction_bits;
    let winding = -n[2].signum() as i32;
    let guess = (numerator as f64 / denominator as f64 / size as f64) as i128;
    Some(Found {
        winding: if mistake == Mistake::WindingTurned { -winding } else { winding },
        first_center: first(guess, |k| {
            let past = denominator * (k * size + size / 2) - numerator;
            past > 0 || (past == 0 && mistake != Mistake::CenterRoundedUp)
        }),
        voxel: voxel(mistake, [numerator, denominator], guess, size, i128::from(column.count)),
    })
}

fn voxel(
    mistake: Mistake,
    [numerator, denominator]: [i128; 2],
    guess: i128,
    size: i128,
    count: i128,
) -> i32 {
    if numerator == denominator * size * count && mistake != Mistake::FarFaceOutside {
        return count as i32 - 1;
    }
    if mistake == Mistake::CutTowardsZero {
        return (numerator / (denominator * size)) as i32;
    }
    first(guess, |k| {
        let past = denominator * (k + 1) * size - numerator;
        past > 0 || (past == 0 && mistake == Mistake::FaceRoundedDown)
    })
}

/// The first number for which `is_past`, which is monotone, holds, whatever the `guess`.
fn first(guess: i128, is_past: impl Fn(i128) -> bool) -> i32 {
    let end = i128::from(SPAN) + 1;
    let mut first = guess.clamp(-end, end);
    while first > -end && is_past(first - 1) {
        first -= 1;
    }
    while first < end && !is_past(first) {
        first += 1;
    }
    first as i32
}

/// Whether the origin, moved infinitesimally by `step` and far more along the first coordinate than
/// along the second, is inside the triangle.
///
/// An edge that the line through it meets has its ends on either side of the line; it is above or
/// below the point, and on a tie the step decides.
fn is_inside(corners: [[i64; 2]; 3], step: [i64; 2]) -> bool {
    let is_right = |corner: [i64; 2]| corner[0] > 0 || (corner[0] == 0 && step[0] < 0);
    let above = (0..3).filter(|&i| {
        let (mut s, mut e) = (corners[i], corners[(i + 1) % 3]);
        if is_right(s) == is_right(e) {
            return false;
        }
        if is_right(s) {
            (s, e) = (e, s);
        }
        // The edge, now from left to right, meets the line at height `at / (e[0] - s[0])`, whose
        // slope times the first step comes before the second step.
        let at = s[1] * (e[0] - s[0]) - s[0] * (e[1] - s[1]);
        let tilt = (e[1] - s[1]) * step[0];
        at > 0 || (at == 0 && (tilt > 0 || (tilt == 0 && step[1] < 0)))
    });
    above.count() % 2 == 1
}

/// Why a column is hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Through the cube of an adversarial pair of `touches`.
    OfPairs,
    /// An edge runs exactly through the centre.
    ThroughEdge,
    /// A corner is at the centre.
    ThroughCorner,
    /// Along an edge through the centre, and a few units wide.
    Sliver,
    /// Projected to a segment or a point that holds the centre.
    Parallel,
    /// Crossed exactly at a centre or face of a voxel, or at the far face, or a unit off.
    AtVoxel,
    /// Crossed a smallest possible fraction above or below a centre or face, or exactly at it.
    PastVoxel,
    /// Corners at the ends of the interval or a unit off, around the centre.
    RangeEnds,
}

impl Family {
    pub const ALL: [Self; 8] = [
        Self::OfPairs,
        Self::ThroughEdge,
        Self::ThroughCorner,
        Self::Sliver,
        Self::Parallel,
        Self::AtVoxel,
        Self::PastVoxel,
        Self::RangeEnds,
    ];
}

/// `count` columns, the same for the same `seed`, the families in turn.
pub fn columns(seed: u64, count: usize) -> impl Iterator<Item = (Family, Column)> {
    let mut rng = Rng::with_seed(seed);
    let mut pairs = pairs(seed, usize::MAX);
    Family::ALL.into_iter().cycle().take(count).map(move |family| {
        let column = match family {
            Family::OfPairs => of_pair(&mut rng, &pairs.next().expect("an endless supply")),
            _ => {
                std::iter::repeat_with(|| attempt(&mut rng, family)).flatten().next().expect("one")
            }
        };
        (family, column)
    })
}

fn of_pair(rng: &mut Rng, pair: &Pair) -> Column {
    let axis = Axis::ALL[rng.usize(0..3)];
    let (center, height) = axis.project(pair.center);
    let fraction_bits = (pair.half.ilog2() + 1).min(16);
    Column { triangle: pair.triangle, axis, center, fraction_bits, count: height >> fraction_bits }
}

/// A column of `family` around the origin, moved into the budget, if it fits.
fn attempt(rng: &mut Rng, family: Family) -> Option<Column> {
    let mut triangle = match family {
        Family::ThroughEdge => through_edge(rng),
        Family::ThroughCorner => [[0; 3], vector(rng), vector(rng)],
        Family::Sliver => sliver(rng),
        Family::Parallel => parallel(rng),
        Family::AtVoxel => at_origin(rng),
        Family::RangeEnds => return Some(range_ends(rng)),
        _ => past_origin(rng),
    };
    rng.shuffle(&mut triangle);
    // The origin is a centre or a face, or a unit off; and one face is the far one.
    let fraction_bits = rng.u32(1..=16);
    let half = 1 << (fraction_bits - 1);
    let steps = rng.i32(-(SPAN / half)..=SPAN / half);
    let along = steps * half + if rng.u8(0..4) == 0 { rng.i32(-1..=1) } else { 0 };
    let center = [rng.i32(-SPAN..=SPAN), rng.i32(-SPAN..=SPAN)];
    let triangle = triangle.map(|[p, q, w]| [p + center[0], q + center[1], w + along]);
    let fits = (0..3).all(|i| {
        let own = triangle.map(|corner| corner[i]);
        let all = || own.into_iter().chain((i < 2).then(|| center[i]));
        let length = all().max().unwrap_or(0) - all().min().unwrap_or(0);
        length <= SPAN && all().all(|c| c.abs() <= SPAN)
    });
    let axis = Axis::ALL[rng.usize(0..3)];
    let count = (along >> fraction_bits) + rng.i32(0..=1);
    let triangle = triangle.map(|[p, q, w]| axis.unproject([p, q], w));
    fits.then_some(Column { triangle, axis, center, fraction_bits, count })
}

/// Of every order of magnitude equally often, and now and then level.
fn vector(rng: &mut Rng) -> [i32; 3] {
    let reach = 1 << rng.u32(0..=22);
    let level = rng.u8(0..8);
    std::array::from_fn(|i| if level == i as u8 { 0 } else { rng.i32(-reach..=reach) })
}

/// Two corners on a line through the origin, on both sides of it, or with it at an end.
fn around(rng: &mut Rng) -> [[i32; 3]; 2] {
    let reach = 1 << rng.u32(0..=12);
    let mut along: [i32; 3] = std::array::from_fn(|_| rng.i32(-reach..=reach));
    if rng.u8(0..4) == 0 {
        along[rng.usize(0..2)] = 0;
    }
    let far = 1 << rng.u32(0..=10);
    [scaled(along, rng.i32(0..=far)), scaled(along, -rng.i32(1..=far))]
}

fn through_edge(rng: &mut Rng) -> Triangle {
    let [a, b] = around(rng);
    [a, b, vector(rng)]
}

fn sliver(rng: &mut Rng) -> Triangle {
    let [a, b] = around(rng);
    let t = rng.f64();
    let near = |i: usize| a[i] + (f64::from(b[i] - a[i]) * t) as i32;
    let c = std::array::from_fn(|i| near(i) + rng.i32(-2..=2));
    let off = std::array::from_fn(|i| a[i] + rng.i32(-1..=1));
    [if rng.bool() { a } else { off }, b, c]
}

fn parallel(rng: &mut Rng) -> Triangle {
    let [a, b] = around(rng);
    let weight = rng.i32(-2..=2);
    let mut c = scaled(a, weight);
    if rng.u8(0..4) == 0 {
        c = b;
    }
    [a, b, [c[0], c[1], vector(rng)[2]]]
}

/// A triangle around the origin whose plane holds it, flat or tilted.
fn at_origin(rng: &mut Rng) -> Triangle {
    let reach = 1 << rng.u32(1..=10);
    let tilt = if rng.bool() { [0, 0] } else { [rng.i32(-9..=9), rng.i32(-9..=9)] };
    std::array::from_fn(|_| {
        let [p, q]: [i32; 2] = std::array::from_fn(|_| rng.i32(-reach..=reach));
        [p, q, tilt[0] * p + tilt[1] * q]
    })
}

fn past_origin(rng: &mut Rng) -> Triangle {
    let gap = rng.i32(-1..=1);
    triangle_past_the_origin(rng, gap, 23)
}

fn range_ends(rng: &mut Rng) -> Column {
    let end = |rng: &mut Rng| if rng.bool() { rng.i32(0..=1) } else { SPAN - rng.i32(0..=1) };
    let triangle: Triangle = std::array::from_fn(|_| std::array::from_fn(|_| end(rng)));
    let axis = Axis::ALL[rng.usize(0..3)];
    let seen = triangle.map(|corner| axis.project(corner).0);
    let mut center = std::array::from_fn(|i| match rng.u8(0..3) {
        0 => seen[rng.usize(0..3)][i],
        1 => SPAN / 2 + rng.i32(-1..=1),
        _ => rng.i32(0..=SPAN),
    });
    if rng.u8(0..3) == 0 {
        center[1] = center[0];
    }
    let fraction_bits = rng.u32(4..=16);
    Column { triangle, axis, center, fraction_bits, count: SPAN >> fraction_bits }
}

/// The columns along all three axes through every point of the small lattice, whose voxels are two
/// units wide, in units of `2^stretch_bits`.
pub fn lattice_columns(triangle: Triangle, stretch_bits: u32) -> impl Iterator<Item = Column> {
    let triangle = triangle.map(|corner| corner.map(|c| c << stretch_bits));
    let centers = (0..25).map(|i| [i / 5, i % 5]);
    centers.flat_map(move |center| {
        let center = center.map(|c| c << stretch_bits);
        let fraction_bits = 1 + stretch_bits;
        Axis::ALL.map(|axis| Column { triangle, axis, center, fraction_bits, count: 2 })
    })
}
