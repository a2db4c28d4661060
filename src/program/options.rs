//! Options as values of the library, and contradictions between options.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use trivox::backend::{BackendChoice, UsedBackend};
use trivox::formats::{Blocks, GridFormat, WriteError, WriteOptions, is_mesh};
use trivox::lattice::transform::CenteredGrid;
use trivox::solid::{Fill, Solid};
use trivox::surface::palette::Palette;
use trivox::{
    ColorSource, Lattice, Mode, PlaceOptions, Sizing, Transform, VoxelGrid, Voxelized, Voxelizer,
};

use crate::cli::parse::css_color;
use crate::cli::{
    ComputeArgs, LabelBy, PaletteArgs, Strict, TransformArgs, VoxelArgs, VoxelizeArgs,
};
use crate::inputs::read_bounded;
use crate::text::shown;
use crate::tips::nearest;
use crate::write::sink::{refuse_folder, refuse_shared_stdout};
use crate::write::terminal;

/// The voxel size by default.
pub const DEFAULT_SIZING: Sizing = Sizing::Resolution(Sizing::DEFAULT_RESOLUTION);

/// The voxel size by `--res` or `--voxel-size`, which exclude each other; `None` by neither.
pub fn sizing(res: Option<u32>, voxel_size: Option<f64>) -> Option<Sizing> {
    res.map(Sizing::Resolution).or(voxel_size.map(Sizing::VoxelSize))
}

impl VoxelizeArgs {
    /// The size of voxels, if an option sets it.
    fn sizing(&self) -> Option<Sizing> {
        let along = self.up.sizings([self.height, self.width, self.length]);
        along.into_iter().flatten().next().or(sizing(self.res, self.voxel_size))
    }

    /// Whether no option sets the size of voxels or of the grid.
    pub fn has_default_res(&self) -> bool {
        let dims = self.dims.or(self.cube);
        self.sizing().is_none() && dims.is_none() && self.lattice.is_none()
    }

    /// The output in a warning that colours are lost; `None` if a file of this format, or a
    /// picture, holds them.
    pub fn colorless_output(&self, format: Option<GridFormat>) -> Option<String> {
        if self.distance.is_some() {
            return Some("distances".to_owned());
        }
        let format = format.filter(|format| !format.spec().has_colors)?;
        (!self.draws()).then(|| format!(".{} files", format.extension()))
    }

    /// The format of files in a folder.
    pub fn format_in_folder(&self) -> GridFormat {
        let default = self.distance.map_or(GridFormat::Vox, |_| GridFormat::Vdb);
        self.format.unwrap_or(default)
    }

    /// Checks that files of this format hold the distances or the attributes.
    pub fn check_format(&self, format: GridFormat) -> Result<()> {
        if self.distance.is_some() {
            format.check_distances()?;
        }
        if !self.attributes.is_empty() {
            let options = WriteOptions { points: self.palette.points, ..WriteOptions::default() };
            let set = self.attributes.iter().copied().collect();
            // Unless points are written, the error ends with the advice to do so.
            let option = if self.palette.points { "" } else { " (--points)" };
            let convert = "; `voxelize convert` makes other formats of these, without it";
            let checked = format.check_attributes(&set, &options);
            checked
                .map_err(|error| WriteError::Unsupported(format!("{error}{option}{convert}")))?;
        }
        Ok(())
    }

    /// Whether a picture is drawn, in a file or in the terminal.
    pub fn draws(&self) -> bool {
        self.preview.is_some() || self.show && terminal::has_colors()
    }

    /// Whether `--strict` refuses the solid.
    pub fn refuses(&self, voxels: &Voxelized) -> bool {
        voxels.fill_report.as_ref().zip(self.strict).is_some_and(|(fill, strict)| match strict {
            Strict::Doubtful => fill.is_doubtful(),
            Strict::Closed => fill.is_doubtful() || !fill.topology.is_closed(),
            // Warnings are complete after painting.
            Strict::Warnings => false,
        })
    }

    /// All options on which voxels and their file depend, with what was read from the files that
    /// they name, as a pipe can be read once: the lattice, the palette and the blocks.
    pub fn determining(&self, lattice: Option<&Lattice>, write: &WriteOptions) -> String {
        // All options are named, so that none is forgotten.
        #[rustfmt::skip]
        let Self {
            format, up, strict, color, attributes, distance, tile, voxels,
            // In `place_options`, `transform`, `write` or `lattice`.
            res: _, height: _, width: _, length: _, voxel_size: _, cube: _, dims: _, bounds: _,
            pad: _, transform: _, palette: _, lattice: _,
            // In `attributes`.
            label: _,
            // Without effect on the file of a mesh.
            meshes: _, input: _, output: _, force: _, preview: _, show: _, check: _, recursive: _,
            shard: _, resume: _, time_limit: _, json: _, quiet: _, verbose: _, compute: _,
        } = self;
        #[rustfmt::skip]
        let VoxelArgs {
            keep_transparent: keep, interior_color: interior, confine, filter, blend,
            // In `mode`.
            mode: _, fill: _, include_surface: _,
        } = voxels;
        let (mode, place, transform) = (voxels.mode(), self.place_options(), self.transform());
        // A palette and blocks are long.
        let write = blake3::hash(format!("{write:?}").as_bytes()).to_hex();
        format!(
            "{place:?}, {transform:?}, {mode:?}, strict {strict:?}, {up:?} up, {format:?}, \
             {color:?}, keep {keep}, write {write}, {distance:?}, tile {tile:?} of {lattice:?}, \
             interior {interior:?}, confined {confine}, {attributes:?}, {filter:?}, {blend:?}"
        )
    }

    /// Refuses options without effect, and contradictory options.
    pub fn refuse_contradictions(&self) -> Result<()> {
        let voxels = &self.voxels;
        self.compute.refuse_contradictions(voxels.mode(), self.check)?;
        voxels.refuse_contradictions(Some(self.color))?;
        let is_of_solids = self.strict.is_some_and(|strict| strict != Strict::Warnings);
        voxels.only_for_solids(&[("--strict", is_of_solids)])?;
        let of_voxels = given(&[
            ("--interior-color", voxels.interior_color.is_some()),
            ("--label object", self.label == Some(LabelBy::Object)),
        ]);
        if self.distance.is_some()
            && let Some(option) = of_voxels.or(voxels.of_colors())
        {
            bail!("{option} is for voxels, but --distance writes distances: leave it out");
        }
        if self.force && self.strict.is_none() {
            bail!(
                "--force is for --strict, to write a doubtful solid: leave it out (files are \
                 replaced without it)"
            );
        }
        let of_many = given(&[("--resume", self.resume), ("--shard", self.shard.is_some())]);
        if self.label == Some(LabelBy::File)
            && let Some(option) = of_many
        {
            bail!("{option} is for many outputs, but --label file makes one: leave it out");
        }
        let Some(output) = &self.output else { return Ok(()) };
        refuse_shared_stdout(self.json, output)?;
        if self.resume && output.as_os_str() == "-" {
            bail!("--resume looks for a file, but -o - is standard output: leave one of them out");
        }
        Ok(())
    }

    /// The transformation of meshes.
    pub fn transform(&self) -> Transform {
        let fills = self.sizing().is_none();
        let grid = self.dims.or(self.cube).map(|dims| CenteredGrid { dims, fills });
        Transform { grid, ..self.transform.transform() }
    }

    /// The placement of meshes that are not centred in a grid.
    pub fn place_options(&self) -> PlaceOptions {
        // The band of distances is to be whole.
        let band = self.distance.filter(|_| self.bounds.is_none());
        let band = band.map_or(0, |width| width.ceil() as u32);
        let sizing = self.sizing().unwrap_or(DEFAULT_SIZING);
        let mut options = PlaceOptions::new(sizing).with_pad(self.pad.max(band));
        options.bounds = self.bounds;
        options
    }
}

impl TransformArgs {
    pub fn transform(&self) -> Transform {
        let Self { scale, rotate, center } = self;
        Transform { scale: *scale, rotations: rotate.clone(), center: *center, grid: None }
    }
}

impl VoxelArgs {
    pub fn mode(&self) -> Mode {
        match self.mode.unwrap_or_default() {
            Mode::Solid(_) => {
                let (fill, include_surface) = (self.fill.unwrap_or_default(), self.include_surface);
                Mode::Solid(Solid { fill, include_surface })
            }
            mode => mode,
        }
    }

    /// `voxelizer` with these options.
    pub fn apply_to(&self, voxelizer: Voxelizer) -> Voxelizer {
        let filter = self.filter.unwrap_or_default();
        let voxelizer = voxelizer.mode(self.mode()).filter(filter);
        let voxelizer = voxelizer.blend(self.blend.unwrap_or_default());
        let voxelizer = voxelizer.keep_transparent(self.keep_transparent).confined(self.confine);
        match self.interior_color {
            Some(color) => voxelizer.interior_color(color),
            None => voxelizer,
        }
    }

    /// The first option for colours that is given.
    fn of_colors(&self) -> Option<&'static str> {
        given(&[("--filter", self.filter.is_some()), ("--blend", self.blend.is_some())])
    }

    /// Refuses options for solids without `--mode solid`, options for surfaces with it, and options
    /// for colours without colours.
    pub fn refuse_contradictions(&self, color: Option<ColorSource>) -> Result<()> {
        if color == Some(ColorSource::None)
            && let Some(option) = self.of_colors()
        {
            bail!("{option} is for colours, which --color none ignores: leave one of them out");
        }
        if self.keep_transparent && matches!(self.mode, Some(Mode::Solid(_))) {
            bail!("--keep-transparent is for surfaces: a solid keeps all its voxels, leave it out");
        }
        self.only_for_solids(&[
            ("--fill", self.fill.is_some()),
            ("--include-surface", self.include_surface),
            ("--interior-color", self.interior_color.is_some()),
        ])
    }

    /// Refuses `options` that are for solids, if one is given and the mode is not solid.
    fn only_for_solids(&self, options: &[(&str, bool)]) -> Result<()> {
        match given(options) {
            Some(option) if !matches!(self.mode, Some(Mode::Solid(_))) => {
                bail!("{option} is for solids: add --mode solid, or leave it out")
            }
            _ => Ok(()),
        }
    }
}

/// The first of `options` that is given.
pub fn given<'a>(options: &[(&'a str, bool)]) -> Option<&'a str> {
    options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

impl PaletteArgs {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.palette.iter().chain(&self.blocks).map(PathBuf::as_path)
    }

    /// Warnings about options without effect on a file of `grid` in this format, or on no file.
    pub fn without_effect(&self, format: Option<GridFormat>, grid: &VoxelGrid) -> Vec<String> {
        let Self { palette, colors, blocks, dither, plain, points } = self;
        let has_palette = format.is_some_and(GridFormat::has_palette);
        let has_blocks = format.is_some_and(|format| format.blocks(grid).is_some());
        let of_plain = match format {
            _ if !plain => None,
            None => Some("--plain had no effect: no voxels are written".to_owned()),
            Some(GridFormat::Vox) => Some(
                "a plain .vox does not hold where the grid lies, its voxel size and which axis was \
                 up"
                .to_owned(),
            ),
            Some(GridFormat::Schem) => None,
            Some(other) => {
                Some(format!("--plain had no effect: .{} has one form", other.extension()))
            }
        };
        [
            ("--palette", palette.is_some(), has_palette, "palette"),
            ("--colors", colors.is_some(), has_palette, "palette"),
            ("--blocks", blocks.is_some(), has_blocks, "blocks"),
            ("--dither", *dither, has_palette || has_blocks, "palette"),
            ("--points", *points, format == Some(GridFormat::Ply), "point cloud"),
        ]
        .into_iter()
        .filter(|&(_, is_given, ..)| is_given)
        .filter_map(|(option, _, is_held, what)| {
            let why = match format {
                None => "no voxels are written".to_owned(),
                Some(format) if !is_held => format!(".{} files hold no {what}", format.extension()),
                // All become the first block.
                Some(_) if grid.colors.is_none() && !["--blocks", "--points"].contains(&option) => {
                    "the voxels have no colours".to_owned()
                }
                Some(_) => return None,
            };
            Some(format!("{option} had no effect: {why}"))
        })
        .chain(of_plain)
        .collect()
    }

    /// The options of writing, with the image of a palette and the list of blocks.
    pub fn write_options(&self) -> Result<WriteOptions> {
        let blocks = self.blocks.as_deref().map(|path| match names_of_blocks(path) {
            Some(names) => known_blocks(names).context("--blocks"),
            None => read_named(path, read_blocks),
        });
        let palette = |path: &Path| Ok(Palette::read(path)?);
        let palette = self.palette.as_deref().map(|path| read_named(path, palette));
        Ok(WriteOptions {
            blocks: blocks.transpose()?,
            palette: palette.transpose()?,
            colors: self.colors.map(usize::from),
            dither: self.dither,
            plain: self.plain,
            points: self.points,
            ..WriteOptions::default()
        })
    }
}

/// What `read` finds in the file of an option; an error names the file.
fn read_named<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    refuse_folder(path).and_then(|()| read(path)).with_context(|| shown(path))
}

/// The names and patterns that `--blocks` lists; `None` of a file.
fn names_of_blocks(path: &Path) -> Option<impl Iterator<Item = &str>> {
    let is_of_names = |c: char| c.is_ascii_alphanumeric() || "_*:, ".contains(c);
    let text = path.to_str().filter(|text| !path.exists() && text.chars().all(is_of_names));
    Some(text?.split(',').map(str::trim))
}

fn known_blocks<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<Blocks> {
    let mut blocks = Vec::new();
    names.try_for_each(|name| add_known(&mut blocks, name))?;
    Ok(Blocks::new(blocks)?)
}

/// Adds the known blocks of this name, or of a pattern, that are not in the list yet.
fn add_known(blocks: &mut Vec<(String, [u8; 3])>, pattern: &str) -> Result<()> {
    let plain = pattern.strip_prefix("minecraft:").unwrap_or(pattern);
    let of_pattern = glob::Pattern::new(plain).with_context(|| format!("'{pattern}'"))?;
    let mut found = Blocks::known().filter(|(name, _)| of_pattern.matches(name)).peekable();
    if found.peek().is_none() {
        let names = || Blocks::known().map(|(name, _)| name);
        let word = &plain.trim_matches(['*', '_']).to_lowercase();
        let is_similar = |name: &&str| !word.is_empty() && name.contains(word);
        let mut similar: Vec<&str> = names().filter(is_similar).take(8).collect();
        if similar.is_empty() {
            similar.extend(nearest(word, names()));
        }
        let similar = match &similar[..] {
            [] => String::new(),
            names => format!(" (similar: {})", names.join(", ")),
        };
        bail!(
            "'{pattern}' is none of the blocks that are known{similar}: a block of your own needs a \
             CSS colour beside it, in a file"
        );
    }
    for (name, color) in found {
        if blocks.iter().all(|(other, _)| other.trim_start_matches("minecraft:") != name) {
            blocks.push((name.to_owned(), color));
        }
    }
    Ok(())
}

/// The blocks of a text file: on each line a name and a CSS colour, or a known name or a pattern.
/// Empty lines and those that begin with `//` or `#` are skipped.
fn read_blocks(path: &Path) -> Result<Blocks> {
    let text = String::from_utf8(read_bounded(File::open(path)?)?).ok().context(
        "is no text: write a block and its CSS colour on each line, such as 'oak_planks #a2834f'",
    )?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = (1..).zip(text.lines().map(str::trim));
    let is_skipped =
        |line: &str| line.is_empty() || line.starts_with("//") || line.starts_with('#');
    let mut blocks = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !is_skipped(line)) {
        let Some((name, color)) = line.split_once(char::is_whitespace) else {
            add_known(&mut blocks, line).with_context(|| format!("line {number}"))?;
            continue;
        };
        let [r, g, b, _] = css_color(color.trim()).with_context(|| {
            format!("line {number}: needs a block and a CSS colour, such as 'oak_planks #a2834f'")
        })?;
        let block = (name.to_owned(), [r, g, b]);
        Blocks::new([block.clone()]).with_context(|| format!("line {number}"))?;
        blocks.push(block);
    }
    Ok(Blocks::new(blocks)?)
}

/// The lattice in the JSON file of `--lattice`: by itself, or in what `--json` printed.
pub fn read_lattice(path: &Path) -> Result<Lattice> {
    read_named(path, |path| {
        fs::metadata(path)?;
        if GridFormat::of_path(path).is_ok() && !is_mesh(path) {
            bail!(
                "is a grid, which does not store its lattice: name the file of what --json printed"
            );
        }
        let mut value: Value = serde_json::from_slice(&read_bounded(File::open(path)?)?).context(
            "is not one JSON object: name what `voxelize ... --json > lattice.json` wrote; of several \
             meshes keep one line",
        )?;
        if let Some(lattice) = value.get_mut("lattice") {
            value = lattice.take();
        }
        serde_json::from_value(value).context("is not a lattice as --json prints it")
    })
}

impl ComputeArgs {
    /// Refuses options of a GPU without effect: `mode` tests no voxels, or the CPU computes, and
    /// `compares_backends` does not make a GPU compute too.
    pub fn refuse_contradictions(&self, mode: Mode, compares_backends: bool) -> Result<()> {
        if !compares_backends {
            refuse_adapter_of_cpu(Some(self.backend), self.adapter.as_deref())?;
            if self.kernel.is_some() && self.backend == BackendChoice::Cpu {
                bail!("--kernel is for a GPU, but --backend cpu uses none: leave one of them out");
            }
        }
        let tests_columns = match mode {
            Mode::Solid(solid) => !solid.include_surface && solid.fill != Fill::Flood,
            mode => mode == Mode::Thin,
        };
        if self.kernel.is_some() && tests_columns {
            bail!("--kernel is for tests of voxels, but columns are tested here: leave it out");
        }
        Ok(())
    }

    /// A warning if --kernel had no effect, as the CPU computed the voxels.
    pub fn unused_kernel(&self, used: &UsedBackend) -> Option<String> {
        let is_unused = self.kernel.is_some() && used.adapter.is_none();
        is_unused.then(|| "--kernel had no effect: the CPU computed the voxels".to_owned())
    }
}

/// Refuses the name of an adapter if the CPU is the only backend.
pub fn refuse_adapter_of_cpu(backend: Option<BackendChoice>, adapter: Option<&str>) -> Result<()> {
    if adapter.is_some() && backend == Some(BackendChoice::Cpu) {
        bail!("--adapter names a GPU, but --backend cpu uses none: leave one of them out");
    }
    Ok(())
}

/// Starts the threads: one pool for all computations.
pub fn start_threads(number: Option<u16>) -> Result<()> {
    // 0 threads: one per core.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number.unwrap_or(0).into());
    pool.build_global().context("cannot start the threads: use fewer (--threads)")
}
