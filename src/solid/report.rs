//! What there is to say of a solid: what the mesh is, how it was filled, and what is doubtful.

use std::fmt;

use crate::fill::Dispute;
use crate::grid::VoxelGrid;
use crate::place::PlacedMesh;
use crate::solid::{Fill, Findings};
use crate::topology::Topology;

/// How a solid was filled.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Filling {
    /// How; never [`Fill::Auto`].
    pub fill: Fill,
    /// Why so, in a few words.
    pub reason: String,
    /// What the mesh is as a surface.
    pub topology: Topology,
    /// Columns that are still inside at the grid's end; of parity and winding.
    pub unended: Option<u64>,
    /// How much rays along different axes disagree; of a vote.
    pub dispute: Option<Dispute>,
    /// Voxels that are enclosed and not of the surface; of a flood.
    pub enclosed: Option<u64>,
    /// Voxels that a flood reached though most rays find them inside; of a mesh with holes.
    pub leaked: Option<u64>,
    /// The volume, without that of a shell that was asked for.
    pub volume: Volume,
    /// What is doubtful; nothing, if no voxel is.
    pub doubts: Vec<Doubt>,
}

/// Volumes in cubic mesh units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Volume {
    /// Of the voxels.
    pub voxels: f64,
    /// Of the mesh by the divergence theorem: what it encloses, as often as it winds around it, and
    /// negative where it is inside out. `None` if the mesh is not consistently oriented, for then it
    /// has none, or is not all in the grid.
    pub mesh: Option<f64>,
    /// By how much the two may differ at most where each voxel is as its centre is: only voxels that
    /// the surface passes through can be wrong about a part of them, and those lie within half a
    /// diagonal of it on either side.
    pub tolerance: f64,
}

/// Why a fill may not be what was meant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// Parity or winding of a mesh with holes.
    Holes {
        /// Which, in words.
        holes: String,
        /// Columns that are still inside at the grid's end.
        unended: u64,
    },
    /// Winding of a mesh that is closed, but not consistently oriented.
    Orientation {
        /// Edges along which triangles do not run as often one way as the other.
        edges: u64,
    },
    /// Rays along different axes disagree.
    Dispute(Dispute),
    /// A flood reached voxels that most rays find inside.
    Leak {
        /// How many.
        voxels: u64,
        /// How many it found enclosed, beside the surface.
        enclosed: u64,
    },
    /// The volume is not what the mesh encloses: shells overlap, or some are inside out.
    Volume(Volume),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holes { holes, unended } => write!(
                f,
                "the mesh has {holes}, and a ray through a hole takes outside for inside: {unended} \
                 columns are still inside at the grid's end (a vote asks along all axes)"
            ),
            Self::Orientation { edges } => write!(
                f,
                "triangles are not oriented alike on both sides of {edges} edges, and winding \
                 numbers are wrong behind them (parity does not depend on orientation)"
            ),
            Self::Dispute(dispute) => {
                let Dispute { columns, of_columns, worst, .. } = dispute;
                let share = percent(dispute.share());
                write!(
                    f,
                    "rays along different axes disagree in {columns} of {of_columns} columns"
                )?;
                write!(f, " ({share})")?;
                worst.map_or(Ok(()), |[x, y, z]| write!(f, ", most near voxel ({x}, {y}, {z})"))
            }
            Self::Leak { voxels, enclosed } => write!(
                f,
                "the flood came in through holes wider than a voxel, or where the bounds cut the \
                 mesh: it enclosed {enclosed} voxels, and reached {voxels} that most rays find \
                 inside (use larger voxels, or a vote)"
            ),
            Self::Volume(Volume { voxels, mesh, .. }) => {
                let mesh = mesh.unwrap_or_default().abs();
                write!(
                    f,
                    "the voxels have a volume of {voxels:.6e}, but the mesh encloses {mesh:.6e}: "
                )?;
                f.write_str(if *voxels < mesh {
                    "shells overlap, and what two have in common is left empty (winding fills it)"
                } else {
                    "some shells are inside out, and what one of them has in common with another \
                     is left empty"
                })
            }
        }
    }
}

/// The edges that let the outside in, in words.
pub(super) fn holes(topology: &Topology) -> String {
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what} edge"),
        n => format!("{n} {what} edges"),
    };
    match topology.open_edges {
        0 => count(topology.odd_edges, "odd"),
        open => count(open, "open"),
    }
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
        let is_comparable = topology.is_oriented() && mesh.outside() == 0;
        let of_mesh = || topology.volume_times_six as f64 / 6.0 / lattice.scale.powi(3);
        let area = topology.area / lattice.scale.powi(2);
        Self {
            voxels: grid.occupied() as f64 * lattice.voxel_size.powi(3),
            mesh: is_comparable.then(of_mesh),
            tolerance: area * 3f64.sqrt() * lattice.voxel_size,
        }
    }

    /// Whether the voxels cannot be those whose centres are in what the mesh encloses: each part of it
    /// once, or by winding also several times.
    fn contradicts(&self, fill: Fill) -> bool {
        let more = self.mesh.map_or(0.0, |mesh| self.voxels - mesh.abs());
        let may_overlap = matches!(fill, Fill::Winding | Fill::Flood);
        more > self.tolerance && fill != Fill::Flood || -more > self.tolerance && !may_overlap
    }
}

impl Filling {
    pub(super) fn new(
        mesh: &PlacedMesh,
        (fill, reason): (Fill, String),
        topology: Topology,
        findings: Findings,
        grid: &VoxelGrid,
    ) -> Self {
        let volume = Volume::new(mesh, &topology, grid);
        let Findings { unended, dispute, enclosed, leaked } = findings;
        let doubts = Vec::new();
        let filling =
            Self { fill, reason, topology, unended, dispute, enclosed, leaked, volume, doubts };
        Self { doubts: filling.find_doubts(), ..filling }
    }

    /// Whether there is any doubt.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty()
    }

    fn find_doubts(&self) -> Vec<Doubt> {
        let Self { fill, topology, unended, dispute, volume, .. } = self;
        let mut doubts = Vec::new();
        let along_x = matches!(fill, Fill::Parity | Fill::Winding);
        if along_x && !topology.is_closed() {
            let (holes, unended) = (holes(topology), unended.unwrap_or(0));
            doubts.push(Doubt::Holes { holes, unended });
        } else if *fill == Fill::Winding && !topology.is_oriented() {
            doubts.push(Doubt::Orientation { edges: topology.unbalanced_edges });
        }
        if let Some(dispute) = dispute.as_ref().filter(|dispute| dispute.voxels > 0) {
            doubts.push(Doubt::Dispute(dispute.clone()));
        }
        if let Some(voxels @ 1..) = self.leaked {
            doubts.push(Doubt::Leak { voxels, enclosed: self.enclosed.unwrap_or(0) });
        }
        if volume.contradicts(*fill) {
            doubts.push(Doubt::Volume(*volume));
        }
        doubts
    }

    /// All of it in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { fill, reason, .. } = self;
        let agreement = match &self.dispute {
            Some(dispute) if dispute.voxels == 0 => ", and rays along all axes agree",
            _ => "",
        };
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
        format!("{mesh}: filled by {fill}, {reason}{agreement}{volume}{doubts}")
    }

    /// What the mesh is as a surface, in words.
    fn mesh(&self) -> String {
        let topology = &self.topology;
        let shells = match topology.shells {
            1 => "1 shell".to_owned(),
            n => format!("{n} shells"),
        };
        let what = match (topology.is_closed(), topology.is_oriented(), self.volume.mesh) {
            (false, ..) => format!("with {}", holes(topology)),
            (true, false, _) => "closed, but not consistently oriented".to_owned(),
            (true, true, Some(volume)) if volume < 0.0 => "closed, but inside out".to_owned(),
            (true, true, _) => "closed".to_owned(),
        };
        format!("{shells}, {what}")
    }
}
