//! Standard output and error: results, errors and warnings.

use std::error::Error;
use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::AnsiColor;
use serde::Serialize;
use trivox::code_of;
use trivox::formats::WriteError;

use crate::ExitStatus;
use crate::cli::ReportArgs;
use crate::inputs::with_stdin_named;
use crate::text::escaped_except;

/// An error in JSON, for `--json`, with a code of [`trivox::ErrorCode`] or of the program.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{error}")]
pub struct CodedError {
    /// The message; by [`of`](Self::of), with the messages of the causes after it.
    pub error: String,
    pub code: &'static str,
}

impl CodedError {
    /// The messages of `error` and its causes, with the code of the outermost of these errors that
    /// has one, else `other`.
    pub fn of(error: &anyhow::Error) -> Self {
        let of_program = |error: &(dyn Error + 'static)| {
            error.downcast_ref().map(|CodedError { code, .. }| *code)
        };
        let code = error.chain().find_map(|error| of_program(error).or_else(|| code_of(error)));
        let code = code.unwrap_or("other");
        // The library's message ends with the advice to move the mesh near the origin.
        let option = match code {
            "grid.far_from_origin" | "place.unresolved" => " (--center)",
            _ => "",
        };
        Self { error: format!("{error:#}{option}"), code }
    }

    /// Prints the error that ends the program.
    pub fn print(&self, is_json: bool) {
        print_error(&format!("error: {}\n", self.error));
        if is_json {
            // Nothing is left to do where it cannot be printed.
            _ = print_json(self);
        }
    }
}

/// The reader closed standard output, which is not an error of the program.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub struct StdoutClosed {
    /// The result until then.
    pub status: ExitStatus,
}

/// A failure of standard output: closed by its reader, or an error that names it.
pub fn stdout_error(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => StdoutClosed { status: ExitStatus::Done }.into(),
        _ => anyhow::Error::from(WriteError::from(error)).context("standard output"),
    }
}

/// Writes `text` and a line end to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", with_stdin_named(text)).and_then(|()| out.flush()).map_err(stdout_error)
}

/// Writes `value` to standard output as one line of JSON.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Writes `value` as JSON or as `text` to standard output.
pub fn print_as(
    is_json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<()> {
    if is_json { print_json(value) } else { print(&text()) }
}

impl ReportArgs {
    /// Prints warnings and `text` to standard error, and the report as JSON to standard output.
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

    /// Prints the result of a comparison: warnings to standard error, `text` or JSON to standard
    /// output. A closed pipe is no error, so that the exit code still tells the result.
    pub fn print_verdict(
        &self,
        report: &impl Serialize,
        warnings: &[String],
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        print_warnings(warnings, self.quiet);
        let is_silent = self.quiet && !self.json;
        let printed = if is_silent { Ok(()) } else { print_as(self.json, report, text) };
        printed.or_else(|error| if error.is::<StdoutClosed>() { Ok(()) } else { Err(error) })
    }
}

/// Writes a line for each of `warnings` to standard error, unless `quiet`.
pub fn print_warnings(warnings: &[String], quiet: bool) {
    if !quiet {
        warnings.iter().for_each(|warning| print_error(&format!("warning: {warning}\n")));
    }
}

/// Writes `text` to standard error; ignores failures, which cannot be reported. Control characters
/// of file names, which could change the terminal, are escaped. On a terminal the first word of an
/// error, a warning or a note is in the colour that clap gives it.
pub fn print_error(text: &str) {
    let escaped = escaped_except(&with_stdin_named(text), &['\n', '\t']);
    let colored: String = escaped.split_inclusive('\n').map(colored).collect();
    _ = anstream::stderr().lock().write_all(colored.as_bytes());
}

fn colored(line: &str) -> String {
    let kinds = [
        ("error:", AnsiColor::Red),
        ("failed:", AnsiColor::Red),
        ("warning:", AnsiColor::Yellow),
        ("note:", AnsiColor::Green),
    ];
    for (word, color) in kinds {
        if let Some(rest) = line.strip_prefix(word) {
            let style = color.on_default().bold();
            return format!("{style}{word}{style:#}{rest}");
        }
    }
    line.to_owned()
}
