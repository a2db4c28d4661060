//! Where meshes come from.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::formats::{MeshSpec, Sidecars};
use crate::mesh::Mesh;

/// A mesh in a file or in memory. Paths and meshes convert to it.
///
/// ```
/// use trivox::formats::{MeshSpec, Sidecars};
/// use trivox::{MeshSource, Voxelizer};
///
/// let bytes = std::fs::read("assets/cube.obj")?;
/// let spec = MeshSpec::of_extension("obj")?;
/// let voxelizer = Voxelizer::new().resolution(32);
/// let of_bytes = voxelizer.run(MeshSource::Bytes { bytes, spec, sidecars: Sidecars::none() })?;
/// assert_eq!(of_bytes.grid, voxelizer.run("assets/cube.obj")?.grid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum MeshSource<'a> {
    /// A file, whose format is that of its extension, with the sidecar files beside it.
    File(Cow<'a, Path>),
    /// The bytes of a file.
    Bytes {
        /// All of them.
        bytes: Vec<u8>,
        /// The file's format.
        spec: &'static MeshSpec,
        /// The only other files that are opened.
        sidecars: Sidecars,
    },
    /// A mesh in memory.
    Mesh(Cow<'a, Mesh>),
}

impl MeshSource<'_> {
    /// The same source for a second use. Copies bytes, but no mesh.
    pub(super) fn again(&self) -> MeshSource<'_> {
        match self {
            Self::File(path) => path.as_ref().into(),
            Self::Mesh(mesh) => mesh.as_ref().into(),
            bytes @ Self::Bytes { .. } => bytes.clone(),
        }
    }
}

impl<'a> From<&'a str> for MeshSource<'a> {
    fn from(path: &'a str) -> Self {
        Self::File(Path::new(path).into())
    }
}

impl<'a> From<&'a Path> for MeshSource<'a> {
    fn from(path: &'a Path) -> Self {
        Self::File(path.into())
    }
}

impl<'a> From<&'a PathBuf> for MeshSource<'a> {
    fn from(path: &'a PathBuf) -> Self {
        Self::File(path.into())
    }
}

impl From<PathBuf> for MeshSource<'_> {
    fn from(path: PathBuf) -> Self {
        Self::File(path.into())
    }
}

impl From<String> for MeshSource<'_> {
    fn from(path: String) -> Self {
        PathBuf::from(path).into()
    }
}

impl<'a> From<&'a Mesh> for MeshSource<'a> {
    fn from(mesh: &'a Mesh) -> Self {
        Self::Mesh(Cow::Borrowed(mesh))
    }
}

impl From<Mesh> for MeshSource<'_> {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(Cow::Owned(mesh))
    }
}
