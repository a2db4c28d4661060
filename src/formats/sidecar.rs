//! Where the files are that a mesh's file names: materials, images.
//!
//! The names were true on the machine where they were written. Elsewhere a folder of that machine is not
//! there, a backslash separates nothing, and upper case is not lower case.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::tally::Named;

/// Folders beside a model in which images often are.
pub(super) const IMAGE_FOLDERS: [&str; 5] = ["textures", "texture", "tex", "images", "maps"];

/// The folder of the file at `path`.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Finds files, and remembers what is in which folder.
#[derive(Debug, Default)]
pub(super) struct Finder {
    listings: HashMap<PathBuf, Vec<Entry>>,
    /// Names that may be those of several files.
    ambiguous: Named,
}

/// What is in a folder: its name, and the same in lower case.
#[derive(Debug)]
struct Entry {
    lower: String,
    name: OsString,
}

impl Finder {
    /// The file called `name`, which is looked for in each of `folders`: where the name says; there in
    /// other cases of letters; without the folders that the name says, also in folders of the names
    /// `inside`. A `?` in `name` stands for any character.
    pub(super) fn find(
        &mut self,
        name: &str,
        folders: &[PathBuf],
        inside: &[&str],
    ) -> Option<PathBuf> {
        let name = name.replace('\\', "/");
        let as_named = folders.iter().map(|folder| folder.join(&name));
        if let Some(path) = as_named.into_iter().find(|path| path.is_file()) {
            return Some(path);
        }
        let found = folders.iter().find_map(|folder| self.walk(folder, &name));
        let base = name.rsplit('/').next().unwrap_or_default();
        found.or_else(|| folders.iter().find_map(|folder| self.walk(folder, base))).or_else(|| {
            folders.iter().find_map(|folder| {
                let inside = inside.iter().filter_map(|inside| self.entry(folder, inside));
                let inside: Vec<PathBuf> = inside.collect();
                inside.iter().find_map(|folder| self.walk(folder, base))
            })
        })
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
        path.is_file().then_some(path)
    }

    /// What is called `name` in `folder`: exactly so if that is there.
    fn entry(&mut self, folder: &Path, name: &str) -> Option<PathBuf> {
        let exact = folder.join(name);
        if exact.exists() {
            return Some(exact);
        }
        if !self.listings.contains_key(folder) {
            self.listings.insert(folder.to_owned(), list(folder));
        }
        let lower = name.to_lowercase();
        let mut entries = self.listings[folder].iter().filter(|entry| matches(entry, &lower));
        let first = entries.next()?;
        if entries.next().is_some() {
            self.ambiguous.add(name);
        }
        Some(folder.join(&first.name))
    }

    /// What was found, but perhaps not the right one.
    pub(super) fn warning(&self) -> Option<String> {
        self.ambiguous.warning("several files have the name, in other cases of letters")
    }
}

/// What is in a folder, in order; nothing where it cannot be read.
fn list(folder: &Path) -> Vec<Entry> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let lower = |name: &OsString| name.to_string_lossy().to_lowercase();
    let mut entries: Vec<Entry> = names.map(|name| Entry { lower: lower(&name), name }).collect();
    entries.sort_unstable_by(|one, two| one.name.cmp(&two.name));
    entries
}

fn matches(entry: &Entry, name: &str) -> bool {
    entry.lower == name
        || name.contains('?')
            && entry.lower.chars().count() == name.chars().count()
            && entry.lower.chars().zip(name.chars()).all(|(is, named)| is == named || named == '?')
}
