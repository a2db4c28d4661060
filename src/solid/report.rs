//! What there is to say of a solid: what the mesh is, how it was filled, and what is doubtful.

use std::fmt;

use crate::fill::{AxisDisagreement, Confidence};
use crate::grid::{VoxelGrid, Windings};
use crate::place::PlacedMesh;
use crate::solid::{Fill, Findings, MUCH, Surface};
use crate::topology::{Topology, Turned};

/// How a solid was filled.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FillReport {
    /// How; never [`Fill::Auto`].
    pub fill: Fill,
    /// Why so, in a few words.
    pub reason: String,
    /// What the mesh is as a surface, after parts were turned.
    pub topology: Topology,
    /// What was turned to face outside; `None` where the mesh is closed and oriented as given.
    pub turned: Option<Turned>,
    /// How holes were closed; of generalized winding numbers.
    pub caps: Option<Caps>,
    /// Columns that are still inside at the grid's end; of parity and winding.
    pub unended: Option<u64>,
    /// What winding numbers along `x` come to; of a vote too, and of parity where the mesh is oriented.
    pub windings: Option<Windings>,
    /// How much rays along different axes disagree; of a vote, and of a flood of a mesh with holes.
    pub dispute: Option<AxisDisagreement>,
    /// Voxels that are enclosed and not of the surface; of a flood.
    pub enclosed: Option<u64>,
    /// Voxels that a flood reached though most rays find them inside; of a mesh with holes.
    pub leaked: Option<u64>,
    /// The volume, without that of a shell that was asked for.
    pub volume: Volume,
    /// What is doubtful; nothing, if no voxel is.
    pub doubts: Vec<FillWarning>,
}

/// How generalized winding numbers closed the holes of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Caps {
    /// Boundary loops.
    pub loops: u64,
    /// The voxel at a cap whose winding number is nearest to 1/2; `None` if there is no cap.
    pub lowest: Option<Confidence>,
    /// The one whose number is farthest from 1/2, of those that had to be looked at one by one.
    pub highest: Option<Confidence>,
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "capped at {}", counted(self.loops, "boundary loop"))?;
        let [lowest, highest] = [self.lowest, self.highest];
        if let (Some(lowest), Some(highest)) = (lowest, highest) {
            let at = |Confidence { value, voxel: [x, y, z] }: Confidence| {
                format!("{value:.3} at voxel ({x}, {y}, {z})")
            };
            write!(f, " with a confidence from {} to {}", at(lowest), at(highest))?;
        }
        Ok(())
    }
}

/// Volumes in cubic mesh units.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Volume {
    /// Of the voxels.
    pub voxels: f64,
    /// Of the mesh by the divergence theorem: what it encloses, as often as it winds around it, and
    /// negative where it is inside out. `None` if the mesh is not consistently oriented, for then it
    /// has none, or is not all in the grid.
    pub mesh: Option<f64>,
}

/// Why a fill may not be what was meant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FillWarning {
    /// Parity or winding of a mesh with holes.
    Holes {
        /// Edges of one triangle.
        open_edges: u64,
        /// Edges of an odd number of triangles.
        odd_edges: u64,
        /// Columns that are still inside at the grid's end; `None` of a grid without room to tell.
        unended: Option<u64>,
    },
    /// Winding of a mesh that is closed, but not consistently oriented.
    Orientation {
        /// Edges along which triangles do not run as often one way as the other.
        edges: u64,
    },
    /// Parity or a vote of such a mesh: it is not known whether parts of it overlap.
    MayOverlap {
        /// Edges along which triangles do not run as often one way as the other, holes not counted.
        edges: u64,
    },
    /// Parity or a vote of a mesh of which parts overlap.
    Overlap {
        /// Columns along `x` that are inside twice or more often.
        columns: u64,
    },
    /// A mesh of which some parts are inside out.
    InsideOut {
        /// Columns along `x` that pass through such parts and through others.
        columns: u64,
    },
    /// Rays along different axes disagree.
    AxisDisagreement(AxisDisagreement),
    /// Generalized winding numbers of a mesh whose holes are large.
    Wide {
        /// Boundary loops.
        loops: u64,
        /// The area of discs with the circumference of the loops, as a part of the mesh's area.
        share: f64,
    },
    /// A mesh that encloses no voxel's centre.
    Nothing,
    /// A flood came in.
    Leak {
        /// Voxels that it reached and most rays find inside.
        voxels: u64,
        /// Voxels that it found enclosed, beside the surface.
        enclosed: u64,
    },
}

impl FillWarning {
    /// Which it is, in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Holes { .. } => "holes",
            Self::Orientation { .. } => "orientation",
            Self::MayOverlap { .. } => "may overlap",
            Self::Overlap { .. } => "overlap",
            Self::InsideOut { .. } => "inside out",
            Self::AxisDisagreement(_) => "dispute",
            Self::Wide { .. } => "wide",
            Self::Nothing => "nothing",
            Self::Leak { .. } => "leak",
        }
    }
}

impl fmt::Display for FillWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holes { open_edges, odd_edges, unended } => {
                let holes = holes(*open_edges, *odd_edges);
                write!(f, "rays pass through holes of the mesh, which has {holes}")?;
                if let Some(unended) = unended {
                    let columns = counted(*unended, "column");
                    write!(f, ": {columns} are still inside at the grid's end")?;
                }
                f.write_str("; try --fill winding")
            }
            Self::Orientation { edges } => write!(
                f,
                "triangles at {} face different ways, whichever are turned, so winding numbers are \
                 wrong behind; try --fill vote",
                counted(*edges, "edge")
            ),
            Self::MayOverlap { edges } => write!(
                f,
                "triangles at {} face different ways, so overlapping parts, if there are any, \
                 cancel and leave cavities; try --fill flood",
                counted(*edges, "edge")
            ),
            Self::Overlap { columns } => write!(
                f,
                "overlapping parts cancel in {}, leaving cavities; try --fill winding",
                counted(*columns, "column")
            ),
            Self::InsideOut { columns } => write!(
                f,
                "parts that are inside out cancel others in up to {}, leaving cavities; try --fill \
                 winding, which turns them, or flood",
                counted(*columns, "column")
            ),
            Self::AxisDisagreement(dispute) => {
                let AxisDisagreement { columns, of_columns, worst, .. } = dispute;
                let share = percent(dispute.share());
                write!(
                    f,
                    "rays along different axes disagree in {columns} of {of_columns} columns"
                )?;
                write!(f, " ({share})")?;
                if let Some([x, y, z]) = worst {
                    write!(f, ", most near voxel ({x}, {y}, {z})")?;
                }
                f.write_str("; try --fill winding")
            }
            Self::Wide { loops, share } => write!(
                f,
                "the holes of the mesh ({}) are as large as {} of its surface, and where the solid \
                 ends in them is a guess; close them in the mesh",
                counted(*loops, "boundary loop"),
                percent(*share)
            ),
            Self::Nothing => {
                f.write_str("the mesh encloses no voxel; try --mode surface, or smaller voxels")
            }
            Self::Leak { voxels, enclosed } => write!(
                f,
                "the flood came in through holes wider than a voxel, or where the bounds cut the \
                 mesh: it enclosed {enclosed} voxels, and reached {voxels} that most rays find \
                 inside; try --fill winding, or larger voxels"
            ),
        }
    }
}

/// The edges that let the outside in, in words.
pub(super) fn holes(open_edges: u64, odd_edges: u64) -> String {
    match open_edges {
        0 => counted(odd_edges, "odd edge"),
        open => counted(open, "open edge"),
    }
}

fn counted(number: u64, what: &str) -> String {
    let plural = match number {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {what}{plural}")
}

/// A share in hundredths, with two digits that mean something.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent >= 10.0 || percent == 0.0 => format!("{percent:.0} %"),
        percent if percent >= 1.0 => format!("{percent:.1} %"),
        percent if percent >= 0.1 => format!("{percent:.2} %"),
        _ => "less than 0.1 %".to_owned(),
    }
}

impl Volume {
    fn new(mesh: &PlacedMesh, topology: &Topology, grid: &VoxelGrid) -> Self {
        let lattice = mesh.lattice();
        let is_whole = mesh.window().is_none() && mesh.outside() == 0;
        let is_comparable = topology.is_oriented() && is_whole;
        let of_mesh = || topology.volume_times_six as f64 / 6.0 / lattice.scale.powi(3);
        Self {
            voxels: grid.occupied() as f64 * lattice.voxel_size.powi(3),
            mesh: is_comparable.then(of_mesh),
        }
    }
}

impl FillReport {
    pub(super) fn new(
        mesh: &PlacedMesh,
        (fill, reason): (Fill, String),
        surface: Surface,
        findings: Findings,
        grid: &VoxelGrid,
    ) -> Self {
        let volume = Volume::new(mesh, &surface.topology, grid);
        let mut doubts = doubts(fill, &surface, &findings);
        let is_empty = grid.occupied() == 0 && mesh.window().is_none();
        if is_empty && doubts.is_empty() && !surface.topology.is_closed() {
            doubts.push(FillWarning::Nothing);
        }
        let Findings { unended, windings, dispute, enclosed, leaked, caps } = findings;
        let Surface { topology, turned, .. } = surface;
        Self {
            fill,
            reason,
            topology,
            turned,
            caps,
            unended,
            windings,
            dispute,
            enclosed,
            leaked,
            volume,
            doubts,
        }
    }

    /// Whether there is any doubt.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// All of it in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { fill, reason, .. } = self;
        let agreement = match &self.dispute {
            Some(dispute) if dispute.voxels == 0 && *fill == Fill::Vote => {
                ", and rays along all axes agree"
            }
            _ => "",
        };
        let turned = match self.turned {
            Some(Turned { turned, triangles, .. }) if triangles > 0 => format!(
                ", after {} in {} were turned around",
                counted(triangles, "triangle"),
                counted(turned, "patch")
            ),
            _ => String::new(),
        };
        let caps = self.caps.as_ref().map(|caps| format!(", {caps}")).unwrap_or_default();
        let volume = match self.volume.mesh {
            Some(mesh) if mesh != 0.0 => {
                let share = 100.0 * self.volume.voxels / mesh.abs();
                format!("; the voxels have {share:.2} % of the mesh's volume")
            }
            _ => String::new(),
        };
        let doubts: Vec<String> = self.doubts.iter().map(ToString::to_string).collect();
        let doubts = match doubts[..] {
            [] => String::new(),
            _ => format!("; doubtful, as {}", doubts.join(", and ")),
        };
        let mesh = self.mesh();
        format!("{mesh}: filled by {fill}, {reason}{turned}{caps}{agreement}{volume}{doubts}")
    }

    /// What the mesh is as a surface, in words.
    fn mesh(&self) -> String {
        let topology = &self.topology;
        let shells = counted(topology.shells, "shell");
        let what = match (topology.is_closed(), topology.is_oriented(), self.volume.mesh) {
            (false, ..) => format!("with {}", holes(topology.open_edges, topology.odd_edges)),
            (true, false, _) => "closed, but not consistently oriented".to_owned(),
            (true, true, Some(volume)) if volume < 0.0 => "closed, but inside out".to_owned(),
            (true, true, _) => "closed".to_owned(),
        };
        format!("{shells}, {what}")
    }
}

/// Where holes are larger than this part of the surface, the solid depends on how they are closed.
const WIDE: f64 = 0.3;

fn doubts(fill: Fill, surface: &Surface, findings: &Findings) -> Vec<FillWarning> {
    let topology = &surface.topology;
    match fill {
        Fill::Auto | Fill::Parity => doubts_of_parity(topology, findings),
        Fill::Winding if findings.caps.is_some() => doubts_of_caps(surface),
        Fill::Winding => doubts_of_winding(topology, findings),
        Fill::Vote => doubts_of_vote(topology, findings),
        Fill::Flood => doubts_of_flood(findings),
    }
}

fn doubts_of_caps(surface: &Surface) -> Vec<FillWarning> {
    let topology = &surface.topology;
    let edges = topology.unbalanced_edges - topology.odd_edges;
    let orientation = (edges > 0).then_some(FillWarning::Orientation { edges });
    let wide = surface.boundary.as_ref().and_then(|boundary| {
        let (loops, share) = (boundary.loops().len() as u64, boundary.discs() / topology.area);
        (share > WIDE).then_some(FillWarning::Wide { loops, share })
    });
    orientation.into_iter().chain(wide).collect()
}

fn doubts_of_parity(topology: &Topology, findings: &Findings) -> Vec<FillWarning> {
    match through_holes(topology, findings) {
        Some(holes) => vec![holes],
        None => overlap(topology, findings).into_iter().collect(),
    }
}

fn doubts_of_winding(topology: &Topology, findings: &Findings) -> Vec<FillWarning> {
    let edges = topology.unbalanced_edges;
    let doubt = match through_holes(topology, findings) {
        None if edges > 0 => Some(FillWarning::Orientation { edges }),
        None => inside_out(findings),
        holes => holes,
    };
    doubt.into_iter().collect()
}

fn doubts_of_vote(topology: &Topology, findings: &Findings) -> Vec<FillWarning> {
    let dispute = findings.dispute.clone().filter(|dispute| dispute.voxels > 0);
    dispute
        .map(FillWarning::AxisDisagreement)
        .into_iter()
        .chain(overlap(topology, findings))
        .collect()
}

fn doubts_of_flood(findings: &Findings) -> Vec<FillWarning> {
    // What rays disagree on here and there is what a flood is for.
    let dispute = findings.dispute.clone().filter(|dispute| dispute.share() > MUCH);
    let leak = findings.leaked.and_then(|voxels| {
        let enclosed = findings.enclosed.unwrap_or(0);
        (voxels > 0 || enclosed == 0).then_some(FillWarning::Leak { voxels, enclosed })
    });
    leak.into_iter().chain(dispute.map(FillWarning::AxisDisagreement)).collect()
}

fn through_holes(topology: &Topology, findings: &Findings) -> Option<FillWarning> {
    let &Topology { open_edges, odd_edges, .. } = topology;
    let unended = findings.unended;
    (!topology.is_closed()).then_some(FillWarning::Holes { open_edges, odd_edges, unended })
}

/// Whether parity may leave something empty that is inside several times.
fn overlap(topology: &Topology, findings: &Findings) -> Option<FillWarning> {
    let columns = findings.windings.map_or(0, |windings| windings.overlapping);
    let edges = topology.unbalanced_edges - topology.odd_edges;
    match (columns, edges) {
        (0, 0) => inside_out(findings),
        (0, edges) => Some(FillWarning::MayOverlap { edges }),
        (columns, _) => Some(FillWarning::Overlap { columns }),
    }
}

fn inside_out(findings: &Findings) -> Option<FillWarning> {
    let columns = findings.windings.map_or(0, |windings| windings.opposed);
    (columns > 0).then_some(FillWarning::InsideOut { columns })
}
