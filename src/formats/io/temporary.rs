//! Temporary files: a file is written beside the one that it replaces, and renamed once it is
//! complete.
//!
//! A process that writes in the folder removes what a killed one left, a day later.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, SystemTime};

use crate::base::lock;
use crate::formats::io::save::write_counted;
use crate::formats::{WriteError, shortened};

/// The temporary files of this process that may exist.
static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that were already searched for files of killed processes.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

const PREFIX: &str = ".trivox-";
const SUFFIX: &str = ".tmp";

/// A file to which nothing was written for so long belongs to no living process.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

fn files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    lock(&FILES)
}

/// A file that will replace its target, beside it; removed on drop.
#[derive(Debug)]
pub struct TemporaryFile {
    file: File,
    // Dropped after the file.
    entry: Entry,
    target: PathBuf,
}

/// A path in the list; its file is removed when it is dropped, and then its entry.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        // Fails if it was renamed.
        _ = fs::remove_file(&self.0);
        files().remove(&self.0);
    }
}

/// The name of a folder in a message.
fn named(folder: &Path) -> String {
    shortened(&folder.display().to_string(), 4096)
}

impl TemporaryFile {
    /// Creates an empty file in the folder of `target`.
    ///
    /// # Errors
    /// The folder is missing or not writable.
    pub fn beside(target: &Path) -> Result<Self, WriteError> {
        let folder = folder_of(target);
        if !folder.is_dir() {
            let message = format!("there is no folder '{}'", named(folder));
            return Err(io::Error::new(io::ErrorKind::NotFound, message).into());
        }
        sweep_once(folder);
        let path = folder.join(new_name());
        let mut files = files();
        // Without the temporary name, which means nothing to the user.
        let file =
            OpenOptions::new().write(true).create_new(true).open(&path).map_err(|error| {
                let folder = named(folder);
                let message = format!("cannot write in folder '{folder}': {error}");
                io::Error::new(error.kind(), message)
            })?;
        files.insert(path.clone());
        Ok(Self { file, entry: Entry(path), target: target.to_owned() })
    }

    /// Calls `write`, and flushes its output to the disk; returns the number of bytes.
    ///
    /// # Errors
    /// Errors of `write` and of the disk.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<u64, WriteError> {
        let bytes = write_counted(&self.file, write)?;
        // Some file systems only report a full disk here.
        self.file.sync_all()?;
        Ok(bytes)
    }

    /// Renames the file, and keeps the permissions of an existing one.
    ///
    /// # Errors
    /// The operating system reports an error; an existing file is unchanged.
    pub fn finish(self) -> Result<(), WriteError> {
        let Self { file, entry, target } = self;
        drop(file);
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&entry.0, old.permissions())?;
        }
        let _uninterrupted = files();
        Ok(fs::rename(&entry.0, target)?)
    }
}

/// Removes the temporary files of this process, for its end: by a signal, or with the Python
/// interpreter. Returns their list; while it is held, no temporary file is created or renamed.
pub fn remove_temporary_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    let (mut files, own) = (files(), tag());
    // Not those of the process that this one was forked from.
    files.retain(|path| path.file_name().and_then(tag_of).is_some_and(|tag| tag == own));
    files.iter().for_each(|path| _ = fs::remove_file(path));
    files
}

/// The folder of a file.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The target of the symbolic link `path`, even if that is missing; `path` if it is no link. Not
/// for pipes: the text of a link in `/proc/self/fd` need not be a path.
///
/// # Errors
/// More links in a row than Linux follows.
pub fn behind_links(path: &Path) -> Result<PathBuf, WriteError> {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        // An absolute target replaces the folder.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("leads through too many links").into())
}

/// A name that no other file has.
fn new_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{PREFIX}{}-{}{SUFFIX}", tag(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// The tag of this process in the names of its temporary files, unique among processes.
fn tag() -> String {
    static BEGUN: OnceLock<u128> = OnceLock::new();
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = BEGUN.get_or_init(|| now().as_nanos());
    // A forked child has the time of its parent.
    format!("{:x}.{nanoseconds:x}", std::process::id())
}

/// Removes the temporary files of killed processes in `folder`, once per folder.
pub fn sweep_once(folder: &Path) {
    let key = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    if lock(&SWEPT).insert(key) {
        // Failures are ignored: such files do no harm.
        _ = sweep(folder);
    }
}

fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may have renamed it.
        if tag_of(&entry.file_name()).is_some() && is_abandoned(&entry).unwrap_or(false) {
            _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// The tag in the name of a temporary file.
fn tag_of(name: &OsStr) -> Option<&str> {
    let tag_and_rest = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    Some(tag_and_rest.split_once('-')?.0)
}

fn is_abandoned(entry: &fs::DirEntry) -> io::Result<bool> {
    let file = entry.metadata()?;
    Ok(file.is_file() && file.modified()?.elapsed().is_ok_and(|age| age > OLD))
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_file_that_is_dropped_is_gone_before_it_is_off_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let file = TemporaryFile::beside(&folder.path().join("out.vox")).unwrap();
        let path = file.entry.0.clone();
        let listed = files();
        let dropping = thread::spawn(move || drop(file));
        let is_gone = (0..5000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            !path.exists()
        });
        assert!(is_gone && listed.contains(&path));
        drop(listed);
        dropping.join().unwrap();
        assert!(!files().contains(&path));
    }
}
