//! Many meshes, several at once.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::mesh::Mesh;
use crate::voxelize::BackendError;
use crate::voxelizer::batch::Ordered;
use crate::voxelizer::{Distances, VoxelizeError, Voxelized, Voxelizer};

/// A mesh for [`Voxelizer::many`], and where it comes from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Source {
    /// A file, with its sidecar files.
    File(PathBuf),
    /// A mesh in memory.
    Mesh(Mesh),
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<Mesh> for Source {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(mesh)
    }
}

impl Voxelizer {
    /// The voxels of many meshes, several at once, in the order of `items`, each with its key. An
    /// item that fails has an error, and the others go on. Each of the meshes that are worked on at
    /// the same time has an equal share of the memory; one that needs more is tried again with all
    /// of it, alone. The results that wait for the caller, up to four per thread, are not part of
    /// it.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn many<K: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, Source), IntoIter: Send + 'static>,
    ) -> Result<Many<K>, BackendError> {
        self.each(items, |voxelizer, source| match source {
            Source::File(path) => voxelizer.run_file(path),
            Source::Mesh(mesh) => voxelizer.run(mesh),
        })
    }

    /// As [`many`](Self::many), but the [`distances`](Self::distances) of each mesh.
    ///
    /// # Errors
    /// As [`many`](Self::many).
    pub fn many_distances<K: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, Source), IntoIter: Send + 'static>,
        width: f32,
    ) -> Result<Many<K, Distances>, BackendError> {
        self.each(items, move |voxelizer, source| match source {
            Source::File(path) => voxelizer.distances_of_file(path, width),
            Source::Mesh(mesh) => voxelizer.distances(mesh, width),
        })
    }

    /// What `run` makes of each item.
    fn each<K: Send + 'static, T: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, Source), IntoIter: Send + 'static>,
        run: impl Fn(&Self, &Source) -> Result<T, VoxelizeError> + Send + Sync + 'static,
    ) -> Result<Many<K, T>, BackendError> {
        let workers = self.install(rayon::current_num_threads)?;
        let (voxelizer, sharing) = (self.clone(), RwLock::new(()));
        let total = Arc::clone(&self.memory);
        let shared = self.clone().memory_from(move || total() / workers as u64);
        let work = move |(key, source): (K, Source)| {
            let result = {
                let _one_of_several = sharing.read().unwrap_or_else(PoisonError::into_inner);
                run(&shared.for_mesh(), &source)
            };
            let result = match result {
                Err(error) if error.is_memory() && workers > 1 => {
                    let _alone = sharing.write().unwrap_or_else(PoisonError::into_inner);
                    run(&voxelizer.for_mesh(), &source)
                }
                result => result,
            };
            (key, result)
        };
        let results = Ordered::new(items.into_iter(), workers, work).map_err(|error| {
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
