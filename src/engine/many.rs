//! Many meshes, several at once.

use std::sync::{Arc, PoisonError, RwLock};
use std::thread::Builder;

use crate::backend::BackendError;
use crate::base::ordered::{Ordered, Worker};
use crate::engine::{Distances, MeshSource, VoxelizeError, Voxelized, Voxelizer};

/// Inputs that each worker may be ahead of the caller by: finished grids take memory.
const AHEAD: usize = 4;

impl Voxelizer {
    /// The voxels of many meshes, several at once, in the order of `items`, each with its key. An
    /// item that fails has an error, and the others go on. Each of the meshes that are worked on at
    /// the same time has an equal share of the memory; one that needs more is tried again with all
    /// of it, alone. The results that wait for the caller, up to four per thread, are not part of
    /// it, nor are [bytes](MeshSource::Bytes) of files, of which each mesh in work has a copy.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn many<K: Send + 'static, S: Into<MeshSource<'static>> + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, S), IntoIter: Send + 'static>,
    ) -> Result<Many<K>, BackendError> {
        self.each(items, |voxelizer, source| voxelizer.run(source))
    }

    /// The [`distances`](Self::distances) of many meshes, as [`many`](Self::many).
    ///
    /// # Errors
    /// As [`many`](Self::many).
    pub fn many_distances<K: Send + 'static, S: Into<MeshSource<'static>> + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, S), IntoIter: Send + 'static>,
        width: f32,
    ) -> Result<Many<K, Distances>, BackendError> {
        self.each(items, move |voxelizer, source| voxelizer.distances(source, width))
    }

    /// The results of `run` for each item.
    fn each<K: Send + 'static, S: Into<MeshSource<'static>> + 'static, T: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, S), IntoIter: Send + 'static>,
        run: impl Fn(&Self, MeshSource<'_>) -> Result<T, VoxelizeError> + Send + Sync + 'static,
    ) -> Result<Many<K, T>, BackendError> {
        let workers = self.install(rayon::current_num_threads)?;
        let shares = self.in_shares(workers);
        let work = move |(key, source): (K, MeshSource<'static>)| {
            (key, shares.run(source, &run, VoxelizeError::is_memory))
        };
        let items = items.into_iter().map(|(key, source)| (key, source.into()));
        let spawn = |thread: Builder, worker: Worker<'static>| thread.spawn(worker).map(drop);
        let results = Ordered::new(items, workers, AHEAD * workers, work, spawn);
        results
            .map_err(|error| BackendError::Threads { threads: workers, reason: error.to_string() })
    }

    /// This voxelizer for `number` meshes at a time.
    #[must_use]
    pub fn in_shares(&self, number: usize) -> Shares {
        let total = Arc::clone(&self.memory);
        let share = self.clone().memory_from(move || total() / number.max(1) as u64);
        Shares { whole: self.clone(), share, number, turn: RwLock::default() }
    }
}

/// A voxelizer for several meshes at a time, each with an equal share of the memory.
#[derive(Debug)]
pub struct Shares {
    whole: Voxelizer,
    share: Voxelizer,
    number: usize,
    /// Held shared by each mesh that has a share, and exclusively by one that has all memory.
    turn: RwLock<()>,
}

impl Shares {
    /// Calls `work` with a voxelizer that has a share of the memory, and `item`; if the memory is
    /// too little, again with all of it, while no other mesh is in work. The voxelizer's progress
    /// cancels at the time limit, from the beginning of each call. Not from a thread of a rayon
    /// pool, which may begin another such call while it waits.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn run<I: Clone, T, E>(
        &self,
        item: I,
        work: impl Fn(&Voxelizer, I) -> Result<T, E>,
        is_memory: impl FnOnce(&E) -> bool,
    ) -> Result<T, E> {
        let work = |by: &Voxelizer, item| work(&by.with_deadline(), item);
        if self.number == 1 {
            // Bytes are not copied.
            return work(&self.whole, item);
        }
        let shared = {
            let _one_of_several = self.turn.read().unwrap_or_else(PoisonError::into_inner);
            work(&self.share, item.clone())
        };
        match shared {
            Err(error) if is_memory(&error) => {
                let _alone = self.turn.write().unwrap_or_else(PoisonError::into_inner);
                work(&self.whole, item)
            }
            result => result,
        }
    }
}

/// The results of [`Voxelizer::many`] or [`Voxelizer::many_distances`], in the order of the items.
/// Dropping it ends the work after the meshes in progress.
pub type Many<K, T = Voxelized> = Ordered<(K, Result<T, VoxelizeError>)>;
