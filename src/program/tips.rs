//! Tips for options that other programs have.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Options that are typed, and what to type for them.
const OPTIONS: [(&[&str], &str); 17] = [
    (&["--cpu"], "use --backend cpu"),
    (&["--gpu"], "use --backend gpu"),
    (&["--device"], "use --adapter NAME, with a name that `voxelize adapters` shows"),
    (&["--surface", "--hollow"], "surfaces are the default: leave it out, or use --mode surface"),
    (&["--thin"], "use --mode thin"),
    (&["--solid", "--filled"], "use --mode solid"),
    (&["--frames"], "use --turntable N of `voxelize render`"),
    (&["--resolution"], "use --size WxH for the pixels of a picture, --res N for voxels"),
    (
        &["--size", "--width"],
        "use --res N for N voxels along the longest axis, or --dims X,Y,Z (of a picture, in \
         pixels: `voxelize render --size WxH`)",
    ),
    (
        &["--height"],
        "use --dims X,N,Z for N voxels along y at most, or --res N along the longest axis",
    ),
    (&["--pitch", "--spacing"], "use --voxel-size S"),
    (&["-i", "--input"], "inputs have no option: voxelize mesh.obj -o out.vox"),
    (&["-f"], "use --format F"),
    (&["-j", "-t", "--jobs"], "use --threads N"),
    (&["-y", "--overwrite"], "files are replaced without asking: leave it out"),
    (&["--dry-run"], "without -o nothing is written: leave both out"),
    (&["--axis", "--layer", "--index"], "use -x N, -y N or -z N"),
];

/// `error` with a tip in place of clap's guess, if the option that is not known has one. Clap's tip
/// to pass an option as a value is kept where a file has that name.
pub fn with_tip(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_file = Path::new(option).exists();
    if let Some((_, tip)) = OPTIONS.iter().find(|(typed, _)| typed.contains(&option.as_str())) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    } else if !is_file && error.get(ContextKind::SuggestedArg).is_none() {
        error.remove(ContextKind::Suggested);
    }
    error
}
