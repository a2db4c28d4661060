//! Why a backend could not voxelize.

use thiserror::Error;

use crate::grid::GridError;
use crate::place::MAX_DIM;

/// Why a backend could not voxelize.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no adapter, or none with the requested name.
    #[error("{0}")]
    NoAdapter(String),
    /// A limit of the adapter is too low for the shaders.
    #[error("adapter {adapter} has {what} of {has}, but {needs} is needed")]
    Unsuitable {
        /// The adapter's label.
        adapter: String,
        /// The limit's name.
        what: &'static str,
        /// The adapter's limit.
        has: u64,
        /// The required minimum.
        needs: u64,
    },
    /// The device was lost, ran out of memory, timed out or reported an error.
    #[error("the GPU failed: {0}")]
    Device(String),
    /// The GPU computes wrong voxels of a built-in mesh.
    #[error(
        "the kernel {kernel} computes wrong voxels with this driver ({driver}): update the driver, \
         or use the CPU"
    )]
    SelfTest {
        /// The last kernel of the rule that was tested.
        kernel: &'static str,
        /// The driver's name and version.
        driver: String,
    },
    /// The grid exceeds the allowed memory.
    #[error(
        "the grid needs about {} of memory, {} are allowed: use a lower resolution, or allow more",
        bytes(.needed), bytes(.allowed)
    )]
    Memory {
        /// Bytes needed, an estimate.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A buffer would exceed the adapter's limit.
    #[error(
        "the {what} take {}, and the GPU's buffers hold {} at most: use a lower resolution, or the CPU",
        bytes(.size), bytes(.limit)
    )]
    TooLarge {
        /// The contents of the buffer.
        what: &'static str,
        /// Its size, in bytes.
        size: u64,
        /// Maximum size of a buffer, in bytes.
        limit: u64,
    },
    /// A vote needs a grid one voxel larger than [`MAX_DIM`].
    #[error(
        "a vote on what is inside needs one voxel more than the grid has, and {MAX_DIM} is the most: \
         use fewer voxels, or another fill"
    )]
    NoRoomToVote,
    /// The result is not a valid grid: a bug in this library.
    #[error("{0}: this is a bug in trivox")]
    Grid(#[from] GridError),
    /// The caller cancelled the work ([`Progress::is_cancelled`](crate::Progress::is_cancelled)).
    #[error("cancelled")]
    Cancelled,
    /// The worker threads could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// Requested number of threads.
        threads: usize,
        /// The operating system's reason.
        reason: String,
    },
}

/// Formats a number of bytes in the largest binary unit, rounded up.
fn bytes(number: &u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(bits, _)| number >> bits >= 1);
    unit.map_or(format!("{number} bytes"), |(bits, unit)| {
        format!("{:.1} {unit}", (*number as f64 / f64::from(1u32 << bits) * 10.0).ceil() / 10.0)
    })
}
