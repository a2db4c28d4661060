//! `crosses` in WGSL against the exact oracle, on every adapter: every triangle of the small
//! lattice, and adversarial columns; with the floats before and by integers alone.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random columns are compared on each adapter.
use crate::common::columns::{
    Column, Found, Mistake, columns, crosses, lattice_columns, mistaken, oracle,
};
use crate::common::lattice::lattice_triangles;
use crate::common::prelude::*;

/// A column as the kernel takes it: the corners, the axis, the center, the unit bits, the count.
fn words(column: &Column) -> [i32; 14] {
    let [[a, b, c], [d, e, f], [g, h, i]] = column.triangle;
    let ([p, q], bits) = (column.center, column.fraction_bits as i32);
    [a, b, c, d, e, f, g, h, i, column.axis as i32, p, q, bits, column.count]
}

/// The kernel's answer, first with the floats, then by integers alone: flags, and twice the first
/// centre and the voxel.
fn found(answer: &[u32; 5]) -> [Option<Found>; 2] {
    let winding = (answer[0] >> 4) as i32 - 1;
    [0, 1].map(|way| {
        (answer[0] >> way & 1 == 1).then(|| Found {
            winding,
            first_center: answer[1 + 2 * way] as i32,
            voxel: answer[2 + 2 * way] as i32,
        })
    })
}

/// Decides `columns` on each GPU and compares with `expected`: one tally for each.
fn compare(
    kernels: &[Kernel],
    columns: impl Iterator<Item = Column>,
    expected: impl Fn(&Column) -> Option<Found> + Sync,
) -> Vec<Tally<Column>> {
    tallies(kernels, columns, words, expected, |expected, answer| found(answer) == [*expected; 2])
}

/// How many cross, and of how many it is in doubt whether they do, and in which voxel.
fn counts(tally: &Tally<Column>) -> [usize; 3] {
    [0, 2, 3].map(|bit| tally.set[bit])
}

fn source() -> String {
    module("exact/crosses") + include_str!("wgsl/crosses.wgsl")
}

#[test]
fn every_triangle_of_the_small_lattice_crosses_as_the_library_says() {
    for (nth, kernel) in kernels(&source()).chunks(1).enumerate() {
        // At stretch 0 the forms are exact in floats; at 22 the budget is used up.
        for (stretch, expect_doubt) in [(0, false), (22, true)] {
            let columns = lattice_triangles().into_iter().flat_map(|t| lattice_columns(t, stretch));
            let columns = columns.step_by(lattice_stride(nth));
            let tally = &compare(kernel, columns, crosses)[0];
            tally.assert_right();
            let [crossing, in_doubt, _] = counts(tally);
            assert_eq!(in_doubt > 0, expect_doubt, "{}", tally.label);
            assert!(tally.compared > 300_000 && crossing > tally.compared / 100);
        }
    }
}

#[test]
fn adversarial_columns_are_decided_as_the_oracle_does() {
    let count = environment::number("TRIVOX_PAIRS", 200_000);
    let all = columns(11, count).map(|(_, column)| column);
    for tally in compare(&kernels(&source()), all, oracle) {
        tally.assert_right();
        assert_eq!(tally.compared, count);
        let [crossing, whether, which] = counts(&tally);
        assert!(crossing > count / 20 && crossing < count - count / 20);
        let least_in_doubt = whether.min(which);
        assert!(least_in_doubt >= count / 1000, "{}: the exact path is hardly taken", tally.label);
    }
}

#[test]
fn a_wrong_oracle_is_noticed() {
    let kernels = kernels(&source());
    for mistake in Mistake::ALL {
        let all = columns(11, 20_000).map(|(_, column)| column);
        let tallies = compare(&kernels, all, |column| mistaken(mistake, column));
        assert!(tallies.iter().all(|tally| tally.wrong.len() > 10), "{mistake:?}");
    }
}

#[test]
fn floats_without_their_error_bounds_are_noticed() {
    for (bound, none) in [
        // Of the height, and of whether an edge has the centre.
        ("RELATIVE_ERROR * max", "0.0 * max"),
        ("least + (abs(plus) + abs(minus))", "0.0"),
    ] {
        assert_eq!(source().matches(bound).count(), 1, "{bound}");
        let all = columns(11, 40_000).map(|(_, column)| column);
        let tallies = compare(&kernels(&source().replace(bound, none)), all, oracle);
        assert!(tallies.iter().all(|tally| tally.wrong.len() > 10), "{bound}: {tallies:?}");
    }
}
