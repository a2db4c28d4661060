//! Work away from the interpreter: on a thread of its own, while the caller's thread waits
//! detached, looks for signals and reports progress.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::error::Failure;
use crate::options::wrong_type;

/// How long a signal may wait for the caller's thread to look for it.
const POLL: Duration = Duration::from_millis(20);

/// Of a thread that works on a mesh: as large as a main thread's, whoever recurses.
const STACK: usize = 8 << 20;

/// What a running job and the thread that waits for it share.
#[derive(Debug, Default)]
pub struct Job {
    is_cancelled: AtomicBool,
    deadline: Option<Instant>,
    /// The file that the work is on.
    path: Option<PathBuf>,
    step: Mutex<String>,
    total: AtomicU64,
    done: AtomicU64,
}

impl Job {
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// # Errors
    /// The job was cancelled, or is out of time.
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        if self.is_late() {
            let late = late();
            return Err(match &self.path {
                Some(path) => late.at(path),
                None => late,
            });
        }
        Ok(())
    }

    /// The step, how much of it is done, and its length; 0 where that is not known.
    fn progress(&self) -> (String, u64, u64) {
        let step = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (step, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

impl trivox::Progress for Job {
    fn start(&self, step: &str, total: u64) {
        step.clone_into(&mut self.step.lock().unwrap_or_else(PoisonError::into_inner));
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.is_late()
    }
}

/// The work took longer than it may.
pub fn late() -> Failure {
    let message = "the time limit is exceeded: allow more time, or use a lower resolution";
    Failure::own("time_limit", message)
}

/// Does `work` as [`run_off_pool`] does, but in the process's thread pool.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<Job>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_off_pool(py, |job| pool(None)?.install(|| work(job)))
}

/// Does `work` as [`run_on`] does, without a path, a time limit or a receiver of progress.
pub fn run_off_pool<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<Job>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_on(py, None, None, None, work)
}

/// Does `work` on a mesh, from the file at `path` if it is from one, on a thread of its own,
/// detached. `progress` is called now and then, by the thread that waits, with the step, how much
/// of it is done, and its length.
///
/// # Errors
/// Those of `work`; a signal's, such as `KeyboardInterrupt`; those of `progress`. In the latter two
/// cases the work is told to stop, and not waited for.
pub fn run_on<T: Send + 'static>(
    py: Python<'_>,
    path: Option<PathBuf>,
    time_limit: Option<Duration>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<Job>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    if let Some(progress) = progress.filter(|progress| !progress.is_callable()) {
        return Err(wrong_type("progress", progress, "a callable"));
    }
    let deadline = time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let job = Arc::new(Job { path, deadline, ..Job::default() });
    let (sender, mut receiver) = channel();
    let shared = Arc::clone(&job);
    start_thread(move || {
        // Fails if the caller was interrupted.
        _ = sender.send(guarded(|| work(&shared)));
    })?;
    let mut told = None;
    loop {
        let received;
        (receiver, received) = receive(py, receiver);
        if let Some(result) = received {
            return Ok(result.map_err(|failure| match failure {
                // The work saw its deadline before this thread did.
                Failure::Cancelled => job.check().err().unwrap_or(failure),
                other => other,
            })?);
        }
        let signals = py.check_signals().and_then(|()| match progress {
            Some(progress) => tell(progress, &job, &mut told),
            None => Ok(()),
        });
        if let Err(error) = signals {
            job.cancel();
            return Err(error);
        }
        if let Err(failure) = job.check() {
            job.cancel();
            return Err(failure.into());
        }
    }
}

/// The channel of a job's result.
type ResultOf<T> = Receiver<Result<T, Failure>>;

/// Waits for a result, detached, for a while.
pub fn receive<T: Send>(
    py: Python<'_>,
    receiver: ResultOf<T>,
) -> (ResultOf<T>, Option<Result<T, Failure>>) {
    py.detach(move || {
        let received = match receiver.recv_timeout(POLL) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(Failure::bug("a thread ended"))),
        };
        (receiver, received)
    })
}

fn tell(
    progress: &Bound<'_, PyAny>,
    job: &Job,
    told: &mut Option<(String, u64, u64)>,
) -> PyResult<()> {
    let now = job.progress();
    if told.as_ref() != Some(&now) && !now.0.is_empty() {
        progress.call1(now.clone())?;
        *told = Some(now);
    }
    Ok(())
}

/// What `work` gives; a panic is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panic_failure(&*payload)))
}

fn panic_failure(payload: &(dyn Any + Send)) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Failure::bug(text.unwrap_or("a panic"))
}

/// # Errors
/// The operating system refused.
pub fn start_thread(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = thread::Builder::new().name("trivox".into()).stack_size(STACK);
    thread.spawn(work)?;
    Ok(())
}

/// Does short `work` detached, on the process's pool. Rayon's global pool must not be used: a
/// forked child would wait for it forever.
///
/// # Errors
/// The operating system refused to start threads.
pub fn on_pool<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    Ok(py.detach(|| pool(None).map(|pool| pool.install(work)))?)
}

/// The same of work that may fail.
///
/// # Errors
/// Those of `work`, too.
pub fn try_on_pool<T: Send, E: Into<Failure> + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    Ok(on_pool(py, work)?.map_err(Into::<Failure>::into)?)
}

/// The process's pool with this number of threads. The default pool, pools in use and the newest
/// other pool are kept.
///
/// A forked child has none of its parent's threads, so that it would wait forever for one of the
/// parent's pools: pools are kept by process id, and those of the parent are never dropped.
///
/// # Errors
/// The operating system refused to start threads.
pub fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Failure> {
    type Key = (u32, usize);
    static POOLS: Mutex<Vec<(Key, Arc<ThreadPool>)>> = Mutex::new(Vec::new());
    let pools = || POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads.unwrap_or(0));
    let find = |pools: &[(Key, Arc<ThreadPool>)]| {
        let found = pools.iter().find(|(own, _)| *own == key);
        found.map(|(_, pool)| Arc::clone(pool))
    };
    if let Some(pool) = find(&pools()) {
        return Ok(pool);
    }
    let builder = rayon::ThreadPoolBuilder::new().num_threads(key.1);
    let pool = builder.thread_name(|n| format!("trivox-{n}")).build().map_err(|error| {
        let message = format!("could not start {} threads: {error}", key.1);
        Failure::own("backend.threads", message)
    })?;
    let mut pools = pools();
    if let Some(pool) = find(&pools) {
        return Ok(pool);
    }
    let pool = Arc::new(pool);
    pools.retain(|((process, threads), pool)| {
        *process != key.0 || *threads == 0 || Arc::strong_count(pool) > 1
    });
    pools.push((key, Arc::clone(&pool)));
    Ok(pool)
}
