//! Solids: the voxels whose centre is inside. This module selects the fill for a mesh, and reports
//! how reliable the result is.
//!
//! The backend computes the crossings of columns with the surface, or the voxels that the surface
//! touches. The fill itself runs on the host, identically for all backends ([`fill`]). The result
//! is certain for a mesh that is closed, consistently oriented and without overlapping parts. For
//! other meshes it depends on the fill, and warnings give the reasons ([`FillWarning`]).

pub mod distance;
pub mod fill;
pub mod mode;
mod pieces;
pub mod proximity;
mod report;
mod summary;
pub mod topology;
mod triangle_bvh;

pub use report::{EmptyShells, FillReport, FillWarning, Findings};

use std::borrow::Cow;

use crate::backend::runner::Runner;
use crate::backend::{
    Backend, BackendError, Rule, Run, RunOptions, check_cancelled, check_memory, cpu,
};
use crate::base::names::named;
use crate::base::progress::{Latch, Progress};
use crate::base::vector::minus;
use crate::grid::VoxelGrid;
use crate::grid::compare::compare;
use crate::lattice::{Aabb, MAX_DIM, PlacedMesh};
use crate::predicate::crosses::Axis;
use crate::solid::topology::{BOUNDARY_EDGE_BYTES, Boundary, Flips, MAX_EDGES, Matching, Topology};

/// Options of a solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Solid {
    /// The definition of the inside.
    pub fill: Fill,
    /// Whether to include the voxels that the surface touches.
    pub include_surface: bool,
}

/// The definition of the inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Fill {
    /// The first fill that suits the mesh: parity if it is closed; winding if parts overlap or it
    /// is open. Where winding numbers would take long, by counts that are the same on every
    /// machine: vote, or flood if the axes disagree widely and no hole lets it in.
    #[default]
    Auto,
    /// Voxels after an odd number of crossings of a ray along `x`.
    Parity,
    /// A generalized winding number of at least 1/2 or, for a closed mesh, not 0: parts may
    /// overlap, and there may be holes. Parts with inverted orientation are flipped first.
    Winding,
    /// Voxels that a flood fill from outside does not reach, including the surface's: for meshes
    /// whose holes are smaller than a voxel.
    Flood,
    /// The majority of six rays, from both ends of the columns along all axes: for meshes with
    /// holes.
    Vote,
}

named!(Fill, "fill", {
    Auto = "auto",
    Parity = "parity",
    Winding = "winding",
    Flood = "flood",
    Vote = "vote",
});

/// Maximum number of boundary edges for which [`Fill::Auto`] takes winding numbers; more take long.
const AUTO_EDGES: usize = 1 << 15;
/// Maximum work for which [`Fill::Auto`] takes winding numbers ([`fill::takes_at_most`]), for each
/// begun MB of a file: 5 to 10 seconds of a core.
const AUTO_WORK_PER_MB: u64 = 500_000_000;
const TRIANGLES_PER_MB: u64 = 20_000;
/// If the axes disagree on a larger fraction of the columns, most of the mesh is defective.
const MAX_AXIS_DISAGREEMENT: f64 = 0.05;
/// If a flood fill reaches a larger fraction of the voxels that rays find inside, it entered
/// through a hole.
const MAX_LEAKED_FRACTION: f64 = 0.01;

/// The result of a fill.
struct Outcome {
    fill: Fill,
    /// The reason for this fill, as a phrase.
    reason: String,
    grid: VoxelGrid,
    findings: Findings,
}

impl Outcome {
    fn new(fill: Fill, grid: VoxelGrid, findings: Findings) -> Self {
        Self { fill, reason: "asked for".to_owned(), grid, findings }
    }
}

/// The solid of the runner's mesh.
pub(crate) async fn solidify(
    runner: &mut Runner<'_>,
    solid: Solid,
) -> Result<(VoxelGrid, FillReport), BackendError> {
    if solid.fill == Fill::Flood && runner.mesh.window().is_some() {
        return Err(BackendError::NotInTiles(
            "what a flood reaches depends on the whole grid: use the fill winding or vote",
        ));
    }
    runner.progress.start("analyze", 0);
    let surface =
        OrientedSurface::orient(&mut runner.mesh, runner.options.memory, runner.progress)?;
    let outcome = filled(runner, solid.fill, &surface).await?;
    let report = FillReport::new(&runner.mesh, surface, &outcome, solid.include_surface);
    let mut grid = outcome.grid;
    if solid.include_surface {
        grid = with_surface(runner, grid).await?;
    }
    Ok((grid, report))
}

/// Fills by `fill` the mesh with this surface.
async fn filled(
    runner: &mut Runner<'_>,
    fill: Fill,
    surface: &OrientedSurface,
) -> Result<Outcome, BackendError> {
    match fill {
        Fill::Auto => automatic(runner, surface).await,
        Fill::Parity => parity(runner, &surface.topology).await,
        Fill::Winding => winding(runner, surface).await,
        Fill::Vote => vote(runner).await,
        // If the bounds cut the mesh, a flood fill enters there.
        Fill::Flood if surface.topology.is_closed() && runner.mesh.outside() == 0 => {
            flood(runner, None).await
        }
        Fill::Flood => {
            let voted = vote(runner).await?;
            flood(runner, Some(&voted)).await
        }
    }
}

/// The solid of `mesh` on the CPU with the findings of its fill and the topology, without a report;
/// `None` if it is to be closed and is not.
pub(crate) fn unreported_solid(
    mesh: &PlacedMesh,
    fill: Fill,
    only_closed: bool,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Option<(VoxelGrid, Findings, Topology)>, BackendError> {
    let by = Backend::Cpu(&cpu::Cpu);
    let options = RunOptions { memory, ..RunOptions::default() };
    let progress = &Latch::new(progress);
    let mut runner = Runner::new(by, mesh, &options, progress);
    let surface = OrientedSurface::orient(&mut runner.mesh, memory, progress)?;
    if only_closed && !surface.topology.is_closed() {
        return Ok(None);
    }
    let Outcome { grid, findings, .. } = by.wait(filled(&mut runner, fill, &surface))?;
    Ok(Some((grid, findings, surface.topology)))
}

/// The topology of a mesh, after parts with inverted orientation were flipped.
struct OrientedSurface {
    topology: Topology,
    /// The boundary; `None` if it has too many edges.
    boundary: Option<Boundary>,
    /// The flips. [`orient`](Self::orient) makes them, and takes their `is_flipped`.
    flips: Flips,
}

impl OrientedSurface {
    /// Whether [`Fill::Auto`] takes winding numbers for this surface of `mesh`, which has holes.
    fn has_quick_winding(&self, mesh: &PlacedMesh) -> bool {
        let (whole, origin) = (mesh.whole(), mesh.first_point());
        let most = AUTO_WORK_PER_MB * (1 + whole.len() as u64 / TRIANGLES_PER_MB);
        let Aabb { lo, hi } = whole.bounds();
        let bounds = Aabb { lo: minus(lo, origin), hi: minus(hi, origin) };
        let units_per_voxel = mesh.lattice().units_per_voxel();
        self.boundary.as_ref().is_some_and(|boundary| {
            boundary.edges() <= AUTO_EDGES
                && fill::takes_at_most(most, boundary, bounds, units_per_voxel)
        })
    }

    /// Analyzes `mesh`, and replaces it by the one with flipped parts.
    fn orient(
        mesh: &mut Cow<PlacedMesh>,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Self, BackendError> {
        let analyzed =
            |mesh: &PlacedMesh, may_flip| Self::analyzed(mesh, may_flip, memory, progress);
        let mut surface = analyzed(mesh, true)?;
        let collapsed = surface.topology.collapsed;
        // The edges of a repeated triangle have two in the same direction.
        let Topology { inconsistent_edges, non_manifold_edges, .. } = surface.topology;
        if inconsistent_edges + non_manifold_edges > 0 {
            check_memory(mesh.whole().repeated_bytes(), memory)?;
            if let Some(is_repeated) = mesh.whole().repeated() {
                let distinct = mesh.with_collapsed(&is_repeated);
                let once = analyzed(&distinct, false)?;
                if surface.topology.hides_holes_of(&once.topology) {
                    *mesh = Cow::Owned(distinct);
                    surface = analyzed(mesh, true)?;
                }
            }
        }
        if let Some(is_flipped) = surface.flips.is_flipped.take() {
            *mesh = Cow::Owned(mesh.with_flipped(&is_flipped));
            surface = Self { flips: surface.flips, ..analyzed(mesh, false)? };
        }
        // Without the repeated triangles.
        surface.topology.collapsed = collapsed;
        Ok(surface)
    }

    /// Analyzes `mesh`; if it `may_flip` and its topology needs it, also which triangles to flip.
    fn analyzed(
        mesh: &PlacedMesh,
        may_flip: bool,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Self, BackendError> {
        let (whole, origin) = (mesh.whole(), mesh.first_point());
        let bytes = Topology::bytes(whole);
        check_memory(bytes, memory)?;
        let room = (memory - bytes) / BOUNDARY_EDGE_BYTES;
        let matching = Matching::new(whole);
        let (topology, boundary) = Topology::matched(&matching, room.min(MAX_EDGES as u64));
        let kept = boundary.as_ref().map_or(0, |boundary| boundary.edges() as u64);
        let needs_flips = may_flip && topology.may_need_flips();
        let flipping = if needs_flips { topology.flipping_bytes(whole) } else { 0 };
        check_memory(flipping + kept * BOUNDARY_EDGE_BYTES, memory)?;
        let flips = needs_flips.then(|| topology::flips(&matching, &topology, progress));
        check_cancelled(progress)?;
        let boundary = match boundary {
            Ok(boundary) => Some(boundary.relative_to(origin)),
            Err(edges) if edges > MAX_EDGES as u64 => None,
            Err(edges) => {
                let needed = bytes + edges * BOUNDARY_EDGE_BYTES;
                return Err(BackendError::Memory { needed, allowed: memory });
            }
        };
        let topology = topology.relative_to(origin);
        Ok(Self { topology, boundary, flips: flips.unwrap_or_default() })
    }
}

/// Fills by the method that suits the mesh.
async fn automatic(
    runner: &mut Runner<'_>,
    surface: &OrientedSurface,
) -> Result<Outcome, BackendError> {
    const CLOSED: &str = "the mesh is closed";
    let topology = &surface.topology;
    if topology.is_oriented() {
        let by_winding = winding(runner, surface).await?;
        if by_winding.findings.overlapping_columns() > 0 {
            let reason = "the mesh is closed, and parts overlap".to_owned();
            return Ok(Outcome { reason, ..by_winding });
        }
        // Without overlaps the voxels equal those of parity.
        return Ok(Outcome { fill: Fill::Parity, reason: CLOSED.to_owned(), ..by_winding });
    }
    if topology.is_closed() {
        let by_parity = along_x(runner, Fill::Parity).await?;
        return Ok(Outcome { reason: CLOSED.to_owned(), ..by_parity });
    }
    let holes = report::holes(topology.open_edges, topology.odd_edges);
    let holes = format!("the mesh has {holes}");
    if surface.has_quick_winding(&runner.mesh) {
        return Ok(Outcome { reason: holes, ..winding(runner, surface).await? });
    }
    if runner.mesh.window().is_some() {
        return Err(BackendError::NotInTiles(
            "the fill winding would take long for the holes of the mesh, so the automatic fill \
             depends on the whole grid: use the fill vote or winding",
        ));
    }
    let reason = format!("{holes}, for which the fill winding would take long");
    let voted = vote(runner).await?;
    let share = voted.findings.disagreement.map_or(0.0, |found| found.share());
    if share <= MAX_AXIS_DISAGREEMENT {
        return Ok(Outcome { reason, ..voted });
    }
    let flooded = flood(runner, Some(&voted)).await?;
    let leaked = flooded.findings.leaked.unwrap_or(0) as f64;
    let is_sealed = leaked <= MAX_LEAKED_FRACTION * voted.grid.occupied() as f64;
    if !is_sealed || flooded.findings.enclosed == Some(0) {
        return Ok(Outcome { reason, ..voted });
    }
    let disagreement = report::percent(share);
    let reason = format!(
        "{reason}, and rays along different axes disagree on {disagreement} of the columns"
    );
    Ok(Outcome { reason, ..flooded })
}

/// Fills by winding numbers: integers if the mesh has no boundary, otherwise generalized ones.
async fn winding(
    runner: &mut Runner<'_>,
    surface: &OrientedSurface,
) -> Result<Outcome, BackendError> {
    let boundary = surface.boundary.as_ref().filter(|boundary| boundary.edges() > 0);
    let Some(boundary) = boundary else {
        return along_x(runner, Fill::Winding).await;
    };
    let Run { crossings, .. } = runner.run(Rule::Crossings, 0).await?;
    let Some(crossings) = crossings else {
        return Err(BackendError::Failed("it returned no crossings".into()));
    };
    let lattice = runner.mesh.lattice();
    let (grid, uncertain) = runner.within(crossings.bytes(), |memory| {
        fill::generalized(&crossings, boundary, lattice, memory, runner.progress)
    })?;
    // In a tile, voxels outside the window would count.
    let uncertain = runner.mesh.window().is_none().then_some(uncertain);
    let boundary_loops = Some(boundary.loops().len() as u64);
    let findings = Findings { boundary_loops, uncertain, ..Findings::default() };
    Ok(Outcome::new(Fill::Winding, grid, findings))
}

/// Fills by parity; for an oriented mesh, also determines whether parts overlap.
async fn parity(runner: &mut Runner<'_>, topology: &Topology) -> Result<Outcome, BackendError> {
    if !topology.is_oriented() {
        return along_x(runner, Fill::Parity).await;
    }
    let by_winding = along_x(runner, Fill::Winding).await?;
    if by_winding.findings.overlapping_columns() == 0 {
        return Ok(Outcome { fill: Fill::Parity, ..by_winding });
    }
    let windings = by_winding.findings.windings;
    drop(by_winding);
    let mut filled = along_x(runner, Fill::Parity).await?;
    filled.findings.windings = windings;
    Ok(filled)
}

async fn along_x(runner: &mut Runner<'_>, fill: Fill) -> Result<Outcome, BackendError> {
    let rule = if fill == Fill::Winding { Rule::Winding } else { Rule::Parity(Axis::X) };
    let Run { grid: flips, windings, .. } = runner.run(rule, 0).await?;
    let dims = runner.mesh.lattice().dims;
    let (grid, open_columns) = runner
        .within(flips.bytes(), |memory| fill::along_x(&flips, dims, memory, runner.progress))?;
    let has_room = dims[0] < MAX_DIM;
    let open_columns = has_room.then_some(open_columns);
    let findings = Findings { open_columns, windings, ..Findings::default() };
    Ok(Outcome::new(fill, grid, findings))
}

async fn vote(runner: &mut Runner<'_>) -> Result<Outcome, BackendError> {
    let dims = runner.mesh.lattice().dims;
    // Without room for flips beyond the grid, a column that ends there looks like an open one.
    if dims.contains(&MAX_DIM) {
        return Err(BackendError::VoteTooLarge);
    }
    // All rays agree that the overlap of an even number of parts is empty, so a vote cannot detect
    // it.
    let Run { grid, windings, .. } = runner.run(Rule::Winding, 0).await?;
    let x = if windings.is_some_and(|windings| windings.overlapping == 0) {
        // All winding numbers are 0, 1 or -1, so they change from or to 0 exactly where the parity
        // changes.
        grid
    } else {
        drop(grid);
        runner.run(Rule::Parity(Axis::X), 0).await?.grid
    };
    let y = runner.run(Rule::Parity(Axis::Y), x.bytes()).await?.grid;
    let z = runner.run(Rule::Parity(Axis::Z), x.bytes() + y.bytes()).await?.grid;
    let kept = x.bytes() + y.bytes() + z.bytes();
    let (grid, disagreement) =
        runner.within(kept, |memory| fill::vote([&x, &y, &z], dims, memory, runner.progress))?;
    // In a tile, the columns and voxels outside the window would count.
    let disagreement = runner.mesh.window().is_none().then_some(disagreement);
    let findings = Findings { windings, disagreement, ..Findings::default() };
    Ok(Outcome::new(Fill::Vote, grid, findings))
}

/// For a mesh with holes, `voted` tells whether the flood fill entered through them.
async fn flood(runner: &mut Runner<'_>, voted: Option<&Outcome>) -> Result<Outcome, BackendError> {
    let kept = voted.map_or(0, |voted| voted.grid.bytes());
    let surface = runner.run(Rule::Conservative, kept).await?.grid;
    let kept = kept + surface.bytes();
    let (grid, enclosed) =
        runner.within(kept, |memory| fill::flood(&surface, memory, runner.progress))?;
    let leaked = voted.map(|voted| compare(&voted.grid, &grid, 0).only[0]);
    let disagreement = voted.and_then(|voted| voted.findings.disagreement);
    let enclosed = Some(enclosed);
    let findings = Findings { enclosed, leaked, disagreement, ..Findings::default() };
    Ok(Outcome::new(Fill::Flood, grid, findings))
}

/// The union of `grid` and the voxels that the surface touches.
async fn with_surface(runner: &mut Runner<'_>, grid: VoxelGrid) -> Result<VoxelGrid, BackendError> {
    let surface = runner.run(Rule::Conservative, grid.bytes()).await?.grid;
    // An upper bound: the sum of both, regardless of shared voxels.
    let both = grid.bytes() + surface.bytes();
    runner.within(both, |memory| {
        check_memory(both, memory)?;
        Ok(grid.union(&surface))
    })
}
