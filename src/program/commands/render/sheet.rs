//! `voxelize render FOLDER`: a contact sheet, the small pictures of all grids and meshes of a
//! folder with their names.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::Backend;
use trivox::base::ms;
use trivox::base::srgb::Rgba;
use trivox::formats::{is_mesh, is_unread_mesh};
use trivox::view::render::{Background, Picture, RenderOptions};

use super::{load, options, renderer, slow};
use crate::ExitStatus;
use crate::cli::{RenderArgs, SceneArgs};
use crate::console::{ErrorReport, print_error};
use crate::inputs::{is_read_grid, left_out, sorted};
use crate::progress::TerminalProgress;
use crate::text::{counted, duration, escaped, grouped, of_file, path_text, shown};
use crate::voxels::Voxels;
use crate::write::lettering::{INK, LETTER, PAPER, draw_line};
use crate::write::sink::{Inputs, Sink, Written};

/// Most pictures of a sheet.
const MOST: usize = 400;
/// Default width and height of a picture, in pixels.
const SIZE: [u32; 2] = [160; 2];
/// Pixels between pictures.
const GAP: u32 = 8;

/// The cell of an unread file, and its text.
const MISSING: Rgba = [226, 223, 216, 255];
const MISSING_INK: Rgba = [168, 60, 40, 255];

/// Draws the files of the folder, and writes the sheet. A file that cannot be read is an error of
/// its own, and has an empty picture.
pub fn run(args: &RenderArgs, target: &Path, by: Backend) -> Result<ExitStatus> {
    let (files, unread) = files(&args.file)?;
    if args.turntable.is_some() {
        bail!("{}: a folder becomes one picture: leave out --turntable", shown(&args.file));
    }
    // Options of meshes are refused where there is none.
    let first = files.iter().find(|file| is_mesh(file)).unwrap_or(&files[0]);
    args.source.refuse_contradictions(first)?;
    let first_scene = files.iter().find(|file| SceneArgs::are_of(file)).unwrap_or(first);
    args.source.scene.refuse_for_others(first_scene)?;
    let sink = Sink::new(target, &Inputs::new(files.iter().map(PathBuf::as_path)))?;
    let began = Instant::now();
    let is_clear = args.background == Background::Transparent;
    let paper = if is_clear { [0; 4] } else { PAPER };
    let mut sheet = Sheet::new(files.len(), options(args, SIZE).size, paper)?;
    let (mut warnings, mut failed) = (Vec::new(), Vec::new());
    warnings.extend(left_out(&unread));
    warnings.extend(slow(by));
    let progress = Arc::new(TerminalProgress::new(args.report.quiet));
    for (place, file) in files.iter().enumerate() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match draw(file, args, &sink, by, &progress) {
            Ok((picture, own, sidecars)) => {
                sink.refuse(&sidecars)?;
                sheet.put(place, &name, |x, y| picture.at(x, y));
                warnings.extend(of_file(file, own));
            }
            Err(error) => {
                let error = ErrorReport::new(&error);
                progress.aside(|| print_error(&format!("error: {}\n", error.error)));
                failed.push(UnreadFile { file: path_text(file), error });
                sheet.put(place, &name, |_, _| MISSING);
                sheet.write_missing(place);
            }
        }
    }
    progress.finish();
    let Sheet { size: [width, height], pixels, picture, .. } = sheet;
    let sheet = Picture::new([width, height], pixels);
    let Written { name, bytes, .. } = sink.write(|out| Ok(sheet.write_png(out)?))?.finish()?;
    let report = SheetReport {
        file: path_text(&args.file),
        output: name,
        width,
        height,
        pictures: files.len(),
        failed,
        bytes,
        render_ms: began.elapsed(),
        warnings,
    };
    args.report.print(&report, &report.warnings, || report.text(picture))?;
    Ok(if report.failed.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

/// The grids and meshes of a folder, by name, and its meshes in formats that are not read.
fn files(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut files = sorted(folder).with_context(|| shown(folder))?;
    let unread = files.extract_if(.., |file| file.is_file() && is_unread_mesh(file)).collect();
    // Not pipes; a link without a target is a file that cannot be read.
    let is_file = |file: &Path| file.metadata().map_or(true, |kind| kind.is_file());
    files.retain(|file| is_file(file) && (is_mesh(file) || is_read_grid(file)));
    match files.len() {
        0 => bail!("{}: no grid and no mesh is in this folder: name another", shown(folder)),
        1..=MOST => Ok((files, unread)),
        more => bail!(
            "{}: {} grids and meshes are more than the {MOST} of a sheet: move some to folders of \
             their own",
            shown(folder),
            grouped(more as u64)
        ),
    }
}

/// Draws the grid or the mesh in a file. Returns the picture, the warnings and the mesh's files.
fn draw(
    file: &Path,
    args: &RenderArgs,
    sink: &Sink,
    by: Backend,
    progress: &Arc<TerminalProgress>,
) -> Result<(Picture, Vec<String>, Inputs)> {
    let Voxels { grid, warnings, sidecars } = load(file, args, sink, progress)?;
    let draw = || anyhow::Ok(renderer(&grid, by)?.render(&options(args, SIZE), &**progress)?);
    Ok((draw().with_context(|| shown(file))?, warnings, sidecars))
}

struct Sheet {
    size: [u32; 2],
    pixels: Vec<Rgba>,
    /// The number of pictures in a row.
    columns: u32,
    /// Width and height of a picture.
    picture: [u32; 2],
}

impl Sheet {
    /// # Errors
    /// The sheet is larger than a picture may be; there is too little memory.
    fn new(pictures: usize, picture: [u32; 2], paper: Rgba) -> Result<Self> {
        // About 3 to 2 for square pictures.
        let columns = ((1.5 * pictures as f64).sqrt().ceil() as u32).min(pictures as u32);
        let rows = (pictures as u32).div_ceil(columns);
        let step = Self::step(picture);
        let size = [columns * step[0] + GAP, rows * step[1] + GAP];
        let advice = || {
            format!("the sheet of {}: use a smaller --size", counted(pictures as u64, "picture"))
        };
        RenderOptions::new(size).check().with_context(advice)?;
        let mut pixels = Vec::new();
        let count = size[0] as usize * size[1] as usize;
        pixels.try_reserve_exact(count).with_context(advice)?;
        pixels.resize(count, paper);
        Ok(Self { size, pixels, columns, picture })
    }

    /// From one picture to the next, in pixels.
    fn step([width, height]: [u32; 2]) -> [u32; 2] {
        [width + GAP, height + LETTER[1] + GAP]
    }

    /// The top left corner of a picture.
    fn corner(&self, place: usize) -> [u32; 2] {
        let [right, down] = Self::step(self.picture);
        let place = place as u32;
        [GAP + place % self.columns * right, GAP + place / self.columns * down]
    }

    /// Draws a picture, with its name below.
    fn put(&mut self, place: usize, name: &str, color: impl Fn(u32, u32) -> Rgba) {
        let ([left, top], [width, height]) = (self.corner(place), self.picture);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            *self.at(left + x, top + y) = color(x, y);
        }
        self.write_line(name, [left, top + height + 1], INK);
    }

    fn write_missing(&mut self, place: usize) {
        let ([left, top], [_, height]) = (self.corner(place), self.picture);
        let middle = top + height.saturating_sub(LETTER[1]) / 2;
        self.write_line("cannot be read", [left, middle], MISSING_INK);
    }

    /// Writes a line as wide as a picture, from its top left corner, centred.
    fn write_line(&mut self, text: &str, [left, top]: [u32; 2], ink: Rgba) {
        let text = shortened(text, (self.picture[0] / LETTER[0]) as usize);
        let left = left + (self.picture[0] - text.len() as u32 * LETTER[0]) / 2;
        draw_line(text, [left, top], |x, y| *self.at(x, y) = ink);
    }

    fn at(&mut self, x: u32, y: u32) -> &mut Rgba {
        &mut self.pixels[y as usize * self.size[0] as usize + x as usize]
    }
}

/// The characters of `text`; of a longer one the first and the last, `room` in all.
fn shortened(text: &str, room: usize) -> Vec<char> {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= room {
        return characters;
    }
    let last = room.saturating_sub(2) / 2;
    let first = room.saturating_sub(last + 2);
    [&characters[..first], &['.'; 2][..room.min(2)], &characters[characters.len() - last..]]
        .concat()
}

#[derive(Debug, Serialize)]
struct SheetReport {
    file: String,
    output: String,
    width: u32,
    height: u32,
    pictures: usize,
    failed: Vec<UnreadFile>,
    bytes: u64,
    #[serde(serialize_with = "ms")]
    render_ms: Duration,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct UnreadFile {
    file: String,
    #[serde(flatten)]
    error: ErrorReport,
}

impl SheetReport {
    fn text(&self, [width, height]: [u32; 2]) -> String {
        let Self { file, output, pictures, bytes, render_ms, .. } = self;
        let [file, output] = [file, output].map(|name| escaped(name));
        let pictures = counted((*pictures - self.failed.len()) as u64, "picture");
        let (time, bytes) = (duration(*render_ms), counted(*bytes, "byte"));
        let failed = match self.failed.len() {
            0 => String::new(),
            failed => format!("failed    {}\n", counted(failed as u64, "file")),
        };
        format!(
            "read      {file}\n\
             drew      {pictures} of {width} x {height} pixels in {time}\n\
             {failed}wrote     {output}, {bytes}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let shortened = |room| shortened("lighthouse.obj", room).into_iter().collect::<String>();
        let lines = [0, 1, 2, 3, 4, 7, 13, 14, 99].map(shortened);
        let expected = ["", ".", "..", "l..", "l..j", "lig..bj", "lighth..e.obj"];
        assert_eq!(lines[..7], expected);
        assert_eq!(lines[7..], ["lighthouse.obj"; 2]);
    }
}
