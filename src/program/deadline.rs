//! `--time-limit`: ends the work on one mesh that takes too long.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Error;
use trivox::{Progress, code_of};

use crate::console::CodedError;
use crate::text::shown;

/// Progress that is cancelled when its time is over.
pub struct Deadline {
    progress: Arc<dyn Progress>,
    began: Instant,
    limit: Option<Duration>,
}

impl Deadline {
    /// Starts the time; without a limit it never ends.
    pub fn new(progress: Arc<dyn Progress>, limit: Option<Duration>) -> Self {
        Self { progress, began: Instant::now(), limit }
    }

    /// The error of the work on `mesh`, which is the limit if that ended it.
    pub fn explain(&self, error: Error, mesh: &Path) -> Error {
        let is_cancelled = error.chain().any(|error| code_of(error) == Some("cancelled"));
        match self.limit {
            Some(limit) if is_cancelled => {
                let message = format!(
                    "{}: takes longer than --time-limit {}: allow more, or use a lower resolution",
                    shown(mesh),
                    limit.as_secs_f64()
                );
                CodedError { code: "time_limit", message }.into()
            }
            _ => error,
        }
    }
}

impl Progress for Deadline {
    fn start(&self, step: &str, total: u64) {
        self.progress.start(step, total);
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled() || self.limit.is_some_and(|limit| self.began.elapsed() > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use trivox::engine::VoxelizeError;
    use trivox::formats::{ReadError, WriteError};
    use trivox::view::render::RenderError;
    use trivox::{BackendError, NoProgress};

    #[test]
    fn the_limit_is_named_for_whatever_it_cancelled() {
        let deadline = Deadline::new(Arc::new(NoProgress), Some(Duration::ZERO));
        assert!(deadline.is_cancelled());
        let voxels = VoxelizeError::from(BackendError::Cancelled);
        let read = VoxelizeError::from(ReadError::Cancelled);
        let errors: [Error; 4] = [
            voxels.into(),
            read.into(),
            WriteError::Cancelled.into(),
            RenderError::Cancelled.into(),
        ];
        for error in errors {
            let error = error.context("a.obj");
            let said = deadline.explain(error, Path::new("a.obj")).to_string();
            assert!(said.starts_with("a.obj: takes longer than --time-limit 0:"), "{said}");
        }
        let other = deadline.explain(anyhow!("malformed"), Path::new("a.obj"));
        assert_eq!(other.to_string(), "malformed");
    }
}
