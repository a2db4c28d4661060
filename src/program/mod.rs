//! The program's parts: arguments, one module per command, and what commands share.

pub mod adapters;
pub mod cli;
pub mod info;
pub mod output;
pub mod summary;
pub mod terminal;
pub mod voxelize;

use std::io::Write;

use anyhow::Result;
use trivox::formats::WriteError;

/// What a command that ran to its end has to say by its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Exit code 0.
    Done,
    /// A comparison failed: exit code 1.
    Differs,
}

/// Writes `text` and a line end to standard output.
///
/// # Errors
/// Standard output is closed; see [`is_broken_pipe`].
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Whether `error` only says that nobody reads standard output any more.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>().or_else(|| match error.downcast_ref()? {
        WriteError::Io(error) => Some(error),
        _ => None,
    });
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
