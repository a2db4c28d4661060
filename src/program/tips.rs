//! Tips for options that other programs have.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Options that are typed, and what to type for them.
const OPTIONS: [(&str, &str); 10] = [
    ("--cpu", "use --backend cpu"),
    ("--gpu", "use --backend gpu"),
    ("--surface", "use --mode surface"),
    ("--thin", "use --mode thin"),
    ("--solid", "use --mode solid"),
    ("--filled", "use --mode solid"),
    ("--frames", "use --turntable N of `voxelize render`"),
    ("--size", "use --res N for N voxels along the longest axis, or --dims X,Y,Z"),
    ("--width", "use --res N for N voxels along the longest axis, or --dims X,Y,Z"),
    (
        "--height",
        "use --dims X,N,Z for N voxels along y at most, or --res N along the longest axis",
    ),
];

/// `error` with a tip in place of clap's guess, if the option that is not known has one.
pub fn with_tip(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if let Some((_, tip)) = OPTIONS.iter().find(|(typed, _)| typed == option) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
    error
}
