//! Many meshes, several at once.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::engine::backend::BackendError;
use crate::engine::ordered::Ordered;
use crate::engine::{Distances, MeshSource, VoxelizeError, Voxelized, Voxelizer};

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

    /// As [`many`](Self::many), but the [`distances`](Self::distances) of each mesh.
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

    /// What `run` makes of each item.
    fn each<K: Send + 'static, S: Into<MeshSource<'static>> + 'static, T: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, S), IntoIter: Send + 'static>,
        run: impl Fn(&Self, MeshSource<'_>) -> Result<T, VoxelizeError> + Send + Sync + 'static,
    ) -> Result<Many<K, T>, BackendError> {
        let workers = self.install(rayon::current_num_threads)?;
        let (voxelizer, sharing) = (self.clone(), RwLock::new(()));
        let total = Arc::clone(&self.memory);
        let shared = self.clone().memory_from(move || total() / workers as u64);
        let work = move |(key, source): (K, MeshSource<'static>)| {
            if workers == 1 {
                return (key, run(&voxelizer.for_mesh(), source));
            }
            let result = {
                let _one_of_several = sharing.read().unwrap_or_else(PoisonError::into_inner);
                run(&shared.for_mesh(), source.again())
            };
            let result = match result {
                Err(error) if error.is_memory() => {
                    let _alone = sharing.write().unwrap_or_else(PoisonError::into_inner);
                    run(&voxelizer.for_mesh(), source)
                }
                result => result,
            };
            (key, result)
        };
        let items = items.into_iter().map(|(key, source)| (key, source.into()));
        let results = Ordered::new(items, workers, work).map_err(|error| {
            BackendError::Threads { threads: workers, reason: error.to_string() }
        })?;
        Ok(Many { results })
    }

    fn for_mesh(&self) -> Self {
        let voxelizer = self.clone();
        match self.progress.for_mesh() {
            Some(progress) => voxelizer.progress(progress),
            None => voxelizer,
        }
    }
}

/// The results of [`Voxelizer::many`] or [`Voxelizer::many_distances`], in the order of the items.
/// Dropping it ends the work after the meshes in progress.
pub struct Many<K, T = Voxelized> {
    results: Ordered<(K, Result<T, VoxelizeError>)>,
}

impl<K, T> Iterator for Many<K, T> {
    type Item = (K, Result<T, VoxelizeError>);

    fn next(&mut self) -> Option<Self::Item> {
        self.results.next()
    }
}

impl<K, T> fmt::Debug for Many<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Many").finish_non_exhaustive()
    }
}
