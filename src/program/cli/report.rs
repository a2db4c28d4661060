//! Arguments of the commands that print one report.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::{print_error, print_json, print_warnings};

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

impl ReportArgs {
    /// Prints warnings and `text` to standard error, and the report as JSON to standard output.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn print(
        &self,
        report: &impl Serialize,
        warnings: &[String],
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        print_warnings(warnings, self.quiet);
        if self.json {
            print_json(report)?;
        } else if !self.quiet {
            print_error(&text());
        }
        Ok(())
    }
}
