//! The batched test answers what `touches` answers, with all sets of vector instructions that the
//! processor has, to the ends of the bit budget.

use crate::common::lattice::{lattice_triangles, voxel_centers};
use crate::common::pairs::{Family, SPAN, pairs};
use trivox::lattice::Triangle;
use trivox::predicate::batch::Batch;
use trivox::predicate::{InstructionSet, touches};

/// What a batch should answer.
fn one_by_one(triangles: &[Triangle], center: [i32; 3], half: i32) -> Vec<u64> {
    let mut words = vec![0; triangles.len().div_ceil(64)];
    for (i, triangle) in triangles.iter().enumerate() {
        words[i / 64] |= u64::from(touches(triangle, center, half)) << (i % 64);
    }
    words
}

fn assert_same(triangles: &[Triangle], center: [i32; 3], half: i32) {
    assert_batch_is_right(&Batch::new(triangles), triangles, center, half);
}

fn assert_batch_is_right(batch: &Batch, triangles: &[Triangle], center: [i32; 3], half: i32) {
    let expected = one_by_one(triangles, center, half);
    for set in InstructionSet::available() {
        let name = set.name();
        let answers = batch.touches_by(set, center, half);
        let differ =
            |&i: &usize| answers[i / 64] >> (i % 64) & 1 != expected[i / 64] >> (i % 64) & 1;
        let wrong = (0..triangles.len()).find(differ).map(|i| (i, triangles[i]));
        assert_eq!(wrong, None, "{name}: center {center:?}, half {half}");
        assert_eq!(answers, expected, "{name}: bits past the last triangle");
    }
}

/// Triangles of every kind, with coordinates up to `reach`; one in four has no area.
fn random_triangles(rng: &mut fastrand::Rng, count: usize, reach: i32) -> Vec<Triangle> {
    let mut triangle = |_| {
        let mut point = || -> [i32; 3] { std::array::from_fn(|_| rng.i32(-reach..=reach)) };
        let [a, b, c] = [point(), point(), point()];
        match rng.u32(..16) {
            0 => [a, a, a],
            1 => [a, b, a],
            2 => [a, a, b],
            // The lattice point nearest the middle: a sliver or a segment.
            3 => [a, b, std::array::from_fn(|i| (a[i] + b[i]) / 2)],
            _ => [a, b, c],
        }
    };
    (0..count).map(&mut triangle).collect()
}

/// Half the length of the budget's interval: corners up to here are not farther apart than it.
const END: i32 = SPAN / 2;

/// Triangles with all coordinates within one unit of 0 or of either end of the range: the largest
/// terms there are.
fn extreme_triangles(rng: &mut fastrand::Rng, count: usize) -> Vec<Triangle> {
    let ends = [-END, -END + 1, -1, 0, 1, END - 1, END];
    let mut coordinate = || ends[rng.usize(..ends.len())];
    (0..count).map(|_| [[(); 3]; 3].map(|corner| corner.map(|()| coordinate()))).collect()
}

#[test]
fn every_triangle_of_the_small_lattice_at_every_scale() {
    // The largest scales are those of which the edge axes and the plane are exact, the next ones,
    // and that of the whole budget.
    let triangles = lattice_triangles();
    for (scale, step) in [(1, 1), (16, 7), (17, 11), (256, 13), (257, 17), (SPAN / 4, 5)] {
        let scaled: Vec<Triangle> =
            triangles.iter().step_by(step).map(|t| t.map(|p| p.map(|c| c * scale))).collect();
        let batch = Batch::new(&scaled);
        for center in voxel_centers().iter().step_by(if scale == 1 { 1 } else { 3 }) {
            let center = center.map(|c| (c * scale).clamp(0, SPAN));
            assert_batch_is_right(&batch, &scaled, center, scale);
        }
    }
}

#[test]
fn adversarial_triangles() {
    let mut groups: Vec<Vec<Triangle>> = vec![Vec::new(); 24];
    let mut count = [0; Family::ALL.len()];
    for pair in pairs(8, 400_000) {
        let seen = |p: [i32; 3]| [0, 1, 2].map(|a| p[a] - pair.center[a]);
        groups[pair.half.ilog2() as usize].push(pair.triangle.map(seen));
        count[pair.family as usize] += 1;
    }
    assert!(count.iter().all(|&n| n >= 40_000), "{count:?}");
    for (bits, triangles) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        assert_same(triangles, [0; 3], 1 << bits);
    }
}

#[test]
fn small_coordinates_which_often_only_touch() {
    let mut rng = fastrand::Rng::with_seed(1);
    for round in 0..200 {
        let triangles = random_triangles(&mut rng, 500, 2 + round % 10);
        let center = std::array::from_fn(|_| rng.i32(-5..=5));
        assert_same(&triangles, center, rng.i32(1..6));
    }
}

#[test]
fn random_coordinates_of_every_magnitude() {
    let mut rng = fastrand::Rng::with_seed(2);
    for bits in 2..=23 {
        let triangles = random_triangles(&mut rng, 2000, 1 << bits);
        (1..=bits).for_each(|half_bits| assert_same(&triangles, [0; 3], (1 << half_bits) - 1));
    }
}

#[test]
fn the_ends_of_the_range() {
    let mut rng = fastrand::Rng::with_seed(3);
    let triangles = extreme_triangles(&mut rng, 20_000);
    for half in [1, 2, END / 3, END / 2, END - 1, END] {
        assert_same(&triangles, [0; 3], half);
        assert_same(&triangles, [END, -END, END - 1], half);
    }
}

/// The smallest cube that the plane of a triangle reaches, and the next smaller one: the closest
/// decisions on the axis with the largest terms.
#[test]
fn either_side_of_the_plane_at_the_ends_of_the_range() {
    let mut rng = fastrand::Rng::with_seed(4);
    for triangle in extreme_triangles(&mut rng, 20_000) {
        let [reached, missed] = halves_around_plane(&triangle);
        assert_same(&[triangle], [0; 3], reached);
        assert_same(&[triangle], [0; 3], missed);
    }
}

/// The half edge of the smallest cube around the origin that meets the triangle's plane, and one
/// less, at least 1.
fn halves_around_plane(triangle: &Triangle) -> [i32; 2] {
    let [p, q, r] = triangle.map(|corner| corner.map(i128::from));
    let [e, f] = [[p, q], [q, r]].map(|[a, b]| [0, 1, 2].map(|i| b[i] - a[i]));
    let n = [(1, 2), (2, 0), (0, 1)].map(|(j, k)| e[j] * f[k] - e[k] * f[j]);
    let distance = (0..3).map(|i| n[i] * p[i]).sum::<i128>().abs();
    let width = n.iter().map(|c| c.abs()).sum::<i128>().max(1);
    // The plane passes through a point of the range, so this is at most its end.
    let reached = (distance + width - 1) / width;
    [reached.max(1), (reached - 1).max(1)].map(|half| half as i32)
}

/// Integers up to a limit are exact in `f32`: within it, at it and past it.
#[test]
fn either_side_of_the_sizes_that_are_exact() {
    let mut rng = fastrand::Rng::with_seed(5);
    for exact in [1 << 6, 1 << 10] {
        for past in -1..=1 {
            // Multiples of a large step often only touch; the others are as close.
            for step in [1, 2, exact / 8, exact / 4] {
                let reach = exact + past;
                let mut triangles = random_triangles(&mut rng, 4000, reach / step);
                triangles.as_flattened_mut().iter_mut().for_each(|p| *p = p.map(|c| c * step));
                for half in [1, exact / 8, exact / 4, exact / 2, reach] {
                    assert_same(&triangles, [0; 3], half);
                }
            }
        }
    }
}

#[test]
fn a_block_with_near_and_far_triangles() {
    let mut rng = fastrand::Rng::with_seed(9);
    for _ in 0..300 {
        let mut triangles = random_triangles(&mut rng, 64, 10);
        triangles.extend(random_triangles(&mut rng, 64, END));
        rng.shuffle(&mut triangles);
        assert_same(&triangles, [0; 3], rng.i32(1..12));
    }
}

/// The plane passes one part in `2^60` outside the box: `f64` cannot see it, and must not be asked.
#[test]
fn a_clearance_of_one_across_the_lattice_is_seen() {
    let triangle = [
        [14_194_729, 9_753_958, 9_083_134],
        [14_179_627, 1_447_791, 9_830_309],
        [12_225_171, 6_652_889, 4_305_534],
    ];
    let center = [14_078_102, 8_127_720, 9_056_989];
    assert_eq!(Batch::new(&[triangle]).touches(center, 1 << 15), [0]);
    assert_eq!(Batch::new(&[triangle]).touches(center, (1 << 15) + 1), [1]);
}

#[test]
fn every_count_around_a_word() {
    let mut rng = fastrand::Rng::with_seed(6);
    let triangles = random_triangles(&mut rng, 130, 3);
    for count in [0, 1, 2, 63, 64, 65, 127, 128, 129, 130] {
        let batch = Batch::new(&triangles[..count]);
        assert_eq!((batch.len(), batch.is_empty()), (count, count == 0));
        // Every triangle touches this box, so that a bit too many would show.
        assert_eq!(
            batch.touches([0; 3], 9).iter().map(|word| word.count_ones()).sum::<u32>(),
            count as u32
        );
        assert_same(&triangles[..count], [0; 3], 1);
    }
}

#[test]
fn canary_a_slightly_larger_box_is_noticed() {
    let mut rng = fastrand::Rng::with_seed(7);
    let triangles = random_triangles(&mut rng, 5000, 1 << 16);
    let half = 1 << 14;
    assert_eq!(Batch::new(&triangles).touches([0; 3], half), one_by_one(&triangles, [0; 3], half));
    let answers = Batch::new(&triangles).touches([0; 3], half + (half >> 8));
    assert_ne!(answers, one_by_one(&triangles, [0; 3], half));
}
