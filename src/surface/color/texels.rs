//! The mean of a texture over a convex polygon.
//!
//! A texel is weighted by its covered area. Inside the polygon, texels of a coarse mip level are
//! used; along its edges the polygon is refined down to single texels. A polygon of a few texels of
//! a linearly filtered texture is integrated over the bilinear interpolant instead.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::srgb::Rgba;
use crate::mesh::appearance::texture::Texture;
use crate::mesh::appearance::texture::pyramid::{
    AxisReduction, Mipmapped, Pyramid, Sample, TexelAlpha,
};
use crate::mesh::appearance::{Filter, Wrap};
use crate::surface::color::coverage::{Coverage, Scratch, has_room};
use crate::surface::color::floor;
use crate::surface::color::integrals::Integrated;
use crate::surface::color::polygon::{TexelPolygon, moments};

/// Largest span, in texels along an axis, for which the interpolant is integrated. Above it texels
/// count as squares: the difference shrinks as polygons grow.
const MAX_INTERPOLATED: f64 = 4.0;

/// Whether the interpolant is integrated over a polygon of this span, in texels.
#[inline(always)]
pub(super) fn is_interpolated(filter: Filter, span: [f64; 2]) -> bool {
    filter == Filter::Linear && span[0].max(span[1]) <= MAX_INTERPOLATED
}

/// A texture with its mip levels, wrap modes and filter.
pub(super) struct Sampler {
    pub(super) texture: Texture,
    pub(super) pyramid: Arc<Pyramid>,
    pub(super) wrap: [Wrap; 2],
    pub(super) filter: Filter,
}

/// An area-weighted sum of samples.
#[derive(Default)]
pub(super) struct Sum {
    sample: Sample,
    area: f64,
}

impl Sum {
    #[inline(always)]
    pub(super) fn add(&mut self, sample: Sample, area: f64) {
        (0..5).for_each(|i| self.sample[i] += area * sample[i]);
        self.area += area;
    }

    pub(super) fn mean(&self) -> Option<Sample> {
        (self.area > 0.0).then(|| self.sample.map(|c| c / self.area))
    }
}

/// An interval of one axis of the texture plane, and what the texture is there.
#[derive(Clone, Copy)]
struct Span {
    bounds: [f64; 2],
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    /// One tile: the texture from `bounds[0]` up or, mirrored, from `bounds[1]` down.
    Tile { is_mirrored: bool },
    /// The texture is constant along the axis.
    Reduced(AxisReduction),
}

impl Sampler {
    pub(super) fn size(&self) -> [f64; 2] {
        self.texture.size().map(f64::from)
    }

    /// Whether the filter reads equal texels at all points within these bounds, in texels. False
    /// for many texels.
    #[inline]
    pub(super) fn is_constant(&self, [low, high]: [[f64; 2]; 2]) -> bool {
        const MOST: i64 = 64;
        let half = if self.filter == Filter::Linear { 0.5 } else { 0.0 };
        let first = low.map(|c| floor(c - half));
        // The texel that begins at the upper bound has no share.
        let last = high.map(|c| -floor(-(c + half)) - 1);
        let last = [0, 1].map(|a| last[a].max(first[a]));
        let [columns, rows] = [0, 1].map(|a| last[a] - first[a] + 1);
        if columns.saturating_mul(rows) > MOST {
            return false;
        }
        let all = (first[1]..=last[1]).flat_map(|y| (first[0]..=last[0]).map(move |x| [x, y]));
        let mut texels = all.map(|at| self.raw_texel(at));
        let one = texels.next();
        texels.all(|texel| Some(texel) == one)
    }

    /// The mean of the texture over an integrated polygon.
    #[inline(always)]
    pub(super) fn weighted(&self, integrated: &Integrated) -> Sample {
        let texel_alpha = self.pyramid.texel_alpha;
        integrated.mean(
            #[inline(always)]
            |at| self.texel(at, texel_alpha),
        )
    }

    /// The mean over `polygon`, in texels. `None` where it has no area.
    pub(super) fn mean(&self, polygon: &TexelPolygon, scratch: &mut Scratch) -> Option<Sample> {
        let [low, high] = polygon.bounds();
        let span = [high[0] - low[0], high[1] - low[1]];
        let mut sum = Sum::default();
        if is_interpolated(self.filter, span) {
            self.add_interpolated(polygon, [low, high], &mut sum);
            return sum.mean();
        }
        if has_room(span) {
            let texel_alpha = self.pyramid.texel_alpha;
            let first = low.map(floor);
            if first == high.map(|c| -floor(-c) - 1) {
                return Some(self.texel(first, texel_alpha));
            }
            for (cell, area) in Coverage::new(polygon.points(), scratch).cells() {
                sum.add(self.texel(cell, texel_alpha), area);
            }
            return sum.mean();
        }
        let [xs, ys] = [0, 1].map(|a| self.spans(a, [low[a], high[a]]));
        let is_tile = |span: &&Span| matches!(span.content, Content::Tile { .. });
        let tiles = |spans: &[Span]| spans.iter().filter(is_tile).count();
        let has_whole_tile = tiles(&xs).max(tiles(&ys)) > 2;
        let finest = if has_whole_tile { finest_of_tiles(polygon.area(), span) } else { 0 };
        for y in &ys {
            let row = polygon.slab(1, y.bounds);
            for x in &xs {
                let clipped = row.slab(0, x.bounds);
                self.add_clipped(clipped, [x, y], finest, scratch, &mut sum);
            }
        }
        sum.mean()
    }

    /// The filtered value at a point, in texels.
    pub(super) fn at(&self, point: [f64; 2], texel_alpha: TexelAlpha) -> Sample {
        match self.filter {
            Filter::Nearest => self.texel(point.map(floor), texel_alpha),
            Filter::Linear => {
                let [x, y] = point.map(|c| c - 0.5);
                let [i, j] = [floor(x), floor(y)];
                let [s, t] = [x - i as f64, y - j as f64];
                self.bilinear([i, j], [s, t, s * t], texel_alpha)
            }
        }
    }

    /// The sample of a texel by its index before wrapping.
    #[inline(always)]
    fn texel(&self, at: [i64; 2], texel_alpha: TexelAlpha) -> Sample {
        texel_alpha.sample(self.raw_texel(at))
    }

    #[inline(always)]
    fn raw_texel(&self, at: [i64; 2]) -> Rgba {
        let size = self.texture.size();
        let x = self.wrap[0].index(at[0], size[0]) as u32;
        let y = self.wrap[1].index(at[1], size[1]) as u32;
        self.texture.texel(x, y)
    }

    /// The mean of the bilinear interpolant between four texels, `[i, j]` being the first. `s`, `t`
    /// and `st` are the means of the offsets from its centre along both axes and of their product.
    fn bilinear(&self, [i, j]: [i64; 2], [s, t, st]: [f64; 3], texel_alpha: TexelAlpha) -> Sample {
        let corners = [[i, j], [i + 1, j], [i, j + 1], [i + 1, j + 1]];
        let texels = corners.map(|at| self.texel(at, texel_alpha));
        let weights = [1.0 - s - t + st, s - st, t - st, st];
        std::array::from_fn(|c| (0..4).map(|k| weights[k] * texels[k][c]).sum::<f64>().max(0.0))
    }

    /// Adds the integral of the bilinear interpolant, one square between texel centres at a time.
    fn add_interpolated(&self, polygon: &TexelPolygon, [low, high]: [[f64; 2]; 2], sum: &mut Sum) {
        let texel_alpha = self.pyramid.texel_alpha;
        let first = low.map(|c| floor(c - 0.5));
        let last = [0, 1].map(|a| floor(high[a] - 0.5).max(first[a]));
        let bounds = |i: i64| [i as f64 + 0.5, i as f64 + 1.5];
        for j in first[1]..=last[1] {
            let row = if first[1] == last[1] { *polygon } else { polygon.slab(1, bounds(j)) };
            for i in first[0]..=last[0] {
                let mut square = if first[0] == last[0] { row } else { row.slab(0, bounds(i)) };
                for point in square.points_mut() {
                    *point = [point[0] - bounds(i)[0], point[1] - bounds(j)[0]];
                }
                if let Some(moments) = moments(square.points().iter().copied()) {
                    let sample = self.bilinear([i, j], moments.mean, texel_alpha);
                    sum.add(sample, moments.area.abs());
                }
            }
        }
    }

    /// The spans of an axis that `low..=high` meets.
    fn spans(&self, axis: usize, [low, high]: [f64; 2]) -> Vec<Span> {
        /// Tiles of a repeated texture that are integrated one by one.
        const MAX_TILES: i64 = 32;
        let width = f64::from(self.texture.size()[axis]);
        let reduced = |bounds, to| Span { bounds, content: Content::Reduced(to) };
        let tile = |bounds, is_mirrored| Span { bounds, content: Content::Tile { is_mirrored } };
        if self.wrap[axis] == Wrap::Clamp {
            let before = reduced([f64::NEG_INFINITY, 0.0], AxisReduction::First);
            let after = reduced([width, f64::INFINITY], AxisReduction::Last);
            let spans = [
                (low < 0.0, before),
                (high >= 0.0 && low <= width, tile([0.0, width], false)),
                (high > width, after),
            ];
            return spans.into_iter().filter(|span| span.0).map(|span| span.1).collect();
        }
        let first = floor(low / width);
        let last = floor(high / width);
        if last.saturating_sub(first) >= MAX_TILES {
            // Over this many tiles the partial ones at both ends have little weight.
            return vec![reduced([f64::NEG_INFINITY, f64::INFINITY], AxisReduction::Mean)];
        }
        let bounds = |tile: i64| [tile as f64 * width, (tile + 1) as f64 * width];
        // A polygon that ends at a tile's edge has no area in that tile.
        let is_needed = |&tile: &i64| tile == first || bounds(tile)[0] < high;
        let is_mirrored = |tile: i64| self.wrap[axis] == Wrap::Mirror && tile % 2 != 0;
        let tiles = (first..=last).filter(is_needed);
        tiles.map(|index| tile(bounds(index), is_mirrored(index))).collect()
    }

    /// Adds the mean over `polygon`, which lies in one span of each axis. In a tile its edges are
    /// refined to the mip level `finest` at most.
    fn add_clipped(
        &self,
        mut polygon: TexelPolygon,
        spans: [&Span; 2],
        finest: u32,
        scratch: &mut Scratch,
        sum: &mut Sum,
    ) {
        let [low, high] = polygon.bounds();
        // The area in texels divided by the area after reduced axes are scaled to unit length.
        let mut scale = 1.0;
        let mut reduced = [None; 2];
        for (axis, span) in spans.iter().enumerate() {
            let [from, to] = span.bounds;
            let points = polygon.points_mut().iter_mut().map(|point| &mut point[axis]);
            match span.content {
                Content::Tile { is_mirrored: false } => points.for_each(|c| *c -= from),
                Content::Tile { is_mirrored: true } => points.for_each(|c| *c = to - *c),
                Content::Reduced(to) => {
                    reduced[axis] = Some(to);
                    // The axis has one texel: scale the polygon to unit length.
                    let width = high[axis] - low[axis];
                    // Also for NaN.
                    if width.partial_cmp(&0.0) != Some(Ordering::Greater) {
                        return;
                    }
                    scale *= width;
                    points.for_each(|c| *c = (*c - low[axis]) / width);
                }
            }
        }
        let strip = |axis, to| self.pyramid.strip(&self.texture, axis, to);
        let image = match reduced {
            [None, None] => Mipmapped::Whole { texture: &self.texture, pyramid: &self.pyramid },
            [Some(to), None] => strip(0, to),
            [None, Some(to)] => strip(1, to),
            [Some(x), Some(y)] => {
                let column = strip(0, x);
                let sample = match y {
                    AxisReduction::First => column.sample(0, [0, 0]),
                    // Clamped to the last texel.
                    AxisReduction::Last => column.sample(0, [0, i64::MAX]),
                    AxisReduction::Mean => column.sample(u32::MAX, [0, 0]),
                };
                return sum.add(sample, polygon.area() * scale);
            }
        };
        let in_tile = if reduced == [None, None] { finest } else { 0 };
        let finest = finest_level(&polygon).max(in_tile);
        MipTraversal { image, finest, scale, scratch, sum }.add(&polygon);
    }
}

/// The finest mip level to which the edges of a polygon are refined; bounds the time.
fn finest_level(polygon: &TexelPolygon) -> u32 {
    const MAX_CELLS: f64 = 4096.0;
    let [low, high] = polygon.bounds();
    let around = high[0] - low[0] + high[1] - low[1];
    (0..31).take_while(|&level| around > MAX_CELLS * f64::from(1_u32 << level)).count() as u32
}

/// The finest mip level for the edges of a convex polygon over several tiles of a repeated texture,
/// from its area and span in texels. A cell that an edge crosses adds an error of at most 1/4 of
/// the cell's area. For cells of side `c` and the sum `s` of both spans, the edges cross at most
/// `2.6 s / c` cells. With `c` at most `area / (128 s)` the mean is wrong by at most 1/192. Slivers
/// have level 0.
fn finest_of_tiles(area: f64, span: [f64; 2]) -> u32 {
    let least = |level: u32| 128.0 * f64::from(1_u32 << level) * (span[0] + span[1]);
    (1..31).take_while(|&level| area >= least(level)).count() as u32
}

/// A traversal from coarse to fine of the mip cells that a polygon covers.
struct MipTraversal<'a, 'b> {
    image: Mipmapped<'a>,
    finest: u32,
    /// The factor of all areas.
    scale: f64,
    scratch: &'b mut Scratch,
    sum: &'b mut Sum,
}

impl MipTraversal<'_, '_> {
    /// Adds a polygon that lies within the image.
    fn add(&mut self, polygon: &TexelPolygon) {
        let [low, high] = polygon.bounds();
        let span = [high[0] - low[0], high[1] - low[1]];
        // A polygon within one cell of a level fits at the level three below.
        let fits = |level: u32| has_room(span.map(|c| c / f64::from(1_u32 << level)));
        let level = (self.finest..31).find(|&level| fits(level)).unwrap_or(31);
        if level == 0 {
            let cell = low.map(floor);
            if cell == high.map(floor) {
                return self.sum.add(self.image.sample(0, cell), polygon.area() * self.scale);
            }
            for (cell, area) in Coverage::new(polygon.points(), self.scratch).cells() {
                self.sum.add(self.image.sample(0, cell), area * self.scale);
            }
            return;
        }
        let edge = f64::from(1_u32 << level);
        let mut scaled = *polygon;
        scaled.points_mut().as_flattened_mut().iter_mut().for_each(|c| *c /= edge);
        let cells: Vec<_> = Coverage::new(scaled.points(), self.scratch).cells().collect();
        let size = self.image.size();
        for (cell, area) in cells {
            let from = cell.map(|i| i as f64 * edge);
            let end = [0, 1].map(|a| (from[a] + edge).min(f64::from(size[a])));
            let whole = (end[0] - from[0]) * (end[1] - from[1]) / (edge * edge);
            if level == self.finest || area > whole * (1.0 - 1e-9) {
                self.sum.add(self.image.sample(level, cell), area * edge * edge * self.scale);
            } else {
                let inside = polygon.slab(0, [from[0], from[0] + edge]);
                self.add(&inside.slab(1, [from[1], from[1] + edge]));
            }
        }
    }
}
