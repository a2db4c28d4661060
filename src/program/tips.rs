//! Mistyped command lines: tips for options that other programs have, and for commands and files.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use trivox::formats::{GridFormat, is_mesh};

use crate::cli::{Cli, Job};
use crate::console::{ErrorReport, print_json};
use crate::inputs::is_read_grid;
use crate::text::shown;

/// Prints a usage error with a tip, and exits.
pub fn refuse(error: Error) -> ! {
    let error = with_tip(error);
    // The arguments could not be parsed: look for the option in them.
    if std::env::args_os().any(|arg| arg == "--json") {
        let error = one_line(&error.to_string());
        _ = print_json(&ErrorReport { error, code: "usage" });
    }
    error.exit()
}

/// The message of a usage error, with its tips and without the usage, on one line.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim);
    let is_usage =
        |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = lines.take_while(|line| !is_usage(line)).filter(|line| !line.is_empty());
    lines.fold(String::new(), |said, line| match said.chars().last() {
        None => line.to_owned(),
        Some(':') => format!("{said} {line}"),
        Some(_) => format!("{said}; {line}"),
    })
}

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
fn with_tip(mut error: Error) -> Error {
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

/// Other words for commands.
const SYNONYMS: [(&str, &str); 5] = [
    ("compare", "diff"),
    ("draw", "render"),
    ("help", "help"),
    ("stats", "info"),
    ("version", "--version"),
];

/// Refuses a mistyped command, a grid in place of a mesh, and an output or a resolution without its
/// option.
pub fn refuse_likely_mistakes(job: &Job) -> Result<()> {
    let [first, others @ ..] = &job.meshes[..] else { return Ok(()) };
    let word = first.to_str().filter(|word| !word.contains(['.', '/', '\\', '@', '*']));
    if let Some(word) = word.filter(|_| !first.exists()) {
        let cli = Cli::command();
        let commands =
            cli.get_subcommands().map(|command| (command.get_name(), command.get_name()));
        let alike = |(name, _): &(&str, &str)| strsim::damerau_levenshtein(name, word);
        let nearest = commands.chain(SYNONYMS).min_by_key(alike).filter(|one| alike(one) <= 2);
        let hint = match nearest {
            Some((_, typed)) => format!("did you mean `voxelize {typed}`?"),
            None => "see `voxelize --help`".to_owned(),
        };
        bail!("{word}: is neither a command nor a file: {hint}");
    }
    if let Some(last) = others.last().filter(|last| !last.exists()) {
        let name = shown(last);
        let is_written = GridFormat::of_path(last).is_ok_and(|format| format.spec().is_written());
        // A possible mesh fails alone, and does not stop the others.
        if is_written && !is_mesh(last) && job.output.is_none() {
            bail!("{name}: there is no such file: did you mean -o {name}?");
        }
        if last.to_str().is_some_and(|word| word.parse::<u32>().is_ok()) {
            bail!("{name}: there is no such file: did you mean --res {name}?");
        }
    }
    let is_grid = |path: &&PathBuf| !is_mesh(path) && is_read_grid(path) && path.is_file();
    match job.meshes.iter().find(is_grid) {
        Some(grid) => bail!(
            "{}: is a grid of voxels, and not a mesh: use `voxelize convert` to write it in \
             another format, `voxelize render` to draw it",
            shown(grid)
        ),
        None => Ok(()),
    }
}
