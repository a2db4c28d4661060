//! Locates and reads the material files that a file names, and selects the materials in use.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::obj::looks::{Look, Looks};
use crate::formats::obj::materials::{Definition, Library, Material, Placement, before_comment};
use crate::formats::obj::text::lines;
use crate::formats::sidecar::{Finder, folder_of};
use crate::formats::tally::Named;
use crate::formats::{ReadError, bytes_within};

/// An upper bound of bytes of memory per byte of a material file.
const PARSED: u64 = 64;

/// The materials of the faces of a file.
#[derive(Debug, Default)]
pub(super) struct Materials {
    /// By their number in [`Look`]; `None` if undefined or unused.
    by_number: Vec<Option<Defined>>,
    /// Whether any face has a defined material.
    pub(super) are_there: bool,
    /// Whether any of these has an image.
    pub(super) have_maps: bool,
    pub(super) warnings: Vec<String>,
}

/// A material that is defined.
#[derive(Debug)]
pub(super) struct Defined {
    pub(super) name: String,
    pub(super) definition: Definition,
    /// The folders that its images may be in.
    pub(super) folders: [PathBuf; 2],
}

impl Materials {
    /// The materials of the file at `path`, whose faces have `looks`. Material files that would
    /// take more than `limit` bytes of memory are skipped.
    pub(super) fn read(looks: &Looks, path: &Path, limit: u64) -> Self {
        let folder = folder_of(path);
        let (found, mut warnings) = find(looks, path, &folder);
        let (library, folders) = read_all(found, limit, &mut warnings);
        let mut undefined = Named::default();
        let names = [""].into_iter().chain(looks.materials.in_order());
        let by_number = names.zip(looks.used_materials()).map(|(name, is_used)| {
            if !is_used || name.is_empty() || folders.is_empty() {
                return None;
            }
            let Some(Material { definition, file }) = library.find(name) else {
                undefined.add(name);
                return None;
            };
            let folders = [folders[*file].clone(), folder.clone()];
            Some(Defined { name: name.to_owned(), definition: definition.clone(), folders })
        });
        let by_number: Vec<Option<Defined>> = by_number.collect();
        warnings.extend(undefined.warning("materials are not defined, and light grey"));
        let mut defined = by_number.iter().flatten().peekable();
        Self {
            are_there: defined.peek().is_some(),
            have_maps: defined.any(|defined| defined.definition.map().is_some()),
            by_number,
            warnings,
        }
    }

    /// The material with a number in [`Look`].
    pub(super) fn get(&self, number: u32) -> Option<&Defined> {
        self.by_number.get(number as usize)?.as_ref()
    }

    /// The placement of a material's images, if it has any.
    pub(super) fn placement(&self, of: Look) -> Option<Placement> {
        self.get(of.material)?.definition.map().map(|map| map.placement)
    }
}

/// The materials in these files, and the folders of those that could be read.
fn read_all(
    files: Vec<PathBuf>,
    limit: u64,
    warnings: &mut Vec<String>,
) -> (Library, Vec<PathBuf>) {
    let mut library = Library::default();
    let mut folders = Vec::new();
    for path in files {
        match read_text(&path, limit) {
            Ok(text) => {
                library.add(&text);
                folders.push(folder_of(&path));
            }
            Err(why) => {
                warnings.push(format!("material file {} is not used: {why}", quoted(&path)));
            }
        }
    }
    warnings.extend(library.warnings());
    (library, folders)
}

/// The existing material files, each once, and warnings about the others.
fn find(looks: &Looks, path: &Path, folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let mut finder = Finder::default();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut missing = Named::default();
    let folders = [folder.to_owned()];
    let libraries = looks.libraries.in_order();
    for names in &libraries {
        let whole = folder.join(names);
        let paths = match whole.is_file() {
            true => vec![whole],
            false => {
                let find = |name| {
                    let path = finder.find(name, &folders, &[]);
                    if path.is_none() {
                        missing.add(name);
                    }
                    path
                };
                each_name(before_comment(names)).filter_map(find).collect()
            }
        };
        found.extend(paths.into_iter().map(|path| fs::canonicalize(&path).unwrap_or(path)));
    }
    let mut warnings: Vec<String> = finder.warning().into_iter().collect();
    warnings.extend(missing.warning("material files not found"));
    if libraries.is_empty()
        && looks.materials.len() > 0
        && let Some(path) = beside(path)
    {
        warnings.push(format!("the file names no material file: {} is used", quoted(&path)));
        found.push(path);
    }
    (each_once(found), warnings)
}

/// The material file with the name of the mesh file at `path`.
fn beside(path: &Path) -> Option<PathBuf> {
    let mut longer = path.as_os_str().to_owned();
    longer.push(".mtl");
    [path.with_extension("mtl"), PathBuf::from(longer)].into_iter().find(|path| path.is_file())
}

/// The file names in a line: names may contain spaces, and all but the last end in `.mtl`.
fn each_name(mut names: &str) -> impl Iterator<Item = &str> {
    let split = move || {
        let lower = names.to_ascii_lowercase();
        let mut ends = lower.match_indices(".mtl").map(|(at, end)| at + end.len());
        let end = ends.find(|&end| names[end..].starts_with(char::is_whitespace));
        let (name, rest) = names.split_at(end.unwrap_or(names.len()));
        names = rest.trim_start();
        (!name.is_empty()).then_some(name)
    };
    std::iter::from_fn(split)
}

fn each_once(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    paths.retain(|path| known.insert(path.clone()));
    paths
}

fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    let bytes = bytes_within(path, limit / PARSED).map_err(|error| match error {
        ReadError::Io(error) => error.to_string(),
        _ => "it is too large for the memory that is left".to_owned(),
    })?;
    let text = lines(bytes);
    match text.contains('\0') {
        true => Err("it contains zero bytes".into()),
        false => Ok(text),
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.file_name().unwrap_or_default().to_string_lossy())
}
