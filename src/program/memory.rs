//! The memory limit, which counts the whole process.

use std::error::Error as StdError;

use anyhow::Error;
use bytesize::ByteSize;
use trivox::base::memory::{address_space_left, address_space_limit, available, of_process};
use trivox::formats::ReadError;
use trivox::{BackendError, VoxelizeError};

use crate::console::CodedError;

/// Bytes reserved for what has no limit of its own: stacks of threads, the process itself.
const RESERVE: u64 = 32 << 20;
/// Bytes reserved per mesh: the buffers of a writer.
const RESERVE_A_MESH: u64 = 8 << 20;

/// The limit.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    total: u64,
    /// Whether the user set it.
    is_explicit: bool,
    /// The number of meshes that share it.
    pub at_once: usize,
}

impl Memory {
    /// The limit `asked`, in bytes; by default nine tenths of the memory that is available now.
    pub fn new(asked: Option<ByteSize>) -> Self {
        let total = asked.map_or_else(|| available() / 10 * 9, |size| size.as_u64());
        Self { total, is_explicit: asked.is_some(), at_once: 1 }
    }

    /// Bytes that all meshes together may take now, beyond the memory of the process.
    pub fn left(self) -> u64 {
        self.total.saturating_sub(self.taken()).min(self.address_space_left())
    }

    /// Adds to an error of too little memory the limit that the failed step needs.
    pub fn explain(self, error: Error) -> Error {
        let mut shortages = error.chain().map(shortage).enumerate();
        let shortage = shortages.find(|(_, shortage)| shortage.is_some());
        let Some((depth, Some((what, [needed, allowed], remedy)))) = shortage else {
            return error;
        };
        let contexts: Vec<String> = error.chain().take(depth).map(ToString::to_string).collect();
        let error = match address_space_limit() {
            Some(limit) if needed > self.address_space_left() => format!(
                "for {what} the program needs at least {} MiB more memory, but the limit of its \
                 address space is {} MiB, of which each thread takes 64 or more: {remedy}, use \
                 fewer --threads, or raise the limit (ulimit -v)",
                needed.div_ceil(1 << 20),
                limit >> 20
            ),
            _ => {
                // The failed step has freed memory: what was taken then follows from its limit.
                let shared = allowed.saturating_mul(self.at_once as u64);
                let was_taken = if shared < self.address_space_left() {
                    self.total.saturating_sub(shared)
                } else {
                    0
                };
                let taken = self.taken().max(was_taken);
                let needed = needed.saturating_add(taken).div_ceil(1 << 20);
                // The process's own memory differs from run to run.
                let advised = needed + needed / 4;
                let total = match self.total >> 20 {
                    0 => "less than 1".to_owned(),
                    total => total.to_string(),
                };
                let bound = if self.is_explicit {
                    format!("--memory allows {total} MiB")
                } else {
                    format!("the machine has {total} MiB to give")
                };
                format!(
                    "for {what} the program needs at least {needed} MiB of memory, but {bound}: \
                     {remedy}, or try --memory {advised}MiB"
                )
            }
        };
        let explained = Error::from(CodedError { error, code: MEMORY });
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

/// The code of an error of too little memory.
const MEMORY: &str = "memory";

/// Whether more memory than is allowed was needed.
pub fn is_memory(error: &Error) -> bool {
    CodedError::of(error).code == MEMORY
}

/// Of an error of too little memory, the purpose of the memory, the bytes needed besides those that
/// the program has taken, the limit of the step in bytes, and a remedy.
fn shortage(error: &(dyn StdError + 'static)) -> Option<(&'static str, [u64; 2], &'static str)> {
    let of_grid = match error.downcast_ref() {
        // A mesh takes as much memory at every resolution.
        Some(&VoxelizeError::Read(ReadError::Memory { needed, limit })) => {
            return Some(("reading the mesh", [needed, limit], "divide the mesh"));
        }
        Some(VoxelizeError::Backend(error)) => error,
        _ => error.downcast_ref()?,
    };
    let &BackendError::Memory { needed, allowed } = of_grid else { return None };
    Some(("the grid", [needed, allowed], "use a lower resolution, divide the mesh"))
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
        let explained = memory.explain(error.into());
        assert!(is_memory(&explained));
        let message = explained.to_string();
        let rest = message.strip_prefix("for the grid the program needs at least ").unwrap();
        let mib: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!((20 << 10..21 << 10).contains(&mib), "{message}");
        // The amount exceeds the limit although the process has freed memory since the refusal.
        let memory = Memory::new(Some(ByteSize::gib(16)));
        let error = BackendError::Memory { needed: (1 << 30) + 1, allowed: 1 << 30 };
        let message = memory.explain(error.into()).to_string();
        assert!(
            message.contains("at least 16385 MiB of memory, but --memory allows 16384"),
            "{message}"
        );
        let other = memory.explain(anyhow!("another reason"));
        assert!(!is_memory(&other) && other.to_string() == "another reason");
    }
}
