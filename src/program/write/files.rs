//! Writes several files, and renames them once all are complete.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use trivox::formats::WriteError;
use trivox::formats::temporary::{Complete, TemporaryFile};

use crate::paths::{path_text, shown};
use crate::write::output::{Names, Written};
use crate::write::sink::{Inputs, counting, replaceable};

/// Complete files that are not renamed yet.
#[derive(Debug)]
pub struct Files {
    inputs: Inputs,
    written: Vec<Replacement>,
    bytes: u64,
    /// Keeps this process's lock while the other files are closed.
    keeper: Option<TemporaryFile>,
}

#[derive(Debug)]
struct Replacement {
    /// The path as it was given.
    name: PathBuf,
    /// What is replaced: the target of a link.
    target: PathBuf,
    complete: Complete,
}

impl Files {
    /// No files yet; none of `inputs` may be replaced.
    pub fn new(inputs: &Inputs) -> Self {
        Self { inputs: inputs.clone(), written: Vec::new(), bytes: 0, keeper: None }
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
        if self.keeper.is_none() {
            self.keeper = Some(TemporaryFile::beside(&path).with_context(named)?);
        }
        let target = replaceable(&path, &self.inputs).with_context(named)?;
        let file = TemporaryFile::beside(&target).with_context(named)?;
        self.bytes += counting(file.file(), write).with_context(named)?;
        // Everything is synchronized before the first file is renamed, so little can fail later.
        let complete = file.complete().with_context(named)?.closed();
        self.written.push(Replacement { name: path, target, complete });
        Ok(())
    }

    /// Renames all files.
    ///
    /// # Errors
    /// The operating system cannot rename a file; the message lists those already renamed.
    pub fn finish(self) -> Result<Written> {
        let mut names = Vec::with_capacity(self.written.len());
        for Replacement { name, target, complete } in self.written {
            let name = path_text(&name);
            complete.finish(&target).with_context(|| match &names[..] {
                [] => name.clone(),
                done => format!("{name}, after {} were written", done.join(", ")),
            })?;
            names.push(name);
        }
        Ok(Written { names: Names::Several(names), bytes: self.bytes, warnings: Vec::new() })
    }
}
