//! Every rule's voxels, column by column and triangle by triangle, by the oracle for `crosses`.

use std::collections::BTreeMap;

use trivox::backend::Rule;
use trivox::predicate::Axis;
use trivox::{PlacedMesh, VoxelGrid};

use super::columns::{Column, Found, oracle};
use super::oracle::voxelize_by_octree;

/// All rules.
pub const RULES: [Rule; 6] = [
    Rule::Conservative,
    Rule::SixSeparating,
    Rule::Parity(Axis::X),
    Rule::Parity(Axis::Y),
    Rule::Parity(Axis::Z),
    Rule::Winding,
];

/// The voxels of `mesh` that `rule` names.
pub fn voxelize(mesh: &PlacedMesh, rule: Rule) -> VoxelGrid {
    let voxels: Vec<[u32; 3]> = match rule {
        Rule::Crossings => Vec::new(),
        Rule::Conservative => return voxelize_by_octree(mesh),
        Rule::SixSeparating => {
            let crossed = |axis: &Axis| crossings(mesh, *axis);
            rule.axes()
                .iter()
                .flat_map(crossed)
                .map(|(axis, column, found)| axis.unproject(column, found.voxel))
                .filter_map(|voxel| inside(mesh, voxel))
                .collect()
        }
        Rule::Parity(axis) => flips(mesh, axis, |crossings| crossings.len() % 2 == 1),
        Rule::Winding => {
            let winding = |crossings: &[i32]| crossings.iter().sum::<i32>();
            flips(mesh, Axis::X, |crossings| winding(crossings) != 0)
        }
    };
    VoxelGrid::from_voxels(rule.grid_dims(mesh.lattice().dims), voxels).expect("inside the grid")
}

/// The voxels along `axis` at which `is_inside`, of the windings of all crossings so far, changes.
fn flips(mesh: &PlacedMesh, axis: Axis, is_inside: impl Fn(&[i32]) -> bool) -> Vec<[u32; 3]> {
    let (_, count) = axis.project(mesh.lattice().dims.map(|d| d as i32));
    let mut columns: BTreeMap<[i32; 2], BTreeMap<i32, Vec<i32>>> = BTreeMap::new();
    for (_, column, found) in crossings(mesh, axis) {
        let at = columns
            .entry(column)
            .or_default()
            .entry(found.first_center.clamp(0, count))
            .or_default();
        at.push(found.winding);
    }
    let mut voxels = Vec::new();
    for (column, crossings) in columns {
        let mut so_far = Vec::new();
        for (along, windings) in crossings {
            let before = is_inside(&so_far);
            so_far.extend(windings);
            if is_inside(&so_far) != before {
                voxels.push(axis.unproject(column, along).map(|c| c as u32));
            }
        }
    }
    voxels
}

/// All columns of the grid along `axis` against all triangles near them.
fn crossings(mesh: &PlacedMesh, axis: Axis) -> Vec<(Axis, [i32; 2], Found)> {
    let lattice = mesh.lattice();
    let (units_per_voxel, fraction_bits) = (lattice.units_per_voxel(), lattice.fraction_bits);
    let (dims, count) = axis.project(lattice.dims.map(|d| d as i32));
    let mut found = Vec::new();
    for triangle in mesh.triangles() {
        let corners = triangle.map(|corner| axis.project(corner).0);
        let near = |i: usize| {
            let of = corners.map(|corner| corner[i]);
            let [lo, hi] = [of.into_iter().min(), of.into_iter().max()].map(Option::unwrap);
            (lo.div_euclid(units_per_voxel)).max(0)
                ..=(hi.div_euclid(units_per_voxel)).min(dims[i] - 1)
        };
        for first in near(0) {
            for second in near(1) {
                let center = [first, second].map(|i| i * units_per_voxel + units_per_voxel / 2);
                let column = Column { triangle, axis, center, fraction_bits, count };
                found.extend(oracle(&column).map(|found| (axis, [first, second], found)));
            }
        }
    }
    found
}

fn inside(mesh: &PlacedMesh, voxel: [i32; 3]) -> Option<[u32; 3]> {
    let dims = mesh.lattice().dims;
    (0..3).all(|a| (0..dims[a] as i32).contains(&voxel[a])).then(|| voxel.map(|c| c as u32))
}
