//! Progress bars for steps that take longer than a second.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use trivox::Progress;
use trivox::formats::{LoadedGrid, read_grid_with};

use crate::program::print_error;

/// A progress bar on standard error, shown one second after a step starts, if that is a terminal.
#[derive(Debug, Default)]
pub struct TerminalProgress {
    quiet: bool,
    bar: Mutex<Option<Arc<Bar>>>,
}

impl TerminalProgress {
    /// Shows nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, bar: Mutex::new(None) }
    }

    /// Starts counting items of kind `things`.
    pub fn count(&self, things: &str, total: usize) {
        if !self.quiet {
            let template =
                "{prefix:10} {bar:40} {percent:>3} %, {pos} of {len}  {elapsed}, {eta} left";
            self.replace(Some(Arc::new(Bar::new(things, Some(total as u64), template))));
        }
    }

    /// Reads the grid in a file.
    ///
    /// # Errors
    /// As [`read_grid_with`], with the name of the file.
    pub fn load(&self, path: &Path) -> Result<LoadedGrid> {
        read_grid_with(path, self).with_context(|| path.display().to_string())
    }

    /// Runs `print` while the bar is hidden.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match self.bar() {
            Some(bar) => bar.0.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.replace(None);
    }

    fn bar(&self) -> Option<Arc<Bar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, bar: Option<Arc<Bar>>) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }
}

impl Progress for TerminalProgress {
    fn start(&self, step: &str, total: u64) {
        if !self.quiet {
            let total = (total > 0).then_some(total);
            let template = match total {
                Some(_) => "{prefix:10} {bar:40} {percent:>3} %  {elapsed}, {eta} left",
                None => "{prefix:10} {spinner} {elapsed}",
            };
            self.replace(Some(Arc::new(Bar::new(step, total, template))));
        }
    }

    fn advance(&self, units: u64) {
        if let Some(bar) = self.bar() {
            bar.0.inc(units);
        }
    }
}

/// A bar that a thread shows after a delay; cleared when dropped.
#[derive(Debug)]
struct Bar(ProgressBar);

const DELAY: Duration = Duration::from_secs(1);
/// Interval of progress lines in a log, if standard error is not a terminal.
const LINE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(100);

impl Bar {
    fn new(step: &str, total: Option<u64>, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(step.to_owned());
        let weak = bar.downgrade();
        let is_terminal = std::io::stderr().is_terminal();
        std::thread::spawn(move || {
            if !is_terminal {
                loop {
                    std::thread::sleep(LINE);
                    let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) else { return };
                    print_error(&line(&bar));
                }
            }
            std::thread::sleep(DELAY);
            if let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(TICK);
            }
        });
        Self(bar)
    }
}

/// The progress of a step, for a log.
fn line(bar: &ProgressBar) -> String {
    let (step, elapsed) = (bar.prefix(), bar.elapsed());
    let so_far = HumanDuration(elapsed);
    match bar.length() {
        Some(total) if total > 0 && bar.position() > 0 => {
            // By the mean speed: that of the last steps differs much from one brick to the next.
            let done = (bar.position() as f64 / total as f64).min(1.0);
            let left = HumanDuration(elapsed.mul_f64((1.0 - done) / done));
            format!("{step}: {:.0} % after {so_far}, about {left} left\n", 100.0 * done)
        }
        _ => format!("{step}: {so_far} so far\n"),
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
