//! Errors as JSON, with the code of [`trivox::ErrorCode`].

use std::error::Error;

use serde::Serialize;
use trivox::code_of;

use crate::{print_error, print_json};

/// An error of the program itself.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CodedError {
    pub code: &'static str,
    pub message: String,
}

/// An error as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct ErrorReport {
    /// The error chain.
    pub error: String,
    pub code: &'static str,
}

impl ErrorReport {
    /// The code is that of the outermost error that has one, else `other`.
    pub fn new(error: &anyhow::Error) -> Self {
        let of_program = |error: &(dyn Error + 'static)| {
            error.downcast_ref().map(|CodedError { code, .. }| *code)
        };
        let code = error.chain().find_map(|error| of_program(error).or_else(|| code_of(error)));
        Self { error: format!("{error:#}"), code: code.unwrap_or("other") }
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
