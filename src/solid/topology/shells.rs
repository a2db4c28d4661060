//! The connected components of triangles: a lock-free union-find (Anderson and Woll, "Wait-free
//! parallel algorithms for the union-find problem", 1991).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::lattice::{Aabb, PlacedMesh};

/// A forest of triangles: the parent of each has a lower index, or is itself.
pub(super) struct Shells {
    parents: Vec<AtomicU32>,
}

impl Shells {
    /// A forest of single triangles.
    pub(super) fn new(triangles: usize) -> Self {
        Self { parents: (0..triangles as u32).into_par_iter().map(AtomicU32::new).collect() }
    }

    /// Memory for `triangles` triangles, in bytes.
    pub(super) fn bytes(triangles: usize) -> u64 {
        4 * triangles as u64
    }

    /// Unites the shells of two triangles; returns whether they were distinct. The total number of
    /// unions does not depend on the order.
    pub(super) fn join(&self, one: u32, other: u32) -> bool {
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

    /// The root of a shell, as far as known: its lowest triangle, once all are united. Halves the
    /// path to it: an ancestor stays an ancestor, so a late store is harmless.
    pub(super) fn root(&self, triangle: u32) -> u32 {
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

    /// The lowest triangle of the shell of each triangle, once all are united.
    pub(super) fn roots(&self) -> Vec<u32> {
        (0..self.parents.len() as u32).map(|triangle| self.root(triangle)).collect()
    }
}

/// The bounding box of each shell, by the [roots](Shells::roots) of its triangles; collapsed
/// triangles have none.
pub(super) fn bounds(mesh: &PlacedMesh, roots: &[u32]) -> Vec<Aabb> {
    let mut bounds: Vec<Aabb> = Vec::new();
    // The index of each triangle's shell: its root, the lowest triangle, comes first.
    let mut shells = vec![0_u32; roots.len()];
    for (at, &root) in roots.iter().enumerate() {
        let triangle = mesh.triangle(at);
        let [a, b, c] = triangle;
        if a == b || b == c || c == a {
            continue;
        }
        let of_triangle = Aabb::of(&triangle);
        if root as usize == at {
            shells[at] = bounds.len() as u32;
            bounds.push(of_triangle);
        } else {
            shells[at] = shells[root as usize];
            let shell = &mut bounds[shells[at] as usize];
            *shell = shell.union(of_triangle);
        }
    }
    bounds
}
