//! The search for a sidecar file by the name that a mesh's file gives it.
//!
//! The name was written on another machine: its folders may be missing here, it may separate them
//! by backslashes, and its case of letters may differ.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::formats::io::warnings::NameCounts;
use crate::formats::mesh::sidecars::Sidecars;

/// Folders beside a model in which images often are.
pub(crate) const IMAGE_FOLDERS: [&str; 5] = ["textures", "texture", "tex", "images", "maps"];

/// Finds files, and caches the listings of folders.
#[derive(Debug)]
pub(crate) struct Finder<'a> {
    pub(crate) sidecars: &'a Sidecars,
    /// The entries of folders, in order; none where a folder cannot be read.
    listings: HashMap<PathBuf, Vec<Entry>>,
    /// Names that may be those of several files.
    ambiguous: NameCounts,
}

/// A file or folder in a listing: its name, and the same in lower case.
#[derive(Debug)]
struct Entry {
    lower: String,
    name: OsString,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(sidecars: &'a Sidecars) -> Self {
        Self { sidecars, listings: HashMap::new(), ambiguous: NameCounts::default() }
    }

    /// Finds the file `name`, a path relative to one of `folders`: first as it is written, then in
    /// any case of letters, then by its last component, in `folders` and in their subfolders named
    /// `inside`. A `?` in `name` matches any character.
    pub(crate) fn find(
        &mut self,
        name: &str,
        folders: &[PathBuf],
        inside: &[&str],
    ) -> Option<PathBuf> {
        let name = name.replace('\\', "/");
        let mut as_named = folders.iter().map(|folder| folder.join(&name));
        if let Some(path) = as_named.find(|path| self.sidecars.is_file(path)) {
            return Some(path);
        }
        let base = name.rsplit('/').next().unwrap_or_default();
        let mut places: Vec<(&PathBuf, String)> = Vec::new();
        for name in [&name, base] {
            places.extend(folders.iter().map(|folder| (folder, name.to_owned())));
        }
        for folder in folders {
            places.extend(inside.iter().map(|inside| (folder, format!("{inside}/{base}"))));
        }
        let found = places.iter().find_map(|(folder, name)| self.walk(folder, name));
        if found.is_none() {
            self.sidecars.note_missing(places.iter().map(|(folder, name)| folder.join(name)));
        }
        found
    }

    /// The file that is reached from `folder`, whatever the case of letters in `name`.
    fn walk(&mut self, folder: &Path, name: &str) -> Option<PathBuf> {
        let mut path = folder.to_owned();
        for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
            path = match part {
                ".." => path.join(part),
                _ => self.entry(&path, part)?,
            };
        }
        self.sidecars.is_file(&path).then_some(path)
    }

    /// The entry `name` of `folder`: of exactly that name if it exists.
    fn entry(&mut self, folder: &Path, name: &str) -> Option<PathBuf> {
        let exact = folder.join(name);
        if self.sidecars.exists(&exact) {
            return Some(exact);
        }
        if !self.listings.contains_key(folder) {
            let lower = |name: &OsString| name.to_string_lossy().to_lowercase();
            let entry = |name: OsString| Entry { lower: lower(&name), name };
            let entries = self.sidecars.list(folder).into_iter().map(entry).collect();
            self.listings.insert(folder.to_owned(), entries);
        }
        let lower = name.to_lowercase();
        let mut entries = self.listings[folder].iter().filter(|entry| matches(entry, &lower));
        let first = entries.next()?;
        if entries.next().is_some() {
            self.ambiguous.add(name);
        }
        Some(folder.join(&first.name))
    }

    /// The warning about names that several files have if case is ignored.
    pub(crate) fn warning(&self) -> Option<String> {
        let what = "several files have the name if case is ignored, and the first is used";
        self.ambiguous.warning(what)
    }
}

/// Whether an entry has this name, in which a `?` stands for any character: readers have it in
/// place of bytes in old encodings.
fn matches(entry: &Entry, name: &str) -> bool {
    entry.lower == name
        || name.contains('?')
            && entry.lower.chars().count() == name.chars().count()
            && entry.lower.chars().zip(name.chars()).all(|(is, named)| is == named || named == '?')
}
