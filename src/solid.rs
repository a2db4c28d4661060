//! Solids: a voxel is inside if its centre is. Which ways to tell there are, which of them suits a
//! mesh, and how far it can be trusted.
//!
//! The backend finds where columns of voxels cross the surface, or the surface itself; filling between
//! is the same on the host for all of them ([`fill`]). All of it is exact: for a mesh
//! that [is closed](Topology::is_closed), parity has no wrong voxel. For others there is no right
//! answer, and what is doubtful about the one that was given is said ([`Doubt`]).

mod report;

pub use report::{Doubt, Filling, Volume};

use std::fmt;

use crate::backend::Rule;
use crate::compare::compare;
use crate::error::BackendError;
use crate::fill::{self, Dispute};
use crate::grid::VoxelGrid;
use crate::mode::Finder;
use crate::place::MAX_DIM;
use crate::predicate::crosses::Axis;
use crate::topology::Topology;

/// How to make a solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Solid {
    /// How to tell what is inside.
    pub fill: Fill,
    /// Whether the voxels that the surface touches belong to it as well.
    pub shell: bool,
}

/// How to tell what is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fill {
    /// The first that suits the mesh: parity where it is closed, or winding where it has several
    /// shells, all consistently oriented; where it is open, a vote, or a flood if the axes disagree
    /// on much and no hole lets it in.
    #[default]
    Auto,
    /// What a ray along `x` comes to after an odd number of crossings.
    Parity,
    /// Where the winding number is not 0: shells may overlap, and be inside out, but each must be
    /// consistently oriented.
    Winding,
    /// What cannot be reached from outside, but through the surface: for meshes whose holes are
    /// smaller than a voxel. The surface's voxels belong to it.
    Flood,
    /// What most of six rays find inside, from both ends of the columns along all axes: for meshes
    /// with holes.
    Vote,
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Parity => "parity",
            Self::Winding => "winding",
            Self::Flood => "flood",
            Self::Vote => "vote",
        })
    }
}

/// Where axes disagree on more of the columns than this, something is wrong with most of the mesh.
const MUCH: f64 = 0.05;
/// A flood that reaches more than this part of what rays find inside came in through a hole.
const LEAK: f64 = 0.01;

/// What a fill found, beside the voxels.
#[derive(Debug, Clone, Default)]
struct Findings {
    unended: Option<u64>,
    dispute: Option<Dispute>,
    enclosed: Option<u64>,
    leaked: Option<u64>,
}

/// A fill that was done, and why this one.
struct Done {
    fill: Fill,
    reason: String,
    grid: VoxelGrid,
    findings: Findings,
}

/// The solid of the mesh that `finder` works on.
pub(crate) fn solidify(
    finder: &mut Finder,
    solid: Solid,
) -> Result<(VoxelGrid, Filling), BackendError> {
    finder.progress.start("look at the mesh", 0);
    let topology = finder.within(0, |memory| {
        let needed = Topology::bytes(finder.mesh);
        if needed > memory {
            return Err(BackendError::Memory { needed, allowed: memory });
        }
        Ok(Topology::of(finder.mesh))
    })?;
    let done = match solid.fill {
        Fill::Auto => automatic(finder, &topology)?,
        fill => fill_by(finder, fill, &topology)?,
    };
    let Done { fill, reason, grid, findings } = done;
    let filling = Filling::new(finder.mesh, (fill, reason), topology, findings, &grid);
    let grid = if solid.shell { with_shell(finder, grid)? } else { grid };
    Ok((grid, filling))
}

/// Fills in the way that suits the mesh.
fn automatic(finder: &mut Finder, topology: &Topology) -> Result<Done, BackendError> {
    if topology.is_closed() {
        // Shells that share an edge are counted as one.
        let may_overlap = topology.shells > 1 || topology.non_manifold_edges > 0;
        return if may_overlap && topology.is_oriented() {
            along_x(finder, Fill::Winding, "the mesh is closed, in shells that may overlap".into())
        } else {
            along_x(finder, Fill::Parity, "the mesh is closed".into())
        };
    }
    let holes = report::holes(topology);
    let voted = vote(finder, format!("the mesh has {holes}"))?;
    let share = voted.findings.dispute.as_ref().map_or(0.0, Dispute::share);
    if share <= MUCH {
        return Ok(voted);
    }
    let reason = format!(
        "the mesh has {holes}, and rays along different axes disagree on {} of the columns",
        report::percent(share)
    );
    let flooded = flood(finder, reason, Some(&voted.grid))?;
    let leaked = flooded.findings.leaked.unwrap_or(0) as f64;
    let is_sealed = leaked <= LEAK * voted.grid.occupied() as f64;
    Ok(if is_sealed && flooded.findings.enclosed > Some(0) { flooded } else { voted })
}

/// Fills by `fill`, as was asked for.
fn fill_by(finder: &mut Finder, fill: Fill, topology: &Topology) -> Result<Done, BackendError> {
    let reason = "asked for".to_owned();
    match fill {
        Fill::Auto | Fill::Parity => along_x(finder, Fill::Parity, reason),
        Fill::Winding => along_x(finder, Fill::Winding, reason),
        Fill::Vote => vote(finder, reason),
        // Where bounds cut the mesh, the flood comes in.
        Fill::Flood if topology.is_closed() && finder.mesh.outside() == 0 => {
            flood(finder, reason, None)
        }
        Fill::Flood => {
            let voted = vote(finder, String::new())?;
            flood(finder, reason, Some(&voted.grid))
        }
    }
}

fn along_x(finder: &mut Finder, fill: Fill, reason: String) -> Result<Done, BackendError> {
    let rule = if fill == Fill::Winding { Rule::WindingFlips } else { Rule::Flips(Axis::X) };
    let flips = finder.find(rule, 0)?;
    finder.progress.start("fill", 0);
    let filled = finder.within(flips.bytes(), |memory| fill::along_x(&flips, memory))?;
    let has_room = finder.mesh.lattice().dims[0] < MAX_DIM;
    let unended = has_room.then_some(filled.unended);
    let findings = Findings { unended, ..Findings::default() };
    Ok(Done { fill, reason, grid: finder.crop(filled.grid), findings })
}

fn vote(finder: &mut Finder, reason: String) -> Result<Done, BackendError> {
    // Without it, columns that end there cannot be told from those that do not.
    if finder.mesh.lattice().dims.contains(&MAX_DIM) {
        return Err(BackendError::NoRoomToVote);
    }
    let x = finder.find(Rule::Flips(Axis::X), 0)?;
    let y = finder.find(Rule::Flips(Axis::Y), x.bytes())?;
    let z = finder.find(Rule::Flips(Axis::Z), x.bytes() + y.bytes())?;
    finder.progress.start("fill", 0);
    let kept = x.bytes() + y.bytes() + z.bytes();
    let voted = finder.within(kept, |memory| fill::vote([&x, &y, &z], memory))?;
    let findings = Findings { dispute: Some(voted.dispute), ..Findings::default() };
    Ok(Done { fill: Fill::Vote, reason, grid: finder.crop(voted.grid), findings })
}

/// `voted` are the voxels that rays find inside, to tell whether the flood came in through holes.
fn flood(
    finder: &mut Finder,
    reason: String,
    voted: Option<&VoxelGrid>,
) -> Result<Done, BackendError> {
    let kept = voted.map_or(0, VoxelGrid::bytes);
    let surface = finder.find(Rule::Touched, kept)?;
    finder.progress.start("fill", 0);
    let kept = kept + surface.bytes();
    let flooded = finder.within(kept, |memory| fill::flood(&surface, memory))?;
    let leaked = voted.map(|voted| compare(voted, &flooded.grid, 0).only[0]);
    let findings = Findings { enclosed: Some(flooded.enclosed), leaked, ..Findings::default() };
    Ok(Done { fill: Fill::Flood, reason, grid: flooded.grid, findings })
}

/// `grid` and the voxels that the surface touches.
fn with_shell(finder: &mut Finder, grid: VoxelGrid) -> Result<VoxelGrid, BackendError> {
    let surface = finder.find(Rule::Touched, grid.bytes())?;
    // No more than both, whatever they share.
    let both = grid.bytes() + surface.bytes();
    finder.within(both, |memory| match both > memory {
        true => Err(BackendError::Memory { needed: both, allowed: memory }),
        false => Ok(grid.union(&surface)),
    })
}
