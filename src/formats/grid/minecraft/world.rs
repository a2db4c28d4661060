//! The world position in a schematic's metadata, read.

use std::io::Read;

use super::nbt::{DOUBLE, LIST, STRING, TagReader};
use crate::formats::{ReadError, checked_place, content, excerpt};
use crate::grid::{Place, Up, World};

/// The tags of the compound `trivox`.
#[derive(Default)]
pub(super) struct WorldTags {
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
}

impl WorldTags {
    /// Takes the compound's tags, to its end.
    pub(super) fn take(&mut self, tags: &mut TagReader<impl Read>) -> Result<(), ReadError> {
        while let Some((tag, name)) = tags.next()? {
            match (tag, name.as_str()) {
                (LIST, "Origin") => self.origin = tags.doubles()?,
                (DOUBLE, "VoxelSize") => self.voxel_size = Some(tags.double()?),
                (STRING, "Up") => {
                    let up = tags.text()?;
                    let refused = |_| content(format!("'{}' cannot be up", excerpt(&up)));
                    self.up = Some(up.parse().map_err(refused)?);
                }
                _ => tags.skip(tag, 0)?,
            }
        }
        Ok(())
    }

    /// The world; by default that of the game, where `y` is up.
    ///
    /// # Errors
    /// An impossible place.
    pub(super) fn world(&self) -> Result<World, ReadError> {
        let place = self.origin.zip(self.voxel_size);
        let place = place.map(|(origin, voxel_size)| Place { origin, voxel_size });
        let place = place.map(checked_place).transpose()?;
        Ok(World { up: self.up.unwrap_or(Up::Y), place })
    }
}
