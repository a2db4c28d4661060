//! The memory limit, which counts the whole process.

use std::error::Error as StdError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Error, Result};
use bytesize::ByteSize;
use trivox::base::memory::{address_space_left, address_space_limit, available, of_process};
use trivox::formats::ReadError;
use trivox::{BackendError, VoxelizeError, Voxelizer};

use crate::errors::{CodedError, ErrorReport};

/// Bytes reserved for what has no limit of its own: stacks of threads, the process itself.
const RESERVE: u64 = 32 << 20;
/// Bytes reserved per mesh: the buffers of a writer.
const RESERVE_A_MESH: u64 = 8 << 20;

/// The limit. Clones share it.
#[derive(Debug, Clone)]
pub struct Memory {
    total: u64,
    /// Whether the user set it.
    is_asked: bool,
    /// The number of meshes that share it.
    at_once: u64,
    /// Held shared by each mesh that has a share, and exclusively by one that has all memory.
    running: Arc<RwLock<()>>,
}

impl Memory {
    /// The limit `asked`, in bytes; by default nine tenths of the memory that is available now.
    pub fn new(asked: Option<ByteSize>) -> Self {
        let total = asked.map_or_else(|| available() / 10 * 9, |size| size.as_u64());
        Self { total, is_asked: asked.is_some(), at_once: 1, running: Arc::default() }
    }

    /// The same limit for `at_once` meshes at a time.
    pub fn shared_by(self, at_once: usize) -> Self {
        Self { at_once: at_once.max(1) as u64, ..self }
    }

    /// The limit in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Runs `work` with a share; if that is not enough, again with all memory while no other mesh
    /// is in work.
    ///
    /// # Errors
    /// Errors of `work`; those of memory say which limit would be enough.
    pub fn divided<T>(&self, work: impl Fn(&Share) -> Result<T>) -> Result<T> {
        let work_with = |of| {
            let share = Share { memory: self.clone(), of, sufficient: Arc::default() };
            work(&share).map_err(|error| self.explain(error, share.sufficient.load(Relaxed)))
        };
        let shared = {
            let _one_of_several = self.running.read().unwrap_or_else(PoisonError::into_inner);
            work_with(self.at_once)
        };
        match shared {
            Err(error) if self.at_once > 1 && ErrorReport::new(&error).code == MEMORY => {
                let _alone = self.running.write().unwrap_or_else(PoisonError::into_inner);
                work_with(1)
            }
            result => result,
        }
    }

    /// Adds to a memory error which limit would be enough, of at least `sufficient` bytes for the
    /// mesh.
    fn explain(&self, error: Error, sufficient: u64) -> Error {
        let shortages = error.chain().map(shortage).enumerate();
        let mut shortages = shortages.filter_map(|(depth, shortage)| Some((depth, shortage?)));
        let Some((depth, Shortage { what, needed, remedy })) = shortages.next() else {
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
                let mib = |bytes: u64| bytes.saturating_add(self.taken()).div_ceil(1 << 20);
                let (needed, sufficient) = (mib(needed), mib(needed.max(sufficient)));
                // What the process takes differs from run to run.
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

    fn taken(&self) -> u64 {
        of_process().resident.saturating_add(self.reserve())
    }

    fn reserve(&self) -> u64 {
        RESERVE + RESERVE_A_MESH * self.at_once
    }

    /// Bytes of the address space that meshes may take. Allocators map more than requested.
    fn address_space_left(&self) -> u64 {
        address_space_left().saturating_sub(self.reserve()) / 10 * 9
    }
}

/// The share of one mesh.
#[derive(Debug, Clone)]
pub struct Share {
    memory: Memory,
    /// The number of shares.
    of: u64,
    /// An estimate of the bytes that suffice for all steps of the mesh.
    sufficient: Arc<AtomicU64>,
}

impl Share {
    /// Sets the estimate of the bytes that suffice for all steps of the mesh. An error of too
    /// little memory advises a limit that suffices for all of them, not only for the step that
    /// failed.
    pub fn set_sufficient(&self, bytes: u64) {
        self.sufficient.store(bytes, Relaxed);
    }

    /// Bytes that the mesh may take now, beyond the memory of the process.
    pub fn left(&self) -> u64 {
        let resident = self.memory.total.saturating_sub(self.memory.taken());
        resident.min(self.memory.address_space_left()) / self.of
    }

    /// Sets the memory limit of `voxelizer` to this share.
    pub fn of(&self, voxelizer: &Voxelizer) -> Voxelizer {
        let share = self.clone();
        voxelizer.clone().memory_from(move || share.left())
    }
}

/// The code of an error of too little memory.
const MEMORY: &str = "memory";

/// Memory that a step of the library lacks.
struct Shortage {
    what: &'static str,
    /// Bytes, besides what the program has taken.
    needed: u64,
    remedy: &'static str,
}

/// What is lacking, if this is an error of too little memory.
fn shortage(error: &(dyn StdError + 'static)) -> Option<Shortage> {
    let of_grid = |error: &BackendError| match *error {
        BackendError::Memory { needed, .. } => {
            let remedy = "use a lower resolution, divide the mesh";
            Some(Shortage { what: "the grid", needed, remedy })
        }
        _ => None,
    };
    match error.downcast_ref() {
        // A mesh takes as much memory at every resolution.
        Some(&VoxelizeError::Read(ReadError::Memory { needed, .. })) => {
            Some(Shortage { what: "reading the mesh", needed, remedy: "divide the mesh" })
        }
        Some(VoxelizeError::Backend(error)) => of_grid(error),
        _ => error.downcast_ref().and_then(of_grid),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use anyhow::bail;

    fn left(memory: &Memory) -> u64 {
        memory.divided(|share| Ok(share.left())).unwrap()
    }

    #[test]
    fn the_machine_has_memory_and_the_process_takes_some() {
        let memory = Memory::new(None);
        assert!((64 << 20..1 << 50).contains(&memory.total()), "{memory:?}");
        assert!(left(&memory) < memory.total() - RESERVE, "{memory:?}");
        assert_eq!(left(&Memory::new(Some(ByteSize::mib(1)))), 0);
    }

    #[test]
    fn meshes_at_once_have_equal_shares() {
        let alone = left(&Memory::new(Some(ByteSize::gib(64))));
        let shared = left(&Memory::new(Some(ByteSize::gib(64))).shared_by(4));
        // The process may have grown in between.
        assert!(shared.abs_diff(alone / 4) < 64 << 20, "{shared} of {alone}");
    }

    #[test]
    fn a_mesh_that_its_share_is_too_small_for_has_all_memory_once() {
        let memory = Memory::new(Some(ByteSize::gib(64))).shared_by(4);
        let needed = 20 << 30;
        let work = |share: &Share| match share.left() {
            left if left < needed => Err(BackendError::Memory { needed, allowed: left }.into()),
            left => Ok(left),
        };
        assert!(memory.divided(work).unwrap() > needed);
        let too_small = Memory::new(Some(ByteSize::gib(16))).shared_by(4);
        let message = too_small.divided(work).unwrap_err().to_string();
        let rest = message.strip_prefix("for the grid the program needs about ").unwrap();
        let mib: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        // With what the process takes.
        assert!((20 << 10..21 << 10).contains(&mib), "{message}");

        let tries = std::cell::Cell::new(0);
        let failing = |_: &Share| -> Result<()> {
            tries.set(tries.get() + 1);
            bail!("another reason")
        };
        memory.divided(failing).unwrap_err();
        assert_eq!(tries.get(), 1);
    }
}
