//! In the GPU's place, without the feature `gpu`: there is none.

use trivox::backend::Run;
use trivox::{BackendError, PlacedMesh};

use crate::common::Result;
use crate::models::Model;

pub enum OpenGpu {}

impl OpenGpu {
    pub fn open() -> Option<Self> {
        None
    }

    pub fn label(&self) -> &str {
        match *self {}
    }

    pub fn run(&self, _: &PlacedMesh) -> std::result::Result<Run, BackendError> {
        match *self {}
    }

    pub fn start_ms(&self) -> f64 {
        match *self {}
    }

    pub fn print_stages(&self, _: &[Model], _: u32, _: u32) -> Result<()> {
        match *self {}
    }
}
