//! Blocks of boxes answer what `touches` answers box by box, with all sets of vector instructions
//! that the processor has: on every triangle of a small lattice, for every shape of block and size
//! of box, to the ends of the bit budget, and where `f64` cannot tell on which side of a box's
//! corner a plane passes.
use std::ops::RangeInclusive;

use crate::common::lattice::lattice_triangles;
use crate::common::pairs::{
    Family, Pair, SPAN, normal, pairs, triangle_from, triangle_past_the_origin,
};
use crate::common::prelude::*;
use rayon::prelude::*;
use trivox::predicate::InstructionSet;
use trivox::predicate::blocks::{BLOCK, BlockMask, LANES, Pairs, first_boxes};
use trivox::predicate::boxes::BoxRange;

/// A triangle, and the index of the lowest box of a block.
type Placed = (Triangle, [i32; 3]);

/// The masks of up to [`LANES`] pairs.
fn solve(
    set: InstructionSet,
    placed: &[Placed],
    box_bits: u32,
    extent: [i32; 3],
) -> [BlockMask; LANES] {
    let mut pairs = Pairs::new(box_bits);
    placed.iter().for_each(|(triangle, lowest)| pairs.push(triangle, *lowest));
    assert_eq!((pairs.len(), pairs.is_empty()), (placed.len(), placed.is_empty()));
    let masks = pairs.solve_by(set, extent);
    assert!(pairs.is_empty(), "the pairs are gone");
    masks
}

/// The boxes of a block with their bits.
fn boxes([x, y, z]: [i32; 3]) -> impl Iterator<Item = ([i32; 3], BlockMask)> {
    (0..64).map(move |bit| ([x + (bit >> 4), y + (bit >> 2 & 3), z + (bit & 3)], 1 << bit))
}

/// The boxes of a block of which `holds` is true.
fn mask_of(lowest: [i32; 3], holds: impl Fn([i32; 3]) -> bool) -> BlockMask {
    boxes(lowest).filter(|&(at, _)| holds(at)).map(|(_, bit)| bit).sum()
}

/// The boxes that may be asked for: in the triangle's bounding box, and no farther from any of its
/// corners than the bit budget allows.
fn askable(triangle: &Triangle, box_bits: u32, lowest: [i32; 3]) -> BlockMask {
    let range = BoxRange::of_triangle(triangle, box_bits);
    let is_askable = |at: i32, axis: usize| {
        let ends = [at, at + 1].map(|i| i64::from(i) << box_bits);
        let is_near = |c: i32| ends.iter().all(|end| (i64::from(c) - end).abs() <= SPAN.into());
        (range.lo[axis]..=range.hi[axis]).contains(&at)
            && triangle.iter().all(|corner| is_near(corner[axis]))
    };
    mask_of(lowest, |at| (0..3).all(|axis| is_askable(at[axis], axis)))
}

/// Numbers of boxes that are touched, and that are not.
type Seen = [u32; 2];

fn add(a: Seen, b: Seen) -> Seen {
    [a[0] + b[0], a[1] + b[1]]
}

/// Compares up to [`LANES`] pairs box by box.
fn check(placed: &[Placed], box_bits: u32, extent: [i32; 3]) -> Seen {
    let half = 1 << (box_bits - 1);
    let mut expected = [(0, 0); LANES];
    let mut seen = [0, 0];
    for ((triangle, lowest), expected) in placed.iter().zip(&mut expected) {
        let asked = askable(triangle, box_bits, *lowest) & first_boxes(extent);
        let center = |at: [i32; 3]| at.map(|i| (i << box_bits) + half);
        let touched = boxes(*lowest)
            .filter(|&(at, bit)| asked & bit != 0 && touches(triangle, center(at), half));
        let mask: BlockMask = touched.map(|(_, bit)| bit).sum();
        *expected = (asked, mask);
        seen = add(seen, [mask.count_ones(), (asked & !mask).count_ones()]);
    }
    for set in InstructionSet::available() {
        let name = set.name();
        let masks = solve(set, placed, box_bits, extent);
        for (lane, (pair, mask)) in placed.iter().zip(masks).enumerate() {
            let (asked, expected) = expected[lane];
            let found = (mask & !first_boxes(extent), mask & asked);
            assert_eq!(found, (0, expected), "{name}, {lane}: {pair:?}, {extent:?}, {box_bits}");
        }
    }
    seen
}

fn total(seen: impl ParallelIterator<Item = Seen>) -> Seen {
    seen.reduce(|| [0; 2], add)
}

fn random_extent(rng: &mut Rng) -> [i32; 3] {
    std::array::from_fn(|_| rng.i32(1..=BLOCK))
}

#[test]
fn the_first_boxes_are_those_below_the_extent() {
    for (extent, _) in boxes([1; 3]) {
        let expected = mask_of([0; 3], |at| (0..3).all(|a| at[a] < extent[a]));
        assert_eq!(first_boxes(extent), expected, "{extent:?}");
    }
}

#[test]
fn every_triangle_of_the_small_lattice() {
    let triangles = lattice_triangles();
    let seen = total(triangles.par_chunks(LANES).map(|chunk| {
        let placed: Vec<Placed> = chunk.iter().map(|&triangle| (triangle, [-1; 3])).collect();
        check(&placed, 1, [4; 3])
    }));
    assert!(seen.iter().all(|&n| n > 1_000_000), "{seen:?}");
}

#[test]
fn every_triangle_of_the_small_lattice_stretched_to_the_whole_budget() {
    let triangles: Vec<Triangle> = lattice_triangles().into_iter().step_by(3).collect();
    let stretch = |triangle: &Triangle| triangle.map(|p| p.map(|c| c * (SPAN / 4)));
    // Boxes as wide as two steps of the lattice, and as one, in eight blocks.
    let seen = total(triangles.par_chunks(LANES).map(|chunk| {
        let check_from = |lowest: [i32; 3], box_bits, extent| {
            let placed: Vec<Placed> = chunk.iter().map(|t| (stretch(t), lowest)).collect();
            check(&placed, box_bits, extent)
        };
        let wide = check_from([-1; 3], 23, [4; 3]);
        let corners = voxels_in([0; 3], [2; 3]).map(|corner| corner.map(|c| 2 * c as i32));
        corners.map(|corner| check_from(corner, 22, [3; 3])).fold(wide, add)
    }));
    assert!(seen.iter().all(|&n| n > 1_000_000), "{seen:?}");
}

#[test]
fn every_shape_of_block_in_every_lane_and_vectors_that_are_not_full() {
    let triangles = lattice_triangles();
    for (seed, (extent, _)) in boxes([1; 3]).enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let mut placed: Vec<Placed> = (0..LANES)
            .map(|_| (triangles[rng.usize(..triangles.len())], [-1; 3].map(|c| c + rng.i32(0..2))))
            .collect();
        for len in 0..=LANES {
            check(&placed[..len], 1, extent);
        }
        for _ in 0..LANES {
            placed.rotate_left(1);
            check(&placed, 1, extent);
        }
    }
}

#[test]
fn a_vector_that_was_emptied_does_not_remember_its_pairs() {
    let triangles = lattice_triangles();
    let mut rng = Rng::with_seed(1);
    for set in InstructionSet::available() {
        let name = set.name();
        let mut pairs = Pairs::new(1);
        for _ in 0..1000 {
            let placed: Vec<Placed> = (0..rng.usize(1..=LANES))
                .map(|_| (triangles[rng.usize(..triangles.len())], [rng.i32(-1..=1); 3]))
                .collect();
            let extent = random_extent(&mut rng);
            placed.iter().for_each(|(triangle, lowest)| pairs.push(triangle, *lowest));
            assert_eq!(pairs.len(), placed.len());
            let masks = pairs.solve_by(set, extent);
            let fresh = solve(set, &placed, 1, extent);
            assert_eq!(masks[..placed.len()], fresh[..placed.len()], "{name}");
            for (lane, (_, lowest)) in placed.iter().enumerate() {
                assert_eq!([0, 1, 2].map(|a| pairs.lowest()[a][lane]), *lowest, "{name}");
            }
        }
    }
}

/// A block that has the box around the pair's centre in a random place.
fn around(rng: &mut Rng, pair: &Pair, box_bits: u32) -> [i32; 3] {
    pair.center.map(|c| (c >> box_bits) - rng.i32(0..BLOCK))
}

#[test]
fn adversarial_triangles_at_all_box_sizes() {
    let mut by_size: Vec<Vec<Placed>> = vec![Vec::new(); 25];
    let mut rng = Rng::with_seed(2);
    for pair in pairs(31, 200_000) {
        let box_bits = if rng.bool() { pair.half.ilog2() + 1 } else { rng.u32(1..=24) };
        by_size[box_bits as usize].push((pair.triangle, around(&mut rng, &pair, box_bits)));
    }
    for (box_bits, placed) in by_size.iter().enumerate().skip(1) {
        let seen = total(placed.par_chunks(LANES).enumerate().map(|(seed, chunk)| {
            let mut rng = Rng::with_seed(seed as u64);
            let extent = if rng.bool() { [BLOCK; 3] } else { random_extent(&mut rng) };
            check(chunk, box_bits as u32, extent)
        }));
        assert!(placed.len() > 1000 && seen[0] > 200, "{box_bits}: {seen:?}");
    }
}

#[test]
fn triangles_as_wide_as_the_budget_far_from_the_block() {
    let wide = pairs(32, 400_000)
        .filter(|pair| matches!(pair.family, Family::Wide | Family::RangeEnds | Family::Sliver));
    let wide: Vec<Pair> = wide.collect();
    let seen = total(wide.par_chunks(LANES).enumerate().map(|(seed, chunk)| {
        let mut rng = Rng::with_seed(seed as u64);
        let box_bits = rng.u32(1..=22);
        let place = |pair: &Pair| {
            // Anywhere in the triangle's bounding box.
            let range = BoxRange::of_triangle(&pair.triangle, box_bits);
            (pair.triangle, [0, 1, 2].map(|a| rng.i32(range.lo[a]..=range.hi[a])))
        };
        let placed: Vec<Placed> = chunk.iter().map(place).collect();
        check(&placed, box_bits, [BLOCK; 3])
    }));
    assert!(seen[0] > 100_000 && seen[1] > 1_000_000, "{seen:?}");
}

/// `|s| - r` of the plane against a box, and the sum of its terms' absolute values.
fn plane(triangle: &Triangle, box_bits: u32, at: [i32; 3]) -> [i128; 2] {
    let (n, half) = (normal(triangle), 1i128 << (box_bits - 1));
    let center = at.map(|i| (2 * i128::from(i) + 1) * half);
    let from_corner = minus(center, triangle[0].map(i128::from));
    let terms = [0, 1, 2].map(|a| n[a] * from_corner[a]);
    let radius = half * n.iter().map(|n| n.abs()).sum::<i128>();
    let absolute = terms.iter().map(|t| t.abs()).sum::<i128>();
    [terms.iter().sum::<i128>().abs() - radius, absolute + radius]
}

/// The same in `f64`, as if it were exact.
fn plane_past_in_f64(triangle: &Triangle, box_bits: u32, at: [i32; 3]) -> f64 {
    let n = normal(triangle).map(|n| n as f64);
    let half = f64::from(1 << (box_bits - 1));
    let center = at.map(|i| (2.0 * f64::from(i) + 1.0) * half);
    let along_normal = dot(n, minus(center, triangle[0].map(f64::from)));
    along_normal.abs() - half * (n[0].abs() + n[1].abs() + n[2].abs())
}

/// Full vectors, each of boxes of a random size and of what `place` makes for them.
fn random_vectors(
    count: u64,
    box_bits: RangeInclusive<u32>,
    place: impl Fn(&mut Rng, u32) -> Placed,
) -> impl Iterator<Item = (u32, Vec<Placed>)> {
    (0..count).map(move |seed| {
        let mut rng = Rng::with_seed(seed);
        let box_bits = rng.u32(box_bits.clone());
        (box_bits, (0..LANES).map(|_| place(&mut rng, box_bits)).collect())
    })
}

#[test]
fn planes_that_pass_a_corner_by_less_than_f64_can_tell() {
    // What the exact sign is, and what it is in f64: separated, touching or neither.
    let mut signs = [[0; 3]; 3];
    let sign_of = |past: std::cmp::Ordering| (past as i8 + 1) as usize;
    let place = |rng: &mut Rng, _| -> Placed {
        let gap = rng.i32(-2..=2);
        (triangle_past_the_origin(rng, gap, 23), [(); 3].map(|()| -rng.i32(0..BLOCK)))
    };
    for (box_bits, placed) in random_vectors(4_000, 1..=21, place) {
        check(&placed, box_bits, [BLOCK; 3]);
        for (triangle, lowest) in &placed {
            for (at, _) in boxes(*lowest) {
                let [past, terms] = plane(triangle, box_bits, at);
                // So much less than the error that is allowed for that it must be in doubt.
                if past.abs() <= 2 && terms > 1 << 60 {
                    let in_f64 = plane_past_in_f64(triangle, box_bits, at).total_cmp(&0.0);
                    signs[sign_of(past.cmp(&0))][sign_of(in_f64)] += 1;
                }
            }
        }
    }
    // All three are met often, and without the exact decision both mistakes would be made.
    assert!(signs.iter().all(|row| row.iter().sum::<u32>() > 1_000), "{signs:?}");
    let falsely_apart = signs[0][2] + signs[1][2];
    let falsely_touching = signs[2][0] + signs[2][1];
    assert!(falsely_apart > 100 && falsely_touching > 100, "{signs:?}");
}

/// The plane's terms are largest in the middle of the block: the corner they are measured from lies
/// at its lowest corner.
#[test]
fn planes_from_the_blocks_corner_past_a_corner_within() {
    let mut close = 0;
    let place = |rng: &mut Rng, box_bits| -> Placed {
        loop {
            let lowest = [(); 3].map(|()| -rng.i32(1..BLOCK));
            let start = lowest.map(|i| (i << box_bits) + rng.i32(-2..=2));
            let gap = rng.i32(-2..=2);
            if let Some(triangle) = triangle_from(rng, start, gap, 23) {
                return (triangle, lowest);
            }
        }
    };
    for (box_bits, placed) in random_vectors(4_000, 17..=20, place) {
        check(&placed, box_bits, [BLOCK; 3]);
        for (triangle, lowest) in &placed {
            let past = |(at, _)| plane(triangle, box_bits, at)[0];
            close += usize::from(boxes(*lowest).map(past).any(|past| past.abs() <= 2));
        }
    }
    assert!(close > 10_000, "{close}");
}

/// Blocks of a vector share one extent, so that those of some reach past their own boxes, and past
/// the bit budget.
#[test]
fn boxes_past_the_budget_do_not_disturb_those_within() {
    let coordinate = |rng: &mut Rng| match rng.u32(0..3) {
        0 => rng.i32(0..=SPAN),
        1 => rng.i32(0..=4),
        _ => SPAN - rng.i32(0..=4),
    };
    let place = |rng: &mut Rng, box_bits| -> Placed {
        let last = (SPAN >> box_bits) - 1;
        let triangle = [(); 3].map(|()| [(); 3].map(|()| coordinate(rng)));
        (triangle, [(); 3].map(|()| i32::max(0, last - rng.i32(0..=3))))
    };
    let vectors = random_vectors(8_000, 20..=24, place);
    let seen = vectors.map(|(box_bits, placed)| check(&placed, box_bits, [BLOCK; 3]));
    let seen = seen.fold([0; 2], add);
    assert!(seen.iter().all(|&n| n > 10_000), "{seen:?}");
}

#[test]
fn coarser_boxes_are_those_that_hold_the_finer_ones() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..10_000 {
        let lo: [i32; 3] = std::array::from_fn(|_| rng.i32(-100..100));
        let hi = lo.map(|lo| rng.i32(lo..lo + 70));
        let (range, bits) = (BoxRange { lo, hi }, rng.u32(0..5));
        let coarser = range.coarser(bits);
        for (coarse, fine) in coarser.lo.iter().zip(lo).chain(coarser.hi.iter().zip(hi)) {
            assert!((coarse << bits..(coarse + 1) << bits).contains(&fine), "{range:?}");
        }
        let extent = [0, 1, 2].map(|a| (lo[a]..=hi[a]).count() as i32);
        assert_eq!((range.extent(), Some(range.longest())), (extent, extent.into_iter().max()));
        assert!(!range.is_empty());
    }
}
