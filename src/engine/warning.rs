//! Properties of voxels that a caller might not expect.

use std::fmt;

use rayon::prelude::*;

use crate::base::numbers::{counted, listed, significant};
use crate::base::srgb::Rgba;
use crate::base::vector::minus;
use crate::grid::{Attribute, Channel, VoxelGrid};
use crate::lattice::{Aabb, MAX_DIM, PlacedMesh, Sizing};
use crate::mesh::Mesh;
use crate::solid::mode::Mode;
use crate::solid::{Fill, FillReport, FillWarning, Solid};
use crate::surface::attributes::Attributed;

/// The least spacing of coordinates that is worth a warning, in voxels.
const COARSE_SPACING: f64 = 0.125;

/// A property of the voxels that a caller might not expect; [`Display`](fmt::Display) gives a
/// sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The file has content that is not used.
    File(String),
    /// Triangles reach outside the given bounds.
    OutsideBounds {
        /// How many.
        triangles: usize,
    },
    /// The mesh reaches so far past the bounds that a voxel has fewer lattice units than the grid
    /// alone would allow.
    CoarseLattice {
        /// Lattice units along a voxel's edge.
        units: u32,
        /// Lattice units along a voxel's edge, without the part of the mesh outside the bounds.
        of_grid: u32,
    },
    /// The coordinates are 32-bit floats, so far from the origin that they are coarse.
    CoarseCoordinates {
        /// Their spacing, in voxels.
        spacing: f64,
    },
    /// The GPU failed, and the CPU took its place.
    Backend(String),
    /// The inside of a solid is not certain.
    Fill(FillWarning),
    /// Voxels were left out because everything in them is transparent.
    Transparent {
        /// How many.
        voxels: u64,
    },
    /// The voxels do not have an attribute, for this reason.
    NoAttribute(Attribute, &'static str),
    /// Only voxels at the surface of these objects have their label, as the objects are not closed.
    OpenObjects(Vec<String>),
    /// No voxel has the label of these objects.
    UnseenObjects(Vec<String>),
    /// These objects are thinner than a sub-voxel of the coverage.
    ThinObjects(Vec<String>),
    /// Voxels of a tile of a solid that are far from the surface have the mean colour of the
    /// surface in the tile: another one in each tile.
    InteriorOfTile,
    /// The interior colour had no effect: the voxels have no colours, or all have the same.
    InteriorWithoutEffect,
    /// The total coverage differs from the volume of the mesh.
    CoarseCoverage {
        /// The volume by the coverage of the voxels, in cubic mesh units.
        voxels: f64,
        /// The volume of the mesh, in cubic mesh units.
        mesh: f64,
    },
    /// The mesh is not closed, so distances change their sign across its holes without a surface.
    OpenDistances {
        /// The boundary loops or open edges, in words.
        holes: String,
    },
    /// The grid ends within the band of distances.
    CutBand {
        /// In voxels.
        width: f32,
    },
    /// Few voxels for a mesh: perhaps it is in another unit than assumed.
    Few {
        /// How many.
        voxels: u64,
        /// The mesh's size, in mesh units.
        size: [f64; 3],
        /// The edge of a voxel, in mesh units.
        voxel_size: f64,
    },
    /// No voxel is occupied.
    Empty {
        /// Why.
        reason: &'static str,
    },
}

/// An option that avoids what a [`Warning`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Another fill.
    Fill(Fill),
    /// To keep transparent voxels.
    KeepTransparent,
    /// To set the interior colour.
    InteriorColor,
}

impl Warning {
    /// The warnings about a mesh on its lattice.
    pub(super) fn of_mesh(mesh: &PlacedMesh) -> Vec<Self> {
        let mut warnings = Vec::new();
        let triangles = mesh.outside();
        if triangles > 0 {
            warnings.push(Self::OutsideBounds { triangles });
        }
        let lattice = mesh.lattice();
        if lattice.fraction_bits < lattice.fraction_bits_of_grid() {
            warnings.push(Self::CoarseLattice {
                units: 1 << lattice.fraction_bits,
                of_grid: 1 << lattice.fraction_bits_of_grid(),
            });
        }
        warnings
    }

    /// The spacing of 32-bit floats at `mesh`, if all its coordinates are such floats and it is
    /// coarse for the smallest voxels of any grid of the mesh.
    pub(super) fn float_spacing(mesh: &Mesh) -> Option<f64> {
        /// The least spacing as a fraction of the longest side.
        const LEAST: f64 = COARSE_SPACING / MAX_DIM as f64;
        let positions = mesh.positions();
        let (first, last) = (positions.first()?, positions.last()?);
        let size = |p: [f64; 3]| p.iter().fold(0.0, |size: f64, c| size.max(c.abs()));
        let apart = |p: [f64; 3]| size(minus(p, *first));
        let far = size(*first) as f32;
        let spacing = f64::from(far.next_up() - far);
        let is_float = |c: &f64| f64::from(*c as f32) == *c;
        // Whole numbers are even multiples of the spacing.
        let uses_spacing =
            |c: &f64| c.abs() > f64::from(far) / 2.0 && (*c as f32).to_bits() & 1 == 1;
        let coordinates = || positions.as_flattened().par_iter();
        let is_coarse = spacing > LEAST * apart(positions[positions.len() / 2]).max(apart(*last))
            && coordinates().all(is_float)
            && coordinates().any(uses_spacing);
        is_coarse.then_some(spacing)
    }

    /// The warning about floats of this spacing, if it is coarse for voxels of this size.
    pub(super) fn of_spacing(spacing: f64, voxel_size: f64) -> Option<Self> {
        let spacing = spacing / voxel_size;
        (spacing > COARSE_SPACING).then_some(Self::CoarseCoordinates { spacing })
    }

    /// The warning that the grid cuts off a band of `width` voxels around a mesh, if it does.
    pub(super) fn of_distances(mesh: &PlacedMesh, width: f32) -> Option<Self> {
        let lattice = mesh.lattice();
        let units_per_voxel = f64::from(lattice.units_per_voxel());
        // The centres of the first voxels beyond the grid's end are half a voxel from it.
        let least = (f64::from(width) - 0.5) * units_per_voxel;
        let most = lattice.dims.map(|d| f64::from(d) * units_per_voxel - least);
        let end = lattice.end().map(|end| end as f64 + least);
        // Not vertices: those that no triangle uses may lie anywhere.
        let bounds = |index| Aabb::of(&mesh.triangle(index));
        let is_cut = (0..mesh.len()).into_par_iter().map(bounds).any(|Aabb { lo, hi }| {
            let (lo, hi) = (lo.map(f64::from), hi.map(f64::from));
            // The triangle's band reaches into the grid, and past its end.
            (0..3).all(|a| hi[a] > -least && lo[a] < end[a])
                && (0..3).any(|a| lo[a] < least || hi[a] > most[a])
        });
        is_cut.then_some(Self::CutBand { width })
    }

    /// The sentence, with the option that helps where there is one; `spelled` names it as the
    /// caller's users do.
    #[must_use]
    pub fn with_remedy(&self, spelled: impl FnOnce(Remedy) -> String) -> String {
        match self {
            Self::Fill(doubt) => match doubt.better() {
                Some(better) => format!("{self}; try {}", spelled(Remedy::Fill(better))),
                None => self.to_string(),
            },
            Self::Transparent { .. } => {
                format!("{self}: {} keeps them", spelled(Remedy::KeepTransparent))
            }
            Self::InteriorOfTile => format!("{self} with {}", spelled(Remedy::InteriorColor)),
            _ => self.to_string(),
        }
    }

    /// The warning about few voxels: a whole mesh has fewer than eight, or is smaller than a voxel,
    /// so that its surface touches at most eight. A resolution below eight, by `sizing`, asks for
    /// few.
    pub(super) fn of_size(mesh: &PlacedMesh, grid: &VoxelGrid, sizing: Sizing) -> Option<Self> {
        const FEW: u64 = 8;
        let (voxels, lattice) = (grid.occupied(), mesh.lattice());
        let is_asked = match sizing {
            Sizing::Resolution(voxels) | Sizing::Along { voxels, .. } => u64::from(voxels) < FEW,
            Sizing::VoxelSize(_) => false,
        };
        if !(1..=FEW).contains(&voxels) || is_asked || mesh.window().is_some() {
            return None;
        }
        let Aabb { lo, hi } = mesh.bounds();
        let size = [0, 1, 2].map(|a| f64::from(hi[a] - lo[a]) / lattice.scale);
        let is_small = size.iter().all(|&size| size < lattice.voxel_size);
        (voxels < FEW || is_small).then_some(Self::Few {
            voxels,
            size,
            voxel_size: lattice.voxel_size,
        })
    }

    /// The warnings about the labels of `grid`. Whether all labels are seen counts only if it
    /// `is_whole`: the voxels of a whole mesh, none of which were left out.
    pub(super) fn of_labels(grid: &VoxelGrid, found: &Attributed, is_whole: bool) -> Vec<Self> {
        let (names, channels) = (found.attributes.names(), found.attributes.channels());
        let (Some(names), Some(Channel::Scalar(labels))) =
            (names.get(&Attribute::Label), channels.get(&Attribute::Label))
        else {
            return Vec::new();
        };
        let mut is_seen = vec![false; names.len()];
        let rest = (labels.own_count() < grid.occupied()).then(|| labels.rest());
        for label in labels.bricks().flat_map(|(.., own)| own).copied().chain(rest) {
            if let Some(is_seen) = is_seen.get_mut(label as usize) {
                *is_seen = true;
            }
        }
        let object = |label: usize| match &names[label][..] {
            "" => format!("object {label}"),
            name => name.to_owned(),
        };
        let named = |labels: &[u32]| labels.iter().map(|&label| object(label as usize)).collect();
        let (open, thin): (Vec<_>, Vec<_>) =
            (named(&found.open_objects), named(&found.thin_objects));
        let is_unseen = |label: &usize| is_whole && !is_seen[*label];
        let unseen: Vec<String> = (0..names.len()).filter(is_unseen).map(object).collect();
        let mut warnings = Vec::new();
        if !open.is_empty() {
            warnings.push(Self::OpenObjects(open));
        }
        if !unseen.is_empty() {
            warnings.push(Self::UnseenObjects(unseen));
        }
        if !thin.is_empty() && channels.contains_key(&Attribute::Coverage) {
            warnings.push(Self::ThinObjects(thin));
        }
        warnings
    }

    /// The warning that the total coverage of a closed mesh within the grid, surface included,
    /// differs from its volume, as for sheets that are thinner than a sub-voxel.
    pub(super) fn of_coverage(
        grid: &VoxelGrid,
        found: &Attributed,
        mode: Mode,
        report: Option<&FillReport>,
    ) -> Option<Self> {
        const TOLERANCE: f64 = 0.02;
        let channel = found.attributes.channels().get(&Attribute::Coverage);
        let Some(Channel::Scalar(coverage)) = channel else { return None };
        let report = report.filter(|report| !found.overlap && !report.is_doubtful())?;
        let Mode::Solid(Solid { include_surface: true, .. }) = mode else { return None };
        let mesh = report.mesh_volume?.abs();
        let of = |bits: u32| f64::from(f32::from_bits(bits));
        let own: f64 = coverage.bricks().flat_map(|(.., own)| own).map(|&bits| of(bits)).sum();
        let others = (grid.occupied() - coverage.own_count()) as f64 * of(coverage.rest());
        let voxels = (own + others) * report.lattice.voxel_size.powi(3);
        let differs = (voxels - mesh).abs() > TOLERANCE * mesh;
        differs.then_some(Self::CoarseCoverage { voxels, mesh })
    }

    /// The warnings about the finished voxels, of which `transparent` were left out.
    pub(super) fn of_voxels(
        mesh: &PlacedMesh,
        grid: &VoxelGrid,
        mode: Mode,
        interior_color: Option<Rgba>,
        transparent: u64,
    ) -> impl Iterator<Item = Self> {
        let is_solid = matches!(mode, Mode::Solid(_));
        let (colors, occupied) = (grid.colors.as_ref(), grid.occupied());
        let is_without = |color| colors.is_none_or(|all| all.is_uniform() && all.rest() != color);
        let is_mean = || colors.is_some_and(|all| !all.is_uniform() && all.own_count() < occupied);
        let interior = match interior_color {
            _ if !is_solid || occupied == 0 => None,
            Some(color) => is_without(color).then_some(Self::InteriorWithoutEffect),
            None => (mesh.window().is_some() && is_mean()).then_some(Self::InteriorOfTile),
        };
        let left_out = (transparent > 0).then_some(Self::Transparent { voxels: transparent });
        let reason = match grid.occupied() {
            1.. => None,
            _ if transparent > 0 => Some("all of the mesh is transparent"),
            _ if mesh.is_empty() => Some("the mesh does not reach this tile"),
            _ if mesh.window().is_some() => Some("the mesh has no voxels in this tile"),
            _ if mesh.is_missed() => Some(
                "the grid misses the surface: it lies beside the mesh, or inside it, where only a \
                 solid has voxels",
            ),
            _ if is_solid => Some("no voxel's centre is inside the mesh as it was filled"),
            _ if mode == Mode::Surface => Some("the mesh touches no voxel of the grid"),
            _ => Some("no line through voxel centres in the grid crosses the mesh"),
        };
        left_out.into_iter().chain(interior).chain(reason.map(|reason| Self::Empty { reason }))
    }
}

/// Up to eight names, and how many more there are.
fn first_of(names: &[String]) -> String {
    const MOST: usize = 8;
    listed(&names[..names.len().min(MOST)], names.len() as u64)
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(text) | Self::Backend(text) => f.write_str(text),
            Self::OutsideBounds { triangles } => write!(
                f,
                "{} reach{} outside the bounds; what lies there has no voxels",
                counted(*triangles as u64, "triangle"),
                if *triangles == 1 { "es" } else { "" }
            ),
            Self::CoarseLattice { units, of_grid } => write!(
                f,
                "the mesh reaches so far past the bounds that vertices are rounded to 1/{units} of \
                 a voxel instead of 1/{of_grid}"
            ),
            Self::CoarseCoordinates { spacing } => write!(
                f,
                "the mesh has 32-bit coordinates so far from the origin that they are {} voxels \
                 apart: export it nearer to the origin, or as OBJ",
                significant(*spacing, 2)
            ),
            Self::Fill(doubt) => write!(f, "the fill is doubtful: {doubt}"),
            Self::Transparent { voxels } => {
                let were = if *voxels == 1 { "was" } else { "were" };
                let voxels = counted(*voxels, "voxel");
                write!(f, "{voxels} in which all is transparent {were} left out")
            }
            Self::NoAttribute(attribute, why) => {
                write!(f, "{why}: voxels have no attribute '{attribute}'")
            }
            Self::OpenObjects(names) => write!(
                f,
                "only voxels at the surface have the label of objects that are not closed: {}",
                first_of(names)
            ),
            Self::UnseenObjects(names) => write!(
                f,
                "no voxel has the label of these objects, as others have more surface or a later \
                 solid in their voxels, or as they are thinner than a voxel, or face inwards and \
                 are cavities: {}",
                first_of(names)
            ),
            Self::ThinObjects(names) => write!(
                f,
                "the coverage of objects that are thinner than an eighth of a voxel may be far \
                 from their volume: {}; use smaller voxels",
                first_of(names)
            ),
            Self::InteriorOfTile => f.write_str(
                "voxels far from the surface have the mean colour of the surface in this tile, \
                 which differs from tile to tile: set the interior colour",
            ),
            Self::InteriorWithoutEffect => f.write_str(
                "the interior colour had no effect: the voxels have no colours, or all have the same",
            ),
            Self::CoarseCoverage { voxels, mesh } => write!(
                f,
                "the coverage of all voxels is {} cubic mesh units, but the mesh has {}: parts may \
                 be thinner than an eighth of a voxel; use smaller voxels",
                significant(*voxels, 4),
                significant(*mesh, 4)
            ),
            Self::OpenDistances { holes } => write!(
                f,
                "the mesh is not closed ({holes}): distances change their sign across holes, where \
                 there is no surface; close the holes in the mesh"
            ),
            Self::CutBand { width } => write!(
                f,
                "the band of distances is cut off, as the grid ends within {width} voxels of the \
                 mesh: use a larger grid"
            ),
            Self::Few { voxels, size, voxel_size } => {
                let edge = significant(*voxel_size, 3);
                // Placing rounds a mesh of less than a thousandth of a voxel to a point.
                let mesh = if *size == [0.0; 3] {
                    format!("less than a thousandth of a voxel of {edge} units")
                } else {
                    let [x, y, z] = size.map(|length| significant(length, 2));
                    format!("{x} x {y} x {z} units and a voxel {edge}")
                };
                write!(
                    f,
                    "the mesh is {mesh}, so {} {} occupied: are the units those you mean?",
                    counted(*voxels, "voxel"),
                    if *voxels == 1 { "is" } else { "are" }
                )
            }
            Self::Empty { reason } => write!(f, "no voxel is occupied: {reason}"),
        }
    }
}
