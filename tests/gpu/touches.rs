//! `touches` in WGSL against the exact oracle, on every adapter: its wide integers, every triangle
//! of the small lattice, and adversarial pairs.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random pairs are compared on each adapter.
use crate::common::lattice::{lattice_triangles, voxel_centers};
use crate::common::pairs::pairs;
use crate::common::prelude::*;

/// A triangle, and the centre of a cube and half its edge.
type Case = (Triangle, [i32; 3], i32);

/// Decides `cases` on each GPU, in both ways, and compares with `expected`: one tally for each.
fn compare(
    kernels: &[Kernel],
    cases: impl Iterator<Item = Case>,
    expected: impl Fn(&Triangle, [i32; 3], i32) -> bool + Sync,
) -> Vec<Tally<Case>> {
    let words = |&([[a, b, c], [d, e, f], [g, h, i]], [x, y, z], half): &Case| {
        [a, b, c, d, e, f, g, h, i, x, y, z, half]
    };
    let both = |(triangle, center, half): &Case| u32::from(expected(triangle, *center, *half)) * 3;
    tallies(kernels, cases, words, both, |both, [answer]| answer & 3 == *both)
}

fn all_kernels() -> Vec<Kernel> {
    kernels(&(module("exact/touches") + include_str!("wgsl/touches.wgsl")))
}

/// Thirteen axes for the small lattice in units of `scale`.
pub fn unscaled_oracle(scale: i32) -> impl Fn(&Triangle, [i32; 3], i32) -> bool {
    move |triangle, center, half| {
        let unscaled = triangle.map(|corner| corner.map(|c| c / scale));
        oracle::separating_axes::<i64>(&unscaled, center.map(|c| c / scale), half / scale)
    }
}

/// The small lattice in units of `scale`.
fn lattice_pairs(scale: i32) -> impl Iterator<Item = Case> {
    let centers = voxel_centers();
    lattice_triangles().into_iter().flat_map(move |triangle| {
        let triangle = triangle.map(|p| p.map(|c| c * scale));
        let pair = move |center: &[i32; 3]| (triangle, center.map(|c| c * scale), scale);
        centers.iter().map(pair).collect::<Vec<_>>()
    })
}

#[test]
fn every_triangle_of_the_small_lattice_is_decided_as_the_oracle_does() {
    for (nth, kernel) in all_kernels().chunks(1).enumerate() {
        // At scale 1 all floats are exact; at 2^21 the budget is used up and touching pairs
        // are in doubt, so both ways to an answer are taken.
        for (scale, expect_doubt) in [(1, false), (1 << 21, true)] {
            let pairs = lattice_pairs(scale).step_by(lattice_stride(nth));
            let tally = &compare(kernel, pairs, unscaled_oracle(scale))[0];
            tally.assert_right();
            let [touching, in_doubt] = [0, 2].map(|bit| tally.set[bit]);
            assert_eq!(in_doubt > 0, expect_doubt, "{}", tally.label);
            assert!(tally.compared > 300_000 && touching > tally.compared / 100);
        }
    }
}

#[test]
fn adversarial_pairs_are_decided_as_the_oracle_does() {
    let count = environment::number("TRIVOX_PAIRS", 500_000);
    let pairs = pairs(7, count).map(|p| (p.triangle, p.center, p.half));
    for tally in compare(&all_kernels(), pairs, oracle::touches) {
        tally.assert_right();
        assert_eq!(tally.compared, count);
        let [touching, in_doubt] = [0, 2].map(|bit| tally.set[bit]);
        assert!(in_doubt > count / 1000, "{}: the exact path is hardly taken", tally.label);
        assert!(touching > count / 20 && touching < count - count / 20);
    }
}

#[test]
fn a_wrong_oracle_is_noticed() {
    let pairs = pairs(7, 10_000).map(|p| (p.triangle, p.center, p.half));
    let almost = |t: &Triangle, c: [i32; 3], half| touches(t, c, half - 1);
    let tallies = compare(&all_kernels(), pairs, almost);
    assert!(tallies.iter().all(|tally| tally.wrong.len() > 100));
}

#[test]
fn wide_integers_equal_i128_over_edge_values() {
    let edges = [0, 1, 2, 0xffff, 0x1_0000, 0x1_0001, 1 << 24, (1 << 25) - 1, i32::MAX];
    let values: Vec<i32> = edges.iter().flat_map(|&v| [v, -v, -v - 1]).collect();
    let triples: Vec<[i32; 3]> = (values.iter())
        .flat_map(|&a| values.iter().map(move |&b| [a, b]))
        .flat_map(|[a, b]| values.iter().map(move |&c| [a, b, c]))
        .collect();
    let source = module("exact/int64") + include_str!("wgsl/int64.wgsl");
    for kernel in kernels(&source) {
        let results = kernel.run(triples.as_flattened(), triples.len(), 23);
        for (triple, found) in triples.iter().zip(results.chunks(23)) {
            assert_eq!(found, expected_wide(*triple), "{}: {triple:?}", kernel.label);
        }
    }
}

/// The words of the kernel's results, by `i128`, wrapped to their width.
fn expected_wide(triple: [i32; 3]) -> Vec<u32> {
    let [a, b, c] = triple.map(i128::from);
    let (ab, bc) = (a * b, b * c);
    let (abc, other) = (ab * c, bc * c);
    let words = |value: i128, words: usize| (0..words).map(move |i| (value >> (32 * i)) as u32);
    let mut expected: Vec<u32> = Vec::new();
    [ab, ab + bc, ab - bc, -ab, ab.abs()].iter().for_each(|&v| expected.extend(words(v, 2)));
    [abc, abc + other, -abc, abc.abs()].iter().for_each(|&v| expected.extend(words(v, 3)));
    // Comparisons are of the wrapped values.
    let wrap64 = |v: i128| v as i64;
    let wrap96 = |v: i128| v << 32 >> 32;
    let less = u32::from(wrap64(ab) < wrap64(bc)) | u32::from(wrap96(abc) < wrap96(other)) << 1;
    expected.push(less);
    expected
}
