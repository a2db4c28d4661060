//! Progress reports and cancellation of long steps.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use web_time::Instant;

/// Receives progress. Methods are called from worker threads, in any order; by default they do
/// nothing.
pub trait Progress: Send + Sync {
    /// A step begins; `total` is its length in the step's own units, or 0 if unknown.
    ///
    /// The steps of a [`Voxelizer`](crate::Voxelizer) are `load` and `parse` of a file, `place`,
    /// `voxelize`, for solids `analyze` and `fill`, then `color` and `attributes`, or `distances`.
    /// Some come several times. A picture is `draw`.
    #[expect(unused_variables, reason = "ignored by default")]
    fn start(&self, step: &str, total: u64) {}

    /// `units` more of the current step are done.
    #[expect(unused_variables, reason = "ignored by default")]
    fn advance(&self, units: u64) {}

    /// Whether the caller has cancelled; a step fails if any of its polls is true. Steps poll it
    /// between their parts, most within tenths of a second, fills and the topology of large meshes
    /// within seconds, and then return
    /// [`BackendError::Cancelled`](crate::BackendError::Cancelled), or the `Cancelled` of their own
    /// error.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// Cancels when the time is over.
pub(crate) struct Deadline {
    progress: Arc<dyn Progress>,
    end: Option<Instant>,
}

impl Deadline {
    /// `progress` until `limit` from now; without a limit its time never ends.
    pub(crate) fn new(progress: Arc<dyn Progress>, limit: Option<Duration>) -> Self {
        Self { progress, end: limit.and_then(|limit| Instant::now().checked_add(limit)) }
    }
}

impl Progress for Deadline {
    fn start(&self, step: &str, total: u64) {
        self.progress.start(step, total);
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled() || self.end.is_some_and(|end| Instant::now() > end)
    }
}

/// Stays cancelled once a poll is true: a step that skipped a part must fail, even if later polls
/// are false.
pub(crate) struct Latch<'a> {
    progress: &'a dyn Progress,
    is_cancelled: AtomicBool,
}

impl<'a> Latch<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, is_cancelled: AtomicBool::new(false) }
    }

    /// Whether an earlier poll was true; does not poll.
    pub(crate) fn is_latched(&self) -> bool {
        self.is_cancelled.load(Relaxed)
    }
}

impl Progress for Latch<'_> {
    fn start(&self, step: &str, total: u64) {
        self.progress.start(step, total);
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }

    fn is_cancelled(&self) -> bool {
        if !self.is_latched() && self.progress.is_cancelled() {
            self.is_cancelled.store(true, Relaxed);
        }
        self.is_latched()
    }
}

/// Cancels, and reports nothing: for a preparation that is no step of its own.
pub(crate) struct Unreported<'a>(pub(crate) &'a dyn Progress);

impl Progress for Unreported<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}
