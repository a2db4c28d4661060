//! `voxelize info`: describes a voxel grid or a mesh.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use trivox::backend::{Rule, RunOptions};
use trivox::engine::BandSummary;
use trivox::formats::{GridFormat, LoadedGrid, MeshSpec, ReadOptions, is_mesh, read_mesh_with};
use trivox::grid::{Attributes, ContentHash};
use trivox::surface::palette::count_colors;
use trivox::{
    Backend, Cpu, DistanceField, Mesh, NoProgress, PlaceOptions, Sizing, Topology, VoxelGrid,
    VoxelizeError, place,
};

use crate::cli::InfoArgs;
use crate::console::print_as;
use crate::grids::block_lines;
use crate::memory::Memory;
use crate::progress::TerminalProgress;
use crate::text::{
    counted, escaped, grouped, listed, range, rounded, short, shown, significant, sized,
    triangles_text,
};
use crate::voxels::{check_input, refuse_given};

pub fn run(args: &InfoArgs) -> Result<()> {
    check_input(&args.file)?;
    args.scene.refuse_for_others(&args.file)?;
    if is_mesh(&args.file) {
        let info = MeshInfo::read(args).with_context(|| shown(&args.file))?;
        print_as(args.json, &info, || info.text())?;
    } else {
        refuse_given(&args.file, "mesh", &[("--confine", args.confine)])?;
        let loaded = TerminalProgress::default().load(&args.file, args.read.memory, args.scene)?;
        let info = GridInfo::new(loaded, &args.file);
        print_as(args.json, &info, || info.text())?;
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct GridInfo {
    format: &'static str,
    dims: [u32; 3],
    occupied: u64,
    bricks: u64,
    /// Smallest and largest occupied voxel.
    bounds: Option<[[u32; 3]; 2]>,
    /// The band of a level set; the voxels are then the solid inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<BandSummary>,
    /// The hash of the distances or, if there are none, of the voxels.
    hash: ContentHash,
    /// The number of distinct colours, if there are any.
    colors: Option<usize>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<&'static str, AttributeInfo>,
    /// The blocks of a schematic and their numbers, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<(String, u64)>,
    voxel_size: Option<f64>,
    origin: Option<[f64; 3]>,
    up: &'static str,
    warnings: Vec<String>,
}

impl GridInfo {
    fn new(loaded: LoadedGrid, path: &Path) -> Self {
        let LoadedGrid { grid, warnings, blocks, distances, .. } = loaded;
        let hash = distances.as_ref().map_or_else(|| grid.hash(), DistanceField::hash);
        Self {
            format: GridFormat::of_path(path).map_or("", GridFormat::extension),
            dims: grid.dims(),
            occupied: grid.occupied(),
            bricks: grid.brick_count(),
            bounds: grid.occupied_bounds(),
            distances: distances.as_ref().map(BandSummary::of),
            hash,
            colors: grid.colors.as_ref().map(|_| count_colors(&grid)),
            attributes: grid.attributes.iter().flat_map(|all| attributes(&grid, all)).collect(),
            blocks,
            voxel_size: grid.world.place.map(|place| place.voxel_size),
            origin: grid.world.place.map(|place| place.origin),
            up: grid.world.up.name(),
            warnings,
        }
    }

    fn text(&self) -> String {
        let bounds = self.bounds.as_ref().map(|bounds| format!(", {}", range(bounds)));
        let bounds = bounds.unwrap_or_default();
        let place = match (self.voxel_size, self.origin) {
            (Some(size), Some(origin)) => {
                let corner = origin.map(|c| rounded(c, size)).join(", ");
                format!("voxels of {} from ({corner})", significant(size))
            }
            _ => "no place in the file".to_owned(),
        };
        let up = self.up;
        let (occupied, bricks) = (counted(self.occupied, "voxel"), counted(self.bricks, "brick"));
        let mut lines = vec![
            format!("format    {}", self.format),
            format!("grid      {}", sized(self.dims)),
            format!("occupied  {occupied} in {bricks}{bounds}"),
            format!("hash      {}", self.hash),
            format!("colours   {}", self.colors.map_or("none".into(), |n| grouped(n as u64))),
            format!("world     {place}, {up} up"),
        ];
        if let Some(BandSummary { width, voxels, .. }) = self.distances {
            lines.push(format!("distances {} nearer than {width}", counted(voxels, "voxel")));
        }
        lines.extend(self.attributes.iter().map(|(name, of)| format!("{name:9} {}", of.text())));
        let blocks = block_lines(&self.blocks);
        lines.extend(blocks.map(|(label, text)| format!("{label:<9} {text}")));
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.join("\n")
    }
}

/// An attribute of the occupied voxels.
#[derive(Debug, Serialize)]
struct AttributeInfo {
    /// The smallest number of each component; empty without voxels.
    min: Vec<Value>,
    /// The largest number of each component; empty without voxels.
    max: Vec<Value>,
    /// The names of materials or objects, by index.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

fn attributes<'a>(
    grid: &'a VoxelGrid,
    attributes: &'a Attributes,
) -> impl Iterator<Item = (&'static str, AttributeInfo)> + 'a {
    attributes.channels().iter().map(move |(attribute, channel)| {
        let (mut min, mut max) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for bits in channel.of_voxels(grid) {
            let numbers = attribute.numbers(bits);
            min = std::array::from_fn(|i| numbers[i].min(min[i]));
            max = std::array::from_fn(|i| numbers[i].max(max[i]));
        }
        let number = |&number: &f64| {
            if attribute.is_float() { Value::from(number) } else { Value::from(number as i64) }
        };
        let components = if grid.occupied() == 0 { 0 } else { attribute.components() };
        let [min, max] = [min, max].map(|all| all[..components].iter().map(number).collect());
        let names = attributes.names().get(attribute).cloned();
        (attribute.name(), AttributeInfo { min, max, names })
    })
}

impl AttributeInfo {
    fn text(&self) -> String {
        let number = |number: &Value| match number.as_i64() {
            Some(integer) => integer.to_string(),
            // JSON has no infinity.
            None => number.as_f64().map_or_else(|| "infinite".to_owned(), significant),
        };
        let list = |numbers: &[Value]| {
            let numbers: Vec<String> = numbers.iter().map(number).collect();
            if numbers.len() > 1 { format!("({})", numbers.join(", ")) } else { numbers.concat() }
        };
        let named =
            |name: &String| if name.is_empty() { "(unnamed)".into() } else { escaped(name) };
        let all = self.names.iter().flatten();
        let names: Vec<String> = all.clone().map(named).take(NAMED).collect();
        let names = listed(&names, all.count() as u64);
        let names = if names.is_empty() { names } else { format!(": {names}") };
        let range = if self.min.is_empty() {
            "of no voxel".to_owned()
        } else {
            format!("from {} to {}", list(&self.min), list(&self.max))
        };
        range + &names
    }
}

/// Number of names that are printed.
const NAMED: usize = 16;

/// Resolution at which a mesh is tested for overlapping parts.
const OVERLAP_RESOLUTION: u32 = 256;

#[derive(Debug, Serialize)]
struct MeshInfo {
    format: &'static str,
    vertices: usize,
    triangles: usize,
    /// Minimum and maximum corner, in mesh units.
    bounds: [[f64; 3]; 2],
    /// The size of the bounds, in mesh units.
    extent: [f64; 3],
    materials: usize,
    textures: usize,
    /// The topology; `None` if the mesh has no extent or cannot be placed.
    surface: Option<SurfaceInfo>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SurfaceInfo {
    #[serde(flatten)]
    topology: Topology,
    /// The number of boundary loops; `None` if there are too many boundary edges to follow.
    boundary_loops: Option<usize>,
    /// Edges that are not traversed equally often in both directions.
    boundary_edges: u64,
    collapsed_triangles: u64,
    /// In square mesh units.
    area: f64,
    /// In cubic mesh units, negative if the mesh is inside out; `None` unless it is oriented.
    volume: Option<f64>,
    /// Whether parts are inside out, by columns at 256 voxels; `None` unless it is oriented.
    inside_out: Option<bool>,
    /// Whether parts overlap, likewise; also `None` if parts are inside out.
    overlaps: Option<bool>,
}

/// The area and the enclosed volume of a mesh, not rounded to a lattice.
fn area_and_volume(mesh: &Mesh) -> [f64; 2] {
    let [min, max] = mesh.bounds();
    // Unscaled squares underflow or overflow.
    let extent = [0, 1, 2].map(|a| max[a] - min[a]).into_iter().fold(0.0, f64::max);
    let corner = |&vertex: &u32| {
        let position = mesh.positions()[vertex as usize];
        [0, 1, 2].map(|a| (position[a] - f64::midpoint(min[a], max[a])) / extent)
    };
    let mut sums = [0.0; 2];
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.each_ref().map(corner);
        let (p, q) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
        let normal = [(1, 2), (2, 0), (0, 1)].map(|(i, k)| p[i] * q[k] - p[k] * q[i]);
        sums[0] += normal.iter().map(|c| c * c).sum::<f64>().sqrt() / 2.0;
        sums[1] += (0..3).map(|i| a[i] * normal[i]).sum::<f64>() / 6.0;
    }
    [sums[0] * extent * extent, sums[1] * extent * extent * extent]
}

impl SurfaceInfo {
    fn of(mesh: &Mesh) -> Result<Option<Self>> {
        let [min, max] = mesh.bounds();
        if min == max {
            return Ok(None);
        }
        let options = PlaceOptions::new(Sizing::Resolution(OVERLAP_RESOLUTION));
        let placed = place(mesh, &options).context("its topology is unknown")?;
        let (topology, boundary) = Topology::with_boundary(&placed);
        let [area, volume] = area_and_volume(mesh);
        let windings = if topology.is_oriented() {
            let options = RunOptions::default();
            Backend::Cpu(&Cpu).run(&placed, Rule::Winding, &options, &NoProgress)?.windings
        } else {
            None
        };
        let inside_out = windings.map(|found| found.positive > 0 && found.negative > 0);
        Ok(Some(Self {
            topology,
            // A loop passes an edge of several triangles several times.
            boundary_edges: boundary
                .as_ref()
                .map_or(topology.unbalanced_edges, |boundary| boundary.edges() as u64),
            boundary_loops: boundary.map(|boundary| boundary.loops().len()),
            collapsed_triangles: topology.collapsed,
            area,
            volume: topology.is_oriented().then_some(volume),
            inside_out,
            overlaps: windings
                .filter(|_| inside_out == Some(false))
                .map(|windings| windings.overlapping > 0),
        }))
    }

    fn lines(&self) -> Vec<String> {
        let topology = &self.topology;
        let edges = |number: u64, what: &str| counted(number, &format!("{what} edge"));
        let boundary = edges(self.boundary_edges, "boundary");
        let boundary = match self.boundary_loops {
            _ if self.boundary_edges == 0 => "none".to_owned(),
            Some(loops) => format!("{} of {boundary}", counted(loops as u64, "loop")),
            None => boundary,
        };
        let surface = match (topology.is_closed(), topology.is_oriented(), self.volume) {
            (false, ..) => format!("open: {}", edges(topology.open_edges, "open")),
            (true, false, _) => "closed, not consistently oriented".to_owned(),
            (true, true, Some(volume)) if volume < 0.0 => "closed, inside out".to_owned(),
            (true, true, _) => "closed, consistently oriented".to_owned(),
        };
        let overlaps = match (self.overlaps, self.inside_out) {
            (Some(true), _) => "parts overlap",
            (Some(false), _) => "none found at 256 voxels",
            (None, Some(true)) => "not known: some shells face inwards",
            (None, _) => "not known: the mesh is not closed and oriented",
        };
        let volume = match self.volume {
            Some(volume) if self.inside_out == Some(true) => {
                format!("{} (negative for parts that are inside out)", significant(volume))
            }
            Some(volume) => significant(volume),
            None => "none: the mesh is not closed and oriented".to_owned(),
        };
        vec![
            format!("surface   {surface}, {}", counted(topology.shells, "shell")),
            format!("boundary  {boundary}"),
            format!(
                "edges     {}, {}, {}",
                counted(topology.edges, "edge"),
                edges(topology.non_manifold_edges, "non-manifold"),
                edges(topology.inconsistent_edges, "inconsistent")
            ),
            format!("overlaps  {overlaps}"),
            format!("volume    {volume}"),
            format!("area      {}", significant(self.area)),
        ]
    }
}

impl MeshInfo {
    fn read(args: &InfoArgs) -> Result<Self> {
        let memory = Memory::new(args.read.memory);
        let options =
            ReadOptions { memory: memory.left(), confined: args.confine, ..ReadOptions::default() };
        let loaded = read_mesh_with(&args.file, &options, &NoProgress);
        let loaded = loaded.map_err(|error| memory.explain(VoxelizeError::from(error).into()))?;
        let mesh = &loaded.mesh;
        let [min, max] = mesh.bounds();
        let appearance = mesh.appearance();
        let mut warnings = loaded.warnings;
        let surface = SurfaceInfo::of(mesh).unwrap_or_else(|error| {
            warnings.push(format!("{error:#}"));
            None
        });
        Ok(Self {
            format: MeshSpec::of_path(&args.file)?.extension,
            vertices: mesh.positions().len(),
            triangles: mesh.triangles().len(),
            bounds: [min, max],
            extent: [0, 1, 2].map(|a| max[a] - min[a]),
            materials: appearance.map_or(0, |appearance| appearance.materials.len()),
            textures: appearance.map_or(0, |appearance| appearance.textures.len()),
            surface,
            warnings,
        })
    }

    fn text(&self) -> String {
        let [min, max] = self.bounds;
        let point = |corner: [f64; 3]| corner.map(|c| short(&c)).join(", ");
        let [x, y, z] = self.extent.map(significant);
        let collapsed = self.surface.as_ref().map_or(0, |surface| surface.collapsed_triangles);
        let triangles = triangles_text(self.triangles, collapsed);
        let mut lines = vec![
            format!("format    {}", self.format),
            format!("mesh      {triangles}, {} vertices", grouped(self.vertices as u64)),
            format!("bounds    from ({}) to ({})", point(min), point(max)),
            format!("extent    {x} x {y} x {z}"),
            format!(
                "colours   {}, {}",
                counted(self.materials as u64, "material"),
                counted(self.textures as u64, "texture")
            ),
        ];
        lines.extend(self.surface.iter().flat_map(SurfaceInfo::lines));
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.join("\n")
    }
}
