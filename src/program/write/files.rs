//! Writes several files, and renames them once all are complete.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use trivox::formats::{Replacement, WriteError};

use crate::paths::{path_text, shown};
use crate::write::output::{Names, Written};
use crate::write::sink::Inputs;

/// Complete files that are not renamed yet, with their paths as they were given.
#[derive(Debug)]
pub struct Files {
    inputs: Inputs,
    /// Only the first is open: it keeps this process's lock.
    complete: Vec<(PathBuf, Replacement)>,
}

impl Files {
    /// No files yet; none of `inputs` may be replaced.
    pub fn new(inputs: &Inputs) -> Self {
        Self { inputs: inputs.clone(), complete: Vec::new() }
    }

    /// Writes the file for `path`.
    ///
    /// # Errors
    /// Errors of `write` and of the operating system.
    pub fn add(
        &mut self,
        path: PathBuf,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<()> {
        let named = || shown(&path);
        self.inputs.refuse(&path).with_context(named)?;
        // Everything is synchronized before the first file is renamed, so little can fail later.
        let mut file = Replacement::write(&path, write).with_context(named)?;
        if !self.complete.is_empty() {
            file = file.closed();
        }
        self.complete.push((path, file));
        Ok(())
    }

    /// Renames all files, the open one last.
    ///
    /// # Errors
    /// The operating system cannot rename a file; the message lists those already renamed.
    pub fn finish(mut self) -> Result<Written> {
        let bytes = self.complete.iter().map(|(_, file)| file.bytes()).sum();
        let names = self.complete.iter().map(|(path, _)| path_text(path)).collect();
        if !self.complete.is_empty() {
            self.complete.rotate_left(1);
        }
        let mut renamed: Vec<String> = Vec::new();
        for (path, file) in self.complete {
            let name = path_text(&path);
            file.finish().with_context(|| match &renamed[..] {
                [] => name.clone(),
                _ => format!("{name}, after {} were written", renamed.join(", ")),
            })?;
            renamed.push(name);
        }
        Ok(Written { names: Names::Several(names), bytes, warnings: Vec::new() })
    }
}
