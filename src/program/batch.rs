//! Runs many tasks in parallel and reports their results in the tasks' order.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
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

/// The stack size of worker threads, in bytes: that of a main thread.
const STACK: usize = 8 << 20;

/// Runs `work` for all `tasks`, `at_once` at a time, and passes each result to `report` in the
/// tasks' order, as soon as it is ready.
///
/// The tasks run on threads of their own: a task that waits for the GPU must not block the pool on
/// which another computes.
///
/// # Errors
/// Errors of `report`, after which no further task starts; a thread cannot be started.
pub fn run<T: Sync, R: Send>(
    tasks: &[T],
    at_once: usize,
    work: impl Fn(&T) -> R + Sync,
    report: impl FnMut(&T, R) -> Result<()>,
) -> Result<()> {
    let queue = Mutex::new(tasks.iter().enumerate());
    let (sender, results) = channel();
    thread::scope(|scope| {
        for _ in 0..at_once.min(tasks.len()) {
            let (sender, queue, work) = (sender.clone(), &queue, &work);
            let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let worker = move || {
                while let Some((index, task)) = take() {
                    // Fails once the receiver is dropped.
                    if sender.send((index, work(task))).is_err() {
                        break;
                    }
                }
            };
            let thread = thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, worker).context("cannot start a thread")?;
        }
        drop(sender);
        report_in_order(tasks, results, report)
    })
}

fn report_in_order<T, R>(
    tasks: &[T],
    results: Receiver<(usize, R)>,
    mut report: impl FnMut(&T, R) -> Result<()>,
) -> Result<()> {
    let mut early = HashMap::new();
    let mut reported = 0;
    for (index, result) in results {
        early.insert(index, result);
        while let Some(result) = early.remove(&reported) {
            report(&tasks[reported], result)?;
            reported += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_are_reported_in_order_though_the_first_is_the_slowest() {
        let tasks: Vec<u64> = (0..20).collect();
        let mut reported = Vec::new();
        let work = |&task: &u64| {
            thread::sleep(Duration::from_millis(20 - task));
            10 * task
        };
        let report = |&task: &u64, result| {
            reported.push((task, result));
            Ok(())
        };
        run(&tasks, 5, work, report).unwrap();
        assert_eq!(reported, (0..20).map(|task| (task, 10 * task)).collect::<Vec<_>>());
    }

    #[test]
    fn no_more_run_at_once_than_allowed() {
        let tasks = [(); 30];
        let (now, most) = (AtomicUsize::new(0), Mutex::new(0));
        let work = |()| {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            let mut most = most.lock().unwrap();
            *most = running.max(*most);
            drop(most);
            thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, Ordering::SeqCst);
        };
        run(&tasks, 3, |&()| work(()), |_, ()| Ok(())).unwrap();
        let most = *most.lock().unwrap();
        assert!((2..=3).contains(&most), "{most}");
    }

    #[test]
    fn an_error_of_the_report_ends_the_run_early() {
        let begun = AtomicUsize::new(0);
        let work = |_: &u32| {
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
        };
        let tasks: Vec<u32> = (0..20_000).collect();
        let ended = run(&tasks, 2, work, |_, ()| anyhow::bail!("closed"));
        assert_eq!(ended.unwrap_err().to_string(), "closed");
        assert!(begun.load(Ordering::SeqCst) < tasks.len());
    }

    #[test]
    fn a_panic_is_an_error_of_its_task_and_the_others_are_reported() {
        let work = |&task: &u32| {
            catch_panic(|| match task {
                1 => panic!("task {task}"),
                2 => anyhow::bail!("refused"),
                _ => Ok(task),
            })
            .map_err(|error| error.to_string())
        };
        let mut reported = Vec::new();
        let report = |_: &u32, result| {
            reported.push(result);
            Ok(())
        };
        run(&[0, 1, 2, 3], 2, work, report).unwrap();
        let failed = |text: &str| Err(text.to_owned());
        let panicked = failed("task 1: this is a bug in voxelize");
        assert_eq!(reported, [Ok(0), panicked, failed("refused"), Ok(3)]);
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
