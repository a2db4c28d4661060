//! The colours of voxels that emit light. MagicaVoxel's light has the colour of its palette entry,
//! so that a voxel has the colours of surface and light together.

use std::iter;

use crate::base::srgb::{Rgba, linear_of, srgb_of};
use crate::grid::{Attribute, Attributes, Colors, VoxelGrid, mask_places};

/// `grid` in the colours of surface and light, if its voxels have colours and the attribute
/// `emission`.
pub(super) fn lit(grid: &VoxelGrid) -> Option<VoxelGrid> {
    let emission = grid.attributes.as_ref().map(Attributes::channels)?.get(&Attribute::Emission)?;
    let colors = grid.colors.as_ref()?;
    let rest = colors.rest();
    let mut lit = Colors::uniform(rest);
    for (key, mask) in grid.bricks() {
        let (colors, emission) = (colors.of_brick(key), emission.of_brick(key));
        let (mut own_mask, mut own) = ([0; 8], Vec::new());
        for (x, bit) in mask_places(mask) {
            let color = with_light(colors.at(x, bit), emission.at(x, bit).map(f32::from_bits));
            if color != rest {
                own_mask[x as usize] |= 1 << bit;
                own.push(color);
            }
        }
        lit.push(key, own_mask, &own);
    }
    Some(grid.clone().with_colors(lit))
}

/// The sum of a colour and light, in linear light. Light brighter than white, whose strength the
/// material has, counts with its hue.
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
