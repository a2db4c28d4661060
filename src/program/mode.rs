//! What a command computes, as its options say.

use anyhow::{Result, bail};
use trivox::Mode;
use trivox::solid::{Fill, Solid};

use crate::program::cli::{ModeName, What};

impl What {
    /// The mode.
    pub fn mode(&self) -> Mode {
        match self.mode.unwrap_or(ModeName::Surface) {
            ModeName::Surface => Mode::Surface,
            ModeName::Thin => Mode::Thin,
            ModeName::Solid => {
                let fill = self.fill.map_or(Fill::default(), Fill::from);
                Mode::Solid(Solid { fill, shell: self.shell })
            }
        }
    }

    /// # Errors
    /// Options that have an effect on solids only, and no solid is asked for.
    pub fn refuse_contradictions(&self) -> Result<()> {
        let of_solids = [
            ("--fill", self.fill.is_some()),
            ("--include-surface", self.shell),
            ("--interior-color", self.interior_color.is_some()),
        ];
        of_solids.iter().try_for_each(|&(option, is_given)| self.only_for_solids(option, is_given))
    }

    /// # Errors
    /// `option` is given, and has an effect on solids only, and no solid is asked for.
    pub fn only_for_solids(&self, option: &str, is_given: bool) -> Result<()> {
        if is_given && self.mode != Some(ModeName::Solid) {
            bail!("{option} is for solids: add --mode solid, or leave it out");
        }
        Ok(())
    }
}
