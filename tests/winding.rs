//! Solids of meshes with holes, against the sum of the solid angles of all triangles; meshes that
//! lost a part, or have parts that face the wrong way, and what they enclose all the same.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::f64::consts::PI;

use common::shapes::{crumpled_torus, mesh_of, placed, tetrahedron};
use common::solids::{
    cube, inside_out, lidless_cube, moebius_strip, sphere, together, torus, with_flipped,
    with_triangles,
};
use fastrand::Rng;
use rayon::prelude::*;
use trivox::solid::{Doubt, Fill, Filling, Solid};
use trivox::{
    Cpu, Mesh, Mode, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid, place, voxelize,
};

fn solid(mesh: &PlacedMesh, fill: Fill) -> (VoxelGrid, Filling) {
    let mode = Mode::Solid(Solid { fill, shell: false });
    let voxels = voxelize(&Cpu::default(), mesh, mode, &Default::default(), &NoProgress).unwrap();
    (voxels.grid, voxels.filling.unwrap())
}

fn at_resolution(mesh: &Mesh, resolution: u32) -> PlacedMesh {
    place(mesh, &PlaceOptions::new(Sizing::Resolution(resolution)).with_pad(2)).unwrap()
}

/// The generalized winding number, as the sum of the solid angles of all triangles (A. van Oosterom
/// and J. Strackee, 1983).
fn winding_number(mesh: &PlacedMesh, voxel: [u32; 3]) -> f64 {
    let unit = f64::from(mesh.lattice().unit());
    let center = voxel.map(|c| (f64::from(c) + 0.5) * unit);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let angle = |triangle: [[i32; 3]; 3]| {
        let [a, b, c] = triangle.map(|p| [0, 1, 2].map(|i| f64::from(p[i]) - center[i]));
        let [la, lb, lc] = [a, b, c].map(|p| dot(p, p).sqrt());
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        2.0 * dot(a, cross).atan2(below)
    };
    mesh.triangles().map(angle).sum::<f64>() / (4.0 * PI)
}

/// Expects every voxel as its winding number says, unless that is within an error of 1/2; returns
/// how many voxels there are, and how many were left out.
fn assert_as_sum(mesh: &PlacedMesh, grid: &VoxelGrid, what: &str) -> [u64; 2] {
    let [nx, ny, nz] = mesh.lattice().dims;
    let columns: Vec<[u32; 2]> = (0..nz).flat_map(|z| (0..ny).map(move |y| [y, z])).collect();
    let count = |&[y, z]: &[u32; 2]| {
        let mut near = 0;
        for voxel in (0..nx).map(|x| [x, y, z]) {
            let number = winding_number(mesh, voxel);
            if (number - 0.5).abs() < 1e-7 {
                near += 1;
            } else {
                assert_eq!(grid.contains(voxel), number > 0.5, "{what}: {voxel:?}: {number}");
            }
        }
        near
    };
    [grid.occupied(), columns.par_iter().map(count).sum()]
}

/// `mesh` without the triangles that `is_lost` names by number.
fn without(mesh: &Mesh, is_lost: impl Fn(usize) -> bool) -> Mesh {
    let kept = mesh.triangles().iter().enumerate().filter(|(index, _)| !is_lost(*index));
    with_triangles(mesh, kept.map(|(_, &triangle)| triangle).collect())
}

/// Meshes with holes, whose front sides are outside.
fn broken_meshes() -> Vec<(String, Mesh)> {
    let ball = sphere([0.3, 0.1, -0.2], 5.0, 24);
    let count = ball.triangles().len();
    let mut rng = Rng::with_seed(4);
    let lost: Vec<bool> = (0..count).map(|_| rng.f32() < 0.1).collect();
    let bodies = [sphere([0.0; 3], 4.0, 16), sphere([3.0, 1.0, 0.5], 3.0, 16)];
    let overlapping = together(&bodies.map(|ball| without(&ball, |index| index % 17 == 3)));
    let meshes = [
        ("a bowl", without(&ball, |index| index < count / 3)),
        ("a ball with small holes", without(&ball, |index| lost[index])),
        ("a ball with a slit", without(&ball, |index| index % 24 == 0)),
        ("a lidless cube", lidless_cube([-1.0; 3], 2.1)),
        ("balls that overlap", overlapping),
        ("a torus that is cut", without(&torus(4.0, 1.5, 24, 12), |index| index < 40)),
        ("a side twice", {
            let one = cube([0.0; 3], 3.0);
            let again = [one.triangles(), &one.triangles()[..2]].concat();
            with_triangles(&one, again)
        }),
        ("a wall within", {
            let wall = mesh_of(&[
                [[1.4, 0.0, 0.0], [1.4, 3.0, 0.0], [1.4, 3.0, 3.0]],
                [[1.4, 0.0, 0.0], [1.4, 3.0, 3.0], [1.4, 0.0, 3.0]],
            ]);
            together(&[cube([0.0; 3], 3.0), wall])
        }),
    ];
    meshes.map(|(name, mesh)| (name.to_owned(), mesh)).into()
}

#[test]
fn a_solid_is_where_the_solid_angles_of_all_triangles_add_up_to_half_of_all_directions() {
    for (name, mesh) in broken_meshes() {
        for resolution in [5, 13, 40] {
            let mesh = at_resolution(&mesh, resolution);
            let (grid, filling) = solid(&mesh, Fill::Auto);
            assert_eq!(filling.fill, Fill::Winding, "{name}");
            assert_eq!(filling.turned.unwrap().triangles, 0, "{name}");
            let what = format!("{name} at {resolution}");
            let [inside, near] = assert_as_sum(&mesh, &grid, &what);
            assert!(inside > 0 && near < 40 * 40 * 2, "{what}: {inside}, {near}");
        }
    }
}
