//! Handles signals that end the program: removes temporary files, and reports the reason.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use trivox::formats::temporary::{folder_of, remove_temporary_files};

use crate::console::CodedError;
use crate::inputs::STDIN_COPY;

/// Installs a handler of the signals that end the program: it removes the temporary files, and
/// says what happened, also as JSON if that is asked for.
///
/// SIGXFSZ is caught and does not end it: the write past the limit of `ulimit -f` fails, and that
/// error names the file. A signal that is ignored from the start, as by `nohup`, stays ignored.
#[cfg(unix)]
pub fn handle(is_json: bool) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::signal_name;
    let ignored = ignored();
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ].into_iter();
    let handled = handled.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(handled).context("cannot handle signals")?;
    let handle = move || {
        let Some(signal) = signals.forever().find(|&signal| signal != SIGXFSZ) else { return };
        let name = signal_name(signal).unwrap_or("a signal");
        // The exit code with which shells report a signal.
        stop(&format!("stopped by {name}"), 128 + signal, is_json);
    };
    std::thread::Builder::new().spawn(handle).context("cannot handle signals")?;
    Ok(())
}

/// A bit mask of the signals that this process ignores: signal `n` is bit `n - 1`. 0 on systems
/// without `/proc`.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// As on Unix.
#[cfg(not(unix))]
pub fn handle(is_json: bool) -> Result<()> {
    ctrlc::set_handler(move || stop("interrupted", 130, is_json))
        .context("cannot handle interrupts")
}

fn stop(why: &str, code: i32, is_json: bool) -> ! {
    if let Some(copy) = STDIN_COPY.get() {
        _ = fs::remove_dir_all(folder_of(copy));
    }
    let files = remove_temporary_files();
    let removed = if files.is_empty() { "" } else { ": the unfinished output was removed" };
    let report = CodedError { error: format!("{why}{removed}"), code: "cancelled" };
    // Standard error and output may be full pipes, which must not block the exit.
    let (sender, receiver) = std::sync::mpsc::channel();
    _ = std::thread::Builder::new().spawn(move || {
        report.print(is_json);
        _ = sender.send(());
    });
    _ = receiver.recv_timeout(Duration::from_millis(500));
    std::process::exit(code)
}
