//! Many tasks at once: how many fit into the memory, and panics of one.

use std::cmp::Reverse;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Result;
use trivox::{ColorSource, PlacedMesh};

use crate::cli::Job;
use crate::errors::CodedError;
use crate::plan::Task;

/// Estimated memory per byte of a mesh file, in bytes: the text, the mesh, the placed mesh. Large
/// scans need five; files with short lines need more.
const BYTES_A_FILE_BYTE: u64 = 16;
/// Estimated memory per voxel of the grid's largest face, in bytes: a surface has about ten bricks
/// of 100 bytes per 64 voxels of a face.
const BYTES_A_FACE_VOXEL: u64 = 16;
/// The same for a fill; for colours, as measured for a solid; for distances, per voxel of the
/// band's width.
const FILL_BYTES_A_FACE_VOXEL: u64 = 16;
const COLOR_BYTES_A_FACE_VOXEL: u64 = 240;
const DISTANCE_BYTES_A_FACE_VOXEL: u64 = 280;
/// The same for attributes: twice 60 bytes for each of the surface's voxels, at most eight to a
/// voxel of a face in most meshes.
const ATTRIBUTE_BYTES_A_FACE_VOXEL: u64 = 980;
/// Memory per voxel of a grid in which all have a distance, in bytes: twice its four bytes, and a
/// share of the bricks.
const DISTANCE_BYTES_A_VOXEL: u64 = 10;

/// The number of `tasks` to run at once: one per thread, or as many of the largest as fit into
/// `memory` bytes.
pub fn at_once(tasks: &[Task], memory: u64, job: &Job) -> usize {
    let needs = |task| estimate(task, face_of(expected_dims(job)), BYTES_A_FACE_VOXEL);
    at_once_within(memory, tasks.iter().map(needs).collect()).min(rayon::current_num_threads())
}

/// The estimated memory, in bytes, that suffices for all steps of `task`: of a mesh that is
/// `placed`, or else of one with colours, as far as the options say how large its grid is.
pub fn sufficient(task: &Task, job: &Job, placed: Option<&PlacedMesh>) -> u64 {
    let is_colored = placed.is_none_or(|mesh| mesh.appearance().is_some());
    let dims = placed.map_or_else(|| expected_dims(job), PlacedMesh::window_dims);
    let depth = u64::from(dims.into_iter().min().unwrap_or(0));
    let more = match job.distance {
        Some(width) => {
            (DISTANCE_BYTES_A_FACE_VOXEL * width.ceil() as u64).min(DISTANCE_BYTES_A_VOXEL * depth)
        }
        None if is_colored && job.color == ColorSource::Mesh => COLOR_BYTES_A_FACE_VOXEL,
        None => FILL_BYTES_A_FACE_VOXEL,
    };
    let attributes = if job.attributes.is_empty() { 0 } else { ATTRIBUTE_BYTES_A_FACE_VOXEL };
    let more = more + attributes;
    estimate(task, face_of(dims), BYTES_A_FACE_VOXEL + more)
}

/// Voxels along each axis of a grid, 0 if the options alone do not determine them.
fn expected_dims(job: &Job) -> [u32; 3] {
    [job.expected_res().unwrap_or(0); 3]
}

/// Voxels of the largest face of a grid.
fn face_of(dims: [u32; 3]) -> u64 {
    let [x, y, z] = dims.map(u64::from);
    (x * y).max(y * z).max(z * x)
}

/// Bytes for the file of `task` and a grid with this face.
fn estimate(task: &Task, face: u64, a_face_voxel: u64) -> u64 {
    let file = fs::metadata(&task.mesh).map_or(0, |file| file.len());
    (BYTES_A_FILE_BYTE * file).saturating_add(a_face_voxel * face)
}

/// The number of items that fit into `budget` bytes whichever are chosen, given the bytes that each
/// needs; at least one.
fn at_once_within(budget: u64, mut needs: Vec<u64>) -> usize {
    needs.sort_unstable_by_key(|&bytes| Reverse(bytes));
    let sums = needs.iter().scan(0_u64, |sum, &bytes| {
        *sum = sum.saturating_add(bytes);
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= budget).count().max(1)
}

/// The result of `work`; a panic, which is a bug, is an error of this task, and the others go on.
///
/// # Errors
/// Those of `work`; it panicked.
pub fn catch_panic<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = format!("{}: this is a bug in voxelize", text.unwrap_or("a panic"));
        Err(CodedError { code: "bug", message }.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let run = |task: u32| {
            catch_panic(|| match task {
                1 => panic!("task {task}"),
                2 => anyhow::bail!("refused"),
                _ => Ok(task),
            })
            .map_err(|error| error.to_string())
        };
        let failed = |text: &str| Err(text.to_owned());
        let panicked = failed("task 1: this is a bug in voxelize");
        assert_eq!([0, 1, 2].map(run), [Ok(0), panicked, failed("refused")]);
    }

    #[test]
    fn as_many_run_at_once_as_fit_in_memory() {
        assert_eq!(at_once_within(10, vec![]), 1);
        assert_eq!(at_once_within(10, vec![11, 1]), 1);
        assert_eq!(at_once_within(10, vec![1, 5, 4, 2]), 2);
        assert_eq!(at_once_within(10, vec![2, 5, 3]), 3);
        assert_eq!(at_once_within(10, vec![u64::MAX, u64::MAX]), 1);
    }
}
