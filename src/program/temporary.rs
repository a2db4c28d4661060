//! Temporary files beside the output. They are removed when a run fails or is stopped by a signal, so
//! only whole files are left. VoxelArgs a killed run could not remove, the next run in the folder does.
//!
//! A process puts a tag of its own in the names of its temporary files and holds a lock on at least
//! one of them while there are any. Files of a tag without a lock belong to no living process, on this
//! machine or another that shares the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use tempfile::{NamedTempFile, TempPath};

use crate::program::print_error;

/// The temporary files that may exist. A signal handler holds it to the end, so that none is made or
/// renamed any more.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The folders in which this process has looked for files of killed runs.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

const PREFIX: &str = ".voxelize-";
const SUFFIX: &str = ".tmp";

/// Younger files are left alone: their run may not have locked them yet.
const OLD: Duration = Duration::from_secs(60);

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file; removed when dropped, and by an interrupt.
#[derive(Debug)]
pub struct TemporaryFile {
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

impl TemporaryFile {
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

/// From now on a signal that ends the program removes its temporary files first.
///
/// # Errors
/// The operating system does not let signals be handled.
#[cfg(unix)]
pub fn clean_up_when_interrupted() -> Result<()> {
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
        // As shells report a program that a signal ended.
        stop(&format!("stopped by {name}"), 128 + signal);
    };
    std::thread::Builder::new().spawn(handle).context("cannot handle signals")?;
    Ok(())
}

/// From now on an interrupt removes the program's temporary files first.
///
/// # Errors
/// The operating system does not let interrupts be handled.
#[cfg(not(unix))]
pub fn clean_up_when_interrupted() -> Result<()> {
    ctrlc::set_handler(|| stop("interrupted", 130)).context("cannot handle interrupts")
}

fn stop(why: &str, code: i32) -> ! {
    let there = there();
    for path in there.iter() {
        _ = fs::remove_file(path);
    }
    let removed = if there.is_empty() { "" } else { ": the unfinished output was removed" };
    let message = format!("voxelize: {why}{removed}\n");
    // Standard error may be a pipe that is full: that must not keep the program alive.
    let (told, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        print_error(&message);
        _ = told.send(());
    });
    _ = hears.recv_timeout(Duration::from_millis(500));
    std::process::exit(code)
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
    sweep_once(folder);
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{PREFIX}{}-", tag());
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file has, less the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let named = || format!("cannot write in folder '{}'", folder.display());
    // Only the reason: the temporary name would say nothing to the user.
    let file =
        builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind())).with_context(named)?;
    // Not all file systems have locks; on those that have none nothing is swept either.
    _ = file.as_file().try_lock();
    Ok(file)
}

/// In the names of this process's temporary files: different from those of all other processes.
fn tag() -> &'static str {
    static TAG: OnceLock<String> = OnceLock::new();
    TAG.get_or_init(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.unwrap_or_default().as_nanos();
        format!("{:x}.{nanos:x}", std::process::id())
    })
}

/// Removes the temporary files of killed runs in `folder`, the first time it is used.
fn sweep_once(folder: &Path) {
    let key = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let is_first = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    if is_first {
        // Whatever cannot be removed is in nobody's way.
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

/// Whether a temporary file is old, and no process has locked it.
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
        // A device cannot be brought to the disk.
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
