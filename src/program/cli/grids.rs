//! Arguments of `info`, `convert`, `join`, `diff` and `slice`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use trivox::Up;
use trivox::formats::GridFormat;

use crate::cli::parse::{parse_count, parse_in, parse_tolerance};
use crate::cli::{
    Input, PaletteArgs, ReadArgs, ReportArgs, SceneArgs, SourceArgs, first_or_hidden, names,
};

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// A voxel grid or a mesh, in a format that is read (see `voxelize formats`); - is standard
    /// input.
    pub file: PathBuf,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub scene: SceneArgs,

    /// Of a mesh, read only files beside it and below.
    #[arg(long)]
    pub confine: bool,

    /// Print one JSON object to standard output.
    #[arg(long)]
    pub json: bool,
}

/// How a grid is written.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Format to write, such as vox or npy [default: the extension of the output].
    #[arg(long, value_name = "FORMAT", value_parser = GridFormat::of_extension)]
    pub format: Option<GridFormat>,

    #[command(flatten)]
    pub palette: PaletteArgs,
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

    /// The grid's up axis, in place of the one that its file has.
    #[arg(long, value_name = "AXIS", ignore_case = true, value_parser = names::up())]
    pub up: Option<Up>,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub scene: SceneArgs,

    #[command(flatten)]
    pub write: WriteArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

#[derive(Debug, Args)]
pub struct JoinArgs {
    /// The tiles: voxel grids in formats that are read and hold a position, such as .npz.
    #[arg(value_name = "TILE", required = true)]
    pub grids: Vec<PathBuf>,

    /// File to write; its extension sets the format. - is standard output.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub write: WriteArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A voxel grid, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "A")]
    pub a: PathBuf,

    /// The grid to compare it with.
    #[arg(value_name = "B")]
    pub b: PathBuf,

    /// The same as --preview.
    #[arg(value_name = "PNG", conflicts_with = "preview")]
    pub picture: Option<PathBuf>,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub read: ReadArgs,

    /// Exit with 1 also if only colours, attributes, positions or distances differ.
    #[arg(long)]
    pub exact: bool,

    /// Compare only the distances of two level sets: exit with 1 if a difference is above this
    /// tolerance, in voxels.
    ///
    /// The grids are aligned by their positions, if both files have one, else by indices. Distances
    /// are compared within the narrower band, and signs beyond it.
    #[arg(long, value_name = "VOXELS", value_parser = parse_tolerance, conflicts_with = "exact")]
    #[arg(allow_negative_numbers = true)]
    pub tolerance: Option<f64>,

    /// Draw a picture of both, a .png: voxels in both grey, only in A orange, only in B blue. Those
    /// that differ show through the grey ones.
    #[arg(short = 'o', long, alias = "output", value_name = "PNG")]
    pub preview: Option<PathBuf>,

    #[command(flatten)]
    pub report: ReportArgs,
}

/// The options of `slice` that `-h` lists.
const FIRST_OF_SLICE: &str = "file picture x y z ascii output pixels json quiet res mode";

#[derive(Debug, Args)]
#[command(mut_args(|arg| first_or_hidden(arg, FIRST_OF_SLICE)))]
#[command(group(ArgGroup::new("place").args(["x", "y", "z"])))]
#[command(group(ArgGroup::new("drawing").args(["picture", "output"])))]
pub struct SliceArgs {
    /// A voxel grid or a mesh, in a format that is read (see `voxelize formats`); - is standard
    /// input.
    #[arg(value_name = "GRID|MESH")]
    pub file: PathBuf,

    /// The same as --output.
    #[arg(value_name = "OUT")]
    pub picture: Option<PathBuf>,

    #[command(flatten)]
    pub input: Input,

    /// The layer of voxels with this coordinate along x, counted from 0.
    #[arg(short, long, allow_negative_numbers = true, value_parser = parse_count)]
    pub x: Option<u32>,

    /// The same along y.
    #[arg(short, long, allow_negative_numbers = true, value_parser = parse_count)]
    pub y: Option<u32>,

    /// The same along z [default: the middle layer].
    #[arg(short, long, allow_negative_numbers = true, value_parser = parse_count)]
    pub z: Option<u32>,

    /// Print # for a voxel and . for none, one character each.
    #[arg(long, conflicts_with_all = ["drawing", "json", "pixels"])]
    pub ascii: bool,

    /// Draw the layer instead, to a .png file or to standard output (-).
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Pixels along the side of a voxel, 1 to 256; from 8 on there are lines between voxels
    /// [default: at most 32, for a longest side of about 1024 pixels].
    #[arg(long, value_name = "N", requires = "drawing", value_parser = parse_in::<u32, 1, 256>)]
    pub pixels: Option<u32>,

    /// Print one JSON object to standard output, with counts and not the voxels.
    #[arg(long)]
    pub json: bool,

    /// Print only errors and what is asked for.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub source: SourceArgs,
}
