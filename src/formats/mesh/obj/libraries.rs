//! Locates and reads the material files that a file names, and selects the materials in use.

use std::collections::{BTreeSet, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use crate::formats::error::TOO_LARGE;
use crate::formats::io::temporary::folder_of;
use crate::formats::io::warnings::NameCounts;
use crate::formats::mesh::obj::contents::Contents;
use crate::formats::mesh::obj::materials::{
    EMISSION, Library, Material, Placement, before_comment, name_of_tile,
};
use crate::formats::mesh::obj::text::clean;
use crate::formats::mesh::sidecars::{Finder, IMAGE_FOLDERS};
use crate::formats::{ReadError, Sidecars, excerpt};

/// An upper bound of bytes of memory per byte of a material file.
const PARSED: u64 = 64;

/// The materials of the faces of a file.
#[derive(Debug, Default)]
pub(super) struct Materials {
    /// By their number in [`Contents::materials`], the name, which is empty for 0, and the
    /// material; `None` if undefined or unused.
    by_number: Vec<(String, Option<Material>)>,
    /// Whether any face has a defined material.
    pub(super) any_defined: bool,
    /// Whether any of these has an image.
    pub(super) any_mapped: bool,
    pub(super) warnings: Vec<String>,
}

impl Materials {
    /// Reads the materials of a file with these contents. No material file is read that takes more
    /// than `limit` bytes of memory; images besides those of colour and opacity count only with
    /// `maps`.
    pub(super) fn read(contents: &Contents, sidecars: &Sidecars, limit: u64, maps: bool) -> Self {
        let (found, mut warnings) = find(contents, sidecars);
        let mut library = Library::default();
        for path in found {
            match read_text(sidecars, &path, limit) {
                Ok(text) => {
                    let folders = [folder_of(&path), &sidecars.folder].map(Path::to_owned);
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    library.add(&text, &name, folders.clone());
                    note_images(mem::take(&mut library.named), sidecars, &folders);
                }
                Err(why) => {
                    warnings.push(format!("material file {} is not used: {why}", quoted(&path)));
                }
            }
        }
        warnings.extend(library.warnings.list());
        let mut undefined = NameCounts::default();
        let named = &contents.materials;
        let by_number = (0..).zip(named.in_order()).map(|(number, name)| {
            let is_used = named.is_used(number) && !name.is_empty() && library.is_any_read;
            let mut material = library.find(name).filter(|_| is_used).cloned();
            if is_used && material.is_none() {
                undefined.add(name);
            }
            if let Some(Material { definition, .. }) = &mut material
                && !maps
            {
                definition.maps[EMISSION..].fill(None);
                definition.has_other_maps = false;
            }
            (name.to_owned(), material)
        });
        let by_number: Vec<(String, Option<Material>)> = by_number.collect();
        warnings.extend(undefined.warning("materials are not defined, and light grey"));
        let mut defined = by_number.iter().filter_map(|(_, material)| material.as_ref()).peekable();
        Self {
            any_defined: defined.peek().is_some(),
            any_mapped: defined.any(|defined| defined.definition.map().is_some()),
            by_number,
            warnings,
        }
    }

    /// The material with a number in [`Contents::materials`].
    pub(super) fn get(&self, number: u32) -> Option<&Material> {
        self.by_number.get(number as usize)?.1.as_ref()
    }

    /// The name of the material with this number; empty for 0.
    pub(super) fn name(&self, number: u32) -> &str {
        self.by_number.get(number as usize).map_or("", |(name, _)| name)
    }

    /// The placement of a material's images, if it has any.
    pub(super) fn placement(&self, number: u32) -> Option<Placement> {
        self.get(number)?.definition.map().map(|map| map.placement)
    }
}

/// Notes the images by their names in statements: a file, and its last word. Of UDIM tiles the
/// first hundred, if the folders have any.
fn note_images(named: BTreeSet<[String; 2]>, sidecars: &Sidecars, folders: &[PathBuf]) {
    let other = sidecars.without_log();
    let mut finder = Finder::new(&other);
    let mut has_tiles = |file: &str| {
        let any = name_of_tile(file, "????");
        any.is_some_and(|any| finder.find(&any, folders, &IMAGE_FOLDERS).is_some())
    };
    let names = named.into_iter().flat_map(|[file, word]| {
        let last = if has_tiles(&file) { 1100 } else { 1000 };
        let tiles = (1001..=last).filter_map(|tile: u32| name_of_tile(&file, tile));
        let mut files: Vec<String> = tiles.collect();
        files.push(file);
        let names =
            move |file: String| [file.clone(), before_comment(&file).to_owned(), word.clone()];
        files.into_iter().map(names)
    });
    sidecars.note_images(names, folders);
}

/// The paths of the material files that exist, each once, and warnings about the others.
fn find(contents: &Contents, sidecars: &Sidecars) -> (Vec<PathBuf>, Vec<String>) {
    let mut finder = Finder::new(sidecars);
    let mut found: Vec<PathBuf> = Vec::new();
    let mut missing = NameCounts::default();
    let folders = from_ref(&sidecars.folder);
    let libraries = contents.libraries.in_order();
    for names in &libraries {
        let whole = sidecars.folder.join(names);
        if sidecars.is_file(&whole) {
            found.push(sidecars.canonical(whole));
            continue;
        }
        for name in each_name(before_comment(names)).map(|name| name.trim_matches('"')) {
            match finder.find(name, folders, &[]) {
                Some(path) => found.push(sidecars.canonical(path)),
                None => missing.add(name),
            }
        }
    }
    let mut warnings: Vec<String> = finder.warning().into_iter().collect();
    warnings.extend(missing.warning("material files not found"));
    if libraries.is_empty()
        && contents.materials.len() > 1
        && let Some(path) = beside(sidecars)
    {
        warnings.push(format!("the file names no material file: {} is used", quoted(&path)));
        found.push(path);
    }
    let mut known = HashSet::new();
    found.retain(|path| known.insert(path.clone()));
    (found, warnings)
}

/// The material file that has the name of the mesh.
fn beside(sidecars: &Sidecars) -> Option<PathBuf> {
    let path = sidecars.mesh_path()?;
    let mut longer = path.as_os_str().to_owned();
    longer.push(".mtl");
    let names = [path.with_extension("mtl"), PathBuf::from(longer)];
    let found = names.iter().find(|path| sidecars.is_file(path)).cloned();
    if found.is_none() {
        sidecars.note_missing(names);
    }
    found
}

/// The file names in a line: names may contain spaces, and all but the last end in `.mtl`. A name
/// in quotation marks keeps the opening one.
fn each_name(mut names: &str) -> impl Iterator<Item = &str> {
    let split = move || {
        let windows = names.as_bytes().windows(4).enumerate();
        let mut ends = windows
            .filter(|(_, window)| window.eq_ignore_ascii_case(b".mtl"))
            .map(|(at, _)| at + 4);
        let is_between = |c: char| c.is_whitespace() || c == '"';
        let end = ends.find(|&end| names[end..].starts_with(is_between));
        let (name, rest) = names.split_at(end.unwrap_or(names.len()));
        names = rest.trim_start_matches(is_between);
        (!name.is_empty()).then_some(name)
    };
    std::iter::from_fn(split)
}

fn read_text(sidecars: &Sidecars, path: &Path, limit: u64) -> Result<String, String> {
    let limit = limit / PARSED;
    let bytes = sidecars.read(path, limit).map_err(|error| match error {
        ReadError::Io(error) => error.to_string(),
        _ => TOO_LARGE.to_owned(),
    })?;
    if bytes.len() as u64 > limit {
        return Err(TOO_LARGE.to_owned());
    }
    let text = clean(bytes.into_owned());
    if text.contains('\0') {
        Err("it contains zero bytes: save it in UTF-8".into())
    } else {
        Ok(text)
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", excerpt(&path.file_name().unwrap_or_default().to_string_lossy()))
}
