//! The folders of the library are layers: each imports only folders below it.

use crate::common::files::files_below;
use crate::common::prelude::*;

/// The folders of `src`, from the lowest to the highest.
const LAYERS: &str =
    "base mesh lattice predicate grid gpu backend solid surface view formats engine";

/// The modules that a source file imports by `crate::MODULE`, except in comments and unit tests.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\n").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let rests = code.flat_map(|line| line.split("crate::").skip(1));
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    rests.map(|rest| rest.chars().take_while(|&c| is_of_name(c)).collect()).collect()
}

#[test]
fn folders_import_those_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let layers: Vec<&str> = LAYERS.split(' ').collect();
    for (index, folder) in layers.iter().enumerate() {
        let files = files_below(&src.join(folder)).into_iter();
        let found: BTreeSet<String> =
            files.flat_map(|file| imports(&fs::read_to_string(file).unwrap())).collect();
        let above = layers[index + 1..].iter().filter(|&&other| found.contains(other));
        assert_eq!(above.collect::<Vec<_>>(), [&""; 0], "above {folder}");
    }
    let entries = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    // The program imports the library by its name.
    assert_eq!(entries.filter(|path| path.is_dir()).count(), layers.len() + 1);
}

#[test]
fn canary_an_import_is_found() {
    let text = "use crate::grid::Mask;\n// crate::view\n#[cfg(test)]\nuse crate::gpu::Adapter;\n";
    assert_eq!(imports(text), BTreeSet::from(["grid".to_owned()]));
}
