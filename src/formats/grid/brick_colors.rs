//! Converts the colours that readers find, by brick, to those of a grid.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use crate::base::srgb::Rgba;
use crate::formats::ReadError;
use crate::formats::io::bytes::Budget;
use crate::grid::{BrickKey, BrickRun, BrickValues, Colors, Mask, VoxelGrid, count, own_values};

/// Bytes of memory for a run: in a list that grows, and in the grid.
pub(crate) const RUN_BYTES: u64 = 3 * size_of::<ColorRun>() as u64 + 96;
/// Bytes of memory for the colour of a voxel in a run: the list of a brick has up to twice its
/// length.
pub(crate) const COLOR_BYTES: u64 = 2 * size_of::<Rgba>() as u64;

/// The colours of a run of bricks along `x`, the same in each brick.
#[derive(Debug, Clone)]
pub(crate) struct ColorRun<'a> {
    pub(crate) start: BrickKey,
    pub(crate) len: u32,
    /// The voxels that have a colour.
    pub(crate) mask: Mask,
    pub(crate) colors: MaskColors<'a>,
}

#[derive(Debug, Clone)]
pub(crate) enum MaskColors<'a> {
    All(Rgba),
    /// In the order of mask words and of bits within a word.
    Each(Cow<'a, [Rgba]>),
}

impl ColorRun<'_> {
    /// A run of one brick with these colours of the voxels of `mask`.
    pub(crate) fn of_brick(start: BrickKey, mask: Mask, colors: Vec<Rgba>) -> Self {
        let colors = match colors[..] {
            [first, ref rest @ ..] if rest.iter().all(|&color| color == first) => {
                MaskColors::All(first)
            }
            _ => MaskColors::Each(colors.into()),
        };
        Self { start, len: 1, mask, colors }
    }

    /// The length of its list of colours.
    pub(crate) fn own_count(&self) -> u64 {
        if let MaskColors::Each(colors) = &self.colors { colors.len() as u64 } else { 0 }
    }

    fn end(&self) -> BrickKey {
        self.start.along_x(self.len)
    }

    /// Extends the run by the next one, if that continues it in the same colour.
    pub(crate) fn extend(&mut self, next: &Self) -> bool {
        let is_next = self.end() == next.start && self.mask == next.mask;
        let is_continued = match (&self.colors, &next.colors) {
            (MaskColors::All(color), MaskColors::All(same)) => is_next && color == same,
            _ => false,
        };
        self.len += if is_continued { next.len } else { 0 };
        is_continued
    }

    /// This run, with its list of colours borrowed.
    pub(crate) fn borrowed(&self) -> ColorRun<'_> {
        let colors = match &self.colors {
            MaskColors::All(color) => MaskColors::All(*color),
            MaskColors::Each(colors) => MaskColors::Each(Cow::Borrowed(colors)),
        };
        ColorRun { colors, ..*self }
    }
}

/// Consecutive bricks of a grid along `x` with the same voxels, and the colour run that covers all
/// of them, if any.
struct Segment<'a> {
    run: BrickRun,
    colors: Option<ColorRun<'a>>,
}

impl Segment<'_> {
    /// The colour of all voxels, if they have one.
    fn uniform_color(&self, missing: Rgba) -> Option<Rgba> {
        match &self.colors {
            None => Some(missing),
            Some(ColorRun { mask, colors: MaskColors::All(color), .. }) => {
                let is_whole = self.run.mask.iter().zip(mask).all(|(word, mask)| word & !mask == 0);
                (is_whole || *color == missing).then_some(*color)
            }
            Some(_) => None,
        }
    }

    /// The voxels of a brick whose colour differs from `rest`, and these colours.
    fn own(&self, missing: Rgba, rest: Rgba) -> (Mask, Vec<Rgba>) {
        let all;
        let colors = match &self.colors {
            None => BrickValues::new(Mask::default(), &[], missing),
            Some(ColorRun { mask, colors: MaskColors::All(color), .. }) => {
                all = [*color; 512];
                BrickValues::new(*mask, &all, missing)
            }
            Some(ColorRun { mask, colors: MaskColors::Each(colors), .. }) => {
                BrickValues::new(*mask, colors, missing)
            }
        };
        own_values(self.run.mask, rest, |x, bit| colors.at(x, bit))
    }
}

/// Splits the runs of `grid` at the ends of `color_runs`, which are in canonical order and
/// disjoint.
fn segments<'a>(
    grid: &VoxelGrid,
    color_runs: impl Iterator<Item = ColorRun<'a>>,
) -> impl Iterator<Item = Segment<'a>> {
    let (mut runs, mut color_runs) = (grid.brick_runs(), color_runs.peekable());
    let mut rest = runs.next();
    std::iter::from_fn(move || {
        let run = rest?;
        let (start, end) = (run.start, run.start.along_x(run.len));
        while color_runs.next_if(|colors| colors.end() <= start).is_some() {}
        let next = color_runs.peek().filter(|colors| colors.start < end);
        let colors = next.filter(|colors| colors.start <= start);
        let stop = match (colors, next) {
            (Some(colors), _) => colors.end().min(end),
            (None, Some(next)) => next.start,
            (None, None) => end,
        };
        let (len, colors) = (start.bricks_to(stop), colors.cloned());
        rest = if stop < end {
            Some(BrickRun { start: stop, len: run.len - len, ..run })
        } else {
            runs.next()
        };
        Some(Segment { run: BrickRun { len, ..run }, colors })
    })
}

/// The colour of the most voxels in bricks of one colour; `missing` if there are none.
fn most_common<'a>(segments: impl Iterator<Item = Segment<'a>>, missing: Rgba) -> Rgba {
    let mut counts: HashMap<Rgba, u64> = HashMap::new();
    for segment in segments {
        if let Some(color) = segment.uniform_color(missing) {
            let voxels = u64::from(segment.run.len) * u64::from(count(&segment.run.mask));
            *counts.entry(color).or_default() += voxels;
        }
    }
    let most = counts.into_iter().max_by_key(|&(color, count)| (count, Reverse(color)));
    most.map_or(missing, |(color, _)| color)
}

/// The colours of the voxels of `grid` by `color_runs`, which are in canonical order and disjoint;
/// voxels outside them have the colour `missing`. The most common colour of bricks of one colour
/// becomes the default, which at most `most_in_runs` voxels in runs of bricks may lack.
pub(crate) fn colors<'a>(
    grid: &VoxelGrid,
    color_runs: impl Iterator<Item = ColorRun<'a>> + Clone,
    missing: Rgba,
    mut memory: Budget,
    most_in_runs: u64,
) -> Result<Colors, ReadError> {
    let segments = || segments(grid, color_runs.clone());
    let rest = most_common(segments(), missing);
    let own = || {
        let others = segments().filter(|segment| segment.uniform_color(missing) != Some(rest));
        others.map(|segment| (segment.run, segment.own(missing, rest)))
    };
    let (mut bricks, mut voxels, mut in_runs) = (0, 0, 0);
    for (run, (_, own)) in own().filter(|(_, (_, own))| !own.is_empty()) {
        let (len, own) = (u64::from(run.len), own.len() as u64);
        bricks += len;
        voxels += len * own;
        in_runs += if len > 1 { len * own } else { 0 };
    }
    ensure!(in_runs <= most_in_runs, "too many solid parts differ in colour from the others");
    memory.take(Colors::bytes_of(bricks, voxels))?;
    let mut colors = Colors::uniform(rest);
    colors.reserve(bricks as usize, voxels as usize);
    for (run, (mask, own)) in own() {
        (0..run.len).for_each(|n| colors.push(run.start.along_x(n), mask, &own));
    }
    Ok(colors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::FULL;

    const RED: Rgba = [255, 0, 0, 255];
    const BLUE: Rgba = [0, 0, 255, 9];
    const NONE: Rgba = [1, 2, 3, 4];

    fn key(x: u32) -> BrickKey {
        BrickKey::new([x, 0, 0])
    }

    fn run(x: u32, len: u32, mask: Mask, colors: MaskColors<'_>) -> ColorRun<'_> {
        ColorRun { start: key(x), len, mask, colors }
    }

    #[test]
    fn voxels_have_the_colours_of_the_runs_and_otherwise_the_missing_colour() {
        let mut bricks: Vec<_> = (1..9).map(|x| (key(x), FULL)).collect();
        bricks.push((key(10), [3, 0, 0, 0, 0, 0, 0, 1]));
        let grid = VoxelGrid::from_bricks([96, 8, 8], bricks).expect("inside");
        let few = [6, 0, 0, 0, 0, 0, 0, 1];
        let each: &[Rgba] = &[RED, BLUE, RED];
        let runs = [
            run(0, 2, FULL, MaskColors::All(BLUE)),
            run(3, 4, FULL, MaskColors::All(RED)),
            run(7, 1, few, MaskColors::Each(each.into())),
            run(10, 1, few, MaskColors::Each(each.into())),
        ];
        let colors =
            colors(&grid, runs.into_iter(), NONE, Budget::new(u64::MAX), u64::MAX).expect("few");
        assert_eq!(colors.rest(), RED);
        for (voxel, color) in [
            ([8, 0, 0], BLUE),
            ([16, 3, 4], NONE),
            ([24, 0, 0], RED),
            ([47, 7, 7], RED),
            ([55, 0, 0], RED),
            ([56, 0, 0], NONE),
            ([56, 0, 1], RED),
            ([56, 0, 2], BLUE),
            ([63, 0, 0], RED),
            ([80, 0, 0], NONE),
            ([80, 0, 1], RED),
            ([87, 0, 0], RED),
        ] {
            assert_eq!(colors.of(voxel), color, "{voxel:?}");
        }
        // Brick 1, 2 and 8, nearly all of 7, and one voxel of 10.
        assert_eq!(colors.own_count(), 3 * 512 + 510 + 1);
    }

    #[test]
    fn long_runs_whose_colours_differ_from_the_most_common_are_refused() {
        let rows = (0..65).flat_map(|y| (0..65).map(move |z| [0, y, z]));
        let runs = rows.map(|at| (BrickKey::new(at), 64)).collect();
        let grid = VoxelGrid::from_bricks_and_runs([520; 3], vec![], runs).expect("inside");
        let of = |len: u32| {
            let runs = grid.brick_runs().map(move |run| ColorRun {
                start: run.start,
                len,
                mask: FULL,
                colors: MaskColors::All(BLUE),
            });
            colors(&grid, runs, RED, Budget::new(u64::MAX), 1 << 26).ok()
        };
        assert_eq!(of(64).map(|colors| colors.own_count()), Some(0));
        assert_eq!(of(1).map(|colors| colors.own_count()), Some(65 * 65 * 512));
        assert!(of(32).is_none());
    }

    #[test]
    fn the_common_colour_of_partial_bricks_takes_no_memory_and_others_are_counted() {
        let partial = [1, 0, 0, 0, 0, 0, 0, u64::MAX];
        let bricks = (0..100).map(|x| (key(x), partial));
        let grid = VoxelGrid::from_bricks([800, 8, 8], bricks.collect()).expect("inside");
        let of = |own: u32, limit| {
            let color = move |x| if x < own { BLUE } else { RED };
            let runs = (0..100).map(move |x| run(x, 1, partial, MaskColors::All(color(x))));
            colors(&grid, runs, NONE, Budget { used: 1000, limit }, u64::MAX)
        };
        let red = of(0, 1000).expect("nothing");
        assert_eq!((red.rest(), red.own_count()), (RED, 0));
        for own in [1, 49] {
            let needed = 1000 + u64::from(own) * (8 + 64 + 8 + 65 * 4);
            let colors = of(own, needed).expect("enough");
            assert_eq!((colors.rest(), colors.own_count()), (RED, u64::from(own) * 65));
            assert_eq!(colors.bytes() + 1000, needed);
            let error = of(own, needed - 1).expect_err("one byte less");
            assert!(matches!(error, ReadError::Memory { needed: n, .. } if n == needed));
        }
    }
}
