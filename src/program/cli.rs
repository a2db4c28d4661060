//! The command line: what there is to say, and its defaults. No logic.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use trivox::formats::GridFormat;
use trivox::render::{Background, MAX_SAMPLES, MAX_SIDE, Projection, View};
use trivox::solid::Fill;
use trivox::voxelize::BackendChoice;
use trivox::{Bounds, ColorSource, Up};

use crate::program::looks::{css_color, parse_color};
use crate::program::shard::Shard;

/// The version, the commit where it is known, and the cargo features.
fn long_version() -> String {
    let commit = option_env!("VOXELIZE_COMMIT").map(|commit| format!(" ({commit})"));
    let features = if cfg!(feature = "gpu") { "gpu" } else { "none (CPU only)" };
    format!("{}{}\nfeatures: {features}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
}

/// Turn triangle meshes into voxels: exactly, and with the same bits on every GPU and CPU.
///
/// A voxel is occupied if its closed cube touches a closed triangle, or as --mode says.
///
/// Exit codes: 0 done; 1 a comparison failed (--compare-backends, --strict, diff, verify); 2 bad usage,
/// input or output; 128 + N stopped by signal N. One mesh that fails does not stop the others.
#[derive(Debug, Parser)]
#[command(name = "voxelize", version = long_version(), max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(group(ArgGroup::new("resolution").args(["res", "voxel_size"])))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub job: Option<Job>,
    #[command(flatten)]
    pub what: What,
    #[command(flatten)]
    pub few_colors: FewColors,
    #[command(flatten)]
    pub machine: Machine,
}

impl Cli {
    /// Prints a usage error in clap's words, and exits with 2.
    pub fn complain(kind: ErrorKind, what: &str) -> ! {
        Self::command().error(kind, what).exit()
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the GPU adapters of this machine, as --adapter names them.
    Adapters(AdaptersArgs),
    /// List the file formats that are read and written, and what each carries.
    Formats(FormatsArgs),
    /// Say what a voxel grid or a mesh holds.
    Info(InfoArgs),
    /// Write a voxel grid in another format.
    ///
    /// What the new file does not hold is said in a warning.
    Convert(ConvertArgs),
    /// Compare two voxel grids, in any formats.
    ///
    /// Voxels are compared by their indices. Where one grid is larger, the other counts as empty. The
    /// verdict also says in one line whether colours or places differ; with --exact that counts too.
    ///
    /// Exit codes: 0 equal, 1 different dimensions or voxels (with --exact also colours or places), 2 bad
    /// usage or input.
    Diff(DiffArgs),
    /// Judge a voxel grid, whoever made it, by the exact voxels of its mesh.
    ///
    /// The mesh is placed as the options below say; without any, where the grid's file says that it
    /// lies; else so that its longest axis fills the grid, or what is occupied of it. If the grid
    /// disagrees, the 48 permutations and mirrors of its axes are tried, with shifts by whole
    /// voxels; where one explains much more, the verdict is about that, and says so.
    ///
    /// Exit codes: 0 no voxel is wrong, 1 some are, 2 bad usage or input.
    Verify(VerifyArgs),
    /// Draw a picture of a voxel grid, or of the voxels of a mesh.
    ///
    /// Same grid, same options: the same picture, to the bit, on every CPU and GPU.
    Render(RenderArgs),
    /// Print or draw one layer of a voxel grid.
    ///
    /// Across z, x runs to the right and y upwards; across y, x to the right and z upwards; across x, y to
    /// the right and z upwards. The voxels go to standard output, a header to standard error. A line is
    /// two rows of voxels in halves of a block, in their colours on a terminal (unless NO_COLOR is set);
    /// with --ascii one row. A terminal shows as many columns as it has.
    Slice(SliceArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, in roff.
    Man,
}

/// The main job.
#[derive(Debug, Args)]
pub struct Job {
    /// Meshes to voxelize, such as .obj or .glb (see `voxelize formats`). A folder stands for the meshes
    /// in it. @LIST is a text file with one path per line; @- reads such a list from standard input. -
    /// reads one mesh from standard input (with --input-format).
    #[arg(value_name = "MESH", required = true)]
    pub meshes: Vec<PathBuf>,

    /// With a folder: also take the meshes in the folders below it.
    #[arg(long)]
    pub recursive: bool,

    // Not flattened: clap does not see that an optional group with a flattened part is present.
    /// Format of the file that - reads from standard input, as an extension such as obj.
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<String>,

    /// File to write; its extension sets the format. - is standard output. For several meshes: the folder
    /// in which each gets a file of its name; end the name of a new folder with / if it has an extension
    /// [default: write nothing].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Format to write, as an extension that `voxelize formats` lists, such as vox or npy [default: the
    /// extension of the output; in a folder vox].
    #[arg(long, value_name = "FORMAT", requires = "output")]
    #[arg(value_parser = GridFormat::of_extension)]
    pub format: Option<GridFormat>,

    /// Voxels along the longest axis, 1 to 65536 [default: 256].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub res: Option<u32>,

    /// Edge length of a voxel, in mesh units.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub voxel_size: Option<f64>,

    /// Make a grid of N x N x N voxels with the mesh in its centre. With --res or --voxel-size these set
    /// the size of the mesh in it; otherwise its longest axis takes all N voxels.
    #[arg(long, value_name = "N", conflicts_with_all = ["dims", "bounds", "pad"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub cube: Option<u32>,

    /// Make a grid of X x Y x Z voxels with the mesh in its centre, as --cube does.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dims, conflicts_with_all = ["bounds", "pad"])]
    pub dims: Option<[u32; 3]>,

    /// Multiply the mesh's coordinates by S before it is voxelized.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub scale: Option<f64>,

    /// Rotate the mesh about an axis by an angle in degrees, counterclockwise as seen from the axis's tip,
    /// such as x:90. May be repeated: rotations apply in the order given.
    #[arg(long, value_name = "AXIS:DEGREES", value_parser = parse_rotation)]
    pub rotate: Vec<(usize, f64)>,

    /// Move the centre of the mesh's bounding box to the origin, after scaling and rotation.
    #[arg(long)]
    pub center: bool,

    /// Box to voxelize, in mesh units [default: the mesh's own].
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = parse_bounds)]
    #[arg(allow_hyphen_values = true)]
    pub bounds: Option<Bounds>,

    /// Voxels to add on all six sides; the first layer holds what the outermost points touch.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub pad: u32,

    /// With --mode solid: if the fill is doubtful, write nothing and exit with 1.
    #[arg(long)]
    pub strict: bool,

    /// With --strict: write a doubtful solid, but still exit with 1.
    #[arg(long, requires = "strict")]
    pub force: bool,

    /// The mesh's up axis; formats with a fixed up axis (.vox, .glb, .schem) are turned to it.
    #[arg(long, value_name = "AXIS", default_value = "y")]
    pub up: UpAxis,

    /// Colours of the voxels, in formats that hold colours: auto takes those of the mesh, none ignores
    /// them, and a CSS colour such as #C08040, #fff or red is used for all voxels.
    #[arg(long, value_name = "COLOR", default_value = "auto", value_parser = parse_color)]
    pub color: ColorSource,

    /// Also draw a picture of the voxels to a .png file, as `voxelize render --size 512 --samples 2` does.
    #[arg(long, value_name = "PNG", conflicts_with = "resume")]
    pub preview: Option<PathBuf>,

    /// Compute on both the CPU and the GPU; if any voxel differs, write nothing and exit with 1.
    #[arg(long = "compare-backends", visible_alias = "check")]
    pub check: bool,

    /// Process only part I of N of the meshes: the I-th and every N-th after it, counted from 1.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub shard: Option<Shard>,

    /// Skip meshes whose output exists, if a run with --resume made it from the same mesh file with the
    /// same options. The records for this are kept in a folder .voxelize beside the output.
    #[arg(long, requires = "output", conflicts_with = "check")]
    pub resume: bool,

    /// Print one JSON object to standard output; for several meshes one line for each.
    #[arg(long)]
    pub json: bool,

    /// Print errors only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more: why the backend was chosen, the lattice, and for several meshes a block for each.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// What to compute.
#[derive(Debug, Clone, Copy, Args)]
pub struct What {
    /// Which voxels are occupied [default: surface].
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ModeName>,

    /// With --mode solid: how the inside is found [default: auto].
    #[arg(long, value_name = "FILL")]
    pub fill: Option<FillName>,

    /// With --mode solid: also fill the voxels that the surface touches.
    #[arg(long = "include-surface", visible_alias = "shell")]
    pub shell: bool,

    /// Keep voxels in which the whole surface is transparent (cut out by a texture, or of opacity 0).
    #[arg(long)]
    pub keep_transparent: bool,
}

/// The colours of formats that have few.
#[derive(Debug, Args)]
pub struct FewColors {
    /// Colours to use in formats that have few (.vox): those of the pixels of an image, at most 255
    /// [default: those of the voxels, or the 255 by which they look most alike].
    #[arg(long, value_name = "IMAGE")]
    pub palette: Option<PathBuf>,

    /// Mix colours that are not in the palette of several that are.
    #[arg(long)]
    pub dither: bool,
}

/// What to compute with.
#[derive(Debug, Args)]
pub struct Machine {
    /// Where to compute. All backends give the same bits.
    #[arg(long, value_name = "BACKEND", default_value = "auto")]
    pub backend: BackendName,

    /// GPU adapter to use: any part of a name that `voxelize adapters` shows.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub adapter: Option<String>,

    /// CPU threads, at most 1024 [default: one per core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Most memory that the program may take, such as 512MiB or 4GB; what needs more is refused
    /// [default: nine tenths of what is available].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<ByteSize>,
}

/// What standard input holds.
#[derive(Debug, Default, Args)]
pub struct Input {
    /// Format of the file that - reads from standard input, as an extension such as obj or npy.
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct AdaptersArgs {
    /// Print a JSON array to standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FormatsArgs {
    /// Print a JSON array to standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// A voxel grid or a mesh, in a format that is read (see `voxelize formats`); a folder gives a table
    /// of the files in it; - is standard input.
    pub file: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// A voxel grid, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "A")]
    pub grid: PathBuf,

    /// File to write, or - for standard output.
    #[arg(value_name = "B", required_unless_present = "to")]
    pub output: Option<PathBuf>,

    /// The same as B.
    #[arg(short = 'o', long = "output", value_name = "B", conflicts_with = "output")]
    pub to: Option<PathBuf>,

    #[command(flatten)]
    pub input: Input,

    /// Format to write, by its extension, whatever the file is called.
    #[arg(long, value_name = "FORMAT")]
    #[arg(value_parser = GridFormat::of_extension)]
    pub format: Option<GridFormat>,

    #[command(flatten)]
    pub few_colors: FewColors,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A voxel grid, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "A")]
    pub a: PathBuf,

    /// The grid to compare it with.
    #[arg(value_name = "B")]
    pub b: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// Exit with 1 also where only the colours of the voxels or the places of the grids differ.
    #[arg(long)]
    pub exact: bool,

    /// Draw a picture of both, a .png: voxels in both grey, only in A orange, only in B blue. Those that
    /// differ show through the grey ones.
    #[arg(long, value_name = "PNG")]
    pub preview: Option<PathBuf>,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The mesh that the grid was made from, such as .obj (see `voxelize formats`).
    #[arg(value_name = "MESH")]
    pub mesh: PathBuf,

    /// The voxel grid to judge, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "GRID")]
    pub grid: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// Voxels along the longest axis of the mesh or the bounds [default with --bounds or --pad: those
    /// of the grid, without the padding].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub res: Option<u32>,

    /// A voxel's edge, in mesh units.
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "res")]
    pub voxel_size: Option<f64>,

    /// Box that was voxelized, in mesh units [default: the mesh's own].
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = parse_bounds)]
    #[arg(allow_hyphen_values = true)]
    pub bounds: Option<Bounds>,

    /// Voxels that were added on all six sides.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub pad: Option<u32>,

    #[command(flatten)]
    pub what: What,

    /// Judge the grid only as it is placed: turned, mirrored or shifted is wrong.
    #[arg(long)]
    pub as_placed: bool,

    #[command(flatten)]
    pub machine: Machine,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The heading of options that grids do not have.
const OF_MESHES: &str = "Options for meshes";

#[derive(Debug, Args)]
pub struct RenderArgs {
    /// A voxel grid or a mesh, in a format that is read (see `voxelize formats`); - is standard input.
    #[arg(value_name = "GRID|MESH")]
    pub file: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// File to write, a .png, or - for standard output. With --turntable one file is an animation (.png for
    /// APNG, or .gif); a name with #### or %04d in it is a file for each picture, counted from 1 with so many digits, as
    /// Blender and ffmpeg name them.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    /// Draw N pictures, evenly around the up axis and framed alike, from the view on to the right.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub turntable: Option<u32>,

    /// Pictures of an animation a second, 1 to 1000, of a .gif 1 to 50 [default: 24].
    #[arg(long, value_name = "N", requires = "turntable")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub fps: Option<u16>,

    /// From where the voxels are seen.
    #[arg(long, value_name = "VIEW", default_value = "three-quarter")]
    pub view: ViewName,

    /// Direction to the eye: degrees about the up axis, from the front (0) to the right (90) [default: that
    /// of the view].
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub azimuth: Option<f64>,

    /// Direction to the eye: degrees above the horizon, -90 to 90 [default: that of the view].
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub elevation: Option<f64>,

    /// Draw the voxels F times larger, about the middle of the picture, 0.01 to 100; at 1 all of them fit.
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_negative_numbers = true)]
    pub zoom: f64,

    /// Direction to the sun, in degrees as --azimuth and --elevation; the elevation is 0 to 90. The sun does
    /// not move with the view [default: to the left of the eye and above it].
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = parse_light)]
    #[arg(allow_hyphen_values = true)]
    pub light: Option<[f64; 2]>,

    /// Draw no edges of voxels.
    #[arg(long)]
    pub no_edges: bool,

    /// How the picture is projected [default: perspective in view three-quarter, else orthographic].
    #[arg(long, value_name = "CAMERA")]
    pub camera: Option<CameraName>,

    /// Width and height in pixels, or one number for both; at most 16384.
    #[arg(long, value_name = "WxH", default_value = "1024x1024", value_parser = parse_pixels)]
    pub size: [u32; 2],

    /// What is behind the voxels: gradient, transparent or a colour such as #C08040.
    #[arg(long, value_name = "BACKGROUND", default_value = "gradient")]
    #[arg(value_parser = parse_background)]
    pub background: Background,

    /// Rays along each side of a pixel, 1 to 16: more are smoother, and slower by their square.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    pub samples: u32,

    /// The axis that points up [default: what the grid's file says, else y].
    #[arg(long, value_name = "AXIS")]
    pub up: Option<UpAxis>,

    /// What to draw with; the picture is the same, to the bit [default: cpu, or the GPU that --adapter
    /// names].
    #[arg(long, value_name = "BACKEND")]
    pub backend: Option<DrawerName>,

    /// GPU adapter to draw with: any part of a name that `voxelize adapters` shows.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub adapter: Option<String>,

    /// CPU threads, at most 1024 [default: one per core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and JSON where it is asked for.
    #[arg(short, long)]
    pub quiet: bool,

    /// Voxels along the longest axis of a mesh, 1 to 65536 [default: 256].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, help_heading = OF_MESHES)]
    pub res: Option<u32>,

    /// A voxel's edge, in the mesh's units.
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "res")]
    #[arg(help_heading = OF_MESHES)]
    pub voxel_size: Option<f64>,

    #[command(flatten, next_help_heading = OF_MESHES)]
    pub what: What,

    /// Colours of the voxels: auto for those of the mesh, none to look at its shape alone, or one such as
    /// #C08040 [default: auto].
    #[arg(long, value_name = "COLOR", value_parser = parse_color, help_heading = OF_MESHES)]
    pub color: Option<ColorSource>,

    /// Most memory that making the voxels may take, such as 512MiB or 4GB; what needs more is refused
    /// [default: nine tenths of what is available].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = OF_MESHES)]
    pub memory: Option<ByteSize>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").args(["x", "y", "z"]).required(true)))]
pub struct SliceArgs {
    /// A voxel grid, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "GRID")]
    pub grid: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// The layer of voxels with this coordinate along x, counted from 0.
    #[arg(short, allow_negative_numbers = true)]
    pub x: Option<u32>,

    /// The same along y.
    #[arg(short, allow_negative_numbers = true)]
    pub y: Option<u32>,

    /// The same along z.
    #[arg(short, allow_negative_numbers = true)]
    pub z: Option<u32>,

    /// Print # for a voxel and . for none, one character each.
    #[arg(long, conflicts_with_all = ["output", "json"])]
    pub ascii: bool,

    /// Draw it instead, to a .png or to standard output (-).
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Pixels along the side of a voxel, 1 to 256; from 8 on there are lines between them [default: what
    /// makes a picture of about 1024 pixels, at most 32].
    #[arg(long, value_name = "N", requires = "output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub scale: Option<u32>,

    /// Print one JSON object to standard output, with counts and not the voxels.
    #[arg(long)]
    pub json: bool,

    /// Print errors only, and what is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ViewName {
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
    /// From the front, the right and above: isometric, without perspective
    Iso,
    /// From the front, the right and above, in perspective
    ThreeQuarter,
}

impl From<ViewName> for View {
    fn from(name: ViewName) -> Self {
        match name {
            ViewName::Front => Self::Front,
            ViewName::Back => Self::Back,
            ViewName::Left => Self::Left,
            ViewName::Right => Self::Right,
            ViewName::Top => Self::Top,
            ViewName::Bottom => Self::Bottom,
            ViewName::Iso => Self::Iso,
            ViewName::ThreeQuarter => Self::ThreeQuarter,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CameraName {
    /// What is nearer is larger
    Perspective,
    /// What is parallel remains so
    Orthographic,
}

impl From<CameraName> for Projection {
    fn from(name: CameraName) -> Self {
        match name {
            CameraName::Perspective => Self::Perspective,
            CameraName::Orthographic => Self::Orthographic,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum UpAxis {
    Y,
    Z,
}

impl From<UpAxis> for Up {
    fn from(axis: UpAxis) -> Self {
        match axis {
            UpAxis::Y => Self::Y,
            UpAxis::Z => Self::Z,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum ModeName {
    /// Those that touch the mesh: a surface that nothing slips through
    Surface,
    /// Those in which a line through voxel centres crosses the mesh: a surface one voxel thin
    Thin,
    /// Those whose centre is inside the mesh
    Solid,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FillName {
    /// What suits the mesh, and says why
    Auto,
    /// Past an odd number of crossings along x: exact for closed meshes
    Parity,
    /// Where the generalized winding number is at least 1/2: for holes and overlapping parts
    Winding,
    /// What cannot be reached from outside, and the surface: for holes smaller than a voxel
    Flood,
    /// What most rays along the three axes find inside, whichever way triangles face
    Vote,
}

impl From<FillName> for Fill {
    fn from(name: FillName) -> Self {
        match name {
            FillName::Auto => Self::Auto,
            FillName::Parity => Self::Parity,
            FillName::Winding => Self::Winding,
            FillName::Flood => Self::Flood,
            FillName::Vote => Self::Vote,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DrawerName {
    /// A GPU, or an error
    Gpu,
    /// The CPU
    Cpu,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BackendName {
    /// The GPU where that is likely to be faster, else the CPU
    Auto,
    /// The GPU, or an error
    Gpu,
    /// The CPU
    Cpu,
}

impl From<BackendName> for BackendChoice {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Auto => Self::Auto,
            BackendName::Gpu => Self::Gpu,
            BackendName::Cpu => Self::Cpu,
        }
    }
}

fn parse_size(text: &str) -> Result<ByteSize, String> {
    text.parse().map_err(|_| "not a number of bytes, such as 512MiB, 4GB or 1000000".to_owned())
}

fn parse_pixels(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').or(Some((text, text)));
    let sides = sides.map(|(width, height)| [width, height].map(str::parse));
    match sides {
        Some([Ok(width), Ok(height)]) if is_side(width) && is_side(height) => Ok([width, height]),
        _ => Err(format!("use width and height of 1 to {MAX_SIDE} pixels, such as 1920x1080")),
    }
}

fn is_side(pixels: u32) -> bool {
    (1..=MAX_SIDE).contains(&pixels)
}

fn parse_background(text: &str) -> Result<Background, String> {
    match text {
        "gradient" => Ok(Background::Gradient),
        "transparent" => Ok(Background::Transparent),
        _ => css_color(text).map(|[r, g, b, _]| Background::Color([r, g, b])).ok_or_else(|| {
            "use gradient, transparent or a CSS colour such as #C08040 (in quotes, where # begins a comment)"
                .to_owned()
        }),
    }
}

fn parse_light(text: &str) -> Result<[f64; 2], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[azimuth, elevation]) => Ok([azimuth, elevation]),
        _ => Err("use azimuth and elevation in degrees, such as -45,30".to_owned()),
    }
}

fn parse_dims(text: &str) -> Result<[u32; 3], String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, z]) if [x, y, z].iter().all(|d| (1..=trivox::place::MAX_DIM).contains(d)) => {
            Ok([x, y, z])
        }
        _ => Err(format!("use three numbers of 1 to {}, such as 64,64,32", trivox::place::MAX_DIM)),
    }
}

fn parse_rotation(text: &str) -> Result<(usize, f64), String> {
    let parts = text.split_once(':').and_then(|(axis, degrees)| {
        let axis = ["x", "y", "z"].iter().position(|name| *name == axis)?;
        degrees.parse().ok().filter(|d: &f64| d.is_finite()).map(|degrees| (axis, degrees))
    });
    parts.ok_or_else(|| "use an axis and degrees, such as x:90 or z:-45".to_owned())
}

fn parse_bounds(text: &str) -> Result<Bounds, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    let numbers = numbers.map_err(|_| "not six numbers with commas between".to_owned())?;
    match numbers[..] {
        [x0, y0, z0, x1, y1, z1] => Ok(Bounds { min: [x0, y0, z0], max: [x1, y1, z1] }),
        _ => Err(format!("{} numbers where six belong: X0,Y0,Z0,X1,Y1,Z1", numbers.len())),
    }
}
