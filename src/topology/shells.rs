//! Which triangles hang together: a union-find that threads share without locks (Anderson and
//! Woll, "Wait-free parallel algorithms for the union-find problem", 1991).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

/// A forest of triangles: each names one of its shell with a lower number, or itself.
pub(super) struct Shells {
    parents: Vec<AtomicU32>,
}

impl Shells {
    /// Of `triangles` triangles, each on its own.
    pub(super) fn new(triangles: usize) -> Self {
        Self { parents: (0..triangles as u32).into_par_iter().map(AtomicU32::new).collect() }
    }

    /// Bytes for `triangles` triangles.
    pub(super) fn bytes(triangles: usize) -> u64 {
        4 * triangles as u64
    }

    /// Joins the shells of two triangles; returns whether they were two. How often that happens
    /// in all does not depend on the order.
    pub(super) fn join(&self, one: u32, other: u32) -> bool {
        let (mut one, mut other) = (one, other);
        loop {
            (one, other) = (self.root(one), self.root(other));
            if one == other {
                return false;
            }
            let (low, high) = (one.min(other), one.max(other));
            // Fails where another thread has joined `high` meanwhile.
            if self.parents[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The lowest triangle of a shell, as far as it is known. Halves the path to it: what was an
    /// ancestor stays one, so a store that comes late does no harm.
    fn root(&self, triangle: u32) -> u32 {
        let mut at = triangle;
        loop {
            let parent = self.parents[at as usize].load(Relaxed);
            if parent == at {
                return at;
            }
            let grandparent = self.parents[parent as usize].load(Relaxed);
            if grandparent != parent {
                self.parents[at as usize].store(grandparent, Relaxed);
            }
            at = grandparent;
        }
    }
}
