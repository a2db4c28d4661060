//! The published overlap tests: their published answers, their agreement with `touches` wherever
//! `f64` is exact, and the traps they are known for, which `touches` does not have. The gallery
//! draws other traps, and its tests have their answers.

use crate::common::published::{Aabb, Obb, Point, Triangle, moller, obb, sat};
use crate::common::vector::{cross, dot, minus, plus};
use trivox::lattice::Triangle as LatticeTriangle;
use trivox::predicate::touches;

const ORIGIN: Point = [0.0; 3];

fn cube(center: Point, half: f64) -> Aabb {
    Aabb { center, half: [half; 3] }
}

/// The answers of the three tests of a triangle and a box.
fn answers(triangle: &Triangle, aabb: &Aabb) -> [bool; 3] {
    [
        sat::overlaps(triangle, aabb),
        moller::overlaps(triangle, aabb),
        obb::overlaps(triangle, &(*aabb).into()),
    ]
}

/// A lattice triangle in lattice units.
fn in_floats(triangle: &LatticeTriangle) -> Triangle {
    triangle.map(|corner| corner.map(f64::from))
}

/// The lattice point of `p` where a unit of length is `units` lattice units.
fn lattice(p: Point, units: f64) -> [i32; 3] {
    p.map(|c| (c * units).round_ties_even() as i32)
}

const TRIANGLE: Triangle = [[-1.0, 5.0, 0.0], [2.0, 2.0, -3.0], [5.0, 5.0, 0.0]];

/// Boxes, and whether `TRIANGLE` meets them.
const PUBLISHED: [(Aabb, bool); 6] = [
    (Aabb { center: [2.0, 4.0, -1.0], half: [0.5; 3] }, true),
    (Aabb { center: [-1.0, 5.0, 0.0], half: [0.5; 3] }, true),
    (Aabb { center: [0.0, 0.0, 0.0], half: [5.0, 7.0, 5.0] }, true),
    (Aabb { center: [2.0, 3.0, -3.0], half: [3.0, 0.5, 2.0] }, true),
    (Aabb { center: [2.0, 2.0, 2.0], half: [1.0; 3] }, false),
    (Aabb { center: [-2.0, -2.0, -2.0], half: [1.0; 3] }, false),
];

#[test]
fn published_boxes_by_each_test_and_by_touches_where_the_box_is_a_cube() {
    let triangle = TRIANGLE.map(|corner| lattice(corner, 2.0));
    let mut cubes = 0;
    for (aabb, overlap) in PUBLISHED {
        assert_eq!(answers(&TRIANGLE, &aabb), [overlap; 3], "{aabb:?}");
        if aabb.half == [aabb.half[0]; 3] {
            let half = (aabb.half[0] * 2.0) as i32;
            assert_eq!(touches(&triangle, lattice(aabb.center, 2.0), half), overlap, "{aabb:?}");
            cubes += 1;
        }
    }
    assert_eq!(cubes, 4);
}

const CASES: usize = 300_000;

/// Small integers, on which `f64` is exact. One triangle in four is a segment or a point.
fn random_case(rng: &mut fastrand::Rng) -> (LatticeTriangle, [i32; 3], i32) {
    let reach = rng.i32(2..12);
    let mut point = || -> [i32; 3] { std::array::from_fn(|_| rng.i32(-reach..=reach)) };
    let ([a, b, c], center) = ([point(), point(), point()], point());
    let triangle = match rng.u32(..16) {
        0 => [a, a, a],
        1 => [a, b, a],
        2 => [a, a, b],
        // The midpoint, doubled to stay on the lattice.
        3 => [a.map(|x| 2 * x), b.map(|x| 2 * x), plus(a, b)],
        _ => [a, b, c],
    };
    (triangle, center, rng.i32(1..6))
}

/// How often `test` differs from `touches`. `test` sees the scene stretched along each axis, so
/// that its boxes are not all cubes; whether two sets meet, stretching does not change.
fn mistakes(test: impl Fn(&Triangle, &Aabb) -> bool) -> usize {
    let mut rng = fastrand::Rng::with_seed(2001);
    let wrong = |_: &usize| {
        let (triangle, center, half) = random_case(&mut rng);
        let stretch: [i32; 3] = std::array::from_fn(|_| rng.i32(1..=3));
        let stretched = |p: [i32; 3]| std::array::from_fn(|i| f64::from(stretch[i] * p[i]));
        let aabb = Aabb { center: stretched(center), half: stretched([half; 3]) };
        test(&triangle.map(stretched), &aabb) != touches(&triangle, center, half)
    };
    (0..CASES).filter(wrong).count()
}

#[test]
fn each_agrees_with_touches_and_obb_in_two_orientations() {
    let touching = mistakes(|_, _| false);
    assert!(touching > CASES / 5 && touching < CASES * 4 / 5, "{touching} of {CASES} touch");
    for i in 0..3 {
        assert_eq!(mistakes(|triangle, aabb| answers(triangle, aabb)[i]), 0, "test {i}");
    }
    let axes = [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]];
    let turned = |&Aabb { center, half: [x, y, z] }: &Aabb| Obb { center, axes, half: [y, z, x] };
    assert_eq!(mistakes(|triangle, aabb| obb::overlaps(triangle, &turned(aabb))), 0);
}

#[test]
fn canary_each_part_left_out_and_touching_not_counted_are_noticed() {
    for left_out in 0..3 {
        let count = mistakes(|triangle, aabb| {
            let (v, half) = (triangle.map(|p| minus(p, aabb.center)), aabb.half);
            let separates = [
                moller::edges_separate(&v, half),
                moller::box_normals_separate(&v, half),
                moller::plane_separates(&v, half),
            ];
            !(0..3).any(|part| part != left_out && separates[part])
        });
        assert!(count > 1000, "part {left_out}: {count}");
    }
    let shrunk = |aabb: &Aabb| Aabb { half: aabb.half.map(|h| h - 0.001), ..*aabb };
    assert!(mistakes(|triangle, aabb| sat::overlaps(triangle, &shrunk(aabb))) > 1000);
}

/// How far apart triangle and box are along each axis, made a unit vector as if that were
/// harmless; negative where they overlap. A zero cross product, made a unit vector, is NaN, and
/// comparisons with it are false.
fn faulty_gaps(triangle: &Triangle, aabb: &Aabb) -> [f64; 13] {
    sat::axes(triangle).map(|axis| {
        let length = dot(axis, axis).sqrt();
        let unit = axis.map(|c| c / length);
        let [along, from] = [dot(unit, aabb.center), dot(unit.map(f64::abs), aabb.half)];
        let [p, q, r] = triangle.map(|corner| dot(unit, corner) - along);
        (p.min(q).min(r) - from).max(-from - p.max(q).max(r))
    })
}

/// Separated by the largest gap, found with the usual `a > b ? a : b`.
fn overlaps_by_largest_gap(triangle: &Triangle, aabb: &Aabb) -> bool {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let separated = faulty_gaps(triangle, aabb).into_iter().reduce(larger).unwrap() > 0.0;
    !separated
}

/// Overlapping where every axis says so.
fn overlaps_by_all_axes(triangle: &Triangle, aabb: &Aabb) -> bool {
    faulty_gaps(triangle, aabb).iter().all(|&gap| gap <= 0.0)
}

#[test]
fn a_normalised_zero_axis_reports_a_distant_segment_overlapping_and_a_touching_triangle_apart() {
    // No point of the segment has an x below 90, and no point of the box one above 1.
    let segment = [[90, 0, 0], [90, 5, 7], [90, 10, 14]];
    // The first corner is the centre of the box, and an edge is along x.
    let triangle = [[0, 0, 0], [5, 0, 0], [0, 5, 5]];
    // No axis is zero: the variants differ from the right test by the normalisation alone.
    let crooked = [[-3, 1, 4], [2, -5, 3], [4, 4, -6]];
    for (triangle, center, overlap, by_gap, by_axes) in [
        (segment, [0; 3], false, true, false),
        (triangle, [0; 3], true, true, false),
        (crooked, [1, 0, 0], true, true, true),
        (crooked, [6; 3], false, false, false),
    ] {
        let (floats, aabb) = (in_floats(&triangle), cube(center.map(f64::from), 1.0));
        assert_eq!(touches(&triangle, center, 1), overlap, "{triangle:?}");
        assert_eq!(sat::overlaps(&floats, &aabb), overlap, "{triangle:?}");
        assert_eq!(overlaps_by_largest_gap(&floats, &aabb), by_gap, "{triangle:?}");
        assert_eq!(overlaps_by_all_axes(&floats, &aabb), by_axes, "{triangle:?}");
    }
}

/// `u_2 x f_2` stands where `u_1 x f_2` belongs: one wrong index in nine nearly equal lines.
fn mistyped_overlaps(triangle: &Triangle, aabb: &Aabb) -> bool {
    let mut axes = sat::axes(triangle);
    axes[3 + 3 + 2] = axes[3 + 6 + 2];
    !axes.iter().any(|&axis| sat::separates(axis, triangle, &aabb.corners()))
}

/// A pair that `u_1 x f_2`, (-1, 0, 3), alone separates: along it the corners are at 5, 6 and 5,
/// and the box about the origin reaches to 1 + 3 = 4.
const SEPARATED: LatticeTriangle = [[-2, 1, 1], [0, 0, 2], [1, 0, 2]];

#[test]
fn a_mistyped_axis_is_not_noticed_by_the_published_boxes_but_by_a_pair_that_it_alone_separates() {
    for (aabb, overlap) in PUBLISHED {
        assert_eq!(mistyped_overlaps(&TRIANGLE, &aabb), overlap, "{aabb:?}");
    }
    let triangle = in_floats(&SEPARATED);
    assert_eq!(sat::axes(&triangle)[3 + 3 + 2], [-1.0, 0.0, 3.0]);
    assert!(mistyped_overlaps(&triangle, &cube(ORIGIN, 1.0)));
    assert!(!touches(&SEPARATED, [0; 3], 1));
    assert!(!sat::overlaps(&triangle, &cube(ORIGIN, 1.0)));
    assert!(!moller::overlaps(&triangle, &cube(ORIGIN, 1.0)));
}

/// Three points on a line, written in tenths. Tenths are not exact in `f64`, so the cross product
/// is not zero but some tiny vector, and not at right angles to the line.
#[test]
fn a_box_around_a_corner_of_a_decimal_sliver_is_reported_apart() {
    let sliver = [[0.0, 0.0, 0.0], [3.8, 3.0, 3.6], [5.7, 4.5, 5.4]];
    let seen_from_the_box = sliver.map(|corner| minus(corner, sliver[1]));
    assert!(moller::plane_separates(&seen_from_the_box, [0.5; 3]));
    // The first projects all corners, and a wrong axis can only fail to separate.
    assert_eq!(answers(&sliver, &cube(sliver[1], 0.5)), [true, false, false]);
    let triangle = [[0, 0, 0], [38, 30, 36], [57, 45, 54]];
    assert!(touches(&triangle, triangle[1], 5));
}

/// Too small for the square of a length.
#[test]
fn a_triangle_whose_area_underflows_is_reported_overlapping() {
    const TINY: f64 = 1e-200;
    let tiny = in_floats(&SEPARATED).map(|corner| corner.map(|c| c * TINY));
    assert_eq!(answers(&tiny, &cube(ORIGIN, TINY)), [true; 3]);
    assert!(!touches(&SEPARATED, [0; 3], 1));
}

/// A triangle as wide as the lattice, and a box that its plane misses by almost nothing.
#[test]
fn a_clearance_of_one_is_rounded_away() {
    const HALF: i32 = 1 << 15;
    let triangle = [
        [14_194_729, 9_753_958, 9_083_134],
        [14_179_627, 1_447_791, 9_830_309],
        [12_225_171, 6_652_889, 4_305_534],
    ];
    let center = [14_078_102, 8_127_720, 9_056_989];
    // How far the plane is outside the box along the normal, exactly.
    let [a, b, c] = triangle.map(|p| minus(p, center).map(i128::from));
    let n = cross(minus(b, a), minus(c, b));
    let clearance = dot(n, a).abs() - i128::from(HALF) * n.map(i128::abs).iter().sum::<i128>();
    assert_eq!(clearance, 1);
    let aabb = cube(center.map(f64::from), f64::from(HALF));
    assert_eq!(answers(&in_floats(&triangle), &aabb), [true; 3]);
    assert!(!touches(&triangle, center, HALF));
    // A box wider by one unit does touch.
    assert!(touches(&triangle, center, HALF + 1));
}
