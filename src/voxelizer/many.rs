//! Many meshes, several at once.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::mesh::Mesh;
use crate::voxelize::BackendError;
use crate::voxelizer::batch::Ordered;
use crate::voxelizer::{VoxelizeError, Voxelized, Voxelizer};

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
    /// of it, alone.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn many<K: Send + 'static>(
        &self,
        items: impl IntoIterator<Item = (K, Source), IntoIter: Send + 'static>,
    ) -> Result<Many<K>, BackendError> {
        let workers = self.install(rayon::current_num_threads)?;
        let (voxelizer, sharing) = (self.clone(), RwLock::new(()));
        let total = Arc::clone(&self.memory);
        let shared = self.clone().memory_from(move || total() / workers as u64);
        let work = move |(key, source): (K, Source)| {
            let result = {
                let _one_of_several = sharing.read().unwrap_or_else(PoisonError::into_inner);
                shared.for_mesh().run_source(&source)
            };
            let result = match result {
                Err(error) if error.is_memory() && workers > 1 => {
                    let _alone = sharing.write().unwrap_or_else(PoisonError::into_inner);
                    voxelizer.for_mesh().run_source(&source)
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

    fn run_source(&self, source: &Source) -> Result<Voxelized, VoxelizeError> {
        match source {
            Source::File(path) => self.run_file(path),
            Source::Mesh(mesh) => self.run(mesh),
        }
    }
}

/// The results of [`Voxelizer::many`], in the order of the items. Dropping it ends the work after
/// the meshes in progress.
pub struct Many<K> {
    results: Ordered<(K, Result<Voxelized, VoxelizeError>)>,
}

impl<K> Iterator for Many<K> {
    type Item = (K, Result<Voxelized, VoxelizeError>);

    fn next(&mut self) -> Option<Self::Item> {
        self.results.next()
    }
}

impl<K> fmt::Debug for Many<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Many").finish_non_exhaustive()
    }
}
