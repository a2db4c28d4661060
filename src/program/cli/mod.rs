//! The command line: arguments and their defaults.

mod grids;
mod names;
pub mod parse;
mod render;
mod verify;
mod voxelize;

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgGroup, Args, Parser, Subcommand};

use trivox::backend::{BackendChoice, VoxelKernel};
use trivox::base::srgb::Rgba;
use trivox::lattice::transform::Rotation;
use trivox::mesh::appearance::FilterChoice;
use trivox::solid::Fill;
use trivox::{Blend, ColorSource, Mode};

use crate::cli::parse::{
    parse_color, parse_count, parse_in, parse_interior, parse_number, parse_res, parse_size,
};

pub use crate::cli::grids::{ConvertArgs, DiffArgs, InfoArgs, JoinArgs, SliceArgs, WriteArgs};
pub use crate::cli::render::RenderArgs;
pub use crate::cli::verify::VerifyArgs;
pub use crate::cli::voxelize::{LabelBy, Strict, VoxelizeArgs};

/// The version, the commit of a release (an environment variable of its build), and the features.
fn long_version() -> String {
    let commit = option_env!("VOXELIZE_COMMIT").map(|commit| format!(" ({commit})"));
    let features = if cfg!(feature = "gpu") { "gpu" } else { "none (CPU only)" };
    format!("{}{}\nfeatures: {features}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
}

const EXAMPLES: &str = "\
Examples:
  voxelize mesh.obj -o mesh.vox                         MagicaVoxel, in the mesh's colours
  voxelize mesh.glb --res 100 -o castle.litematic       Minecraft, 100 blocks along the longest axis
  voxelize mesh.stl --mode solid -o mesh.npz            a solid as NumPy arrays
  voxelize meshes/ --cube 64 --format npz --resume -o set/   a folder, each mesh centred in 64^3
  voxelize render mesh.obj --turntable 36 turning.gif   an animation of the voxels
  voxelize slice mesh.vox                               its middle layer, as text";

/// The help with the examples before the options.
const EXAMPLES_FIRST: &str = "\
{about}{after-help}

{usage-heading} {usage}

{all-args}";

/// The options that `-h` lists.
const FIRST: &str = "\
    meshes output res voxel_size mode up color preview recursive backend json quiet verbose";

/// The options that set the size of a voxel: one of them.
const SIZES: [&str; 5] = ["res", "height", "width", "length", "voxel_size"];

/// Leaves an argument that is not among `first` to `--help`.
fn first_or_hidden(arg: Arg, first: &str) -> Arg {
    let is_first = first.split(' ').any(|id| id == arg.get_id().as_str());
    arg.hide_short_help(!is_first)
}

/// Turn triangle meshes into voxels: exactly, and with the same bits on every GPU and CPU.
///
/// A voxel is occupied if the mesh touches it, even in one point, or as --mode says.
///
/// Exit codes: 0 done; 1 a check failed (--compare-backends, --strict, diff, verify); 2 bad usage,
/// input or output, also of one mesh among several; 128 + N stopped by signal N. A mesh that fails
/// does not stop the others.
#[derive(Debug, Parser)]
#[command(name = "voxelize", version = long_version(), max_term_width = 100)]
#[command(after_help = EXAMPLES, help_template = EXAMPLES_FIRST)]
#[command(mut_args(|arg| first_or_hidden(arg, FIRST)))]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(arg_required_else_help = true)]
#[command(group(ArgGroup::new("resolution").args(SIZES)))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub job: VoxelizeArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the GPU adapters of this machine, as --adapter names them.
    Adapters(ListArgs),
    /// List the file formats that are read and written, and what each carries.
    Formats(ListArgs),
    /// Print what a voxel grid or a mesh holds.
    Info(InfoArgs),
    /// Write a voxel grid in another format.
    ///
    /// Notes list the properties that the new format cannot store.
    Convert(ConvertArgs),
    /// Put the tiles of a grid together.
    ///
    /// The position of a tile is read from its file, so the format must hold it (see `voxelize
    /// formats`). Tiles that `--tile` made of one mesh, with the same options, join to the grid of
    /// the run without `--tile`, to the bit.
    Join(JoinArgs),
    /// Compare two voxel grids, in any formats.
    ///
    /// Voxels are compared by their indices. Where one grid is larger, the other counts as empty.
    /// The verdict also says in one line whether colours, attributes, positions or distances
    /// differ; with --exact these count too.
    ///
    /// Exit codes: 0 equal, 1 different dimensions or voxels (with --exact also colours,
    /// attributes, positions, distances or blocks; with --tolerance only distances), 2 bad usage or
    /// input.
    Diff(DiffArgs),
    /// Check a voxel grid, made by any program, against the exact voxels of its mesh.
    ///
    /// The mesh is placed by the options below. Without any, the position in the grid's file is
    /// taken. If the file has none, the longest axis of the mesh fills the grid or the bounding box
    /// of the occupied voxels, or the mesh lies in the grid's centre. If the grid disagrees, the 48
    /// permutations and mirrorings of its axes are tried, with shifts by whole voxels. If one
    /// leaves at most a quarter of the wrong voxels, the verdict is about that one, and says so.
    ///
    /// Exit codes: 0 no voxel is wrong, 1 some are, 2 bad usage or input.
    Verify(VerifyArgs),
    /// Draw a picture of a voxel grid, or of the voxels of a mesh.
    ///
    /// Same grid, same options: the same picture, to the bit, on every CPU and GPU.
    Render(RenderArgs),
    /// Print or draw one layer of a voxel grid, or of the voxels of a mesh.
    ///
    /// Across z, x runs to the right and y upwards; across y, x to the right and z upwards; across
    /// x, y to the right and z upwards. The voxels go to standard output, a header to standard
    /// error. Each line of text shows two rows of voxels with half-block characters; with --ascii
    /// one row. On a terminal, lines are cut at its width.
    Slice(SliceArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff.
    Man,
}

/// What to compute.
#[derive(Debug, Clone, Copy, Args)]
pub struct VoxelArgs {
    /// Which voxels are occupied [default: surface].
    #[arg(long, value_name = "MODE", ignore_case = true, value_parser = names::mode())]
    #[arg(help_heading = "Voxels")]
    pub mode: Option<Mode>,

    /// How the inside is found, of a solid or for distances [default: auto].
    #[arg(long, value_name = "FILL", ignore_case = true, value_parser = names::fill())]
    #[arg(help_heading = "Voxels")]
    pub fill: Option<Fill>,

    /// With --mode solid: the colour of voxels far from the surface, a CSS colour such as #C08040
    /// [default: the mean colour of the surface; of a tile, that in the tile].
    #[arg(long, value_name = "COLOR", value_parser = parse_interior, help_heading = "Colours")]
    pub interior_color: Option<Rgba>,

    /// How textures are read where their texels are larger than voxels [default: auto]. With
    /// --blend none, auto is nearest.
    #[arg(long, value_name = "FILTER", ignore_case = true, value_parser = names::filter())]
    #[arg(help_heading = "Colours")]
    pub filter: Option<FilterChoice>,

    /// Which surfaces in a voxel make its colour [default: all]. With visible and none, a visible
    /// opaque point keeps an otherwise transparent voxel.
    #[arg(long, value_name = "BLEND", ignore_case = true, value_parser = names::blend())]
    #[arg(help_heading = "Colours")]
    pub blend: Option<Blend>,

    /// With --mode solid: add the voxels that the surface touches.
    #[arg(long = "include-surface", visible_alias = "shell", help_heading = "Voxels")]
    pub include_surface: bool,

    /// Keep voxels in which the whole surface is transparent (cut out by a texture, or of opacity
    /// 0). A solid keeps all its voxels without it.
    #[arg(long, help_heading = "Colours")]
    pub keep_transparent: bool,

    /// Read only files beside the mesh and below: a material, image or buffer elsewhere counts as
    /// missing. For untrusted meshes.
    #[arg(long, help_heading = "Computing")]
    pub confine: bool,
}

/// The heading of options that grids do not have.
const OF_MESHES: &str = "Options for meshes";

/// Options of a grid's file and of voxelization, for commands that take a grid or a mesh.
#[derive(Debug, Args)]
pub struct SourceArgs {
    #[command(flatten)]
    pub scene: SceneArgs,

    /// Voxels along the longest axis of a mesh, 1 to 65536 [default: 256].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, help_heading = OF_MESHES)]
    #[arg(value_parser = parse_res)]
    pub res: Option<u32>,

    /// Edge length of a voxel, in mesh units.
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "res")]
    #[arg(help_heading = OF_MESHES, value_parser = parse_number)]
    pub voxel_size: Option<f64>,

    #[command(flatten)]
    pub voxels: VoxelArgs,

    /// Colours of the voxels: auto for those of the mesh, none to see its shape alone, or one
    /// such as #C08040 [default: auto].
    #[arg(long, alias = "colour", value_name = "COLOR", value_parser = parse_color)]
    #[arg(help_heading = OF_MESHES)]
    pub color: Option<ColorSource>,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// How the mesh is transformed first.
#[derive(Debug, Clone, Default, Args)]
pub struct TransformArgs {
    /// Multiply the mesh's coordinates by S before it is voxelized.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_number)]
    #[arg(help_heading = "Size and place")]
    pub scale: Option<f64>,

    /// Rotate the mesh about an axis by an angle in degrees, counter-clockwise as seen from the
    /// axis's tip, such as x:90. May be repeated: rotations apply in the order given.
    #[arg(long, value_name = "AXIS:DEGREES", help_heading = "Size and place")]
    pub rotate: Vec<Rotation>,

    /// Move the centre of the mesh's bounding box to the origin, after scaling and rotation.
    #[arg(long, help_heading = "Size and place")]
    pub center: bool,
}

/// The colours of formats that have few.
#[derive(Debug, Args)]
pub struct PaletteArgs {
    /// Palette of a .vox file: the colours of the pixels of an image, at most 255
    /// [default: those of the voxels; more than 255 are quantized to 255].
    #[arg(long, value_name = "IMAGE", help_heading = "Colours")]
    pub palette: Option<PathBuf>,

    /// Colours of a .vox file: at most N, from 2 to 255, chosen for the voxels [default: 255].
    #[arg(long, value_name = "N", value_parser = parse_in::<u16, 2, 255>)]
    #[arg(conflicts_with = "palette", allow_negative_numbers = true, help_heading = "Colours")]
    pub colors: Option<u16>,

    /// Blocks to choose from in .schem and .litematic, at most 255: names of the 161 known ones,
    /// and patterns, such as '*_wool,bricks'; or a text file with one on each line, or any block
    /// and its CSS colour, such as `oak_planks #a2834f` [default: the 161].
    #[arg(long, value_name = "NAMES|FILE", help_heading = "Colours")]
    pub blocks: Option<PathBuf>,

    /// Dither: approximate colours that are not in the palette by mixing those that are.
    #[arg(long, help_heading = "Colours")]
    pub dither: bool,

    /// Write the simplest form of a format, for programs that read no other: .schem of version 2;
    /// .vox of one model, for grids of up to 256 voxels an axis.
    #[arg(long)]
    pub plain: bool,

    /// Write a .ply of points in place of faces: the centres of the voxels, with their attributes.
    #[arg(long)]
    pub points: bool,
}

/// What to compute with.
#[derive(Debug, Args)]
pub struct ComputeArgs {
    /// Where to compute. All backends give the same bits.
    #[arg(long, value_name = "BACKEND", default_value = "auto", ignore_case = true)]
    #[arg(value_parser = names::backend(), help_heading = "Computing")]
    pub backend: BackendChoice,

    /// GPU adapter to compute on, whatever --backend auto would choose: any part of a name that
    /// `voxelize adapters` shows.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    #[arg(help_heading = "Computing")]
    pub adapter: Option<String>,

    /// How a GPU tests voxels, of a surface or of a fill that uses it. Both kernels give the same
    /// bits.
    #[arg(long, value_name = "KERNEL", value_parser = names::kernel(), ignore_case = true)]
    #[arg(help_heading = "Computing")]
    pub kernel: Option<VoxelKernel>,

    /// CPU threads, at most 1024 [default: one per core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_in::<u16, 1, 1024>, help_heading = "Computing")]
    pub threads: Option<u16>,

    /// Memory limit of the program, without GPU memory, such as 512MiB or 4GB; a step that may need
    /// more is refused [default: nine tenths of what is available].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    #[arg(help_heading = "Computing")]
    pub memory: Option<ByteSize>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What standard input holds.
#[derive(Debug, Default, Args)]
pub struct Input {
    /// Format of the file that - reads from standard input, as an extension such as obj or npy.
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<String>,
}

/// How grids are read.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Memory limit, such as 512MiB or 4GB; a file that may need more is refused [default: for a
    /// grid 2 GiB for each MB of its file, for a mesh nine tenths of the available memory].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub memory: Option<ByteSize>,
}

/// What of a scene of MagicaVoxel is read.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct SceneArgs {
    /// Of a .vox file, leave out what MagicaVoxel hides, and all in hidden layers.
    #[arg(long)]
    pub visible_only: bool,

    /// Of a .vox file with an animation, the frame N, counted from 0 [default: the first].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub frame: Option<u32>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Print a JSON array to standard output.
    #[arg(long)]
    pub json: bool,
}
