//! Verifies a grid against its mesh, with the voxelizer's mode and backend.

use crate::backend::UsedBackend;
use crate::engine::verify::{Verdict, VerifyOptions, verify};
use crate::engine::{MeshSource, Placed, VoxelizeError, Voxelized, Voxelizer, Warning};
use crate::formats::LoadedMesh;
use crate::grid::VoxelGrid;
use crate::lattice::PlacedMesh;
use crate::solid::FillReport;

/// A verdict, and how the exact grid was made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// The judgement of the grid.
    pub verdict: Verdict,
    /// The backend that computed the exact grid.
    pub backend: UsedBackend,
    /// The report of the exact grid's fill, for a solid.
    pub fill_report: Option<FillReport>,
    /// Warnings about the mesh's file and the exact grid.
    pub warnings: Vec<Warning>,
}

impl Voxelizer {
    /// Verifies `grid`, made by any program, against the exact voxels of the mesh in `source`,
    /// which is transformed first. The mesh is placed as `options` say, not as this voxelizer does.
    ///
    /// # Errors
    /// A file cannot be read; the mesh cannot be placed as stated; the backend failed; too little
    /// memory; cancelled.
    pub fn verify<'a>(
        &self,
        source: impl Into<MeshSource<'a>>,
        grid: &VoxelGrid,
        options: &VerifyOptions,
    ) -> Result<Verified, VoxelizeError> {
        let voxelizer = self.with_deadline().attributes([]);
        let LoadedMesh { mesh, warnings, .. } = voxelizer.load(source)?;
        let mesh = voxelizer.transformed(mesh)?;
        let warnings: Vec<Warning> = warnings.into_iter().map(Warning::File).collect();
        // The result of each placement that is tried.
        let mut made = Vec::new();
        let mut exact = |mesh: &PlacedMesh| {
            let placed = Placed { warnings: warnings.clone(), ..mesh.clone().into() };
            let exact = voxelizer.voxelize(&placed)?;
            let Voxelized { backend, fill_report, warnings, .. } = &exact;
            made.push((*mesh.lattice(), backend.clone(), fill_report.clone(), warnings.clone()));
            Ok(voxelizer.paint(&placed.mesh, exact)?.grid)
        };
        let verdict = self.install(|| verify(&mesh, grid, options, &mut exact))??;
        let of_verdict = made.into_iter().find(|(lattice, ..)| *lattice == verdict.lattice);
        let (_, backend, fill_report, warnings) = of_verdict.expect("its grid was made");
        Ok(Verified { verdict, backend, fill_report, warnings })
    }
}
