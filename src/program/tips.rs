//! Tips for commands, options and values that are mistyped or that other programs have.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use trivox::formats::{GridFormat, is_mesh};
use trivox::grid::Attribute;

use crate::cli::{Cli, VoxelizeArgs};
use crate::console::{CodedError, print_json};
use crate::inputs::is_read_grid;
use crate::text::shown;

/// Prints a usage error with a tip, also as JSON if `is_json`, and exits.
pub fn refuse(error: Error, is_json: bool) -> ! {
    let error = with_tip(error);
    if is_json {
        let error = one_line(&error.to_string());
        _ = print_json(&CodedError { error, code: "usage" });
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

/// Other words for commands.
const SYNONYMS: [(&str, &str); 5] = [
    ("compare", "diff"),
    ("draw", "render"),
    ("help", "help"),
    ("stats", "info"),
    ("version", "--version"),
];

/// Options that are typed, and what to type for them.
const OPTIONS: [(&[&str], &str); 35] = [
    (&["--cpu"], "use --backend cpu"),
    (&["--gpu", "--cuda"], "use --backend gpu"),
    (&["--device"], "use --adapter NAME, with a name that `voxelize adapters` shows"),
    (&["--surface", "--hollow"], "surfaces are the default: leave it out, or use --mode surface"),
    (&["--thin"], "use --mode thin"),
    (&["--animation", "--pose", "--time"], "export the pose: meshes have their default pose"),
    (&["--solid", "--filled"], "use --mode solid"),
    (&["--frames"], "use --turntable N of `voxelize render`, or --frame N for one of a .vox"),
    (
        &["--scale"],
        "`voxelize --scale S` multiplies the coordinates of a mesh; use --pixels N for the pixels \
         of a voxel in `voxelize slice`, --zoom F of `voxelize render`",
    ),
    (&["--resolution"], "use --size WxH for the pixels of a picture, --res N for voxels"),
    (&["--size", "-s", "-d"], "use --res N or --dims X,Y,Z (in pixels: `voxelize render --size`)"),
    (&["--grid"], "use --res N for N voxels along the longest axis"),
    (&["--depth"], "use --length N"),
    (&["--labels"], "use --label object, or --label file for one grid of several meshes"),
    (&["--pitch", "--spacing", "--dx"], "use --voxel-size S"),
    (&["--unit", "--units"], "use --scale S: 25.4 turns inches into millimetres"),
    (
        &["--origin", "--min", "--align", "--snap"],
        "use --bounds X0,Y0,Z0,X1,Y1,Z1 with --voxel-size S: the grid begins at X0,Y0,Z0",
    ),
    (&["--like"], "use --lattice JSON, with what another run's --json printed"),
    (
        &["--coverage", "--fraction", "--volume-fraction"],
        "use --attributes coverage, with --mode solid --include-surface",
    ),
    (&["--emission", "--materials"], "use --attributes metallic,roughness,emission"),
    (&["--merge"], "use --label file: all meshes in one grid"),
    (&["--translate"], "meshes are not moved: use --bounds for the box to voxelize, or --center"),
    (&["-i", "--input"], "inputs have no option: voxelize mesh.obj -o out.vox"),
    (&["-f"], "use --format F for a format; a mesh has no option: voxelize mesh.obj -o out.vox"),
    (&["-t"], "use --format F for a format, --threads N for threads"),
    (&["--output-format"], "use --format F"),
    (&["--outdir", "--output-dir"], "use -o DIR/"),
    (&["-m"], "use --mode M"),
    (&["--sdf", "--esdf", "--level-set"], "use --distance W"),
    (&["--z-up"], "use --up z"),
    (&["-j", "--jobs"], "use --threads N"),
    (&["-y", "--overwrite"], "files are replaced without asking: leave it out"),
    (&["--dry-run"], "without -o nothing is written: leave both out"),
    (&["--layer", "--index"], "use -x N, -y N or -z N of `voxelize slice`"),
    (&["--axis"], "use --up AXIS for the up axis; of `voxelize slice`, -x N, -y N or -z N"),
];

/// Values that are typed for an option, and what to type for them.
const VALUES: [(&str, &[&str], &str); 5] = [
    ("--attributes", &["all"], "name those that you want, with commas between them"),
    ("--backend", &["cuda", "dx12", "metal", "opengl", "vulkan", "wgpu"], "use --backend gpu"),
    ("--format", &["schematic"], "use schem, or litematic"),
    ("--mode", &["filled", "volume"], "use --mode solid"),
    (
        "--mode",
        &["hollow", "shell"],
        "use --mode surface, or --mode solid --include-surface for a solid with its surface",
    ),
];

/// What to type after `voxelize` for a mistyped command or another word for one.
fn nearest_command(word: &str) -> Option<String> {
    let cli = Cli::command();
    let commands = cli.get_subcommands().map(clap::Command::get_name);
    let name = nearest(word, commands.chain(SYNONYMS.map(|(name, _)| name)))?;
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == name);
    Some(synonym.map_or(name, |(_, typed)| typed).to_owned())
}

/// The nearest of `names` within two edits of `word`.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| strsim::damerau_levenshtein(name, word);
    names.min_by_key(distance).filter(|name| distance(name) <= 2)
}

/// `error` with a tip in place of clap's guess, if there is one for a command or an option that is
/// not known, or for a value that an option does not take. Clap's tip to pass an option as a value
/// is kept where a file has that name. The usage is kept only where an argument is missing and
/// there is no tip: clap leaves the others out of it.
fn with_tip(mut error: Error) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let [argument, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue].map(text);
    let option = argument.split(' ').next().unwrap_or_default();
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let mut given = std::env::args_os().skip(1).map(PathBuf::from);
            let is_file =
                |path: &PathBuf| path.to_string_lossy().starts_with('-') && path.is_file();
            // Clap has a tip for a file with the name of the whole option.
            let file = given.find(is_file).filter(|_| !Path::new(option).exists());
            let file = file.map(|path| format!("write ./{} for the file", shown(path)));
            let known = OPTIONS.iter().find(|(typed, _)| typed.contains(&option));
            file.or_else(|| known.map(|&(_, tip)| tip.to_owned()))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = value.to_lowercase();
            let is_typed =
                |(of, typed, _): &&(&str, &[&str], _)| *of == option && typed.contains(&&*value);
            VALUES.iter().find(is_typed).map(|&(.., tip)| tip.to_owned())
        }
        ErrorKind::TooManyValues if option == "--json" => {
            Some("--json writes to standard output: use `> out.json`".to_owned())
        }
        ErrorKind::InvalidSubcommand => nearest_command(&text(ContextKind::InvalidSubcommand))
            .map(|command| format!("did you mean `voxelize {command}`?")),
        ErrorKind::MissingRequiredArgument if lacks_output(&error) => std::env::args_os()
            .next_back()
            .map(PathBuf::from)
            .filter(|last| is_new_grid(last))
            .map(|last| format!("did you mean -o {}?", shown(last))),
        _ => None,
    };
    if error.kind() != ErrorKind::MissingRequiredArgument || tip.is_some() {
        error.remove(ContextKind::Usage);
    }
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedValue);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if is_unknown
        && !Path::new(option).exists()
        && error.get(ContextKind::SuggestedArg).is_none()
    {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Whether an error is that no output is named.
fn lacks_output(error: &Error) -> bool {
    matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::Strings(missing))
        if missing.iter().any(|argument| argument.starts_with("--output")))
}

/// Whether a path has the extension of a grid format, and no file exists there.
fn is_new_grid(path: &Path) -> bool {
    GridFormat::of_path(path).is_ok() && !path.exists()
}

/// Refuses a mistyped command, a grid in place of a mesh, and an attribute, output or resolution
/// without its option.
pub fn refuse_likely_mistakes(job: &VoxelizeArgs) -> Result<()> {
    let [first, others @ ..] = &job.meshes[..] else { return Ok(()) };
    let is_attribute = |path: &&PathBuf| {
        !job.attributes.is_empty()
            && path.to_str().is_some_and(|word| word.parse::<Attribute>().is_ok())
            && !path.exists()
    };
    if let Some(name) = job.meshes.iter().find(is_attribute).map(shown) {
        let given: Vec<&str> = job.attributes.iter().map(|attribute| attribute.name()).collect();
        bail!(
            "{name}: there is no such mesh: attributes are joined by commas, such as \
             --attributes {},{name}",
            given.join(",")
        );
    }
    let word = first.to_str().filter(|word| !word.contains(['.', '/', '\\', '@', '*']));
    if let Some(word) = word.filter(|_| !first.exists()) {
        let hint = match nearest_command(word) {
            Some(typed) => format!("did you mean `voxelize {typed}`?"),
            None => "see `voxelize --help`".to_owned(),
        };
        bail!("{word}: is neither a command nor a file: {hint}");
    }
    if let Some(last) = others.last().filter(|last| !last.exists()) {
        let name = shown(last);
        // A possible mesh fails alone, and does not stop the others.
        if is_new_grid(last) && !is_mesh(last) && job.output.is_none() {
            bail!("{name}: there is no such file: did you mean -o {name}?");
        }
        if last.extension().is_some_and(|extension| extension == "png") {
            bail!("{name}: there is no such file: did you mean --preview {name}?");
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
