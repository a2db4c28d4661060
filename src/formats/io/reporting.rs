//! Readers and writers that report progress, and that fail once the work is cancelled.

use std::io::{self, Read, Write};

use crate::base::progress::Progress;

/// Bytes between two reports, so that these cost nothing beside the copy of the bytes. Also the
/// most that is read at once: a slow disk must not delay the end of cancelled work.
pub(crate) const INTERVAL: usize = 1 << 16;

/// A reader or writer that reports its bytes to a [`Progress`], and that fails once this is
/// cancelled: [`ReadError`] and [`WriteError`] are then `Cancelled`.
///
/// ```
/// use trivox::formats::{GridFormat, Reporting, WriteError, replace_file, write_grid};
/// use trivox::{Progress, VoxelGrid};
///
/// struct Cancelled;
/// impl Progress for Cancelled {
///     fn is_cancelled(&self) -> bool {
///         true
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("grid.bricks");
/// let grid = VoxelGrid::from_voxels([8; 3], [[1, 2, 3]])?;
/// let written = replace_file(&path, |out| {
///     write_grid(&grid, GridFormat::Bricks, &mut Reporting::new(out, &Cancelled))
/// });
/// assert!(matches!(written, Err(WriteError::Cancelled)) && !path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`ReadError`]: crate::formats::ReadError
/// [`WriteError`]: crate::formats::WriteError
#[expect(missing_debug_implementations, reason = "neither has the progress")]
pub struct Reporting<'a, T> {
    inner: T,
    progress: &'a dyn Progress,
    /// Bytes transferred since the last report; `None` before the first report.
    unreported: Option<usize>,
}

impl<'a, T> Reporting<'a, T> {
    /// Reports what is read from `inner`, or written to it.
    pub fn new(inner: T, progress: &'a dyn Progress) -> Self {
        Self { inner, progress, unreported: None }
    }

    /// Before a transfer: reports, if the last report was long ago.
    fn begin(&mut self) -> io::Result<()> {
        if self.unreported.is_some_and(|bytes| bytes < INTERVAL) {
            return Ok(());
        }
        // Nothing is reported then: later transfers, such as that of a buffer when it is dropped,
        // fail too.
        self.check()?;
        self.report();
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        if self.progress.is_cancelled() { Err(io::Error::other(Cancelled)) } else { Ok(()) }
    }

    fn add(&mut self, bytes: usize) {
        *self.unreported.get_or_insert(0) += bytes;
    }

    fn report(&mut self) {
        self.progress.advance(self.unreported.replace(0).unwrap_or(0) as u64);
    }
}

impl<T> Drop for Reporting<'_, T> {
    fn drop(&mut self) {
        self.report();
    }
}

impl<T: Read> Read for Reporting<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.begin()?;
        let most = bytes.len().min(INTERVAL);
        let read = self.inner.read(&mut bytes[..most])?;
        self.add(read);
        Ok(read)
    }
}

impl<T: Write> Write for Reporting<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        let written = self.inner.write(bytes)?;
        self.add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.inner.flush()
    }
}

/// The payload of an I/O error of cancelled work.
#[derive(Debug, thiserror::Error)]
#[error("the work was cancelled")]
struct Cancelled;

/// Whether `error` is that of a [`Reporting`] whose work was cancelled.
pub(crate) fn is_cancelled(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Cancelled>())
}
