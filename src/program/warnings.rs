//! Warnings as sentences, with the option of the program that avoids them.

use trivox::engine::{Remedy, Warning};

/// The warnings as sentences.
pub fn sentences(warnings: &[Warning]) -> impl Iterator<Item = String> + '_ {
    let spelled = |remedy| match remedy {
        Remedy::Fill(fill) => format!("--fill {fill}"),
        Remedy::KeepTransparent => "--keep-transparent".to_owned(),
        Remedy::InteriorColor => "--interior-color".to_owned(),
    };
    warnings.iter().map(move |warning| warning.with_remedy(spelled))
}
