//! The mode and its options.

use anyhow::{Result, bail};
use trivox::Mode;
use trivox::solid::{Fill, Solid};

use crate::program::cli::{Job, ModeName, VoxelArgs};

impl VoxelArgs {
    /// The mode.
    pub fn mode(&self) -> Mode {
        match self.mode.unwrap_or(ModeName::Surface) {
            ModeName::Surface => Mode::Surface,
            ModeName::Thin => Mode::Thin,
            ModeName::Solid => {
                let fill = self.fill.map_or(Fill::default(), Fill::from);
                Mode::Solid(Solid { fill, include_surface: self.include_surface })
            }
        }
    }

    /// With --distance, what tells the inside.
    pub fn of_job(self, job: &Job) -> Self {
        match job.distance {
            Some(_) => Self { mode: Some(ModeName::Solid), ..self },
            None => self,
        }
    }

    /// # Errors
    /// Options for solids without `--mode solid`.
    pub fn refuse_contradictions(&self) -> Result<()> {
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
        if is_given && self.mode != Some(ModeName::Solid) {
            bail!("{option} is for solids: add --mode solid, or leave it out");
        }
        Ok(())
    }
}
