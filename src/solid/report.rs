//! The report of a solid: the mesh's topology, the fill, and warnings.

use std::cmp::Ordering;

use rayon::prelude::*;
use thiserror::Error;

use crate::base::numbers::{counted, grouped};
use crate::grid::{BRICK, VoxelGrid, Windings, mask_voxels};
use crate::lattice::{Aabb, Lattice, PlacedMesh};
use crate::solid::fill::AxisDisagreement;
use crate::solid::pieces::pieces;
use crate::solid::topology::{FlipStatistics, Flips, Topology};
use crate::solid::{Fill, MAX_AXIS_DISAGREEMENT, OrientedSurface, Outcome};

/// The report of a fill.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FillReport {
    /// The lattice of the points and voxels in this report; of a tile, its part of the lattice.
    pub lattice: Lattice,
    /// The fill used; never [`Fill::Auto`].
    pub fill: Fill,
    /// The reason for it, as a phrase.
    pub reason: String,
    /// The topology of the mesh, after parts were flipped.
    pub topology: Topology,
    /// The triangles flipped to face outside.
    pub flips: FlipStatistics,
    /// The findings of the fill.
    pub findings: Findings,
    /// Shells without a voxel, if there are several shells; `None` for a tile, with an included
    /// surface, and for more than a million shells.
    pub empty_shells: Option<EmptyShells>,
    /// The connected parts of the voxels, through faces, edges and corners; `None` for a tile, with
    /// an included surface, and for more than 65,536 bricks that are neither empty nor full, or
    /// 524,288 components of bricks.
    pub pieces: Option<u64>,
    /// The volume of the voxels, without an included surface, in cubic mesh units.
    pub voxel_volume: f64,
    /// The volume of the mesh by the divergence theorem, in cubic mesh units: the enclosed volume,
    /// multiplied by its winding number, negative for inverted orientation. `None` if the mesh is
    /// not consistently oriented or not completely inside the grid.
    pub mesh_volume: Option<f64>,
    /// Reasons for doubt; empty if there are none.
    pub doubts: Vec<FillWarning>,
}

/// The findings of a fill, besides the voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Findings {
    /// The boundary loops that generalized winding numbers closed by caps.
    pub boundary_loops: Option<u64>,
    /// The number of voxels of the solid with a generalized winding number below 3/4, an estimate
    /// away from the caps; `None` for a tile.
    pub uncertain: Option<u64>,
    /// Columns along `x` that are still inside at the end of the grid, for parity and winding.
    pub open_columns: Option<u64>,
    /// Statistics of winding numbers along `x`; also for a vote, and for parity if the mesh is
    /// oriented.
    pub windings: Option<Windings>,
    /// The disagreement of rays along different axes, for a vote, and for a flood fill of a mesh
    /// with holes.
    pub disagreement: Option<AxisDisagreement>,
    /// Enclosed voxels that are not on the surface, for a flood fill.
    pub enclosed: Option<u64>,
    /// Voxels that a flood fill reached though most rays find them inside, for a mesh with holes.
    pub leaked: Option<u64>,
}

impl Findings {
    /// Columns along `x` with a winding number of 2 or more.
    pub(super) fn overlapping_columns(&self) -> u64 {
        self.windings.map_or(0, |windings| windings.overlapping)
    }
}

/// Shells in whose bounding box the solid has no voxel: thinner than a voxel, or open. Cavities do
/// not count if all shells are closed and the cavities face inwards.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EmptyShells {
    /// The number of these shells.
    pub count: u64,
    /// The longest side of their bounding boxes, in voxels.
    pub longest: f64,
}

impl EmptyShells {
    /// Counts the shells without a voxel, by their bounding boxes; shells that extend outside the
    /// grid do not count.
    fn of(shells: &[Aabb], grid: &VoxelGrid, lattice: &Lattice) -> Self {
        let (units, end) = (lattice.units_per_voxel(), lattice.end());
        let is_in_grid =
            |shell: &&Aabb| (0..3).all(|a| shell.lo[a] >= 0 && i64::from(shell.hi[a]) <= end[a]);
        let empty = shells
            .par_iter()
            .filter(is_in_grid)
            .filter(|shell| !has_voxel(grid, shell, units))
            .map(|shell| (1, shell.length()));
        let (count, longest) = empty.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
        Self { count, longest: f64::from(longest) / f64::from(units) }
    }
}

/// Whether the grid has a voxel with its centre in a box within the grid.
fn has_voxel(grid: &VoxelGrid, bounds: &Aabb, units: i32) -> bool {
    let half = units / 2;
    // The first voxel with its centre in the box, and the first past it, on each axis.
    let first = bounds.lo.map(|c| (c - half + units - 1).div_euclid(units).cast_unsigned());
    let end = bounds.hi.map(|c| (c + half).div_euclid(units).cast_unsigned());
    if (0..3).any(|a| first[a] >= end[a]) {
        return false;
    }
    let is_in_box = |voxel: [u32; 3]| (0..3).all(|a| (first[a]..end[a]).contains(&voxel[a]));
    let [from, to] = [first.map(|c| c / BRICK), end.map(|c| c.div_ceil(BRICK))];
    grid.brick_runs_in(from, to).any(|run| {
        let brick = |n| run.start.along_x(n).first_voxel();
        (0..run.len).any(|n| mask_voxels(brick(n), run.mask).any(is_in_box))
    })
}

/// A reason why a fill may be unexpected.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FillWarning {
    /// Parity for a mesh with holes, or winding for one with too many boundary edges.
    #[error(
        "rays pass through holes of the mesh, which has {}{}",
        holes(*open_edges, *odd_edges), still_inside(*open_columns)
    )]
    Holes {
        /// Edges with one triangle.
        open_edges: u64,
        /// Edges with an odd number of triangles.
        odd_edges: u64,
        /// Columns that are still inside at the end of the grid; `None` if the grid has no room to
        /// tell.
        open_columns: Option<u64>,
        /// A fill that suits the mesh.
        better: Fill,
    },
    /// Winding for a mesh that is closed, but not consistently oriented.
    #[error(
        "triangles at {} are inconsistently oriented, and flipping cannot repair it, so the solid \
         may be wrong behind them", counted(*edges, "edge")
    )]
    Orientation {
        /// Edges that are not traversed equally often in both directions.
        edges: u64,
    },
    /// Parity or a vote for such a mesh: it is unknown whether parts overlap.
    #[error(
        "triangles at {} are inconsistently oriented, so overlapping parts, if there are any, \
         cancel and leave cavities", counted(*edges, "edge")
    )]
    MayOverlap {
        /// Edges that are not traversed equally often in both directions, except holes.
        edges: u64,
    },
    /// Parity or a vote for a mesh with overlapping parts.
    #[error(
        "overlapping or nested parts cancel in {}, leaving cavities", counted(*columns, "column")
    )]
    Overlap {
        /// Columns along `x` with a winding number of 2 or more.
        columns: u64,
    },
    /// A closed mesh of which some parts stay inside out, as of a shell that crosses itself.
    #[error(
        "parts of shells that cross themselves or their cavities are inside out in {}, so they may \
         cancel others and leave cavities", counted(*columns, "column")
    )]
    Opposed {
        /// Columns along `x` with a winding number opposite in sign to the mesh's volume.
        columns: u64,
    },
    /// Rays along different axes disagree.
    #[error(
        "rays along different axes disagree in {} of {} ({}){}",
        grouped(.0.columns), counted(.0.of_columns, "column"), percent(.0.share()), most_near(.0)
    )]
    AxisDisagreement(AxisDisagreement),
    /// Generalized winding numbers for a mesh whose holes are large.
    #[error("{}", uncertain(*loops, *open_edges, *share))]
    Uncertain {
        /// Boundary loops.
        loops: u64,
        /// Edges with one triangle. Without any, the boundary is that of inner walls.
        open_edges: u64,
        /// The fraction of the solid's voxels with a winding number below 3/4.
        share: f64,
    },
    /// Generalized winding numbers in a tile: how large the holes are shows only in the whole.
    #[error(
        "the mesh has holes ({}), and a tile does not show whether they are large; voxelize the \
         whole mesh once at a lower resolution", counted(*loops, "boundary loop")
    )]
    Unjudged {
        /// Boundary loops.
        loops: u64,
    },
    /// A mesh that encloses no voxel centre.
    #[error(
        "no voxel of the grid has its centre inside the mesh; use smaller voxels or larger bounds \
         (a sheet, or two back to back, have no inside, only a surface)"
    )]
    Nothing,
    /// A flood fill entered the inside.
    #[error(
        "the flood came in through holes wider than a voxel, or where the bounds cut the mesh: it \
         enclosed {}, and reached {} that most rays find inside",
        counted(*enclosed, "voxel"), grouped(*voxels)
    )]
    Leak {
        /// Voxels that it reached though most rays find them inside.
        voxels: u64,
        /// Enclosed voxels, besides the surface.
        enclosed: u64,
    },
}

impl FillWarning {
    /// A fill that may do better.
    #[must_use]
    pub fn better(&self) -> Option<Fill> {
        self.kind_and_better().1
    }

    /// The kind of the warning, as a word, and a fill that may do better.
    pub(super) fn kind_and_better(&self) -> (&'static str, Option<Fill>) {
        match self {
            Self::Holes { better, .. } => ("holes", Some(*better)),
            Self::Orientation { .. } => ("orientation", None),
            Self::MayOverlap { .. } => ("may overlap", None),
            Self::Overlap { .. } => ("overlap", Some(Fill::Winding)),
            Self::Opposed { .. } => ("opposed", None),
            Self::AxisDisagreement(_) => ("axis disagreement", Some(Fill::Winding)),
            // Every fill has a doubt about a mesh with large holes.
            Self::Uncertain { open_edges, .. } => {
                ("uncertain", (*open_edges == 0).then_some(Fill::Vote))
            }
            Self::Unjudged { .. } => ("unjudged", None),
            Self::Nothing => ("nothing", None),
            Self::Leak { .. } => ("leak", Some(Fill::Winding)),
        }
    }
}

fn still_inside(open_columns: Option<u64>) -> String {
    match open_columns {
        None | Some(0) => String::new(),
        Some(1) => ": 1 column is still inside at the grid's end".to_owned(),
        Some(many) => format!(": {} are still inside at the grid's end", counted(many, "column")),
    }
}

fn most_near(disagreement: &AxisDisagreement) -> String {
    let near = disagreement.worst.map(|[x, y, z]| format!(", most near voxel ({x}, {y}, {z})"));
    near.unwrap_or_default()
}

fn uncertain(loops: u64, open_edges: u64, share: f64) -> String {
    let (loops, share) = (counted(loops, "boundary loop"), percent(share));
    match open_edges {
        0 => format!(
            "surfaces end at others, as inner walls do ({loops}), and are closed like holes: \
             {share} of the solid is uncertain; remove the inner walls"
        ),
        _ => format!(
            "the mesh has large holes ({loops}): {share} of the solid is uncertain; close the holes \
             in the mesh"
        ),
    }
}

/// The edges through which the mesh is open, in words.
pub(super) fn holes(open_edges: u64, odd_edges: u64) -> String {
    match open_edges {
        0 => counted(odd_edges, "odd edge"),
        open => counted(open, "open edge"),
    }
}

/// A percentage with two significant digits.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent >= 10.0 || percent == 0.0 => format!("{percent:.0} %"),
        percent if percent >= 1.0 => format!("{percent:.1} %"),
        percent if percent >= 0.1 => format!("{percent:.2} %"),
        _ => "less than 0.1 %".to_owned(),
    }
}

impl FillReport {
    pub(super) fn new(
        mesh: &PlacedMesh,
        surface: OrientedSurface,
        outcome: &Outcome,
        include_surface: bool,
    ) -> Self {
        let &Outcome { fill, findings, .. } = outcome;
        let kept = mesh.own_window().map(|window| outcome.grid.window(&window));
        let grid = kept.as_ref().unwrap_or(&outcome.grid);
        let mut doubts = doubts(fill, &surface.topology, &findings, grid.occupied());
        let is_in_window = mesh.window().is_some();
        let is_empty = grid.occupied() == 0 && !is_in_window;
        // The included surface is a solid where it is closed, but not where it is a sheet back to
        // back with another.
        let encloses = surface.topology.is_closed() && surface.topology.volume_times_six != 0;
        let has_voxels = include_surface && encloses;
        if is_empty && doubts.is_empty() && !has_voxels {
            doubts.push(FillWarning::Nothing);
        }
        let OrientedSurface { topology, flips: Flips { statistics: flips, shells, .. }, .. } =
            surface;
        let lattice = *mesh.lattice();
        let is_comparable = topology.is_oriented() && !is_in_window && mesh.outside() == 0;
        let of_mesh = || topology.volume_times_six as f64 / 6.0 / lattice.scale.powi(3);
        let is_whole = !include_surface && !is_in_window;
        let are_judged = is_whole && !shells.is_empty();
        Self {
            lattice,
            fill,
            reason: outcome.reason.clone(),
            topology,
            flips,
            findings,
            empty_shells: are_judged.then(|| EmptyShells::of(&shells, grid, &lattice)),
            pieces: is_whole.then(|| pieces(grid)).flatten(),
            voxel_volume: grid.occupied() as f64 * lattice.voxel_size.powi(3),
            mesh_volume: is_comparable.then(of_mesh),
            doubts,
        }
    }

    /// The caps of generalized winding numbers, in words.
    #[must_use]
    pub fn caps_text(&self) -> Option<String> {
        let loops = self.findings.boundary_loops?;
        Some(format!("capped at {}", counted(loops, "boundary loop")))
    }

    /// The shells without a voxel, in words.
    #[must_use]
    pub fn empty_shells_text(&self) -> Option<String> {
        let EmptyShells { count, longest } = self.empty_shells.filter(|empty| empty.count > 0)?;
        let shells = counted(self.topology.shells, "shell");
        let (have, are) = if count == 1 { ("has", "it is") } else { ("have", "they are") };
        // A cavity is known by its orientation, which only winding numbers of closed shells follow.
        let or_cavity = match (self.topology.is_closed(), self.fill) {
            (true, Fill::Winding) => "",
            (true, _) => ", or a cavity",
            (false, _) => ", open, or a cavity",
        };
        Some(format!(
            "{} of {shells} {have} no voxel (up to {longest:.1} voxels long): {are} thinner than a \
             voxel{or_cavity}",
            grouped(count)
        ))
    }

    /// The pieces in words, if they are more than the shells of the mesh.
    #[must_use]
    pub fn pieces_text(&self) -> Option<String> {
        let pieces = self.pieces.filter(|&pieces| pieces > self.topology.shells)?;
        let (shells, pieces) = (counted(self.topology.shells, "shell"), counted(pieces, "piece"));
        let or_open = if self.topology.is_closed() { "" } else { ", or open" };
        Some(format!(
            "{shells} became {pieces} of voxels: parts of the mesh are thinner than a voxel{or_open}"
        ))
    }

    /// The holes of a mesh that is not closed, in words: the boundary loops, where they are known.
    #[must_use]
    pub fn holes_text(&self) -> Option<String> {
        let &Topology { open_edges, odd_edges, .. } = &self.topology;
        let holes = || match self.findings.boundary_loops {
            Some(loops) => counted(loops, "boundary loop"),
            None => holes(open_edges, odd_edges),
        };
        (!self.topology.is_closed()).then(holes)
    }

    /// Whether there is a warning.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// The report as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { fill, reason, .. } = self;
        let agreement = match self.findings.disagreement {
            Some(AxisDisagreement { voxels: 0, .. }) if *fill == Fill::Vote => {
                ", and rays along all axes agree"
            }
            _ => "",
        };
        let FlipStatistics { flipped_patches, flipped_triangles } = self.flips;
        let patches = counted(flipped_patches, "patch");
        let triangles = counted(flipped_triangles, "triangle");
        let flips = match flipped_triangles {
            0 => String::new(),
            1 => format!(", after {triangles} in {patches} was flipped"),
            _ => format!(", after {triangles} in {patches} were flipped"),
        };
        let caps = self.caps_text().map(|caps| format!(", {caps}")).unwrap_or_default();
        let volume = match self.mesh_volume {
            // Overlaps count several times in the mesh's volume.
            Some(mesh) if mesh != 0.0 && self.findings.overlapping_columns() == 0 => {
                let share = 100.0 * self.voxel_volume / mesh.abs();
                format!("; the voxels have {share:.2} % of the mesh's volume")
            }
            _ => String::new(),
        };
        let lost = self.empty_shells_text().into_iter().chain(self.pieces_text());
        let lost: String = lost.map(|text| format!("; {text}")).collect();
        let doubts: Vec<String> = self.doubts.iter().map(ToString::to_string).collect();
        let doubts = match doubts[..] {
            [] => String::new(),
            _ => format!("; doubtful, as {}", doubts.join(", and ")),
        };
        let topology = &self.topology;
        let mesh = match (topology.is_closed(), topology.is_oriented(), self.mesh_volume) {
            (false, ..) => format!("with {}", holes(topology.open_edges, topology.odd_edges)),
            (true, false, _) => "closed, but not consistently oriented".to_owned(),
            (true, true, Some(volume)) if volume < 0.0 => "closed, but inside out".to_owned(),
            (true, true, _) => "closed".to_owned(),
        };
        let mesh = format!("{}, {mesh}", counted(topology.shells, "shell"));
        format!("{mesh}: filled by {fill}, {reason}{flips}{caps}{agreement}{volume}{lost}{doubts}")
    }
}

/// Maximum fraction of the solid that is uncertain. It is 0.20 for a cube without a side, and 0.54
/// for half a sphere.
const MAX_UNCERTAIN: f64 = 0.3;

fn doubts(fill: Fill, topology: &Topology, findings: &Findings, occupied: u64) -> Vec<FillWarning> {
    let &Topology { open_edges, odd_edges, unbalanced_edges, .. } = topology;
    let disagreement = |share: f64| {
        let found = findings.disagreement.filter(|found| found.share() > share);
        found.map(FillWarning::AxisDisagreement)
    };
    let orientation = |edges: u64| (edges > 0).then_some(FillWarning::Orientation { edges });
    let through_holes = |better: Fill| {
        let open_columns = findings.open_columns;
        let holes = FillWarning::Holes { open_edges, odd_edges, open_columns, better };
        (!topology.is_closed()).then_some(holes)
    };
    let doubts = match (fill, findings.boundary_loops) {
        (_, Some(loops)) => {
            let large = match findings.uncertain.map(|voxels| voxels as f64 / occupied as f64) {
                Some(share) => (share > MAX_UNCERTAIN).then_some(FillWarning::Uncertain {
                    loops,
                    open_edges,
                    share,
                }),
                None => (occupied > 0).then_some(FillWarning::Unjudged { loops }),
            };
            [orientation(unbalanced_edges - odd_edges), large]
        }
        (Fill::Auto | Fill::Parity, None) => {
            [through_holes(Fill::Winding).or_else(|| overlap(topology, findings)), None]
        }
        (Fill::Winding, None) => {
            let faces = || orientation(unbalanced_edges).or_else(|| opposed(topology, findings));
            [through_holes(Fill::Vote).or_else(faces), None]
        }
        (Fill::Vote, None) => [disagreement(0.0), overlap(topology, findings)],
        (Fill::Flood, None) => {
            let enclosed = findings.enclosed.unwrap_or(0);
            let is_leak = |&voxels: &u64| voxels > 0 || enclosed == 0;
            let leaked = findings.leaked.filter(is_leak);
            let leak = leaked.map(|voxels| FillWarning::Leak { voxels, enclosed });
            // Where rays disagree only locally, a flood fill helps.
            [leak, disagreement(MAX_AXIS_DISAGREEMENT)]
        }
    };
    doubts.into_iter().flatten().collect()
}

/// Whether parity may leave voxels empty whose winding number is 2 or more.
fn overlap(topology: &Topology, findings: &Findings) -> Option<FillWarning> {
    let columns = findings.overlapping_columns();
    let edges = topology.unbalanced_edges - topology.odd_edges;
    match (columns, edges) {
        (1.., _) => Some(FillWarning::Overlap { columns }),
        (_, 1..) => Some(FillWarning::MayOverlap { edges }),
        _ => opposed(topology, findings),
    }
}

/// Whether winding numbers have both signs. Without them and without overlaps all numbers are 0 and
/// one other, so the voxels have the volume of the mesh, but for those that the surface passes.
/// Through a hole, they have both signs whatever the orientation.
fn opposed(topology: &Topology, findings: &Findings) -> Option<FillWarning> {
    let windings = findings.windings.filter(|_| topology.is_oriented())?;
    let columns = opposed_columns(topology, windings);
    (columns > 0).then_some(FillWarning::Opposed { columns })
}

/// Columns with a winding number opposite in sign to the mesh's volume.
pub(super) fn opposed_columns(topology: &Topology, windings: Windings) -> u64 {
    let Windings { positive, negative, .. } = windings;
    match topology.volume_times_six.cmp(&0) {
        Ordering::Greater => negative,
        Ordering::Equal => negative.min(positive),
        Ordering::Less => positive,
    }
}
