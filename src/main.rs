//! The program `voxelize`: arguments in, one command run, one exit code.

mod program;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::program::cli::{Cli, Command, Job};
use crate::program::commands::{
    adapters, convert, diff, formats, info, join, manual, render, slice, verify, voxelize,
};
use crate::program::errors::ErrorReport;
use crate::program::tips::with_tip;
use crate::program::{Closed, ExitStatus, inputs, print_json, signals, stdout_error};

fn main() -> ExitCode {
    let (status, is_json) = match Cli::of_process() {
        Ok((cli, is_json)) => (signals::handle(is_json).and_then(|()| run(cli)), is_json),
        Err(error) if error.use_stderr() => refuse(&with_tip(error)),
        // Help or the version, which was asked for.
        Err(text) => (print_text(&text), false),
    };
    let status = status.or_else(|error| error.downcast().map(|Closed { status }| status));
    match status {
        Ok(ExitStatus::Done) => ExitCode::SUCCESS,
        Ok(ExitStatus::Differs) => ExitCode::from(1),
        Ok(ExitStatus::Failed) => ExitCode::from(2),
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

/// Prints what clap has for standard output.
fn print_text(text: &clap::Error) -> anyhow::Result<ExitStatus> {
    text.print().and_then(|()| io::stdout().flush()).map_err(stdout_error)?;
    Ok(ExitStatus::Done)
}

/// What a usage error says, with its tips and without the usage, on one line.
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

fn run(mut cli: Cli) -> anyhow::Result<ExitStatus> {
    // Keeps the copy of standard input until the end.
    let _copy = inputs::replace_stdin(&mut cli)?;
    match (cli.command, cli.job) {
        (Some(Command::Adapters(args)), _) => adapters::run(&args),
        (Some(Command::Formats(args)), _) => formats::run(&args),
        (Some(Command::Info(args)), _) => info::run(&args),
        (Some(Command::Convert(args)), _) => convert::run(&args),
        (Some(Command::Join(args)), _) => join::run(&args),
        (Some(Command::Diff(args)), _) => diff::run(&args),
        (Some(Command::Verify(args)), _) => verify::run(&args),
        (Some(Command::Render(args)), _) => render::run(&args),
        (Some(Command::Slice(args)), _) => slice::run(&args),
        (Some(Command::Completions(args)), _) => manual::completions(args.shell),
        (Some(Command::Man), _) => manual::page(),
        (None, Some(job)) => {
            let job = Job { transform: cli.transform, ..job };
            voxelize::run(&job, &cli.voxels, &cli.palette_args, &cli.compute)
        }
        // Without arguments, clap prints the usage error and exits.
        (None, None) => {
            let what = "a mesh is missing: voxelize mesh.obj -o out.vox";
            Cli::complain(ErrorKind::MissingRequiredArgument, what)
        }
    }
}
