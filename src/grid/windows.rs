//! Windows of a grid, and a grid put together of windows.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, HashMap};

use crate::base::numbers::AXES;
use crate::grid::{
    Attribute, AttributeSet, Attributes, BRICK, BrickKey, BrickRun, Channel, GridError, Mask,
    Place, VoxelGrid, VoxelValues, World, checked_dims, in_order, mask_places,
};
use crate::lattice::{WINDOW_STEP, Window};

const _: () = assert!(WINDOW_STEP == BRICK);

impl VoxelGrid {
    /// The voxels in `window`, counted from its first voxel, with their colours. The window begins
    /// and ends at bricks, or at the grid's end.
    pub(crate) fn window(&self, window: &Window) -> Self {
        debug_assert!(
            (0..3).all(|a| window.from[a].is_multiple_of(BRICK)
                && (window.to[a].is_multiple_of(BRICK) || window.to[a] == self.dims[a])),
            "{window:?} of {self:?}"
        );
        let from = window.from.map(|c| c / BRICK);
        let to = window.to.map(|c| c.div_ceil(BRICK));
        let layers: Vec<u32> = (from[2]..to[2]).collect();
        let mut grid = in_order(window.dims(), self.world, &layers, |&z, out| {
            for run in self.brick_runs_in([from[0], from[1], z], [to[0], to[1], z + 1]) {
                let at = run.start.position();
                let own = BrickKey::new([0, 1, 2].map(|a| at[a] - from[a]));
                out.push(own, run.len, &run.mask);
            }
        });
        if let Some(place) = &mut grid.world.place {
            place.origin = place.to_mesh_units(window.from.map(f64::from));
        }
        grid.colors = self.colors.as_ref().map(|colors| values_in(colors, from, to));
        let within = |channel: &Channel| match channel {
            Channel::Scalar(values) => Channel::Scalar(values_in(values, from, to)),
            Channel::Vector(values) => Channel::Vector(values_in(values, from, to)),
        };
        grid.attributes = self.attributes.as_ref().map(|all| all.with_channels(within));
        grid
    }

    /// The grid of `dims` voxels that `tiles` make together, each with the voxel at which it
    /// begins: a multiple of 8 along each axis. The result lies where the first tile says.
    ///
    /// ```
    /// use trivox::VoxelGrid;
    ///
    /// let left = VoxelGrid::from_voxels([8, 4, 4], [[7, 0, 0]])?;
    /// let right = VoxelGrid::from_voxels([3, 4, 4], [[2, 1, 0]])?;
    /// let whole = VoxelGrid::assemble([11, 4, 4], &[([0, 0, 0], &left), ([8, 0, 0], &right)])?;
    /// assert_eq!(whole, VoxelGrid::from_voxels([11, 4, 4], [[7, 0, 0], [10, 1, 0]])?);
    /// # Ok::<(), trivox::GridError>(())
    /// ```
    ///
    /// # Errors
    /// A dimension of 0 or above [`MAX_DIM`](crate::lattice::MAX_DIM); a tile that is not at a
    /// brick, not within the dimensions, or shares a brick with another; colours in only some of
    /// the tiles that have voxels. An attribute that one of these tiles lacks is
    /// [left out](Self::left_out).
    pub fn assemble(dims: [u32; 3], tiles: &[([u32; 3], &Self)]) -> Result<Self, GridError> {
        let first = tiles.first().map(|&(at, tile)| (at, tile.world));
        let (at, mut world) = first.unwrap_or_default();
        if let Some(place) = &mut world.place {
            place.origin = place.to_mesh_units(at.map(|c| -f64::from(c)));
        }
        checked_dims(dims)?;
        let mut runs: Vec<BrickRun> = Vec::new();
        for (at, tile) in tiles {
            let is_inside =
                |a: usize| at[a].checked_add(tile.dims[a]).is_some_and(|end| end <= dims[a]);
            if let Some(a) = (0..3).find(|&a| !at[a].is_multiple_of(BRICK) || !is_inside(a)) {
                return Err(GridError::Tile { axis: AXES[a], at: at[a], dim: dims[a] });
            }
            let moved = |run: BrickRun| BrickRun { start: moved(run.start, at), ..run };
            runs.extend(tile.brick_runs().map(moved));
        }
        runs.sort_unstable_by_key(|run| run.start);
        let clash = runs.windows(2).find(|two| two[1].start < two[0].start.along_x(two[0].len));
        if let Some(two) = clash {
            return Err(GridError::Overlap { voxel: two[1].start.first_voxel() });
        }
        let mut grid = in_order(dims, world, &[runs], |runs, out| {
            runs.iter().for_each(|run| out.push(run.start, run.len, &run.mask));
        });
        let colors = tiles.iter().filter_map(|(at, tile)| Some((at, *tile, tile.colors.as_ref()?)));
        grid.colors = joined(colors);
        let is_uncolored = |tile: &Self| tile.colors.is_none() && tile.brick_count() > 0;
        if grid.colors.is_some() && tiles.iter().any(|(_, tile)| is_uncolored(tile)) {
            return Err(GridError::SomeColors);
        }
        grid.attributes = attributes_of(tiles);
        Ok(grid)
    }

    /// A warning about attributes of `tiles` that are missing in this grid, their union: a tile
    /// lacks the attribute, or the names of its values.
    #[must_use]
    pub fn left_out<'a>(&self, tiles: impl IntoIterator<Item = &'a Self>) -> Option<String> {
        let occupied = tiles.into_iter().filter(|tile| tile.brick_count() > 0);
        let sets = |of: &Self| of.attributes.as_ref().map(Attributes::set).unwrap_or_default();
        let kept = sets(self);
        let lost: AttributeSet = occupied.flat_map(sets).collect();
        let lost: Vec<_> = lost.difference(&kept).map(|of| of.name()).collect();
        (!lost.is_empty()).then(|| {
            let lost = lost.join(", ");
            format!(
                "attributes were left out, which not all tiles have: {lost}: make all of them with \
                 the same attributes"
            )
        })
    }

    /// The grid that `tiles` make together, each at the place in the world that it has.
    ///
    /// # Errors
    /// There are no tiles; one has no place, or another voxel size or up axis than the first, or is
    /// not shifted by whole voxels; they are too far from the origin; two overlap, occupied there
    /// or not; as [`assemble`](Self::assemble).
    pub fn join(tiles: &[&Self]) -> Result<Self, GridError> {
        let places: Option<Vec<Place>> = tiles.iter().map(|tile| tile.world.place).collect();
        let places = places.ok_or(GridError::NoPlace)?;
        let (first, up) = match (&places[..], tiles) {
            ([first, ..], [tile, ..]) => (*first, tile.world.up),
            _ => return Err(GridError::NoTiles),
        };
        let origin = places
            .iter()
            .fold(first.origin, |origin, place| [0, 1, 2].map(|a| origin[a].min(place.origin[a])));
        let mut at = Vec::with_capacity(tiles.len());
        for (place, tile) in places.iter().zip(tiles) {
            let voxel = voxels_between(Place { origin, ..first }, *place)?;
            if tile.world.up != up {
                return Err(GridError::OtherLattice);
            }
            at.push(voxel.map(|c| u32::try_from(c).unwrap_or(u32::MAX)));
        }
        let end =
            |a: usize| at.iter().zip(tiles).map(move |(at, t)| at[a].saturating_add(t.dims[a]));
        let dims = [0, 1, 2].map(|a| end(a).max().unwrap_or(0));
        let placed: Vec<([u32; 3], &Self)> =
            at.iter().copied().zip(tiles.iter().copied()).collect();
        if let Some(voxel) = overlap(&placed) {
            return Err(GridError::Overlap { voxel });
        }
        let whole = Self::assemble(dims, &placed)?;
        Ok(whole.with_world(World { up, place: Some(Place { origin, ..first }) }))
    }
}

/// The bricks of the values of `grid`, for a list whose other voxels have the value `rest`.
fn bricks_with_rest<T: Copy + PartialEq + Sync>(
    grid: &VoxelGrid,
    values: &VoxelValues<T>,
    rest: T,
) -> Vec<(BrickKey, Mask, Vec<T>)> {
    if values.rest() == rest {
        let occupied = values.of_occupied(grid);
        let values = occupied.as_ref().unwrap_or(values);
        return values.bricks().map(|(key, mask, own)| (key, mask, own.to_vec())).collect();
    }
    let all = grid.bricks().map(|(key, mask)| {
        let brick = values.of_brick(key);
        (key, mask, mask_places(mask).map(|(x, bit)| brick.at(x, bit)).collect())
    });
    all.collect()
}

/// The values of a grid of tiles, each with the voxel at which it begins; `None` without tiles.
fn joined<'a, T: Copy + PartialEq + Send + Sync + 'a>(
    tiles: impl Iterator<Item = (&'a [u32; 3], &'a VoxelGrid, impl Borrow<VoxelValues<T>>)>,
) -> Option<VoxelValues<T>> {
    let mut tiles = tiles.peekable();
    let rest = tiles.peek().map(|(.., values)| values.borrow().rest())?;
    let bricks = tiles.flat_map(|(at, tile, values)| {
        let bricks = bricks_with_rest(tile, values.borrow(), rest);
        bricks.into_iter().map(|(key, mask, own)| (moved(key, at), mask, own))
    });
    Some(VoxelValues::from_bricks(bricks.collect(), rest))
}

/// The farthest origin, in voxels, that is known to a hundredth of a voxel: `f64` rounds it by at
/// most `2^-53` of it.
const MAX_ORIGIN: f64 = (1u64 << 46) as f64;

/// The offset between two places, in voxels.
///
/// # Errors
/// The voxel sizes differ, the offset is not whole, or the origins are not known well enough.
pub(super) fn voxels_between(from: Place, to: Place) -> Result<[i64; 3], GridError> {
    let size = from.voxel_size;
    let far = from.origin.into_iter().chain(to.origin).fold(0.0, |far, c| f64::max(far, c.abs()));
    if from != to && far > MAX_ORIGIN * size {
        return Err(GridError::FarFromOrigin { voxels: (far / size) as u64 });
    }
    let distance = [0, 1, 2].map(|a| (to.origin[a] - from.origin[a]) / size);
    // Formats that keep a place in 32 bits round it.
    let is_near = distance.iter().all(|d| (d - d.round()).abs() < 0.05);
    let is_same_size = (to.voxel_size - size).abs() <= 1e-5 * size;
    let is_of_one = is_near && is_same_size;
    is_of_one.then(|| distance.map(|d| d.round() as i64)).ok_or(GridError::OtherLattice)
}

/// The first voxel that two of the tiles have in common, occupied or not.
fn overlap(tiles: &[([u32; 3], &VoxelGrid)]) -> Option<[u32; 3]> {
    let end = |(at, tile): &([u32; 3], &VoxelGrid), a: usize| at[a].saturating_add(tile.dims[a]);
    tiles.iter().enumerate().find_map(|(index, tile)| {
        tiles[..index].iter().find_map(|other| {
            let low = [0, 1, 2].map(|a| tile.0[a].max(other.0[a]));
            (0..3).all(|a| low[a] < end(tile, a).min(end(other, a))).then_some(low)
        })
    })
}

/// The values of the bricks from `from` to `to`, in bricks, counted from `from`.
fn values_in<T: Copy + Send + Sync>(
    values: &VoxelValues<T>,
    from: [u32; 3],
    to: [u32; 3],
) -> VoxelValues<T> {
    let inside = values.bricks().filter_map(|(key, mask, own)| {
        let at = key.position();
        let is_inside = (0..3).all(|a| (from[a]..to[a]).contains(&at[a]));
        let key = || BrickKey::new([0, 1, 2].map(|a| at[a] - from[a]));
        is_inside.then(|| (key(), mask, own.to_vec()))
    });
    VoxelValues::from_bricks(inside.collect(), values.rest())
}

/// The attributes of a grid of these tiles: those that all tiles with voxels have. Materials and
/// objects of the same name become one.
fn attributes_of(tiles: &[([u32; 3], &VoxelGrid)]) -> Option<Attributes> {
    let occupied = tiles.iter().filter(|(_, tile)| tile.brick_count() > 0);
    let all: Option<Vec<_>> =
        occupied.map(|(at, tile)| Some((at, *tile, tile.attributes.as_ref()?))).collect();
    let all = all?;
    let (.., first) = all.first()?;
    let is_in_all = |of: &Attribute| {
        let is_named = first.names().contains_key(of);
        all.iter().all(|(.., other)| {
            other.channels().contains_key(of) && other.names().contains_key(of) == is_named
        })
    };
    let mut names = BTreeMap::new();
    let mut channel_of = |of: Attribute| {
        let mut table = NameTable::default();
        let scalars = all.iter().filter_map(|(at, tile, attributes)| {
            let Channel::Scalar(values) = attributes.channels().get(&of)? else { return None };
            let indices = attributes.names().get(&of).map(|names| table.indices_of(names));
            Some((*at, *tile, renumbered(values, indices.as_deref())))
        });
        let scalar = joined(scalars).map(Channel::Scalar);
        if first.names().contains_key(&of) {
            names.insert(of, table.names);
        }
        let vectors = all.iter().filter_map(|(at, tile, attributes)| {
            match attributes.channels().get(&of)? {
                Channel::Vector(values) => Some((*at, *tile, values)),
                Channel::Scalar(_) => None,
            }
        });
        scalar.or_else(|| joined(vectors).map(Channel::Vector))
    };
    let set = first.set().into_iter().filter(is_in_all);
    let channels: BTreeMap<_, _> = set.filter_map(|of| Some((of, channel_of(of)?))).collect();
    (!channels.is_empty()).then(|| Attributes::new(names, channels))
}

/// The values with other indices of names, if they have names.
fn renumbered<'a>(
    values: &'a VoxelValues<u32>,
    indices: Option<&[u32]>,
) -> Cow<'a, VoxelValues<u32>> {
    match indices {
        Some(indices) if (0..).zip(indices).any(|(from, &to)| from != to) => {
            let none = u32::MAX;
            Cow::Owned(values.map(|index| *indices.get(index as usize).unwrap_or(&none)))
        }
        _ => Cow::Borrowed(values),
    }
}

/// One table for the names of several.
#[derive(Default)]
struct NameTable {
    names: Vec<String>,
    /// The index by name and occurrence: equal names of one table stay apart.
    index_of: HashMap<(String, usize), u32>,
}

impl NameTable {
    /// The index of each of the `names` of a table. New ones are added.
    fn indices_of(&mut self, names: &[String]) -> Vec<u32> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            let before = counts.entry(name).or_default();
            indices.push(*self.index_of.entry((name.clone(), *before)).or_insert_with(|| {
                self.names.push(name.clone());
                self.names.len() as u32 - 1
            }));
            *before += 1;
        }
        indices
    }
}

fn moved(key: BrickKey, by: &[u32; 3]) -> BrickKey {
    let at = key.position();
    BrickKey::new([0, 1, 2].map(|a| at[a] + by[a] / BRICK))
}
