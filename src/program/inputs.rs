//! The meshes of a run, in the order given: from the arguments, and from the lists that `@` names.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What begins the name of a list.
const LIST: &str = "@";

/// The meshes that `args` name, each once; whether one of these names a list is the second value.
///
/// # Errors
/// A list that cannot be read or names no mesh; a mesh that is named twice.
pub fn meshes(args: &[PathBuf]) -> Result<(Vec<PathBuf>, bool)> {
    let mut meshes = Vec::new();
    let mut has_list = false;
    for arg in args {
        match arg.to_str().and_then(|name| name.strip_prefix(LIST)) {
            Some(list) => {
                meshes.extend(read_list(list)?);
                has_list = true;
            }
            None => meshes.push(arg.clone()),
        }
    }
    refuse_repeated(&meshes)?;
    Ok((meshes, has_list))
}

fn read_list(name: &str) -> Result<Vec<PathBuf>> {
    let (bytes, named) = match name {
        "" => bail!("'@' names no list: write @list.txt, or @- for standard input"),
        "-" => (read_stdin(), "standard input"),
        file => (fs::read(file), file),
    };
    let bytes =
        bytes.context("cannot read the list of meshes").with_context(|| named.to_owned())?;
    parse_list(&bytes).with_context(|| named.to_owned())
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// One path a line, except in blank lines and those that begin with `#`.
fn parse_list(bytes: &[u8]) -> Result<Vec<PathBuf>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        bail!("the list is UTF-16 text: save it as UTF-8, one path a line");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut meshes = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let path = path_of(line).with_context(|| format!("line {}", index + 1))?;
        if line.starts_with(LIST.as_bytes()) {
            bail!(
                "line {}: a list cannot name another: write ./{} if that is a mesh",
                index + 1,
                path.display()
            );
        }
        meshes.push(path);
    }
    if meshes.is_empty() {
        bail!("the list names no mesh: write one path a line");
    }
    Ok(meshes)
}

/// The path that has these bytes: on Unix any.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

/// The path that has these bytes.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<PathBuf> {
    Ok(std::str::from_utf8(bytes).context("is not UTF-8 text: save the list as UTF-8")?.into())
}

fn refuse_repeated(meshes: &[PathBuf]) -> Result<()> {
    let mut names = HashMap::new();
    for mesh in meshes {
        // What cannot be found is told later, when it is read.
        let file = fs::canonicalize(mesh).unwrap_or_else(|_| mesh.clone());
        if let Some(before) = names.insert(file, mesh) {
            bail!("{}: {}", mesh.display(), repeated(before, mesh));
        }
    }
    Ok(())
}

fn repeated(before: &Path, mesh: &Path) -> String {
    if before == mesh {
        "the mesh is named twice: name it once".into()
    } else {
        format!("the same mesh as {}: name it once", before.display())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_a_path_a_line() {
        let list = "\u{feff}a.obj\r\n\n  \n# b.obj\nfolder/c d.obj\n./@e.obj\nf#.obj";
        let paths = ["a.obj", "folder/c d.obj", "./@e.obj", "f#.obj"].map(PathBuf::from);
        assert_eq!(parse_list(list.as_bytes()).unwrap(), paths);
    }
}
