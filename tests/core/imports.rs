//! The folders of the library import only the folders that this table allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Each folder of `src`, and the folders that it imports. The first five and `formats` are in layers;
/// backends, solids, surfaces and views still import each other.
const IMPORTS: [(&str, &[&str]); 12] = [
    ("base", &[]),
    ("mesh", &["base"]),
    ("lattice", &["base", "mesh"]),
    ("predicate", &["base", "lattice"]),
    ("grid", &["base", "lattice"]),
    ("cpu", &["base", "engine", "grid", "lattice", "predicate"]),
    ("gpu", &["base", "cpu", "engine", "grid", "lattice", "mesh", "predicate", "solid", "view"]),
    ("solid", &["base", "engine", "gpu", "grid", "lattice", "predicate"]),
    ("surface", &["base", "engine", "grid", "lattice", "mesh", "predicate"]),
    ("view", &["base", "gpu", "grid"]),
    ("formats", &["base", "grid", "lattice", "mesh", "solid", "surface", "view"]),
    (
        "engine",
        &[
            "base",
            "cpu",
            "formats",
            "gpu",
            "grid",
            "lattice",
            "mesh",
            "predicate",
            "solid",
            "surface",
            "view",
        ],
    ),
];

/// The modules that a source file imports by `crate::MODULE`, except in comments and unit tests.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\n").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let rests = code.flat_map(|line| line.split("crate::").skip(1));
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    rests.map(|rest| rest.chars().take_while(|&c| is_of_name(c)).collect()).collect()
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.extend(imports(&fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn folders_import_those_of_the_table() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    for (folder, _) in IMPORTS {
        let of_folder: &mut BTreeSet<String> = found.entry(folder).or_default();
        collect(&src.join(folder), of_folder);
        of_folder.remove(folder);
    }
    for (folder, allowed) in IMPORTS {
        let allowed: BTreeSet<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(found[folder], allowed, "{folder}");
    }
    let folders =
        fs::read_dir(src).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    // The program imports the library by its name.
    assert_eq!(folders.count(), IMPORTS.len() + 1);
}

#[test]
fn canary_an_import_is_found() {
    let text = "use crate::grid::Mask;\n// crate::view\n#[cfg(test)]\nuse crate::gpu::Adapter;\n";
    assert_eq!(imports(text), BTreeSet::from(["grid".to_owned()]));
}
