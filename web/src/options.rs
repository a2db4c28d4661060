//! The options of callers, as JSON with the names of the program's options in camel case.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trivox::backend::BackendChoice;
use trivox::base::srgb::Rgba;
use trivox::formats::WriteOptions;
use trivox::grid::Attribute;
use trivox::lattice::transform::{CenteredGrid, Rotation};
use trivox::solid::{Fill, Solid};
use trivox::view::render::{Background, RenderOptions};
use trivox::{ColorSource, Mode, Sizing, Transform, Voxelizer};

use crate::Failure;
use crate::progress::Reporter;

/// Bytes that a step may take: WebAssembly has 4 GiB, of which the mesh and what browsers refuse to
/// give are not for it.
pub const MEMORY: u64 = 3 << 30;

/// What to compute. Options that are left out have the program's defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    res: Option<u32>,
    voxel_size: Option<f64>,
    bounds: Option<[[f64; 3]; 2]>,
    pad: Option<u32>,
    cube: Option<u32>,
    dims: Option<[u32; 3]>,
    scale: Option<f64>,
    rotate: Vec<String>,
    center: bool,
    mode: Option<String>,
    fill: Option<String>,
    include_surface: bool,
    keep_transparent: bool,
    color: Option<String>,
    interior_color: Option<String>,
    filter: Option<String>,
    blend: Option<String>,
    attributes: Vec<String>,
    up: Option<String>,
    backend: Option<String>,
}

/// Options from JSON.
pub fn parse<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    let not_json = |error: serde_json::Error| Failure::option(format!("options: {error}"));
    // From a value, so that errors name no line of the JSON.
    let value: Value = serde_json::from_str(json).map_err(not_json)?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let name = if path == "." { "options" } else { &path };
        Failure::option(format!("{name}: {}", error.inner()))
    })
}

/// A voxelizer with the options in `json`.
pub fn voxelizer(json: &str) -> Result<Voxelizer, Failure> {
    parse::<Options>(json)?.voxelizer()
}

/// A voxelizer of distances with the options in `json`; their width, in voxels, is beside them.
pub fn measurer(json: &str) -> Result<Voxelizer, Failure> {
    let options = parse::<Options>(json)?;
    options.refuse_those_of_voxels()?;
    let (mode, color) = (Some("solid".to_owned()), Some("none".to_owned()));
    // A browser's GPU cannot be waited for.
    let backend = Some("cpu".to_owned());
    Options { mode, color, backend, ..options }.voxelizer()
}

impl Options {
    fn voxelizer(&self) -> Result<Voxelizer, Failure> {
        let (mode, color) = (self.mode()?, self.color()?);
        if self.keep_transparent && matches!(mode, Mode::Solid(_)) {
            return Err(Failure::option(
                "keepTransparent is of surfaces: a solid keeps all its voxels",
            ));
        }
        let voxelizer = Voxelizer::new()
            .sizing(self.sizing()?)
            .pad(self.pad.unwrap_or(0))
            .transform(self.transform()?)
            .mode(mode)
            .up(named(&self.up)?)
            .color(color)
            .attributes(self.attributes()?)
            .keep_transparent(self.keep_transparent)
            .filter(named(&self.filter)?)
            .blend(named(&self.blend)?)
            .memory(MEMORY)
            .backend(self.backend.as_deref().map_or(Ok(BackendChoice::Auto), str::parse)?)
            .progress(Arc::new(Reporter));
        let voxelizer = self.bounds.into_iter().fold(voxelizer, Voxelizer::bounds);
        match (&self.interior_color, mode) {
            (None, _) => Ok(voxelizer),
            (Some(text), Mode::Solid(_)) => {
                let color = hex_color(text).ok_or_else(|| {
                    refused("interiorColor", text, "use a colour such as '#C08040'")
                })?;
                Ok(voxelizer.interior_color(color))
            }
            _ => Err(Failure::option(
                "interiorColor is of solids: give mode: 'solid', or leave it out",
            )),
        }
    }

    fn refuse_those_of_voxels(&self) -> Result<(), Failure> {
        let of_voxels = [
            ("mode", self.mode.is_some()),
            ("includeSurface", self.include_surface),
            ("keepTransparent", self.keep_transparent),
            ("color", self.color.is_some()),
            ("interiorColor", self.interior_color.is_some()),
            ("filter", self.filter.is_some()),
            ("blend", self.blend.is_some()),
            ("attributes", !self.attributes.is_empty()),
            ("backend", self.backend.is_some()),
        ];
        match of_voxels.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Failure::option(format!(
                "{name} is of voxels, and distances have none; the CPU computes them: leave it out"
            ))),
            None => Ok(()),
        }
    }

    fn attributes(&self) -> Result<Vec<Attribute>, Failure> {
        self.attributes.iter().map(|name| Ok(name.parse()?)).collect()
    }

    fn sizing(&self) -> Result<Sizing, Failure> {
        match (self.res, self.voxel_size) {
            (Some(_), Some(_)) => Err(Failure::option("give res or voxelSize, not both")),
            (None, Some(size)) => Ok(Sizing::VoxelSize(size)),
            (res, None) => Ok(Sizing::Resolution(res.unwrap_or(Sizing::DEFAULT_RESOLUTION))),
        }
    }

    fn transform(&self) -> Result<Transform, Failure> {
        let dims = match (self.cube, self.dims) {
            (Some(_), Some(_)) => return Err(Failure::option("give cube or dims, not both")),
            (cube, dims) => dims.or(cube.map(|n| [n; 3])),
        };
        if dims.is_some() && (self.bounds.is_some() || self.pad.is_some()) {
            return Err(Failure::option(
                "cube and dims place the grid around the mesh: leave bounds and pad out",
            ));
        }
        let rotation = |text: &String| {
            text.parse::<Rotation>().map_err(|error| refused("rotate", text, error))
        };
        let rotations = self.rotate.iter().map(rotation).collect::<Result<_, Failure>>()?;
        let fills = self.res.is_none() && self.voxel_size.is_none();
        let grid = dims.map(|dims| CenteredGrid { dims, fills });
        Ok(Transform { scale: self.scale, rotations, center: self.center, grid })
    }

    fn mode(&self) -> Result<Mode, Failure> {
        let fill: Option<Fill> = self.fill.as_deref().map(str::parse).transpose()?;
        match named(&self.mode)? {
            Mode::Solid(_) => {
                let (fill, include_surface) = (fill.unwrap_or_default(), self.include_surface);
                Ok(Mode::Solid(Solid { fill, include_surface }))
            }
            _ if fill.is_some() || self.include_surface => Err(Failure::option(
                "fill and includeSurface are of solids: give mode: 'solid', or leave them out",
            )),
            mode => Ok(mode),
        }
    }

    fn color(&self) -> Result<ColorSource, Failure> {
        match self.color.as_deref() {
            None | Some("auto") => Ok(ColorSource::Mesh),
            Some("none") => Ok(ColorSource::None),
            Some(text) => hex_color(text).map(ColorSource::Uniform).ok_or_else(|| {
                refused("color", text, "use 'auto', 'none' or a colour such as '#C08040'")
            }),
        }
    }
}

/// The value of this name; the default one where none is given.
fn named<T: Default + FromStr>(name: &Option<String>) -> Result<T, T::Err> {
    name.as_deref().map_or_else(|| Ok(T::default()), str::parse)
}

fn refused(option: &str, text: &str, why: impl Display) -> Failure {
    Failure::option(format!("{option} '{text}' is not possible: {why}"))
}

/// The colour of six hexadecimal digits after `#`.
fn hex_color(text: &str) -> Option<Rgba> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let [_, r, g, b] = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?.to_be_bytes();
    Some([r, g, b, u8::MAX])
}

/// Refuses all options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// How a file is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FileOptions {
    dither: bool,
    points: bool,
}

impl FileOptions {
    pub fn write_options(&self) -> WriteOptions {
        WriteOptions { dither: self.dither, points: self.points, ..WriteOptions::default() }
    }
}

/// How a picture is drawn: the options of `voxelize render`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PictureOptions {
    size: Option<[u32; 2]>,
    view: Option<String>,
    azimuth: Option<f64>,
    elevation: Option<f64>,
    zoom: Option<f64>,
    samples: Option<u32>,
    transparent: bool,
}

impl PictureOptions {
    pub fn render_options(&self) -> Result<RenderOptions, Failure> {
        let mut options = RenderOptions::new(self.size.unwrap_or([1024; 2]));
        options.view = named(&self.view)?;
        options.azimuth = self.azimuth;
        options.elevation = self.elevation;
        options.zoom = self.zoom.unwrap_or(options.zoom);
        options.samples = self.samples.unwrap_or(options.samples);
        if self.transparent {
            options.background = Background::Transparent;
        }
        Ok(options)
    }
}
