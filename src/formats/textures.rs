//! The images that a model's file names, decoded to textures within a memory limit. Missing or
//! unreadable images are warnings, not errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use crate::appearance::Texture;
use crate::formats::sidecars::{Finder, IMAGE_FOLDERS, Sidecars};
use crate::formats::{ReadError, shortened};

/// Number of unreadable textures that a warning lists.
const NAMED: usize = 5;

/// The textures read so far.
pub(in crate::formats) struct Textures<'a> {
    sidecars: &'a Sidecars,
    finder: Finder<'a>,
    /// The textures of the files that were read; `None` for those that could not be.
    of_files: HashMap<PathBuf, Option<u32>>,
    textures: Vec<Texture>,
    /// Bytes of memory left.
    left: u64,
    /// The first unreadable textures, each with the reason.
    unread: Vec<String>,
    unread_count: usize,
}

impl<'a> Textures<'a> {
    /// No textures; `left` bytes of memory for all.
    pub(in crate::formats) fn new(sidecars: &'a Sidecars, left: u64) -> Self {
        Self {
            sidecars,
            finder: Finder::new(sidecars),
            of_files: HashMap::new(),
            textures: Vec::new(),
            left,
            unread: Vec::new(),
            unread_count: 0,
        }
    }

    /// Bytes of memory that are left.
    pub(in crate::formats) fn left(&self) -> u64 {
        self.left
    }

    /// Adds the image in the sidecar file that the model calls by one of `names`. A file is decoded
    /// once, however often it is named. Returns its index, or `None` if that fails.
    pub(in crate::formats) fn add_file(&mut self, names: &[&str]) -> Option<u32> {
        let name = names.first().copied().unwrap_or_default();
        let folders = [self.sidecars.base().to_owned()];
        let find = |name: &&str| self.finder.find(name, &folders, &IMAGE_FOLDERS);
        let Some(path) = names.iter().find_map(find) else {
            return self.add(name, Err("there is no such file beside the model".into()));
        };
        let path = self.sidecars.canonical(path);
        if let Some(&known) = self.of_files.get(&path) {
            return known;
        }
        let bytes = self.sidecars.read(&path, self.left).map_err(|error| match error {
            ReadError::Memory { .. } => "it is too large for the memory that is left".into(),
            other => other.to_string(),
        });
        let index = self.add(name, bytes);
        self.of_files.insert(path, index);
        index
    }

    /// Decodes and adds the image in `bytes`. Returns its index, or `None` if that fails.
    pub(in crate::formats) fn add(
        &mut self,
        name: &str,
        bytes: Result<Cow<[u8]>, String>,
    ) -> Option<u32> {
        let texture = bytes.and_then(|bytes| {
            // Borrowed bytes are counted already.
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

    /// The texture at `index`.
    pub(in crate::formats) fn get(&self, index: u32) -> &Texture {
        &self.textures[index as usize]
    }

    /// All textures, and warnings about those that could not be read.
    pub(in crate::formats) fn finish(self) -> (Vec<Texture>, Vec<String>) {
        let mut names = self.unread.join(", ");
        if self.unread_count > self.unread.len() {
            names += &format!(" and {} more", self.unread_count - self.unread.len());
        }
        let warning = match self.unread_count {
            0 => None,
            1 => Some(format!("a texture was replaced by a plain colour: {names}")),
            n => Some(format!("{n} textures were replaced by plain colours: {names}")),
        };
        (self.textures, self.finder.warning().into_iter().chain(warning).collect())
    }
}
