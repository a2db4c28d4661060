//! Compares two grids voxel by voxel: counts and positions of shared and differing voxels, or a
//! grid in difference colours.

use std::collections::BTreeMap;

use crate::base::srgb::Rgba;
use crate::grid::{
    Attribute, BrickKey, Channel, Colors, FULL, Mask, VoxelGrid, VoxelValues, World, count,
    is_empty, mask_places, overlay, run_bounds, union_bounds,
};

/// The differences of two grids, A and B. Voxels are compared by index, regardless of the grids'
/// positions in the world; outside the smaller grid, its voxels are empty.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Dimensions of A and of B, in voxels.
    pub dims: [[u32; 3]; 2],
    /// Number of voxels occupied in both.
    pub both: u64,
    /// Numbers of voxels occupied only in A, and only in B.
    pub only: [u64; 2],
    /// Bounds of the differing voxels, inclusive; `None` if none differs.
    pub bounds: Option<[[u32; 3]; 2]>,
    /// Number of voxels occupied in both with different colours; `None` if a grid has no colours.
    /// These do not count as differing voxels.
    pub other_colors: Option<u64>,
    /// Number of voxels occupied in both with different bits, for each attribute that both have.
    pub other_attributes: BTreeMap<Attribute, u64>,
    /// The first few differing voxels, and the grid that has each: 0 is A, 1 is B.
    pub first: Vec<([u32; 3], usize)>,
}

/// Compares `a` with `b`, and lists at most `named` differing voxels, in the order of their bricks.
///
/// ```
/// use trivox::{VoxelGrid, compare};
///
/// let a = VoxelGrid::from_voxels([4, 4, 4], [[0, 0, 0], [1, 2, 3]])?;
/// let b = VoxelGrid::from_voxels([4, 4, 4], [[1, 2, 3], [3, 3, 3]])?;
/// let found = compare(&a, &b, 8);
/// assert_eq!((found.both, found.only), (1, [1, 1]));
/// assert_eq!(found.first, [([0, 0, 0], 0), ([3, 3, 3], 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn compare(a: &VoxelGrid, b: &VoxelGrid, named: usize) -> Comparison {
    let mut only = [0; 2];
    let mut bounds: Option<[[u32; 3]; 2]> = None;
    for both in overlay([a.brick_runs(), b.brick_runs()]) {
        let [_, in_a, in_b] = shared_and_own(both.masks);
        let either = std::array::from_fn(|x| in_a[x] | in_b[x]);
        if is_empty(&either) {
            continue;
        }
        for (only, mask) in only.iter_mut().zip(&[in_a, in_b]) {
            *only += u64::from(count(mask)) * u64::from(both.len);
        }
        let here = run_bounds(both.start, both.len, &either);
        bounds = Some(bounds.map_or(here, |bounds| union_bounds(bounds, here)));
    }
    let first = a.differing_voxels(b).take(named);
    let first = first.map(|(voxel, is_in_a)| (voxel, usize::from(!is_in_a))).collect();
    let both = a.occupied() - only[0];
    let colors = a.colors.as_ref().zip(b.colors.as_ref());
    let other_colors = colors.map(|colors| count_other_values([a, b], colors.into()));
    let attributes = a.attributes.iter().zip(&b.attributes);
    let other_attributes = attributes.flat_map(|(of_a, of_b)| {
        let of_b = of_b.channels();
        let both = of_a.channels().iter().filter_map(|(of, a)| Some((*of, [a, of_b.get(of)?])));
        both.map(|(of, channels)| (of, count_other_components([a, b], channels)))
    });
    let other_attributes = other_attributes.collect();
    let dims = [a.dims(), b.dims()];
    Comparison { dims, both, only, bounds, other_colors, other_attributes, first }
}

/// The union of `a` and `b`: voxels of both in the colour `both`, voxels of only A or only B in the
/// colours `only`. Its position in the world is that of A or, if unknown, of B. To save memory, the
/// hidden voxels of full bricks with six full neighbours have the most frequent of the colours.
///
/// ```
/// use trivox::{VoxelGrid, grid::compare::in_colors};
///
/// let a = VoxelGrid::from_voxels([4, 4, 4], [[0, 0, 0], [1, 2, 3]])?;
/// let b = VoxelGrid::from_voxels([4, 4, 4], [[1, 2, 3], [3, 3, 3]])?;
/// let [grey, orange, blue] = [[200, 200, 200, 255], [213, 94, 0, 255], [0, 114, 178, 255]];
/// let both = in_colors(&a, &b, grey, [orange, blue]);
/// let colors = both.colors.as_ref().expect("it has some");
/// assert_eq!([[1, 2, 3], [0, 0, 0], [3, 3, 3]].map(|v| colors.of(v)), [grey, orange, blue]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn in_colors(a: &VoxelGrid, b: &VoxelGrid, both: Rgba, only: [Rgba; 2]) -> VoxelGrid {
    let palette = [both, only[0], only[1]];
    let shared = overlay([a.brick_runs(), b.brick_runs()]).map(|here| {
        let [shared, ..] = shared_and_own(here.masks);
        u64::from(count(&shared)) * u64::from(here.len)
    });
    let shared: u64 = shared.sum();
    let counts = [shared, a.occupied() - shared, b.occupied() - shared];
    // The most frequent colour is the default, which takes no memory.
    let most = (0..3).max_by_key(|&set| counts[set]).unwrap_or_default();
    let mut together = a.union(b);
    let mut colors = Colors::uniform(palette[most]);
    for here in overlay([a.brick_runs(), b.brick_runs()]) {
        let mut masks = shared_and_own(here.masks);
        masks[most] = [0; 8];
        let mask = std::array::from_fn(|x| masks[0][x] | masks[1][x] | masks[2][x]);
        let color = |(x, bit): (u32, u32)| {
            let set = (0..3).find(|&set| masks[set][x as usize] >> bit & 1 == 1);
            palette[set.unwrap_or(most)]
        };
        let own: Vec<Rgba> = mask_places(mask).map(color).collect();
        if !own.is_empty() {
            let keys = (0..here.len).map(|n| here.start.along_x(n));
            let seen = keys.filter(|&key| !is_enclosed(&together, key));
            seen.for_each(|key| colors.push(key, mask, &own));
        }
    }
    together.world = if a.world == World::default() { b.world } else { a.world };
    together.with_colors(colors)
}

/// Whether a brick and its six neighbours are full.
fn is_enclosed(grid: &VoxelGrid, key: BrickKey) -> bool {
    let is_full = |key: BrickKey| grid.mask_of(key) == FULL;
    is_full(key) && key.beside().as_flattened().iter().all(|beside| beside.is_some_and(is_full))
}

/// The voxels of a brick that are in both grids, only in the first, and only in the second.
fn shared_and_own([a, b]: [Mask; 2]) -> [Mask; 3] {
    [
        std::array::from_fn(|x| a[x] & b[x]),
        std::array::from_fn(|x| a[x] & !b[x]),
        std::array::from_fn(|x| b[x] & !a[x]),
    ]
}

/// The bricks with voxels of both grids, and these voxels.
fn shared_bricks(grids: [&VoxelGrid; 2]) -> impl Iterator<Item = (BrickKey, Mask)> {
    overlay(grids.map(VoxelGrid::brick_runs)).flat_map(|both| {
        let [shared, ..] = shared_and_own(both.masks);
        let len = if is_empty(&shared) { 0 } else { both.len };
        (0..len).map(move |n| (both.start.along_x(n), shared))
    })
}

fn count_other_components(grids: [&VoxelGrid; 2], channels: [&Channel; 2]) -> u64 {
    match channels {
        [Channel::Scalar(a), Channel::Scalar(b)] => count_other_values(grids, [a, b]),
        [Channel::Vector(a), Channel::Vector(b)] => count_other_values(grids, [a, b]),
        // Not of one attribute.
        _ => 0,
    }
}

fn count_other_values<T>(grids: [&VoxelGrid; 2], values: [&VoxelValues<T>; 2]) -> u64
where
    T: Copy + PartialEq + Sync,
{
    let count_in = |(key, mask): (BrickKey, Mask)| {
        let [a, b] = values.map(|values| values.of_brick(key));
        let differs = |&(x, bit): &(u32, u32)| a.at(x, bit) != b.at(x, bit);
        match a.differs_from_rest() || b.differs_from_rest() {
            true => mask_places(mask).filter(differs).count() as u64,
            false if values[0].rest() != values[1].rest() => count(&mask).into(),
            false => 0,
        }
    };
    shared_bricks(grids).map(count_in).sum()
}

impl Comparison {
    /// Number of differing voxels.
    #[must_use]
    pub fn differing(&self) -> u64 {
        self.only[0] + self.only[1]
    }

    /// Whether the grids are equal: the same dimensions and the same voxels.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.dims[0] == self.dims[1] && self.differing() == 0
    }

    /// Intersection over union: 1 if no voxel differs, 0 if none is shared.
    #[must_use]
    pub fn iou(&self) -> f64 {
        iou(self.both, self.differing())
    }
}

/// Intersection over union of two sets that share `both` and differ in `differing`.
pub(crate) fn iou(both: u64, differing: u64) -> f64 {
    match both + differing {
        0 => 1.0,
        union => both as f64 / union as f64,
    }
}
