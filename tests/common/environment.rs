//! The environment of the tests: the `TRIVOX_` variables of the table in tests/README.md.
//!
//! A test whose variable is unset prints `skipped:` and passes; a test whose variable promises
//! a program, a module or an adapter fails without it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// The value of `variable`, or `default` where it is unset.
pub fn number<N: FromStr>(variable: &str, default: N) -> N {
    let Ok(text) = std::env::var(variable) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number"))
}

pub fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// The path in `variable`; a line says that the test is skipped where it is unset.
pub fn path(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        println!("skipped: {variable} is not set");
    }
    path
}

/// The folder of models with an `expected.tsv`.
pub fn models() -> Option<PathBuf> {
    path("TRIVOX_MESHES")
}

/// Whether the generated files are to be rewritten.
pub fn blesses() -> bool {
    is_set("TRIVOX_BLESS")
}

/// Fails where `TRIVOX_GPU` promises an adapter; otherwise says that the test is skipped.
pub fn skip_without_adapter(reason: &str) {
    assert!(!is_set("TRIVOX_GPU"), "an adapter was promised: {reason}");
    println!("skipped: {reason}");
}

/// The Python of `TRIVOX_PYTHON`, if it has `module`. It must have the modules of
/// `TRIVOX_PYTHON_MODULES`.
pub fn python_with(module: &str) -> Option<PathBuf> {
    let find = format!("import importlib.util as u; u.find_spec('{module}') or exit(1)");
    let has_module = |python: &PathBuf| {
        let status = Command::new(python).args(["-c", &find]).status();
        status.is_ok_and(|status| status.success())
    };
    let found = path("TRIVOX_PYTHON").filter(has_module);
    let promised = std::env::var("TRIVOX_PYTHON_MODULES").unwrap_or_default();
    let is_promised = promised.split(' ').any(|name| name == module);
    assert!(found.is_some() || !is_promised, "no {module} for Python");
    if found.is_none() {
        println!("skipped: no Python with the module {module}");
    }
    found
}

/// The output of `script`, run by `python` in `folder`.
pub fn run_python(python: &Path, script: &str, folder: &Path) -> String {
    let mut python = Command::new(python);
    let output = python.args(["-c", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
