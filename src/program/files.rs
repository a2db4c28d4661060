//! Several files, written all or none.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use trivox::formats::WriteError;

use crate::program::output::{counting, replaceable};
use crate::program::temporary::{Complete, TemporaryFile};

/// Files that are whole and on the disk, but not yet called as they will be.
#[derive(Debug)]
pub struct Files {
    /// VoxelArgs is read, and must not be replaced.
    input: PathBuf,
    written: Vec<(PathBuf, Complete)>,
    bytes: u64,
    /// Holds this process's lock while the others are closed.
    keeper: Option<TemporaryFile>,
}

impl Files {
    /// None yet, beside `input`.
    pub fn new(input: &Path) -> Self {
        Self { input: input.to_owned(), written: Vec::new(), bytes: 0, keeper: None }
    }

    /// Writes the one that will be at `path`.
    ///
    /// # Errors
    /// `write` fails, or the operating system cannot write it.
    pub fn add(
        &mut self,
        path: PathBuf,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<()> {
        let named = || path.display().to_string();
        if self.keeper.is_none() {
            self.keeper = Some(TemporaryFile::beside(&path).with_context(named)?);
        }
        let file = replaceable(&path, &self.input).with_context(named)?;
        self.bytes += counting(file.file(), write).with_context(named)?;
        // Once all are on the disk, there is little left to fail.
        let complete = file.complete().with_context(named)?;
        self.written.push((path, complete));
        Ok(())
    }

    /// Gives all of them their names, and returns these and how many bytes they are together.
    ///
    /// # Errors
    /// The operating system cannot; those before are named in the message.
    pub fn finish(self) -> Result<(Vec<String>, u64)> {
        let mut names = Vec::with_capacity(self.written.len());
        for (path, file) in self.written {
            let name = path.display().to_string();
            file.finish(&path).with_context(|| match &names[..] {
                [] => name.clone(),
                done => format!("{name}, after {} were written", done.join(", ")),
            })?;
            names.push(name);
        }
        Ok((names, self.bytes))
    }
}
