//! Work on the parts of a text in parallel.

use rayon::prelude::*;

/// An error in a part of the text. The first is the one with the smallest position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// The part's index.
    pub(super) part: usize,
    /// The line in the part, from 1.
    pub(super) line: usize,
    pub(super) what: String,
}

/// The results of `work` on each item, in order. A single item stays on this thread, which saves
/// small files the start of others.
pub(super) fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    match items.len() {
        1 => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().map(work).collect(),
    }
}

/// Consecutive parts of `whole`, of these lengths; all are empty if `whole` is.
pub(super) fn divided<T>(whole: &mut [T], lens: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = whole;
    let divide = |len: usize| {
        let part = std::mem::take(&mut rest);
        let (part, after) = part.split_at_mut(len.min(part.len()));
        rest = after;
        part
    };
    lens.map(divide).collect()
}
