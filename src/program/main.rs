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
mod write;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Command};
use crate::commands::{
    adapters, convert, diff, formats, info, join, manual, render, slice, verify, voxelize,
};
use crate::console::{ErrorReport, StdoutClosed, print_json, stdout_error};
use crate::tips::with_tip;

fn main() -> ExitCode {
    let (status, is_json) = match Cli::of_process() {
        Ok((cli, is_json)) => (signals::handle(is_json).and_then(|()| run(cli)), is_json),
        Err(error) if error.use_stderr() => refuse(&with_tip(error)),
        // Help or the version, which was asked for.
        Err(text) => (print_text(&text), false),
    };
    let status = status.or_else(|error| error.downcast().map(|StdoutClosed { status }| status));
    match status {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            ErrorReport::new(&error).print(is_json);
            ExitCode::from(2)
        }
    }
}

/// Prints a usage error, and exits.
fn refuse(error: &clap::Error) -> ! {
    // The arguments could not be parsed: look for the option in them.
    if std::env::args_os().any(|arg| arg == "--json") {
        let error = one_line(&error.to_string());
        _ = print_json(&ErrorReport { error, code: "usage" });
    }
    error.exit()
}

/// Prints clap's text for standard output.
fn print_text(text: &clap::Error) -> Result<ExitStatus> {
    text.print().and_then(|()| io::stdout().flush()).map_err(stdout_error)?;
    Ok(ExitStatus::Done)
}

/// The message of a usage error, with its tips and without the usage, on one line.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim);
    let is_usage =
        |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = lines.take_while(|line| !is_usage(line)).filter(|line| !line.is_empty());
    lines.fold(String::new(), |said, line| match said.chars().last() {
        None => line.to_owned(),
        Some(':') => format!("{said} {line}"),
        Some(_) => format!("{said}; {line}"),
    })
}

fn run(mut cli: Cli) -> Result<ExitStatus> {
    // Keeps the copy of standard input until the end.
    let _copy = inputs::replace_stdin(&mut cli)?;
    match cli.command {
        Some(Command::Adapters(args)) => adapters::run(&args),
        Some(Command::Formats(args)) => formats::run(&args),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Join(args)) => join::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Slice(args)) => slice::run(&args),
        Some(Command::Completions { shell }) => manual::completions(shell),
        Some(Command::Man) => manual::page(),
        None => voxelize::run(cli.job),
    }
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
