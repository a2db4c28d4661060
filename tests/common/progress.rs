//! Counted progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trivox::{BackendError, Progress};

/// Counts the units of all steps.
#[derive(Default)]
pub struct Counts {
    pub total: AtomicU64,
    pub done: AtomicU64,
    /// How often work has advanced.
    pub parts: AtomicU64,
    /// Units after which the work is cancelled.
    pub most: Option<u64>,
}

impl Counts {
    /// Cancels the work after so many units.
    pub fn cancelled_at(units: u64) -> Self {
        Self { most: Some(units), ..Self::default() }
    }
}

impl Progress for Counts {
    fn start(&self, _step: &str, total: u64) {
        self.total.fetch_add(total, Relaxed);
    }

    fn advance(&self, units: u64) {
        self.parts.fetch_add(1, Relaxed);
        self.done.fetch_add(units, Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.most.is_some_and(|most| self.done.load(Relaxed) >= most)
    }
}

/// Asserts that `work` advances to its total, and stops if it is cancelled; returns the total.
#[track_caller]
pub fn checked_progress<T>(work: impl Fn(&Counts) -> Result<T, BackendError>) -> u64 {
    let progress = Counts::default();
    work(&progress).unwrap();
    let [total, done] = [progress.total, progress.done].map(AtomicU64::into_inner);
    assert_eq!(done, total);
    let cancelled = work(&Counts::cancelled_at(0)).map(|_| ());
    assert_eq!(cancelled, Err(BackendError::Cancelled));
    total
}

/// The total of each step, and what it advanced by.
#[derive(Debug, Default)]
pub struct Steps(pub Mutex<Vec<(String, u64, u64)>>);

impl Progress for Steps {
    fn start(&self, step: &str, total: u64) {
        self.0.lock().unwrap().push((step.to_owned(), total, 0));
    }

    fn advance(&self, units: u64) {
        self.0.lock().unwrap().last_mut().unwrap().2 += units;
    }
}
