//! `touches` against two slower formulations, over every triangle of a small lattice, at the ends
//! of the bit budget and on adversarial pairs; and its symmetries.
//!
//! `TRIVOX_PAIRS=50000000` sets how many random pairs are compared.
use crate::common::lattice::{lattice_points, lattice_triangles, voxel_centers};
use crate::common::pairs::{Family, Pair, SPAN, pairs};
use crate::common::prelude::*;
use rayon::prelude::*;
use trivox::predicate::boxes::BoxRange;

/// How many of the pairs of a triangle and a center `agree` does not hold for.
fn disagreements(
    triangles: &[Triangle],
    centers: &[[i32; 3]],
    agree: impl Fn(&Triangle, [i32; 3]) -> bool + Sync,
) -> usize {
    let of = |t: &Triangle| centers.iter().filter(|&&center| !agree(t, center)).count();
    triangles.par_iter().map(of).sum()
}

#[test]
fn three_formulations_agree_on_every_triangle_of_the_small_lattice() {
    let count = disagreements(&lattice_triangles(), &voxel_centers(), |triangle, center| {
        let answer = touches(triangle, center, 1);
        answer == oracle::separating_axes::<i64>(triangle, center, 1)
            && answer == oracle::clipping::<i64>(triangle, center, 1)
    });
    assert_eq!(count, 0);
}

#[test]
fn three_formulations_agree_on_adversarial_pairs_of_small_coordinates() {
    // Clipping needs numbers of up to six coordinates' length; 16 bits leave room in i128.
    let mut compared = [0, 0];
    for pair in pairs(21, 200_000) {
        if extent(&pair).max(pair.half) < 1 << 16 {
            let answer = touches(&pair.triangle, pair.center, pair.half);
            let clipped = oracle::clipping::<i128>(&pair.triangle, pair.center, pair.half);
            assert_eq!(answer, clipped, "{pair:?}");
            compared[usize::from(answer)] += 1;
        }
    }
    assert!(compared.iter().all(|&n| n > 10_000), "{compared:?}");
}

/// A mistake to plant in a copy of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    None,
    TouchingBoxIsApart,
    TouchingEdgeIsApart,
    TouchingPlaneIsApart,
    LastEdgeForgotten,
    PlaneForgotten,
    RadiusWithoutAbs,
    PlaneInI64,
}

/// `touches` once more, with a mistake in it.
fn mistaken(mistake: Mistake, triangle: &Triangle, center: [i32; 3], half: i32) -> bool {
    let h = i64::from(half);
    let v = triangle.map(|p| std::array::from_fn(|a| i64::from(p[a]) - i64::from(center[a])));
    let e: [[i64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|a| v[(i + 1) % 3][a] - v[i][a]));
    let edges = if mistake == Mistake::LastEdgeForgotten { &e[..2] } else { &e[..] };
    let normals = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut crossed = edges.iter().flat_map(|&e| normals.map(|n| cross(n, e)));

    let box_separates = |axis| separates(mistake, Mistake::TouchingBoxIsApart, axis, &v, h);
    let edge_separates = |axis| separates(mistake, Mistake::TouchingEdgeIsApart, axis, &v, h);
    !normals.into_iter().any(box_separates)
        && !crossed.any(edge_separates)
        && !plane_separates(mistake, cross(e[0], e[1]), v[0], h)
}

/// Whether `axis` separates; also where they touch, if that is the `mistake`.
fn separates(
    mistake: Mistake,
    touching_is_apart: Mistake,
    axis: [i64; 3],
    v: &[[i64; 3]; 3],
    h: i64,
) -> bool {
    let [p, q, r] = v.map(|v| dot(axis, v));
    let (min, max) = (p.min(q).min(r), p.max(q).max(r));
    let size = |c: i64| if mistake == Mistake::RadiusWithoutAbs { c } else { c.abs() };
    let radius = h * axis.map(size).iter().sum::<i64>();
    let gap = (min - radius).max(-radius - max);
    gap > 0 || (gap == 0 && mistake == touching_is_apart && axis != [0; 3])
}

fn plane_separates(mistake: Mistake, n: [i64; 3], v: [i64; 3], h: i64) -> bool {
    if mistake == Mistake::PlaneInI64 {
        let d = (0..3).fold(0, |d: i64, a| d.wrapping_add(n[a].wrapping_mul(v[a])));
        let r = (0..3).fold(0, |r: i64, a| r.wrapping_add(n[a].abs().wrapping_mul(h)));
        return d.wrapping_abs() > r;
    }
    let d: i128 = (0..3).map(|a| i128::from(n[a]) * i128::from(v[a])).sum();
    let r: i128 = n.iter().map(|n| i128::from(n.abs()) * i128::from(h)).sum();
    match mistake {
        Mistake::PlaneForgotten => false,
        Mistake::TouchingPlaneIsApart => d.abs() >= r && r != 0,
        _ => d.abs() > r,
    }
}

#[test]
fn planted_mistakes_are_caught_on_the_small_lattice() {
    let triangles: Vec<Triangle> = lattice_triangles().into_iter().step_by(4).collect();
    let centers = voxel_centers();
    let caught = |mistake| {
        disagreements(&triangles, &centers, |triangle, center| {
            touches(triangle, center, 1) == mistaken(mistake, triangle, center, 1)
        })
    };
    assert_eq!(caught(Mistake::None), 0, "the copy without a mistake is right");
    for mistake in [
        Mistake::TouchingBoxIsApart,
        Mistake::TouchingEdgeIsApart,
        Mistake::TouchingPlaneIsApart,
        Mistake::LastEdgeForgotten,
        Mistake::PlaneForgotten,
        Mistake::RadiusWithoutAbs,
    ] {
        let count = caught(mistake);
        assert!(count > 10_000, "{mistake:?} was caught {count} times only");
    }
}

/// The small lattice stretched to the whole budget: 4 units become `2^24`.
const STRETCH: i32 = SPAN / 4;

#[test]
fn the_small_lattice_stretched_to_the_whole_budget_gives_the_same_answers() {
    let stretch = |p: [i32; 3]| p.map(|c| c * STRETCH);
    let count = disagreements(&lattice_triangles(), &lattice_points(), |triangle, center| {
        touches(triangle, center, 1) == touches(&triangle.map(stretch), stretch(center), STRETCH)
    });
    assert_eq!(count, 0);
}

#[test]
fn overflow_is_caught_on_the_stretched_lattice_and_not_on_the_small_one() {
    let triangles: Vec<Triangle> = lattice_triangles().into_iter().step_by(10).collect();
    let points = lattice_points();
    let caught = |stretch: i32| {
        disagreements(&triangles, &points, |triangle, center| {
            let (triangle, center) =
                (triangle.map(|p| p.map(|c| c * stretch)), center.map(|c| c * stretch));
            touches(&triangle, center, stretch)
                == mistaken(Mistake::PlaneInI64, &triangle, center, stretch)
        })
    };
    assert_eq!(caught(1), 0);
    assert!(caught(STRETCH) > 10_000);
}

/// Pairs in parallel: each chunk has a seed of its own.
const CHUNK: usize = 10_000;

fn par_pairs(seed: u64, count: usize) -> impl ParallelIterator<Item = Pair> {
    let chunks = count.div_ceil(CHUNK) as u64;
    (0..chunks).into_par_iter().flat_map_iter(move |chunk| pairs(seed + chunk, CHUNK))
}

#[test]
fn random_adversarial_pairs_match_the_oracle() {
    let count = environment::number("TRIVOX_PAIRS", 2_000_000);
    let wrong = par_pairs(1, count).find_any(|pair| {
        touches(&pair.triangle, pair.center, pair.half)
            != oracle::touches(&pair.triangle, pair.center, pair.half)
    });
    assert!(wrong.is_none(), "{wrong:?}");
}

#[test]
fn overflow_is_caught_by_random_adversarial_pairs() {
    let wrong = |pair: &Pair| {
        oracle::touches(&pair.triangle, pair.center, pair.half)
            != mistaken(Mistake::PlaneInI64, &pair.triangle, pair.center, pair.half)
    };
    assert!(par_pairs(1, 100_000).filter(wrong).count() > 100);
}

#[test]
fn pairs_built_to_touch_or_to_miss_by_one_unit_do() {
    let mut seen = [0, 0];
    for pair in pairs(3, 300_000) {
        if let Some(known) = pair.known {
            assert_eq!(touches(&pair.triangle, pair.center, pair.half), known, "{pair:?}");
            seen[usize::from(known)] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 20_000), "{seen:?}");
}

/// The longest extent of a pair's four points along an axis.
fn extent(pair: &Pair) -> i32 {
    let [a, b, c] = pair.triangle;
    let of_axis = |axis: usize| {
        let values = [a, b, c, pair.center].map(|p| p[axis]);
        values.iter().max().unwrap() - values.iter().min().unwrap()
    };
    (0..3).map(of_axis).max().unwrap()
}

/// Whether the pair is what its family says.
fn is_of_its_family(pair: &Pair) -> bool {
    let size = |v: [i64; 3]| v.iter().map(|c| c.abs()).max().unwrap();
    let [e, f, normal] = pair.edges_and_normal();
    let longest = size(e).max(size(f)).max(size(minus(e, f)));
    match pair.family {
        Family::Tiny => longest <= 16,
        // Area over length: the width, up to a small factor.
        Family::Sliver => longest >= 1_024 && size(normal) <= 12 * longest,
        Family::NearlyDegenerate => size(normal) <= 1,
        Family::Degenerate => size(normal) == 0,
        Family::LatticeAligned => {
            let [a, b, c] = pair.triangle;
            [a, b, c, pair.center].as_flattened().iter().all(|c| c % pair.half == 0)
        }
        Family::TouchingFace | Family::TouchingEdge | Family::TouchingCorner => {
            pair.known.is_some()
        }
        Family::RangeEnds => {
            let at_end = |c: &i64| c.abs() <= 1 || c.abs() >= i64::from(SPAN) - 2;
            e.iter().chain(&f).all(at_end) && longest >= i64::from(SPAN) - 2
        }
        Family::Wide => longest > i64::from(SPAN) / 64,
    }
}

#[test]
fn every_family_is_what_it_says_gives_both_answers_and_keeps_the_bit_budget_up_to_its_ends() {
    const EACH: usize = 20_000;
    let (mut touching, mut long, mut longest) = ([0; Family::ALL.len()], 0, 0);
    for pair in pairs(5, EACH * Family::ALL.len()) {
        assert!(is_of_its_family(&pair), "{pair:?}");
        assert!((8..=1 << 23).contains(&pair.half) && extent(&pair) <= SPAN, "{pair:?}");
        longest = longest.max(extent(&pair));
        let [e, f, normal] = pair.edges_and_normal();
        let is_long = [e, f].iter().all(|e| e.iter().any(|c| c.abs() > 1 << 12));
        let is_nearly = pair.family == Family::NearlyDegenerate && normal != [0; 3];
        long += usize::from(is_nearly && is_long);
        touching[pair.family as usize] +=
            usize::from(touches(&pair.triangle, pair.center, pair.half));
    }
    for (family, touching) in Family::ALL.iter().zip(touching) {
        assert!((EACH / 20..=EACH - EACH / 20).contains(&touching), "{family:?}: {touching}");
    }
    assert!(long > EACH / 10, "{long} nearly degenerate ones are long");
    assert_eq!(longest, SPAN);
}

#[test]
fn symmetries_vertex_orders_and_whole_voxel_shifts_leave_the_answer_unchanged() {
    assert_eq!(symmetries().count(), 48);
    par_pairs(7, 100_000).for_each(|pair| {
        let answer = touches(&pair.triangle, pair.center, pair.half);
        let mut rng = Rng::with_seed(pair.center[0] as u64);
        for (order, mirrored) in symmetries() {
            let shift: [i32; 3] = std::array::from_fn(|_| 2 * pair.half * rng.i32(-32..=32));
            let along = |c: i32, is_mirrored: bool| if is_mirrored { -c } else { c };
            let moved = |p: [i32; 3]| [0, 1, 2].map(|i| along(p[order[i]], mirrored[i]) + shift[i]);
            let [a, b, c] = pair.triangle.map(moved);
            let center = moved(pair.center);
            for triangle in [[a, b, c], [b, c, a], [c, a, b], [c, b, a], [b, a, c], [a, c, b]] {
                assert_eq!(touches(&triangle, center, pair.half), answer, "{pair:?}");
            }
        }
    });
}

#[test]
fn boxes_that_the_bounding_box_of_a_triangle_touches_and_centers_within_it_are_ranges() {
    for pair in pairs(10, 20_000) {
        let box_bits = pair.half.ilog2() + 1;
        let size = 1i64 << box_bits;
        let boxes = BoxRange::of_triangle(&pair.triangle, box_bits);
        let centers = BoxRange::of_centers(&pair.triangle, box_bits);
        for a in 0..3 {
            let values = pair.triangle.map(|p| i64::from(p[a]));
            let [min, max] = [*values.iter().min().unwrap(), *values.iter().max().unwrap()];
            let meets = |b: i64| (b + 1) * size >= min && b * size <= max;
            let [lo, hi] = [boxes.lo[a], boxes.hi[a]].map(i64::from);
            assert!(meets(lo) && !meets(lo - 1) && meets(hi) && !meets(hi + 1), "{pair:?}");
            let center = |b: i64| b * size + size / 2;
            let [lo, hi] = [centers.lo[a], centers.hi[a]].map(i64::from);
            assert!(center(lo - 1) < min && min <= center(lo), "{pair:?}");
            assert!(center(hi) <= max && max < center(hi + 1), "{pair:?}");
        }
        let is_empty = (0..3).any(|a| centers.lo[a] > centers.hi[a]);
        assert_eq!(centers.is_empty(), is_empty, "{pair:?}");
    }
}
