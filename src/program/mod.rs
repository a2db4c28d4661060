//! The program's parts: arguments, one module per command, and what commands share.

pub mod adapters;
pub mod batch;
pub mod camera;
pub mod cli;
pub mod convert;
pub mod destination;
pub mod diff;
pub mod drawer;
pub mod files;
pub mod fill_summary;
pub mod formats;
pub mod frames;
pub mod info;
pub mod inputs;
pub mod join;
pub mod lattice;
pub mod looks;
pub mod machine;
pub mod maker;
pub mod manual;
pub mod memory;
pub mod mode;
pub mod numbers;
pub mod output;
pub mod plan;
pub mod render;
pub mod report;
pub mod resume;
pub mod shard;
pub mod slice;
pub mod summary;
pub mod task;
pub mod temporary;
pub mod terminal;
pub mod transform;
pub mod verify;
pub mod voxelize;

use std::io::{self, Write};

use anyhow::Result;

/// What a command that ran to its end has to say by its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Exit code 0.
    Done,
    /// A comparison failed: exit code 1.
    Differs,
    /// Some mesh has no voxels, and has said why: exit code 2.
    Failed,
}

/// Nobody reads standard output any more, which is their choice and no error of ours.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub struct Closed {
    /// What there was to say until then.
    pub verdict: Verdict,
}

/// Tells `error` of standard output apart from those of files.
pub fn of_stdout(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Closed { verdict: Verdict::Done }.into(),
        _ => anyhow::Error::from(error).context("standard output"),
    }
}

/// Writes `text` and a line end to standard output.
///
/// # Errors
/// Standard output cannot be written to, or is [`Closed`].
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(of_stdout)
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// A comparison counts, though nobody read what was `printed` of it.
///
/// # Errors
/// Standard output cannot be written to.
pub fn unless_closed(printed: Result<()>) -> Result<()> {
    printed.or_else(|error| if error.is::<Closed>() { Ok(()) } else { Err(error) })
}

/// Writes `text` to standard error. Where nobody listens, there is nobody to tell.
pub fn say(text: &str) {
    _ = io::stderr().lock().write_all(text.as_bytes());
}
