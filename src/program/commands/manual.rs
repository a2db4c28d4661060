//! `voxelize completions` and `voxelize man`, generated from the definition of the command line.

use std::iter;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use anyhow::{Context, Result};

use crate::cli::Cli;
use crate::console::print;

pub fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "voxelize", &mut script);
    print_bytes(&script)
}

/// Prints the manual: a page for the main command, then one for each other.
pub fn page() -> Result<()> {
    // What `-h` leaves out belongs in the manual.
    let complete = |command: Command| command.mut_args(|arg| arg.hide_short_help(false));
    // The version alone: its other lines would break the page's header.
    let command = Cli::command().version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let mut command = complete(command).mut_subcommands(complete);
    command.build();
    let mut page = Vec::new();
    let others = command.get_subcommands().cloned();
    for mut command in iter::once(command.clone()).chain(others) {
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").to_owned();
        let man = Man::new(command.override_usage(usage));
        man.source(concat!("voxelize ", env!("CARGO_PKG_VERSION"))).render(&mut page)?;
    }
    print_bytes(&page)
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    print(std::str::from_utf8(bytes).context("generated text")?.trim_end())
}
