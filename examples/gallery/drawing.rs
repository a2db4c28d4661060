//! Draws the cases as cards of one SVG file.

use std::fmt::Write;

use super::cases::Case;
use super::geometry::{Vec3, View, between, clip, meets, sub, within_box};
use super::published::{Aabb, moller, sat};

/// Width and height of a card, and the top of its text, in pixels.
const CARD: [f64; 2] = [236.0, 272.0];
const TEXT: f64 = 216.0;
const GAP: f64 = 12.0;
const COLUMNS: usize = 4;
/// Margin around a drawing, and above it for the verdict, in pixels.
const MARGIN: f64 = 14.0;
const TOP: f64 = 30.0;

/// Anything smaller, in half edges of the box, is drawn as a dot.
const SMALL: f64 = 0.01;

/// Parts of a line, each hidden or visible.
const PARTS: usize = 96;

const STYLE: &str = "\
text { font-family: Helvetica, Arial, sans-serif; fill: #1f2937 }
.title { font-size: 12px; font-weight: bold }
.source, .note { font-size: 11px; fill: #64748b }
.note { fill: #b45309 }
.verdict { font-size: 11px; font-weight: bold; fill: #ffffff; text-anchor: middle }
.card { fill: #fcfdfe; stroke: #d5dce6 }
line, polygon { stroke-linecap: round; stroke-linejoin: round }
.box { stroke: #334155; stroke-width: 1.6 }
.far { stroke: #94a3b8; stroke-width: 1.1; stroke-dasharray: 3 3.5 }
.yes { fill: #15803d; stroke: #15803d }
.no { fill: #dc2626; stroke: #dc2626 }
.sheet { fill-opacity: 0.22; stroke: none }
.common { fill-opacity: 0.7; stroke-width: 1.2 }
.edge { stroke-width: 1.6 }
.behind { stroke-width: 1.2; stroke-opacity: 0.45 }";

/// All cases, as cards in rows.
pub fn sheet(cases: &[Case]) -> String {
    let at = |i: usize, cells: usize| GAP + cells as f64 * (CARD[i] + GAP);
    let [width, height] = [at(0, COLUMNS), at(1, cases.len().div_ceil(COLUMNS))];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n<style>\n{STYLE}\n</style>\n"
    );
    for (number, case) in cases.iter().enumerate() {
        let [x, y] = [at(0, number % COLUMNS), at(1, number / COLUMNS)];
        let card = card(case);
        _ = writeln!(svg, "<g transform=\"translate({x} {y})\">\n{card}</g>");
    }
    svg + "</svg>\n"
}

/// One case: the drawing, the verdict and what it is.
fn card(case: &Case) -> String {
    let [width, height] = CARD;
    let (class, verdict) = if case.overlaps() { ("yes", "overlap") } else { ("no", "apart") };
    let (left, middle) = (width - 76.0, width - 42.0);
    let mut svg = format!(
        "<rect class=\"card\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n{}",
        Drawing::new(case).svg()
    );
    _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{left}\" y=\"10\" width=\"68\" height=\"18\" rx=\"9\"/>\n\
         <text class=\"verdict\" x=\"{middle}\" y=\"23\">{verdict}</text>\n\
         <text class=\"title\" x=\"12\" y=\"{}\">{}</text>\n\
         <text class=\"source\" x=\"12\" y=\"{}\">{}</text>\n",
        TEXT + 14.0,
        case.title,
        TEXT + 31.0,
        case.source
    );
    if let Some(note) = note(case) {
        _ = writeln!(svg, "<text class=\"note\" x=\"12\" y=\"{}\">{note}</text>", TEXT + 48.0);
    }
    svg
}

/// The published tests that decide the case wrongly in 64-bit floats.
fn note(case: &Case) -> Option<String> {
    let published = |p: [i32; 3]| p.map(|c| f64::from(c) / f64::from(case.unit));
    let aabb = Aabb { center: published(case.center), half: published(case.half) };
    let triangle = case.triangle.map(published);
    let answers = [
        ("13 axes", sat::overlaps(&triangle, &aabb)),
        ("test of 2001", moller::overlaps(&triangle, &aabb)),
    ];
    let wrong = answers.into_iter().filter(|&(_, answer)| answer != case.overlaps());
    let wrong: Vec<&str> = wrong.map(|(name, _)| name).collect();
    (!wrong.is_empty()).then(|| format!("f64 wrong: {}", wrong.join(", ")))
}

/// A case relative to the centre of its box, in units of the longest half edge.
struct Drawing {
    overlaps: bool,
    triangle: [Vec3; 3],
    half: Vec3,
    view: View,
    reach: f64,
}

/// What occludes a part of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Front,
    Behind,
}

impl Drawing {
    fn new(case: &Case) -> Self {
        let longest = case.half.into_iter().fold(1, i32::max);
        let scaled = |p: [i32; 3]| p.map(|c| f64::from(c) / f64::from(longest));
        let from_center = |p: [i32; 3]| scaled([0, 1, 2].map(|i| p[i] - case.center[i]));
        Self {
            overlaps: case.overlaps(),
            triangle: case.triangle.map(from_center),
            half: scaled(case.half),
            view: View::new(case.to_eye),
            reach: case.reach,
        }
    }

    fn svg(&self) -> String {
        let color = if self.overlaps { "yes" } else { "no" };
        let sheet = clip(&self.triangle, [self.reach; 3]);
        let common = if self.overlaps { clip(&self.triangle, self.half) } else { Vec::new() };
        let pen = Pen::new(self.view, sheet.iter().chain(&self.corners()));
        let mut svg = String::new();
        let box_lines = self.box_lines();
        for (is_far, depth, ends) in &box_lines {
            if *is_far || *depth == Depth::Behind {
                svg += &pen.line(if *is_far { "far" } else { "box" }, *ends);
            }
        }
        svg += &pen.polygon(&format!("{color} sheet"), &sheet);
        svg += &pen.polygon(&format!("{color} common"), &common);
        svg += &pen.dot(color, &common);
        for (depth, ends) in self.triangle_lines() {
            let class = if depth == Depth::Front { "edge" } else { "behind" };
            svg += &pen.line(&format!("{color} {class}"), ends);
        }
        for (is_far, depth, ends) in &box_lines {
            if !is_far && *depth == Depth::Front {
                svg += &pen.line("box", *ends);
            }
        }
        svg
    }

    fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|n| [0, 1, 2].map(|a| [-1.0, 1.0][n >> a & 1] * self.half[a]))
    }

    /// The edges of the box, split where the triangle begins to hide them, with a flag for the
    /// edges on the far side.
    fn box_lines(&self) -> Vec<(bool, Depth, [Vec3; 2])> {
        let corners = self.corners();
        let farthest = (0..3).map(|a| usize::from(self.view.to_eye[a] < 0.0) << a).sum::<usize>();
        let edges = (0..8).flat_map(|n| (0..3).map(move |a| [n, n | 1 << a]));
        let edges = edges.filter(|[from, to]| from != to);
        let lines = edges.flat_map(|edge| {
            let hidden = |point| meets(point, self.view.to_eye, self.triangle);
            let parts = parts(edge.map(|n| corners[n]), hidden);
            parts.into_iter().map(move |(depth, ends)| (edge.contains(&farthest), depth, ends))
        });
        lines.collect()
    }

    /// The drawn edges of the triangle, split where they enter the box or pass behind it.
    fn triangle_lines(&self) -> Vec<(Depth, [Vec3; 2])> {
        let [a, b, c] = self.triangle;
        let edges = [[a, b], [b, c], [c, a]];
        let drawn = edges.into_iter().filter_map(|[from, to]| {
            let [start, end] = within_box(from, sub(to, from), [self.reach; 3])?;
            Some([between(from, to, start), between(from, to, end.min(1.0))])
        });
        let hidden = |point| within_box(point, self.view.to_eye, self.half).is_some();
        drawn.flat_map(|ends| parts(ends, hidden)).collect()
    }
}

/// The hidden and the visible parts of a line.
fn parts([from, to]: [Vec3; 2], hidden: impl Fn(Vec3) -> bool) -> Vec<(Depth, [Vec3; 2])> {
    let at = |part: f64| between(from, to, part / PARTS as f64);
    let depth =
        |part: usize| if hidden(at(part as f64 + 0.5)) { Depth::Behind } else { Depth::Front };
    let depths: Vec<Depth> = (0..PARTS).map(depth).collect();
    let mut begin = 0;
    let runs = depths.chunk_by(|a, b| a == b).map(|run| {
        let ends = [at(begin as f64), at((begin + run.len()) as f64)];
        begin += run.len();
        (run[0], ends)
    });
    runs.collect()
}

/// Places points on a card.
struct Pen {
    view: View,
    scale: f64,
    shift: [f64; 2],
}

impl Pen {
    /// A placement that fits all `points` into the drawing.
    fn new<'a>(view: View, points: impl Iterator<Item = &'a Vec3>) -> Self {
        let nothing = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        let [min, max] = points.map(|&point| view.project(point)).fold(nothing, |[min, max], p| {
            [[0, 1].map(|i| p[i].min(min[i])), [0, 1].map(|i| p[i].max(max[i]))]
        });
        let [low, high] = [[MARGIN, TOP + MARGIN], [CARD[0] - MARGIN, TEXT - MARGIN]];
        let fit = |i: usize| (high[i] - low[i]) / (max[i] - min[i]);
        let scale = fit(0).min(fit(1));
        let shift = [0, 1].map(|i| (low[i] + high[i] - scale * (min[i] + max[i])) / 2.0);
        Self { view, scale, shift }
    }

    fn place(&self, point: Vec3) -> [f64; 2] {
        let [x, y] = self.view.project(point);
        [x * self.scale + self.shift[0], y * self.scale + self.shift[1]]
    }

    fn line(&self, class: &str, ends: [Vec3; 2]) -> String {
        let [[x1, y1], [x2, y2]] = ends.map(|end| self.place(end));
        format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n"
        )
    }

    fn polygon(&self, class: &str, corners: &[Vec3]) -> String {
        let places = corners.iter().map(|&corner| self.place(corner));
        let points: Vec<String> = places.map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        if points.is_empty() {
            String::new()
        } else {
            format!("<polygon class=\"{class}\" points=\"{}\"/>\n", points.join(" "))
        }
    }

    /// A dot, if all `corners` are practically one point.
    fn dot(&self, class: &str, corners: &[Vec3]) -> String {
        let is_there = |corner: &Vec3| sub(*corner, corners[0]).iter().all(|c| c.abs() < SMALL);
        let Some(&point) = corners.first().filter(|_| corners.iter().all(is_there)) else {
            return String::new();
        };
        let [x, y] = self.place(point);
        format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>\n")
    }
}
