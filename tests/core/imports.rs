//! The modules of the library import each other without a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Imports = BTreeMap<String, BTreeSet<String>>;

/// Adds what the source files in `folder` import by `crate::MODULE`, except in comments and unit
/// tests.
fn collect(folder: &Path, module: Option<&str>, imports: &mut Imports) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let module = module.unwrap_or(stem);
        if path.is_dir() {
            collect(&path, Some(module), imports);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\n").next().unwrap();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for rest in code.flat_map(|line| line.split("crate::").skip(1)) {
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name != module {
                imports.entry(module.to_owned()).or_default().insert(name);
            }
        }
    }
}

/// A path from `module` back to a module in `path`, if there is one.
fn cycle(imports: &Imports, path: &mut Vec<String>, module: &str) -> bool {
    let is_seen = path.iter().any(|seen| seen == module);
    path.push(module.to_owned());
    let next = imports.get(module).into_iter().flatten();
    if is_seen || next.into_iter().any(|next| cycle(imports, path, next)) {
        return true;
    }
    path.pop();
    false
}

#[test]
fn modules_import_each_other_without_a_cycle() {
    let mut imports = Imports::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    collect(&src, None, &mut imports);
    // The binary and its modules import themselves; the library's root re-exports its modules.
    imports.retain(|module, _| !["main", "program", "lib"].contains(&&**module));
    assert!(imports["voxelize"].contains("gpu"), "{imports:?}");
    for module in imports.keys() {
        let mut path = vec![];
        assert!(!cycle(&imports, &mut path, module), "{}", path.join(" -> "));
    }
    imports.get_mut("gpu").unwrap().insert("voxelize".into());
    assert!(cycle(&imports, &mut vec![], "gpu"), "a cycle is found");
}
