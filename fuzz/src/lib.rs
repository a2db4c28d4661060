//! The fuzz targets of trivox; see `docs/reliability.md`. Their bodies are also compiled into the
//! ordinary test `fuzz`, which replays the corpus.

mod common;
pub mod targets;
