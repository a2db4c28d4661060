//! The memory limit, which counts the whole process, and how many meshes at once fit into it.

use std::cmp::Reverse;
use std::error::Error as StdError;
use std::fs;
use std::path::Path;

use anyhow::Error;
use bytesize::ByteSize;
use trivox::base::memory::{address_space_left, address_space_limit, available, of_process};
use trivox::formats::ReadError;
use trivox::grid::Attribute;
use trivox::{BackendError, ColorSource, Mode, PlacedMesh, VoxelizeError, Voxelizer};

use crate::cli::Job;
use crate::console::{CodedError, ErrorReport};
use crate::inputs::Task;

/// Bytes reserved for what has no limit of its own: stacks of threads, the process itself.
const RESERVE: u64 = 32 << 20;
/// Bytes reserved per mesh: the buffers of a writer.
const RESERVE_A_MESH: u64 = 8 << 20;

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
/// The same for attributes of the surface: twice the bytes of all of them for each of the surface's
/// voxels, at most eight to a voxel of a face in most meshes.
const ATTRIBUTE_BYTES_A_FACE_VOXEL: u64 = 980;
/// The same for coverage, twice as measured: a fill of a grid 8 times as fine.
const COVERAGE_BYTES_A_FACE_VOXEL: u64 = 32 * (BYTES_A_FACE_VOXEL + FILL_BYTES_A_FACE_VOXEL);
/// Memory per voxel of a solid for its label, in bytes.
const LABEL_BYTES_A_VOXEL: u64 = 4;
/// Memory per voxel of a grid in which all have a distance, in bytes: twice its four bytes, and a
/// share of the bricks.
const DISTANCE_BYTES_A_VOXEL: u64 = 10;

/// The limit.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    total: u64,
    /// Whether the user set it.
    is_asked: bool,
    /// The number of meshes that share it.
    pub at_once: usize,
}

impl Memory {
    /// The limit `asked`, in bytes; by default nine tenths of the memory that is available now.
    pub fn new(asked: Option<ByteSize>) -> Self {
        let total = asked.map_or_else(|| available() / 10 * 9, |size| size.as_u64());
        Self { total, is_asked: asked.is_some(), at_once: 1 }
    }

    /// The same limit, shared by parallel tasks: one a thread, or fewer if the largest of `tasks`
    /// together need more.
    pub fn shared_by(self, tasks: &[Task], job: &Job) -> Self {
        let needs = |task| estimate(task, expected_dims(job), BYTES_A_FACE_VOXEL);
        let at_once = at_once_within(self.total, tasks.iter().map(needs).collect());
        Self { at_once: at_once.min(rayon::current_num_threads()), ..self }
    }

    /// `voxelizer` with this limit.
    pub fn of(self, voxelizer: Voxelizer) -> Voxelizer {
        voxelizer.memory_from(move || self.left())
    }

    /// Bytes that all meshes together may take now, beyond the memory of the process.
    pub fn left(self) -> u64 {
        self.total.saturating_sub(self.taken()).min(self.address_space_left())
    }

    /// Adds to an error of too little memory which limit would be enough for all steps of the mesh,
    /// not only for the step that failed: at least `sufficient` bytes, an estimate.
    pub fn explain(self, error: Error, sufficient: u64) -> Error {
        let mut shortages = error.chain().map(shortage).enumerate();
        let shortage = shortages.find(|(_, shortage)| shortage.is_some());
        let Some((depth, Some(Shortage { what, needed, allowed, remedy }))) = shortage else {
            return error;
        };
        let contexts: Vec<String> = error.chain().take(depth).map(ToString::to_string).collect();
        let message = match address_space_limit() {
            Some(limit) if needed > self.address_space_left() => format!(
                "for {what} the program needs about {} MiB more memory, but the limit of its \
                 address space is {} MiB, of which each thread takes 64 or more: {remedy}, use \
                 fewer --threads, or raise the limit (ulimit -v)",
                needed.div_ceil(1 << 20),
                limit >> 20
            ),
            _ => {
                // The failed step has freed memory: what was taken then follows from its limit.
                let shared = allowed.saturating_mul(self.at_once as u64);
                let was_taken = match shared < self.address_space_left() {
                    true => self.total.saturating_sub(shared),
                    false => 0,
                };
                let taken = self.taken().max(was_taken);
                let mib = |bytes: u64| bytes.saturating_add(taken).div_ceil(1 << 20);
                let (needed, sufficient) = (mib(needed), mib(needed.max(sufficient)));
                // The process's own memory differs from run to run.
                let advised = sufficient + sufficient / 4;
                let total = match self.total >> 20 {
                    0 => "less than 1".to_owned(),
                    total => total.to_string(),
                };
                let bound = match self.is_asked {
                    true => format!("--memory allows {total} MiB"),
                    false => format!("the machine has {total} MiB to give"),
                };
                format!(
                    "for {what} the program needs about {needed} MiB of memory, but {bound}: \
                     {remedy}, or allow --memory {advised}MiB"
                )
            }
        };
        let explained = Error::from(CodedError { code: MEMORY, message });
        contexts.into_iter().rev().fold(explained, Error::context)
    }

    fn taken(self) -> u64 {
        of_process().resident.saturating_add(self.reserve())
    }

    fn reserve(self) -> u64 {
        RESERVE + RESERVE_A_MESH * self.at_once as u64
    }

    /// Bytes of the address space that meshes may take. Allocators map more than requested.
    fn address_space_left(self) -> u64 {
        address_space_left().saturating_sub(self.reserve()) / 10 * 9
    }
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
    let has = |attribute| job.attributes.contains(&attribute);
    let needs_surface = |attribute: &Attribute| *attribute != Attribute::Coverage;
    let is_solid = matches!(job.voxels.mode(), Mode::Solid(_));
    let attributes = [
        (job.attributes.iter().any(needs_surface), ATTRIBUTE_BYTES_A_FACE_VOXEL),
        (is_solid && has(Attribute::Coverage), COVERAGE_BYTES_A_FACE_VOXEL),
        (is_solid && has(Attribute::Label), LABEL_BYTES_A_VOXEL * depth),
    ];
    let attributes = attributes.into_iter().filter(|(is_needed, _)| *is_needed);
    let more = more + attributes.map(|(_, bytes)| bytes).sum::<u64>();
    estimate(task, dims, BYTES_A_FACE_VOXEL + more)
}

/// Voxels along each axis of a grid, 0 if the options alone do not determine them.
fn expected_dims(job: &Job) -> [u32; 3] {
    [job.expected_res().unwrap_or(0); 3]
}

/// Bytes for the file of `task` and a grid of `dims` voxels, by those of its largest face.
fn estimate(task: &Task, dims: [u32; 3], a_face_voxel: u64) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let file: u64 = task.meshes().map(size).sum();
    let [x, y, z] = dims.map(u64::from);
    let face = (x * y).max(y * z).max(z * x);
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

/// The code of an error of too little memory.
const MEMORY: &str = "memory";

/// Whether more memory than is allowed was needed.
pub fn is_memory(error: &Error) -> bool {
    ErrorReport::new(error).code == MEMORY
}

/// Too little memory for one step.
struct Shortage {
    what: &'static str,
    /// Bytes, besides those that the program has taken.
    needed: u64,
    /// The limit of the step, in bytes.
    allowed: u64,
    remedy: &'static str,
}

/// The shortage of an error of too little memory.
fn shortage(error: &(dyn StdError + 'static)) -> Option<Shortage> {
    let of_grid = |error: &BackendError| match *error {
        BackendError::Memory { needed, allowed } => {
            let remedy = "use a lower resolution, divide the mesh";
            Some(Shortage { what: "the grid", needed, allowed, remedy })
        }
        _ => None,
    };
    match error.downcast_ref() {
        // A mesh takes as much memory at every resolution.
        Some(&VoxelizeError::Read(ReadError::Memory { needed, limit: allowed })) => {
            Some(Shortage { what: "reading the mesh", needed, allowed, remedy: "divide the mesh" })
        }
        Some(VoxelizeError::Backend(error)) => of_grid(error),
        _ => error.downcast_ref().and_then(of_grid),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn the_machine_has_memory_and_the_process_takes_some() {
        let memory = Memory::new(None);
        assert!((64 << 20..1 << 50).contains(&memory.total), "{memory:?}");
        assert!(memory.left() < memory.total - RESERVE, "{memory:?}");
        assert_eq!(Memory::new(Some(ByteSize::mib(1))).left(), 0);
    }

    #[test]
    fn too_little_memory_says_how_much_is_needed_with_what_the_process_takes() {
        let memory = Memory { at_once: 4, ..Memory::new(Some(ByteSize::gib(16))) };
        let error = BackendError::Memory { needed: 20 << 30, allowed: memory.left() / 4 };
        let explained = memory.explain(error.into(), 0);
        assert!(is_memory(&explained));
        let message = explained.to_string();
        let rest = message.strip_prefix("for the grid the program needs about ").unwrap();
        let mib: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!((20 << 10..21 << 10).contains(&mib), "{message}");
        // The amount exceeds the limit although the process has freed memory since the refusal.
        let memory = Memory::new(Some(ByteSize::gib(16)));
        let error = BackendError::Memory { needed: (1 << 30) + 1, allowed: 1 << 30 };
        let message = memory.explain(error.into(), 0).to_string();
        assert!(
            message.contains("about 16385 MiB of memory, but --memory allows 16384"),
            "{message}"
        );
        let other = memory.explain(anyhow!("another reason"), 0);
        assert!(!is_memory(&other) && other.to_string() == "another reason");
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
