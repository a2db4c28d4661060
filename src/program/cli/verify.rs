//! Arguments of `verify`.

use std::path::PathBuf;

use clap::Args;
use trivox::Bounds;

use crate::cli::parse::{
    parse_bounds, parse_count, parse_cube, parse_dims, parse_number, parse_res,
};
use crate::cli::{ComputeArgs, Input, ReportArgs, TransformArgs, VoxelArgs, first_or_hidden};

/// The options that `-h` lists.
const FIRST: &str = "mesh grid res voxel_size bounds pad cube mode fill scale json quiet";

#[derive(Debug, Args)]
#[command(mut_args(|arg| first_or_hidden(arg, FIRST)))]
// Hidden, and refused with the reason: `verify` does not compare colours.
#[command(mut_arg("interior_color", |argument| argument.hide(true)))]
pub struct VerifyArgs {
    /// The mesh that the grid was made from, such as .obj (see `voxelize formats`).
    #[arg(value_name = "MESH")]
    pub mesh: PathBuf,

    /// The voxel grid to check, in a format that is read (see `voxelize formats`).
    #[arg(value_name = "GRID")]
    pub grid: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// Voxels along the longest axis of the mesh or the bounds [default with --bounds or --pad:
    /// those of the grid, without the padding].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_res)]
    pub res: Option<u32>,

    /// Edge length of a voxel, in mesh units.
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "res")]
    #[arg(value_parser = parse_number)]
    pub voxel_size: Option<f64>,

    /// Box that was voxelized, in mesh units [default: the mesh's bounding box].
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = parse_bounds)]
    #[arg(allow_hyphen_values = true)]
    pub bounds: Option<Bounds>,

    /// Layers of voxels that were added on all six sides.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub pad: Option<u32>,

    /// The grid was made with this --cube: the mesh is in its centre.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_cube)]
    #[arg(conflicts_with_all = ["dims", "bounds", "pad"])]
    pub cube: Option<[u32; 3]>,

    /// The grid was made with these --dims: the mesh is in its centre.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_dims)]
    #[arg(conflicts_with_all = ["bounds", "pad"])]
    pub dims: Option<[u32; 3]>,

    #[command(flatten)]
    pub transform: TransformArgs,

    #[command(flatten)]
    pub voxels: VoxelArgs,

    /// Check the grid as it is placed: try no permutation, mirroring or shift.
    #[arg(long)]
    pub as_placed: bool,

    #[command(flatten)]
    pub compute: ComputeArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}
