//! Reading: collects leaves and tiles, anywhere in index space, into a grid.

use crate::base::numbers::counted;
use crate::base::srgb::Rgba;
use crate::base::vector::plus;
use crate::formats::grid::brick_colors::{self, ColorRun, MaskColors};
use crate::formats::grid::description::Description;
use crate::formats::grid::level_set::{self, in_voxels, width_of};
use crate::formats::grid::openvdb::DENSITY;
use crate::formats::grid::openvdb::tree::set_indices;
use crate::formats::grid::openvdb::world::WorldFromIndex;
use crate::formats::io::bytes::Budget;
use crate::formats::{LoadedGrid, ReadError, check_memory, checked_dims, content, excerpt};
use crate::grid::{
    BRICK, BrickKey, Colors, FULL, Mask, Place, VoxelGrid, World, count, in_order, is_empty,
    run_bounds, union_bounds,
};
use crate::lattice::MAX_DIM;
use crate::solid::distance::DistanceField;

/// A brick's edge in voxels, for signed positions.
const BRICK_EDGE: i64 = BRICK as i64;
/// Maximum number of rows of full bricks that tiles stand for: as many as the largest solid has. A
/// file of a few KiB can encode more.
const MAX_FULL_ROWS: u64 = (MAX_DIM as u64 / BRICK as u64).pow(2);
/// Bytes of memory for a row of full bricks: here and in the grid.
const ROW_BYTES: u64 = size_of::<Tile>() as u64 + 16;
/// Bytes of memory for a tile, in a list that grows.
const TILE_BYTES: u64 = 3 * size_of::<Tile>() as u64;
/// Bytes of memory for a leaf: in a list that grows, and in the grid.
const LEAF_BYTES: u64 = 3 * size_of::<([i32; 3], Mask)>() as u64 + 72;
/// Bytes of memory for the colour of a voxel: the list of all doubles, and both copies exist then.
const COLOR_BYTES: u64 = 3 * size_of::<Rgba>() as u64;
/// Bytes of memory for a leaf of a band: in a list that grows, twice in sorted lists, in the grid.
const BAND_LEAF_BYTES: u64 = LEAF_BYTES + 112;
/// Bytes of memory for a distance: in a list that grows, and in the field.
const DISTANCE_BYTES: u64 = 4 * size_of::<f32>() as u64;
/// Most voxels with colours of their own in rows of full bricks where memory has no limit, 256 MiB:
/// a file of a few KiB can encode more.
const MAX_IN_RUNS: u64 = 1 << 26;
/// From this number of tiles on, they are joined and checked while more are read: a few MiB of a
/// compressed file can encode a thousand times as many.
const MANY_TILES: usize = 1 << 20;

/// The content of a tree of densities, distances or colours. Positions are in bricks.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) leaves: Vec<([i32; 3], Mask)>,
    tiles: Vec<Tile>,
    /// The number of tiles when they were last joined.
    joined: usize,
    /// Bytes of memory.
    limit: u64,
    /// The colours of the leaves' voxels, in file order; empty for densities.
    pub(super) colors: Vec<Rgba>,
    /// The colour outside leaves and tiles.
    pub(super) background: Rgba,
    /// The band of a level set, unless the size of a voxel is unknown.
    pub(super) band: Option<Band>,
}

/// Whether a voxel of this density, or of this distance in a level set, is occupied. A centre on
/// the surface that counts as inside has the distance -0.
pub(in crate::formats::grid) fn is_occupied(number: f64, is_level_set: bool) -> bool {
    if is_level_set { number <= 0.0 && number.is_sign_negative() } else { number > 0.0 }
}

/// The placeholder for a colour in trees of densities.
pub(super) const NO_COLOR: Rgba = [0; 4];

/// Full cubes of one colour, consecutive along `x`.
#[derive(Clone, Copy)]
struct Tile {
    at: [i32; 3],
    /// The edge of one cube, in bricks.
    edge: u32,
    /// The length of all, in bricks.
    len: u32,
    color: Rgba,
}

impl Tile {
    fn bounds(&self) -> Bounds {
        let [x, y, z] = [self.len, self.edge, self.edge].map(i64::from);
        let lo = self.at.map(i64::from);
        [lo.map(|c| c * BRICK_EDGE), [lo[0] + x, lo[1] + y, lo[2] + z].map(|c| c * BRICK_EDGE - 1)]
    }
}

/// Consecutive bricks along `x` with the same mask.
#[derive(Clone)]
struct Row<'a> {
    at: [i32; 3],
    len: u32,
    mask: &'a Mask,
    colors: MaskColors<'a>,
}

/// The grids of a file that are read.
#[derive(Default)]
pub(super) struct SelectedGrids {
    /// Bytes of memory.
    pub(super) limit: u64,
    /// The grid whose voxels are read.
    pub(super) chosen: Option<FoundGrid>,
    pub(super) colors: Option<FoundGrid>,
    /// The names of the other grids.
    pub(super) others: Vec<String>,
}

impl SelectedGrids {
    /// Bytes of memory that another grid may take.
    pub(super) fn left(&self) -> u64 {
        let taken: u64 = self.chosen.iter().chain(&self.colors).map(|g| g.nodes.bytes()).sum();
        self.limit.saturating_sub(taken)
    }

    /// The rank of the chosen grid.
    pub(super) fn best(&self) -> Option<Rank> {
        self.chosen.as_ref().map(FoundGrid::rank)
    }

    /// Adds colours, or a grid that is chosen if it ranks higher than the grids before.
    pub(super) fn add(&mut self, new: FoundGrid, is_color: bool) {
        let slot = if is_color { &mut self.colors } else { &mut self.chosen };
        let is_kept = slot.as_ref().is_some_and(|old| old.rank() >= new.rank());
        let other = if is_kept { Some(new) } else { slot.replace(new) };
        self.others.extend(other.map(|other| other.name));
    }

    /// The chosen grid; an error says that no grid `is_read`.
    pub(super) fn into_grid(self, is_read: &str) -> Result<LoadedGrid, ReadError> {
        let Self { chosen, colors, mut others, limit } = self;
        let Some(chosen) = chosen else {
            others.extend(colors.map(|colors| colors.name));
            ensure!(!others.is_empty(), "there is no grid in it");
            bail!("no grid in it {is_read}: there are {}", excerpt(&others.join(", ")));
        };
        chosen.into_grid(colors, &others, limit)
    }
}

/// Whether a grid is named `density`, and whether it is no level set; the highest rank is read.
pub(super) type Rank = [bool; 2];

pub(super) struct FoundGrid {
    pub(super) name: String,
    pub(super) nodes: Nodes,
    /// The grid description, if the file has one.
    pub(super) text: Option<String>,
    /// `None` if the transform rotates or scales the axes differently.
    pub(super) world_from_index: Option<WorldFromIndex>,
    pub(super) is_level_set: bool,
}

impl FoundGrid {
    fn rank(&self) -> Rank {
        [self.name == DENSITY, !self.is_level_set]
    }

    /// The grid, with `colors` if there is a tree of them; `others` are the names of the grids that
    /// are not read. Its dimensions are those of the description; without one it spans from the
    /// brick of the minimum voxel, occupied or in the band, to the maximum voxel. All takes at most
    /// `limit` bytes of memory.
    fn into_grid(
        self,
        colors: Option<Self>,
        others: &[String],
        limit: u64,
    ) -> Result<LoadedGrid, ReadError> {
        let Self { name, mut nodes, text, world_from_index, is_level_set } = self;
        let mut warnings = Vec::new();
        if world_from_index.is_none() {
            let so = if is_level_set { ", nor are its distances read" } else { "" };
            warnings.push(format!("it is turned or stretched: where it lies is not known{so}"));
        }
        if !others.is_empty() {
            let (name, others) = (excerpt(&name), excerpt(&others.join(", ")));
            warnings.push(format!("only the grid {name} is read, not {others}"));
        }
        nodes.leaves.retain(|(_, mask)| !is_empty(mask));
        nodes.leaves.sort_unstable_by_key(|&(at, _)| canonical(at));
        let tiles = joined(std::mem::take(&mut nodes.tiles));
        let described = text.as_deref().and_then(Description::parse);
        let leaves = nodes.leaves.iter().map(|(at, mask)| leaf_bounds(*at, mask));
        let of_band = nodes.band.iter().flat_map(|band| &band.leaves);
        let leaves = leaves.chain(of_band.map(|(at, mask)| leaf_bounds(*at, mask)));
        let bounds = leaves.chain(tiles.iter().map(Tile::bounds)).reduce(union_bounds);
        let grid_box = match described {
            Some(Description { dims, .. }) if holds(dims, bounds) => GridBox { base: [0; 3], dims },
            Some(Description { dims: [x, y, z], .. }) => {
                warnings.push(format!("there are voxels outside the {x}x{y}x{z} of the grid"));
                GridBox::around(bounds)?
            }
            None => GridBox::around(bounds)?,
        };
        checked_dims(grid_box.dims)?;
        let of_colors = colors.as_ref().map_or(0, |colors| colors.nodes.bytes());
        let limit = limit.saturating_sub(of_colors);
        let full = full_rows(&tiles, nodes.limit.min(limit).saturating_sub(nodes.bytes()))?;
        let leaves = nodes.leaves.iter().map(|(at, mask)| Row {
            at: *at,
            len: 1,
            mask,
            colors: MaskColors::All(NO_COLOR),
        });
        let rows = || merged(leaves.clone(), &full);
        check_apart(rows().map(|row| (row.at, row.len)))?;
        let world = grid_box.world(described.map(|described| described.world), world_from_index);
        let mut grid = in_order(grid_box.dims, world, &[()], |(), out| {
            rows().for_each(|row| out.push(grid_box.key(row.at), row.len, row.mask));
        });
        let taken = nodes.bytes() + full.len() as u64 * ROW_BYTES;
        let mut distances = None;
        if let Some(band) = nodes.band.take() {
            // The copy of the solid.
            check_memory(taken + grid.bytes(), limit)?;
            distances = band.field(&grid_box, &grid, &mut warnings)?;
        }
        if let Some(mut colors) = colors {
            // The leaves and rows of the voxels are still there.
            let taken = taken + distances.as_ref().map_or(0, DistanceField::bytes);
            colors.nodes.limit = limit.saturating_sub(taken);
            let in_runs = if limit == u64::MAX { MAX_IN_RUNS } else { u64::MAX };
            let is_aligned =
                world_from_index.is_some() && colors.world_from_index == world_from_index;
            let found = if is_aligned {
                colors.nodes.into_colors(&grid, &grid_box, in_runs)?
            } else {
                Err(content("they lie elsewhere than the voxels"))
            };
            match found {
                Ok(colors) => grid.colors = Some(colors),
                Err(why) => warnings.push(format!("its colours are not read: {why}")),
            }
        }
        Ok(LoadedGrid { distances, ..LoadedGrid::new(grid, warnings) })
    }
}

/// The active voxels of a level set that are not farther than its background.
#[derive(Default)]
pub(super) struct Band {
    voxel_size: f64,
    /// The distance outside, in mesh units.
    background: f64,
    /// The same in voxels.
    width: f32,
    leaves: Vec<([i32; 3], Mask)>,
    /// In voxels, without their signs, in the order of the leaves.
    distances: Vec<f32>,
    /// The number of active voxels that are not in it: farther, or in tiles.
    far: u64,
}

impl Band {
    pub(super) fn new(voxel_size: f64) -> Self {
        Self { voxel_size, ..Self::default() }
    }

    /// Adds a leaf's active voxels; `numbers` are their distances in mesh units.
    pub(super) fn leaf(
        &mut self,
        at: [i32; 3],
        active: &Mask,
        numbers: impl Iterator<Item = f64>,
    ) -> Result<(), ReadError> {
        let mut mask = *active;
        for (place, number) in set_indices(active).zip(numbers) {
            if number.is_nan() {
                let local = [place >> 6, place >> 3 & 7, place & 7].map(i64::from);
                let voxel = plus(at.map(|c| i64::from(c) * BRICK_EDGE), local);
                return Err(level_set::no_number(voxel));
            }
            if number.abs() <= self.background {
                self.distances.push(in_voxels(number, self.voxel_size, self.width));
            } else {
                mask[(place / 64) as usize] &= !(1 << (place % 64));
                self.far += 1;
            }
        }
        if !is_empty(&mask) {
            self.leaves.push((at, mask));
        }
        Ok(())
    }

    /// The distance field of a solid in `grid_box`. Without a possible width there is no field, and
    /// a warning.
    fn field(
        self,
        grid_box: &GridBox,
        inside: &VoxelGrid,
        warnings: &mut Vec<String>,
    ) -> Result<Option<DistanceField>, ReadError> {
        let leaves = with_own(&self.leaves, &self.distances);
        check_apart(leaves.iter().map(|&(at, ..)| (at, 1)))?;
        let bricks = leaves.iter().map(|&(at, mask, _)| (grid_box.key(at), *mask));
        let mut distances = Vec::with_capacity(self.distances.len());
        leaves.iter().for_each(|(.., own)| distances.extend_from_slice(own));
        let field = level_set::field(self.width, inside, &Vec::from_iter(bricks), distances);
        if self.far > 0 && field.is_ok() {
            let far = counted(self.far, "active voxel");
            let why = "farther than the background, or in tiles";
            warnings.push(format!("its band leaves out {far} ({why})"));
        }
        Ok(field.map_err(|why| warnings.push(why)).ok())
    }
}

impl Nodes {
    /// None yet; they may take at most `limit` bytes of memory.
    pub(super) fn within(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes the distance outside, before any leaf.
    pub(super) fn outside(&mut self, number: f64) {
        if let Some(band) = &mut self.band {
            band.background = number.abs();
            band.width = width_of(band.background, band.voxel_size);
        }
    }

    /// Counts the active ones among a node's tiles of `edge` bricks.
    pub(super) fn active_tiles(&mut self, active: &[u64], edge: u32) {
        if let Some(band) = &mut self.band {
            let count: u64 = active.iter().map(|word| u64::from(word.count_ones())).sum();
            band.far = band.far.saturating_add(count * u64::from(edge * BRICK).pow(3));
        }
    }

    /// Adds a full cube of `edge` bricks.
    pub(super) fn tile(&mut self, at: [i32; 3], edge: u32, color: Rgba) {
        self.tiles.push(Tile { at, edge, len: edge, color });
    }

    /// Bytes of memory of the leaves, their colours and their distances.
    pub(super) fn bytes(&self) -> u64 {
        let of_band = self.band.as_ref().map_or(0, |band| {
            BAND_LEAF_BYTES * band.leaves.len() as u64
                + DISTANCE_BYTES * band.distances.len() as u64
        });
        LEAF_BYTES * self.leaves.len() as u64 + COLOR_BYTES * self.colors.len() as u64 + of_band
    }

    /// Checks the memory of leaves, their colours and `more` bytes.
    pub(super) fn check_memory(&self, more: u64) -> Result<(), ReadError> {
        check_memory(self.bytes() + more, self.limit)
    }

    /// Bounds the memory of tiles: joins and checks them each time their number has doubled. To be
    /// called after each node, which has at most 32,768 tiles.
    pub(super) fn check_tiles(&mut self) -> Result<(), ReadError> {
        if self.tiles.len() >= MANY_TILES.max(2 * self.joined) {
            self.tiles = joined(std::mem::take(&mut self.tiles));
            self.joined = self.tiles.len();
            count_rows(&self.tiles, self.limit)?;
        }
        Ok(())
    }

    /// The colours of `grid`, which is in `grid_box`. The inner error says why there are none: too
    /// little memory, or more than `in_runs` own colours in rows of full bricks.
    fn into_colors(
        self,
        grid: &VoxelGrid,
        grid_box: &GridBox,
        in_runs: u64,
    ) -> Result<Result<Colors, ReadError>, ReadError> {
        let (taken, limit) = (self.bytes(), self.limit);
        let rows = full_rows(&joined(self.tiles), limit.saturating_sub(taken))?;
        let taken = taken + rows.len() as u64 * ROW_BYTES;
        let leaves = with_own(&self.leaves, &self.colors).into_iter().map(|(at, mask, own)| Row {
            at,
            len: 1,
            mask,
            colors: MaskColors::Each(own.into()),
        });
        let leaves: Vec<Row> = leaves.collect();
        let rows = || merged(leaves.iter().cloned(), &rows);
        check_apart(rows().map(|row| (row.at, row.len)))?;
        let color_runs = rows().filter_map(|row| grid_box.color_run(row));
        let memory = Budget { used: taken, limit };
        Ok(brick_colors::colors(grid, color_runs, self.background, memory, in_runs))
    }
}

/// Leaves with their own `values`, which are in the order of the leaves, in canonical order.
fn with_own<'a, T>(
    leaves: &'a [([i32; 3], Mask)],
    mut values: &'a [T],
) -> Vec<([i32; 3], &'a Mask, &'a [T])> {
    let with_own = leaves.iter().map(|(at, mask)| {
        let (own, after) = values.split_at(count(mask) as usize);
        values = after;
        (*at, mask, own)
    });
    let mut all: Vec<_> = with_own.collect();
    all.sort_unstable_by_key(|&(at, ..)| canonical(at));
    all
}

/// The sort key of a grid's canonical order.
fn canonical([x, y, z]: [i32; 3]) -> [i32; 3] {
    [z, y, x]
}

/// Merges tiles that are consecutive along `x`, as most are in a large solid.
fn joined(mut tiles: Vec<Tile>) -> Vec<Tile> {
    tiles.sort_unstable_by_key(|tile| (tile.edge, canonical(tile.at)));
    tiles.dedup_by(|next, tile| {
        let [x, y, z] = tile.at;
        let is_same = (next.edge, next.color) == (tile.edge, tile.color);
        let follows = is_same && next.at == [x + tile.len as i32, y, z];
        tile.len += if follows { next.len } else { 0 };
        follows
    });
    tiles
}

/// The number of rows of full bricks of joined tiles, which must not overlap. Tiles and rows take
/// at most `limit` bytes of memory.
fn count_rows(tiles: &[Tile], limit: u64) -> Result<usize, ReadError> {
    for tiles in tiles.chunk_by(|a, b| a.edge == b.edge) {
        check_apart(tiles.iter().map(|tile| (tile.at, tile.len)))?;
    }
    let count: u64 = tiles.iter().map(|tile| u64::from(tile.edge).pow(2)).sum();
    ensure!(
        count <= MAX_FULL_ROWS,
        "its tiles are {count} rows of full bricks, but at most {MAX_FULL_ROWS} are read"
    );
    check_memory(count * ROW_BYTES + tiles.len() as u64 * TILE_BYTES, limit)?;
    Ok(count as usize)
}

/// The rows of full bricks of joined tiles, as tiles of one brick, in canonical order.
fn full_rows(tiles: &[Tile], limit: u64) -> Result<Vec<Tile>, ReadError> {
    let mut rows = Vec::with_capacity(count_rows(tiles, limit)?);
    for &Tile { at: [x, y, z], edge, len, color } in tiles {
        for (dz, dy) in (0..edge as i32).flat_map(|z| (0..edge as i32).map(move |y| (z, y))) {
            rows.push(Tile { at: [x, y + dy, z + dz], edge: 1, len, color });
        }
    }
    rows.sort_unstable_by_key(|row| canonical(row.at));
    Ok(rows)
}

/// Leaves and rows of full bricks, in canonical order.
fn merged<'a>(
    leaves: impl Iterator<Item = Row<'a>> + Clone,
    full: &'a [Tile],
) -> impl Iterator<Item = Row<'a>> + Clone {
    let mut leaves = leaves.peekable();
    let row = |&Tile { at, len, color, .. }: &Tile| Row {
        at,
        len,
        mask: &FULL,
        colors: MaskColors::All(color),
    };
    let mut full = full.iter().map(row).peekable();
    std::iter::from_fn(move || match (leaves.peek(), full.peek()) {
        (Some(leaf), Some(row)) if canonical(row.at) < canonical(leaf.at) => full.next(),
        (Some(_), _) => leaves.next(),
        (None, _) => full.next(),
    })
}

/// Refuses rows, given by start and length in canonical order, that overlap.
fn check_apart(rows: impl Iterator<Item = ([i32; 3], u32)>) -> Result<(), ReadError> {
    let mut before = None;
    for (at @ [x, y, z], len) in rows {
        if before.is_some_and(|(end, row)| row == [y, z] && x < end) {
            let voxel = at.map(|c| i64::from(c) * BRICK_EDGE);
            bail!("two nodes of the tree lie at {voxel:?}");
        }
        before = Some((x + len as i32, [y, z]));
    }
    Ok(())
}

/// Minimum and maximum voxel per axis.
type Bounds = [[i64; 3]; 2];

fn leaf_bounds(at: [i32; 3], mask: &Mask) -> Bounds {
    let local = run_bounds(BrickKey::default(), 1, mask);
    local.map(|voxel| [0, 1, 2].map(|a| i64::from(at[a]) * BRICK_EDGE + i64::from(voxel[a])))
}

/// Whether a grid of `dims` voxels contains `bounds`.
fn holds(dims: [u32; 3], bounds: Option<Bounds>) -> bool {
    bounds.is_none_or(|[lo, hi]| (0..3).all(|a| lo[a] >= 0 && hi[a] < i64::from(dims[a])))
}

/// The grid's box in index space.
struct GridBox {
    /// In bricks.
    base: [i32; 3],
    dims: [u32; 3],
}

impl GridBox {
    fn around(bounds: Option<Bounds>) -> Result<Self, ReadError> {
        let [lo, hi] = bounds.ok_or_else(|| {
            content(
                "no voxel is active and above 0 (in a level set, below 0 or in the band), and the \
                 file does not say how large the grid is",
            )
        })?;
        // Voxel positions come from i32.
        let base = lo.map(|c| c.div_euclid(BRICK_EDGE) as i32);
        let dims = [0, 1, 2].map(|a| (hi[a] + 1 - i64::from(base[a]) * BRICK_EDGE) as u64);
        Ok(Self { base, dims: checked_dims(dims)? })
    }

    /// The key of a brick inside.
    fn key(&self, at: [i32; 3]) -> BrickKey {
        BrickKey::new([0, 1, 2].map(|a| (at[a] - self.base[a]) as u32))
    }

    /// Clips a row of colours to the box.
    fn color_run<'a>(&self, row: Row<'a>) -> Option<ColorRun<'a>> {
        let edge = i64::from(MAX_DIM / BRICK);
        let [x, y, z] = [0, 1, 2].map(|a| i64::from(row.at[a]) - i64::from(self.base[a]));
        let (begin, end) = (x.max(0), edge.min(x + i64::from(row.len)));
        let is_inside = begin < end && [y, z].iter().all(|c| (0..edge).contains(c));
        is_inside.then(|| ColorRun {
            start: BrickKey::new([begin, y, z].map(|c| c as u32)),
            len: (end - begin) as u32,
            mask: *row.mask,
            colors: row.colors,
        })
    }

    /// The grid's world: that of the description, exact to the last bit, if the file's transform
    /// still agrees with it; otherwise from the transform.
    fn world(&self, described: Option<World>, world_from_index: Option<WorldFromIndex>) -> World {
        let is_unmoved =
            |world: &World| Some(WorldFromIndex::of_place(world.place)) == world_from_index;
        if let Some(world) = described.filter(|world| self.base == [0; 3] && is_unmoved(world)) {
            return world;
        }
        let up = described.unwrap_or_default().up;
        let corner = self.base.map(|c| f64::from(c) * f64::from(BRICK) - 0.5);
        let place_of =
            |of: WorldFromIndex| Place { origin: of.apply(corner), voxel_size: of.scale };
        World { up, place: world_from_index.map(place_of) }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Adds tiles of `edge` bricks, the n-th at `corner_of(n)` in edges, as nodes of a thousand do.
    fn add(count: usize, edge: u32, corner_of: fn(i32) -> [i32; 3]) -> Result<Nodes, ReadError> {
        let mut nodes = Nodes::within(u64::MAX);
        for n in 0..count {
            nodes.tile(corner_of(n as i32).map(|c| edge as i32 * c), edge, NO_COLOR);
            if n % 1000 == 0 {
                nodes.check_tiles()?;
            }
        }
        Ok(nodes)
    }

    #[test]
    fn tiles_in_a_row_are_joined_before_they_are_too_many() {
        let count = 4 * MANY_TILES;
        let nodes = add(count, 1, |n| [n % 4096, n / 4096 % 64, n / 4096 / 64]).unwrap();
        assert!(nodes.tiles.len() < MANY_TILES + 1000, "{}", nodes.tiles.len());
        let rows = full_rows(&joined(nodes.tiles), u64::MAX).unwrap();
        assert_eq!(rows.len(), count / 4096);
        assert!(rows.iter().all(|row| row.at[0] == 0 && row.len == 4096));
    }

    #[test]
    fn tiles_that_overlap_or_are_too_many_rows_are_refused_before_all_are_read() {
        let refusal = |edge, corner_of| match add(MANY_TILES + 1000, edge, corner_of) {
            Err(error) => error.to_string(),
            Ok(nodes) => panic!("{} tiles", nodes.tiles.len()),
        };
        let overlap = refusal(1, |_| [1, 2, 3]);
        assert!(overlap.contains("two nodes of the tree lie at [8, 16, 24]"), "{overlap}");
        // Apart from each other by an edge, so that none are joined.
        let rows = refusal(16, |n| [n % 128, n / 128 % 128, n / 16384].map(|c| 2 * c));
        assert!(rows.contains("rows of full bricks, but at most 67108864 are read"), "{rows}");
    }
}
