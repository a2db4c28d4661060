//! The sources of meshes.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::formats::{LoadedMesh, MeshSpec, Sidecars};
use crate::mesh::Mesh;

/// A mesh in a file or in memory. Paths and meshes convert to it.
///
/// ```
/// use trivox::formats::{MeshSpec, Sidecars};
/// use trivox::{MeshSource, Voxelizer};
///
/// let bytes = std::fs::read("assets/cube.obj")?.into();
/// let spec = MeshSpec::of_extension("obj")?;
/// let source = MeshSource::Bytes { bytes, spec, sidecars: Sidecars::none() };
/// let voxelizer = Voxelizer::new().resolution(32);
/// assert_eq!(voxelizer.run(source)?.grid, voxelizer.run("assets/cube.obj")?.grid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum MeshSource<'a> {
    /// A file, whose format is that of its extension, with the sidecar files beside it.
    File(Cow<'a, Path>),
    /// The bytes of a file.
    Bytes {
        /// All of them.
        bytes: Cow<'a, [u8]>,
        /// The file's format.
        spec: &'static MeshSpec,
        /// The only other files that are opened.
        sidecars: Sidecars,
    },
    /// A mesh in memory.
    Mesh(Cow<'a, Mesh>),
    /// A mesh that was read before, with its warnings and sidecar files.
    Loaded(Box<LoadedMesh>),
}

impl fmt::Debug for MeshSource<'_> {
    /// Without the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Bytes { bytes, spec, .. } => {
                write!(f, "Bytes(.{}, {} bytes)", spec.extension, bytes.len())
            }
            Self::Mesh(mesh) => write!(f, "Mesh({} triangles)", mesh.triangles().len()),
            Self::Loaded(loaded) => {
                write!(f, "Loaded({} triangles)", loaded.mesh.triangles().len())
            }
        }
    }
}

/// Conversions from borrowed and from owned paths.
macro_rules! paths {
    ($($borrowed:ty, $owned:ty);*) => {
        $(
            impl<'a> From<&'a $borrowed> for MeshSource<'a> {
                fn from(path: &'a $borrowed) -> Self {
                    Self::File(Path::new(path).into())
                }
            }

            impl<'a> From<&'a $owned> for MeshSource<'a> {
                fn from(path: &'a $owned) -> Self {
                    Self::File(Path::new(path).into())
                }
            }

            impl From<$owned> for MeshSource<'_> {
                fn from(path: $owned) -> Self {
                    Self::File(PathBuf::from(path).into())
                }
            }
        )*
    };
}
paths!(str, String; OsStr, OsString; Path, PathBuf);

impl<'a> From<&'a Mesh> for MeshSource<'a> {
    fn from(mesh: &'a Mesh) -> Self {
        Self::Mesh(Cow::Borrowed(mesh))
    }
}

impl From<LoadedMesh> for MeshSource<'_> {
    fn from(loaded: LoadedMesh) -> Self {
        Self::Loaded(Box::new(loaded))
    }
}

impl From<Mesh> for MeshSource<'_> {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(Cow::Owned(mesh))
    }
}
