//! Work that may stall, as on a pipe that nobody writes to or a network that is gone.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use std::{io, mem, process};

use crate::base::progress::Progress;
use crate::formats::ReadError;

/// The interval of progress reports and of checks for cancellation.
const POLL: Duration = Duration::from_millis(20);

/// A call of [`Progress`].
enum Call {
    Start(String, u64),
    Advance(u64),
}

/// The progress of work on another thread.
struct Relay {
    calls: Sender<Call>,
    is_cancelled: Arc<AtomicBool>,
}

impl Progress for Relay {
    fn start(&self, step: &str, total: u64) {
        // Sending fails once nobody waits.
        _ = self.calls.send(Call::Start(step.to_owned(), total));
    }

    fn advance(&self, units: u64) {
        _ = self.calls.send(Call::Advance(units));
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Relaxed)
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs jobs until the sender is dropped.
struct Worker {
    jobs: Sender<Job>,
    /// The id of the process that has the thread: a fork copies the sender, but not the thread.
    process: u32,
}

thread_local! {
    /// The idle worker of this thread: starting one would take longer than reading a small file.
    static WORKER: Cell<Option<Worker>> = const { Cell::new(None) };
}

impl Worker {
    /// The idle worker of this thread, or a new one.
    fn of_this_thread() -> io::Result<Self> {
        let process = process::id();
        match WORKER.take() {
            Some(worker) if worker.process == process => return Ok(worker),
            // Not dropped: the sender's lock may be held by a thread that a fork did not copy.
            other => mem::forget(other),
        }
        let (jobs, received) = channel::<Job>();
        thread::Builder::new().spawn(move || received.iter().for_each(|job| job()))?;
        Ok(Self { jobs, process })
    }
}

/// Runs `work` on this thread's worker and waits for its result. If `progress` is cancelled
/// meanwhile, the worker is abandoned: it ends once `work` returns.
///
/// # Errors
/// Those of `work`; cancellation; no thread can be started.
pub(super) fn interruptible<T: Send + 'static>(
    progress: &dyn Progress,
    work: impl FnOnce(&dyn Progress) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let (calls, made_calls) = channel();
    let (sender, results) = channel();
    let relay = Relay { calls, is_cancelled: Arc::clone(&is_cancelled) };
    let job = move || _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&relay))));
    let worker = Worker::of_this_thread()?;
    worker.jobs.send(Box::new(job)).expect("a worker ends after its sender");
    loop {
        // Only the result wakes this thread: a wake-up per call costs more than a small file.
        let result = results.recv_timeout(POLL);
        made_calls.try_iter().for_each(|call| match call {
            Call::Start(step, total) => progress.start(&step, total),
            Call::Advance(units) => progress.advance(units),
        });
        if let Ok(result) = result {
            WORKER.set(Some(worker));
            return result.unwrap_or_else(|panic| resume_unwind(panic));
        }
        if progress.is_cancelled() {
            is_cancelled.store(true, Relaxed);
            return Err(ReadError::Cancelled);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::base::progress::NoProgress;
    use std::sync::mpsc;

    /// Cancels once it was asked a few times.
    #[derive(Default)]
    struct Impatient(std::sync::atomic::AtomicU32);

    impl Progress for Impatient {
        fn is_cancelled(&self) -> bool {
            self.0.fetch_add(1, Relaxed) > 2
        }
    }

    #[test]
    fn work_that_stalls_is_given_up_when_it_is_cancelled() {
        let (_never, stalled) = mpsc::channel::<()>();
        let (told, hears) = mpsc::channel();
        let given_up = interruptible(&Impatient::default(), move |progress| {
            _ = stalled.recv_timeout(Duration::from_secs(1));
            told.send(progress.is_cancelled()).unwrap();
            Ok(())
        });
        assert!(matches!(given_up, Err(ReadError::Cancelled)));
        // It can know that nobody waits.
        assert!(hears.recv().unwrap());
    }

    #[test]
    fn work_is_done_by_one_worker_unless_it_stalls() {
        let worker = || interruptible(&NoProgress, |_| Ok(thread::current().id())).unwrap();
        let first = worker();
        assert_eq!(worker(), first);
        let (_never, stalled) = mpsc::channel::<()>();
        let stalls = move |_: &dyn Progress| {
            _ = stalled.recv_timeout(Duration::from_secs(1));
            Ok(())
        };
        interruptible(&Impatient::default(), stalls).unwrap_err();
        assert_ne!(worker(), first);
    }

    #[test]
    fn results_errors_and_panics_are_those_of_the_work() {
        assert_eq!(interruptible(&NoProgress, |_| Ok(7)).unwrap(), 7);
        let failing = |_: &dyn Progress| Err::<(), _>(ReadError::Content("malformed".into()));
        assert!(matches!(interruptible(&NoProgress, failing), Err(ReadError::Content(_))));
        let panics = || interruptible(&NoProgress, |_| -> Result<(), _> { panic!("a bug") });
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
