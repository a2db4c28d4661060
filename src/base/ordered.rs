//! Parallel work whose results come in the order of the inputs: on threads of its own, or in the
//! current rayon pool.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder};
use std::time::Duration;

use crate::base::lock;

/// The stack of a worker thread, in bytes: as large as a main thread's.
const STACK: usize = 8 << 20;

/// Time between two looks at the pool of a thread that waits and has nothing to do.
const IDLE: Duration = Duration::from_millis(1);

/// Receives the result of one input, or the panic of its work. The sender is dropped without a
/// value if there is no further input.
type Slot<R> = Receiver<thread::Result<R>>;

/// A thread's work.
pub type Worker<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Results in the order of their inputs. Dropping it ends the work after the inputs in progress.
#[derive(Debug)]
pub struct Ordered<R> {
    slots: Receiver<Slot<R>>,
}

impl<R: Send> Ordered<R> {
    /// Applies `work` to each of `inputs` on `workers` threads, which take at most `most_ahead`
    /// inputs more than the caller has taken results, and one more while the caller waits for a
    /// result. A queue of `most_ahead` slots is allocated at once. `spawn` starts a detached or a
    /// scoped thread, not a job of a rayon pool: a worker that waits for a GPU must not hold up the
    /// pool in which another computes. A scope waits for its threads: drop the results before its
    /// end.
    ///
    /// # Errors
    /// The operating system refuses to start a thread.
    pub fn new<'a, T: Send + 'a>(
        inputs: impl Iterator<Item = T> + Send + 'a,
        workers: usize,
        most_ahead: usize,
        work: impl Fn(T) -> R + Send + Sync + 'a,
        spawn: impl Fn(Builder, Worker<'a>) -> io::Result<()>,
    ) -> io::Result<Self>
    where
        R: 'a,
    {
        let (inputs, work) = (Arc::new(Mutex::new(inputs)), Arc::new(work));
        let (sender, slots) = sync_channel(most_ahead);
        for _ in 0..workers {
            let (inputs, work, sender) = (Arc::clone(&inputs), Arc::clone(&work), sender.clone());
            let worker = move || {
                while let Some((input, reply)) = take_input(&inputs, &sender) {
                    // Fails once nobody takes results any more.
                    _ = reply.send(input.and_then(|input| caught(|| work(input))));
                }
            };
            spawn(Builder::new().stack_size(STACK), Box::new(worker))?;
        }
        Ok(Self { slots })
    }
}

/// Waits for room in the queue of `slots`, and takes the next input with the sender of its result;
/// `None` if there are no more inputs or the [`Ordered`] is dropped.
fn take_input<T, R>(
    inputs: &Mutex<impl Iterator<Item = T>>,
    slots: &SyncSender<Slot<R>>,
) -> Option<(thread::Result<T>, SyncSender<thread::Result<R>>)> {
    // Locked until the input is taken, so that the slots are in the order of the inputs.
    let mut inputs = lock(inputs);
    let (reply, slot) = sync_channel(1);
    slots.send(slot).ok()?;
    let input = caught(|| inputs.next()).transpose()?;
    Some((input, reply))
}

/// The result of `work`, or its panic.
fn caught<R>(work: impl FnOnce() -> R) -> thread::Result<R> {
    catch_unwind(AssertUnwindSafe(work))
}

/// Waits for a value; `None` if the sender is dropped without one. A thread of a rayon pool
/// executes jobs of its pool meanwhile: workers may compute in this pool, and would wait forever if
/// all of its threads waited here.
fn received<T>(from: &Receiver<T>) -> Option<T> {
    loop {
        match from.try_recv() {
            Ok(value) => return Some(value),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        match rayon::yield_now() {
            None => return from.recv().ok(),
            Some(rayon::Yield::Executed) => {}
            Some(rayon::Yield::Idle) => match from.recv_timeout(IDLE) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            },
        }
    }
}

impl<R> Iterator for Ordered<R> {
    type Item = R;

    /// # Panics
    /// The work on this input panicked, or the iterator of inputs did.
    fn next(&mut self) -> Option<R> {
        let slot = received(&self.slots)?;
        received(&slot).map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// Applies `work` to `items` in the current rayon pool, and calls `take` with the results in the
/// order of the items, on the caller's thread. At most two items for each thread are in work or
/// wait to be taken.
///
/// # Errors
/// The first error of `take`.
pub(crate) fn in_pool<T: Send, R: Send, E>(
    mut items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return items.try_for_each(|item| take(work(item)));
    }
    let work = &work;
    let mut items = items.fuse();
    rayon::in_place_scope_fifo(|scope| {
        let mut slots: VecDeque<Slot<R>> = VecDeque::new();
        loop {
            while slots.len() < 2 * threads
                && let Some(item) = items.next()
            {
                let (reply, slot) = sync_channel(1);
                // Fails once nobody takes results any more.
                scope.spawn_fifo(move |_| _ = reply.send(caught(|| work(item))));
                slots.push_back(slot);
            }
            let Some(slot) = slots.pop_front() else { return Ok(()) };
            if let Some(result) = received(&slot) {
                take(result.unwrap_or_else(|panic| resume_unwind(panic)))?;
            }
        }
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// On threads that live as long as they work.
    fn detached<T: Send + 'static, R: Send + 'static>(
        inputs: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        most_ahead: usize,
        work: impl Fn(T) -> R + Send + Sync + 'static,
    ) -> Ordered<R> {
        let spawn = |thread: Builder, worker: Worker<'static>| thread.spawn(worker).map(drop);
        Ordered::new(inputs, workers, most_ahead, work, spawn).unwrap()
    }

    #[test]
    fn results_are_in_order_though_the_first_is_the_slowest() {
        let work = |input: u64| {
            thread::sleep(Duration::from_millis(20 - input));
            10 * input
        };
        let results: Vec<u64> = detached(0..20, 5, 20, work).collect();
        assert_eq!(results, (0..20).map(|input| 10 * input).collect::<Vec<_>>());
    }

    #[test]
    fn workers_are_not_far_ahead_of_the_caller_and_end_when_it_goes() {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&begun);
        let work = move |_: usize| count.fetch_add(1, Ordering::SeqCst);
        let mut results = detached(0..usize::MAX, 2, 8, work);
        results.next().unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(begun.load(Ordering::SeqCst) <= 1 + 8);
        drop(results);
        thread::sleep(Duration::from_millis(20));
        // The workers have let go of the counter.
        assert_eq!(Arc::strong_count(&begun), 1);
    }

    #[test]
    fn threads_of_the_pool_in_which_workers_compute_may_take_the_results() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        let (sender, done) = channel();
        thread::spawn(move || {
            let computing = Arc::clone(&pool);
            let sums: Vec<u64> = pool.install(|| {
                let take = |first: u64| {
                    let computing = Arc::clone(&computing);
                    let work = move |input| computing.install(|| rayon::join(|| input, || 1).0);
                    detached(first..first + 9, 2, 8, work).sum()
                };
                (0..8).into_par_iter().map(take).collect()
            });
            let bridged: u64 = pool.install(|| {
                let computing = Arc::clone(&computing);
                let results = detached(0..40, 2, 8, move |input: u64| computing.install(|| input));
                results.par_bridge().sum()
            });
            sender.send((sums, bridged)).unwrap();
        });
        let (sums, bridged) = done.recv_timeout(Duration::from_secs(60)).expect("a deadlock");
        assert_eq!(sums, (0..8).map(|first| 9 * first + 36).collect::<Vec<u64>>());
        assert_eq!(bridged, 780);
    }

    #[test]
    fn a_panic_comes_to_whoever_takes_the_result() {
        let results = detached(0..3, 2, 8, |input| assert_ne!(input, 1));
        assert!(catch_unwind(AssertUnwindSafe(|| results.count())).is_err());
        let inputs = (0..9).inspect(|&input| assert_ne!(input, 4));
        let mut results = detached(inputs, 2, 8, |input| input);
        assert_eq!(results.by_ref().take(4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(catch_unwind(AssertUnwindSafe(|| results.next())).is_err());
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn results_of_a_pool_are_taken_in_the_order_of_the_items_until_one_fails() {
        for threads in [1, 2, 5] {
            let pool = pool(threads);
            for (count, failing) in [(0, None), (1, None), (100, None), (100, Some(70))] {
                let mut taken = Vec::new();
                let take = |part| {
                    taken.push(part);
                    if failing == Some(part / 3) { Err(part) } else { Ok(()) }
                };
                let result = pool.install(|| in_pool(0..count, |item| 3 * item, take));
                let end = failing.map_or(count, |item| item + 1);
                assert_eq!(result, failing.map_or(Ok(()), |item: i32| Err(3 * item)));
                assert_eq!(taken, (0..end).map(|item| 3 * item).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_panic_in_a_pool_is_not_lost() {
        let work = |item| if item == 50 { panic!("item {item}") } else { item };
        let all = || in_pool(0..100, work, |_| Ok::<(), ()>(()));
        assert!(catch_unwind(AssertUnwindSafe(|| pool(2).install(all))).is_err());
    }

    #[test]
    fn no_more_inputs_are_in_work_than_there_are_workers() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_: u32| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, Ordering::SeqCst);
        };
        let all = thread::scope(|scope| {
            let spawn = |thread: Builder, worker| thread.spawn_scoped(scope, worker).map(drop);
            Ordered::new(0..30, 3, 30, &work, spawn).unwrap().count()
        });
        let most = most.into_inner();
        assert!(all == 30 && (2..=3).contains(&most), "{all}, {most}");
    }

    #[test]
    fn workers_of_a_scope_end_when_nobody_takes_results() {
        let begun = AtomicUsize::new(0);
        let work = |_: u32| {
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
        };
        thread::scope(|scope| {
            let spawn = |thread: Builder, worker| thread.spawn_scoped(scope, worker).map(drop);
            Ordered::new(0..20_000, 2, 20_000, &work, spawn).unwrap().next().unwrap();
        });
        assert!(begun.into_inner() < 20_000);
    }
}
