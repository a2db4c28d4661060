//! Verifies a grid, from any program, against the exact voxels of its mesh.
//!
//! 1. Placement: the position of the mesh, as stated by the caller, by the grid's file, or fitted
//!    to the grid's size ([`PlacementSource`]).
//! 2. The caller's closure voxelizes the placed mesh, with any backend and in any mode.
//! 3. Search: if the grids differ, a permutation, mirror or shift of the axes that explains it
//!    ([`Alignment`]).
//! 4. The [`Verdict`]: missing and spurious voxels.

mod alignment;
mod placement;
mod search;

use serde::Serialize;
use thiserror::Error;

pub use alignment::Alignment;
pub use placement::{KnownPlacement, PlacementSource};

use crate::backend::{BackendError, UsedBackend};
use crate::base::error_code::ErrorCode;
use crate::base::names::named;
use crate::engine::{MeshSource, Placed, VoxelizeError, Voxelized, Voxelizer, Warning};
use crate::formats::LoadedMesh;
use crate::grid::compare::{Comparison, compare, iou};
use crate::grid::{GridError, Place, VoxelGrid};
use crate::lattice::{Lattice, PlaceError, PlacedMesh, place};
use crate::mesh::Mesh;
use crate::solid::FillReport;

/// Options of [`verify`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerifyOptions {
    /// The known parts of the mesh's placement.
    pub placement: KnownPlacement,
    /// Whether only the identity alignment is allowed, without a search.
    pub as_placed: bool,
    /// Maximum number of wrong voxels to list.
    pub named: usize,
}

impl Default for VerifyOptions {
    /// Nothing stated, any alignment, eight listed voxels.
    fn default() -> Self {
        Self { placement: KnownPlacement::default(), as_placed: false, named: 8 }
    }
}

/// The mesh of a grid cannot be placed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The mesh cannot be placed as stated, or as the grid's file says.
    #[error("cannot place the mesh {}: {error}", describe(.by))]
    Place {
        /// The source of the placement.
        by: PlacementSource,
        /// The reason.
        error: PlaceError,
    },
    /// The padding that was stated, on both sides, is as large as the grid.
    #[error(
        "cannot place the mesh as the options say: a padding of {pad} on both sides leaves nothing \
         of a grid of {voxels} voxels: use a smaller padding, or state the resolution or the voxel \
         size"
    )]
    Pad {
        /// Voxels of padding on each side.
        pad: u32,
        /// Voxels of the grid along its longest axis.
        voxels: u32,
    },
}

impl ErrorCode for VerifyError {
    fn code(&self) -> &'static str {
        "place.verify"
    }
}

fn describe(source: &PlacementSource) -> &'static str {
    match source {
        PlacementSource::Options => "as the options say",
        PlacementSource::File | PlacementSource::FileBounds => {
            "where the grid's file says that it lies"
        }
        PlacementSource::Fitted { .. } | PlacementSource::Centered => "so that it fills the grid",
    }
}

/// The kind of a wrong voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// Occupied only in the exact grid.
    Missing,
    /// Occupied only in the verified grid.
    Spurious,
}

named!(Fault, "fault", { Missing = "missing", Spurious = "spurious" });

/// A wrong voxel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wrong {
    /// Index in the verified grid; may be outside of it.
    pub voxel: [i64; 3],
    /// Its centre in world coordinates, in mesh units.
    pub position: [f64; 3],
    /// Missing or spurious.
    pub fault: Fault,
}

/// The result of a verification, in the best alignment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The exact grid of the placed mesh.
    pub exact: VoxelGrid,
    /// The lattice of the placed mesh.
    pub lattice: Lattice,
    /// The source of the placement.
    pub source: PlacementSource,
    /// The placement in the grid's file, if it contradicts that of the caller.
    pub contradicted: Option<Place>,
    /// The grid's alignment relative to the exact grid. The fields below refer to the aligned grid.
    pub alignment: Alignment,
    /// Number of differing voxels without the alignment.
    pub differing_as_placed: u64,
    /// Number of voxels occupied in both grids.
    pub agreeing: u64,
    /// Number of missing voxels.
    pub missing: u64,
    /// Number of spurious voxels.
    pub spurious: u64,
    /// Bounds of the wrong voxels, inclusive, in indices of the verified grid.
    pub bounds: Option<[[i64; 3]; 2]>,
    /// The first few wrong voxels.
    pub first: Vec<Wrong>,
}

/// An alignment explains the differences if it reduces them at least by this factor.
const EXPLAINED: u64 = 4;
/// Above this fraction of wrong voxels (1 - IoU), a wrong placement is likely.
const DOUBTFUL: f64 = 0.1;

impl Verdict {
    /// Whether no voxel is wrong.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.differing() == 0
    }

    /// How many voxels are wrong.
    #[must_use]
    pub fn differing(&self) -> u64 {
        self.missing + self.spurious
    }

    /// Intersection over union with the exact grid.
    #[must_use]
    pub fn iou(&self) -> f64 {
        iou(self.agreeing, self.differing())
    }

    /// Whether so many voxels are wrong that the grid probably has another placement, by fractions
    /// of a voxel, or is of another mesh or mode.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.iou() < 1.0 - DOUBTFUL
    }
}

/// Verifies `grid` against the voxels that `voxelize` returns for the placed `mesh`. If neither
/// `options` nor the grid's file give the placement, several are tried, up to the first without
/// wrong voxels; else the one with the fewest wrong voxels is reported.
///
/// ```
/// use trivox::engine::verify::{Fault, VerifyOptions, verify};
/// use trivox::{Cpu, Mesh, Mode, NoProgress, VoxelGrid, voxelize};
///
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let columns = [4, 4, 3, 2].into_iter().zip(0..);
/// let voxels = columns.flat_map(|(height, x)| (0..height).map(move |y| [x, y, 0]));
/// let faulty = voxels.filter(|&voxel| voxel != [2, 2, 0]);
/// let grid = VoxelGrid::from_voxels([4, 4, 1], faulty)?;
///
/// let verdict = verify(&mesh, &grid, &VerifyOptions::default(), &mut |placed| {
///     Ok(voxelize(&Cpu, placed, Mode::Surface, &Default::default(), &NoProgress)?.grid)
/// })?;
/// assert_eq!((verdict.missing, verdict.spurious), (1, 0));
/// assert_eq!((verdict.first[0].voxel, verdict.first[0].fault), ([2, 2, 0], Fault::Missing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The mesh cannot be placed as stated, or `voxelize` failed.
pub fn verify(
    mesh: &Mesh,
    grid: &VoxelGrid,
    options: &VerifyOptions,
    voxelize: &mut dyn FnMut(&PlacedMesh) -> Result<VoxelGrid, BackendError>,
) -> Result<Verdict, VoxelizeError> {
    let mut best: Option<Verdict> = None;
    let mut refusal = None;
    for (source, place_options) in placement::placements(mesh, grid, &options.placement)? {
        let placed = match place(mesh, &place_options) {
            Ok(placed) => placed,
            Err(error) => {
                refusal.get_or_insert(VerifyError::Place { by: source, error });
                continue;
            }
        };
        let exact = voxelize(&placed)?;
        let limit = best.as_ref().map_or(u64::MAX, |best| best.differing() - 1);
        let as_placed = compare(&exact, grid, 0).differing();
        let explained = if as_placed > 0 && !options.as_placed {
            search::explain(&exact, grid, limit.min(as_placed / EXPLAINED))
                .map_err(BackendError::from)?
        } else {
            None
        };
        let identity = (as_placed <= limit).then_some(Alignment::IDENTITY);
        if let Some(alignment) = explained.or(identity) {
            let exact = (exact, *placed.lattice());
            let verdict = judge(exact, source, as_placed, grid, alignment, options.named);
            best = Some(verdict.map_err(BackendError::from)?);
        }
        if best.as_ref().is_some_and(Verdict::is_right) {
            break;
        }
    }
    best.ok_or_else(|| refusal.expect("there is at least one placement").into())
}

/// A verdict, with the backend, the fill and the warnings of the exact grid.
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
    /// Verifies `grid`, made by any program, against the exact voxels of the mesh in `source` after
    /// this voxelizer's transform. `options` place the mesh; this voxelizer's placement is ignored.
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

/// Judges `grid` by the `exact` one of a placement, from which `as_placed` voxels differ under the
/// identity.
fn judge(
    (exact, lattice): (VoxelGrid, Lattice),
    source: PlacementSource,
    as_placed: u64,
    grid: &VoxelGrid,
    alignment: Alignment,
    named: usize,
) -> Result<Verdict, GridError> {
    let (corner, found) = if alignment.is_identity() {
        ([0; 3], compare(&exact, grid, named))
    } else {
        compare_aligned(&exact, grid, &alignment, named)?
    };
    let Comparison { both, only, bounds, first, .. } = found;
    let in_grid = |voxel: [u32; 3]| [0, 1, 2].map(|a| i64::from(voxel[a]) + corner[a]);
    let wrong = |(voxel, side): ([u32; 3], usize)| {
        let voxel = in_grid(voxel);
        let center = alignment.invert(voxel, exact.dims()).map(|c| c as f64 + 0.5);
        let fault = if side == 0 { Fault::Missing } else { Fault::Spurious };
        Wrong { voxel, position: Place::of(&lattice).to_mesh_units(center), fault }
    };
    let first = first.into_iter().map(wrong).collect();
    Ok(Verdict {
        exact,
        lattice,
        source,
        contradicted: grid.world.place.filter(|place| !lies_at(&lattice, place)),
        alignment,
        differing_as_placed: as_placed,
        agreeing: both,
        missing: only[0],
        spurious: only[1],
        bounds: bounds.map(|corners| corners.map(in_grid)),
        first,
    })
}

/// Compares the aligned `exact` with `grid` in a frame that contains both; and the frame's minimum
/// corner, in voxels of the verified grid, at most 0.
fn compare_aligned(
    exact: &VoxelGrid,
    grid: &VoxelGrid,
    alignment: &Alignment,
    named: usize,
) -> Result<([i64; 3], Comparison), GridError> {
    let [lo, hi] = alignment.apply_box([[0; 3], exact.dims().map(|d| d - 1)], exact.dims());
    let corner = lo.map(|c| c.min(0));
    // The search returns only alignments whose frame fits in a grid.
    let dims = [0, 1, 2].map(|a| (hi[a] + 1).max(grid.dims()[a].into()) - corner[a]);
    let dims = dims.map(|d| d as u32);
    let aligned = alignment.image(exact, corner, dims)?;
    Ok((corner, compare(&aligned, &grid.in_box(corner, dims)?, named)))
}

/// Whether `world` is the placement of the lattice's grid, up to rounding.
fn lies_at(lattice: &Lattice, place: &Place) -> bool {
    // Tolerance: a thousandth of a voxel over the whole grid.
    let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * place.voxel_size;
    (0..3).all(|a| close(lattice.origin[a], place.origin[a], 1e-3))
        && close(lattice.voxel_size, place.voxel_size, 1e-3 / f64::from(crate::lattice::MAX_DIM))
}
