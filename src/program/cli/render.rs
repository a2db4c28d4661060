//! Arguments of `render`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use trivox::Up;
use trivox::backend::BackendChoice;
use trivox::view::render::{Background, MAX_SAMPLES, Projection, View};

use crate::cli::parse::{parse_background, parse_in, parse_light, parse_number, parse_pixels};
use crate::cli::{Input, ReportArgs, SourceArgs, first_or_hidden, names};

const CAMERA: &str = "Camera and light";
const PICTURE: &str = "Picture";
const COMPUTING: &str = "Computing";

/// The options that `-h` lists.
const FIRST: &str = "\
    file picture output turntable view azimuth elevation size background up res quiet";

#[derive(Debug, Args)]
#[command(mut_args(|arg| first_or_hidden(arg, FIRST)))]
pub struct RenderArgs {
    /// A voxel grid or a mesh, in a format that is read (see `voxelize formats`); - is standard
    /// input.
    #[arg(value_name = "GRID|MESH")]
    pub file: PathBuf,

    /// The same as --output.
    #[arg(value_name = "OUT", conflicts_with = "output")]
    pub picture: Option<PathBuf>,

    #[command(flatten)]
    pub input: Input,

    /// File to write, a .png, or - for standard output [default: NAME.voxels.png].
    ///
    /// With --turntable it is an animation: a .png (APNG) or a .gif.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Draw N frames of one orbit of the camera around the up axis, from the view to the right, all
    /// at one scale.
    #[arg(long, value_name = "N", value_parser = parse_in::<u32, 1, 9999>)]
    pub turntable: Option<u32>,

    /// Frames per second of an animation, 1 to 1000; of a .gif 1 to 50 [default: one orbit in four
    /// seconds, at most 50].
    #[arg(long, value_name = "N", requires = "turntable", value_parser = parse_in::<u16, 1, 1000>)]
    #[arg(help_heading = PICTURE)]
    pub fps: Option<u16>,

    /// From where the voxels are seen.
    #[arg(long, value_name = "VIEW", default_value = "three-quarter", ignore_case = true)]
    #[arg(value_parser = names::view(), help_heading = CAMERA)]
    pub view: View,

    /// Direction to the camera: degrees about the up axis, from the front (0) to the right (90)
    /// [default: that of the view].
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = parse_number)]
    #[arg(help_heading = CAMERA)]
    pub azimuth: Option<f64>,

    /// Direction to the camera: degrees above the horizon, -90 to 90 [default: that of the view].
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = parse_number)]
    #[arg(help_heading = CAMERA)]
    pub elevation: Option<f64>,

    /// Draw the voxels F times larger, about the middle of the picture, 0.01 to 100; at 1 all of
    /// them fit.
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_negative_numbers = true)]
    #[arg(value_parser = parse_number, help_heading = CAMERA)]
    pub zoom: f64,

    /// Direction to the sun, in degrees as --azimuth and --elevation; the elevation is 0 to 90. The
    /// sun does not move with the view [default: to the left of the camera and above it].
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = parse_light)]
    #[arg(allow_hyphen_values = true, help_heading = CAMERA)]
    pub light: Option<[f64; 2]>,

    /// Draw no edges of voxels.
    #[arg(long, help_heading = PICTURE)]
    pub no_edges: bool,

    /// How the picture is projected [default: perspective in view three-quarter, else
    /// orthographic].
    #[arg(long, value_name = "CAMERA", ignore_case = true, value_parser = names::camera())]
    #[arg(help_heading = CAMERA)]
    pub camera: Option<Projection>,

    /// Width and height in pixels, or one number for both; at most 16384 [default: 1024x1024].
    #[arg(long, value_name = "WxH", value_parser = parse_pixels)]
    #[arg(help_heading = PICTURE)]
    pub size: Option<[u32; 2]>,

    /// What is behind the voxels: gradient, transparent or a colour such as #C08040.
    #[arg(long, value_name = "BACKGROUND", default_value = "gradient")]
    #[arg(value_parser = parse_background, help_heading = PICTURE)]
    pub background: Background,

    /// Supersampling: N x N rays for each pixel, N from 1 to 16.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = parse_in::<u32, 1, MAX_SAMPLES>, help_heading = PICTURE)]
    pub samples: u32,

    /// The axis that points up [default: what the grid's file says, else y].
    #[arg(long, value_name = "AXIS", ignore_case = true, allow_hyphen_values = true)]
    #[arg(value_parser = names::up(), help_heading = CAMERA)]
    pub up: Option<Up>,

    /// Where to draw. All backends draw the same picture, to the bit [default: cpu, or the GPU that
    /// --adapter names].
    #[arg(long, value_name = "BACKEND", ignore_case = true, value_parser = names::render_backend())]
    #[arg(help_heading = COMPUTING)]
    pub backend: Option<BackendChoice>,

    /// GPU adapter to draw with: any part of a name that `voxelize adapters` shows.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    #[arg(help_heading = COMPUTING)]
    pub adapter: Option<String>,

    /// CPU threads, at most 1024 [default: one per core].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_in::<u16, 1, 1024>, help_heading = COMPUTING)]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub source: SourceArgs,
}

impl RenderArgs {
    /// The file to write; by default not NAME.png, which may be a texture of the mesh.
    pub fn target(&self) -> PathBuf {
        let named = self.output.clone().or_else(|| self.picture.clone());
        named.unwrap_or_else(|| {
            let mut name = self.file.file_stem().unwrap_or_default().to_owned();
            name.push(".voxels.png");
            name.into()
        })
    }
}
