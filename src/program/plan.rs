//! What a run has to do, settled before it starts: which meshes, and where their voxels go.

use std::path::PathBuf;

use anyhow::Result;

use crate::program::cli::Job;
use crate::program::destination::Destination;
use crate::program::inputs;

/// One mesh to voxelize.
#[derive(Debug, Clone)]
pub struct Task {
    pub mesh: PathBuf,
    /// The file for its voxels, if they are wanted.
    pub target: Option<PathBuf>,
}

/// All meshes of a run.
#[derive(Debug)]
pub struct Plan {
    /// In the order given.
    pub tasks: Vec<Task>,
    /// How many meshes were named, for all shards together.
    pub named: usize,
    /// Whether the run is one of several meshes by the way it was asked for, however many those
    /// turn out to be: a script that reads the output need not tell them apart.
    pub several: bool,
}

impl Plan {
    /// Settles what `job` asks for, and makes the output folder.
    ///
    /// # Errors
    /// No list, a mesh named twice, two meshes for one file, a folder that cannot be written in.
    pub fn new(job: &Job) -> Result<Self> {
        let (meshes, has_list) = inputs::meshes(&job.meshes)?;
        let named = meshes.len();
        let several = named > 1 || has_list || job.shard.is_some();
        let destination = Destination::new(job.output.as_deref(), job.format, several)?;
        // Of all shards, so that none of them overwrites what another wrote.
        let targets = destination.targets(&meshes)?;
        let tasks = meshes.into_iter().zip(targets).map(|(mesh, target)| Task { mesh, target });
        let mut tasks: Vec<Task> = tasks.collect();
        if let Some(shard) = job.shard {
            tasks = shard.of(tasks);
        }
        destination.prepare()?;
        Ok(Self { tasks, named, several })
    }
}
