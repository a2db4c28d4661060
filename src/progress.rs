//! How long steps tell a caller how far they are.

/// Receives progress. Methods are called from worker threads, in any order.
pub trait Progress: Sync {
    /// A step begins; `total` is its length in units of its own, or 0 where it is not known.
    fn start(&self, step: &str, total: u64);
    /// `units` more of the current step are done.
    fn advance(&self, units: u64);
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _step: &str, _total: u64) {}
    fn advance(&self, _units: u64) {}
}
