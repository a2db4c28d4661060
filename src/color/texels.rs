//! The mean of a texture over a convex polygon.
//!
//! A texel counts by how much of it the polygon covers. Texels inside the polygon are taken together as
//! texels of a mip level; the polygon is followed down to single texels only along its edges. Where a
//! polygon is no larger than a few texels of a texture that is filtered linearly, the interpolated
//! values are integrated instead.

use crate::appearance::texture::pyramid::{Mipmapped, Pyramid, Reading, Reduced, Sample};
use crate::appearance::texture::{Texture, floor};
use crate::appearance::{Filter, Wrap};
use crate::color::coverage::{Coverage, Scratch, has_room};
use crate::color::flat::Flat;

/// A texture, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Image<'a> {
    pub(super) texture: &'a Texture,
    pub(super) pyramid: &'a Pyramid,
    pub(super) wrap: [Wrap; 2],
    pub(super) filter: Filter,
}

/// A sum of samples by area.
#[derive(Default)]
struct Sum {
    sample: Sample,
    area: f64,
}

impl Sum {
    #[inline(always)]
    fn add(&mut self, sample: Sample, area: f64) {
        (0..5).for_each(|i| self.sample[i] += area * sample[i]);
        self.area += area;
    }

    fn mean(&self) -> Option<Sample> {
        (self.area > 0.0).then(|| self.sample.map(|c| c / self.area))
    }
}

/// A part of an axis of the plane, and what is there of the texture.
#[derive(Clone, Copy)]
struct Part {
    bounds: [f64; 2],
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    /// The texture, from `bounds[0]` on; or mirrored, from `bounds[1]` back.
    Tile {
        is_mirrored: bool,
    },
    Reduced(Reduced),
}

const WHOLE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl Image<'_> {
    pub(super) fn size(&self) -> [f64; 2] {
        self.texture.size().map(f64::from)
    }

    /// The mean over `polygon`, in texels. `None` where it has no area.
    pub(super) fn mean(&self, polygon: &Flat, scratch: &mut Scratch) -> Option<Sample> {
        /// Texels along an axis from which on texels count as squares. The smaller a polygon, the more
        /// its mean depends on what is between the centres of texels.
        const FEW: f64 = 4.0;
        let [low, high] = polygon.bounds();
        let span = [high[0] - low[0], high[1] - low[1]];
        let mut sum = Sum::default();
        // Of cut texels nothing may spread past their edges.
        let is_smooth =
            self.filter == Filter::Linear && !matches!(self.pyramid.reading(), Reading::Cut(_));
        if is_smooth && span[0].max(span[1]) <= FEW {
            self.add_interpolated(polygon, [low, high], &mut sum);
            return sum.mean();
        }
        let [xs, ys] = [0, 1].map(|a| self.parts(a, [low[a], high[a]]));
        for y in ys.iter() {
            let row = polygon.slab(1, y.bounds);
            for x in xs.iter() {
                let part = row.slab(0, x.bounds);
                self.add_part(part, [x, y], scratch, &mut sum);
            }
        }
        sum.mean()
    }

    /// The value at a point, in texels, under some reading.
    pub(super) fn at(&self, point: [f64; 2], reading: Reading) -> Sample {
        match self.filter {
            Filter::Nearest => self.texel(point.map(floor), reading),
            Filter::Linear => {
                let [x, y] = point.map(|c| c - 0.5);
                let [i, j] = [floor(x), floor(y)];
                let [s, t] = [x - i as f64, y - j as f64];
                self.patch([i, j], [s, t, s * t], reading)
            }
        }
    }

    /// A texel, which may be past the edges.
    #[inline]
    fn texel(&self, at: [i64; 2], reading: Reading) -> Sample {
        let size = self.texture.size();
        let [x, y] = [0, 1].map(|a| self.wrap[a].index(at[a], size[a]) as u32);
        reading.sample(self.texture.texel(x, y))
    }

    /// The mean of what is interpolated between four texels, of which `[i, j]` is the first. `mean` has
    /// the means of the distances from its centre along both axes, and of their product.
    fn patch(&self, [i, j]: [i64; 2], [s, t, st]: [f64; 3], reading: Reading) -> Sample {
        let corners = [[i, j], [i + 1, j], [i, j + 1], [i + 1, j + 1]];
        let texels = corners.map(|at| self.texel(at, reading));
        let weights = [1.0 - s - t + st, s - st, t - st, st];
        std::array::from_fn(|c| (0..4).map(|k| weights[k] * texels[k][c]).sum::<f64>().max(0.0))
    }

    /// Adds what is interpolated, patch by patch between the centres of texels.
    fn add_interpolated(&self, polygon: &Flat, [low, high]: [[f64; 2]; 2], sum: &mut Sum) {
        let reading = self.pyramid.reading();
        let first = low.map(|c| floor(c - 0.5));
        let last = [0, 1].map(|a| floor(high[a] - 0.5).max(first[a]));
        let bounds = |i: i64| [i as f64 + 0.5, i as f64 + 1.5];
        for j in first[1]..=last[1] {
            let row = if first[1] == last[1] { *polygon } else { polygon.slab(1, bounds(j)) };
            for i in first[0]..=last[0] {
                let mut part = if first[0] == last[0] { row } else { row.slab(0, bounds(i)) };
                for point in part.points_mut() {
                    *point = [point[0] - bounds(i)[0], point[1] - bounds(j)[0]];
                }
                if let Some(moments) = part.moments() {
                    sum.add(self.patch([i, j], moments.mean, reading), moments.area.abs());
                }
            }
        }
    }

    /// The parts of an axis that are between `low` and `high`.
    fn parts(&self, axis: usize, [low, high]: [f64; 2]) -> Parts {
        let width = f64::from(self.texture.size()[axis]);
        let mut parts = Parts::default();
        if self.wrap[axis] == Wrap::Clamp {
            let reduced = |bounds, which| Part { bounds, content: Content::Reduced(which) };
            let tile = Part { bounds: [0.0, width], content: Content::Tile { is_mirrored: false } };
            parts.push(low < 0.0, reduced([f64::NEG_INFINITY, 0.0], Reduced::First));
            parts.push(high >= 0.0 && low <= width, tile);
            parts.push(high > width, reduced([width, f64::INFINITY], Reduced::Last));
            return parts;
        }
        let first = floor(low / width);
        let last = floor(high / width);
        if last.saturating_sub(first) >= Parts::MOST as i64 {
            // Of so many tiles those that are there in part have little weight.
            parts.push(true, Part { bounds: WHOLE, content: Content::Reduced(Reduced::Mean) });
            return parts;
        }
        for tile in first..=last {
            let bounds = [tile as f64 * width, (tile + 1) as f64 * width];
            let is_mirrored = self.wrap[axis] == Wrap::Mirror && tile % 2 != 0;
            // What only ends at a tile's edge has no area in it.
            let is_needed = tile == first || bounds[0] < high;
            parts.push(is_needed, Part { bounds, content: Content::Tile { is_mirrored } });
        }
        parts
    }

    /// Adds what of the texture is in `polygon`, which is in one part of each axis.
    fn add_part(&self, mut polygon: Flat, parts: [&Part; 2], scratch: &mut Scratch, sum: &mut Sum) {
        let [low, high] = polygon.bounds();
        // By how much areas are more than those of the polygon that is looked at.
        let mut scale = 1.0;
        let mut reduced = [None; 2];
        for (axis, part) in parts.iter().enumerate() {
            let [from, to] = part.bounds;
            let points = polygon.points_mut().iter_mut().map(|point| &mut point[axis]);
            match part.content {
                Content::Tile { is_mirrored: false } => points.for_each(|c| *c -= from),
                Content::Tile { is_mirrored: true } => points.for_each(|c| *c = to - *c),
                Content::Reduced(which) => {
                    reduced[axis] = Some(which);
                    // It all looks at one texel along this axis.
                    let width = high[axis] - low[axis];
                    if !(width > 0.0) {
                        return;
                    }
                    scale *= width;
                    points.for_each(|c| *c = (*c - low[axis]) / width);
                }
            }
        }
        let strip = |axis, which| Mipmapped::strip(self.texture, self.pyramid, axis, which);
        let image = match reduced {
            [None, None] => Mipmapped::Whole { texture: self.texture, pyramid: self.pyramid },
            [Some(which), None] => strip(0, which),
            [None, Some(which)] => strip(1, which),
            [Some(x), Some(y)] => {
                let column = strip(0, x);
                let last = i64::from(column.size()[1]) - 1;
                let sample = match y {
                    Reduced::First => column.sample(0, [0, 0]),
                    Reduced::Last => column.sample(0, [0, last]),
                    Reduced::Mean => column.sample(u32::MAX, [0, 0]),
                };
                return sum.add(sample, polygon.area() * scale);
            }
        };
        let mut cells = Cells { image, least: least_level(&polygon), scale, scratch, sum };
        cells.add(&polygon);
    }
}

/// The parts of an axis.
struct Parts {
    list: [Part; Self::MOST],
    len: usize,
}

impl Default for Parts {
    fn default() -> Self {
        let part = Part { bounds: WHOLE, content: Content::Reduced(Reduced::Mean) };
        Self { list: [part; Self::MOST], len: 0 }
    }
}

impl Parts {
    /// Tiles of a repeated texture that are looked at one by one.
    const MOST: usize = 32;

    fn push(&mut self, is_needed: bool, part: Part) {
        if is_needed {
            self.list[self.len] = part;
            self.len += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Part> {
        self.list[..self.len].iter()
    }
}

/// The finest level at which the edges of a polygon are followed, so that the time it takes is bounded.
fn least_level(polygon: &Flat) -> u32 {
    const MOST_CELLS: f64 = 4096.0;
    let [low, high] = polygon.bounds();
    let around = high[0] - low[0] + high[1] - low[1];
    (0..31).take_while(|&level| around > MOST_CELLS * f64::from(1_u32 << level)).count() as u32
}

/// The walk over the cells of an image that a polygon covers.
struct Cells<'a, 'b> {
    image: Mipmapped<'a>,
    least: u32,
    scale: f64,
    scratch: &'b mut Scratch,
    sum: &'b mut Sum,
}

impl Cells<'_, '_> {
    /// Adds a polygon, which is in the image.
    fn add(&mut self, polygon: &Flat) {
        let [low, high] = polygon.bounds();
        let span = [high[0] - low[0], high[1] - low[1]];
        // A polygon that a cell of a level contains has room at the level three below.
        let fits = |level: u32| has_room(span.map(|c| c / f64::from(1_u32 << level)));
        let level = (self.least..31).find(|&level| fits(level)).unwrap_or(31);
        if level == 0 {
            if low.map(floor) == high.map(floor) {
                return self
                    .sum
                    .add(self.image.sample(0, low.map(floor)), polygon.area() * self.scale);
            }
            for (cell, part) in Coverage::new(polygon.points(), self.scratch).cells() {
                self.sum.add(self.image.sample(0, cell), part * self.scale);
            }
            return;
        }
        let edge = f64::from(1_u32 << level);
        let mut scaled = *polygon;
        scaled.points_mut().as_flattened_mut().iter_mut().for_each(|c| *c /= edge);
        let cells: Vec<_> = Coverage::new(scaled.points(), self.scratch).cells().collect();
        let size = self.image.size();
        for (cell, part) in cells {
            let from = cell.map(|i| i as f64 * edge);
            let end = [0, 1].map(|a| (from[a] + edge).min(f64::from(size[a])));
            let whole = (end[0] - from[0]) * (end[1] - from[1]) / (edge * edge);
            if level == self.least || part > whole * (1.0 - 1e-9) {
                self.sum.add(self.image.sample(level, cell), part * edge * edge * self.scale);
            } else {
                let inside = polygon.slab(0, [from[0], from[0] + edge]);
                self.add(&inside.slab(1, [from[1], from[1] + edge]));
            }
        }
    }
}
