//! The chart of time and of memory, both axes logarithmic: a curve for each mesh, and a thin one
//! that is a constant share for each occupied voxel.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::common::Result;
use crate::{Curve, Point};

/// Twice as many pixels as it is meant to be shown with: coordinates are whole numbers.
const SIZE: (u32, u32) = (1920, 860);
const FONT: &str = "Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(31, 41, 55);
const LINES: RGBColor = RGBColor(226, 232, 240);
const THIN: RGBColor = RGBColor(100, 116, 139);
const COLORS: [RGBColor; 2] = [RGBColor(29, 78, 216), RGBColor(217, 119, 6)];

/// One half of the chart.
struct Half {
    title: &'static str,
    value: fn(&Point) -> f64,
    /// Horizontal lines are at the powers of this, and so labelled.
    base: f64,
    label: fn(i32) -> String,
    /// How much a voxel has on the thin curve, and what to call it.
    share: (f64, &'static str),
}

const HALVES: [Half; 2] = [
    Half {
        title: "Time to voxelize",
        value: |point| point.ms,
        base: 10.0,
        label: time_label,
        share: (1e-6, "1 ns for each occupied voxel"),
    },
    Half {
        title: "Peak memory",
        value: |point| point.peak as f64,
        base: 4.0,
        label: memory_label,
        share: (1.0, "1 byte for each occupied voxel"),
    },
];

/// `10^power` milliseconds.
fn time_label(power: i32) -> String {
    match power {
        ..-1 => format!("{} µs", 10_f64.powi(power + 3)),
        -1..2 => format!("{} ms", 10_f64.powi(power)),
        _ => format!("{} s", 10_f64.powi(power - 3)),
    }
}

/// `4^power` bytes.
fn memory_label(power: i32) -> String {
    let [kib, mib, gib] = [5, 10, 15];
    match power {
        ..10 => format!("{} KiB", 4_f64.powi(power - kib)),
        10..15 => format!("{} MiB", 4_f64.powi(power - mib)),
        _ => format!("{} GiB", 4_f64.powi(power - gib)),
    }
}

/// The chart as SVG.
pub fn draw(curves: &[Curve]) -> Result<String> {
    let mut drawing = String::new();
    let root = SVGBackend::with_string(&mut drawing, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, half) in root.split_evenly((1, HALVES.len())).iter().zip(&HALVES) {
        draw_half(area, half, curves)?;
    }
    root.present()?;
    drop(root);
    Ok(drawing)
}

/// Places are logarithms: of the resolution, and of the half's value.
type Logarithms = Cartesian2d<RangedCoordf64, RangedCoordf64>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Logarithms>;

fn draw_half(area: &DrawingArea<SVGBackend, Shift>, half: &Half, curves: &[Curve]) -> Result<()> {
    let place = |point: &Point| half.place(point, (half.value)(point));
    let [columns, rows] = extent(curves.iter().flat_map(|c| &c.points).map(place));
    let mut chart = ChartBuilder::on(area)
        .caption(half.title, text(34))
        .margin(20)
        .margin_right(50)
        .x_label_area_size(84)
        .y_label_area_size(130)
        .build_cartesian_2d(columns.clone(), rows.clone())?;
    draw_lines(&mut chart, half, &columns, &rows)?;

    let thin = (curves[0].points.iter())
        .map(|point| half.place(point, point.occupied as f64 * half.share.0))
        .filter(|(_, value)| rows.contains(value));
    draw_curve(&mut chart, half.share.1, thin.collect(), THIN.stroke_width(2))?;
    for (curve, color) in curves.iter().zip(COLORS) {
        let places: Vec<_> = curve.points.iter().map(place).collect();
        chart.draw_series(places.iter().map(|&at| Circle::new(at, 7, color.filled())))?;
        draw_curve(&mut chart, &curve.mesh, places, color.stroke_width(5))?;
    }
    (chart.configure_series_labels())
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(text(25))
        .legend_area_size(70)
        .margin(16)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}

/// Draws a line at each power, with its label.
fn draw_lines(
    chart: &mut Chart,
    half: &Half,
    columns: &Range<f64>,
    rows: &Range<f64>,
) -> Result<()> {
    (chart.configure_mesh())
        .x_labels(whole_numbers(columns))
        .y_labels(whole_numbers(rows))
        .bold_line_style(LINES.stroke_width(2))
        .light_line_style(TRANSPARENT)
        .axis_style(LINES.stroke_width(2))
        .label_style(text(25))
        .axis_desc_style(text(25).pos(Pos::new(HPos::Center, VPos::Top)))
        .x_label_formatter(&|power| format!("{}", power.exp2()))
        .y_label_formatter(&|power| (half.label)(*power as i32))
        .x_desc("voxels along the longest axis")
        .draw()?;
    Ok(())
}

fn draw_curve(
    chart: &mut Chart,
    name: &str,
    places: Vec<(f64, f64)>,
    line: ShapeStyle,
) -> Result<()> {
    (chart.draw_series(LineSeries::new(places, line))?)
        .label(name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 56, y)], line));
    Ok(())
}

impl Half {
    /// Where `value` is at the resolution of `point`, on logarithmic axes.
    fn place(&self, point: &Point, value: f64) -> (f64, f64) {
        (f64::from(point.resolution).log2(), value.log(self.base))
    }
}

/// Columns and rows, between whole numbers, that hold `places`.
fn extent(places: impl Iterator<Item = (f64, f64)> + Clone) -> [Range<f64>; 2] {
    let hold = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(f64::MAX..f64::MIN, |all, v| all.start.min(v.floor())..all.end.max(v.ceil()))
    };
    [hold(&mut places.clone().map(|at| at.0)), hold(&mut places.map(|at| at.1))]
}

/// How many there are in `range`, both its ends included.
fn whole_numbers(range: &Range<f64>) -> usize {
    (range.end - range.start) as usize + 1
}

fn text(size: i32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}
