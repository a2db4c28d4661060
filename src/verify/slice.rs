//! A picture in characters of where a grid is most wrong.

use crate::grid::VoxelGrid;

/// Most columns and rows of a picture.
const WINDOW: [i64; 2] = [60, 30];

/// The slice with the most differences, or what a window around most of them shows of it.
///
/// `.` is empty, `#` occupied in both, `-` missing and `+` spurious. Coordinates are the grid's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The axis that it is perpendicular to: 0 is x.
    pub axis: usize,
    /// Where on that axis.
    pub index: i64,
    /// Differing voxels in the whole slice.
    pub differing: u64,
    /// The axes that run to the right and upwards.
    pub plane: [usize; 2],
    /// The coordinates, along `plane`, of the last row's first character.
    pub from: [i64; 2],
    /// The rows, the topmost first.
    pub rows: Vec<String>,
}

/// The exact grid and the one that is judged, both in a frame whose corner lies at voxel `corner` of
/// the latter.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) exact: &'a VoxelGrid,
    pub(super) grid: &'a VoxelGrid,
    pub(super) corner: [i64; 3],
}

impl Slice {
    /// The worst slice across `z`, `y` or `x`; `None` where nothing differs.
    pub(super) fn worst(pair: Pair) -> Option<Self> {
        let dims = pair.dims();
        let mut counts = dims.map(|d| vec![0u64; d as usize]);
        for (voxel, _) in pair.exact.difference(pair.grid) {
            (0..3).for_each(|a| counts[a][voxel[a] as usize] += 1);
        }
        let slices = (0..3).flat_map(|axis| (0..dims[axis]).map(move |index| (axis, index)));
        // The last of equals: across z, where there is a choice.
        let (axis, index) = slices.max_by_key(|&(axis, index)| counts[axis][index as usize])?;
        let differing = counts[axis][index as usize];
        (differing > 0).then(|| Self::draw(pair, axis, index, differing))
    }

    fn draw(pair: Pair, axis: usize, index: u32, differing: u64) -> Self {
        let plane = [[1, 2], [0, 2], [0, 1]][axis];
        let dims = plane.map(|a| i64::from(pair.dims()[a]));
        let in_slice = pair.exact.difference(pair.grid).filter(|(voxel, _)| voxel[axis] == index);
        let points: Vec<[i64; 2]> =
            in_slice.map(|(voxel, _)| plane.map(|a| i64::from(voxel[a]))).collect();
        let [columns, rows] = [0, 1].map(|i| window(&points, i, dims[i]));
        let row = |up: i64| {
            columns.clone().map(move |right| pair.character(axis, index, [right as u32, up as u32]))
        };
        Self {
            axis,
            index: i64::from(index) + pair.corner[axis],
            differing,
            plane,
            from: [columns.start + pair.corner[plane[0]], rows.start + pair.corner[plane[1]]],
            rows: rows.rev().map(|up| row(up).collect()).collect(),
        }
    }
}

impl Pair<'_> {
    fn dims(&self) -> [u32; 3] {
        let (a, b) = (self.exact.dims(), self.grid.dims());
        [0, 1, 2].map(|i| a[i].max(b[i]))
    }

    fn character(&self, axis: usize, index: u32, [right, up]: [u32; 2]) -> char {
        let voxel = [[index, right, up], [right, index, up], [right, up, index]][axis];
        match (self.exact.contains(voxel), self.grid.contains(voxel)) {
            (false, false) => '.',
            (true, true) => '#',
            (true, false) => '-',
            (false, true) => '+',
        }
    }
}

/// What a picture shows along axis `i` of the plane, of `dim` voxels: all, or the window in whose
/// middle the most `points` are.
fn window(points: &[[i64; 2]], i: usize, dim: i64) -> std::ops::Range<i64> {
    let size = WINDOW[i].min(dim);
    let half = WINDOW.map(|w| w / 2);
    let tile = |point: &[i64; 2]| [point[0] / half[0], point[1] / half[1]];
    let mut tiles: Vec<[i64; 2]> = points.iter().map(tile).collect();
    tiles.sort_unstable();
    let densest = tiles.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
    let middle = densest.map_or(0, |same| same[0][i] * half[i] + half[i] / 2);
    let start = (middle - size / 2).clamp(0, dim - size);
    start..start + size
}
