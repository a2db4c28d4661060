//! The colours of voxels that emit light. MagicaVoxel's light has the colour of its palette entry,
//! so that a voxel has the colours of surface and light together.

use std::borrow::Cow;
use std::iter;

use rayon::prelude::*;

use crate::base::srgb::{Rgba, linear_of, srgb_of};
use crate::grid::{Attribute, Attributes, BrickKey, Colors, Mask, VoxelGrid, own_values};

/// `grid` in the colours of surface and light, if its voxels have colours and the attribute
/// `emission`.
pub(super) fn lit(grid: &VoxelGrid) -> Cow<'_, VoxelGrid> {
    let channels = grid.attributes.as_ref().map(Attributes::channels);
    let emission = channels.and_then(|channels| channels.get(&Attribute::Emission));
    let (Some(emission), Some(colors)) = (emission, &grid.colors) else {
        return Cow::Borrowed(grid);
    };
    let rest = colors.rest();
    let lit = |(key, mask): (BrickKey, Mask)| {
        let (colors, emission) = (colors.of_brick(key), emission.of_brick(key));
        let (own, values) = own_values(mask, rest, |x, bit| {
            with_light(colors.at(x, bit), emission.at(x, bit).map(f32::from_bits))
        });
        (key, own, values)
    };
    let bricks: Vec<_> = grid.bricks().collect();
    let lit = bricks.into_par_iter().map(lit).collect();
    Cow::Owned(grid.clone().with_colors(Colors::from_bricks(lit, rest)))
}

/// Colour plus emission, in linear light. Emission above 1 is divided by its largest component: the
/// material has its strength.
fn with_light(color: Rgba, light: [f32; 3]) -> Rgba {
    let brightest = light.into_iter().fold(1.0, f32::max);
    let linear = |light: f32| (65535.0 * light.min(1.0)).round() as u16;
    let tint = light.map(|light| linear(light / brightest));
    let [.., opacity] = color;
    // A black surface has the colour of its light already.
    let is_light = |of: [u16; 3]| iter::zip(color, of).all(|(c, of)| c.abs_diff(srgb_of(of)) <= 1);
    let is_lit = tint != [0; 3] && (is_light(tint) || is_light(light.map(linear)));
    let base = if is_lit { [0; 3] } else { [color[0], color[1], color[2]].map(linear_of) };
    let [r, g, b] = std::array::from_fn(|n| srgb_of(base[n].saturating_add(tint[n])));
    [r, g, b, opacity]
}
