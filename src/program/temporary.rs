//! Temporary files beside the output. They are removed if a run fails or is ended by a signal, so
//! that only complete files remain. Files of a killed run are removed by the next run in the
//! folder.
//!
//! A process marks its temporary files with a unique tag, and holds a lock on at least one of them
//! while any exist. Files whose tag has no lock belong to no living process of this machine, nor of
//! another one if the file system shares locks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use tempfile::{NamedTempFile, TempDir, TempPath};

use crate::program::print_error;

/// The temporary files that may exist. A signal handler keeps it locked until the process ends, so
/// that no file is created or renamed any more.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that were already searched for files of killed runs.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

const PREFIX: &str = ".voxelize-";
const SUFFIX: &str = ".tmp";

/// Younger files are kept: their process may not have locked them yet.
const OLD: Duration = Duration::from_secs(60);

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file; removed when dropped, and on a signal.
#[derive(Debug)]
pub struct TemporaryFile {
    file: NamedTempFile,
    // Dropped after the file.
    entry: Entry,
}

/// A complete temporary file, synchronized to disk; removed when dropped, and on a signal.
#[derive(Debug)]
pub struct Complete {
    path: TempPath,
    // Dropped after the file.
    entry: Entry,
}

/// A path in the list; removed from it when dropped.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        there().remove(&self.0);
    }
}

impl TemporaryFile {
    /// Creates an empty file in the folder of `target`.
    ///
    /// # Errors
    /// The folder is missing or not writable.
    pub fn beside(target: &Path) -> Result<Self> {
        let mut there = there();
        let file = new_temporary(target)?;
        let path = file.path().to_owned();
        there.insert(path.clone());
        Ok(Self { file, entry: Entry(path) })
    }

    /// The file for writing.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Synchronizes the file to disk and closes it, since the number of open files is limited.
    ///
    /// # Errors
    /// The operating system reports an error.
    pub fn complete(self) -> io::Result<Complete> {
        // Some file systems only report a full disk here.
        self.file().sync_all()?;
        let Self { file, entry } = self;
        Ok(Complete { path: file.into_temp_path(), entry })
    }

    /// Synchronizes the file to disk and renames it, as [`Complete::finish`].
    ///
    /// # Errors
    /// The operating system reports an error; `target` is unchanged.
    pub fn finish(self, target: &Path) -> io::Result<()> {
        self.complete()?.finish(target)
    }
}

impl Complete {
    /// Renames the file to `target`, and keeps the permissions of an existing `target`.
    ///
    /// # Errors
    /// The operating system reports an error; `target` is unchanged.
    pub fn finish(self, target: &Path) -> io::Result<()> {
        if let Ok(old) = fs::metadata(target) {
            fs::set_permissions(&self.path, old.permissions())?;
        }
        let Self { path, entry: _entry } = self;
        let _uninterrupted = there();
        path.persist(target).map_err(|e| e.error)
    }
}

/// A temporary folder of the system; removed with its files when dropped, and on a signal.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    // Dropped after the folder.
    _entry: Entry,
}

impl TemporaryFolder {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// The system has no folder for temporary files, or it is not writable.
    pub fn new() -> Result<Self> {
        clean_up_when_interrupted()?;
        let mut there = there();
        let folder = tempfile::Builder::new().prefix("voxelize-").tempdir()?;
        let path = folder.path().to_owned();
        there.insert(path.clone());
        Ok(Self { folder, _entry: Entry(path) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Installs, once, a handler that removes the temporary files when a signal ends the program.
///
/// # Errors
/// Signals cannot be handled.
pub fn clean_up_when_interrupted() -> Result<()> {
    static IS_INSTALLED: Mutex<bool> = Mutex::new(false);
    let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_installed {
        handle_signals()?;
        *is_installed = true;
    }
    Ok(())
}

#[cfg(unix)]
fn handle_signals() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals = signals.context("cannot handle signals")?;
    let handle = move || {
        let Some(signal) = signals.forever().next() else { return };
        let name = match signal {
            SIGINT => "SIGINT",
            SIGTERM => "SIGTERM",
            _ => "SIGHUP",
        };
        // The exit code with which shells report a signal.
        stop(&format!("stopped by {name}"), 128 + signal);
    };
    std::thread::Builder::new().spawn(handle).context("cannot handle signals")?;
    Ok(())
}

#[cfg(not(unix))]
fn handle_signals() -> Result<()> {
    ctrlc::set_handler(|| stop("interrupted", 130)).context("cannot handle interrupts")
}

fn stop(why: &str, code: i32) -> ! {
    let there = there();
    let mut removed = "";
    for path in there.iter() {
        // A folder has a copy of the input.
        if path.is_dir() {
            _ = fs::remove_dir_all(path);
        } else {
            _ = fs::remove_file(path);
            removed = ": the unfinished output was removed";
        }
    }
    let message = format!("error: {why}{removed}\n");
    // Standard error may be a full pipe, which must not block the exit.
    let (told, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        print_error(&message);
        _ = told.send(());
    });
    _ = hears.recv_timeout(Duration::from_millis(500));
    std::process::exit(code)
}

/// The folder of a file.
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
    sweep_once(folder);
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{PREFIX}{}-", tag());
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The default permissions of new files, to which the umask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let named = || format!("cannot write in folder '{}'", folder.display());
    // The reason only: the temporary name means nothing to the user.
    let file =
        builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind())).with_context(named)?;
    // On file systems without locks nothing is cleaned up either.
    _ = file.as_file().try_lock();
    Ok(file)
}

/// The tag of this process in the names of its temporary files, unique among processes.
fn tag() -> &'static str {
    static TAG: OnceLock<String> = OnceLock::new();
    TAG.get_or_init(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.unwrap_or_default().as_nanos();
        format!("{:x}.{nanos:x}", std::process::id())
    })
}

/// Removes the temporary files of killed runs in `folder`, once per folder.
fn sweep_once(folder: &Path) {
    let key = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let is_first = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    if is_first {
        // Failures are ignored: such files do no harm.
        _ = sweep(folder);
    }
}

fn sweep(folder: &Path) -> io::Result<()> {
    let mut by_tag: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(tag) = tag_of(&entry.file_name()).filter(|found| found != tag())
            && entry.file_type()?.is_file()
        {
            by_tag.entry(tag).or_default().push(entry.path());
        }
    }
    for paths in by_tag.values().filter(|paths| paths.iter().all(|path| is_abandoned(path))) {
        paths.iter().for_each(|path| _ = fs::remove_file(path));
    }
    Ok(())
}

/// The tag in the name of a temporary file.
fn tag_of(name: &OsStr) -> Option<String> {
    let tag_and_rest = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let tag = tag_and_rest.split_once('-').map_or(tag_and_rest, |(tag, _)| tag);
    Some(tag.to_owned())
}

/// Whether a temporary file is old and not locked by any process.
fn is_abandoned(path: &Path) -> bool {
    let is_old = || fs::metadata(path)?.modified()?.elapsed().map_err(io::Error::other);
    let is_unlocked =
        || File::options().write(true).open(path)?.try_lock().map_err(io::Error::from);
    is_old().is_ok_and(|age| age > OLD) && is_unlocked().is_ok()
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
        let TemporaryFile { file, entry } = TemporaryFile::beside(&target).unwrap();
        let path = entry.0.clone();
        // A device cannot be synchronized.
        let device = File::open("/dev/null").unwrap();
        let file = NamedTempFile::from_parts(device, file.into_temp_path());
        let unfinished = TemporaryFile { file, entry };

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
