//! The CPU backend within a bound on memory.

use trivox::engine::backend::BackendError;
use trivox::engine::backend::{Rule, RunOptions};
use trivox::{Cpu, NoProgress, PlacedMesh, VoxelGrid};

/// The voxels that `rule` names, or a refusal, with so many threads and bytes.
pub fn run_within(
    threads: usize,
    memory: u64,
    mesh: &PlacedMesh,
    rule: Rule,
) -> Result<VoxelGrid, BackendError> {
    let options = RunOptions { memory, ..RunOptions::default() };
    Cpu::with_threads(threads)?.run(mesh, rule, &options, &NoProgress).map(|run| run.grid)
}

/// Bytes that suffice for that with so many threads, as the refusal of none at all says.
pub fn memory_needed_for(threads: usize, mesh: &PlacedMesh, rule: Rule) -> u64 {
    match run_within(threads, 0, mesh, rule) {
        Err(BackendError::Memory { needed, allowed: 0 }) => needed,
        other => panic!("no memory is refused, rather than {other:?}"),
    }
}

/// The touched voxels.
pub fn voxelize_within(
    threads: usize,
    memory: u64,
    mesh: &PlacedMesh,
) -> Result<VoxelGrid, BackendError> {
    run_within(threads, memory, mesh, Rule::Conservative)
}

/// Bytes that suffice for these.
pub fn memory_needed(threads: usize, mesh: &PlacedMesh) -> u64 {
    memory_needed_for(threads, mesh, Rule::Conservative)
}
