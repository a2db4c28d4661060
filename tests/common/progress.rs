//! Counted progress.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trivox::Progress;

/// Counts the units of all steps.
#[derive(Default)]
pub struct Counts {
    pub total: AtomicU64,
    pub done: AtomicU64,
    /// Units after which the work is cancelled.
    pub most: Option<u64>,
}

impl Progress for Counts {
    fn start(&self, _step: &str, total: u64) {
        self.total.fetch_add(total, Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.most.is_some_and(|most| self.done.load(Relaxed) >= most)
    }
}
