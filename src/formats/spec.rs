//! A format: its names, its reader and its writer.

use std::io::{BufRead, BufWriter, Write};

use crate::formats::{
    LoadedGrid, LoadedMesh, ReadError, ReadOptions, Sidecars, WriteError, WriteOptions,
};
use crate::grid::{Attribute, Up, VoxelGrid};
use crate::solid::distance::DistanceField;

/// A reader of a file, within the memory limit as far as a small file could need more.
type ReadGrid = fn(&mut dyn BufRead, &ReadOptions) -> Result<LoadedGrid, ReadError>;
type WriteDistances = fn(&DistanceField, &mut Out) -> Result<(), WriteError>;
type WriteGrid = fn(&VoxelGrid, &WriteOptions, &mut Out) -> Result<(), WriteError>;

/// The buffered output of a writer; its caller flushes it.
pub(super) type Out<'a> = BufWriter<&'a mut dyn Write>;

/// The description of a grid format.
#[derive(Debug)]
#[non_exhaustive]
pub struct GridSpec {
    /// The file extension, without the dot.
    pub extension: &'static str,
    /// The name of the format, for people.
    pub name: &'static str,
    /// The contents of a file, and the largest grid.
    pub carries: &'static str,
    pub(super) read: Option<ReadGrid>,
    pub(super) write: WriteGrid,
    pub(super) check_dims: fn([u32; 3], &WriteOptions) -> Result<(), WriteError>,
    pub(super) file_size: fn([u32; 3]) -> Option<u64>,
    /// The properties of a grid that a file loses, a sentence each.
    pub(super) lost: fn(&VoxelGrid, &WriteOptions) -> Vec<Option<String>>,
    pub(super) distances: Option<WriteDistances>,
    pub(super) distances_size: fn([u32; 3]) -> Option<u64>,
    /// Whether the format stores colours.
    pub has_colors: bool,
    pub(super) has_palette: bool,
    pub(super) attributes: fn(&WriteOptions) -> &'static [Attribute],
}

impl GridSpec {
    /// What most formats have in common, and no name: written by `write` and not read, for grids of
    /// any dimensions, without colours or distances.
    pub(super) const fn plain(write: WriteGrid) -> Self {
        Self {
            extension: "",
            name: "",
            carries: "",
            read: None,
            write,
            check_dims: |_, _| Ok(()),
            file_size: |_| None,
            lost: |_, _| Vec::new(),
            distances: None,
            distances_size: |_| None,
            has_colors: false,
            has_palette: false,
            attributes: |_| &[],
        }
    }

    /// Whether the format can be read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// The [attributes](VoxelGrid::attributes) that a file written with `options` stores.
    #[must_use]
    pub fn attributes(&self, options: &WriteOptions) -> &'static [Attribute] {
        (self.attributes)(options)
    }

    /// Whether the format stores a [`DistanceField`].
    #[must_use]
    pub fn has_distances(&self) -> bool {
        self.distances.is_some()
    }
}

/// The description of a mesh format.
#[derive(Debug)]
#[non_exhaustive]
pub struct MeshSpec {
    /// The file extension, without the dot.
    pub extension: &'static str,
    /// The name of the format, for people.
    pub name: &'static str,
    /// The contents read from a file.
    pub carries: &'static str,
    /// Rejects files of other formats before the whole file is read, by their first
    /// [`START`](crate::formats::io::bytes::START) bytes, and their length if it is known.
    pub(super) check_start: fn(&[u8], Option<u64>) -> Result<(), ReadError>,
    pub(super) read: fn(Vec<u8>, &Sidecars, &ReadOptions) -> Result<LoadedMesh, ReadError>,
}

/// The loss of a format without a world position.
pub(super) fn lost_place(grid: &VoxelGrid) -> Option<String> {
    let lost = "where the grid lies, its voxel size and which axis is up are not kept";
    grid.world.place.map(|_| lost.to_owned()).or_else(|| lost_up(grid))
}

/// The statement of a file with a world position for a grid of unknown place.
pub(super) fn assumed_place(grid: &VoxelGrid) -> Option<String> {
    let assumed = "where the grid lies is not known: the file says that it begins at (0, 0, 0), in \
                   voxels of 1";
    grid.world.place.is_none().then(|| assumed.to_owned())
}

/// The loss of a format with a world position, but without an up axis: `y` is assumed.
pub(super) fn lost_up(grid: &VoxelGrid) -> Option<String> {
    (grid.world.up == Up::Z).then(|| "that z is up is not kept".to_owned())
}

/// The loss of a format with attributes, but without their names.
pub(super) fn lost_names(grid: &VoxelGrid) -> Option<String> {
    let mut names = grid.attributes.iter().flat_map(|all| all.names().values().flatten());
    let lost = names.any(|name| !name.is_empty());
    lost.then(|| "the names of materials and objects are not kept".to_owned())
}

/// The loss of a format without colours.
pub(super) fn lost_colors(grid: &VoxelGrid) -> Option<String> {
    grid.colors.as_ref().map(|_| "the voxels' colours are not kept".to_owned())
}

/// The loss of a format with colours, but without opacity.
pub(super) fn lost_opacity(grid: &VoxelGrid) -> Option<String> {
    (!grid.is_opaque()).then(|| "how opaque the voxels are is not kept".to_owned())
}
