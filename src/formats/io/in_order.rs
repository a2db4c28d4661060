//! Parallel encoding: parts of a file are encoded by several threads, and written in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// Encodes `items` in parallel, and calls `take` with the results in the order of the items, on the
/// caller's thread. At most two items for each thread are being encoded or wait to be taken.
///
/// # Errors
/// The first error of `take`.
pub(crate) fn encode_in_order<T: Send, P: Send, E>(
    items: impl Iterator<Item = T>,
    encode: impl Fn(T) -> P + Sync,
    mut take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.fuse();
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return items.try_for_each(|item| take(encode(item)));
    }
    let encode = &encode;
    rayon::in_place_scope_fifo(|scope| {
        let mut encoded = VecDeque::with_capacity(2 * threads);
        loop {
            while encoded.len() < 2 * threads
                && let Some(item) = items.next()
            {
                let (sender, receiver) = sync_channel(1);
                // Fails if `take` failed: the receiver is gone.
                scope.spawn_fifo(move |_| _ = sender.send(encode(item)));
                encoded.push_back(receiver);
            }
            // `None` also after a panic of `encode`, which the scope resumes.
            let Some(part) = encoded.pop_front().and_then(wait_for) else { return Ok(()) };
            take(part)?;
        }
    })
}

/// Waits for a result, running other tasks of the pool meanwhile; `None` if its encoder panicked.
fn wait_for<P>(receiver: Receiver<P>) -> Option<P> {
    loop {
        match receiver.try_recv() {
            Ok(part) => return Some(part),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => match rayon::yield_now() {
                Some(rayon::Yield::Executed) => {}
                Some(rayon::Yield::Idle) => std::thread::yield_now(),
                // No thread of a pool: it has no other work.
                None => return receiver.recv().ok(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn results_are_taken_in_the_order_of_the_items_until_one_fails() {
        for threads in [1, 2, 5] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            for (count, failing) in [(0, None), (1, None), (100, None), (100, Some(70))] {
                let mut taken = Vec::new();
                let result = pool.install(|| {
                    encode_in_order(
                        0..count,
                        |item| 3 * item,
                        |part| {
                            taken.push(part);
                            if failing == Some(part / 3) { Err(part) } else { Ok(()) }
                        },
                    )
                });
                let end = failing.map_or(count, |item| item + 1);
                assert_eq!(result, failing.map_or(Ok(()), |item: i32| Err(3 * item)));
                assert_eq!(taken, (0..end).map(|item| 3 * item).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn results_are_taken_by_a_thread_of_no_pool() {
        let mut taken = Vec::new();
        let encode = |item| 3 * item;
        let all = encode_in_order(0..100, encode, |part| {
            taken.push(part);
            Ok::<(), ()>(())
        });
        assert_eq!((all, taken), (Ok(()), (0..100).map(encode).collect()));
    }

    #[test]
    fn a_panic_of_an_encoder_is_not_lost() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let encode = |item| if item == 50 { panic!("item {item}") } else { item };
        let all = || encode_in_order(0..100, encode, |_| Ok::<(), ()>(()));
        assert!(catch_unwind(AssertUnwindSafe(|| pool.install(all))).is_err());
    }
}
