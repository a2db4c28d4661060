//! Meshes that tests voxelize.

use fastrand::Rng;
use trivox::lattice::Triangle;
use trivox::{Bounds, Mesh, PlaceOptions, PlacedMesh, Sizing, place};

pub use super::solids::cuboid;
use super::vector::plus;
use super::voxels::within;

/// The unit cube.
pub fn unit_cube() -> Mesh {
    cuboid([0.0; 3], [1.0; 3])
}

/// A mesh of triangles that share no vertices.
pub fn mesh_of(triangles: &[[[f64; 3]; 3]]) -> Mesh {
    let numbers = (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
    Mesh::new(triangles.concat(), numbers.collect()).expect("a valid mesh")
}

/// A quad of two triangles.
pub fn quad(corners: [[f64; 3]; 4]) -> Mesh {
    Mesh::new(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh")
}

/// The square up to (`size`, `size`), this high.
pub fn square(size: f64, z: f64) -> Mesh {
    quad([[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]].map(|[x, y]| [x, y, z]))
}

/// Lattice units in a voxel of the meshes made by [`placed`].
pub const UNIT: i32 = 1 << 16;

/// The lattice triangles placed as they are: voxels of 2^16 units in a grid of `dims` voxels from
/// the lattice's origin.
pub fn placed(triangles: &[Triangle], dims: [u32; 3]) -> PlacedMesh {
    let mesh = mesh_of(&triangles.iter().map(|t| t.map(|p| p.map(f64::from))).collect::<Vec<_>>());
    let voxel = f64::from(UNIT);
    let placed = within(&mesh, voxel, [0.0; 3], dims.map(|d| f64::from(d) * voxel));
    assert!(placed.triangles().eq(triangles.iter().copied()), "the lattice is not the given one");
    placed
}

/// `count` triangles with corners on the multiples of `step` up to `reach`, of every size.
pub fn soup(rng: &mut Rng, count: usize, reach: i32, step: i32) -> Vec<Triangle> {
    let triangle = |rng: &mut Rng| -> Triangle {
        let steps = reach / step;
        let size = steps >> rng.u32(0..6);
        let base: [i32; 3] = std::array::from_fn(|_| rng.i32(0..=steps - size));
        std::array::from_fn(|_| std::array::from_fn(|a| (base[a] + rng.i32(0..=size)) * step))
    };
    (0..count).map(|_| triangle(rng)).collect()
}

/// Such a soup placed as it is, in a grid of `dim` voxels along each axis.
pub fn placed_soup(seed: u64, count: usize, dim: u32, step: i32) -> PlacedMesh {
    placed(&soup(&mut Rng::with_seed(seed), count, dim as i32 * UNIT, step), [dim; 3])
}

/// Triangles of all sizes within about four units, some in the voxels of others.
pub fn float_soup(rng: &mut Rng, count: usize) -> Mesh {
    let triangle = |_| {
        let center = [(); 3].map(|()| 4.0 * rng.f64());
        let size = [0.3, 1.5, 4.0][rng.usize(0..3)];
        [(); 3].map(|()| center.map(|c| c + size * (rng.f64() - 0.5)))
    };
    mesh_of(&(0..count).map(triangle).collect::<Vec<_>>())
}

/// The same with every triangle flattened to a segment or a point.
pub fn degenerate_soup(rng: &mut Rng, count: usize, reach: i32, step: i32) -> Vec<Triangle> {
    let mut triangles = soup(rng, count, reach, step);
    for triangle in &mut triangles {
        match rng.u32(0..3) {
            0 => triangle[2] = triangle[rng.usize(0..2)],
            1 => *triangle = [triangle[0]; 3],
            _ => {
                let [a, b, _] = *triangle;
                triangle[2] = std::array::from_fn(|i| a[i] + (b[i] - a[i]) / 2);
                triangle[1] = std::array::from_fn(|i| a[i] + 2 * (triangle[2][i] - a[i]));
            }
        }
    }
    triangles
}

/// The faces of the tetrahedron, normals outwards if `d` is on the left of `a`, `b`, `c`.
pub fn tetrahedron([a, b, c, d]: [[i32; 3]; 4]) -> [Triangle; 4] {
    [[a, c, b], [a, b, d], [b, c, d], [c, a, d]]
}

/// Triangles a million voxels wide that pass the middle of a window of this size, or near it, in
/// `resolution` voxels of the window.
pub fn window_on_wide_triangles(rng: &mut Rng, size: f64, resolution: u32) -> PlacedMesh {
    let triangles = [(); 3].map(|()| {
        let [a, b] = [(); 2].map(|()| [(); 3].map(|()| rng.f64()));
        let c = [0, 1, 2].map(|i| 1.5 - a[i] - b[i] + size * (rng.f64() - 0.5));
        [a, b, c]
    });
    let bounds = Bounds { min: [0.5 - size / 2.0; 3], max: [0.5 + size / 2.0; 3] };
    let options = PlaceOptions::new(Sizing::Resolution(resolution)).with_bounds(bounds);
    place(&mesh_of(&triangles), &options).expect("within the budget")
}

/// `count` triangles at most `size` units wide, in no order.
pub fn small_triangles(seed: u64, count: usize, dims: [u32; 3], size: i32) -> Vec<Triangle> {
    let mut rng = Rng::with_seed(seed);
    let corner = |rng: &mut Rng, base: [i32; 3]| base.map(|c| c + rng.i32(0..=size));
    let triangle = |_| {
        let base = dims.map(|d| rng.i32(0..=d as i32 * UNIT - size));
        [(); 3].map(|()| corner(&mut rng, base))
    };
    (0..count).map(triangle).collect()
}

/// The triangle, moved.
pub fn moved(triangle: Triangle, by: [i32; 3]) -> Triangle {
    triangle.map(|corner| plus(corner, by))
}

/// All of them.
pub fn all_moved(triangles: &[Triangle], by: [i32; 3]) -> Vec<Triangle> {
    triangles.iter().map(|&triangle| moved(triangle, by)).collect()
}

/// The triangle in four, by the middles of its sides, which must be lattice points; the last is in
/// the middle.
pub fn into_four(&[a, b, c]: &Triangle) -> [Triangle; 4] {
    let middle = |p: [i32; 3], q: [i32; 3]| {
        assert!(plus(p, q).iter().all(|sum| sum % 2 == 0), "the middle is no lattice point");
        plus(p, q).map(|sum| sum / 2)
    };
    let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
}

/// A thousand sheets in one voxel, then a thousand the other way in the next, and seven of those
/// in a third.
pub fn sheets() -> Vec<Triangle> {
    let up = [[0, 0, 0], [0, 8 * UNIT, 0], [0, 0, 8 * UNIT]];
    let down = [up[0], up[2], up[1]];
    let at = |triangle: Triangle, x: i32| moved(triangle, [x, 0, 0]);
    let first = (0..1001).map(|i| at(down, 2 * UNIT + i));
    let second = (0..1001).map(|i| at(up, 3 * UNIT + i));
    first.chain(second).chain((0..7).map(|_| at(up, 5 * UNIT))).collect()
}

/// A torus of `n x m` quads, with its vertices anywhere on the multiples of half a voxel: it is
/// closed and oriented, however it is folded, pierced and collapsed.
pub fn crumpled_torus(rng: &mut Rng, n: usize, m: usize, half: i32, reach: i32) -> Vec<Triangle> {
    let mut vertices: Vec<[i32; 3]> =
        (0..n * m).map(|_| std::array::from_fn(|_| half * rng.i32(0..=reach))).collect();
    for _ in 0..n {
        let (from, to) = (rng.usize(0..n * m), rng.usize(0..n * m));
        vertices[to] = vertices[from];
    }
    let at = |i: usize, j: usize| vertices[i % n * m + j % m];
    let quad = |i: usize, j: usize| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    (0..n).flat_map(|i| (0..m).flat_map(move |j| quad(i, j))).collect()
}
