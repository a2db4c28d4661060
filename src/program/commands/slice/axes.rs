//! The axes beside a drawn slice.

use std::iter;

use trivox::{Place, VoxelGrid};

use crate::text::{AXES, rounded};
use crate::write::lettering::{INK, LETTER, PAPER, draw_line};

/// Paper around the voxels and the labels, in pixels.
const GAP: u32 = 6;

/// Margins with labels: the names of the axes, the indices of the first and the last voxel along
/// them and, if the grid has a place, its bounds in mesh units. The default has no margins.
#[derive(Debug, Default)]
pub struct Axes {
    /// Each a text and its top left corner.
    labels: Vec<(String, [u32; 2])>,
    /// The margins to the left and above, in pixels.
    pub before: [u32; 2],
    /// The margins to the right and below, in pixels.
    pub after: [u32; 2],
}

impl Axes {
    /// The labels of a slice of `grid` with these axes and this size in pixels. The `caption` is
    /// left out where it does not fit; `None` if the slice is too small for the other labels.
    pub fn new(
        grid: &VoxelGrid,
        [right, up]: [usize; 2],
        [width, height]: [u32; 2],
        caption: &str,
    ) -> Option<Self> {
        let (of_right, of_up) = (ends(grid, right), ends(grid, up));
        let [letter, line] = LETTER;
        let lines = of_up[0].len() as u32 * line;
        let left = 2 * GAP + of_up.iter().flatten().map(|text| length(text)).max()?;
        let mut axes =
            Self { before: [left, GAP], after: [GAP, lines + 2 * GAP], labels: Vec::new() };
        let mut put = |text: &str, left, top| axes.labels.push((text.to_owned(), [left, top]));

        let room = height.checked_sub(2 * lines + line)?;
        put(&AXES[up].to_string(), left - GAP - letter, GAP + lines + room / 2);
        for (texts, top) in of_up.iter().zip([GAP + height - lines, GAP]) {
            for (text, top) in texts.iter().zip((top..).step_by(line as usize)) {
                put(text, left - GAP - length(text), top);
            }
        }

        let middles = [&AXES[right].to_string(), caption];
        let tops = (2 * GAP + height..).step_by(line as usize);
        for (((first, last), middle), top) in
            iter::zip(&of_right[0], &of_right[1]).zip(middles).zip(tops)
        {
            let ends = length(first).max(length(last)) + letter;
            let room = width.checked_sub(2 * ends)?;
            put(first, left, top);
            put(last, left + width - length(last), top);
            if length(middle) <= room {
                put(middle, left + (width - length(middle)) / 2, top);
            }
        }
        Some(axes)
    }

    /// Row `y` of a picture of this width: paper and labels.
    pub fn row(&self, y: u32, width: u32) -> Vec<u8> {
        let mut row = PAPER[..3].repeat(width as usize);
        for (text, corner) in &self.labels {
            if !(corner[1]..corner[1] + LETTER[1]).contains(&y) {
                continue;
            }
            draw_line(text.chars(), *corner, |x, of_ink| {
                if of_ink == y {
                    row[3 * x as usize..][..3].copy_from_slice(&INK[..3]);
                }
            });
        }
        row
    }
}

/// The labels at the start and at the end of an axis: the index of the voxel, and the bound.
fn ends(grid: &VoxelGrid, axis: usize) -> [Vec<String>; 2] {
    let voxels = grid.dims()[axis];
    [(0, 0), (voxels - 1, voxels)].map(|(voxel, side)| {
        let side = grid.world.place.map(|Place { origin, voxel_size }| {
            rounded(origin[axis] + f64::from(side) * voxel_size, voxel_size)
        });
        iter::once(voxel.to_string()).chain(side).collect()
    })
}

/// The length of a text, in pixels.
fn length(text: &str) -> u32 {
    text.len() as u32 * LETTER[0]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use trivox::{Up, World};

    #[test]
    fn an_axis_ends_at_the_outer_sides_of_its_voxels() {
        let grid = VoxelGrid::empty([5, 4, 3]).unwrap();
        assert_eq!(ends(&grid, 1), [["0"], ["3"]]);
        let place = Some(Place { origin: [-1.5, 0.0, 10.0], voxel_size: 0.5 });
        let grid = grid.with_world(World { up: Up::Y, place });
        assert_eq!(ends(&grid, 0), [["0", "-1.5"], ["4", "1"]]);
        assert_eq!(ends(&grid, 2), [["0", "10"], ["2", "11.5"]]);
    }
}
