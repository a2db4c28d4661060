//! Options for the colours of voxels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use trivox::formats::Blocks;
use trivox::formats::{GridFormat, WriteOptions};
use trivox::surface::palette::Palette;
use trivox::{ColorSource, VoxelGrid, Voxelizer};

use crate::cli::parse::css_color;
use crate::cli::{PaletteArgs, VoxelArgs};
use crate::paths::shown;
use crate::write::sink::refuse_folder;

impl VoxelArgs {
    /// Configures `voxelizer` for these voxels.
    pub fn of(&self, voxelizer: Voxelizer, color: ColorSource) -> Voxelizer {
        let filter = self.filter.unwrap_or_default();
        let voxelizer = voxelizer.mode(self.mode()).color(color).filter(filter);
        let voxelizer = voxelizer.keep_transparent(self.keep_transparent).confined(self.confine);
        match self.interior_color {
            Some(color) => voxelizer.interior_color(color),
            None => voxelizer,
        }
    }
}

impl PaletteArgs {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.palette.iter().chain(&self.blocks).map(PathBuf::as_path)
    }

    /// Warnings about options without effect on a file of `grid` in this format, or on no file.
    pub fn without_effect(&self, format: Option<GridFormat>, grid: &VoxelGrid) -> Vec<String> {
        let Self { palette, blocks, dither, plain } = self;
        let has_palette = format.is_some_and(GridFormat::has_palette);
        let has_blocks = format.is_some_and(|format| format.blocks(grid).is_some());
        let of_plain = plain.then(|| {
            match format {
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
        }
        });
        [
            ("--palette", palette.is_some(), has_palette, "palette"),
            ("--blocks", blocks.is_some(), has_blocks, "blocks"),
            ("--dither", *dither, has_palette || has_blocks, "palette"),
        ]
        .into_iter()
        .filter(|&(_, is_given, ..)| is_given)
        .filter_map(|(option, _, is_held, what)| {
            let why = match format {
                None => "no voxels are written".to_owned(),
                Some(format) if !is_held => format!(".{} files hold no {what}", format.extension()),
                Some(_) if grid.colors.is_none() => "the voxels have no colours".to_owned(),
                Some(_) => return None,
            };
            Some(format!("{option} had no effect: {why}"))
        })
        .chain(of_plain.flatten())
        .collect()
    }

    /// The options for writing formats that have a palette.
    ///
    /// # Errors
    /// The palette's image or the list of blocks cannot be read.
    pub fn write_options(&self) -> Result<WriteOptions> {
        let mut options = WriteOptions::default().with_dither(self.dither).with_plain(self.plain);
        if let Some(path) = &self.blocks {
            let blocks = refuse_folder(path).and_then(|()| read_blocks(path));
            let blocks = blocks.with_context(|| shown(path))?;
            options = options.with_blocks(blocks);
        }
        let Some(path) = &self.palette else { return Ok(options) };
        let palette = refuse_folder(path).and_then(|()| Ok(Palette::read(path)?));
        let palette = palette.with_context(|| shown(path))?;
        Ok(options.with_palette(palette))
    }
}

/// The blocks of a text file: on each line a name and a CSS colour. Empty lines and those that
/// begin with `//` are skipped.
fn read_blocks(path: &Path) -> Result<Blocks> {
    let text = String::from_utf8(fs::read(path)?).ok().context(
        "is no text: write a block and its CSS colour on each line, such as 'oak_planks #a2834f'",
    )?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
    let blocks: Result<Vec<_>> = lines
        .map(|(number, line)| {
            let (name, color) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let [r, g, b, _] = css_color(color.trim()).with_context(|| {
                format!(
                    "line {number}: needs a block and a CSS colour, such as 'oak_planks #a2834f'"
                )
            })?;
            Ok((name.to_owned(), [r, g, b]))
        })
        .collect();
    Ok(Blocks::new(blocks?)?)
}
