//! The triangle mesh, and the one place where it is validated.

pub mod appearance;
pub(crate) mod labels;

use std::array::from_fn;
use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::mesh::appearance::Appearance;

pub use labels::Labels;

/// An error in the positions or triangles of a [`Mesh`].
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There is nothing to voxelize.
    #[error("the mesh has no triangles")]
    NoTriangles,
    /// A triangle's vertex index is out of range.
    #[error("triangle {triangle} uses vertex {index}, but there are {vertices} (counted from 0)")]
    IndexOutOfRange {
        /// The triangle's index, from 0.
        triangle: usize,
        /// The vertex index.
        index: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has the coordinate {value}, which is not a finite number")]
    NotFinite {
        /// The vertex index, from 0.
        vertex: usize,
        /// The coordinate.
        value: f64,
    },
    /// More vertices or triangles than 32-bit indices allow.
    #[error("the mesh has {count} {what}; at most {} are supported", u32::MAX)]
    TooLarge {
        /// `vertices` or `triangles`.
        what: &'static str,
        /// Their number.
        count: u64,
    },
    /// The appearance does not fit the triangles and vertices.
    #[error("the mesh's appearance does not fit it: {0}")]
    Appearance(String),
}

impl ErrorCode for MeshError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoTriangles => "mesh.no_triangles",
            Self::IndexOutOfRange { .. } => "mesh.index_out_of_range",
            Self::NotFinite { .. } => "mesh.not_finite",
            Self::TooLarge { .. } => "mesh.too_large",
            Self::Appearance(_) => "mesh.appearance",
        }
    }
}

/// Fails for more vertices or triangles than 32-bit indices allow.
pub(crate) fn check_counts(vertices: u64, triangles: u64) -> Result<(), MeshError> {
    for (what, count) in [("vertices", vertices), ("triangles", triangles)] {
        if count > u64::from(u32::MAX) {
            return Err(MeshError::TooLarge { what, count });
        }
    }
    Ok(())
}

/// A triangle mesh, in mesh units. Every index is in range, and every vertex that a triangle uses
/// is finite. Degenerate triangles (a segment, a point) are valid. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    positions: Arc<Vec<[f64; 3]>>,
    /// Shared with the placed mesh, like the appearance.
    triangles: Arc<Vec<[u32; 3]>>,
    appearance: Option<Arc<Appearance>>,
    labels: Option<Arc<Labels>>,
}

/// The triangles, appearance and labels of a mesh, shared with its placements.
type Shared = (Arc<Vec<[u32; 3]>>, Option<Arc<Appearance>>, Option<Arc<Labels>>);

impl Mesh {
    /// Makes a mesh of vertex positions (mesh units) and triangles (vertex indices).
    ///
    /// # Errors
    /// No triangles, an index out of range, a coordinate that is not finite (of a vertex that a
    /// triangle uses), or more than `u32::MAX` of either.
    pub fn new(positions: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        check_counts(positions.len() as u64, triangles.len() as u64)?;
        if triangles.is_empty() {
            return Err(MeshError::NoTriangles);
        }
        // One sequential pass over the coordinates is much faster than a check per triangle corner.
        let all_finite = positions.as_flattened().iter().all(|c| c.is_finite());
        let fault = |triangle: usize| {
            triangles[triangle].iter().find_map(|&index| match positions.get(index as usize) {
                None => {
                    Some(MeshError::IndexOutOfRange { triangle, index, vertices: positions.len() })
                }
                Some(_) if all_finite => None,
                Some(position) => position
                    .iter()
                    .find(|c| !c.is_finite())
                    .map(|&value| MeshError::NotFinite { vertex: index as usize, value }),
            })
        };
        // Parallel by many triangles at a time: the search for the first fault costs more than one.
        const PART: usize = 1 << 14;
        let parts = (0..triangles.len().div_ceil(PART)).into_par_iter();
        let first =
            |part: usize| (part * PART..triangles.len().min((part + 1) * PART)).find_map(fault);
        if let Some(error) = parts.find_map_first(first) {
            return Err(error);
        }
        let (positions, triangles) = (Arc::new(positions), Arc::new(triangles));
        Ok(Self { positions, triangles, appearance: None, labels: None })
    }

    /// One mesh of several, each of which becomes an object with the name beside it, in the order
    /// given. The label of an object is its place in this order, from 0. Materials and colours are
    /// kept; a mesh without any is white beside one with them. Triangles keep their orientation:
    /// [`LoadedMesh::join`](crate::formats::LoadedMesh::join) is for bodies, which face outwards.
    ///
    /// ```
    /// use trivox::Mesh;
    ///
    /// let corners = |z| vec![[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]];
    /// let sheet = |z| Mesh::new(corners(z), vec![[0, 1, 2]]);
    /// let both = Mesh::join([("low", &sheet(0.0)?), ("high", &sheet(1.0)?)])?;
    /// assert_eq!(both.triangles(), [[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(both.labels().expect("objects").names(), ["low", "high"]);
    /// # Ok::<(), trivox::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// There is no mesh; more than `u32::MAX` vertices or triangles.
    pub fn join<'a>(
        meshes: impl IntoIterator<Item = (&'a str, &'a Self)>,
    ) -> Result<Self, MeshError> {
        let (names, meshes): (Vec<&str>, Vec<&Self>) = meshes.into_iter().unzip();
        let vertices: usize = meshes.iter().map(|mesh| mesh.positions.len()).sum();
        let count: usize = meshes.iter().map(|mesh| mesh.triangles.len()).sum();
        check_counts(vertices as u64, count as u64)?;
        let (mut positions, mut triangles) =
            (Vec::with_capacity(vertices), Vec::with_capacity(count));
        let mut objects = Vec::with_capacity(names.len());
        for (name, mesh) in names.iter().zip(&meshes) {
            let first = positions.len() as u32;
            objects.push((triangles.len(), *name));
            positions.extend_from_slice(&mesh.positions);
            triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|c| c + first)));
        }
        let appearance =
            Appearance::join(meshes.iter().map(|mesh| {
                (mesh.appearance.as_deref(), mesh.positions.len(), mesh.triangles.len())
            }));
        let labels = Labels::of(objects, triangles.len(), false);
        Ok(Self::new(positions, triangles)?.with_appearance(appearance)?.with_labels(labels))
    }

    /// The same mesh with this appearance.
    ///
    /// # Errors
    /// The appearance is for other numbers of triangles or vertices, or an index is out of range.
    pub fn with_appearance(
        self,
        appearance: impl Into<Option<Appearance>>,
    ) -> Result<Self, MeshError> {
        let appearance = appearance.into();
        if let Some(appearance) = &appearance {
            let checked = appearance.check(self.positions.len(), self.triangles.len());
            checked.map_err(MeshError::Appearance)?;
        }
        Ok(Self { appearance: appearance.map(Arc::new), ..self })
    }

    /// The same mesh with these objects.
    #[must_use]
    pub fn with_labels(self, labels: impl Into<Option<Labels>>) -> Self {
        Self { labels: labels.into().map(Arc::new), ..self }
    }

    /// The same mesh with all triangles reversed.
    pub(crate) fn reversed(self) -> Self {
        let mut triangles = Arc::unwrap_or_clone(self.triangles);
        triangles.par_iter_mut().for_each(|corners| corners.swap(1, 2));
        let appearance = self.appearance.map(|look| {
            let mut look = Arc::unwrap_or_clone(look);
            look.uvs.par_iter_mut().for_each(|corners| corners.swap(1, 2));
            Arc::new(look)
        });
        Self { triangles: Arc::new(triangles), appearance, ..self }
    }

    /// The same mesh with `map` applied to each vertex position.
    ///
    /// # Errors
    /// A coordinate that a triangle uses is no longer finite.
    pub fn with_positions(
        self,
        map: impl Fn([f64; 3]) -> [f64; 3] + Sync,
    ) -> Result<Self, MeshError> {
        let Self { positions, triangles, appearance, labels } = self;
        let mut positions = Arc::unwrap_or_clone(positions);
        positions.par_iter_mut().for_each(|position| *position = map(*position));
        let mesh = Self::new(positions, Arc::unwrap_or_clone(triangles))?;
        Ok(Self { appearance, labels, ..mesh })
    }

    /// The materials and colours, if known.
    #[must_use]
    pub fn appearance(&self) -> Option<&Appearance> {
        self.appearance.as_deref()
    }

    /// The objects that its triangles are of, if the file has any.
    #[must_use]
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_deref()
    }

    /// Vertex positions, in mesh units. Some may belong to no triangle.
    #[must_use]
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// Triangles, as indices into [`positions`](Self::positions); at least one.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(crate) fn shared(&self) -> Shared {
        (Arc::clone(&self.triangles), self.appearance.clone(), self.labels.clone())
    }

    /// Minimum and maximum corner of the vertices that triangles use, in mesh units.
    #[must_use]
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let empty = || [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        // No coordinate is NaN, so that a comparison does, an instruction instead of the several
        // of `f64::min`.
        let smaller = |a: f64, b: f64| if a < b { a } else { b };
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let add = |[min, max]: [[f64; 3]; 2], p: [f64; 3]| {
            [from_fn(|a| smaller(p[a], min[a])), from_fn(|a| larger(p[a], max[a]))]
        };
        let add_corners = |bounds: [[f64; 3]; 2], corners: &[u32; 3]| {
            corners
                .iter()
                .fold(bounds, |bounds, &index| add(bounds, self.positions[index as usize]))
        };
        let partial = self.triangles.par_iter().with_min_len(1 << 12).fold(empty, add_corners);
        let bounds = partial.reduce(empty, |one, two| two.into_iter().fold(one, add));
        // Adding 0 turns -0 into 0: which of the two `min` returns depends on the order.
        bounds.map(|corner| corner.map(|c| c + 0.0))
    }
}
