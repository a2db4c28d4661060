//! The mode and its options.

use anyhow::{Result, bail};
use trivox::Mode;
use trivox::solid::Solid;

use crate::cli::VoxelArgs;

impl VoxelArgs {
    /// The mode.
    pub fn mode(&self) -> Mode {
        match self.mode.unwrap_or_default() {
            Mode::Solid(_) => {
                let (fill, include_surface) = (self.fill.unwrap_or_default(), self.include_surface);
                Mode::Solid(Solid { fill, include_surface })
            }
            mode => mode,
        }
    }

    /// # Errors
    /// Options for solids without `--mode solid`, and for surfaces with it.
    pub fn refuse_contradictions(&self) -> Result<()> {
        if self.keep_transparent && matches!(self.mode, Some(Mode::Solid(_))) {
            bail!("--keep-transparent is for surfaces: a solid keeps all its voxels, leave it out");
        }
        let of_solids = [
            ("--fill", self.fill.is_some()),
            ("--include-surface", self.include_surface),
            ("--interior-color", self.interior_color.is_some()),
        ];
        of_solids.iter().try_for_each(|&(option, is_given)| self.only_for_solids(option, is_given))
    }

    /// # Errors
    /// `option` is for solids, is given, and the mode is not solid.
    pub fn only_for_solids(&self, option: &str, is_given: bool) -> Result<()> {
        if is_given && !matches!(self.mode, Some(Mode::Solid(_))) {
            bail!("{option} is for solids: add --mode solid, or leave it out");
        }
        Ok(())
    }
}
