//! The first voxel that a ray touches, against every voxel's box intersected with the ray in exact
//! rational numbers. `TRIVOX_RAYS=1000000` compares so many rays.
use crate::common::prelude::*;
use crate::common::rays::{Line, SIDE, adversarial, adversarial_line};
use rayon::prelude::*;
use trivox::lattice::MAX_DIM;
use trivox::view::trace::{Face, Hit, MAX_DISTANCE, Ray, Scene, UNIT};

/// A quotient with a divisor above 0.
#[derive(Debug, Clone, Copy)]
struct Fraction(i128, i128);

impl Fraction {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

/// When the ray is in the closed cube of `voxel`: from when, until when; `None` if it never is.
fn slab(line: &Line, voxel: [u32; 3]) -> Option<[Fraction; 2]> {
    let (mut first, mut last) = (Fraction(0, 1), Fraction(1 << 80, 1));
    for (a, &at) in voxel.iter().enumerate() {
        let lo = i128::from(i64::from(at) * SIDE - line.origin[a]);
        let hi = lo + i128::from(SIDE);
        let d = i128::from(line.direction[a]);
        let (near, far) = match d.signum() {
            0 if lo > 0 || hi < 0 => return None,
            0 => continue,
            1 => (Fraction(lo, d), Fraction(hi, d)),
            _ => (Fraction(-hi, -d), Fraction(-lo, -d)),
        };
        first = if first.cmp(&near).is_lt() { near } else { first };
        last = if last.cmp(&far).is_gt() { far } else { last };
    }
    first.cmp(&last).is_le().then_some([first, last])
}

/// A voxel, the face that the ray enters it by, unless it begins in it, and the distance.
type Expected = ([u32; 3], Option<Face>, f64);

/// The first in order of the voxels that are touched first.
fn brute_force(voxels: &[[u32; 3]], line: &Line) -> Option<Expected> {
    let times = voxels.iter().filter_map(|&voxel| Some((slab(line, voxel)?[0], voxel)));
    let (time, voxel) = times.min_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)))?;
    let enters_by = |a: usize| {
        let d = i128::from(line.direction[a]);
        let plane = i64::from(voxel[a]) * SIDE + if d < 0 { SIDE } else { 0 };
        let distance = i128::from(plane - line.origin[a]) * d.signum();
        d != 0 && Fraction(distance, d.abs()).cmp(&time).is_eq()
    };
    let axis = (time.0 > 0).then(|| (0..3).find(|&a| enters_by(a)).unwrap());
    let face = axis.map(|axis| Face { axis, is_upper: line.direction[axis] < 0 });
    let length = line.direction.map(|d| f64::from(d).powi(2)).iter().sum::<f64>().sqrt();
    Some((voxel, face, time.0 as f64 / time.1 as f64 * length * UNIT))
}

fn agrees(hit: Option<Hit>, expected: Option<Expected>) -> bool {
    match (hit, expected) {
        (None, None) => true,
        (Some(hit), Some((voxel, face, distance))) => {
            let is_near = (hit.distance - distance).abs() <= 1e-12 * distance;
            (hit.voxel, hit.face) == (voxel, face) && is_near
        }
        _ => false,
    }
}

/// How many rays to compare.
fn rays() -> usize {
    environment::number("TRIVOX_RAYS", 200_000)
}

/// What brute force finds of a ray, and how the search differs, if it does.
type Compared = (Option<Expected>, Option<String>);

/// Searches `grid`, and compares with what there is in `voxels`.
fn compare(grid: &VoxelGrid, voxels: &[[u32; 3]], rays: usize) -> Vec<Compared> {
    let scene = Scene::new(grid);
    let targets: Vec<[u32; 3]> = grid.voxels().collect();
    let one = |seed: usize| {
        let line = adversarial_line(&mut Rng::with_seed(seed as u64), grid.dims(), &targets);
        let (hit, expected) = (scene.first_hit(&line.ray()), brute_force(voxels, &line));
        let differs = !agrees(hit, expected);
        (expected, differs.then(|| format!("{line:?}: {hit:?}, not {expected:?}")))
    };
    (0..rays).into_par_iter().map(one).collect()
}

#[test]
fn the_first_hit_is_that_of_brute_force() {
    let grids = adversarial(&mut Rng::with_seed(1));
    let [mut compared, mut inside] = [0; 2];
    for (name, grid) in &grids {
        let voxels: Vec<[u32; 3]> = grid.voxels().collect();
        // Brute force takes a time for each voxel: large grids have few of the rays.
        let share = rays() / grids.len();
        let met = compare(grid, &voxels, (share * 2000 / voxels.len().max(1000)).max(200));
        let wrong = met.iter().find_map(|(_, wrong)| wrong.as_ref());
        assert_eq!(wrong, None, "{name}");
        let hits: Vec<Expected> = met.iter().filter_map(|(expected, _)| *expected).collect();
        assert!(hits.len() * 20 > met.len(), "{name}: {} hits of {}", hits.len(), met.len());
        compared += met.len();
        inside += hits.iter().filter(|(_, face, _)| face.is_none()).count();
    }
    println!("{compared} rays, {inside} begin inside");
    assert!(compared > rays() / 2 && inside * 20 > compared, "{compared}, {inside}");
}

#[test]
fn a_voxel_that_is_not_there_is_noticed() {
    for (name, grid) in adversarial(&mut Rng::with_seed(1)) {
        let mut voxels: Vec<[u32; 3]> = grid.voxels().collect();
        if voxels.len() > 1 && voxels.len() < 200 {
            let without = voxels.remove(0);
            let met = compare(&grid, &voxels, 20_000);
            assert!(met.iter().any(|(_, wrong)| wrong.is_some()), "{name}: none hit {without:?}");
        }
    }
}

/// The ray's first hit in a grid of these voxels.
fn hit(voxels: &[[u32; 3]], origin: [f64; 3], direction: [f64; 3]) -> Option<Hit> {
    let grid = VoxelGrid::from_voxels([16; 3], voxels.iter().copied()).unwrap();
    Scene::new(&grid).first_hit(&Ray::new(origin, direction).unwrap())
}

#[test]
fn ties_are_ruled() {
    // Along a face, between two voxels; along an edge, between four; through a corner, of eight.
    let along_face = hit(&[[5, 5, 5], [6, 5, 5]], [6.0, 5.5, 0.0], [0.0, 0.0, 1.0]).unwrap();
    assert_eq!((along_face.voxel, along_face.distance), ([5, 5, 5], 5.0));
    let along_upper = hit(&[[6, 5, 5]], [6.0, 5.5, 0.0], [0.0, 0.0, 1.0]).unwrap();
    assert_eq!(along_upper.voxel, [6, 5, 5]);
    let nearer = hit(&[[5, 5, 5], [6, 5, 4]], [6.0, 5.5, 0.0], [0.0, 0.0, 1.0]).unwrap();
    assert_eq!(nearer.voxel, [6, 5, 4]);
    let edge: Vec<[u32; 3]> = vec![[6, 6, 5], [6, 5, 5], [5, 6, 5]];
    assert_eq!(hit(&edge, [6.0, 6.0, 9.0], [0.0, 0.0, -1.0]).unwrap().voxel, [5, 6, 5]);
    let corner = hit(&[[8, 8, 8], [8, 7, 8]], [0.0; 3], [1.0; 3]).unwrap();
    assert_eq!((corner.voxel, corner.face.unwrap().axis), ([8, 7, 8], 0));
    // Two voxels that share an edge let nothing through, nor do two that share a corner.
    let between = |a, b, origin, direction| hit(&[a, b], origin, direction).is_some();
    assert!(between([7, 8, 8], [8, 7, 8], [0.0, 0.0, 8.5], [1.0, 1.0, 0.0]));
    assert!(between([8, 8, 7], [7, 7, 8], [6.0, 7.0, 7.0], [2.0, 1.0, 1.0]));
    // One unit beside them it goes past.
    assert!(hit(&[[8, 7, 8]], [-UNIT, 0.0, 8.5], [1.0, 1.0, 0.0]).is_none());
}

#[test]
fn a_ray_that_begins_in_a_closed_cube_enters_by_no_face_and_an_empty_grid_is_not_hit() {
    for origin in [[5.5, 5.5, 5.5], [5.0, 5.5, 5.5], [6.0, 6.0, 6.0], [5.5, 6.0, 5.0]] {
        let hit = hit(&[[5; 3]], origin, [1.0, 0.25, -0.5]).unwrap();
        assert_eq!((hit.face, hit.distance), (None, 0.0), "{origin:?}");
    }
    assert_eq!(hit(&[], [-1.0, 1.5, 1.5], [1.0, 0.0, 0.0]), None, "nothing to hit");
    let leaving = hit(&[[5; 3]], [6.0 + UNIT, 5.5, 5.5], [1.0, 0.0, 0.0]);
    assert_eq!(leaving, None);
    let returning = hit(&[[5; 3]], [6.0 + UNIT, 5.5, 5.5], [-1.0, 0.0, 0.0]).unwrap();
    assert_eq!(returning.face, Some(Face { axis: 0, is_upper: true }));
}

#[test]
fn a_scene_contains_what_its_grid_does() {
    let mut rng = Rng::with_seed(5);
    for (name, grid) in adversarial(&mut Rng::with_seed(2)) {
        let scene = Scene::new(&grid);
        let voxels: Vec<[u32; 3]> = grid.voxels().take(2000).collect();
        for _ in 0..5000 {
            let near = voxels[rng.usize(0..voxels.len())];
            let voxel: [i32; 3] = std::array::from_fn(|a| near[a] as i32 + rng.i32(-2..=2));
            let expected = voxel.iter().all(|&c| c >= 0) && grid.contains(voxel.map(|c| c as u32));
            assert_eq!(scene.contains(voxel), expected, "{name}: {voxel:?}");
        }
    }
}

#[test]
fn rays_that_are_none_are_refused() {
    let far = f64::from(MAX_DISTANCE);
    for origin in [[f64::NAN, 0.0, 0.0], [0.0, far * 1.01, 0.0], [0.0, 0.0, f64::NEG_INFINITY]] {
        let message = Ray::new(origin, [1.0, 0.0, 0.0]).unwrap_err().to_string();
        assert!(message.contains("begin at most 1048576 voxels"), "{message}");
    }
    for direction in [[0.0; 3], [f64::NAN, 1.0, 0.0], [f64::INFINITY, 1.0, 0.0]] {
        let message = Ray::new([0.0; 3], direction).unwrap_err().to_string();
        assert!(message.contains("finite numbers that are not all zero"), "{message}");
    }
    assert!(Ray::new([far, -far, 0.0], [1e-320, 0.0, 1e-322]).is_ok());
    for (origin, direction) in [
        ([0; 3], [0; 3]),
        ([0; 3], [(1 << 24) + 1, 0, 0]),
        ([0; 3], [i32::MIN, 0, 0]),
        ([(1 << 36) + 1, 0, 0], [1, 0, 0]),
        ([i64::MIN, 0, 0], [1, 0, 0]),
    ] {
        assert!(Ray::from_units(origin, direction).is_err(), "{origin:?}, {direction:?}");
    }
}

#[test]
fn runs_of_full_bricks_reach_the_end_of_the_largest_grid() {
    let most = MAX_DIM / BRICK;
    for axis in 0..3 {
        let at = |index: u32| std::array::from_fn(|a| if a == axis { index } else { 0 });
        let last = BrickKey::new(at(most - 1));
        let bricks = (0..most).map(|index| (BrickKey::new(at(index)), FULL)).collect();
        let dims = std::array::from_fn(|a| if a == axis { MAX_DIM } else { BRICK });
        let grid = VoxelGrid::from_bricks(dims, bricks).unwrap();
        let own = vec![(last, FULL, (0..512).map(|i: u32| [i as u8, 0, 0, 255]).collect())];
        let colors = Colors::from_bricks(own, [9, 9, 9, 255]);
        for grid in [grid.clone(), grid.with_colors(colors)] {
            let scene = Scene::new(&grid);
            assert_eq!(scene.bounds(), Some([[0; 3], dims.map(|d| d - 1)]));
            let mut origin = [4.5; 3];
            origin[axis] = f64::from(MAX_DIM) + 2.0;
            let mut direction = [0.0; 3];
            direction[axis] = -1.0;
            let hit = scene.first_hit(&Ray::new(origin, direction).unwrap()).unwrap();
            assert_eq!((hit.voxel[axis], hit.distance), (MAX_DIM - 1, 2.0));
        }
    }
}
