//! Distances of points: against fractions of big integers over all triangles, and against solids.

use crate::common::prelude::*;
use trivox::{Fill, Nearest, Proximity, ProximityError, code_of};

use crate::common::distances::{Fraction, is_close, squared};
use crate::common::inside::{TIE_RULE, surrounded, winding_number};

/// The relative error bound of distances of points near the mesh.
const NEAR_ERROR: f64 = 1.0 / (1_u64 << 48) as f64;
/// That of others.
const FAR_ERROR: f64 = 1.0 / (1 << 22) as f64;

/// Mesh and points in lattice units.
fn on_lattice(triangles: &[Triangle]) -> PlacedMesh {
    placed(triangles, [256; 3])
}

fn proximity(mesh: &PlacedMesh, fill: Fill) -> Proximity {
    Proximity::of_placed(mesh.clone(), fill, u64::MAX, &NoProgress).unwrap()
}

fn nearest(proximity: &Proximity, points: &[[f64; 3]]) -> Vec<Nearest> {
    proximity.nearest(points, &NoProgress).unwrap()
}

fn contains(proximity: &Proximity, points: &[[f64; 3]]) -> Vec<bool> {
    proximity.contains(points, &NoProgress).unwrap()
}

/// The first triangle of those nearest to `p`, and its squared distance.
fn first_nearest(triangles: &[Triangle], p: [f64; 3]) -> (u32, Fraction) {
    let p = p.map(|c| c as i128);
    let all = triangles.iter().map(|triangle| squared(p, triangle));
    let before = |a: &(usize, Fraction), b: &(usize, Fraction)| a.1.cmp(&b.1);
    let (index, squared) = all.enumerate().min_by(before).unwrap();
    (index as u32, squared)
}

/// What is wrong with an answer, if anything.
fn fault(
    (index, squared): &(u32, Fraction),
    triangles: &[Triangle],
    p: [f64; 3],
    found: &Nearest,
) -> Option<&'static str> {
    let corners = triangles[found.triangle as usize];
    let point =
        [0, 1, 2].map(|a| (0..3).map(|i| found.weights[i] * f64::from(corners[i][a])).sum::<f64>());
    let sum = found.weights.iter().sum::<f64>();
    let faults = [
        ("the triangle", found.triangle != *index),
        ("the distance", !is_close(found.distance, squared, NEAR_ERROR)),
        ("a weight", found.weights.iter().any(|&weight| !(0.0..=1.0).contains(&weight))),
        ("the sum of the weights", (sum - 1.0).abs() > 1e-15),
        ("the point", length(minus(point, found.point)) > 1e-7),
        (
            "the distance of the point",
            (length(minus(found.point, p)) - found.distance).abs() > 1e-7,
        ),
    ];
    faults.into_iter().find(|fault| fault.1).map(|fault| fault.0)
}

/// Points on corners, edges and triangles, and at the same distance from several of them; and
/// anywhere up to the longest side outside of the mesh.
fn points(rng: &mut Rng, triangles: &[Triangle], step: i32, count: usize) -> Vec<[f64; 3]> {
    let corners = triangles.as_flattened();
    let [lo, hi] = [i32::min, i32::max]
        .map(|of| [0, 1, 2].map(|a| corners.iter().map(|corner| corner[a]).reduce(of).unwrap()));
    let longest = (0..3).map(|a| hi[a] - lo[a]).max().unwrap();
    let mut point = |kind: usize| -> [i32; 3] {
        let [a, b, c] = triangles[rng.usize(0..triangles.len())];
        match kind {
            0 => a,
            1 => [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) / 2),
            2 => [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) / 4 + (c[i] - a[i]) / 4),
            3 => [0, 1, 2].map(|i| lo[i] + step * rng.i32(0..=(hi[i] - lo[i]) / step)),
            4 => [0, 1, 2].map(|i| rng.i32(lo[i]..=hi[i])),
            _ => [0, 1, 2].map(|i| rng.i32(lo[i] - longest..=hi[i] + longest)),
        }
    };
    (0..count).map(|i| point(i % 6).map(f64::from)).collect()
}

#[test]
fn the_nearest_triangle_is_the_first_of_those_that_integers_find_nearest() {
    let mut rng = Rng::with_seed(71);
    let (mut rounds, mut faults) = (Vec::new(), 0);
    for round in 0..60 {
        let (reach, step) = [(1 << 24, 1), (1 << 24, 1 << 20), (1 << 10, 1 << 7)][round % 3];
        let count = [1, 7, 8, 9, 65, 130][rng.usize(0..6)];
        let triangles = match round % 4 {
            0 => degenerate_soup(&mut rng, count, reach, step),
            1 => crumpled_torus(&mut rng, 4, 3 + count / 8, step, (reach / step).min(9)),
            _ => soup(&mut rng, count, reach, step),
        };
        rounds.push((triangles, step));
    }
    for (count, reach) in [(600, 1 << 24), (3000, 1 << 24), (3000, 1 << 6)] {
        rounds.push((soup(&mut rng, count, reach, 1), 1));
    }
    for (round, (triangles, step)) in rounds.into_iter().enumerate() {
        let proximity = proximity(&on_lattice(&triangles), Fill::Parity);
        let points = points(&mut rng, &triangles, step, 90);
        for (p, found) in points.iter().zip(nearest(&proximity, &points)) {
            let expected = first_nearest(&triangles, *p);
            let fault = |found: &Nearest| fault(&expected, &triangles, *p, found);
            assert_eq!(fault(&found), None, "{round}: {p:?}: {found:?}");
            // The oracle finds mistakes.
            let mut wrong = [found; 3];
            wrong[0].triangle = (found.triangle + 1) % triangles.len() as u32;
            wrong[1].distance += found.distance * 4.0 * NEAR_ERROR + 1e-9;
            wrong[2].weights = [0.25, 0.25, 0.5];
            for (i, wrong) in wrong.iter().enumerate().filter(|(_, wrong)| **wrong != found) {
                let is_found = fault(wrong).is_some();
                assert!(is_found || i == 2, "{round}: {p:?}: {wrong:?}");
                faults += usize::from(is_found);
            }
        }
    }
    assert!(faults > 10_000, "{faults}");
}

#[test]
fn far_points_have_the_distance_but_for_a_stated_error() {
    let mut rng = Rng::with_seed(73);
    let mut worst = 0.0_f64;
    for _ in 0..40 {
        let triangles = soup(&mut rng, 20, 1 << 24, 1);
        let proximity = proximity(&on_lattice(&triangles), Fill::Auto);
        // Around the limit, and where the mesh is a point.
        for bits in [24, 25, 26, 27, 30, 40, 49, 50, 56] {
            let far = (1_i64 << bits) as f64;
            let point = [(); 3].map(|()| (far * (2.0 * rng.f64() - 1.0)).round());
            let found = nearest(&proximity, &[point])[0];
            let (_, squared) = first_nearest(&triangles, point);
            let error = if bits > 24 { FAR_ERROR } else { NEAR_ERROR };
            assert!(is_close(found.distance, &squared, error), "{bits}: {found:?}");
            let errors = (1..60).map(|bits| 0.5_f64.powi(bits));
            let least = errors.take_while(|&e| is_close(found.distance, &squared, e)).last();
            worst = worst.max(least.unwrap_or(1.0));
        }
    }
    // Without the coarser lattice there would be none.
    assert!(worst > NEAR_ERROR, "{worst}");
    let triangles = tetrahedron([[0; 3], [UNIT, 0, 0], [0, UNIT, 0], [0, 0, UNIT]]);
    let proximity = proximity(&on_lattice(&triangles), Fill::Auto);
    for far in [1e20, 1e100, 1e300] {
        let distances = proximity.distances(&[[-far, 0.0, 0.0]], &NoProgress).unwrap();
        assert!((distances[0] / far - 1.0).abs() < FAR_ERROR, "{distances:?}");
    }
}

/// Meshes with and without an inside, and what is doubted of their signs.
fn meshes(rng: &mut Rng) -> Vec<(&'static str, Mesh, Option<&'static str>)> {
    let ball = sphere(5.0, 12, 16);
    let inner = sphere(2.5, 8, 12);
    let holed = without(&ball, |index| index % 9 == 0);
    let crumpled = crumpled_torus(rng, 6, 5, UNIT / 2, 20).into_iter();
    let crumpled: Vec<_> = crumpled.map(|t| t.map(|p| p.map(f64::from))).collect();
    let both = |one: &Mesh, other: Mesh| together(&[one.clone(), other]);
    let one = cube([0.0; 3], 3.0);
    let plane = mesh_of(&[[[0.0; 3], [4.0, 0.0, 1.0], [0.0, 4.0, 2.0]]]);
    vec![
        ("a ball", ball.clone(), None),
        ("a ball inside out", inside_out(&ball), None),
        ("a cube on the lattice", cube([0.0; 3], 16.0), None),
        ("a shell within a shell", both(&ball, inside_out(&inner)), None),
        ("a shell within one that faces the same way", both(&ball, inner), None),
        ("boxes that overlap", both(&one, cube([1.5; 3], 3.0)), None),
        ("boxes that share a face", both(&one, cube([3.0, 0.0, 0.0], 3.0)), None),
        ("a torus", torus(4.0, 1.5, 16, 8), None),
        ("a crumpled torus", mesh_of(&crumpled), None),
        ("a Klein bottle", klein_bottle(16, 8), Some("inconsistently oriented")),
        ("a Moebius strip", moebius_strip(24, 2), Some("is not closed, as it has 48 open edges")),
        ("a triangle the wrong way", with_flipped(&ball, 40), None),
        ("a ball with holes", holed, Some("open")),
        ("a cube without its lid", lidless_cube([-1.0; 3], 2.1), Some("open")),
        ("a ball of triangles apart", apart(&ball, 0.9), Some("open")),
        ("a plane", plane, Some("is not closed, as it has 3 open edges")),
    ]
}

#[test]
fn the_centres_of_a_solids_voxels_are_inside_and_no_others() {
    let mut rng = Rng::with_seed(74);
    for (name, mesh, _) in meshes(&mut rng) {
        // With corners at voxel centres, and not.
        for n in [8, 13] {
            let mesh = padded(&mesh, resolution(n), 1);
            let lattice = mesh.lattice();
            let voxels: Vec<[u32; 3]> = voxels_in([0; 3], lattice.dims).collect();
            let center = |voxel: &[u32; 3]| {
                plus(lattice.origin, voxel.map(|c| (f64::from(c) + 0.5) * lattice.voxel_size))
            };
            let centers: Vec<_> = voxels.iter().map(center).collect();
            for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
                let (grid, _) = solid(&mesh, fill);
                let proximity = proximity(&mesh, fill);
                assert!(fill == Fill::Auto || proximity.fill() == fill, "{name}, {fill:?}");
                let found = contains(&proximity, &centers);
                let distances = proximity.distances(&centers, &NoProgress).unwrap();
                for (i, voxel) in voxels.iter().enumerate() {
                    assert_eq!(found[i], grid.contains(*voxel), "{name}, {fill:?}: {voxel:?}");
                    let is_negative = found[i] && distances[i] != 0.0;
                    assert_eq!(distances[i].is_sign_negative(), is_negative, "{name}");
                }
                let is_mixed = found.contains(&true) && found.contains(&false);
                assert_eq!(is_mixed, grid.occupied() > 0, "{name}, {fill:?}");
            }
        }
    }
}

#[test]
fn signs_are_doubtful_if_the_mesh_is_open_or_cannot_be_oriented() {
    let mut rng = Rng::with_seed(74);
    for (name, mesh, expected) in meshes(&mut rng) {
        let is_closed = expected.is_none_or(|words| !words.contains("open"));
        for fill in [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote] {
            let proximity = Proximity::new(&mesh, fill, u64::MAX, &NoProgress).unwrap();
            assert_eq!(proximity.topology().is_closed(), is_closed, "{name}, {fill:?}");
            let (doubt, what) = (proximity.doubt(), format!("{name}, {fill:?}"));
            assert_eq!(doubt.is_some(), expected.is_some(), "{what}: {doubt:?}");
            if let (Some(doubt), Some(words)) = (doubt, expected) {
                assert!(doubt.contains(words), "{what}: {doubt}");
            }
        }
    }
}

#[test]
fn points_are_inside_as_cones_to_all_triangles_find_them() {
    let mut rng = Rng::with_seed(75);
    let mut counts = [0; 2];
    for round in 0..40 {
        let step = [1, 1 << 19][round % 2];
        let mut corner = || [(); 3].map(|()| step * rng.i32(0..=(1 << 24) / step));
        let shells = [(); 3].map(|()| tetrahedron([(); 4].map(|()| corner())));
        let triangles = match round % 4 {
            3 => crumpled_torus(&mut rng, 6, 5, step, 9),
            _ => shells.concat(),
        };
        let mesh = on_lattice(&triangles);
        let proximity = proximity(&mesh, Fill::Parity);
        let points = points(&mut rng, &triangles, step, 300);
        let found = contains(&proximity, &points);
        for (p, found) in points.iter().zip(found) {
            let expected = surrounded(&triangles, p.map(|c| c as i32), TIE_RULE).is_odd;
            assert_eq!(found, expected, "{round}: {p:?}");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}

#[test]
fn points_near_holes_are_inside_as_all_solid_angles_find_them() {
    let mut rng = Rng::with_seed(76);
    let mut counts = [0; 2];
    let with_holes = ["a ball with holes", "a cube without its lid", "a plane"];
    for (name, mesh, _) in meshes(&mut rng).into_iter().filter(|mesh| with_holes.contains(&mesh.0))
    {
        let mesh = at_resolution(&mesh, 256);
        let lattice = *mesh.lattice();
        let proximity = proximity(&mesh, Fill::Auto);
        let units = [(); 300].map(|()| {
            let factor = [1.0, 3.0, 1e4][rng.usize(0..3)];
            let middle = f64::from(1 << 23);
            [(); 3].map(|()| (middle * (1.0 + factor * (2.0 * rng.f64() - 1.0))).round())
        });
        let points = units.map(|units| plus(lattice.origin, units.map(|c| c / lattice.scale)));
        for (p, found) in units.into_iter().zip(contains(&proximity, &points)) {
            let number = winding_number(&mesh, p);
            if (number - 0.5).abs() > 1e-6 {
                assert_eq!(found, number > 0.5, "{name}: {p:?}: {number}");
                counts[usize::from(found)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn each_point_of_a_shared_face_is_inside_one_of_the_two() {
    let proximities = [0, 8].map(|x| {
        let corners = [[x, 0, 0], [4, 0, 0], [4, 4, 0], [4, 0, 4]];
        let triangles = tetrahedron(corners.map(|corner| corner.map(|c| c * UNIT)));
        proximity(&on_lattice(&triangles), Fill::Auto)
    });
    for (y, z) in (1..4).flat_map(|y| (1..4 - y).map(move |z| (y, z))) {
        let point = [4, y, z].map(|c| f64::from(c * UNIT));
        let found = proximities.each_ref().map(|proximity| contains(proximity, &[point])[0]);
        assert!(found[0] != found[1], "{point:?}: {found:?}");
        for proximity in &proximities {
            let distances = proximity.distances(&[point], &NoProgress).unwrap();
            assert_eq!(distances[0].to_bits(), 0, "{point:?}");
        }
    }
}

#[test]
fn answers_do_not_depend_on_threads_axes_or_the_order_of_points() {
    let mut rng = Rng::with_seed(77);
    for round in 0..6 {
        let step = [1, 1 << 20][round % 2];
        let triangles = match round % 3 {
            0 => crumpled_torus(&mut rng, 12, 9, step, 9),
            _ => soup(&mut rng, 200, 1 << 24, step),
        };
        let points = points(&mut rng, &triangles, step, 1500);
        let is_closed = round % 3 == 0;
        let fill = if is_closed { Fill::Parity } else { Fill::Auto };
        let answers = |threads: usize, triangles: &[Triangle], points: &[[f64; 3]]| {
            on_threads(threads, || {
                let proximity = proximity(&on_lattice(triangles), fill);
                let distances = proximity.distances(points, &NoProgress).unwrap();
                nearest(&proximity, points).into_iter().zip(distances).collect::<Vec<_>>()
            })
        };
        let expected = answers(1, &triangles, &points);
        assert_eq!(answers(3, &triangles, &points), expected);
        let reversed: Vec<_> = points.iter().rev().copied().collect();
        let mut found = answers(2, &triangles, &reversed);
        found.reverse();
        assert_eq!(found, expected);

        let turned = |[x, y, z]: [i32; 3]| [y, z, x];
        let triangles: Vec<Triangle> = triangles.iter().map(|t| t.map(turned)).collect();
        let points: Vec<_> = points.iter().map(|&[x, y, z]| [y, z, x]).collect();
        for (found, expected) in answers(2, &triangles, &points).iter().zip(&expected) {
            let ((found, distance), (expected, expected_distance)) = (found, expected);
            assert_eq!((found.triangle, found.weights), (expected.triangle, expected.weights));
            // Sums of three squares are rounded in another order.
            let difference = (found.distance - expected.distance).abs();
            assert!(difference <= 2.0 * NEAR_ERROR * found.distance);
            let signs = [distance, expected_distance].map(|distance| distance.is_sign_negative());
            assert!(signs[0] == signs[1] || !is_closed, "{distance}, {expected_distance}");
        }
    }
}

#[test]
fn the_lattice_of_a_mesh_is_as_fine_as_32_bit_floats() {
    let mut rng = Rng::with_seed(78);
    let ball = sphere(5.0, 24, 32);
    let center = [1e5, -3e4, 700.0];
    let ball = shifted(ball, center);
    let proximity = Proximity::new(&ball, Fill::Auto, u64::MAX, &NoProgress).unwrap();
    let unit = 10.0 / f64::from(1 << 24);
    assert!((proximity.lattice().scale * unit - 1.0).abs() < 1e-9);
    let points: Vec<_> =
        (0..1000).map(|_| center.map(|c| (c + 20.0 * rng.f64() - 10.0) as f32)).collect();
    let distances = proximity.distances(&points, &NoProgress).unwrap();
    let doubles: Vec<_> = points.iter().map(|p| p.map(f64::from)).collect();
    assert_eq!(proximity.distances(&doubles, &NoProgress).unwrap(), distances);
    for (p, distance) in doubles.iter().zip(distances) {
        let radius = length(minus(*p, center));
        // The faces are inside the sphere by less than 0.1.
        assert!((-1e-5..0.1).contains(&(distance - (radius - 5.0))), "{p:?}: {distance}");
    }
}

#[test]
fn refusals_name_the_point_or_the_reason() {
    let mesh = cube([0.0; 3], 1.0);
    let proximity = Proximity::new(&mesh, Fill::Auto, u64::MAX, &NoProgress).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let mut points = vec![[0.5; 3]; 1000];
        points[700][1] = bad;
        points[900][0] = f64::NAN;
        let error = proximity.nearest(&points, &NoProgress).unwrap_err();
        assert!(matches!(error, ProximityError::Point { index: 700, .. }), "{error}");
        assert!(error.to_string().starts_with("point 700 is at (0.5, "), "{error}");
        assert_eq!(code_of(&error), Some("option.points"));
        let contains = proximity.contains(&points, &NoProgress).unwrap_err();
        assert_eq!(contains.to_string(), error.to_string());
    }
    assert!(proximity.distances::<f64>(&[], &NoProgress).unwrap().is_empty());

    let make = |fill, memory| Proximity::new(&mesh, fill, memory, &NoProgress).map(|_| ());
    assert_eq!(make(Fill::Flood, u64::MAX), Err(ProximityError::Flood));
    for fill in [Fill::Parity, Fill::Winding] {
        let Err(ProximityError::Memory { needed, .. }) = make(fill, 0) else {
            panic!("there is no room");
        };
        assert!(make(fill, needed - 1).is_err());
        let mut allowed = needed;
        while let Err(ProximityError::Memory { needed, allowed: of }) = make(fill, allowed) {
            assert!(needed > of && of == allowed);
            allowed = needed;
        }
        assert_eq!(make(fill, allowed), Ok(()));
    }
    let point = mesh_of(&[[[1.0; 3]; 3]]);
    let error = Proximity::new(&point, Fill::Auto, u64::MAX, &NoProgress).err().unwrap();
    assert_eq!(code_of(&error), Some("place.no_extent"));

    let cancelled = Counts::cancelled_at(300);
    let error = proximity.contains(&[[0.5; 3]; 10_000], &cancelled).unwrap_err();
    assert_eq!(error, BackendError::Cancelled.into());
    let counts = Counts::default();
    proximity.contains(&[[0.5; 3]; 10_000], &counts).unwrap();
    assert_eq!(counts.done.into_inner(), counts.total.into_inner());
}

#[test]
fn distances_near_the_largest_number_are_finite_or_refused() {
    let distance = |edge: f64, point: f64| {
        let proximity = Proximity::new(&cube([0.0; 3], edge), Fill::Auto, u64::MAX, &NoProgress);
        Ok(proximity.unwrap().distances::<f64>(&[[point; 3]], &NoProgress)?[0])
    };
    let far = distance(1.0, 1e301).unwrap();
    assert!((far / (3.0_f64.sqrt() * 1e301) - 1.0).abs() < FAR_ERROR, "{far}");
    let refused: Result<f64, ProximityError> = distance(1e9, f64::MAX);
    assert!(matches!(refused, Err(ProximityError::Point { index: 0, .. })), "{refused:?}");
}

#[test]
fn nearest_points_are_right_on_a_lattice_far_from_its_anchor() {
    let mesh = cube([0.0; 3], 40.0);
    let mut lattice = *place(&mesh, &voxel_size(1.0)).unwrap().lattice();
    for axis in 0..3 {
        lattice.anchor[axis] -= 65_536.0;
        lattice.anchor_voxel[axis] -= 65_536;
    }
    let placed = place_on(&mesh, &lattice).unwrap();
    let found = nearest(&proximity(&placed, Fill::Auto), &[[50.0, 1.0, 2.0]])[0];
    assert_eq!((found.point, found.distance), ([40.0, 1.0, 2.0], 10.0));
}
