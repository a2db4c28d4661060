//! A seeded generator of pairs of a triangle and a cube that are hard to decide, whoever decides
//! them: by family, in equal shares, all within the bit budget of [`trivox::place`].

use fastrand::Rng;
use trivox::lattice::{SPAN_BITS, Triangle};

use super::vector::{cross, minus, plus};

/// Length of the interval in which all coordinates lie, per axis.
pub const SPAN: i32 = 1 << SPAN_BITS;

/// A triangle and the cube of half edge `half` around `center`, in lattice units.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub family: Family,
    pub triangle: Triangle,
    pub center: [i32; 3],
    pub half: i32,
    /// The answer, where the family knows it by construction.
    pub known: Option<bool>,
}

/// Why a pair is hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// At most 16 units long, near the surface of the cube.
    Tiny,
    /// At least 1,024 units long, and a few units wide.
    Sliver,
    /// Long edges, and no component of their cross product above 1.
    NearlyDegenerate,
    /// A point, or a segment: repeated or collinear corners.
    Degenerate,
    /// All coordinates are multiples of half the cube.
    LatticeAligned,
    /// On one side of a plane that holds a face of the cube; the nearest corner lies over the
    /// face, its edges or its corners, at the plane or one unit to either side.
    TouchingFace,
    /// An edge passes an edge of the cube exactly, or a unit to either side of it.
    TouchingEdge,
    /// The plane passes a corner of the cube exactly, or a unit to either side of it.
    TouchingCorner,
    /// Coordinates at the ends of the interval, or a unit off.
    RangeEnds,
    /// Triangles as wide as the interval, near cubes of every size.
    Wide,
}

impl Family {
    pub const ALL: [Self; 10] = [
        Self::Tiny,
        Self::Sliver,
        Self::NearlyDegenerate,
        Self::Degenerate,
        Self::LatticeAligned,
        Self::TouchingFace,
        Self::TouchingEdge,
        Self::TouchingCorner,
        Self::RangeEnds,
        Self::Wide,
    ];
}

/// `count` pairs, the same for the same `seed`, the families in turn.
pub fn pairs(seed: u64, count: usize) -> impl Iterator<Item = Pair> {
    let mut rng = Rng::with_seed(seed);
    Family::ALL.into_iter().cycle().take(count).map(move |family| pair(&mut rng, family))
}

/// One pair of `family`.
pub fn pair(rng: &mut Rng, family: Family) -> Pair {
    loop {
        if let Some(pair) = attempt(rng, family).into_budget(rng) {
            return pair;
        }
    }
}

fn attempt(rng: &mut Rng, family: Family) -> Pair {
    let half = 1 << rng.u32(3..=23);
    let at = |triangle| Pair { family, triangle, center: [0; 3], half, known: None };
    match family {
        Family::Tiny => at(tiny(rng, half)),
        Family::Sliver => at(sliver(rng, half)),
        Family::NearlyDegenerate => at(nearly_degenerate(rng, half)),
        Family::Degenerate => at(degenerate(rng, half)),
        Family::LatticeAligned => lattice_aligned(rng, at([[0; 3]; 3])),
        Family::TouchingFace => touching_face(rng, at([[0; 3]; 3])),
        Family::TouchingEdge => touching_edge(rng, at([[0; 3]; 3])),
        Family::TouchingCorner => touching_corner(rng, at([[0; 3]; 3])),
        Family::RangeEnds => range_ends(rng, at([[0; 3]; 3])),
        Family::Wide => wide(rng, at([[0; 3]; 3])),
    }
}

impl Pair {
    /// Moved as a whole to a random place in the budget, or `None` where it is longer than that.
    fn into_budget(self, rng: &mut Rng) -> Option<Self> {
        let mut shift = [0; 3];
        for (a, shift) in shift.iter_mut().enumerate() {
            let all =
                [self.center[a], self.triangle[0][a], self.triangle[1][a], self.triangle[2][a]];
            let (min, max) =
                all.iter().fold((i32::MAX, i32::MIN), |(l, h), &c| (l.min(c), h.max(c)));
            if max - min > SPAN {
                return None;
            }
            *shift = rng.i32(-SPAN - min..=SPAN - max);
            if self.family == Family::LatticeAligned {
                *shift -= *shift % self.half;
            }
        }
        Some(Self {
            triangle: self.triangle.map(|corner| plus(corner, shift)),
            center: plus(self.center, shift),
            ..self
        })
    }

    /// The two edges from the first corner, and their cross product.
    pub fn edges_and_normal(&self) -> [[i64; 3]; 3] {
        let [a, b, c] = self.triangle.map(|corner| corner.map(i64::from));
        let (e, f) = (minus(b, a), minus(c, a));
        [e, f, cross(e, f)]
    }
}

pub fn scaled(a: [i32; 3], factor: i32) -> [i32; 3] {
    a.map(|c| c * factor)
}

fn vector(rng: &mut Rng, reach: i32) -> [i32; 3] {
    std::array::from_fn(|_| rng.i32(-reach..=reach))
}

/// Every order of magnitude up to `2^bits` equally often.
fn magnitude(rng: &mut Rng, bits: u32) -> i32 {
    let bits = rng.u32(0..=bits);
    rng.i32(1..=1 << bits)
}

fn sign(rng: &mut Rng) -> i32 {
    if rng.bool() { 1 } else { -1 }
}

/// A point within a few units of the surface of the cube, or of its edges or corners.
fn near_surface(rng: &mut Rng, half: i32) -> [i32; 3] {
    let snapped = rng.u8(1..8);
    let near = |a: u32| match snapped >> a & 1 {
        1 => sign(rng) * half + rng.i32(-9..=9),
        _ => rng.i32(-half..=half),
    };
    [0, 1, 2].map(near)
}

fn tiny(rng: &mut Rng, half: i32) -> Triangle {
    let at = near_surface(rng, half);
    std::array::from_fn(|_| plus(at, std::array::from_fn(|_| rng.i32(0..=16))))
}

fn sliver(rng: &mut Rng, half: i32) -> Triangle {
    let middle = near_surface(rng, half);
    let reach = 1 << rng.u32(10..=22);
    let mut across = vector(rng, reach);
    across[rng.usize(0..3)] = reach;
    let (a, b) = (plus(middle, across), plus(middle, scaled(across, -1)));
    let t = rng.f64();
    let on = |i: usize| a[i] + (f64::from(b[i] - a[i]) * t).round() as i32;
    [a, b, std::array::from_fn(|i| on(i) + rng.i32(-2..=2))]
}

/// Two edges with determinant 1 (or 0) in a plane, which a shear tilts into space: their cross
/// product then has the components 1 (or 0) and the shear's factors.
fn nearly_degenerate(rng: &mut Rng, half: i32) -> Triangle {
    let (p, q) = (magnitude(rng, 23), sign(rng) * magnitude(rng, 23));
    let (divisor, (r, s)) = bezout(p, q);
    let (p, q) = (p / divisor, q / divisor);
    let (r, s) = if rng.u32(0..8) == 0 { (-p, -q) } else { (r, s) };
    let [k, l] = [rng.i32(-1..=1), rng.i32(-1..=1)];
    let first_axis = rng.usize(0..3);
    let tilt = |u: i32, v: i32| {
        let mut e = [u, v, k * u + l * v];
        e.rotate_right(first_axis);
        e
    };
    let (e, f) = (tilt(p, q), tilt(r, s));
    // Some point of the first edge is near the surface of the cube.
    let t = rng.f64();
    let start = near_surface(rng, half);
    let a: [i32; 3] = std::array::from_fn(|i| start[i] - (f64::from(e[i]) * t) as i32);
    [a, plus(a, e), plus(a, f)]
}

/// The greatest common divisor of `p` and `q` up to its sign, and an `(r, s)`, no longer than
/// `(p, q)`, with `p s - q r` equal to it: the extended Euclid.
fn bezout(p: i32, q: i32) -> (i32, (i32, i32)) {
    let (mut a, mut b) = ([p, 1, 0], [q, 0, 1]);
    while b[0] != 0 {
        let quotient = a[0] / b[0];
        (a, b) = (b, std::array::from_fn(|i| a[i] - quotient * b[i]));
    }
    (a[0], (-a[2], a[1]))
}

fn degenerate(rng: &mut Rng, half: i32) -> Triangle {
    let at = near_surface(rng, half);
    let step = vector(rng, 1 << 5);
    let reach = magnitude(rng, 17);
    let mut along = [rng.i32(-reach..=0), rng.i32(0..=reach), rng.i32(-reach..=reach)];
    match rng.u32(0..4) {
        0 => along = [0; 3],
        1 => along[2] = along[rng.usize(0..2)],
        _ => {}
    }
    rng.shuffle(&mut along);
    along.map(|n| plus(at, scaled(step, n)))
}

fn lattice_aligned(rng: &mut Rng, pair: Pair) -> Pair {
    let reach = (SPAN / pair.half).min(if rng.bool() { 3 } else { 12 });
    let triangle = std::array::from_fn(|_| scaled(vector(rng, reach), pair.half));
    Pair { triangle, ..pair }
}

/// -1, 0 or 1 steps outwards from exact contact; one step out is apart.
fn step_from_contact(rng: &mut Rng) -> (i32, bool) {
    let step = rng.i32(-1..=1);
    (step, step <= 0)
}

fn touching_face(rng: &mut Rng, pair: Pair) -> Pair {
    let (h, a, outwards) = (pair.half, rng.usize(0..3), sign(rng));
    let (step, known) = step_from_contact(rng);
    let mut contact: [i32; 3] = std::array::from_fn(|_| match rng.u32(0..3) {
        0 => sign(rng) * h,
        _ => rng.i32(-h..=h),
    });
    contact[a] = outwards * (h + step);
    let reach = magnitude(rng, 23);
    let in_plane = rng.u32(0..4);
    let mut beyond = |corner: u32| {
        let mut v = vector(rng, reach);
        // With a second and third corner in the plane too, an edge or all of it touches.
        v[a] = if corner < in_plane { 0 } else { outwards * v[a].abs() };
        plus(contact, v)
    };
    let mut triangle = [contact, beyond(1), beyond(2)];
    rng.shuffle(&mut triangle);
    Pair { triangle, known: Some(known), ..pair }
}

/// In the plane across the cube's edge, the triangle's edge passes the cube's corner with the
/// whole cube on one side; the third corner lies on the other.
fn touching_edge(rng: &mut Rng, pair: Pair) -> Pair {
    let (h, k, signs) = (pair.half, rng.usize(0..3), [sign(rng), sign(rng)]);
    let (a, b) = ((k + 1) % 3, (k + 2) % 3);
    let (step, known) = step_from_contact(rng);
    let mut contact = [0; 3];
    (contact[a], contact[b], contact[k]) = (signs[0] * h, signs[1] * h, rng.i32(-h..=h));
    contact[a] += signs[0] * step;

    let [da, db] = [magnitude(rng, 12), magnitude(rng, 12)];
    let mut direction = [0; 3];
    (direction[a], direction[b]) = (signs[0] * da, -signs[1] * db);
    let reach = magnitude(rng, 12);
    direction[k] = rng.i32(-reach..=reach);
    // Further out along `a` and back along the edge: never on the cube's side of the edge.
    let along = rng.i32(-200..=200);
    let mut third = plus(contact, scaled(direction, along));
    third[a] += signs[0] * (magnitude(rng, 22) - 1);
    third[k] += vector(rng, reach)[0];
    let [m, n] = [magnitude(rng, 10), magnitude(rng, 10)];
    let mut triangle =
        [plus(contact, scaled(direction, m)), plus(contact, scaled(direction, -n)), third];
    rng.shuffle(&mut triangle);
    Pair { triangle, known: Some(known), ..pair }
}

/// Around the corner, in the plane with the normal `n`: `u`, `v` and `w` are across it and
/// `n2 u + n0 v + n1 w = 0`, so that the corner lies inside the triangle of their ends.
fn touching_corner(rng: &mut Rng, pair: Pair) -> Pair {
    let [n0, n1, n2] = [magnitude(rng, 11), magnitude(rng, 11), magnitude(rng, 11)];
    let signs = [sign(rng), sign(rng), sign(rng)];
    let (step, known) = step_from_contact(rng);
    let mut contact = scaled(signs, pair.half);
    let a = rng.usize(0..3);
    contact[a] += signs[a] * step;
    let mut triangle = [[n1, -n0, 0], [0, n2, -n1], [-n2, 0, n0]].map(|across| {
        let length = magnitude(rng, 11);
        std::array::from_fn(|i| contact[i] + signs[i] * across[i] * length)
    });
    rng.shuffle(&mut triangle);
    Pair { triangle, known: Some(known), ..pair }
}

fn range_ends(rng: &mut Rng, pair: Pair) -> Pair {
    let end = |rng: &mut Rng| match rng.u32(0..6) {
        0 => rng.i32(0..=1),
        1 => SPAN - rng.i32(0..=1),
        n => [0, SPAN][n as usize % 2],
    };
    let mut triangle: Triangle = std::array::from_fn(|_| std::array::from_fn(|_| end(rng)));
    let across = rng.usize(0..3);
    triangle[1][across] = SPAN - triangle[0][across];
    let center = std::array::from_fn(|a| match rng.u32(0..4) {
        0 => end(rng),
        1 => pair.half - rng.i32(0..=1),
        2 => SPAN - pair.half + rng.i32(0..=1),
        // Somewhere that the triangle's edges and medians pass.
        _ => (triangle[0][a] + triangle[rng.usize(0..3)][a]) / 2 + rng.i32(-1..=1) * pair.half,
    });
    Pair { triangle, center: center.map(|c: i32| c.clamp(0, SPAN)), ..pair }
}

fn wide(rng: &mut Rng, pair: Pair) -> Pair {
    let triangle: Triangle = std::array::from_fn(|_| std::array::from_fn(|_| rng.i32(0..=SPAN)));
    let [s, t] = [rng.f64(), rng.f64()];
    let weights = [1.0 - s.max(t), (s - t).abs(), s.min(t)];
    let center = std::array::from_fn(|a| {
        let on = (0..3).map(|i| weights[i] * f64::from(triangle[i][a])).sum::<f64>() as i32;
        (on + rng.i32(-2 * pair.half..=2 * pair.half)).clamp(0, SPAN)
    });
    Pair { triangle, center, ..pair }
}

/// A triangle around the origin whose plane is so close to it that `n . v_0` is `gap`, and steep,
/// with a normal of more than `2^36` along each axis; corners are less than `2^bits` away.
pub fn triangle_past_the_origin(rng: &mut Rng, gap: i32, bits: u32) -> Triangle {
    loop {
        let start = vector(rng, 1 << (bits - 3));
        if let Some(triangle) = triangle_from(rng, start, gap, bits) {
            return triangle;
        }
    }
}

/// Such a triangle with the corner `start`, if the first attempt makes one.
///
/// With `w = e_x - u - v` the number that `gap` shall be is the determinant of `u`, `v` and `e_x`,
/// the cross product of what `u` and `v` are along `y` and `z`; `v` makes it that. A shear, which
/// changes no determinant, takes the normal off the axes.
pub fn triangle_from(rng: &mut Rng, start: [i32; 3], gap: i32, bits: u32) -> Option<Triangle> {
    let [k, l, m] = [(); 3].map(|()| rng.i32(1..=2) * sign(rng));
    let shear = |[x, y, z]: [i32; 3]| {
        let (y, z) = (y + k * x, z + l * x);
        [x + m * y, y, z]
    };
    let unshear = |[x, y, z]: [i32; 3]| {
        let x = x - m * y;
        [x, y - k * x, z - l * x]
    };
    let u = unshear(start);
    let (divisor, (vy, vz)) = bezout(u[1], u[2]);
    if divisor.abs() != 1 {
        return None;
    }
    // A multiple of what u is there changes nothing.
    let (gap, more) = (gap * divisor, rng.i32(-1..=1));
    let v = [vector(rng, 1 << (bits - 3))[0], gap * vy + more * u[1], gap * vz + more * u[2]];
    let w = [1 - u[0] - v[0], -u[1] - v[1], -u[2] - v[2]];
    let triangle = [u, v, w].map(shear);
    let is_near = triangle.as_flattened().iter().all(|c| c.abs() < 1 << bits);
    let is_steep = normal(&triangle).iter().all(|n| n.abs() > 1 << 36);
    (is_near && is_steep).then_some(triangle)
}

/// The triangle's normal, twice its area long.
pub fn normal(triangle: &Triangle) -> [i128; 3] {
    let [a, b, c] = triangle.map(|corner| corner.map(i128::from));
    cross(minus(b, a), minus(c, a))
}
