//! Removes temporary files when a signal ends the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use trivox::formats::temporary::remove_temporary_files;

use crate::program::print_error;

/// The folder with the copy of standard input.
static COPY: OnceLock<PathBuf> = OnceLock::new();

/// A folder for the copy of standard input; removed with its files when dropped, and on a signal.
#[derive(Debug)]
pub struct CopyFolder(TempDir);

impl CopyFolder {
    /// Creates the folder in the system's folder for temporary files. A process has one.
    ///
    /// # Errors
    /// It cannot be created; signals cannot be handled.
    pub fn new() -> Result<Self> {
        clean_up_when_interrupted()?;
        let folder = tempfile::Builder::new().prefix("voxelize-").tempdir()?;
        _ = COPY.set(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
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
    if let Some(folder) = COPY.get() {
        _ = fs::remove_dir_all(folder);
    }
    let files = remove_temporary_files();
    let removed = if files.any() { ": the unfinished output was removed" } else { "" };
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
