//! A text picture of the slice with the most wrong voxels.

use serde::{Serialize, Serializer};

use crate::base::numbers::AXES;
use crate::engine::verify::Aligned;

/// Maximum columns and rows of a picture.
const WINDOW: [i64; 2] = [60, 30];

/// The slice with the most wrong voxels, cropped to a window around most of them.
///
/// `.` is empty, `#` occupied in both, `-` missing and `+` spurious. Coordinates are those of the
/// verified grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// The axis perpendicular to the slice: 0 is x. With serde axes are letters.
    #[serde(serialize_with = "letter")]
    pub axis: usize,
    /// Position on that axis, in voxels.
    pub index: i64,
    /// Number of wrong voxels in the whole slice.
    pub differing: u64,
    /// The axes to the right and upwards.
    #[serde(serialize_with = "letters")]
    pub plane: [usize; 2],
    /// The coordinates, along `plane`, of the last row's first character.
    pub from: [i64; 2],
    /// The rows, top first.
    pub rows: Vec<String>,
}

fn letter<S: Serializer>(axis: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    AXES[*axis].serialize(serializer)
}

fn letters<S: Serializer>(axes: &[usize; 2], serializer: S) -> Result<S::Ok, S::Error> {
    axes.map(|axis| AXES[axis]).serialize(serializer)
}

impl Slice {
    /// The slice with the most wrong voxels perpendicular to any axis; `None` if there are none.
    pub(super) fn worst(aligned: &Aligned) -> Option<Self> {
        let dims = aligned.dims();
        let mut counts = dims.map(|d| vec![0u64; d as usize]);
        for (voxel, _) in aligned.exact.differing_voxels(&aligned.grid) {
            (0..3).for_each(|a| counts[a][voxel[a] as usize] += 1);
        }
        let slices = (0..3).flat_map(|axis| (0..dims[axis]).map(move |index| (axis, index)));
        // `max_by_key` returns the last of equals: perpendicular to z if possible.
        let (axis, index) = slices.max_by_key(|&(axis, index)| counts[axis][index as usize])?;
        let differing = counts[axis][index as usize];
        (differing > 0).then(|| Self::draw(aligned, axis, index, differing))
    }

    fn draw(aligned: &Aligned, axis: usize, index: u32, differing: u64) -> Self {
        let plane = [[1, 2], [0, 2], [0, 1]][axis];
        let dims = plane.map(|a| i64::from(aligned.dims()[a]));
        let in_slice =
            aligned.exact.differing_voxels(&aligned.grid).filter(|(voxel, _)| voxel[axis] == index);
        let points: Vec<[i64; 2]> =
            in_slice.map(|(voxel, _)| plane.map(|a| i64::from(voxel[a]))).collect();
        let [columns, rows] = [0, 1].map(|i| window(&points, i, dims[i]));
        let row = |up: i64| {
            columns
                .clone()
                .map(move |right| aligned.character(axis, index, [right as u32, up as u32]))
        };
        Self {
            axis,
            index: i64::from(index) + aligned.corner[axis],
            differing,
            plane,
            from: [columns.start + aligned.corner[plane[0]], rows.start + aligned.corner[plane[1]]],
            rows: rows.rev().map(|up| row(up).collect()).collect(),
        }
    }
}

impl Aligned<'_> {
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

/// The range shown along axis `i` of the plane, of `dim` voxels: all, or a window centred on the
/// tile with the most `points`.
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
