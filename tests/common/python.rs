//! Somebody else's programs in Python, where there is one to run them.

use std::process::Command;

/// The Python that `TRIVOX_PYTHON` names, if it has `module`; where `TRIVOX_PYTHON_MODULES`
/// promises that it does, it must.
pub fn python_with(module: &str) -> Option<String> {
    let python = std::env::var("TRIVOX_PYTHON").ok();
    let find = format!("import importlib.util as u; u.find_spec('{module}') or exit(1)");
    let has_it = |python: &String| {
        let status = Command::new(python).args(["-c", &find]).status();
        status.is_ok_and(|status| status.success())
    };
    let found = python.filter(has_it);
    let promised = std::env::var("TRIVOX_PYTHON_MODULES").unwrap_or_default();
    let is_promised = promised.split(' ').any(|name| name == module);
    assert!(found.is_some() || !is_promised, "no {module} for Python");
    if found.is_none() {
        println!("skipped: no Python with the module {module}");
    }
    found
}
