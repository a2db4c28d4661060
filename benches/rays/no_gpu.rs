//! In the GPU's place, without the feature `gpu`: there is none.

use trivox::view::trace::{Hit, Ray, Scene};

use crate::common::{Patience, Result};

pub const COLUMNS: &str = "";

pub enum OpenGpu {}

impl OpenGpu {
    pub fn open(_: bool) -> Option<Self> {
        None
    }

    pub fn label(&self) -> &str {
        match *self {}
    }

    pub fn cells(&self, _: &Scene, _: &[Ray], _: &[Option<Hit>], _: Patience) -> Result<String> {
        match *self {}
    }
}
