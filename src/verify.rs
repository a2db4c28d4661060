//! Judges a grid, whoever made it, by the exact voxels of its mesh.
//!
//! 1. Placement: where the mesh lies, from what the caller states, from the grid's file, or from the
//!    grid's size ([`Source`]).
//! 2. The caller's closure voxelizes the placed mesh: with any backend, and in any mode.
//! 3. Search: where the grids disagree, a permutation, mirror or shift of the axes that explains it
//!    ([`Alignment`]).
//! 4. The [`Verdict`]: which voxels are missing, which are spurious, and a picture of the worst
//!    [`Slice`].

mod alignment;
mod placement;
mod search;
mod slice;

use std::borrow::Cow;

use thiserror::Error;

pub use alignment::Alignment;
pub use placement::{Source, Stated};
pub use slice::Slice;

use crate::compare::{Comparison, compare, iou};
use crate::error::{BackendError, GridError, PlaceError};
use crate::grid::{VoxelGrid, World};
use crate::mesh::Mesh;
use crate::place::{Lattice, PlacedMesh, place};
use crate::verify::slice::Pair;

/// How to judge.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// What is known of where the mesh lies.
    pub stated: Stated,
    /// Whether the grid has to lie as it is placed, and no other alignment is looked for.
    pub as_placed: bool,
    /// How many wrong voxels are listed, at most.
    pub named: usize,
}

impl Default for VerifyOptions {
    /// Nothing stated, any alignment, eight voxels.
    fn default() -> Self {
        Self { stated: Stated::default(), as_placed: false, named: 8 }
    }
}

/// Why a grid could not be judged.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The mesh cannot lie as stated, or as the grid says.
    #[error("cannot place the mesh {}: {error}", describe(.by))]
    Place {
        /// Who says how it lies.
        by: Source,
        /// Why it cannot.
        error: PlaceError,
    },
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

fn describe(source: &Source) -> &'static str {
    match source {
        Source::Stated => "as the options say",
        Source::File | Source::FileBounds => "where the grid's file says that it lies",
        Source::Fitted { .. } => "so that it fills the grid",
    }
}

/// In which way a voxel is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It should be occupied.
    Missing,
    /// It should not.
    Spurious,
}

/// A voxel that is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrong {
    /// In the grid that is judged; negative or past its end where that lacks it altogether.
    pub voxel: [i64; 3],
    /// Its centre in the world, in mesh units.
    pub position: [f64; 3],
    /// In which way.
    pub fault: Fault,
}

/// What is right and wrong in a grid, as it is best aligned.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The exact grid, as the mesh was placed.
    pub exact: VoxelGrid,
    /// How the mesh was placed.
    pub lattice: Lattice,
    /// Who said so.
    pub source: Source,
    /// Where the grid's file says that it lies, if the caller stated something else.
    pub contradicted: Option<World>,
    /// How the grid lies relative to the exact one; everything below holds for that.
    pub alignment: Alignment,
    /// How many voxels differ without that alignment.
    pub differing_as_placed: u64,
    /// Voxels that are rightly occupied.
    pub agreeing: u64,
    /// Voxels that should be occupied and are not.
    pub missing: u64,
    /// Voxels that should not be occupied and are.
    pub spurious: u64,
    /// Smallest and largest wrong voxel per axis, in the grid that is judged.
    pub bounds: Option<[[i64; 3]; 2]>,
    /// The first few wrong voxels.
    pub first: Vec<Wrong>,
    /// The worst place.
    pub slice: Option<Slice>,
}

/// An alignment explains a grid if it leaves this part of the wrong voxels, or less.
const EXPLAINED: u64 = 4;
/// More wrong voxels than this part of all are no faults here and there.
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

    /// Whether so much is wrong that the grid probably lies otherwise, by parts of a voxel, or is of
    /// another mesh or kind.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.iou() < 1.0 - DOUBTFUL
    }
}

/// Judges `grid` by the voxels that `voxelize` finds for `mesh` placed as `options` and the grid
/// say. Where nobody says how it is placed, several ways are tried until one is right; else the one
/// with the fewest wrong voxels is reported.
///
/// ```
/// use trivox::verify::{Fault, VerifyOptions, verify};
/// use trivox::{Backend, Cpu, Mesh, NoProgress, VoxelGrid};
///
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let columns = [4, 4, 3, 2].into_iter().zip(0..);
/// let voxels = columns.flat_map(|(height, x)| (0..height).map(move |y| [x, y, 0]));
/// let faulty = voxels.filter(|&voxel| voxel != [2, 2, 0]);
/// let grid = VoxelGrid::from_voxels([4, 4, 1], faulty)?;
///
/// let verdict = verify(&mesh, &grid, &VerifyOptions::default(), &mut |placed| {
///     Cpu::default().voxelize(placed, &NoProgress)
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
) -> Result<Verdict, VerifyError> {
    let mut best: Option<Verdict> = None;
    let mut refusal = None;
    for (source, place_options) in placement::placements(mesh, grid, &options.stated) {
        let placed = match place(mesh, &place_options) {
            Ok(placed) => placed,
            Err(error) => {
                refusal.get_or_insert(VerifyError::Place { by: source, error });
                continue;
            }
        };
        let exact = voxelize(&placed)?;
        let most = best.as_ref().map_or(u64::MAX, |best| best.differing() - 1);
        let candidate = Candidate { exact, lattice: *placed.lattice(), source };
        if let Some(alignment) = candidate.align(grid, options, most) {
            let verdict = candidate.judge(grid, alignment, options.named);
            best = Some(verdict.map_err(BackendError::from)?);
        }
        if best.as_ref().is_some_and(Verdict::is_right) {
            break;
        }
    }
    best.ok_or_else(|| refusal.expect("there is at least one placement"))
}

/// An exact grid, to hold the other one against.
struct Candidate {
    exact: VoxelGrid,
    lattice: Lattice,
    source: Source,
}

/// How a grid lies, and how many voxels differ from the exact ones if it lay as placed.
type Found = (Alignment, u64);

impl Candidate {
    /// How the grid lies; `None` if more than `most` voxels are wrong however that is.
    fn align(&self, grid: &VoxelGrid, options: &VerifyOptions, most: u64) -> Option<Found> {
        let as_placed = compare(&self.exact, grid, 0).differing();
        let explained = (as_placed > 0 && !options.as_placed)
            .then(|| search::explain(&self.exact, grid, most.min(as_placed / EXPLAINED)))
            .flatten();
        let identity = (as_placed <= most).then_some(Alignment::IDENTITY);
        Some((explained.or(identity)?, as_placed))
    }

    fn judge(self, grid: &VoxelGrid, found: Found, named: usize) -> Result<Verdict, GridError> {
        let (alignment, differing_as_placed) = found;
        let Self { exact, lattice, source } = self;
        let aligned = Aligned::new(&exact, grid, &alignment)?;
        let pair = Pair { exact: &aligned.exact, grid: &aligned.grid, corner: aligned.corner };
        let Comparison { both, only, bounds, first, .. } = compare(pair.exact, pair.grid, named);
        let slice = Slice::worst(pair);
        let corner = aligned.corner;
        let in_grid = |voxel: [u32; 3]| [0, 1, 2].map(|a| i64::from(voxel[a]) + corner[a]);
        let map = alignment.map(exact.dims());
        let wrong = |(voxel, side): ([u32; 3], usize)| Wrong {
            voxel: in_grid(voxel),
            position: centre(&lattice, map.invert(in_grid(voxel))),
            fault: if side == 0 { Fault::Missing } else { Fault::Spurious },
        };
        drop(aligned);
        Ok(Verdict {
            exact,
            lattice,
            source,
            contradicted: grid.world.filter(|world| !lies_at(&lattice, world)),
            alignment,
            differing_as_placed,
            agreeing: both,
            missing: only[0],
            spurious: only[1],
            bounds: bounds.map(|corners| corners.map(in_grid)),
            first: first.into_iter().map(wrong).collect(),
            slice,
        })
    }
}

/// The exact grid and the other one in a frame that holds both.
struct Aligned<'a> {
    exact: Cow<'a, VoxelGrid>,
    grid: Cow<'a, VoxelGrid>,
    /// The frame's corner, in voxels of the grid that is judged; none is positive.
    corner: [i64; 3],
}

impl<'a> Aligned<'a> {
    fn new(
        exact: &'a VoxelGrid,
        grid: &'a VoxelGrid,
        alignment: &Alignment,
    ) -> Result<Self, GridError> {
        if alignment.is_identity() {
            let (exact, grid) = (Cow::Borrowed(exact), Cow::Borrowed(grid));
            return Ok(Self { exact, grid, corner: [0; 3] });
        }
        let map = alignment.map(exact.dims());
        let [lo, hi] = map.apply_box([[0; 3], exact.dims().map(|d| d - 1)]);
        let corner = lo.map(|c| c.min(0));
        let back = corner.map(|c| -c);
        // The search admits only what a frame can hold.
        let dims = [0, 1, 2].map(|a| (hi[a] + 1).max(i64::from(grid.dims()[a])) - corner[a]);
        let dims = dims.map(|d| d as u32);
        let moved = Alignment { shift: back, ..Alignment::IDENTITY };
        let grid = match back {
            [0, 0, 0] => Cow::Borrowed(grid),
            _ => Cow::Owned(moved.map(grid.dims()).grid(grid, dims)?),
        };
        Ok(Self { exact: Cow::Owned(map.moved(back).grid(exact, dims)?), grid, corner })
    }
}

/// The world position of the centre of a voxel of the lattice's grid.
fn centre(lattice: &Lattice, voxel: [i64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|a| lattice.origin[a] + (voxel[a] as f64 + 0.5) * lattice.voxel_size)
}

/// Whether that is where the lattice's grid lies, up to rounding.
fn lies_at(lattice: &Lattice, world: &World) -> bool {
    // A thousandth of a voxel over the whole grid is what no one would state otherwise.
    let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * world.voxel_size;
    (0..3).all(|a| close(lattice.origin[a], world.origin[a], 1e-3))
        && close(lattice.voxel_size, world.voxel_size, 1e-3 / f64::from(crate::place::MAX_DIM))
}
