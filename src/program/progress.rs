//! Progress: bars for steps that take longer than a second, and the limit of `--time-limit`.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use bytesize::ByteSize;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use trivox::base::lock;
use trivox::formats::{LoadedGrid, ReadError, ReadOptions, read_grid_with};
use trivox::{Progress, code_of};

use crate::cli::SceneArgs;
use crate::console::{CodedError, print_error};
use crate::text::shown;

/// A progress bar on standard error, shown one second after a step starts, if that is a terminal;
/// else a line every 30 seconds.
#[derive(Debug, Default)]
pub struct TerminalProgress {
    quiet: bool,
    /// The bar of the step; it is cleared when its last handle is dropped.
    bar: Arc<Mutex<Option<ProgressBar>>>,
    /// Starts the thread that shows the bars.
    watcher: OnceLock<()>,
}

impl TerminalProgress {
    /// Shows nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, ..Self::default() }
    }

    /// Starts counting items of kind `things`.
    pub fn count(&self, things: &str, total: usize) {
        let template = "{prefix:10} {bar:40} {percent:>3} %, {pos} of {len}  {elapsed}, {eta} left";
        self.show(things, Some(total as u64), template);
    }

    /// Reads the grid in a file, within `memory` if it is given; of a `.vox` the selection `scene`.
    pub fn load(
        &self,
        path: &Path,
        memory: Option<ByteSize>,
        scene: SceneArgs,
    ) -> Result<LoadedGrid> {
        let options = ReadOptions {
            memory: memory.map_or(u64::MAX, |size| size.as_u64()),
            visible_only: scene.visible_only,
            frame: scene.frame,
            ..ReadOptions::default()
        };
        let read = read_grid_with(path, &options, self);
        read.map_err(|error| match error {
            ReadError::Memory { .. } if memory.is_none() => {
                Error::from(error).context("--memory sets another limit")
            }
            error => error.into(),
        })
        .with_context(|| shown(path))
    }

    /// Runs `print` while the bar is hidden.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match self.bar() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        *lock(&self.bar) = None;
    }

    fn bar(&self) -> Option<ProgressBar> {
        lock(&self.bar).clone()
    }

    fn show(&self, step: &str, total: Option<u64>, template: &str) {
        if self.quiet {
            return;
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        *lock(&self.bar) = Some(bar.with_prefix(step.to_owned()));
        self.watcher.get_or_init(|| {
            let shared = Arc::downgrade(&self.bar);
            // Without it nothing is shown.
            _ = thread::Builder::new().spawn(move || watch(&shared));
        });
    }
}

const DELAY: Duration = Duration::from_secs(1);
/// Interval of progress lines in a log, if standard error is not a terminal.
const LINE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(100);

/// Shows the bar of the moment, until its owner is gone: draws it on a terminal, or prints a line
/// after each interval.
fn watch(shared: &Weak<Mutex<Option<ProgressBar>>>) {
    let is_terminal = std::io::stderr().is_terminal();
    let mut lines = 0;
    while let Some(shared) = shared.upgrade() {
        // Locked: a bar that is removed must not be drawn after the lines that follow it.
        let bar = lock(&shared);
        if let Some(bar) = bar.as_ref().filter(|bar| bar.elapsed() >= DELAY) {
            // Of a new bar there are no lines yet.
            let due = bar.elapsed().as_secs() / LINE.as_secs();
            if is_terminal {
                if bar.is_hidden() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.tick();
            } else if due > lines {
                print_error(&line(bar));
            }
            lines = due;
        }
        drop(bar);
        drop(shared);
        thread::sleep(TICK);
    }
}

impl Progress for TerminalProgress {
    fn start(&self, step: &str, total: u64) {
        let total = (total > 0).then_some(total);
        let template = match total {
            Some(_) => "{prefix:10} {bar:40} {percent:>3} %  {elapsed}, {eta} left",
            None => "{prefix:10} {spinner} {elapsed}",
        };
        self.show(step, total, template);
    }

    fn advance(&self, units: u64) {
        if let Some(bar) = self.bar() {
            bar.inc(units);
        }
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

/// `error` of the work on `mesh`, or that of the time limit if the limit cancelled the work.
pub fn explain_late(error: Error, limit: Option<Duration>, mesh: &Path) -> Error {
    let is_cancelled = error.chain().any(|error| code_of(error) == Some("cancelled"));
    match limit {
        Some(limit) if is_cancelled => {
            let error = format!(
                "{}: takes longer than --time-limit {}: allow more, or use a lower resolution",
                shown(mesh),
                limit.as_secs_f64()
            );
            CodedError { error, code: "time_limit" }.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use trivox::BackendError;
    use trivox::engine::VoxelizeError;
    use trivox::formats::WriteError;
    use trivox::view::render::RenderError;

    #[test]
    fn the_limit_is_named_for_whatever_it_cancelled() {
        let explain =
            |error| explain_late(error, Some(Duration::ZERO), Path::new("a.obj")).to_string();
        let voxels = VoxelizeError::from(BackendError::Cancelled);
        let read = VoxelizeError::from(ReadError::Cancelled);
        let errors: [Error; 4] = [
            voxels.into(),
            read.into(),
            WriteError::Cancelled.into(),
            RenderError::Cancelled.into(),
        ];
        for error in errors {
            let said = explain(error.context("a.obj"));
            assert!(said.starts_with("a.obj: takes longer than --time-limit 0:"), "{said}");
        }
        assert_eq!(explain(anyhow!("malformed")), "malformed");
    }
}
