//! Work that may stall, as on a pipe that nobody writes to or a network that is gone.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::formats::ReadError;
use crate::progress::Progress;

/// How long a cancellation may go unnoticed.
const POLL: Duration = Duration::from_millis(20);

/// What the thread that works tells the one that waits.
enum Message<T> {
    Start(String, u64),
    Advance(u64),
    Done(T),
}

/// Progress of the thread that works.
struct Relay<T> {
    sender: Sender<Message<T>>,
    is_cancelled: Arc<AtomicBool>,
}

impl<T: Send> Progress for Relay<T> {
    fn start(&self, step: &str, total: u64) {
        // Sending fails once nobody waits.
        _ = self.sender.send(Message::Start(step.to_owned(), total));
    }

    fn advance(&self, units: u64) {
        _ = self.sender.send(Message::Advance(units));
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Relaxed)
    }
}

/// Does `work` on a thread of its own, which is detached if it is cancelled while it stalls.
///
/// # Errors
/// Those of `work`; cancellation; no thread can be started.
pub(super) fn interruptible<T: Send + 'static>(
    progress: &dyn Progress,
    work: impl FnOnce(&dyn Progress) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let (sender, messages) = channel();
    let relay = Relay { sender, is_cancelled: Arc::clone(&is_cancelled) };
    let work = move || {
        let done = work(&relay);
        _ = relay.sender.send(Message::Done(done));
    };
    let thread = thread::Builder::new().spawn(work)?;
    loop {
        match messages.recv_timeout(POLL) {
            Ok(Message::Start(step, total)) => progress.start(&step, total),
            Ok(Message::Advance(units)) => progress.advance(units),
            Ok(Message::Done(done)) => return done,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("a thread that ends well has sent its result"),
            },
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
    use crate::progress::NoProgress;
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
    fn results_errors_and_panics_are_those_of_the_work() {
        assert_eq!(interruptible(&NoProgress, |_| Ok(7)).unwrap(), 7);
        let failing = |_: &dyn Progress| Err::<(), _>(ReadError::Content("malformed".into()));
        assert!(matches!(interruptible(&NoProgress, failing), Err(ReadError::Content(_))));
        let panics = || interruptible(&NoProgress, |_| -> Result<(), _> { panic!("a bug") });
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
