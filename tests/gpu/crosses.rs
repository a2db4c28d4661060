//! `crosses` in WGSL against the exact oracle, on every adapter: every triangle of the small
//! lattice, and adversarial columns; with the floats before and by integers alone.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random columns are compared on each adapter.
#![cfg(feature = "gpu")]
use crate::common::columns::{Column, Found, Mistake, columns, crosses, mistaken, oracle};
use crate::common::lattice::lattice_triangles;
use crate::common::prelude::*;
use rayon::prelude::*;
use trivox::gpu::kernels::module;

/// A column as the kernel takes it: the corners, the axis, the center, the unit bits, the count.
fn words(column: &Column) -> [i32; 14] {
    let [[a, b, c], [d, e, f], [g, h, i]] = column.triangle;
    let ([p, q], bits) = (column.center, column.fraction_bits as i32);
    [a, b, c, d, e, f, g, h, i, column.axis as i32, p, q, bits, column.count]
}

/// Words of the kernel's answer: flags, the first centre and the voxel, and both by integers alone.
const ANSWER: usize = 5;

/// The kernel's answer, first with the floats, then by integers alone.
fn found(answer: &[u32]) -> [Option<Found>; 2] {
    let winding = (answer[0] >> 4) as i32 - 1;
    [0, 1].map(|way| {
        (answer[0] >> way & 1 == 1).then(|| Found {
            winding,
            first_center: answer[1 + 2 * way] as i32,
            voxel: answer[2 + 2 * way] as i32,
        })
    })
}

/// What a comparison came to.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    crossing: usize,
    /// Whether they cross, and in which voxel.
    in_doubt: [usize; 2],
    wrong: Vec<Column>,
}

const BATCH: usize = 1 << 18;

/// Decides `columns` on each GPU and compares with `expected`: one tally for each.
fn compare(
    kernels: &[Kernel],
    columns: impl Iterator<Item = Column>,
    expected: impl Fn(&Column) -> Option<Found> + Sync,
) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = kernels.iter().map(|_| Tally::default()).collect();
    let mut columns = columns.peekable();
    while columns.peek().is_some() {
        let batch: Vec<Column> = columns.by_ref().take(BATCH).collect();
        let words: Vec<i32> = batch.iter().flat_map(words).collect();
        let expected: Vec<Option<Found>> = batch.par_iter().map(&expected).collect();
        for (kernel, tally) in kernels.iter().zip(&mut tallies) {
            let answers = kernel.run(&words, batch.len(), ANSWER);
            let compared = batch.iter().zip(&expected).zip(answers.chunks(ANSWER));
            let wrong = compared.filter(|((_, expected), answer)| found(answer) != [**expected; 2]);
            tally.wrong.extend(wrong.map(|((column, _), _)| *column));
            tally.compared += batch.len();
            let with = |bit: u32| answers.chunks(ANSWER).filter(|a| a[0] >> bit & 1 == 1).count();
            tally.crossing += with(0);
            tally.in_doubt = [tally.in_doubt[0] + with(2), tally.in_doubt[1] + with(3)];
        }
    }
    tallies
}

fn source() -> String {
    module("exact/crosses").unwrap() + include_str!("wgsl/crosses.wgsl")
}

/// The columns along all three axes through every point of the small lattice, in units of
/// `2^stretch_bits`.
fn lattice_columns(stretch_bits: u32) -> impl Iterator<Item = Column> {
    let stretch = move |c: i32| c << stretch_bits;
    lattice_triangles().into_iter().flat_map(move |triangle| {
        let triangle = triangle.map(|corner| corner.map(stretch));
        (0..75).map(move |i| {
            let (axis, center) = (Axis::ALL[i as usize % 3], [i / 15, i / 3 % 5].map(stretch));
            Column { triangle, axis, center, fraction_bits: 1 + stretch_bits, count: 2 }
        })
    })
}

#[test]
fn every_triangle_of_the_small_lattice_crosses_as_the_library_says() {
    for (nth, kernel) in kernels(&source()).chunks(1).enumerate() {
        // At stretch 0 the forms are exact in floats; at 22 the budget is used up.
        for (stretch, expect_doubt) in [(0, false), (22, true)] {
            let columns = lattice_columns(stretch).step_by(lattice_stride(nth));
            let tally = &compare(kernel, columns, crosses)[0];
            let label = &kernel[0].label;
            println!(
                "{label}, stretch {stretch}: {} columns, {} cross, {:?} in doubt",
                tally.compared, tally.crossing, tally.in_doubt
            );
            assert_eq!(tally.wrong, [], "{label}");
            assert_eq!(tally.in_doubt[0] > 0, expect_doubt, "{label}");
            assert!(tally.compared > 300_000 && tally.crossing > tally.compared / 100);
        }
    }
}

#[test]
fn adversarial_columns_are_decided_as_the_oracle_does() {
    let count = environment::number("TRIVOX_PAIRS", 200_000);
    let kernels = kernels(&source());
    let all = columns(11, count).map(|(_, column)| column);
    for (tally, Kernel { label, .. }) in compare(&kernels, all, oracle).iter().zip(&kernels) {
        let share = tally.in_doubt.map(|n| 100.0 * n as f64 / count as f64);
        println!(
            "{label}: {count} columns, {} cross; in doubt: {:.1} % whether, {:.1} % in which voxel",
            tally.crossing, share[0], share[1]
        );
        assert_eq!(tally.wrong, [], "{label}");
        assert_eq!(tally.compared, count);
        assert!(tally.crossing > count / 20 && tally.crossing < count - count / 20);
        let hardly = tally.in_doubt.iter().any(|&n| n < count / 1000);
        assert!(!hardly, "{label}: the exact path was hardly taken");
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
