//! The images that a model's file names: where they are, and as textures in the memory that is left.
//! What cannot be had is a warning, never an error.

use std::borrow::Cow;

use crate::appearance::Texture;
use crate::formats::sidecars::{Finder, IMAGE_FOLDERS, Sidecars};
use crate::formats::{ReadError, shortened};

/// So many textures that could not be read are named.
const NAMED: usize = 5;

/// The textures of a model, as they are read.
pub(in crate::formats) struct Textures {
    textures: Vec<Texture>,
    /// Bytes of memory.
    left: u64,
    /// What could not be read and why, of the first.
    unread: Vec<String>,
    unread_count: usize,
}

impl Textures {
    /// None yet, and `left` bytes of memory for all.
    pub(in crate::formats) fn new(left: u64) -> Self {
        Self { textures: Vec::new(), left, unread: Vec::new(), unread_count: 0 }
    }

    /// Bytes of memory that are left.
    pub(in crate::formats) fn left(&self) -> u64 {
        self.left
    }

    /// Adds the image in `bytes`, if there are any that are one; returns its number.
    pub(in crate::formats) fn add(
        &mut self,
        name: &str,
        bytes: Result<Cow<[u8]>, String>,
    ) -> Option<u32> {
        let texture = bytes.and_then(|bytes| {
            // Those that are borrowed are counted already.
            let own = if matches!(bytes, Cow::Owned(_)) { bytes.len() as u64 } else { 0 };
            Texture::decode(&bytes, name, self.left.saturating_sub(own))
        });
        match texture {
            Ok(texture) => {
                self.left = self.left.saturating_sub(texture.bytes());
                self.textures.push(texture);
                Some(self.textures.len() as u32 - 1)
            }
            Err(why) => {
                self.unread_count += 1;
                if self.unread.len() < NAMED {
                    let (name, why) = (shortened(name, 80), shortened(&why, 120));
                    self.unread.push(format!("'{name}' ({why})"));
                }
                None
            }
        }
    }

    /// The texture of this number.
    pub(in crate::formats) fn get(&self, index: u32) -> &Texture {
        &self.textures[index as usize]
    }

    /// All of them, and a warning of those that could not be read.
    pub(in crate::formats) fn finish(self) -> (Vec<Texture>, Option<String>) {
        let mut names = self.unread.join(", ");
        if self.unread_count > self.unread.len() {
            names += &format!(" and {} more", self.unread_count - self.unread.len());
        }
        let warning = match self.unread_count {
            0 => None,
            1 => Some(format!("a texture was replaced by a plain colour: {names}")),
            n => Some(format!("{n} textures were replaced by plain colours: {names}")),
        };
        (self.textures, warning)
    }
}

/// The bytes of the sidecar file that a model calls `name`, in at most `limit` bytes of memory.
///
/// # Errors
/// Why there are none.
pub(in crate::formats) fn file_bytes<'a>(
    sidecars: &'a Sidecars,
    name: &str,
    limit: u64,
) -> Result<Cow<'a, [u8]>, String> {
    let folders = [sidecars.base().to_owned()];
    let path = Finder::new(sidecars).find(name, &folders, &IMAGE_FOLDERS);
    let path = path.ok_or("there is no such file beside the model")?;
    sidecars.read(&path, limit).map_err(|error| match error {
        ReadError::Memory { .. } => "it is too large for the memory that is left".into(),
        other => other.to_string(),
    })
}
