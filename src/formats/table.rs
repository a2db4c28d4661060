//! The formats by extension.

use std::borrow::Cow;
use std::path::Path;

#[cfg(feature = "palette")]
use crate::formats::grid::minecraft::{self, litematic, schem};
use crate::formats::grid::openvdb::{nvdb, vdb};
#[cfg(feature = "palette")]
use crate::formats::grid::vox;
use crate::formats::grid::{binvox, bricks, mitsuba, npy, npz, vti};
use crate::formats::mesh::{gltf, obj, off, ply, stl, threemf};
use crate::formats::{
    GridSpec, MeshSpec, ReadError, WriteError, WriteOptions, checked_dims, surface,
};
#[cfg(feature = "palette")]
use crate::grid::Colors;
use crate::grid::{AttributeSet, Attributes, VoxelGrid};

/// The formats of meshes.
pub const MESH_FORMATS: [&MeshSpec; 7] = [
    &obj::SPEC,
    &stl::SPEC,
    &ply::SPEC,
    &off::SPEC,
    &gltf::SPEC,
    &gltf::BINARY_SPEC,
    &threemf::SPEC,
];

/// The enumeration of the formats, their list, and their descriptions, from one table.
macro_rules! grid_formats {
    ($($(#[cfg($condition:meta)])? $format:ident: $spec:path, $doc:literal;)*) => {
        /// The formats of grids.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum GridFormat {
            $($(#[cfg($condition)])? #[doc = $doc] $format,)*
        }

        impl GridFormat {
            /// All of them.
            pub const ALL: [Self; [$($(#[cfg($condition)])? $doc,)*].len()] =
                [$($(#[cfg($condition)])? Self::$format,)*];

            /// The format's description.
            #[must_use]
            pub fn spec(self) -> &'static GridSpec {
                match self {
                    $($(#[cfg($condition)])? Self::$format => &$spec,)*
                }
            }
        }
    };
}

grid_formats! {
    #[cfg(feature = "palette")]
    Vox: vox::SPEC, "MagicaVoxel.";
    Npy: npy::SPEC, "NumPy.";
    Npz: npz::SPEC, "NumPy, several arrays.";
    Binvox: binvox::SPEC, "Patrick Min's binvox.";
    Vti: vti::SPEC, "VTK.";
    Vol: mitsuba::SPEC, "Mitsuba.";
    Bricks: bricks::SPEC, "trivox's own, in the layout of memory.";
    Vdb: vdb::SPEC, "OpenVDB.";
    Nvdb: nvdb::SPEC, "NanoVDB.";
    #[cfg(feature = "palette")]
    Schem: schem::SPEC, "Sponge's, for Minecraft.";
    #[cfg(feature = "palette")]
    Litematic: litematic::SPEC, "Litematica's, for Minecraft.";
    Ply: surface::ply::SPEC, "Stanford PLY: a mesh of the voxels' surface, like the two below.";
    Obj: surface::obj::SPEC, "Wavefront's.";
    Glb: surface::glb::SPEC, "glTF's.";
}

impl GridFormat {
    /// Whether the format has a palette of colours.
    #[must_use]
    pub fn has_palette(self) -> bool {
        self.spec().has_palette
    }

    /// The file extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.spec().extension
    }

    /// Whether a file of the format that is written with `options` can hold a grid of `dims`
    /// voxels.
    ///
    /// # Errors
    /// It cannot; the message states the largest grid.
    pub fn check_dims(self, dims: [u32; 3], options: &WriteOptions) -> Result<(), WriteError> {
        (self.spec().check_dims)(dims, options)
    }

    /// Whether the format can hold a field of distances.
    ///
    /// # Errors
    /// It cannot; the message lists the formats that can.
    pub fn check_distances(self) -> Result<(), WriteError> {
        self.check("distances", GridSpec::has_distances, "")
    }

    /// Whether a file of the format that is written with `options` can hold `attributes`.
    ///
    /// # Errors
    /// It cannot; the message names one that it cannot hold, and the formats that hold all.
    pub fn check_attributes(
        self,
        attributes: &AttributeSet,
        options: &WriteOptions,
    ) -> Result<(), WriteError> {
        let lost = |spec: &GridSpec| {
            let kept = spec.attributes(options);
            attributes.iter().find(|of| !kept.contains(of))
        };
        let what = lost(self.spec()).map(|attribute| format!("the attribute '{attribute}'"));
        let or = if options.points { "" } else { ", or .ply as points" };
        self.check(&what.unwrap_or_default(), |spec| lost(spec).is_none(), or)
    }

    /// Checks that the format can hold `what`; otherwise names the formats that can, and others.
    fn check(
        self,
        what: &str,
        can: impl Fn(&GridSpec) -> bool,
        others: &str,
    ) -> Result<(), WriteError> {
        if can(self.spec()) {
            return Ok(());
        }
        let able = Self::ALL.into_iter().filter(|format| can(format.spec()));
        let able: Vec<String> = able.map(|format| format!(".{}", format.extension())).collect();
        Err(WriteError::Unsupported(format!(
            ".{} files cannot hold {what}: use one of {}{others}",
            self.extension(),
            able.join(", ")
        )))
    }

    /// A lower bound of the file size in bytes, for formats whose size depends mainly on `dims`.
    /// `None` also for dimensions that no grid has.
    #[must_use]
    pub fn file_size(self, dims: [u32; 3]) -> Option<u64> {
        checked_dims(dims).ok().and_then(self.spec().file_size)
    }

    /// A lower bound of the size of a file of distances, like [`file_size`](Self::file_size).
    #[must_use]
    pub fn distances_size(self, dims: [u32; 3]) -> Option<u64> {
        checked_dims(dims).ok().and_then(self.spec().distances_size)
    }

    /// The properties of `grid` that a file of this format, written with `options`, loses or
    /// changes, a sentence each.
    #[must_use]
    pub fn lost(self, grid: &VoxelGrid, options: &WriteOptions) -> Vec<String> {
        let all = grid.attributes.as_ref().map(Attributes::set).unwrap_or_default();
        let kept = self.spec().attributes(options);
        let lost = all.iter().filter(|of| !kept.contains(of));
        let names: Vec<&str> = lost.map(|of| of.name()).collect();
        let attributes = format!("the voxels' attributes are not kept: {}", names.join(", "));
        let attributes = (!names.is_empty()).then_some(attributes);
        (self.spec().lost)(grid, options).into_iter().flatten().chain(attributes).collect()
    }

    /// The colours of the voxels of `grid` in a file with a palette or blocks; `None` for other
    /// formats, and for a palette if the grid has no colours.
    #[cfg(feature = "palette")]
    #[must_use]
    pub fn painted(self, grid: &VoxelGrid, options: &WriteOptions) -> Option<Colors> {
        match self {
            Self::Vox => vox::painted(grid, options),
            Self::Schem | Self::Litematic => Some(minecraft::painted(grid, options)),
            _ => None,
        }
    }

    /// The format that a file of this name has.
    ///
    /// # Errors
    /// No extension, or an unknown one.
    pub fn of_path(path: impl AsRef<Path>) -> Result<Self, WriteError> {
        Self::of_extension(&extension_of(path.as_ref()))
    }

    /// The format that files with this extension have, with or without its dot.
    ///
    /// # Errors
    /// As [`of_path`](Self::of_path).
    pub fn of_extension(extension: &str) -> Result<Self, WriteError> {
        let extension = plain(extension);
        let found = Self::ALL.into_iter().find(|format| format.extension() == extension);
        let known = Self::ALL.map(Self::extension);
        found.ok_or_else(|| WriteError::Unsupported(unknown_extension(&extension, &known)))
    }
}

impl MeshSpec {
    /// The format that a file of this name has.
    ///
    /// # Errors
    /// No extension, or an unknown one.
    pub fn of_path(path: impl AsRef<Path>) -> Result<&'static Self, ReadError> {
        Self::of_extension(&extension_of(path.as_ref()))
    }

    /// The format that files with this extension have, with or without its dot.
    ///
    /// # Errors
    /// As [`of_path`](Self::of_path).
    pub fn of_extension(extension: &str) -> Result<&'static Self, ReadError> {
        let extension = plain(extension);
        let found = MESH_FORMATS.into_iter().find(|spec| spec.extension == extension);
        let known = MESH_FORMATS.map(|spec| spec.extension);
        found.ok_or_else(|| ReadError::Unsupported(unknown_extension(&extension, &known)))
    }
}

/// Whether a file of this name is read as a mesh.
#[must_use]
pub fn is_mesh(path: &Path) -> bool {
    MeshSpec::of_path(path).is_ok()
}

/// Checks that a file of this name is a mesh or a grid.
///
/// # Errors
/// The extension is unknown; the message lists those of the formats that are read.
pub fn check_known_extension(path: &Path) -> Result<(), ReadError> {
    let meshes = MESH_FORMATS.iter().map(|spec| spec.extension);
    if is_mesh(path) { Ok(()) } else { grid_of_path(path, meshes).map(|_| ()) }
}

/// The format of a grid in a file of this name. An error lists `others` and the extensions of the
/// grids that are read.
pub(super) fn grid_of_path(
    path: &Path,
    others: impl Iterator<Item = &'static str>,
) -> Result<GridFormat, ReadError> {
    GridFormat::of_path(path).map_err(|_| {
        let grids = GridFormat::ALL.into_iter().filter(|format| format.spec().is_read());
        let known: Vec<&str> = others.chain(grids.map(GridFormat::extension)).collect();
        ReadError::Unsupported(unknown_extension(&plain(&extension_of(path)), &known))
    })
}

/// Files of programs that also write glTF.
const SCENES: [&str; 17] = [
    "3ds", "abc", "blend", "c4d", "dae", "fbx", "lwo", "ma", "max", "mb", "usd", "usda", "usdc",
    "usdz", "wrl", "x", "x3d",
];
/// Files of programs that also write STL.
const PARTS: [&str; 9] = ["dwg", "dxf", "f3d", "ifc", "iges", "igs", "sldprt", "step", "stp"];

/// Compressed files.
const PACKED: [&str; 6] = ["7z", "bz2", "gz", "xz", "zip", "zst"];

/// Whether a file of this name is a mesh in a format that is not read, or a compressed mesh.
#[must_use]
pub fn is_unread_mesh(path: &Path) -> bool {
    let extension = plain(&extension_of(path));
    let is_packed = PACKED.contains(&&extension[..]);
    SCENES.iter().chain(&PARTS).any(|unread| *unread == extension)
        || is_packed && path.file_stem().is_some_and(|name| is_mesh(name.as_ref()))
}

fn extension_of(path: &Path) -> Cow<'_, str> {
    path.extension().unwrap_or_default().to_string_lossy()
}

/// In lower case, without a dot.
fn plain(extension: &str) -> String {
    extension.strip_prefix('.').unwrap_or(extension).to_lowercase()
}

fn unknown_extension(extension: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    let reads_meshes = known.iter().any(|known| known == ".stl");
    let known = known.join(", ");
    match extension {
        _ if reads_meshes && SCENES.contains(&extension) => format!(
            ".{extension} files are not read: export glTF from Blender (File, Export), as .glb"
        ),
        _ if reads_meshes && PARTS.contains(&extension) => {
            format!(".{extension} files are not read: export .stl from the program that made it")
        }
        _ if PACKED.contains(&extension) => {
            format!(".{extension} files are not read: decompress the file in it")
        }
        "" => format!("no file extension: use one of {known}"),
        "schematic" => {
            ".schematic files are neither read nor written: use .schem, which WorldEdit loads and \
             saves, or .litematic, which Litematica does"
                .to_owned()
        }
        "vox" | "schem" | "litematic" if cfg!(not(feature = "palette")) => {
            format!("this build cannot use .{extension} files: enable the feature `palette`")
        }
        _ => format!("unknown file extension '.{extension}': use one of {known}"),
    }
}
