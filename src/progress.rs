//! Progress of long steps, and their cancellation.

/// Receives progress. Methods are called from worker threads, in any order.
pub trait Progress: Send + Sync {
    /// A step begins; `total` is its length in units of its own, or 0 where it is not known.
    fn start(&self, step: &str, total: u64);
    /// `units` more of the current step are done.
    fn advance(&self, units: u64);
    /// Whether the caller wants no result any more. Steps ask often, and then end with
    /// [`BackendError::Cancelled`](crate::BackendError::Cancelled).
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _step: &str, _total: u64) {}
    fn advance(&self, _units: u64) {}
}
