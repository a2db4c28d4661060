//! Arguments of voxelizing meshes, the default command.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trivox::formats::GridFormat;
use trivox::grid::Attribute;
use trivox::{Bounds, ColorSource, Tile, Up};

use crate::cli::parse::{
    parse_bounds, parse_color, parse_count, parse_cube, parse_dims, parse_number, parse_res,
    parse_seconds, parse_width,
};
use crate::cli::{ComputeArgs, Input, PaletteArgs, TransformArgs, VoxelArgs, names};
use crate::shard::Shard;

/// The parts of a mesh, or of several, that have labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelBy {
    /// Each object of a mesh
    Object,
    /// Each file: all meshes are in one grid
    File,
}

/// What `--strict` refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Strict {
    /// Doubtful solids
    Doubtful,
    /// Doubtful solids, and all solids of meshes with holes
    Closed,
    /// Any mesh with a warning, a surface too
    Warnings,
}

/// The main job.
#[derive(Debug, Args)]
pub struct VoxelizeArgs {
    /// Meshes to voxelize, such as .obj or .glb (see `voxelize formats`), or folders of them.
    ///
    /// A folder stands for the meshes in it. @LIST is a text file with one path per line; @- reads
    /// such a list from standard input. - reads one mesh from standard input (with --input-format).
    #[arg(value_name = "MESH", required = true)]
    pub meshes: Vec<PathBuf>,

    #[command(flatten)]
    pub input: Input,

    /// File to write; its extension sets the format [default: write nothing].
    ///
    /// Standard output is -. For several meshes: the folder in which each gets a file of its name;
    /// end the name of a new folder with / if it has an extension.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Format to write, as an extension that `voxelize formats` lists, such as vox or npy [default:
    /// the extension of the output; in a folder vox, with --distance vdb].
    #[arg(long, value_name = "FORMAT", requires = "output")]
    #[arg(value_parser = GridFormat::of_extension)]
    pub format: Option<GridFormat>,

    /// Voxels along the longest axis of the mesh, or of --bounds, without --pad [default: 256].
    ///
    /// 1 to 65536, with --tile to 1048576. One of --res, --height, --width, --length and
    /// --voxel-size sets the size of a voxel.
    #[arg(short, long, alias = "resolution", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_res, help_heading = "Size and place")]
    pub res: Option<u32>,

    /// Voxels along the up axis: y, or z with --up z.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_res)]
    #[arg(conflicts_with_all = ["cube", "dims"], help_heading = "Size and place")]
    pub height: Option<u32>,

    /// Voxels along x.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_res)]
    #[arg(conflicts_with_all = ["cube", "dims"], help_heading = "Size and place")]
    pub width: Option<u32>,

    /// Voxels along z, or along y with --up z.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_res)]
    #[arg(conflicts_with_all = ["cube", "dims"], help_heading = "Size and place")]
    pub length: Option<u32>,

    /// Edge length of a voxel, in mesh units.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_number)]
    #[arg(help_heading = "Size and place")]
    pub voxel_size: Option<f64>,

    /// Make a grid of N x N x N voxels, with the mesh centred and not distorted. Its longest axis
    /// spans all N voxels, unless --res or --voxel-size sets its size; a larger mesh is cut, with a
    /// warning. Not with --bounds, --pad, --height, --width or --length.
    #[arg(long, value_name = "N", conflicts_with_all = ["dims", "bounds", "pad"])]
    #[arg(value_parser = parse_cube, allow_negative_numbers = true)]
    #[arg(help_heading = "Size and place")]
    pub cube: Option<[u32; 3]>,

    /// Make a grid of X x Y x Z voxels, with the mesh centred and not distorted, as --cube does.
    #[arg(long, value_name = "X,Y,Z", conflicts_with_all = ["bounds", "pad"])]
    #[arg(value_parser = parse_dims, allow_hyphen_values = true, help_heading = "Size and place")]
    pub dims: Option<[u32; 3]>,

    /// Box to voxelize, in mesh units [default: the mesh's bounding box].
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = parse_bounds)]
    #[arg(allow_hyphen_values = true, help_heading = "Size and place")]
    pub bounds: Option<Bounds>,

    /// Layers of voxels to add on all six sides. The mesh's outermost points also occupy voxels of
    /// the innermost added layer.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    #[arg(value_parser = parse_count, help_heading = "Size and place")]
    pub pad: u32,

    /// Compute signed distances instead of occupancy, in a narrow band: for each voxel whose centre
    /// is nearer than W voxels to the surface; negative inside, as --fill finds it. W is at most
    /// 1024. Without --bounds, --cube, --dims or --lattice the grid is padded by W, rounded up, or
    /// by --pad if that is more. Formats: .vdb and .nvdb (level sets), .vti, all in mesh units;
    /// .npz and .npy, in voxels. Not with --mode, --include-surface, --tile, --attributes,
    /// --preview or --show.
    #[arg(long, value_name = "W", value_parser = parse_width, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["preview", "mode", "include_surface", "tile"])]
    #[arg(help_heading = "Voxels", display_order = 1000)]
    pub distance: Option<f32>,

    /// With --mode solid or --distance: if the fill is doubtful, write nothing and exit with 1. It
    /// is doubtful if holes are so large that more than 30 % of the solid is uncertain, for
    /// example; smaller ones are capped, and the summary says so. --strict=closed refuses any hole,
    /// --strict=warnings any mesh with a warning, also a surface.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, ignore_case = true)]
    #[arg(default_missing_value = "doubtful", help_heading = "Voxels", display_order = 1000)]
    pub strict: Option<Strict>,

    /// With --strict: write a doubtful solid, but still exit with 1.
    #[arg(long, help_heading = "Voxels", display_order = 1001)]
    pub force: bool,

    /// The mesh's up axis.
    ///
    /// Voxels in .vox, .glb, .schem and .litematic are turned to the format's up axis; other files
    /// keep the mesh's axes. --rotate x:90 turns a mesh with y up into one with z up.
    #[arg(long, value_name = "AXIS", default_value = "y", ignore_case = true)]
    #[arg(allow_hyphen_values = true, value_parser = names::up(), help_heading = "Size and place")]
    pub up: Up,

    /// Colours of the voxels: auto (those of the mesh), none, or one such as red.
    ///
    /// In formats that hold colours: auto takes those of the mesh, none ignores them, and a CSS
    /// colour such as #C08040, #fff or red is used for all voxels.
    #[arg(long, alias = "colour", value_name = "COLOR", default_value = "auto")]
    #[arg(value_parser = parse_color, help_heading = "Colours")]
    pub color: ColorSource,

    /// What to store for each voxel besides its colour, in .npz, .vti, .vdb, .nvdb and .ply with
    /// --points; metallic, roughness, emission and label in .vox too. Means over the surface in the
    /// voxel: normal, metallic, roughness, emission, alpha (opacity). Of the triangle with the
    /// largest area in it: triangle (its index), material, label (its object), uv. The surface's
    /// area, in faces of a voxel. Of a solid: coverage, the fraction of the voxel that is inside;
    /// label is the object around its centre. Not with --distance.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names::attribute())]
    #[arg(ignore_case = true, conflicts_with = "distance")]
    #[arg(help_heading = "Voxels", display_order = 1002)]
    pub attributes: Vec<Attribute>,

    /// Label the voxels by object or file, as --attributes label does: in .vox, parts with names.
    ///
    /// With file, all meshes are voxelized into one grid on one lattice, and each is an object with
    /// the name of its file. Where solids overlap, a voxel has the label of the later mesh. With
    /// --distance, file gives the distances of all meshes together.
    #[arg(long, value_name = "WHAT", value_enum, ignore_case = true)]
    #[arg(help_heading = "Voxels", display_order = 1003)]
    pub label: Option<LabelBy>,

    /// Also draw a picture of the voxels to a .png file.
    ///
    /// As `voxelize render --size 512 --samples 2` does. Not with --resume or --distance.
    #[arg(long, value_name = "PNG", conflicts_with = "resume")]
    pub preview: Option<PathBuf>,

    /// Also draw the voxels on standard error, if that is a terminal with colours.
    #[arg(long, conflicts_with_all = ["quiet", "distance", "resume"])]
    pub show: bool,

    /// Compute on both the CPU and the GPU; if a voxel or a distance differs, write nothing and
    /// exit with 1. Without a GPU it is an error.
    #[arg(long = "compare-backends", visible_alias = "check", help_heading = "Computing")]
    pub check: bool,

    /// With a folder: also take the meshes in the folders below it. With a pattern in quotes, such
    /// as 'set/**/*.obj': keep the folders below its fixed part.
    ///
    /// -o gets the same folders. Links to folders are not followed.
    #[arg(long, help_heading = "Many meshes")]
    pub recursive: bool,

    /// Process only part I of N of the meshes, counted from 1: every Nth mesh, from the Ith on. All
    /// N runs must find the same meshes.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, help_heading = "Many meshes")]
    pub shard: Option<Shard>,

    /// Make only tile I of N of the grid, such as 3/8, or of X by Y by Z tiles, such as 3/2x2x2;
    /// counted from 1, x fastest. Tiles are whole bricks of 8 voxels. `voxelize join` puts them
    /// together.
    #[arg(long, value_name = "I/N", help_heading = "Size and place")]
    pub tile: Option<Tile>,

    /// Place the mesh on the lattice of another run: a file with what its --json printed. The
    /// lattice has a size, bounds and padding, so the options for these are left out.
    #[arg(long, value_name = "JSON")]
    #[arg(conflicts_with_all = ["resolution", "bounds", "pad", "cube", "dims"])]
    #[arg(help_heading = "Size and place")]
    pub lattice: Option<PathBuf>,

    /// Skip meshes whose output exists, if a run with --resume made it with the same options from
    /// files of the same content: give it in the first run too. The records for this are kept in a
    /// folder .voxelize beside the output. Not with --preview, --show or --compare-backends.
    #[arg(long, requires = "output", conflicts_with = "check", help_heading = "Many meshes")]
    pub resume: bool,

    /// Maximum time for each mesh [default: no limit]. A mesh that takes longer fails; the others
    /// go on. Four steps are not interrupted: waiting for a disk or a pipe, parsing the file, with
    /// the material files, images and buffers that it names, preparing the output, and the check of
    /// --resume.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    #[arg(allow_negative_numbers = true, help_heading = "Many meshes")]
    pub time_limit: Option<Duration>,

    /// Print one JSON object to standard output.
    ///
    /// For several meshes one line for each.
    #[arg(long)]
    pub json: bool,

    /// Print errors only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more: the hash, bricks, blocks of a schematic, why the backend was chosen.
    ///
    /// Also the lattice; for several meshes all lines of each.
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,

    #[command(flatten)]
    pub transform: TransformArgs,

    #[command(flatten)]
    pub voxels: VoxelArgs,

    #[command(flatten)]
    pub palette: PaletteArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}
