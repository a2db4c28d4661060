//! Offsets against sums over all loops, and error bounds down the octree.

use std::ops::Range;

use fastrand::Rng;

use super::*;
use crate::base::lanes::{LANES, Lanes};
use crate::base::progress::NoProgress;
use crate::base::vector::dot;
use crate::solid::fill::closed;
use crate::solid::fill::solid_angle::PointBox;
use crate::solid::fill::taylor::Taylor;

const UNIT: i32 = 16;
const NO_OFFSET: i32 = i32::MAX;

/// A field of random loops in and around the grid, most of them small.
fn field(rng: &mut Rng, dims: [u32; 3]) -> Field {
    let count = rng.usize(1..12);
    field_of(rng, dims, count, 0..5)
}

/// A field of random loops in and around the grid, of `2^sizes` voxels.
fn field_of(rng: &mut Rng, dims: [u32; 3], count: usize, sizes: Range<i32>) -> Field {
    let loops: Vec<Vec<[i32; 3]>> = (0..count)
        .map(|_| {
            let size = UNIT << rng.i32(sizes.clone());
            let corner = dims.map(|d| rng.i32(-size..UNIT * d as i32));
            closed((0..3 + (corner[0] & 7)).map(|_| corner.map(|c| c + rng.i32(0..=size))))
        })
        .collect();
    Field::of(LoopBvh::new(&loops), f64::from(UNIT), dims)
}

/// A brick with offsets that no field has.
fn empty_brick() -> CapBrick {
    CapBrick { offsets: [NO_OFFSET; 512], uncertain: Mask::default() }
}

/// A voxel of `cube`, and its centre relative to the cube's, in voxels.
fn any_voxel(rng: &mut Rng, cube: &Cube) -> ([u32; 3], Point) {
    let voxel = cube.at.map(|c| c + rng.u32(0..cube.size));
    (voxel, from_center(cube, voxel))
}

fn from_center(cube: &Cube, voxel: [u32; 3]) -> Point {
    let middle = cube.at.map(|c| f64::from(c) + f64::from(cube.size) / 2.0);
    [0, 1, 2].map(|a| f64::from(voxel[a]) + 0.5 - middle[a])
}

/// The jump to the column of a voxel.
fn jump(jumps: &[Lanes], cube: &Cube, [_, y, z]: [u32; 3]) -> f64 {
    let column = (cube.size * (y - cube.at[1]) + z - cube.at[2]) as usize;
    jumps[column / LANES].0[column % LANES]
}

#[test]
fn a_polynomial_is_as_near_as_its_bounds_say_and_the_bounds_are_of_all_loops() {
    let mut rng = Rng::with_seed(1);
    let (mut checked, mut far, mut largest) = (0, 0, 0.0_f64);
    for _ in 0..300 {
        let field = field(&mut rng, [64; 3]);
        let near = field.root.clone();
        let mut cube = Cube { at: [0; 3], size: 64, near, far: Expansion::default() };
        loop {
            let edge = f64::from(cube.size);
            let all = field.expand_loops(&mut cube);
            // The centres of the voxels of a part of a brick; with the whole voxels otherwise.
            let half_extent = 0.5 * if cube.size < BRICK { edge - 1.0 } else { edge };
            let center = cube.at.map(|c| (f64::from(c) + 0.5 * edge) * field.units_per_voxel);
            let radius = norm([half_extent * field.units_per_voxel; 3]);
            let [lo, hi] =
                [0, cube.size].map(|d| cube.at.map(|c| f64::from(c + d) * field.units_per_voxel));
            assert_eq!(all.center, center);
            assert!((all.radius / radius - 1.0).abs() < 1e-12);
            for &node in &cube.near {
                let is_far = field.bvh.node(node).errors(center, radius).sum() <= CUBE_TOLERANCE;
                assert!(!is_far || field.bvh.rays_may_hit(node, &PointBox { lo, hi }));
            }
            let (moved, error) = (all.constant_error, all.error());
            if error < 1.0 {
                let jumps = field.jumps(&cube, center);
                for _ in 0..20 {
                    let (voxel, h) = any_voxel(&mut rng, &cube);
                    let p = field.center(voxel);
                    let x = norm(h) * field.units_per_voxel / radius;
                    let whole = field.exact(p);
                    let found = all.at(p) + jump(&jumps, &cube, voxel);
                    let off = (found - whole).abs();
                    let bound = moved + (error - moved) * x.powi(3);
                    assert!(off <= bound, "{off}, {bound}: {voxel:?} of {cube:?}");
                    let number = field.numbers(&cube, &[p])[0];
                    let is_tie = half_integer_distance(whole) < 2.0 * ROUNDING;
                    assert!(is_tie || offset(number) == offset(whole), "{number}, {whole}");
                    checked += 1;
                    largest = largest.max(off / bound);
                }
                far += u32::from(cube.near.is_empty());
            }
            if cube.size == MIN_SIZE {
                break;
            }
            let octants: Vec<Cube> = cube.children().collect();
            cube = octants[rng.usize(0..8)].clone();
        }
    }
    assert!(checked > 10_000 && far > 100 && largest > 0.1, "{checked}, {far}, {largest}");
}

#[test]
fn offsets_of_points_are_those_of_sums_over_all_edges() {
    let mut rng = Rng::with_seed(9);
    let mut by_points = 0;
    for _ in 0..400 {
        let field = field_of(&mut rng, [64; 3], 60, 0..3);
        let corner = [(); 3].map(|()| rng.i32(-200..1200));
        // From neighbours to points that share few nodes.
        let spread = 1 << rng.u32(1..12);
        let points: Vec<Point> = (0..rng.usize(1..=LANES))
            .map(|_| corner.map(|c| f64::from(c + rng.i32(0..spread))))
            .collect();
        let exact: Vec<f64> = points.iter().map(|&p| field.exact(p)).collect();
        let (numbers, error) = field.bvh.winding_numbers(&field.root, &points, FIRST_TOLERANCE);
        for (number, exact) in numbers.iter().zip(&exact) {
            assert!((number - exact).abs() <= error + ROUNDING, "{number}, {exact}: {error}");
            by_points += u32::from(error > 0.0);
        }
        for (found, &exact) in field.offsets_at(&points).iter().zip(&exact) {
            let is_tie = half_integer_distance(exact) < 2.0 * ROUNDING;
            assert!(is_tie || *found == offset(exact), "{found}, {exact}: {points:?}");
        }
    }
    assert!(by_points > 1000, "{by_points}");
}

#[test]
fn the_error_of_an_estimate_is_the_sum_of_those_of_its_nodes() {
    let mut rng = Rng::with_seed(8);
    let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
    let [mut with_far, mut with_inner, mut hopeless] = [0; 3];
    for _ in 0..600 {
        let field = field_of(&mut rng, [64; 3], 60, 0..3);
        let size = 2 << rng.u32(0..5);
        let at = [(); 3].map(|()| size * rng.u32(0..64 / size));
        let far = Expansion { taylor_error: 1e-7, constant_error: 3e-7, ..Expansion::default() };
        let mut cube = Cube { at, size, near: field.root.clone(), far };
        let (far, _) = field.take_far_nodes(&mut cube.clone());
        let all = field.expand_loops(&mut cube);
        let (center, radius) = field.ball(&cube);
        let errors = |index: &u32| field.bvh.node(*index).errors(center, radius);
        // What was there was expanded in a larger ball.
        let taylor_error: f64 = far.iter().map(|index| errors(index).taylor).sum();
        let multipole_error: f64 = far.iter().map(|index| errors(index).multipoles).sum();
        assert!(is_near(cube.far.taylor_error, taylor_error), "{cube:?}");
        assert!(is_near(cube.far.constant_error, 4e-7 + multipole_error), "{cube:?}");
        with_far += u32::from(!far.is_empty());

        let [lo, hi] = [0, size].map(|d| at.map(|c| f64::from(c + d) * field.units_per_voxel));
        let (inner, leaves): (Vec<u32>, Vec<u32>) =
            cube.near.iter().partition(|&&node| field.bvh.node(node).children.is_some());
        let sum: f64 = inner.iter().map(|index| errors(index).sum()).sum();
        let rays_may_hit =
            inner.iter().any(|&node| field.bvh.rays_may_hit(node, &PointBox { lo, hi }));
        if rays_may_hit || sum >= MAX_ERROR {
            assert_eq!(all.error(), f64::INFINITY);
            hopeless += 1;
            continue;
        }
        let (_, of_leaves) = field.bvh.expand(&leaves, center, radius);
        let expected = cube.far.error() + sum + of_leaves + ROUNDING;
        assert!(all.error() == expected || is_near(all.error(), expected), "{all:?}, {expected}");
        assert!(all.constant_error > cube.far.constant_error + sum, "{all:?}");
        with_inner += u32::from(!inner.is_empty());
    }
    let counts = [with_far, with_inner, hopeless];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn a_polynomial_stays_the_same_and_keeps_its_error_in_a_smaller_ball() {
    let mut rng = Rng::with_seed(4);
    for _ in 0..100 {
        let mut number = || 2.0 * rng.f64() - 1.0;
        let mut point = || [(); 3].map(|()| number());
        let [center, other, p, gradient, [n, error, constant_error]] = [(); 5].map(|()| point());
        let taylor = Taylor { value: n, gradient, hessian: [(); 6].map(|()| number()) };
        let all = Expansion { center, radius: 2.0, taylor, taylor_error: error, constant_error };
        let moved = all.translated(other, 0.5);
        assert_eq!((moved.center, moved.radius, moved.taylor_error), (other, 0.5, 0.0));
        assert_eq!((moved.error(), moved.constant_error), (all.error(), error + constant_error));
        let (found, expected) = (moved.at(p), all.at(p));
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}: {all:?}");
    }
}

#[test]
fn a_polynomial_decides_the_voxels_whose_numbers_are_farther_from_a_half_than_its_error() {
    let mut rng = Rng::with_seed(2);
    let (mut decided, mut undecided, mut with_jumps) = (0, 0, 0);
    for round in 0..2000 {
        let dims = [(); 3].map(|()| rng.u32(9..24));
        let field = field(&mut rng, dims);
        let size = 2 << (round % 3);
        let at = [(); 3].map(|()| size * rng.u32(0..24 / size));
        let near = if round % 2 == 0 { field.root.clone() } else { Vec::new() };
        let cube = Cube { at, size, near, far: Expansion::default() };
        let (center, radius) = field.ball(&cube);
        let mut around = |size: f64| size * (2.0 * rng.f64() - 1.0);
        let taylor = Taylor {
            value: around(3.0),
            gradient: [(); 3].map(|()| around(2.0 / radius)),
            hessian: [(); 6].map(|()| around(2.0 / radius.powi(2))),
        };
        let taylor_error = 10_f64.powf(around(1.5) - 1.5);
        let constant_error = 10_f64.powf(around(2.0) - 3.0);
        let all = Expansion { center, radius, taylor, taylor_error, constant_error };
        let mut brick = empty_brick();
        let open = field.set_by_polynomial(&cube, &all, &mut brick);

        let jumps = field.jumps(&cube, center);
        let number = |voxel: [u32; 3]| all.at(field.center(voxel)) + jump(&jumps, &cube, voxel);
        for voxel in (0..size.pow(3)).map(|index| cube.voxel(index)) {
            let h = from_center(&cube, voxel).map(|c| c * field.units_per_voxel / radius);
            let squared = dot(h, h);
            let error = constant_error + taylor_error * 0.5 * (squared + squared.powi(2));
            let (number, found) = (number(voxel), brick.offsets[brick_slot(voxel)]);
            let distance = half_integer_distance(number);
            let is_open = open.contains(&voxel);
            let expected = distance <= error || error >= MAX_VOXEL_ERROR;
            let is_close = [distance, MAX_VOXEL_ERROR].iter().any(|at| (at - error).abs() < 1e-9);
            assert!(is_open == expected || is_close);
            assert_eq!(found, if is_open { NO_OFFSET } else { (number + 0.5).floor() as i32 });
            *(if is_open { &mut undecided } else { &mut decided }) += 1;
            with_jumps += u32::from(jump(&jumps, &cube, voxel) != 0.0);
        }
        let set = brick.offsets.iter().filter(|&&offset| offset != NO_OFFSET).count();
        assert_eq!(set + open.len(), size.pow(3) as usize);
    }
    let counts = [decided, undecided, with_jumps];
    assert!(counts.iter().all(|&count| count > 5000), "{counts:?}");
}

#[test]
fn a_voxel_at_the_bound_of_the_error_is_not_decided() {
    let mut rng = Rng::with_seed(5);
    let field = field_of(&mut rng, [8; 3], 1, 0..1);
    let cube = Cube { at: [0; 3], size: 8, near: Vec::new(), far: Expansion::default() };
    let (center, radius) = field.ball(&cube);
    for (number, is_open) in [
        (0.4375, true),
        (0.4375 + 0.5 * ROUNDING, true),
        (0.4375 - 0.5 * ROUNDING, false),
        (0.5625, true),
        (0.5625 + 0.5 * ROUNDING, false),
    ] {
        let taylor = Taylor { value: number, ..Taylor::default() };
        let all = Expansion { center, radius, taylor, taylor_error: 0.0, constant_error: 0.0625 };
        let open = field.set_by_polynomial(&cube, &all, &mut empty_brick());
        assert_eq!(open.len(), if is_open { 512 } else { 0 }, "{number}");
    }
    let is_inside = |number: f64| offset(number) == 1;
    assert_eq!([-1.1, -0.9].map(|n| is_inside(0.5 + n * ROUNDING)), [false, true]);
}

#[test]
fn a_number_is_decided_if_its_error_leaves_no_doubt() {
    let mut rng = Rng::with_seed(6);
    for _ in 0..200 {
        let field = field(&mut rng, [64; 3]);
        let mut cube =
            Cube { at: [24; 3], size: 8, near: field.root.clone(), far: Expansion::default() };
        let (voxel, _) = any_voxel(&mut rng, &cube);
        let p = field.center(voxel);
        let (sum, error) = field.bvh.winding_number(&cube.near, p, FIRST_TOLERANCE);
        for away in [-3.0, -1.1, -0.9, -0.1, 0.1, 0.9, 1.1, 3.0] {
            let constant_error = 1e-4;
            let number = 0.5 - sum + away * (constant_error + error);
            let taylor = Taylor { value: number, ..Taylor::default() };
            cube.far = Expansion { taylor, constant_error, ..Expansion::default() };
            let expected = (f64::abs(away) > 1.0).then_some(sum + number);
            assert_eq!(field.numbers_in(&cube, &[p], FIRST_TOLERANCE)[0], expected, "{away}");
        }
    }
}

#[test]
fn a_number_from_the_root_is_the_sum_or_its_error_leaves_no_doubt() {
    let mut rng = Rng::with_seed(9);
    let [mut approximated, mut nearer] = [0; 2];
    for _ in 0..200 {
        let field = field_of(&mut rng, [64; 3], 60, 0..4);
        let above = |p: Point| field.exact(p).rem_euclid(1.0) - 0.5;
        let mut p = field.center([(); 3].map(|()| rng.u32(0..64)));
        for _ in 0..30 {
            let whole = field.exact(p);
            let number = field.number_from_root(p);
            let sums = ROOT_TOLERANCES.map(|tolerance| {
                let (number, error) = field.bvh.winding_number(&field.root, p, tolerance);
                (number, if error == 0.0 { 0.0 } else { error + ROUNDING })
            });
            assert!(
                sums.iter().all(|&(sum, error)| (sum - whole).abs() <= error),
                "{sums:?}: {p:?}"
            );
            let leaves_no_doubt = |&(sum, error): &(f64, f64)| {
                sum == number && (error == 0.0 || half_integer_distance(sum) > error)
            };
            assert!(number == whole || sums.iter().any(leaves_no_doubt), "{number}: {p:?}");
            approximated += u32::from(number != whole);
            nearer += u32::from(sums[0].1 > 0.0 && half_integer_distance(sums[0].0) <= sums[0].1);
            // A step of Newton's method, to where the number is `i + 1/2`.
            let at =
                |a: usize, h: f64| above([0, 1, 2].map(|b| p[b] + if a == b { h } else { 0.0 }));
            let gradient = [0, 1, 2].map(|a| 0.5 * (at(a, 1.0) - at(a, -1.0)));
            let by = (above(p) / dot(gradient, gradient)).clamp(-1e6, 1e6);
            p = [0, 1, 2].map(|a| (p[a] - by * gradient[a]).clamp(0.0, 1024.0));
        }
    }
    let counts = [approximated, nearer];
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

#[test]
fn centres_of_uncertain_cubes_are_in_the_grid() {
    let mut rng = Rng::with_seed(10);
    let (mut whole, mut clipped) = (0, 0);
    for _ in 0..200 {
        let dims = [(); 3].map(|()| rng.u32(33..45));
        let field = field_of(&mut rng, dims, 2, 6..7);
        let Ok(regions) = field.regions(u64::MAX, &NoProgress) else { panic!("there is room") };
        for region in regions {
            let Region::Uncertain { center, .. } = region else { continue };
            assert!((0..3).all(|a| center[a] < dims[a]), "{center:?} of {dims:?}");
            // An odd multiple of half the cube's edge, unless that is past the end.
            let is_last = |a: &usize| center[*a] + 1 == dims[*a];
            let halves = (0..3).filter(|a| !is_last(a)).map(|a| center[a].trailing_zeros());
            assert!(halves.clone().min() == halves.max(), "{center:?} of {dims:?}");
            *(if (0..3).any(|a| is_last(&a)) { &mut clipped } else { &mut whole }) += 1;
        }
    }
    assert!(whole > 5 && clipped > 5, "{whole}, {clipped}");
}
