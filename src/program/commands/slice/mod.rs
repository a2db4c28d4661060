//! `voxelize slice`: prints or draws one layer of a grid, or of the voxels of a mesh.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};
use trivox::grid::{DEFAULT_COLOR, Section};

use crate::cli::SliceArgs;
use crate::commands::slice::picture::Drawing;
use crate::console::{print_error, print_json, print_warnings, stdout_error};
use crate::grids::GridSummary;
use crate::progress::TerminalProgress;
use crate::text::{AXES, counted, escaped, shown};
use crate::voxels::{check_input, voxels};
use crate::write::pictures::picture_sink;
use crate::write::sink::{Inputs, Sink, refuse_shared_stdout};

mod picture;

/// Reads or makes the voxels, and prints or draws the slice.
pub fn run(args: &SliceArgs) -> Result<()> {
    let sink = args.output.as_ref().or(args.picture.as_ref()).map(|output| {
        refuse_shared_stdout(args.json, output)?;
        picture_sink(output, &Inputs::new([&*args.file]))
    });
    let sink = sink.transpose()?;
    let named = || shown(&args.file);
    check_input(&args.file)?;
    args.source.refuse_contradictions(&args.file)?;
    let progress = Arc::new(TerminalProgress::new(args.quiet));
    let (grid, mut warnings) = voxels(&args.file, &args.source, sink.as_ref(), &progress)?;
    progress.finish();
    let (axis, index) = place(args, grid.dims());
    let section = grid.section(axis, index).with_context(|| {
        let last = grid.dims()[axis] - 1;
        let axis = AXES[axis];
        format!("{}: there is no slice {axis} = {index}: use {axis} from 0 to {last}", named())
    })?;
    let drawing = sink.map(|sink| draw(&section, sink, args.pixels)).transpose()?;

    let shown =
        if drawing.is_none() && !args.json { columns(&section) } else { 0..section.size()[0] };
    warnings.extend(cropped(&section, &shown));
    let report = SliceReport {
        input: GridSummary::new(&args.file, &grid),
        axis: AXES[axis],
        index,
        plane: section.plane().map(|axis| AXES[axis]),
        size: section.size(),
        voxels: section.occupied(),
        bounds: section.bounds(),
        drawing,
        warnings,
    };
    print_warnings(&report.warnings, args.quiet);
    if args.json {
        print_json(&report)?;
    } else {
        if !args.quiet {
            print_error(&report.text());
        }
        if report.drawing.is_none() {
            print(&section, &shown, args.ascii)?;
        }
    }
    Ok(())
}

/// The axis across the slice, and the coordinate along it; the middle layer along z unless given.
fn place(args: &SliceArgs, [.., layers]: [u32; 3]) -> (usize, u32) {
    let places = [args.x, args.y, args.z].into_iter().enumerate();
    places.filter_map(|(axis, index)| Some((axis, index?))).next().unwrap_or((2, layers / 2))
}

/// The columns of voxels that are printed: all, or on a narrower terminal those around the centre
/// of the occupied ones.
fn columns(section: &Section) -> Range<u32> {
    let [width, _] = section.size();
    let stdout = io::stdout();
    match terminal_size_of(&stdout).filter(|_| stdout.is_terminal()) {
        Some((Width(columns), _)) => {
            let [from, to] = section.bounds().map_or([0, width - 1], |ends| ends.map(|end| end[0]));
            window(width, from.midpoint(to), columns.into())
        }
        None => 0..width,
    }
}

/// A range of at most `room` out of `width`, around `middle`.
fn window(width: u32, middle: u32, room: u32) -> Range<u32> {
    let room = room.clamp(1, width);
    let start = middle.saturating_sub(room / 2).min(width - room);
    start..start + room
}

/// A warning if not all columns are printed.
fn cropped(section: &Section, shown: &Range<u32>) -> Option<String> {
    let ([width, _], right) = (section.size(), AXES[section.plane()[0]]);
    let (columns, from, to) = (shown.end - shown.start, shown.start, shown.end - 1);
    (columns < width).then(|| {
        format!(
            "the slice is {width} voxels wide and the terminal {columns}: {right} from {from} to \
             {to} is shown; a pipe or a file has all, and so has a picture, with -o slice.png"
        )
    })
}

/// Prints the columns `shown`, the top row first: with `is_ascii` as `#` and `.`, one character per
/// voxel, else as half blocks, two rows of voxels per line.
fn print(section: &Section, shown: &Range<u32>, is_ascii: bool) -> Result<()> {
    let columns = shown.start as usize..shown.end as usize;
    let empty = vec![None; columns.end];
    let mut rows = section.rows(DEFAULT_COLOR);
    let mut out = BufWriter::new(io::stdout().lock());
    while let Some(upper) = rows.next() {
        let lower = if is_ascii { None } else { rows.next() };
        let lower = lower.as_ref().unwrap_or(&empty);
        let character = |column: usize| match (upper[column].is_some(), lower[column].is_some()) {
            (true, _) if is_ascii => '#',
            (false, _) if is_ascii => '.',
            (false, false) => ' ',
            (true, false) => '▀',
            (false, true) => '▄',
            (true, true) => '█',
        };
        let line: String = columns.clone().map(character).collect();
        writeln!(out, "{line}").map_err(stdout_error)?;
    }
    out.flush().map_err(stdout_error)
}

fn draw(section: &Section, sink: Sink, scale: Option<u32>) -> Result<Drawn> {
    let drawing = Drawing::new(section.size(), scale).with_context(|| sink.shown())?;
    let complete = sink.write(|out| Ok(drawing.write(section.rows(DEFAULT_COLOR), out)?))?;
    let bytes = complete.finish()?.bytes;
    let [width, height] = drawing.pixels();
    Ok(Drawn { output: sink.name, width, height, bytes })
}

#[derive(Debug, Serialize)]
struct SliceReport {
    #[serde(flatten)]
    input: GridSummary,
    axis: char,
    index: u32,
    /// The axes to the right and upwards.
    plane: [char; 2],
    /// Voxels along these axes.
    size: [u32; 2],
    /// The number of occupied voxels in the slice.
    voxels: u64,
    /// Smallest and largest occupied voxel along these axes.
    bounds: Option<[[u32; 2]; 2]>,
    #[serde(flatten)]
    drawing: Option<Drawn>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Drawn {
    output: String,
    width: u32,
    height: u32,
    bytes: u64,
}

impl SliceReport {
    fn text(&self) -> String {
        let Self { axis, index, plane: [right, up], size: [width, height], voxels, .. } = self;
        let slice = format!(
            "slice     {axis} = {index}, {} occupied; {right} to the right from 0 to {}, {up} \
             upwards from 0 to {}\n",
            counted(*voxels, "voxel"),
            width - 1,
            height - 1
        );
        let drawn = self.drawing.as_ref().map(|drawn| {
            let Drawn { output, width, height, bytes } = drawn;
            let (output, bytes) = (escaped(output), counted(*bytes, "byte"));
            format!("wrote     {output}, {width} x {height} pixels, {bytes}\n")
        });
        slice + &drawn.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_about_the_middle_of_what_is_there() {
        assert_eq!(window(100, 50, 200), 0..100);
        assert_eq!(window(100, 50, 100), 0..100);
        assert_eq!(window(100, 50, 40), 30..70);
        assert_eq!(window(100, 3, 40), 0..40);
        assert_eq!(window(100, 99, 40), 60..100);
        assert_eq!(window(100, 99, 0), 99..100);
    }
}
