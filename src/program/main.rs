//! The program `voxelize`: arguments in, one command run, one exit code.

mod check;
mod cli;
mod commands;
mod console;
mod grids;
mod inputs;
mod memory;
mod options;
mod plan;
mod progress;
mod report;
mod resume;
mod shard;
mod signals;
mod summary;
mod task;
mod text;
mod tips;
mod voxels;
mod write;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::cli::{Cli, Command};
use crate::commands::{
    adapters, convert, diff, formats, info, join, manual, render, slice, verify, voxelize,
};
use crate::console::{CodedError, StdoutClosed, stdout_error};
use crate::tips::refuse;

fn main() -> ExitCode {
    // Read before parsing: parse errors are printed as JSON, too.
    let is_json = env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let status = match Cli::try_parse() {
        Ok(cli) => signals::handle(is_json).and_then(|()| run(cli)),
        Err(error) if error.use_stderr() => refuse(error, is_json),
        Err(help_or_version) => {
            let printed = help_or_version.print().and_then(|()| io::stdout().flush());
            printed.map(|()| ExitStatus::Done).map_err(stdout_error)
        }
    };
    let status = status.or_else(|error| error.downcast().map(|StdoutClosed { status }| status));
    match status {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            CodedError::of(&error).print(is_json);
            ExitCode::from(2)
        }
    }
}

fn run(mut cli: Cli) -> Result<ExitStatus> {
    // Keeps the copy of standard input until the end.
    let _copy = inputs::replace_stdin(&mut cli)?;
    let done = match cli.command {
        Some(Command::Adapters(args)) => adapters::run(&args),
        Some(Command::Formats(args)) => formats::run(&args),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Join(args)) => join::run(&args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Slice(args)) => slice::run(&args),
        Some(Command::Completions { shell }) => manual::completions(shell),
        Some(Command::Man) => manual::page(),
        Some(Command::Diff(args)) => return diff::run(&args),
        Some(Command::Verify(args)) => return verify::run(&args),
        None => return voxelize::run(cli.job),
    };
    done.map(|()| ExitStatus::Done)
}

/// The result of a command: its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// All is done.
    Done = 0,
    /// A comparison failed.
    Differs = 1,
    /// A mesh failed, which was reported.
    Failed = 2,
}
