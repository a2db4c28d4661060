//! Progress on a terminal, for what takes longer than a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trivox::Progress;

/// A line on standard error that appears a second into a step, if that is a terminal.
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

    /// From here on, counts how many of so many `things` are done.
    pub fn count(&self, things: &str, total: usize) {
        if !self.quiet {
            // Without an estimate: a few things of different sizes allow none.
            let template = "{prefix:10} {bar:40} {pos} of {len}  {elapsed}";
            self.replace(Some(Arc::new(Bar::new(things, Some(total as u64), template))));
        }
    }

    /// Runs `print`, whose output the line must not run into.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match self.bar() {
            Some(bar) => bar.0.suspend(print),
            None => print(),
        }
    }

    /// Removes the line.
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

/// A bar that a thread of its own makes visible; cleared when dropped.
#[derive(Debug)]
struct Bar(ProgressBar);

const DELAY: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

impl Bar {
    fn new(step: &str, total: Option<u64>, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(step.to_owned());
        let weak = bar.downgrade();
        std::thread::spawn(move || {
            std::thread::sleep(DELAY);
            if let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(TICK);
            }
        });
        Self(bar)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
