//! `--compare-backends`: the result again, by the other backend.

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;
use trivox::engine::{Measured, Placed};
use trivox::{Comparison, DistanceField, PlacedMesh, VoxelGrid, Voxelized, Voxelizer, compare};

use crate::text::{counted, listed};

#[derive(Debug, Serialize)]
pub struct Check {
    /// Both backends, with their adapters.
    pub backends: [String; 2],
    /// The number of differing voxels, or of voxels with different distances.
    pub differing: u64,
    /// The first of them, each with the index in `backends` of the one that has it; without it if
    /// their distances differ.
    pub voxels: Vec<([u32; 3], Option<usize>)>,
}

/// Maximum number of differing voxels listed.
const NAMED: usize = 8;

impl Check {
    /// Voxelizes again on the other backend, and compares.
    pub fn of_voxels(voxelizer: &Voxelizer, placed: &Placed, voxels: &Voxelized) -> Result<Self> {
        let again = voxelizer.on_other_backend(&voxels.backend).voxelize(placed);
        let again = again.context("--compare-backends")?;
        let backends = [&voxels.backend, &again.backend].map(ToString::to_string);
        Ok(Self::of_grids(&voxels.grid, &again.grid, backends))
    }

    /// Measures again on the other backend, and compares.
    pub fn of_measured(
        voxelizer: &Voxelizer,
        mesh: &PlacedMesh,
        Measured { field, backend, .. }: &Measured,
    ) -> Result<Self> {
        let voxelizer = voxelizer.on_other_backend(backend);
        let again = voxelizer.measure(mesh, field.inside().clone(), field.width(), backend);
        let again = again.context("--compare-backends")?;
        let backends = [backend, &again.backend].map(ToString::to_string);
        Ok(Self::of_distances(field, &again.field, backends))
    }

    fn of_grids(one: &VoxelGrid, two: &VoxelGrid, backends: [String; 2]) -> Self {
        let Comparison { only, first, .. } = compare(one, two, NAMED);
        let voxels = first.into_iter().map(|(voxel, by)| (voxel, Some(by))).collect();
        Self { backends, differing: only[0] + only[1], voxels }
    }

    /// Compares the distances of two backends, whose voxels inside are the same.
    fn of_distances(one: &DistanceField, two: &DistanceField, backends: [String; 2]) -> Self {
        let mut differing = one.differing_voxels(two);
        let voxels: Vec<_> = differing.by_ref().take(NAMED).map(|voxel| (voxel, None)).collect();
        let differing = (voxels.len() + differing.count()) as u64;
        Self { backends, differing, voxels }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two] = &self.backends;
        if self.differing == 0 {
            return write!(f, "{two}: the same, bit for bit");
        }
        let are_voxels = self.voxels.iter().any(|(_, by)| by.is_some());
        let differing = counted(self.differing, if are_voxels { "voxel" } else { "distance" });
        let name = |([x, y, z], by): &([u32; 3], Option<usize>)| match by {
            Some(by) => format!("({x}, {y}, {z}) only on {}", self.backends[*by]),
            None => format!("({x}, {y}, {z})"),
        };
        let named: Vec<String> = self.voxels.iter().map(name).collect();
        write!(f, "{one} and {two} differ in {differing}: {}", listed(&named, self.differing))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn grid(voxels: &[[u32; 3]]) -> VoxelGrid {
        VoxelGrid::from_voxels([20; 3], voxels.iter().copied()).unwrap()
    }

    #[test]
    fn a_check_of_different_grids_names_the_voxels_and_who_has_them() {
        let backends = || ["cpu".to_owned(), "gpu".to_owned()];
        let (one, two) = (grid(&[[1, 2, 3], [9, 9, 9]]), grid(&[[1, 2, 3], [19, 0, 4]]));
        let check = Check::of_grids(&one, &two, backends());
        assert_eq!(
            check.to_string(),
            "cpu and gpu differ in 2 voxels: (19, 0, 4) only on gpu, (9, 9, 9) only on cpu"
        );
        let same = Check::of_grids(&one, &one, backends());
        assert_eq!((same.differing, same.to_string().as_str()), (0, "gpu: the same, bit for bit"));
    }

    #[test]
    fn a_check_of_different_distances_counts_them_and_names_the_first() {
        let backends = || ["cpu".to_owned(), "gpu".to_owned()];
        let field = |voxels: &[[u32; 3]], distances: Vec<f32>| {
            DistanceField::of_parts(2.0, [grid(voxels), grid(&[])], distances).unwrap()
        };
        let one = field(&[[1, 2, 3], [3, 3, 3]], vec![1.0, 1.5]);
        let two = field(&[[1, 2, 3], [9, 9, 9]], vec![1.25, 0.5]);
        let check = Check::of_distances(&one, &two, backends());
        let expected = "cpu and gpu differ in 3 distances: (1, 2, 3), (3, 3, 3), (9, 9, 9)";
        assert_eq!((check.differing, check.to_string().as_str()), (3, expected));
        assert_eq!(Check::of_distances(&two, &two, backends()).differing, 0);
        let many: Vec<[u32; 3]> = (0..12).map(|x| [x, 0, 0]).collect();
        let many = field(&many, vec![1.0; 12]);
        let check = Check::of_distances(&many, &two, backends());
        assert!(check.to_string().ends_with(" and 6 more"), "{check}");
    }
}
