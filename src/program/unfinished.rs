//! Temporary files, which an interrupt removes: whatever happens, only whole files are left.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

/// The temporary files that are there now. Whoever makes, renames or removes one holds it, so an
/// interrupt comes before that or after.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file; removed when dropped, and by an interrupt.
#[derive(Debug)]
pub struct Unfinished {
    /// `None` once it is finished.
    file: Option<NamedTempFile>,
}

impl Unfinished {
    /// An empty one in the folder of `target`.
    ///
    /// # Errors
    /// The folder is not there, or nothing can be written in it.
    pub fn beside(target: &Path) -> Result<Self> {
        let mut there = there();
        let file = new_temporary(target)?;
        there.insert(file.path().to_owned());
        Ok(Self { file: Some(file) })
    }

    /// The file, to write to.
    ///
    /// # Panics
    /// Never: it is there until it is finished.
    pub fn file(&self) -> &File {
        self.file.as_ref().expect("not finished").as_file()
    }

    /// Renames it to `target`, whose permissions it takes over where that is there.
    ///
    /// # Errors
    /// The operating system cannot; `target` is as it was.
    pub fn finish(mut self, target: &Path) -> io::Result<()> {
        if let Ok(old) = fs::metadata(target) {
            self.file().set_permissions(old.permissions())?;
        }
        // Some file systems only report a full disk here.
        self.file().sync_all()?;
        let mut there = there();
        match self.file.take() {
            Some(file) => {
                let path = file.path().to_owned();
                // Where this fails, the file is removed as the error is dropped.
                let renamed = file.persist(target).map(drop).map_err(|e| e.error);
                there.remove(&path);
                renamed
            }
            None => Ok(()),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut there = there();
        if let Some(file) = self.file.take() {
            there.remove(file.path());
            drop(file);
        }
    }
}

/// What a shell reports of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// From now on an interrupt, a termination or a hangup leaves no temporary file.
///
/// # Errors
/// The operating system does not let signals be handled.
pub fn clean_up_when_interrupted() -> Result<()> {
    ctrlc::set_handler(|| {
        // Held until the process ends, so that no file is made or renamed any more.
        let there = there();
        for path in there.iter() {
            _ = fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    })
    .context("cannot handle interrupts")
}

fn new_temporary(target: &Path) -> Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        bail!("there is no folder '{}'", folder.display());
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".voxelize-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file has, less the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let named = || format!("cannot write in folder '{}'", folder.display());
    // Only the reason: the temporary name would say nothing to the user.
    builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind())).with_context(named)
}
