//! What is inside a closed mesh, centre by centre: an oracle that follows no columns.
//!
//! From any apex, the cones to all triangles that hold a point are those of the triangles that the
//! ray from the apex meets past the point. Their number is odd inside, and the sum of their
//! orientations is the winding number. A point on a triangle or on the side of a cone is moved by
//! infinitesimal steps, so it is always to one side.

use std::f64::consts::PI;

use trivox::lattice::Triangle;
use trivox::{PlacedMesh, VoxelGrid};

use super::vector::{cross, dot, length, minus};
use super::voxels::grid_where;

type Point = [i128; 3];

/// The signs of the steps along x, y and z that the tie rule for columns along x amounts to, each
/// infinitely smaller than the one before.
pub const TIE_RULE: [i128; 3] = [1, 1, -1];

/// Anywhere; hardly a triangle lies in a plane with it.
const APEX: Point = [-1_234_567, -2_345_679, -3_456_791];

/// How a surface surrounds a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surrounded {
    pub is_odd: bool,
    pub winding: i32,
}

/// The voxels of the mesh's grid for whose centres `is_inside` holds.
pub fn solid(
    mesh: &PlacedMesh,
    step: [i128; 3],
    is_inside: impl Fn(Surrounded) -> bool + Sync,
) -> VoxelGrid {
    let units_per_voxel = mesh.lattice().units_per_voxel();
    let triangles: Vec<Triangle> = mesh.triangles().collect();
    let center = |c: u32| c as i32 * units_per_voxel + units_per_voxel / 2;
    grid_where(mesh.lattice().dims, |voxel| {
        is_inside(surrounded(&triangles, voxel.map(center), step))
    })
}

/// How closed `triangles` surround `point`, moved by `step`.
pub fn surrounded(triangles: &[Triangle], point: [i32; 3], step: [i128; 3]) -> Surrounded {
    let point = point.map(i128::from);
    let of =
        triangles.iter().map(|triangle| cone(triangle.map(|p| p.map(i128::from)), point, step));
    let (number, winding) = of.fold((0, 0), |(number, sum), one| (number + one.abs(), sum + one));
    Surrounded { is_odd: number % 2 == 1, winding }
}

/// The generalized winding number at `p`, in lattice units, as the sum of the solid angles of all
/// triangles (A. van Oosterom and J. Strackee, 1983).
pub fn winding_number(mesh: &PlacedMesh, p: [f64; 3]) -> f64 {
    let angle = |triangle: Triangle| {
        let [a, b, c] = triangle.map(|corner| [0, 1, 2].map(|i| f64::from(corner[i]) - p[i]));
        let [la, lb, lc] = [a, b, c].map(length);
        let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        2.0 * dot(a, cross(b, c)).atan2(below)
    };
    mesh.triangles().map(angle).sum::<f64>() / (4.0 * PI)
}

/// The triangle's orientation as seen from the apex, if its cone holds the point, or else 0.
fn cone([a, b, c]: [Point; 3], point: Point, step: [i128; 3]) -> i32 {
    let orientation = side([a, b, c], APEX, [0; 3]);
    let faces = [([a, b, c], APEX), ([APEX, a, b], c), ([APEX, b, c], a), ([APEX, c, a], b)];
    let holds = faces
        .iter()
        .all(|&(face, opposite)| side(face, point, step) == side(face, opposite, [0; 3]));
    if orientation != 0 && holds { orientation } else { 0 }
}

/// On which side of the plane the point is.
fn side([a, b, c]: [Point; 3], point: Point, step: [i128; 3]) -> i32 {
    let n = cross(minus(b, a), minus(c, a));
    let far = dot(n, minus(point, a));
    let decides = [far, step[0] * n[0], step[1] * n[1], step[2] * n[2]];
    decides.into_iter().find(|&by| by != 0).map_or(0, |by| by.signum() as i32)
}
