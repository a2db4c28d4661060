//! Parallel encoding: parts of a file are encoded by several threads, and written in order.

use rayon::prelude::*;

/// Parts that are encoded at a time for each thread.
const PARTS: usize = 4;

/// Calls `take` with what `encode` makes of each of `items`, in their order. A batch of items is
/// encoded in parallel while the results of the batch before are taken by the caller's thread, so
/// up to eight results for each thread are in memory.
///
/// # Errors
/// The first error of `take`; at most one more batch is encoded then.
pub(super) fn encode_in_order<T: Send, P: Send, E>(
    items: impl Iterator<Item = T>,
    encode: impl Fn(T) -> P + Sync,
    mut take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    let threads = rayon::current_num_threads();
    let mut items = items.fuse();
    if threads == 1 {
        return items.try_for_each(|item| take(encode(item)));
    }
    let mut encoded: Vec<P> = Vec::new();
    loop {
        let batch: Vec<T> = items.by_ref().take(PARTS * threads).collect();
        if batch.is_empty() && encoded.is_empty() {
            return Ok(());
        }
        let (mut next, mut taken) = (Vec::new(), Ok(()));
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = batch.into_par_iter().map(&encode).collect());
            taken = encoded.drain(..).try_for_each(&mut take);
        });
        taken?;
        encoded = next;
    }
}

#[cfg(test)]
mod tests {
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
                        |part| match failing == Some(part / 3) {
                            true => Err(part),
                            false => Ok(taken.push(part)),
                        },
                    )
                });
                let end = failing.unwrap_or(count);
                assert_eq!(result, failing.map_or(Ok(()), |item: i32| Err(3 * item)));
                assert_eq!(taken, (0..end).map(|item| 3 * item).collect::<Vec<_>>());
            }
        }
    }
}
