//! A thread pool that starts when it is first used, once in each process.
//!
//! The threads of a pool do not exist in a forked child: a pool that the parent started would wait
//! there forever. The pool is therefore keyed by the process id.

use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backend::BackendError;
use crate::base::lock;

#[derive(Debug)]
pub(crate) struct LazyPool {
    /// 0: as many as there are cores.
    pub(crate) threads: usize,
    /// With the id of the process that started it.
    pool: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

impl LazyPool {
    pub(crate) const fn new(threads: usize) -> Self {
        Self { threads, pool: Mutex::new(None) }
    }

    /// Wraps a pool that exists already.
    pub(crate) fn of(pool: Arc<ThreadPool>) -> Self {
        let threads = pool.current_num_threads();
        Self { threads, pool: Mutex::new(Some((std::process::id(), pool))) }
    }

    /// The pool of this process.
    ///
    /// # Errors
    /// The operating system refuses to start the threads.
    pub(crate) fn get(&self) -> Result<Arc<ThreadPool>, BackendError> {
        let process = std::process::id();
        let mut pool = lock(&self.pool);
        if let Some((of, pool)) = &*pool
            && *of == process
        {
            return Ok(Arc::clone(pool));
        }
        let new = ThreadPoolBuilder::new().num_threads(self.threads).build().map(Arc::new);
        let new = new.map_err(|error| BackendError::Threads {
            threads: self.threads,
            reason: error.to_string(),
        })?;
        // Dropping the parent's pool would wait for threads that are not there.
        std::mem::forget(pool.replace((process, Arc::clone(&new))));
        Ok(new)
    }
}
