//! The CPU backend within a bound on memory.

use trivox::backend::RunOptions;
use trivox::error::BackendError;
use trivox::{Backend, Cpu, NoProgress, PlacedMesh, VoxelGrid};

/// The grid, or a refusal, with so many threads and bytes.
pub fn voxelize_within(
    threads: usize,
    memory: u64,
    mesh: &PlacedMesh,
) -> Result<VoxelGrid, BackendError> {
    let options = RunOptions { memory, ..RunOptions::default() };
    Cpu::with_threads(threads)?.run(mesh, &options, &NoProgress).map(|run| run.grid)
}

/// Bytes that suffice with so many threads, as the refusal of none at all says.
pub fn memory_needed(threads: usize, mesh: &PlacedMesh) -> u64 {
    match voxelize_within(threads, 0, mesh) {
        Err(BackendError::Memory { needed, allowed: 0 }) => needed,
        other => panic!("no memory is refused, rather than {other:?}"),
    }
}
