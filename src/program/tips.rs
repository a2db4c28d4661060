//! Tips for options that other programs have.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Options that are typed, and what to type for them.
const OPTIONS: [(&[&str], &str); 24] = [
    (&["--cpu"], "use --backend cpu"),
    (&["--gpu", "--cuda"], "use --backend gpu"),
    (&["--device"], "use --adapter NAME, with a name that `voxelize adapters` shows"),
    (&["--surface", "--hollow"], "surfaces are the default: leave it out, or use --mode surface"),
    (&["--thin"], "use --mode thin"),
    (&["--solid", "--filled"], "use --mode solid"),
    (&["--frames"], "use --turntable N of `voxelize render`"),
    (&["--resolution"], "use --size WxH for the pixels of a picture, --res N for voxels"),
    (
        &["--size", "-s", "-d"],
        "use --res N for N voxels along the longest axis, or --dims X,Y,Z (of a picture, in \
         pixels: `voxelize render --size WxH`)",
    ),
    (&["--depth"], "use --length N"),
    (&["--pitch", "--spacing"], "use --voxel-size S"),
    (&["-i", "--input"], "inputs have no option: voxelize mesh.obj -o out.vox"),
    (&["-f"], "use --format F for a format; a mesh has no option: voxelize mesh.obj -o out.vox"),
    (&["-t"], "use --format F for a format, --threads N for threads"),
    (&["--output-format"], "use --format F"),
    (&["--outdir", "--output-dir"], "use -o DIR/"),
    (&["-m"], "use --mode M"),
    (&["--sdf"], "use --distance W"),
    (&["--z-up"], "use --up z"),
    (&["-j", "--jobs"], "use --threads N"),
    (&["-y", "--overwrite"], "files are replaced without asking: leave it out"),
    (&["--dry-run"], "without -o nothing is written: leave both out"),
    (&["--layer", "--index"], "use -x N, -y N or -z N of `voxelize slice`"),
    (&["--axis"], "use --up AXIS for the up axis; of `voxelize slice`, -x N, -y N or -z N"),
];

/// The tip for `--json=FILE`.
const TO_STDOUT: &str = "--json writes to standard output: use `> out.json`";

/// `error` with a tip in place of clap's guess, if there is one for an option that is not known, or
/// for a value that an option does not take. Clap's tip to pass an option as a value is kept where
/// a file has that name.
pub fn with_tip(mut error: Error) -> Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            OPTIONS.iter().find(|(typed, _)| typed.contains(&&**option)).map(|(_, tip)| *tip)
        }
        ErrorKind::TooManyValues if option == "--json" => Some(TO_STDOUT),
        _ => None,
    };
    let is_file = Path::new(option).exists();
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if is_unknown && !is_file && error.get(ContextKind::SuggestedArg).is_none() {
        error.remove(ContextKind::Suggested);
    }
    error
}
