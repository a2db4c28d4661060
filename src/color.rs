//! The colours of voxels: the area-weighted mean of the mesh's surface inside each voxel, in linear
//! light.
//!
//! Triangles are assigned to the bricks that they touch (`octree`). A voxel that only triangles of
//! one shade touch (`touched`) has that shade. In all other voxels triangles are clipped (`clip`).
//! The mean colour of a clipped polygon (`shade`) is the mean of the texels that it covers,
//! weighted by covered area (`texels`, `coverage`, `bilinear`). Polygons are summed in integers
//! (`sums`), so their order has no effect. All of it runs on the CPU, for both backends, with basic
//! floating-point operations only: the colours are the same on every machine, to the bit.
//!
//! The surface of a solid does not touch all its voxels. An exposed untouched voxel has the mean
//! colour of its neighbours; all others have one colour, the mean over the surface (`interior`).

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::color::bilinear::{Integrated, Piece, Queues};
use crate::color::clip::{ClipScratch, Plane, clip, corners};
use crate::color::shade::{Shade, Shading, TriangleShading};
use crate::color::sums::{Sums, Weights};
use crate::color::texel_polygon::TexelPolygon;
use crate::color::texels::MAX_INTERPOLATED;
use crate::color::touched::brick_masks;
use crate::grid::{BRICK, BrickKey, Colors, FULL, Mask, VoxelGrid, count, is_empty, set_bits};
use crate::mode::Mode;
use crate::place::PlacedMesh;
use crate::predicate::boxes::BoxRange;
use crate::progress::Progress;
use crate::srgb::{Rgba, linear_of, rgba_of, srgb_of};
use crate::voxelize::{BackendError, check_cancelled, check_memory};

mod bilinear;
mod clip;
mod coverage;
mod interior;
mod octree;
mod shade;
mod sums;
mod texel_polygon;
mod texels;
mod touched;

/// How voxels are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColorOptions {
    /// How the grid was voxelized. Fully transparent voxels of surfaces are removed.
    pub mode: Mode,
    /// Keep the fully transparent voxels of surfaces.
    pub keep_transparent: bool,
    /// The memory limit in bytes, colours included.
    pub memory: u64,
    /// The colour of voxels far from the surface, of a solid; `None` for the mean over the voxels
    /// that the surface touches in and next to the grid, which differs from tile to tile.
    pub interior: Option<Rgba>,
}

impl ColorOptions {
    /// For voxels of `mode`, without a memory limit.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, keep_transparent: false, memory: u64::MAX, interior: None }
    }

    /// Sets whether to keep the fully transparent voxels of surfaces.
    #[must_use]
    pub fn with_keep_transparent(self, keep_transparent: bool) -> Self {
        Self { keep_transparent, ..self }
    }

    /// Sets the memory limit, in bytes.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// Sets the colour of voxels far from the surface.
    #[must_use]
    pub fn with_interior(self, color: Rgba) -> Self {
        Self { interior: Some(color), ..self }
    }
}

/// A grid in colour.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Colored {
    /// The grid, with colours if the mesh has any.
    pub grid: VoxelGrid,
    /// Number of voxels that were removed because they are fully transparent.
    pub transparent: u64,
}

impl Colored {
    /// `grid` without colours.
    #[must_use]
    pub fn without_colors(grid: VoxelGrid) -> Self {
        Self { grid, transparent: 0 }
    }
}

/// Colours the voxels of `grid`, the voxelization of `mesh`, by the mesh's appearance.
///
/// # Errors
/// The memory limit, or cancellation.
///
/// # Panics
/// The dimensions of `grid` are not those of the mesh's lattice.
pub fn color(
    mesh: &PlacedMesh,
    grid: VoxelGrid,
    options: &ColorOptions,
    progress: &dyn Progress,
) -> Result<Colored, BackendError> {
    assert_eq!(grid.dims(), mesh.lattice().dims, "the grid of the mesh");
    let Some(appearance) = mesh.appearance() else {
        return Ok(Colored::without_colors(grid));
    };
    let is_solid = matches!(options.mode, Mode::Solid(_));
    if let Some(color) = appearance.only_color()
        && !(is_solid && options.interior.is_some())
    {
        let grid = grid.with_colors(Colors::uniform(rgba_of(color)));
        return Ok(Colored { grid, transparent: 0 });
    }
    progress.start("color", octree::SHARES);
    let needed = memory_bound(mesh, &grid, is_solid) + Shading::bytes(appearance);
    check_memory(needed, options.memory)?;
    let shading = Shading::new(appearance);
    let painter = Painter { mesh, shading, grid: &grid, is_solid, progress };
    let painted = painter.paint(options.memory - needed).map_err(|lists| BackendError::Memory {
        needed: needed + lists,
        allowed: options.memory,
    })?;
    check_cancelled(progress)?;
    let (grid, transparent) = match is_solid || options.keep_transparent {
        true => (grid, 0),
        false => without_transparent(grid, &painted)?,
    };
    let surface = SurfaceColors::new(&painted, options.interior);
    drop(painted);
    let colors = match !is_solid && surface.colors.own_count() == grid.occupied() {
        true => surface.colors,
        false => interior::colors(&grid, &surface),
    };
    Ok(Colored { grid: grid.with_colors(colors), transparent })
}

/// Removes the voxels that triangles touch, but only with transparent parts. Returns their number.
fn without_transparent(
    grid: VoxelGrid,
    painted: &[Painted],
) -> Result<(VoxelGrid, u64), BackendError> {
    let transparent = |brick: &ColoredBrick| {
        let mask = std::array::from_fn(|x| brick.touched[x] & !brick.visible[x]);
        (!is_empty(&mask)).then_some((brick.key, mask))
    };
    let bricks = painted.iter().flat_map(|painted| &painted.bricks);
    let transparent = bricks.filter_map(transparent).collect();
    let transparent = VoxelGrid::from_bricks(grid.dims(), transparent)?;
    Ok(match transparent.occupied() {
        0 => (grid, 0),
        count => (grid.subtract(&transparent), count),
    })
}

/// An upper estimate of bytes: the list of all triangles, coloured bricks, the colours of the
/// surface and of the grid. Most full bricks of a solid have no colours of their own: those that
/// have are counted when they are painted.
fn memory_bound(mesh: &PlacedMesh, grid: &VoxelGrid, is_solid: bool) -> u64 {
    let voxels: u64 = grid.masks().par_iter().map(|mask| u64::from(count(mask))).sum();
    let full = if is_solid { 0 } else { grid.full_runs().map(|(_, len)| u64::from(len)).sum() };
    let bricks = grid.keys().len() as u64 + full;
    mesh.len() as u64 * 4 + painted_bytes(bricks, voxels + 512 * full)
}

/// An upper estimate of the bytes of coloured bricks, and of the colours of their voxels: each is in
/// three lists at once, or in two of which one grows. For a solid, bricks are in more lists, and so
/// are the keys of their neighbours.
fn painted_bytes(bricks: u64, voxels: u64) -> u64 {
    let keys = 3 * 7 * size_of::<BrickKey>();
    let brick_bytes = 3 * (size_of::<ColoredBrick>() + size_of::<(BrickKey, Mask, u64)>()) + keys;
    bricks * brick_bytes as u64 + voxels * 3 * size_of::<Rgba>() as u64
}

/// A brick with coloured voxels.
struct ColoredBrick {
    key: BrickKey,
    /// The voxels that a triangle touches.
    touched: Mask,
    /// The touched voxels that are not fully transparent.
    visible: Mask,
    /// The index of its first colour.
    first: usize,
}

/// The bricks of one task.
#[derive(Default)]
struct Painted {
    bricks: Vec<ColoredBrick>,
    /// Brick by brick, one for each visible voxel.
    colors: Vec<Rgba>,
}

impl Painted {
    fn colors_of(&self, brick: &ColoredBrick) -> &[Rgba] {
        &self.colors[brick.first..][..count(&brick.visible) as usize]
    }
}

/// The coloured surface of a mesh, including voxels that are not in the grid.
struct SurfaceColors {
    touched: Vec<(BrickKey, Mask)>,
    colors: Colors,
}

impl SurfaceColors {
    fn new(painted: &[Painted], interior: Option<Rgba>) -> Self {
        let sums = painted.par_iter().map(|painted| LightSum::of(&painted.colors));
        let mean = || sums.reduce(LightSum::default, LightSum::plus).mean();
        let rest = interior.or_else(mean).unwrap_or(GREY);
        let bricks = painted.iter().enumerate().flat_map(|(task, Painted { bricks, .. })| {
            bricks.iter().enumerate().map(move |(index, brick)| (brick.key, task, index))
        });
        let mut order: Vec<(BrickKey, usize, usize)> = bricks.collect();
        order.par_sort_unstable_by_key(|&(key, ..)| key);
        let count = painted.iter().map(|painted| painted.colors.len()).sum();
        let mut colors = Colors::uniform(rest);
        colors.reserve(order.len(), count);
        let mut touched = Vec::with_capacity(order.len());
        for (key, task, index) in order {
            let brick = &painted[task].bricks[index];
            touched.push((key, brick.touched));
            colors.push(key, brick.visible, painted[task].colors_of(brick));
        }
        Self { touched, colors }
    }

    /// The voxels of a brick that triangles touch.
    fn touched(&self, key: BrickKey) -> Mask {
        let found = self.touched.binary_search_by_key(&key, |&(key, _)| key);
        found.map_or([0; 8], |index| self.touched[index].1)
    }
}

/// Linear red, green, blue and opacity from 0 to 1; straight alpha.
type Color = [f64; 4];

/// The colour of a solid without any coloured surface.
const GREY: Rgba = [200, 200, 200, 255];

/// A sum of colours in linear light, weighted by their opacity.
#[derive(Clone, Copy, Default)]
struct LightSum {
    light: [u64; 3],
    weight: u64,
    opacity: u64,
    count: u64,
}

impl LightSum {
    fn of<'a>(colors: impl IntoIterator<Item = &'a Rgba>) -> Self {
        let mut sum = Self::default();
        for &[r, g, b, opacity] in colors {
            // At least 1, so that colours without opacity have a mean.
            let weight = u64::from(opacity.max(1));
            for (sum, value) in sum.light.iter_mut().zip([r, g, b]) {
                *sum += weight * u64::from(linear_of(value));
            }
            sum.weight += weight;
            sum.opacity += u64::from(opacity);
            sum.count += 1;
        }
        sum
    }

    fn plus(self, other: Self) -> Self {
        Self {
            light: std::array::from_fn(|c| self.light[c] + other.light[c]),
            weight: self.weight + other.weight,
            opacity: self.opacity + other.opacity,
            count: self.count + other.count,
        }
    }

    fn mean(self) -> Option<Rgba> {
        let rounded = |sum: u64, of: u64| (sum + of / 2).checked_div(of);
        let [r, g, b] = self.light.map(|sum| rounded(sum, self.weight));
        let srgb = |light: u64| srgb_of(light as u16);
        Some([srgb(r?), srgb(g?), srgb(b?), rounded(self.opacity, self.count)? as u8])
    }
}

/// `floor(x)`, saturating. `f64::floor` is a function call on baseline x86-64, which has no
/// rounding instruction.
#[inline(always)]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

struct Painter<'a> {
    mesh: &'a PlacedMesh,
    shading: Shading<'a>,
    grid: &'a VoxelGrid,
    is_solid: bool,
    progress: &'a dyn Progress,
}

/// Scratch memory of a task.
struct Scratch {
    clipped: ClipScratch,
    texels: TexelPolygon,
    coverage: coverage::Scratch,
    queues: Queues,
    /// Empty between bricks.
    sums: Vec<Sums>,
    colors: Vec<Rgba>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            clipped: ClipScratch::default(),
            texels: TexelPolygon::EMPTY,
            coverage: coverage::Scratch::default(),
            queues: Queues::default(),
            sums: vec![Sums::default(); 512],
            colors: vec![[0; 4]; 512],
        }
    }
}

impl Painter<'_> {
    /// The bricks that triangles touch, in no order.
    ///
    /// # Errors
    /// As [`octree::bricks`].
    fn paint(&self, memory: u64) -> Result<Vec<Painted>, u64> {
        let weights = Weights::new(self.mesh.whole().len());
        let arch = Arch::new();
        let paint = |scratch: &mut Scratch, painted: &mut Painted, key, triangles: &[u32]| {
            if self.progress.is_cancelled() {
                return 0;
            }
            let painter = self;
            arch.dispatch(PaintBrick { painter, key, triangles, weights, scratch, painted });
            let is_counted = !self.is_solid || self.grid.keys().binary_search(&key).is_ok();
            match painted.bricks.last() {
                Some(brick) if !is_counted => painted_bytes(1, count(&brick.visible).into()),
                _ => 0,
            }
        };
        let done = |shares| self.progress.advance(shares);
        octree::bricks(self.mesh, self.grid, self.is_solid, memory, &paint, &done)
    }
}

/// Colours a brick.
struct PaintBrick<'a> {
    painter: &'a Painter<'a>,
    key: BrickKey,
    /// The triangles that touch it.
    triangles: &'a [u32],
    weights: Weights,
    scratch: &'a mut Scratch,
    painted: &'a mut Painted,
}

impl WithSimd for PaintBrick<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Painter { grid, is_solid, .. } = self.painter;
        // For a solid, voxels outside too: the exposed voxels next to them take the mean of their
        // colours.
        let wanted = if *is_solid { FULL } else { grid.mask_of(self.key) };
        if let Some(color) = self.uniform_color().filter(|_| !is_solid) {
            return self.push(wanted, wanted, |colors| {
                colors.extend(std::iter::repeat_n(color, count(&wanted) as usize));
            });
        }
        let shadings: Vec<_> = self.triangles.iter().map(|&index| self.shading(index)).collect();
        let masks = match shadings.iter().any(|shading| shading.uniform().is_some()) {
            true => brick_masks(simd, self.painter.mesh, self.triangles, self.base()),
            false => Vec::new(),
        };
        let (mut touched, mut visible, mut mixed) = (Mask::default(), Mask::default(), wanted);
        if !masks.is_empty() {
            let by_shade = ByShade::new(&shadings, &masks);
            mixed = std::array::from_fn(|x| wanted[x] & by_shade.mixed[x]);
            for (shade, mask) in &by_shade.shades {
                let own: Mask = std::array::from_fn(|x| mask[x] & wanted[x] & !mixed[x]);
                add(&mut touched, &own);
                if let Some(color) = color_of(*shade) {
                    add(&mut visible, &own);
                    voxels_of(&own).for_each(|voxel| self.scratch.colors[voxel] = color);
                }
            }
        }
        if !is_empty(&mixed) {
            self.sum(simd, &shadings, &masks, &mixed);
        }
        self.resolve(&mixed, &mut touched, &mut visible);
        let colors = std::mem::take(&mut self.scratch.colors);
        self.push(touched, visible, |to| to.extend(voxels_of(&visible).map(|v| colors[v])));
        self.scratch.colors = colors;
    }
}

impl<'a> PaintBrick<'a> {
    /// The colour of the brick, if all its triangles have the same constant colour.
    fn uniform_color(&self) -> Option<Rgba> {
        let Painter { shading, mesh, .. } = self.painter;
        let flat = |&triangle: &u32| shading.flat(mesh.source(triangle as usize));
        let first = flat(self.triangles.first()?);
        let is_uniform = self.triangles.iter().all(|triangle| flat(triangle) == first);
        first.and_then(color_of).filter(|_| is_uniform)
    }

    /// Adds the shades of all triangles to the sums of the `mixed` voxels. `masks` has the voxels
    /// that each triangle touches; empty if they are unknown.
    #[inline(always)]
    fn sum<S: Simd>(
        &mut self,
        simd: S,
        shadings: &[TriangleShading],
        masks: &[Mask],
        mixed: &Mask,
    ) {
        let base = self.base();
        let brick = BoxRange { lo: base, hi: self.last_voxel(base) };
        for index in 0..shadings.len() {
            let range = match masks.get(index) {
                Some(mask) => bounds(&std::array::from_fn(|x| mask[x] & mixed[x]), base),
                None => Some(brick),
            };
            if let Some(range) = range {
                self.add(simd, index, shadings, &range.intersect(&brick), mixed);
            }
        }
        let Scratch { queues, sums, .. } = &mut *self.scratch;
        queues.finish(simd, |integrated| add_pieces(integrated, shadings, sums));
    }

    /// Converts the sums of the `mixed` voxels to colours.
    fn resolve(&mut self, mixed: &Mask, touched: &mut Mask, visible: &mut Mask) {
        let Scratch { sums, colors, .. } = &mut *self.scratch;
        for voxel in voxels_of(mixed) {
            let sums = std::mem::take(&mut sums[voxel]);
            let bit = 1 << (voxel % 64);
            touched[voxel / 64] |= if sums.is_touched() { bit } else { 0 };
            if let Some(mean) = sums.mean() {
                visible[voxel / 64] |= bit;
                colors[voxel] = rgba_of(mean);
            }
        }
    }

    fn push(&mut self, touched: Mask, visible: Mask, colors: impl FnOnce(&mut Vec<Rgba>)) {
        let first = self.painted.colors.len();
        colors(&mut self.painted.colors);
        self.painted.bricks.push(ColoredBrick { key: self.key, touched, visible, first });
    }

    fn shading(&self, triangle: u32) -> TriangleShading<'a> {
        let Painter { shading, mesh, .. } = self.painter;
        shading.of(mesh.source(triangle as usize), mesh.indices()[triangle as usize])
    }

    /// The minimum corner.
    fn base(&self) -> [i32; 3] {
        self.key.position().map(|b| (b * BRICK) as i32)
    }

    fn last_voxel(&self, base: [i32; 3]) -> [i32; 3] {
        let dims = self.painter.grid.dims();
        std::array::from_fn(|a| (base[a] + BRICK as i32).min(dims[a] as i32) - 1)
    }

    /// Clips a triangle to the `mixed` voxels within `range` and adds the polygons to their sums.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        index: usize,
        shadings: &[TriangleShading],
        range: &BoxRange,
        mixed: &Mask,
    ) {
        let mesh = self.painter.mesh;
        let fraction_bits = mesh.lattice().fraction_bits;
        let shading = &shadings[index];
        let triangle = mesh.triangle(self.triangles[index] as usize);
        let base = self.base();
        let range = BoxRange::of_triangle(&triangle, fraction_bits).intersect(range);
        let corners = corners(&triangle, base, fraction_bits);
        let plane = Plane::new(&corners);
        let texel_map = shading.texel_map(plane);
        let is_interpolated = shading.interpolated().is_some();
        let Scratch { clipped, texels, coverage, queues, sums, .. } = &mut *self.scratch;
        clip(
            &corners,
            base,
            &range,
            clipped,
            #[inline(always)]
            |[x, y, z], polygon| {
                let voxel = (64 * x + 8 * y + z) as usize;
                if mixed[voxel / 64] >> (voxel % 64) & 1 == 0 {
                    return;
                }
                let weight = self.weights.of(plane.area(polygon));
                if let Some(map) = &texel_map {
                    map.map(polygon, texels);
                }
                if is_interpolated {
                    let [low, high] = texels.bounds();
                    let color = shading.mean_color(&plane, polygon);
                    let piece = Piece::new(index, voxel, weight, color);
                    let done = |integrated: &Integrated| add_pieces(integrated, shadings, sums);
                    let is_small = (high[0] - low[0]).max(high[1] - low[1]) <= MAX_INTERPOLATED;
                    if is_small && queues.push(simd, texels.points(), [low, high], piece, done) {
                        return;
                    }
                }
                let shade = shading.mean(&plane, polygon, texel_map.as_ref(), texels, coverage);
                sums[voxel].add(weight, &shade);
            },
        );
    }
}

/// Adds integrated pieces of triangles to the sums of their voxels.
#[inline(always)]
fn add_pieces(integrated: &Integrated, shadings: &[TriangleShading], sums: &mut [Sums]) {
    for (index, piece) in integrated.pieces.iter().enumerate() {
        let shading = &shadings[piece.triangle as usize];
        if let Some(sampler) = shading.interpolated() {
            let shade = shading.shade(sampler.weighted(integrated, index), piece.color);
            sums[piece.voxel as usize].add(piece.weight, &shade);
        }
    }
}

/// The voxels of a brick by the shade of the triangles that touch them.
struct ByShade {
    /// For each shade the voxels that its triangles touch.
    shades: Vec<(Shade, Mask)>,
    /// The voxels that triangles of several shades touch, or triangles of varying shade.
    mixed: Mask,
}

impl ByShade {
    fn new(shadings: &[TriangleShading], masks: &[Mask]) -> Self {
        /// Bounds the time of the search.
        const MAX_SHADES: usize = 16;
        let mut shades: Vec<(Shade, Mask)> = Vec::new();
        let mut mixed = [0; 8];
        for (shading, mask) in shadings.iter().zip(masks) {
            let found = |shade| shades.iter().position(|&(other, _)| other == shade);
            match shading.uniform().map(|shade| (shade, found(shade))) {
                Some((_, Some(index))) => add(&mut shades[index].1, mask),
                Some((shade, None)) if shades.len() < MAX_SHADES => shades.push((shade, *mask)),
                _ => add(&mut mixed, mask),
            }
        }
        let mut any = [0; 8];
        for (_, mask) in &shades {
            (0..8).for_each(|x| mixed[x] |= any[x] & mask[x]);
            add(&mut any, mask);
        }
        Self { shades, mixed }
    }
}

fn add(to: &mut Mask, mask: &Mask) {
    (0..8).for_each(|x| to[x] |= mask[x]);
}

/// The colour of voxels that only triangles of one shade touch; `None` if they are transparent.
fn color_of(shade: Shade) -> Option<Rgba> {
    let mut sums = Sums::default();
    sums.add(1, &shade);
    sums.mean().map(rgba_of)
}

/// The indices of a mask's voxels in their brick.
fn voxels_of(mask: &Mask) -> impl Iterator<Item = usize> + '_ {
    let words = mask.iter().enumerate();
    words.flat_map(|(x, &word)| set_bits(word).map(move |bit| 64 * x + bit as usize))
}

/// The bounding box of a mask's voxels in the brick with the minimum corner `base`.
fn bounds(mask: &Mask, base: [i32; 3]) -> Option<BoxRange> {
    let any = mask.iter().fold(0, |any, word| any | word);
    let mut slices = (0..8).filter(|&x| mask[x as usize] != 0);
    let first = slices.next()?;
    let last = slices.next_back().unwrap_or(first);
    let columns = (0..8).fold(0, |columns, y| columns | any >> (8 * y) & 0xFF);
    let lo = [first, any.trailing_zeros() as i32 / 8, columns.trailing_zeros() as i32];
    let hi = [last, 7 - any.leading_zeros() as i32 / 8, 63 - columns.leading_zeros() as i32];
    let at = |corner: [i32; 3]| std::array::from_fn(|a| base[a] + corner[a]);
    Some(BoxRange { lo: at(lo), hi: at(hi) })
}
