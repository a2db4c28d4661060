//! The program: its arguments ([`cli`]), its [`commands`], and what they share.

pub mod batch;
pub mod camera;
pub mod cli;
pub mod colors;
pub mod commands;
pub mod compute;
mod deadline;
pub mod errors;
pub mod fill_summary;
pub mod grid_summary;
pub mod inputs;
pub mod lattice;
pub mod memory;
pub mod mode;
pub mod numbers;
pub mod paths;
pub mod plan;
pub mod render_backend;
pub mod report;
pub mod resume;
pub mod shard;
pub mod signals;
pub mod summary;
pub mod task;
pub mod terminal;
pub mod tips;
pub mod transform;
pub mod warnings;
pub mod write;

use std::io::{self, Write};

use anyhow::Result;
use trivox::formats::WriteError;

/// The result of a command, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Exit code 0.
    Done,
    /// A comparison failed: exit code 1.
    Differs,
    /// A mesh failed, which was reported: exit code 2.
    Failed,
}

/// The reader closed standard output, which is not an error of the program.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub struct Closed {
    /// The result until then.
    pub status: ExitStatus,
}

/// Distinguishes errors of standard output from those of files.
pub fn stdout_error(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Closed { status: ExitStatus::Done }.into(),
        _ => anyhow::Error::from(WriteError::from(error)).context("standard output"),
    }
}

/// Writes `text` and a line end to standard output.
///
/// # Errors
/// Standard output cannot be written to, or is [`Closed`].
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", inputs::with_stdin_named(text))
        .and_then(|()| out.flush())
        .map_err(stdout_error)
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Ignores a closed standard output: the result of a comparison counts even if nobody reads it.
///
/// # Errors
/// Standard output cannot be written to.
pub fn ignore_closed(printed: Result<()>) -> Result<()> {
    printed.or_else(|error| if error.is::<Closed>() { Ok(()) } else { Err(error) })
}

/// Writes a line for each of `warnings` to standard error, unless `quiet`.
pub fn print_warnings(warnings: &[String], quiet: bool) {
    if !quiet {
        warnings.iter().for_each(|warning| print_error(&format!("warning: {warning}\n")));
    }
}

/// Writes `text` to standard error; ignores failures, which cannot be reported. Control characters
/// of file names, which could change the terminal, are escaped.
pub fn print_error(text: &str) {
    let escaped = paths::escaped_except(&inputs::with_stdin_named(text), &['\n', '\t']);
    _ = io::stderr().lock().write_all(escaped.as_bytes());
}
