//! `voxelize info`: what a voxel grid or a mesh holds.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use trivox::Up;
use trivox::formats::{GridFormat, LoadedGrid, MeshSpec, is_mesh, read_grid, read_mesh};
use trivox::palette::count_colors;

use crate::program::cli::InfoArgs;
use crate::program::numbers::{counted, grouped};
use crate::program::{Verdict, print, print_json};

/// Reads the file and says what it holds.
///
/// # Errors
/// The file cannot be read, or standard output is closed.
pub fn run(args: &InfoArgs) -> Result<Verdict> {
    let named = || args.file.display().to_string();
    if is_mesh(&args.file) {
        let info = MeshInfo::read(&args.file).with_context(named)?;
        if args.json { print_json(&info) } else { print(&info.text()) }?;
    } else {
        let loaded = read_grid(&args.file).with_context(named)?;
        let info = GridInfo::new(loaded, &args.file);
        if args.json { print_json(&info) } else { print(&info.text()) }?;
    }
    Ok(Verdict::Done)
}

#[derive(Debug, Serialize)]
struct GridInfo {
    format: &'static str,
    dims: [u32; 3],
    occupied: u64,
    bricks: u64,
    /// Smallest and largest occupied voxel.
    bounds: Option<[[u32; 3]; 2]>,
    hash: String,
    /// How many different ones the voxels have, if any.
    colors: Option<usize>,
    voxel_size: Option<f64>,
    origin: Option<[f64; 3]>,
    up: Option<&'static str>,
    warnings: Vec<String>,
}

impl GridInfo {
    fn new(loaded: LoadedGrid, path: &Path) -> Self {
        let LoadedGrid { grid, warnings } = loaded;
        Self {
            format: GridFormat::of_path(path).map_or("", GridFormat::extension),
            dims: grid.dims(),
            occupied: grid.occupied(),
            bricks: grid.brick_count(),
            bounds: grid.occupied_bounds(),
            hash: grid.hash().to_string(),
            colors: grid.colors.as_ref().map(|_| count_colors(&grid)),
            voxel_size: grid.world.map(|world| world.voxel_size),
            origin: grid.world.map(|world| world.origin),
            up: grid.world.map(|world| match world.up {
                Up::Y => "y",
                Up::Z => "z",
            }),
            warnings,
        }
    }

    fn text(&self) -> String {
        let [x, y, z] = self.dims;
        let bounds = match self.bounds {
            Some([[x0, y0, z0], [x1, y1, z1]]) => {
                format!(", from ({x0}, {y0}, {z0}) to ({x1}, {y1}, {z1})")
            }
            None => String::new(),
        };
        let world = match (self.voxel_size, self.origin, self.up) {
            (Some(size), Some([x, y, z]), Some(up)) => {
                format!("voxels of {size} from ({x}, {y}, {z}), {up} up")
            }
            _ => "not in the file".to_owned(),
        };
        let (occupied, bricks) = (counted(self.occupied, "voxel"), counted(self.bricks, "brick"));
        let mut lines = vec![
            format!("format    {}", self.format),
            format!("grid      {x} x {y} x {z} voxels"),
            format!("occupied  {occupied} in {bricks}{bounds}"),
            format!("hash      {}", self.hash),
            format!("colours   {}", self.colors.map_or("none".into(), |n| grouped(n as u64))),
            format!("world     {world}"),
        ];
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.join("\n")
    }
}

#[derive(Debug, Serialize)]
struct MeshInfo {
    format: &'static str,
    vertices: usize,
    triangles: usize,
    /// Minimum and maximum corner, in mesh units.
    bounds: [[f64; 3]; 2],
    warnings: Vec<String>,
}

impl MeshInfo {
    fn read(path: &Path) -> Result<Self> {
        let loaded = read_mesh(path)?;
        Ok(Self {
            format: MeshSpec::of_path(path)?.extension,
            vertices: loaded.mesh.positions().len(),
            triangles: loaded.mesh.triangles().len(),
            bounds: loaded.mesh.bounds(),
            warnings: loaded.warnings,
        })
    }

    fn text(&self) -> String {
        let [[x0, y0, z0], [x1, y1, z1]] = self.bounds;
        let triangles = counted(self.triangles as u64, "triangle");
        let mut lines = vec![
            format!("format    {}", self.format),
            format!("mesh      {triangles}, {} vertices", grouped(self.vertices as u64)),
            format!("bounds    from ({x0}, {y0}, {z0}) to ({x1}, {y1}, {z1})"),
        ];
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.join("\n")
    }
}
