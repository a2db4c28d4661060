//! [`touches`](super::touches()) for many triangles and one box, without branches, so that the
//! compiler can test several triangles with each vector instruction.
//!
//! Worth it where early rejection does not pay: when about as many pairs touch as not, a test that
//! stops early stops unpredictably. The thirteen axes are those of [`touches`](super::touches()),
//! decided here in `f64`, and yet exactly (below).
//!
//! # Nine numbers for ten axes
//! Let `v_i` be the corners seen from the box's centre, `w_i = v_i x v_(i+1)` and
//! `n = w_0 + w_1 + w_2`, which is the triangle's normal. Along the cross product of box normal `a`
//! and the edge from corner `i`, that edge projects to component `a` of `w_i`, and the corner
//! across from it to that of `w_i - n` (or both to the negatives). The interval between `p` and
//! `q` misses `[-r, r]` if and only if `|p + q| > |p - q| + 2 r`: here `|2 w_i - n| > |n| + 2 r`.
//! So the components of the `w_i` serve the nine edge axes and the plane.
//!
//! # Exact in `f64`
//! Let `D = `[`REACH`]` = 2^16` bound the corners' coordinates, seen from the centre, and the half
//! edge. All values are integers, and none exceeds
//!
//! - `2 D^2` for `w_i`, `6 D^2` for `n`, `10 D^2` for `2 w_i - n`, `8 D^2` for `2 r`, hence
//!   `14 D^2` for the right-hand side;
//! - `6 D^3` for one product of the plane's test, `18 D^3 < 2^53` for the sum of three.
//!
//! Integers up to `2^53` are exact in `f64`, so nothing is rounded, in any order, fused or not.
//! Past [`REACH`] the triangles are given to [`touches`](super::touches()) one by one.

use crate::place::Triangle;
use crate::predicate::touches;

/// Largest distance per axis, in lattice units, between a corner and the box's centre for which
/// the vector kernel is exact; also the largest half edge.
pub const REACH: i32 = 1 << 16;

/// Triangles tested per word of answers.
const LANES: usize = u64::BITS as usize;

/// 64 triangles: `block[corner][axis][lane]`.
type Block = [[[i32; LANES]; 3]; 3];

/// Triangles laid out for testing against one box at a time.
///
/// ```
/// use trivox::predicate::batch::Batch;
///
/// let flat = |z| [[0, 0, z], [8, 0, z], [0, 8, z]];
/// let batch = Batch::new(&[flat(0), flat(4), flat(5)]);
/// // The box [0, 4]^3 has the first triangle on its floor and the second on its lid.
/// assert_eq!(batch.touches([2, 2, 2], 2), [0b011]);
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    len: usize,
    /// The last one is filled up with copies of the last triangle.
    blocks: Vec<Block>,
    min: [i32; 3],
    max: [i32; 3],
}

impl Batch {
    /// Lays out `triangles`.
    #[must_use]
    pub fn new(triangles: &[Triangle]) -> Self {
        let corners = || triangles.iter().flatten();
        Self {
            len: triangles.len(),
            blocks: triangles.chunks(LANES).map(block).collect(),
            min: std::array::from_fn(|a| corners().map(|p| p[a]).min().unwrap_or(0)),
            max: std::array::from_fn(|a| corners().map(|p| p[a]).max().unwrap_or(0)),
        }
    }

    /// How many triangles there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which triangles touch the closed cube of half edge `half` around `center`: bit `i % 64` of
    /// word `i / 64` is what [`touches`](super::touches()) answers for triangle `i`. Bits past the
    /// last triangle are 0.
    ///
    /// Corners, `center` and `half` must keep the bit budget of [`place`](mod@crate::place).
    #[must_use]
    pub fn touches(&self, center: [i32; 3], half: i32) -> Vec<u64> {
        let mut words: Vec<u64> = if self.reaches(center, half) {
            self.blocks.iter().map(|block| touches_block(block, center, half)).collect()
        } else {
            self.blocks.iter().map(|block| touches_each(block, center, half)).collect()
        };
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (self.blocks.len() * LANES - self.len);
        }
        words
    }

    /// Whether the vector kernel is exact for this box.
    fn reaches(&self, center: [i32; 3], half: i32) -> bool {
        let near = |a: i32, b: i32| a.abs_diff(b) <= REACH.unsigned_abs();
        half <= REACH
            && (0..3).all(|a| near(self.min[a], center[a]) && near(self.max[a], center[a]))
    }
}

/// Lays out up to 64 triangles, at least one.
fn block(triangles: &[Triangle]) -> Block {
    let lane = |i: usize| triangles[i.min(triangles.len() - 1)];
    std::array::from_fn(|corner| {
        std::array::from_fn(|axis| std::array::from_fn(|i| lane(i)[corner][axis]))
    })
}

fn touches_each(block: &Block, center: [i32; 3], half: i32) -> u64 {
    let triangle = |lane: usize| block.map(|corner| corner.map(|axis| axis[lane]));
    pack(&std::array::from_fn(|lane| !touches(&triangle(lane), center, half)))
}

/// The vector kernel: the loop over lanes has no branch.
fn touches_block(block: &Block, center: [i32; 3], half: i32) -> u64 {
    debug_assert!(within_reach(block, center) && half <= REACH, "{center:?}, {half}: out of reach");
    let half = f64::from(half);
    let mut separated = [false; LANES];
    for (lane, separated) in separated.iter_mut().enumerate() {
        // Wrapping only to be spared the check for overflow, which is a branch.
        let v = |corner: usize, a: usize| f64::from(block[corner][a][lane].wrapping_sub(center[a]));
        let [x, y, z] =
            [[v(0, 0), v(1, 0), v(2, 0)], [v(0, 1), v(1, 1), v(2, 1)], [v(0, 2), v(1, 2), v(2, 2)]];
        *separated = separates(x, y, z, half);
    }
    pack(&separated)
}

fn within_reach(block: &Block, center: [i32; 3]) -> bool {
    let near = |a: usize, b: i32| b.abs_diff(center[a]) <= REACH.unsigned_abs();
    block.iter().all(|corner| (0..3).all(|a| corner[a].iter().all(|&c| near(a, c))))
}

/// A bit for each lane that is not separated.
fn pack(separated: &[bool; LANES]) -> u64 {
    separated.iter().rev().fold(0, |word, &lane| word << 1 | u64::from(!lane))
}

/// Whether one of the thirteen axes separates a triangle from the cube around the origin. `x`,
/// `y` and `z` are the three corners' coordinates.
#[inline(always)]
fn separates(x: [f64; 3], y: [f64; 3], z: [f64; 3], half: f64) -> bool {
    let (x_edges, nx) = edges_and_normal(y, z, half);
    let (y_edges, ny) = edges_and_normal(z, x, half);
    let (z_edges, nz) = edges_and_normal(x, y, half);
    let plane = (nx * x[0] + ny * y[0] + nz * z[0]).abs() > half * (nx.abs() + ny.abs() + nz.abs());
    let slabs = slab_separates(x, half) | slab_separates(y, half) | slab_separates(z, half);
    slabs | x_edges | y_edges | z_edges | plane
}

/// One box normal.
#[inline(always)]
fn slab_separates(x: [f64; 3], half: f64) -> bool {
    // Not `f64::min`, whose care for NaN costs instructions.
    let min = |a: f64, b: f64| if a < b { a } else { b };
    let max = |a: f64, b: f64| if a > b { a } else { b };
    (min(min(x[0], x[1]), x[2]) > half) | (max(max(x[0], x[1]), x[2]) < -half)
}

/// Whether the cross product of one box normal and an edge separates, and the triangle's normal
/// along that box normal; `b` and `c` are the corners' coordinates along the other two.
///
/// Written out, since arrays made by closures keep the compiler from vectorising the loop around.
#[inline(always)]
fn edges_and_normal(b: [f64; 3], c: [f64; 3], half: f64) -> (bool, f64) {
    let w0 = b[0] * c[1] - c[0] * b[1];
    let w1 = b[1] * c[2] - c[1] * b[2];
    let w2 = b[2] * c[0] - c[2] * b[0];
    let n = w0 + w1 + w2;
    let d0 = 2.0 * half * ((b[1] - b[0]).abs() + (c[1] - c[0]).abs());
    let d1 = 2.0 * half * ((b[2] - b[1]).abs() + (c[2] - c[1]).abs());
    let d2 = 2.0 * half * ((b[0] - b[2]).abs() + (c[0] - c[2]).abs());
    let separated = ((2.0 * w0 - n).abs() > n.abs() + d0)
        | ((2.0 * w1 - n).abs() > n.abs() + d1)
        | ((2.0 * w2 - n).abs() > n.abs() + d2);
    (separated, n)
}
