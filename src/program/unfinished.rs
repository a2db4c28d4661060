//! Temporary files, which an interrupt removes: whatever happens, only whole files are left.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use tempfile::{NamedTempFile, TempPath};

/// The temporary files that may be there. An interrupt holds it to the end, so that none is made or
/// renamed any more.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file; removed when dropped, and by an interrupt.
#[derive(Debug)]
pub struct Unfinished {
    file: NamedTempFile,
    // Dropped after the file.
    entry: Entry,
}

/// A temporary file that is whole and on the disk; removed when dropped, and by an interrupt.
#[derive(Debug)]
pub struct Complete {
    path: TempPath,
    // Dropped after the file.
    entry: Entry,
}

/// A path in the list, as long as it lives.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        there().remove(&self.0);
    }
}

impl Unfinished {
    /// An empty one in the folder of `target`.
    ///
    /// # Errors
    /// The folder is not there, or nothing can be written in it.
    pub fn beside(target: &Path) -> Result<Self> {
        let mut there = there();
        let file = new_temporary(target)?;
        let path = file.path().to_owned();
        there.insert(path.clone());
        Ok(Self { file, entry: Entry(path) })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Brings it to the disk, and closes it: a process can have few files open.
    ///
    /// # Errors
    /// The operating system cannot.
    pub fn complete(self) -> io::Result<Complete> {
        // Some file systems only report a full disk here.
        self.file().sync_all()?;
        let Self { file, entry } = self;
        Ok(Complete { path: file.into_temp_path(), entry })
    }

    /// Brings it to the disk, and gives it its name, as [`Complete::finish`].
    ///
    /// # Errors
    /// The operating system cannot; `target` is as it was.
    pub fn finish(self, target: &Path) -> io::Result<()> {
        self.complete()?.finish(target)
    }
}

impl Complete {
    /// Renames it to `target`, whose permissions it takes over where that is there.
    ///
    /// # Errors
    /// The operating system cannot; `target` is as it was.
    pub fn finish(self, target: &Path) -> io::Result<()> {
        if let Ok(old) = fs::metadata(target) {
            fs::set_permissions(&self.path, old.permissions())?;
        }
        let Self { path, entry: _entry } = self;
        let _uninterrupted = there();
        path.persist(target).map_err(|e| e.error)
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
        let there = there();
        for path in there.iter() {
            _ = fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    })
    .context("cannot handle interrupts")
}

/// The folder that a file of this name is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn new_temporary(target: &Path) -> Result<NamedTempFile> {
    let folder = folder_of(target);
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

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::{thread, time::Duration};

    #[test]
    fn a_file_that_cannot_be_finished_is_gone_before_it_is_off_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.vox");
        let Unfinished { file, entry } = Unfinished::beside(&target).unwrap();
        let path = entry.0.clone();
        // A device cannot be brought to the disk.
        let device = File::open("/dev/null").unwrap();
        let file = NamedTempFile::from_parts(device, file.into_temp_path());
        let unfinished = Unfinished { file, entry };

        let listed = there();
        let finishing = thread::spawn(move || unfinished.finish(&target));
        let is_gone = (0..5000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            !path.exists()
        });
        assert!(is_gone && listed.contains(&path));
        drop(listed);
        assert!(finishing.join().unwrap().is_err());
        assert!(!there().contains(&path));
    }
}
