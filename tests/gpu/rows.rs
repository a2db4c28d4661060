//! Rows of voxels in WGSL against the exact oracle, voxel by voxel, on every adapter: rows through
//! the small lattice, and through adversarial pairs.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random rows are compared on each adapter.
use crate::common::lattice::{lattice_triangles, voxel_centers};
use crate::common::pairs::{SPAN, pairs};
use crate::common::prelude::*;
use crate::touches::unscaled_oracle;

/// A row of at most this many voxels fits one invocation.
const LONGEST: i32 = 8;

/// Voxels of half edge `half` along z, as the kernel takes them: all meet the triangle's bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    triangle: Triangle,
    first: [i32; 3],
    half: i32,
    count: i32,
    /// Its place in a box of rows, along x and y.
    place: [i32; 2],
}

impl Row {
    /// The row of the voxel at `center`, which is number `place` along each axis of its box unless
    /// what lies below is cut off; `None` where the voxel is outside the triangle's bounds.
    fn through(triangle: Triangle, center: [i32; 3], half: i32, place: i32) -> Option<Self> {
        let at = |axis: usize, k: i32| {
            let mut at = center;
            at[axis] += 2 * half * k;
            at
        };
        let fits = |center| meets_bounds(&triangle, center, half) && in_budget(&triangle, center);
        let steps = |axis: usize, sign: i32, most: i32| {
            (1..=most).take_while(|&k| fits(at(axis, sign * k))).last().unwrap_or(0)
        };
        let [x, y, low] = [0, 1, 2].map(|axis| steps(axis, -1, place));
        let count = low + steps(2, 1, LONGEST - 1 - place) + 1;
        let row = Self { triangle, first: at(2, -low), half, count, place: [x, y] };
        fits(center).then_some(row)
    }

    fn centers(&self) -> impl Iterator<Item = [i32; 3]> + '_ {
        let [x, y, z] = self.first;
        (0..self.count).map(move |k| [x, y, z + 2 * self.half * k])
    }

    fn words(&self) -> [i32; 16] {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.triangle;
        let ([x, y, z], [row_x, row_y]) = (self.first, self.place);
        [a, b, c, d, e, f, g, h, i, x, y, z, self.half, self.count, row_x, row_y]
    }

    /// Bit k for voxel k.
    fn bits(&self, touches: impl Fn(&Triangle, [i32; 3], i32) -> bool) -> u32 {
        let bit = |(k, center)| u32::from(touches(&self.triangle, center, self.half)) << k;
        self.centers().enumerate().map(bit).sum()
    }
}

fn meets_bounds(triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    let over = |a: usize| triangle.iter().all(|corner| corner[a] - center[a] > half);
    let under = |a: usize| triangle.iter().all(|corner| corner[a] - center[a] < -half);
    !(0..3).any(|a| over(a) || under(a))
}

fn in_budget(triangle: &Triangle, center: [i32; 3]) -> bool {
    triangle.iter().all(|corner| (0..3).all(|a| (corner[a] - center[a]).abs() <= SPAN))
}

/// Decides `rows` on each GPU and compares with `expected`: one tally for each, and the voxels.
fn compare(
    kernels: &[Kernel],
    rows: impl Iterator<Item = Row>,
    expected: impl Fn(&Triangle, [i32; 3], i32) -> bool + Sync,
) -> (Vec<Tally<Row>>, usize) {
    let mut voxels = 0;
    let rows = rows.inspect(|row| voxels += row.count as usize);
    let bits = |row: &Row| row.bits(&expected);
    let is_right = |bits: &u32, [answer]: &[u32; 1]| answer & 0xff == *bits;
    let tallies = tallies(kernels, rows, Row::words, bits, is_right);
    (tallies, voxels)
}

/// How many voxels are touched, in doubt, and of those decided in integers.
fn counts(tally: &Tally<Row>) -> [usize; 3] {
    [0, 8, 16].map(|first| tally.set[first..first + 8].iter().sum())
}

fn all_kernels() -> Vec<Kernel> {
    kernels(&(module("exact/touches_row") + include_str!("wgsl/touches_row.wgsl")))
}

/// Rows of up to four voxels through the small lattice, in units of `scale`.
fn lattice_rows(scale: i32) -> impl Iterator<Item = Row> {
    let lowest: Vec<[i32; 3]> = voxel_centers().into_iter().filter(|c| c[2] == -1).collect();
    lattice_triangles().into_iter().flat_map(move |triangle| {
        let triangle = triangle.map(|p| p.map(|c| c * scale));
        let rows = lowest.iter().filter_map(|&[x, y, z]| {
            let center = |k: i32| [x, y, z + 2 * k].map(|c| c * scale);
            (0..4).find_map(|k| Row::through(triangle, center(k), scale, 0))
        });
        rows.collect::<Vec<_>>()
    })
}

fn adversarial_rows(seed: u64, count: usize) -> impl Iterator<Item = Row> {
    let places = (0..LONGEST).cycle();
    let rows = pairs(seed, count).zip(places);
    rows.filter_map(|(p, place)| Row::through(p.triangle, p.center, p.half, place))
}

#[test]
fn every_row_of_the_small_lattice_is_decided_as_the_oracle_does() {
    for (nth, kernel) in all_kernels().chunks(1).enumerate() {
        // Intervals do not decide whether a triangle touches a voxel in a plane. All floats are
        // exact at powers of two. Near 2^21 the budget is used up.
        for (scale, expect_integers) in [(1, false), (1 << 21, false), ((1 << 21) - 1, true)] {
            let rows = lattice_rows(scale).step_by(lattice_stride(nth));
            let (tallies, voxels) = compare(kernel, rows, unscaled_oracle(scale));
            let tally = &tallies[0];
            tally.assert_right();
            let [_, in_doubt, in_integers] = counts(tally);
            assert!(in_doubt > 0, "{}", tally.label);
            assert_eq!(in_integers > 0, expect_integers, "{}", tally.label);
            assert!(tally.compared > 30_000 && voxels > 2 * tally.compared);
        }
    }
}

#[test]
fn adversarial_rows_are_decided_as_the_oracle_does() {
    let count = environment::number("TRIVOX_PAIRS", 500_000);
    let (tallies, voxels) = compare(&all_kernels(), adversarial_rows(11, count), oracle::touches);
    for tally in tallies {
        tally.assert_right();
        let [touched, _, in_integers] = counts(&tally);
        assert!(tally.compared > count / 3 && voxels > tally.compared);
        assert!(in_integers > count / 1000, "{}: the exact path is hardly taken", tally.label);
        assert!(touched > voxels / 20 && touched < voxels);
    }
}

#[test]
fn a_wrong_oracle_is_noticed() {
    let almost = |t: &Triangle, c: [i32; 3], half| touches(t, c, half - 1);
    let (tallies, _) = compare(&all_kernels(), adversarial_rows(11, 10_000), almost);
    assert!(tallies.iter().all(|tally| tally.wrong.len() > 100));
}
