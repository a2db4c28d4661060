//! The batched test answers what `touches` answers, to the ends of its range and past them.

use trivox::place::Triangle;
use trivox::predicate::batch::{Batch, REACH};
use trivox::predicate::touches;

/// What a batch should answer.
fn one_by_one(triangles: &[Triangle], center: [i32; 3], half: i32) -> Vec<u64> {
    let mut words = vec![0; triangles.len().div_ceil(64)];
    for (i, triangle) in triangles.iter().enumerate() {
        words[i / 64] |= u64::from(touches(triangle, center, half)) << (i % 64);
    }
    words
}

fn assert_same(triangles: &[Triangle], center: [i32; 3], half: i32) {
    let answers = Batch::new(triangles).touches(center, half);
    assert_eq!(answers, one_by_one(triangles, center, half), "center {center:?}, half {half}");
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

/// Triangles with all coordinates within one unit of 0 or of either end of the range: the largest
/// terms there are.
fn extreme_triangles(rng: &mut fastrand::Rng, count: usize) -> Vec<Triangle> {
    let ends = [-REACH, -REACH + 1, -1, 0, 1, REACH - 1, REACH];
    let mut coordinate = || ends[rng.usize(..ends.len())];
    (0..count).map(|_| [[(); 3]; 3].map(|corner| corner.map(|()| coordinate()))).collect()
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
    for bits in 2..=16 {
        let triangles = random_triangles(&mut rng, 5000, 1 << bits);
        (1..=bits).for_each(|half_bits| assert_same(&triangles, [0; 3], (1 << half_bits) - 1));
    }
}

#[test]
fn the_ends_of_the_range() {
    let mut rng = fastrand::Rng::with_seed(3);
    let triangles = extreme_triangles(&mut rng, 20_000);
    for half in [1, 2, REACH / 3, REACH / 2, REACH - 1, REACH] {
        assert_same(&triangles, [0; 3], half);
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

#[test]
fn boxes_out_of_reach_are_decided_too() {
    let mut rng = fastrand::Rng::with_seed(5);
    let far = 1 << 23;
    let triangles = random_triangles(&mut rng, 2000, far);
    for half in [1, REACH, REACH + 1, far] {
        assert_same(&triangles, std::array::from_fn(|_| rng.i32(-far..=far)), half);
    }
    // One unit within the reach, at it, and past it.
    let near = random_triangles(&mut rng, 2000, 100);
    (-1..=1).for_each(|past| assert_same(&near, [0, REACH - 100 + past, 0], REACH + past));
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
    let answers = Batch::new(&triangles).touches([0; 3], half + (half >> 8));
    assert_ne!(answers, one_by_one(&triangles, [0; 3], half));
}
