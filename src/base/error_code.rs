//! Stable codes of errors, for programs that count failures or react to them. `--json`, Python's
//! exceptions and errors in browsers have them as `code`.
//!
//! A code is a class and, after a dot, what is wrong. Messages may change in any version; a code
//! changes only where [SemVer](https://semver.org) lets the library's interface change.

use std::error::Error;
use std::io;

/// An error with a stable code.
pub trait ErrorCode: Error {
    /// The code, such as `mesh.index_out_of_range`.
    fn code(&self) -> &'static str;
}

impl ErrorCode for io::Error {
    fn code(&self) -> &'static str {
        "io"
    }
}
