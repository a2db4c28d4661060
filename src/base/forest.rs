//! Connected components: a lock-free union-find (Anderson and Woll, "Wait-free parallel algorithms
//! for the union-find problem", 1991).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

/// A forest of elements: the parent of each has a lower index, or is itself.
pub(crate) struct Forest {
    parents: Vec<AtomicU32>,
}

impl Forest {
    /// A forest of single elements, fewer than 2^32.
    pub(crate) fn new(elements: usize) -> Self {
        Self { parents: (0..elements as u32).into_par_iter().map(AtomicU32::new).collect() }
    }

    /// Its memory, in bytes.
    pub(crate) fn bytes(elements: usize) -> u64 {
        4 * elements as u64
    }

    /// Unites the components of two elements; returns whether they were distinct. The total number
    /// of unions does not depend on the order.
    pub(crate) fn join(&self, one: u32, other: u32) -> bool {
        let (mut one, mut other) = (one, other);
        loop {
            (one, other) = (self.root(one), self.root(other));
            if one == other {
                return false;
            }
            let (low, high) = (one.min(other), one.max(other));
            // Fails if another thread has united `high` meanwhile.
            if self.parents[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The root of a component, as far as known: its lowest element, once all are united. Halves
    /// the path to it: an ancestor stays an ancestor, so a late store is harmless.
    pub(crate) fn root(&self, element: u32) -> u32 {
        let mut at = element;
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

    /// The root of each element, once all are united.
    pub(crate) fn roots(&self) -> Vec<u32> {
        (0..self.parents.len() as u32).map(|element| self.root(element)).collect()
    }
}
