//! The CPU backend within a bound on memory.

use trivox::backend::{BackendError, Rule, RunOptions};
use trivox::{Backend, Cpu, NoProgress, PlacedMesh, VoxelGrid};

use super::voxels::{assert_same, on_threads};

/// The voxels that `rule` names, or a refusal, with so many threads and bytes.
pub fn run_within(
    threads: usize,
    memory: u64,
    mesh: &PlacedMesh,
    rule: Rule,
) -> Result<VoxelGrid, BackendError> {
    let options = RunOptions { memory, ..RunOptions::default() };
    let run = || Backend::Cpu(&Cpu).run(mesh, rule, &options, &NoProgress);
    on_threads(threads, run).map(|run| run.grid)
}

/// The memory in bytes that a run with so many threads needs, by the error of a run with none.
pub fn memory_needed(threads: usize, mesh: &PlacedMesh, rule: Rule) -> u64 {
    match run_within(threads, 0, mesh, rule) {
        Err(BackendError::Memory { needed, allowed: 0 }) => needed,
        other => panic!("no memory is refused, rather than {other:?}"),
    }
}

/// What is made with as much memory as each refusal says is needed, the bytes that sufficed, and
/// the number of refusals.
pub fn until_it_fits<T>(
    what: &str,
    mut make: impl FnMut(u64) -> Result<T, BackendError>,
) -> (T, u64, u32) {
    let (mut memory, mut refusals) = (0, 0);
    loop {
        match make(memory) {
            Ok(made) => return (made, memory, refusals),
            Err(BackendError::Memory { needed, allowed }) => {
                assert!(needed > allowed && allowed == memory, "{what}: {needed} of {memory}");
                (memory, refusals) = (needed, refusals + 1);
            }
            Err(other) => panic!("{what}: {other}"),
        }
    }
}

/// Runs on `threads` threads with memory limits below, at and above the least sufficient one: a run
/// gives `expected`, or is refused below that limit.
pub fn assert_same_or_refused(
    threads: usize,
    mesh: &PlacedMesh,
    rule: Rule,
    expected: &VoxelGrid,
    steps: u64,
) {
    let what = format!("{rule:?}, {threads} threads");
    let most = memory_needed(threads, mesh, rule);
    let mut results = [0, 0];
    let bounds = (0..=steps).map(|i| most / steps * i);
    for memory in bounds.chain([most - 1, most, most + 1, 2 * most]) {
        match run_within(threads, memory, mesh, rule) {
            Ok(grid) => {
                assert_same(&grid, expected, &format!("{what}, {memory} bytes"));
                results[1] += 1;
            }
            Err(BackendError::Memory { needed, allowed }) => {
                assert_eq!((needed, allowed), (most, memory), "{what}");
                assert!(memory < most, "{what}: {memory} is said to suffice");
                results[0] += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(results[0] >= 1 && results[1] >= 3, "{what}: {results:?}");
}
