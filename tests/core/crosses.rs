//! `crosses` against an oracle that shares no formula with it, over every triangle of a small
//! lattice, at the ends of the bit budget and on adversarial columns; on closed meshes against what
//! being closed means; and its symmetries.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random columns are compared.
use crate::common::columns::{
    Column, Family, Found, Mistake, columns, crosses, lattice_columns, mistaken, oracle,
};
use crate::common::lattice::lattice_triangles;
use crate::common::pairs::SPAN;
use crate::common::prelude::*;
use rayon::prelude::*;
use trivox::lattice::MIN_FRACTION_BITS;
use trivox::predicate::blocks::{BLOCK, LANES};
use trivox::predicate::crosses::blocks::{Hit, Pairs, Position, ProjectedCorners};
use trivox::predicate::{InstructionSet, ProjectedTriangle};

/// How many columns of the triangles `agree` does not hold for, and how many cross.
fn disagreements(
    triangles: &[Triangle],
    stretch_bits: u32,
    agree: impl Fn(&Column, Option<Found>) -> bool + Sync,
) -> (usize, usize) {
    let of = |triangle: &Triangle| {
        lattice_columns(*triangle, stretch_bits).fold((0, 0), |(wrong, crossing), column| {
            let found = crosses(&column);
            let is_wrong = !agree(&column, found);
            (wrong + usize::from(is_wrong), crossing + usize::from(found.is_some()))
        })
    };
    triangles.par_iter().map(of).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

#[test]
fn every_triangle_of_the_small_lattice_crosses_as_the_oracle_says() {
    let (wrong, crossing) =
        disagreements(&lattice_triangles(), 0, |column, found| found == oracle(column));
    assert_eq!(wrong, 0);
    assert!(crossing > 1_000_000, "{crossing}");
}

#[test]
fn the_small_lattice_stretched_to_the_whole_budget_gives_the_same_answers() {
    // 4 units become 2^24.
    const STRETCH_BITS: u32 = 22;
    let triangles: Vec<Triangle> = lattice_triangles().into_iter().step_by(3).collect();
    let (wrong, _) = disagreements(&triangles, STRETCH_BITS, |column, found| {
        let small = |c: i32| c >> STRETCH_BITS;
        let triangle = column.triangle.map(|corner| corner.map(small));
        let center = column.center.map(small);
        found == crosses(&Column { triangle, center, fraction_bits: 1, ..*column })
    });
    assert_eq!(wrong, 0);
}

#[test]
fn planted_mistakes_are_caught_on_the_small_lattice_and_by_adversarial_columns() {
    let triangles: Vec<Triangle> = lattice_triangles().into_iter().step_by(7).collect();
    for mistake in Mistake::ALL {
        let (on_lattice, _) =
            disagreements(&triangles, 0, |column, found| found == mistaken(mistake, column));
        let wrong = |(_, column): &(Family, Column)| crosses(column) != mistaken(mistake, column);
        let adversarial = par_columns(1, 160_000).filter(wrong).count();
        // The lattice cannot see overflow, nor reach below 0.
        let is_hidden = matches!(mistake, Mistake::PlaneInI64 | Mistake::CutTowardsZero);
        let is_caught = if is_hidden { on_lattice == 0 } else { on_lattice > 1_000 };
        assert!(is_caught && adversarial > 100, "{mistake:?}: {on_lattice} and {adversarial}");
    }
}

/// Columns in parallel: each chunk has a seed of its own.
fn par_columns(seed: u64, count: usize) -> impl ParallelIterator<Item = (Family, Column)> {
    const CHUNK: usize = 8_000;
    let chunks = count.div_ceil(CHUNK) as u64;
    (0..chunks).into_par_iter().flat_map_iter(move |chunk| columns(seed + chunk, CHUNK))
}

#[test]
fn random_adversarial_columns_match_the_oracle() {
    let count = environment::number("TRIVOX_PAIRS", 2_000_000);
    let wrong = par_columns(1, count).find_any(|(_, column)| crosses(column) != oracle(column));
    assert!(wrong.is_none(), "{wrong:?}");
}

/// `column` and its triangle, moved so that its centre is that of a voxel, and that voxel's indices
/// across the axis; if the budget allows it.
fn on_a_voxel(column: Column) -> Option<([i32; 2], Column)> {
    let index = column.center.map(|c| c >> column.fraction_bits);
    let center = index.map(|i| center_of(i, column.fraction_bits));
    let [dp, dq] = [0, 1].map(|i| center[i] - column.center[i]);
    let [dx, dy, dz] = column.axis.unproject([dp, dq], 0);
    let triangle = column.triangle.map(|[x, y, z]| [x + dx, y + dy, z + dz]);
    let fits = column.fraction_bits >= MIN_FRACTION_BITS
        && triangle.iter().flatten().chain(&center).all(|c| c.abs() <= SPAN);
    fits.then_some((index, Column { triangle, center, ..column }))
}

fn center_of(index: i32, fraction_bits: u32) -> i32 {
    (index << fraction_bits) + (1 << (fraction_bits - 1))
}

/// Columns of voxels from `lowest` on, so many along both axes.
#[derive(Clone, Copy)]
struct Block {
    lowest: [i32; 2],
    extent: [i32; 2],
}

impl Block {
    fn columns(self) -> impl Iterator<Item = [i32; 2]> {
        let [first, second] = [0, 1].map(|i| self.lowest[i]..self.lowest[i] + self.extent[i]);
        first.flat_map(move |i| second.clone().map(move |j| [i, j]))
    }

    /// Whether all are within the budget of the triangle.
    fn is_in_budget(self, triangle: &ProjectedCorners, fraction_bits: u32) -> bool {
        let is_near = |axis: usize, index: i32| {
            let center = center_of(index, fraction_bits);
            center.abs() <= SPAN
                && triangle.iter().all(|(across, _)| (across[axis] - center).abs() <= SPAN)
        };
        let Self { lowest, extent } = self;
        (0..2).all(|a| is_near(a, lowest[a]) && is_near(a, lowest[a] + extent[a] - 1))
    }

    /// The crossings of the triangle of `column`, each column tested by itself.
    fn hits(self, lane: usize, column: &Column, position: Position) -> Vec<Hit> {
        let hit = |index: [i32; 2]| {
            let center = index.map(|index| center_of(index, column.fraction_bits));
            let found = crosses(&Column { center, ..*column })?;
            let along = match position {
                Position::Voxel(_) => found.voxel,
                Position::FirstCenter => found.first_center,
            };
            Some(Hit { lane, column: index, along, winding: found.winding })
        };
        self.columns().filter_map(hit).collect()
    }
}

fn projected(column: &Column) -> ProjectedCorners {
    column.triangle.map(|corner| column.axis.project(corner))
}

#[test]
fn blocks_of_columns_are_crossed_as_each_of_them_is() {
    let compared = par_columns(11, 30_000).filter_map(|(_, column)| on_a_voxel(column));
    let crossed = compared.map(|([first, second], column)| {
        let (triangle, fraction_bits) = (projected(&column), column.fraction_bits);
        let mut crossed = 0;
        for extent in (Block { lowest: [1; 2], extent: [BLOCK; 2] }).columns() {
            // The column at each place of the block in turn.
            let lowest = [first - extent[0] + 1, second - extent[1] + 1];
            let blocks = Block { lowest, extent }.columns().map(|lowest| Block { lowest, extent });
            let blocks = blocks.filter(|block| block.is_in_budget(&triangle, fraction_bits));
            for blocks in blocks.collect::<Vec<_>>().chunks(LANES) {
                for position in [Position::Voxel(column.count), Position::FirstCenter] {
                    let hits = |(lane, block): (_, &Block)| block.hits(lane, &column, position);
                    let expected: Vec<Hit> = blocks.iter().enumerate().flat_map(hits).collect();
                    crossed += expected.len() as u64;
                    for set in InstructionSet::available() {
                        let mut pairs = Pairs::new(fraction_bits);
                        blocks.iter().for_each(|block| pairs.push(triangle, block.lowest));
                        let found = pairs.solve_by(set, extent, position);
                        assert_eq!(found, expected, "{column:?}, {}", set.name());
                    }
                }
            }
        }
        crossed
    });
    let crossed: u64 = crossed.sum();
    assert!(crossed > 2_000_000, "{crossed}");
}

#[test]
fn lanes_of_a_block_do_not_mix_and_emptied_ones_are_forgotten() {
    let triangles = lattice_triangles();
    for set in InstructionSet::available() {
        let mut rng = Rng::with_seed(1);
        let (mut pairs, mut crossed) = (Pairs::new(1), 0);
        for _ in 0..20_000 {
            let axis = Axis::ALL[rng.usize(0..3)];
            let extent = [rng.i32(1..=BLOCK), rng.i32(1..=BLOCK)];
            let position = [Position::Voxel(2), Position::FirstCenter][rng.usize(0..2)];
            let mut expected = Vec::new();
            for lane in 0..rng.usize(0..=LANES) {
                let triangle = triangles[rng.usize(..triangles.len())];
                let column = Column { triangle, axis, center: [0; 2], fraction_bits: 1, count: 2 };
                let lowest = [rng.i32(-1..=1), rng.i32(-1..=1)];
                pairs.push(projected(&column), lowest);
                assert_eq!((pairs.len(), pairs.is_empty()), (lane + 1, false));
                expected.extend(Block { lowest, extent }.hits(lane, &column, position));
            }
            crossed += expected.len();
            assert_eq!(pairs.solve_by(set, extent, position), expected, "{}", set.name());
            assert!(pairs.is_empty(), "the pairs are gone");
        }
        assert!(crossed > 10_000, "{crossed}");
    }
}

/// Whether the column is what its family says.
fn is_of_its_family(family: Family, column: &Column) -> bool {
    let corners = column.triangle.map(|corner| column.axis.project(corner).0);
    let seen = corners.map(|corner| [0, 1].map(|i| i64::from(corner[i] - column.center[i])));
    let edges = [0, 1, 2].map(|i| [seen[i], seen[(i + 1) % 3]]);
    let forms = edges.map(|[s, e]| s[0] * e[1] - s[1] * e[0]);
    let area = forms.iter().sum::<i64>().abs();
    let lengths = edges.map(|[s, e]| (e[0] - s[0]).abs().max((e[1] - s[1]).abs()));
    let longest = lengths.into_iter().max().unwrap();
    let height = || ProjectedTriangle::new(&column.triangle, column.axis).at(column.center);
    match family {
        Family::OfPairs => true,
        Family::ThroughEdge => forms.contains(&0),
        Family::ThroughCorner => seen.contains(&[0, 0]),
        // Area over length: the width, up to a small factor.
        Family::Sliver => area <= 16 * longest + 16,
        Family::Parallel => area == 0 && forms == [0; 3] && height().is_none(),
        Family::AtVoxel => {
            height().is_none_or(|h| h.numerator() % i128::from(h.denominator()) == 0)
        }
        Family::PastVoxel => height().is_none_or(|h| {
            let past = h.numerator().rem_euclid(i128::from(h.denominator()));
            area > 1 << 36 && [0, 1, i128::from(h.denominator()) - 1].contains(&past)
        }),
        Family::RangeEnds => {
            column.triangle.as_flattened().iter().all(|c| *c <= 1 || *c >= SPAN - 1)
        }
    }
}

#[test]
fn every_family_of_columns_is_what_it_says_and_keeps_the_budget() {
    const EACH: usize = 5_000;
    let mut crossing = [0; Family::ALL.len()];
    let mut longest = 0;
    for (family, column) in columns(5, EACH * Family::ALL.len()) {
        let seen = column.triangle.map(|corner| column.axis.project(corner).0);
        for i in [0, 1] {
            let all = [seen[0][i], seen[1][i], seen[2][i], column.center[i]];
            let length = all.iter().max().unwrap() - all.iter().min().unwrap();
            assert!(length <= SPAN && all.iter().all(|c| c.abs() <= SPAN), "{column:?}");
            longest = longest.max(length);
        }
        let found = crosses(&column);
        assert!(is_of_its_family(family, &column), "{family:?}: {column:?}");
        crossing[family as usize] += usize::from(found.is_some());
    }
    assert_eq!(longest, SPAN);
    for (family, crossing) in Family::ALL.iter().zip(crossing) {
        let some = *family != Family::Parallel;
        assert_eq!(crossing > EACH / 50, some, "{family:?}: {crossing}");
    }
}

#[test]
fn a_crossing_at_a_centre_is_before_it_and_one_at_a_face_in_the_voxel_above_but_for_the_last() {
    // Voxels of 8 units from 0 to 32, with centres at 4, 12, 20 and 28.
    let at = |height: i32| {
        let triangle = [[-9, -9, height], [9, -9, height], [0, 9, height]];
        crosses(&Column { triangle, axis: Axis::Z, center: [0, 0], fraction_bits: 3, count: 4 })
    };
    let first_centers = [3, 4, 5, 11, 12, 13].map(|height| at(height).unwrap().first_center);
    assert_eq!(first_centers, [0, 0, 1, 1, 1, 2]);
    let voxels = [-8, -1, 0, 7, 8, 31, 32, 33].map(|height| at(height).unwrap().voxel);
    assert_eq!(voxels, [-1, -1, 0, 0, 1, 3, 3, 4]);
}

#[test]
fn the_exact_height_is_a_fraction_with_a_positive_denominator() {
    let triangle = [[0, 0, 0], [0, 3, 1], [2, 0, 0]];
    let height = ProjectedTriangle::new(&triangle, Axis::Z).at([0, 1]).unwrap();
    assert_eq!((height.numerator(), height.denominator()), (2, 6));
}

/// How often a column crosses triangles, and the sum of their windings.
fn crossings(triangles: &[Triangle], axis: Axis, center: [i32; 2]) -> (usize, i32) {
    let all = triangles.iter().map(|triangle| ProjectedTriangle::new(triangle, axis));
    let crossing = all.filter(|crossing| crossing.covers(center));
    crossing.fold((0, 0), |(count, sum), crossing| (count + 1, sum + crossing.winding()))
}

fn is_closed(found: (usize, i32)) -> bool {
    found.0.is_multiple_of(2) && found.1 == 0
}

/// All tetrahedra with corners on a lattice of `side` points, repeats included.
fn tetrahedra(side: i32) -> Vec<[[i32; 3]; 4]> {
    let n = side.pow(3);
    let point = |i: i32| [i / (side * side), i / side % side, i % side];
    let triangles = (0..n).flat_map(|i| (i..n).flat_map(move |j| (j..n).map(move |k| [i, j, k])));
    let all = triangles.flat_map(|[i, j, k]| (k..n).map(move |l| [i, j, k, l]));
    all.map(|corners| corners.map(point)).collect()
}

#[test]
fn columns_cross_every_tetrahedron_of_the_small_lattice_as_often_into_it_as_out() {
    const SIDE: i32 = 4;
    let all = tetrahedra(SIDE);
    assert_eq!(all.len(), 766_480);
    let crossing = all.par_iter().map(|&corners| {
        let faces = tetrahedron(corners);
        let centers = (0..SIDE * SIDE).map(|i| [i / SIDE, i % SIDE]);
        let columns = centers.flat_map(|center| Axis::ALL.map(|axis| (axis, center)));
        let found = columns.map(|(axis, center)| crossings(&faces, axis, center));
        found.fold(0, |sum, found| {
            assert!(is_closed(found), "{corners:?}: {found:?}");
            sum + found.0
        })
    });
    let crossing: usize = crossing.sum();
    assert!(crossing > 5_000_000, "{crossing}");
}

#[test]
fn an_open_surface_and_a_turned_triangle_are_noticed() {
    let corners = [[0, 0, 0], [3, 0, 0], [0, 3, 0], [1, 1, 3]];
    let mut faces = tetrahedron(corners);
    assert!(is_closed(crossings(&faces, Axis::Z, [1, 1])));
    assert!(!is_closed(crossings(&faces[1..], Axis::Z, [1, 1])));
    faces[0].swap(1, 2);
    assert_eq!(crossings(&faces, Axis::Z, [1, 1]).0, 2);
    assert!(!is_closed(crossings(&faces, Axis::Z, [1, 1])));
}

#[test]
fn columns_through_vertices_and_edges_of_random_closed_meshes_find_them_closed() {
    const REACH: i32 = 12;
    (0..400_u64).into_par_iter().for_each(|seed| {
        let mut rng = Rng::with_seed(seed);
        let half = 1 << rng.u32(0..=20);
        let (n, m) = (rng.usize(3..7), rng.usize(3..7));
        let triangles = crumpled_torus(&mut rng, n, m, half, REACH);
        let mut crossing = 0;
        for axis in Axis::ALL {
            for center in (0..REACH * REACH).map(|i| [i / REACH, i % REACH].map(|c| c * half)) {
                let found = crossings(&triangles, axis, center);
                assert!(is_closed(found), "seed {seed}, {axis:?} {center:?}: {found:?}");
                crossing += found.0;
            }
        }
        assert!(crossing > 100, "seed {seed}: {crossing}");
    });
}

#[test]
fn a_point_projected_along_an_axis_is_put_together_again() {
    let point = [2, 3, 5];
    for axis in Axis::ALL {
        let (across, along) = axis.project(point);
        assert_eq!(axis.unproject(across, along), point, "{axis:?}");
        assert_eq!((axis.across().map(|a| point[a]), point[axis.along()]), (across, along));
    }
}

/// Vertex orders leave coverage and height and turn the winding; cyclic orders of the axes change
/// nothing; shifts by whole voxels shift the voxels.
#[test]
fn symmetries_vertex_orders_and_whole_voxel_shifts_change_what_they_should() {
    let shifted = par_columns(7, 80_000).filter(|(_, column)| {
        let found = crosses(column);
        let turned = found.map(|found| Found { winding: -found.winding, ..found });
        for first in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|i| column.triangle[(first + i) % 3]);
            for (triangle, expected) in [([a, b, c], found), ([a, c, b], turned)] {
                assert_eq!(crosses(&Column { triangle, ..*column }), expected, "{column:?}");
            }
        }
        let triangle = column.triangle.map(|[x, y, z]| [z, x, y]);
        let axis = Axis::ALL[(column.axis as usize + 1) % 3];
        assert_eq!(crosses(&Column { triangle, axis, ..*column }), found, "{column:?}");

        let mut rng = Rng::with_seed(column.center[0] as u64);
        let units = [(); 3].map(|()| rng.i32(-9..=9) << column.fraction_bits);
        let (across, along) = column.axis.project(units);
        let voxels = along >> column.fraction_bits;
        let shifted = Column {
            triangle: moved(column.triangle, units),
            center: [column.center[0] + across[0], column.center[1] + across[1]],
            count: column.count + voxels,
            ..*column
        };
        let in_budget = |c: &i32| c.abs() <= SPAN;
        let fits = shifted.triangle.as_flattened().iter().chain(&shifted.center).all(in_budget);
        let expected = found.map(|found| Found {
            first_center: found.first_center + voxels,
            voxel: found.voxel + voxels,
            ..found
        });
        assert!(!fits || crosses(&shifted) == expected, "{column:?}");
        fits
    });
    assert!(shifted.count() > 40_000);
}
