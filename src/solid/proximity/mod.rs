//! Distances of any points to a mesh: the nearest triangle, the nearest point on it, and whether a
//! point is inside.
//!
//! Mesh and points are rounded once, to one lattice. On it the nearest triangle and the inside are
//! exact: squared distances are compared as fractions of integers, and crossings are counted by the
//! predicate of solids ([`crosses`](crate::predicate::crosses)).

mod inside;
pub(in crate::solid) mod nearest;
mod query;
mod search;

use std::borrow::Cow;
use std::fmt;

use pulp::Arch;
use rayon::prelude::*;
use thiserror::Error;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::error_code::ErrorCode;
use crate::base::numbers::{binary_bytes_apart, short};
use crate::base::progress::{Latch, Progress};
use crate::lattice::{Aabb, Lattice, PlaceError, PlaceOptions, PlacedMesh, Sizing, place};
use crate::mesh::Mesh;
use crate::solid::fill::Field;
use crate::solid::proximity::nearest::Candidate;
use crate::solid::proximity::query::Query;
use crate::solid::proximity::search::Search;
use crate::solid::topology::Topology;
use crate::solid::triangle_bvh::TriangleBvh;
use crate::solid::{Fill, OrientedSurface};

/// With voxels of `2^16` units, the longest side of the mesh is `2^24` units long, the most there
/// can be.
const RESOLUTION: u32 = 256;
/// Least and most points of a task.
const TASK: [usize; 2] = [1 << 8, 1 << 12];

/// A search tree over the triangles of a mesh, for the distances of any points to it.
///
/// ```
/// use trivox::{Fill, Mesh, NoProgress, Proximity};
///
/// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
/// let mesh = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// let proximity = Proximity::new(&mesh, Fill::Auto, u64::MAX, &NoProgress)?;
/// let points = [[1.0, 0.5, 2.0], [4.0, 4.0, -3.0]];
/// assert_eq!(proximity.distances(&points, &NoProgress)?, [-0.5, 3.0]);
/// assert_eq!(proximity.contains(&points, &NoProgress)?, [true, false]);
/// let nearest = proximity.nearest(&points, &NoProgress)?;
/// assert_eq!((nearest[0].triangle, nearest[0].point), (1, [1.0, 0.0, 2.0]));
/// assert_eq!(nearest[1].weights, [0.0, 0.5, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Exactness
/// The unit of the lattice is `2^-24` of the longest side of the mesh's bounding box. Each
/// coordinate, of vertices and of points, is rounded once to the nearest multiple of it from the
/// box's minimum corner, as 32-bit floats would round it. This changes a distance by at most
/// `sqrt(3)` units. After that rounding:
///
/// - the nearest triangle, and of several as near the first one, is exact; so is the inside;
/// - a distance is 0 exactly if the point is on the mesh; any other has a relative error below
///   `2^-48`.
///
/// Both hold for points up to the mesh's longest side outside of its box. Farther points and, for
/// them, the mesh are rounded to a coarser unit: their distances have a relative error below
/// `2^-22`, and a triangle as near within this error may be found. Their inside is as for others.
///
/// Results do not depend on the machine, the number of threads or the order of points.
pub struct Proximity {
    mesh: PlacedMesh,
    bvh: TriangleBvh,
    /// The bounding box of the triangles.
    bounds: Aabb,
    /// The mesh, after parts with inverted orientation were flipped.
    oriented: PlacedMesh,
    topology: Topology,
    /// The rule for inside, as that of a solid: parity, winding or vote.
    fill: Fill,
    /// For generalized winding numbers, if the fill is winding and the mesh has a boundary: a point
    /// is inside from 1/2. Without a field, it is inside at any winding number but 0.
    field: Option<Field>,
    arch: Arch,
}

impl fmt::Debug for Proximity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proximity({} triangles, fill {})", self.mesh.len(), self.fill.name())
    }
}

/// The point of a mesh nearest to a given point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Nearest {
    /// The distance, at least 0, in mesh units.
    pub distance: f64,
    /// The index of the triangle; of several as near, the lowest.
    pub triangle: u32,
    /// The barycentric coordinates of the nearest point, by the triangle's corners: at least 0, and
    /// exactly 0 for corners beside the edge or the corner that it is on.
    pub weights: [f64; 3],
    /// The nearest point, in mesh units.
    pub point: [f64; 3],
}

/// Distances of points cannot be computed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ProximityError {
    /// The mesh cannot be placed on a lattice.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// More memory is needed than allowed.
    #[error(
        "the search tree of the mesh needs at least {} of memory, {} are allowed: allow more",
        binary_bytes_apart([*needed, *allowed])[0], binary_bytes_apart([*needed, *allowed])[1]
    )]
    Memory {
        /// Bytes needed, an estimate.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A mesh in a window, or cancelled.
    #[error(transparent)]
    Backend(BackendError),
    /// [`Fill::Flood`] depends on voxels.
    #[error("the fill 'flood' is of voxels, not of points: use auto, parity, winding or vote")]
    Flood,
    /// A coordinate of a point is not finite, or so large that the point's distance may not be.
    #[error(
        "point {index} is at ({}, {}, {}), which has no finite distance from the mesh (points are \
         counted from 0)", short(&.point[0]), short(&.point[1]), short(&.point[2])
    )]
    Point {
        /// The index of the first such point, from 0.
        index: usize,
        /// Its coordinates.
        point: [f64; 3],
    },
}

impl From<BackendError> for ProximityError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Memory { needed, allowed } => Self::Memory { needed, allowed },
            other => Self::Backend(other),
        }
    }
}

impl ErrorCode for ProximityError {
    fn code(&self) -> &'static str {
        match self {
            Self::Place(error) => error.code(),
            Self::Memory { .. } => "memory",
            Self::Backend(error) => error.code(),
            Self::Flood => "option.fill",
            Self::Point { .. } => "option.points",
        }
    }
}

impl Proximity {
    /// The tree of `mesh`, whose inside is that of a solid with this fill. [`Fill::Auto`] takes
    /// winding numbers, or parity if the mesh is closed but cannot be oriented. A mesh without an
    /// inside, such as a plane, contains no point beside it.
    ///
    /// # Errors
    /// A mesh without extent; [`Fill::Flood`]; more than `memory` bytes are needed; cancelled.
    pub fn new(
        mesh: &Mesh,
        fill: Fill,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Self, ProximityError> {
        let placed = place(mesh, &PlaceOptions::new(Sizing::Resolution(RESOLUTION)))?;
        Self::of_placed(placed, fill, memory, progress)
    }

    /// The tree of a mesh on its lattice, whose units are those of points. The voxel centres of the
    /// lattice are inside if and only if their voxels are in the solid with this fill.
    ///
    /// # Errors
    /// A mesh in a window; as [`new`](Self::new).
    pub fn of_placed(
        mesh: PlacedMesh,
        fill: Fill,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Self, ProximityError> {
        if mesh.window().is_some() {
            return Err(BackendError::NotInTiles("points are near any part of the mesh").into());
        }
        if fill == Fill::Flood {
            return Err(ProximityError::Flood);
        }
        let progress = &Latch::new(progress);
        let of_tree = TriangleBvh::bytes(mesh.len());
        check_memory(of_tree, memory)?;
        progress.start("analyze", 0);
        let mut oriented = Cow::Borrowed(&mesh);
        let OrientedSurface { topology, boundary, .. } =
            OrientedSurface::orient(&mut oriented, memory - of_tree, progress)
                .map_err(|error| error.with_kept_bytes(of_tree, memory))?;
        let oriented = oriented.into_owned();
        let is_unoriented = topology.is_closed() && !topology.is_oriented();
        let fill = match fill {
            Fill::Parity | Fill::Vote => fill,
            Fill::Auto if is_unoriented => Fill::Parity,
            _ => Fill::Winding,
        };
        let boundary = boundary.filter(|boundary| fill == Fill::Winding && boundary.edges() > 0);
        check_memory(of_tree + boundary.as_ref().map_or(0, Field::bytes), memory)?;
        let field = boundary.map(|boundary| Field::new(&boundary, mesh.lattice()));
        check_cancelled(progress)?;
        let (bvh, bounds) = (TriangleBvh::new(&mesh, &[0, 1, 2]), mesh.bounds());
        Ok(Self { mesh, bvh, bounds, oriented, topology, fill, field, arch: Arch::new() })
    }

    /// The lattice of mesh and points.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        self.mesh.lattice()
    }

    /// The rule for inside, as that of a solid: parity, winding or vote.
    #[must_use]
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// The topology of the mesh, after parts were flipped.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The nearest point of the mesh to each of `points`.
    ///
    /// # Errors
    /// A point that has no finite distance; cancelled.
    pub fn nearest<T: Copy + Into<f64> + Sync>(
        &self,
        points: &[[T; 3]],
        progress: &dyn Progress,
    ) -> Result<Vec<Nearest>, ProximityError> {
        self.each(points, progress, |queries| {
            let mut search = Search::new(self);
            let nearest = |query: &Query| {
                let nearest = search.nearest(query);
                let Candidate { index, squared, .. } = *nearest;
                let weights = nearest.weights(query.at);
                let distance = self.distance(query, squared);
                Nearest { distance, triangle: index, weights, point: self.point(index, weights) }
            };
            queries.iter().map(nearest).collect()
        })
    }

    /// The distance of each of `points`, in mesh units: negative inside, and 0 on the mesh.
    ///
    /// # Errors
    /// As [`nearest`](Self::nearest).
    pub fn distances<T: Copy + Into<f64> + Sync>(
        &self,
        points: &[[T; 3]],
        progress: &dyn Progress,
    ) -> Result<Vec<f64>, ProximityError> {
        self.each(points, progress, |queries| {
            let mut search = Search::new(self);
            let signed = |(query, is_inside): (&Query, bool)| {
                let distance = self.distance(query, search.nearest(query).squared);
                if is_inside && distance > 0.0 { -distance } else { distance }
            };
            queries.iter().zip(self.are_inside(queries)).map(signed).collect()
        })
    }

    /// Whether each of `points` is inside. A point on the mesh belongs to one of its sides as a
    /// voxel centre does: of two meshes on one lattice that share a face, each point of the face is
    /// inside exactly one.
    ///
    /// # Errors
    /// As [`nearest`](Self::nearest).
    pub fn contains<T: Copy + Into<f64> + Sync>(
        &self,
        points: &[[T; 3]],
        progress: &dyn Progress,
    ) -> Result<Vec<bool>, ProximityError> {
        self.each(points, progress, |queries| self.are_inside(queries))
    }

    /// Calls `answer` in parallel with parts of the points along a Morton curve, so that neighbours
    /// are answered together.
    fn each<T: Copy + Into<f64> + Sync, R: Copy + Default + Send>(
        &self,
        points: &[[T; 3]],
        progress: &dyn Progress,
        answer: impl Fn(&[Query]) -> Vec<R> + Sync,
    ) -> Result<Vec<R>, ProximityError> {
        let progress = &Latch::new(progress);
        progress.start("points", points.len() as u64);
        let query = |index: usize| {
            let point: [f64; 3] = points[index].map(Into::into);
            Query::new(self.lattice(), &self.bounds, point)
                .ok_or(ProximityError::Point { index, point })
        };
        let indices = || (0..points.len()).into_par_iter();
        let keyed = |index| query(index).map(|query| (query.morton_code(), index));
        let order: Result<Vec<(u64, usize)>, _> = indices().map(keyed).collect();
        // The error of any point: the first one is reported.
        let first = |error| indices().find_map_first(|index| query(index).err()).unwrap_or(error);
        let mut order = order.map_err(first)?;
        order.par_sort_unstable();
        let per_task = points.len() / (8 * rayon::current_num_threads());
        let per_task = per_task.clamp(TASK[0], TASK[1]);
        let answers = order.par_chunks(per_task).map(|task| {
            check_cancelled(progress)?;
            let queries = task.iter().map(|&(_, index)| query(index));
            let answers = answer(&queries.collect::<Result<Vec<Query>, _>>()?);
            progress.advance(task.len() as u64);
            Ok(answers)
        });
        let answers = answers.collect::<Result<Vec<Vec<R>>, ProximityError>>()?;
        let mut all = vec![R::default(); points.len()];
        for ((_, index), answer) in order.into_iter().zip(answers.into_iter().flatten()) {
            all[index] = answer;
        }
        Ok(all)
    }

    /// In mesh units, from the squared distance in units of the query. Of a far point the product
    /// may be past `f64` where the distance is not.
    fn distance(&self, query: &Query, squared: f64) -> f64 {
        squared.sqrt() / self.lattice().scale * query.unit()
    }

    /// The point of a triangle with these barycentric coordinates, in mesh units.
    fn point(&self, triangle: u32, weights: [f64; 3]) -> [f64; 3] {
        let lattice = self.lattice();
        let corners = self.mesh.triangle(triangle as usize);
        [0, 1, 2].map(|axis| {
            // An integer below 2^37.
            let units_per_voxel = f64::from(lattice.units_per_voxel());
            let anchor = f64::from(lattice.anchor_voxel[axis]) * units_per_voxel;
            let [a, b, c] = corners.map(|corner| f64::from(corner[axis]) - anchor);
            let units = a * weights[0] + b * weights[1] + c * weights[2];
            lattice.anchor[axis] + units / lattice.scale
        })
    }
}
