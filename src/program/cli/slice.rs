//! Arguments of `slice`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::cli::parse::{parse_count, parse_in};
use crate::cli::{Input, ReadArgs};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").args(["x", "y", "z"])))]
pub struct SliceArgs {
    /// A voxel grid, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "GRID")]
    pub grid: PathBuf,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub read: ReadArgs,

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
    #[arg(long, conflicts_with_all = ["output", "json"])]
    pub ascii: bool,

    /// Draw it instead, to a .png or to standard output (-).
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Pixels along the side of a voxel, 1 to 256; from 8 on there are lines between them [default:
    /// what makes a picture of about 1024 pixels, at most 32].
    #[arg(long, value_name = "N", requires = "output")]
    #[arg(value_parser = parse_in::<u32, 1, 256>)]
    pub scale: Option<u32>,

    /// Print one JSON object to standard output, with counts and not the voxels.
    #[arg(long)]
    pub json: bool,

    /// Print only errors and what is asked for.
    #[arg(short, long)]
    pub quiet: bool,
}
