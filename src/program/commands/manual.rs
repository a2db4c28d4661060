//! `voxelize completions` and `voxelize man`, generated from the definition of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use anyhow::{Context, Result};

use crate::ExitStatus;
use crate::cli::Cli;
use crate::console::print;

/// Prints the completion script of a shell.
pub fn completions(shell: Shell) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "voxelize", &mut script);
    print_bytes(&script)
}

/// Prints the manual page: the main command, then all others.
pub fn page() -> Result<ExitStatus> {
    // The version alone: its other lines would break the page's header.
    let mut command = Cli::command().version(env!("CARGO_PKG_VERSION"));
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let named = subcommand.clone().name(format!("voxelize {}", subcommand.get_name()));
        let man = clap_mangen::Man::new(named);
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print_bytes(&page)
}

fn print_bytes(bytes: &[u8]) -> Result<ExitStatus> {
    print(std::str::from_utf8(bytes).context("generated text")?.trim_end())?;
    Ok(ExitStatus::Done)
}
