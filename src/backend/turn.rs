//! Exclusive use of a GPU by blocking callers.

use std::collections::BTreeMap;
use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder};

use crate::backend::BackendError;
use crate::backend::pool::LazyPool;
use crate::base::lock;

/// The turn to use a GPU. Plain threads hold it, and the pools in which their work runs do nothing
/// else: no job can wait for the turn on the stack of the job that holds it, and no pool runs out
/// of threads because all of them wait.
#[derive(Debug, Default)]
pub(crate) struct Turn(Mutex<()>);

impl Turn {
    /// Runs `work` while nobody else has the turn, in a pool of `threads` threads.
    ///
    /// # Errors
    /// The operating system refuses to start the threads.
    pub(crate) fn take<T: Send>(
        &self,
        threads: usize,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, BackendError> {
        // By their number of threads, whichever voxelizer the work is for.
        static POOLS: Mutex<BTreeMap<usize, Arc<LazyPool>>> = Mutex::new(BTreeMap::new());
        let new = || Arc::new(LazyPool::new(threads));
        let pool = Arc::clone(lock(&POOLS).entry(threads).or_insert_with(new));
        let pool = pool.get()?;
        let run = || {
            let _turn = lock(&self.0);
            pool.install(work)
        };
        if rayon::current_thread_index().is_none() {
            return Ok(run());
        }
        thread::scope(|scope| {
            let holder = Builder::new().spawn_scoped(scope, run);
            let refused =
                |error: io::Error| BackendError::Threads { threads: 1, reason: error.to_string() };
            Ok(holder.map_err(refused)?.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }
}
