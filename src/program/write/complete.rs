//! Files that are complete, and replace existing ones together.

use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use trivox::formats::{Replacement, WriteError};

use crate::paths::{path_text, shown};
use crate::write::sink::Inputs;

/// The files written.
#[derive(Debug)]
pub struct Written {
    pub names: Names,
    /// Total size in bytes.
    pub bytes: u64,
    pub warnings: Vec<String>,
}

/// The file names of a grid: in JSON a string, or a list if there are several.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Names {
    One(String),
    Several(Vec<String>),
}

/// Complete outputs; files have temporary names until [`finish`](Self::finish).
#[derive(Debug)]
#[must_use = "unfinished files are removed"]
pub struct Complete {
    names: Names,
    bytes: u64,
    /// With their names. Only the first is open: it keeps this process's lock.
    files: Vec<(String, Replacement)>,
}

impl Complete {
    /// One output of this size: a file, or a stream without one.
    pub fn one(name: &str, bytes: u64, file: Option<Replacement>) -> Self {
        let files = file.into_iter().map(|file| (name.to_owned(), file)).collect();
        Self { names: Names::One(name.to_owned()), bytes, files }
    }

    /// The files at `paths` with the outputs of `write`; none of `inputs` may be replaced.
    ///
    /// # Errors
    /// Errors of `write` and of the operating system.
    pub fn several<T, P: AsRef<Path>>(
        items: impl IntoIterator<Item = (P, T)>,
        inputs: &Inputs,
        mut write: impl FnMut(T, &mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<Self> {
        let mut files = Vec::new();
        for (path, item) in items {
            let path = path.as_ref();
            let named = || shown(path);
            inputs.refuse(path).with_context(named)?;
            // Everything is synchronized before the first file is renamed, so little can fail
            // later.
            let file = Replacement::write(path, |out| write(item, out)).with_context(named)?;
            let file = if files.is_empty() { file } else { file.closed() };
            files.push((path_text(path), file));
        }
        let names = files.iter().map(|(name, _)| name.clone()).collect();
        let bytes = files.iter().map(|(_, file)| file.bytes()).sum();
        Ok(Self { names: Names::Several(names), bytes, files })
    }

    /// Renames all files, the open one last.
    ///
    /// # Errors
    /// The operating system cannot rename a file, which leaves an existing one unchanged; the
    /// message lists those already renamed.
    pub fn finish(self) -> Result<Written> {
        let Self { names, bytes, mut files } = self;
        if !files.is_empty() {
            files.rotate_left(1);
        }
        let mut renamed: Vec<String> = Vec::new();
        for (name, file) in files {
            file.finish().with_context(|| match &renamed[..] {
                [] => name.clone(),
                _ => format!("{name}, after {} were written", renamed.join(", ")),
            })?;
            renamed.push(name);
        }
        Ok(Written { names, bytes, warnings: Vec::new() })
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => f.write_str(name),
            Self::Several(names) => f.write_str(&names.join(", ")),
        }
    }
}
