//! The distances of a level set: in mesh units, as files have them, and in voxels.

use std::fmt::{Debug, Display};

use crate::formats::{ReadError, content};
use crate::grid::{BrickKey, Mask, VoxelGrid, in_order};
use crate::solid::distance::{DistanceField, FieldError};

/// Converts a distance from voxels of this edge to mesh units.
pub(super) fn in_mesh_units(distance: f32, voxel_size: f64) -> f32 {
    (f64::from(distance) * voxel_size) as f32
}

/// A distance of `field` in mesh units.
pub(super) fn world_distance(field: &DistanceField, distance: f32) -> f32 {
    in_mesh_units(distance, field.world().place.unwrap_or_default().voxel_size)
}

/// Converts a distance from mesh units to voxels of this edge, without its sign and below `width`.
///
/// The inverse of [`in_mesh_units`] to one step of `f32`, for normal numbers. Proof: let `t` be the
/// spacing of `f32` at the distance in voxels, and `u` that at the number in mesh units, divided by
/// `voxel_size`. The quotient is within `u / 2` of the distance, and `2^-28 u` more, as product and
/// quotient are rounded to `f64`. As `u` is below `2 t`, the `f32` nearest to it is at most `t`
/// away. Distances next to each other may become one.
pub(super) fn in_voxels(number: f64, voxel_size: f64, width: f32) -> f32 {
    ((number.abs() / voxel_size) as f32).min(width.next_down())
}

/// Converts the width of a band from mesh units to voxels: of the `f32` with this number in mesh
/// units, the one with the fewest digits.
pub(super) fn width_of(background: f64, voxel_size: f64) -> f32 {
    let nearest = (background / voxel_size) as f32;
    let is_stored_so = |&width: &f32| f64::from(in_mesh_units(width, voxel_size)) == background;
    let all = [nearest, nearest.next_down(), nearest.next_up()].into_iter().filter(is_stored_so);
    all.min_by_key(|width| width.to_string().len()).unwrap_or(nearest)
}

/// The distance field of a solid: `bricks` are the band, in canonical order, and `distances` its
/// distances in voxels. The error, a `width` that is not above 0 and finite, is a warning.
pub(super) fn field(
    width: f32,
    inside: &VoxelGrid,
    bricks: &[(BrickKey, Mask)],
    distances: Vec<f32>,
) -> Result<DistanceField, String> {
    let band = in_order(inside.dims(), inside.world, &[()], |(), out| {
        bricks.iter().for_each(|(key, mask)| out.push(*key, 1, mask));
    });
    let field = DistanceField::of_parts(width, [band, inside.without_values()], distances);
    field.ok_or_else(|| unread(FieldError::Width(width)))
}

/// The error of a voxel whose distance is not a number.
pub(super) fn no_number(voxel: impl Debug) -> ReadError {
    content(format!("the distance of voxel {voxel:?} is not a number: give it one, or remove it"))
}

/// The warning about distances that are not read.
pub(super) fn unread(why: impl Display) -> String {
    format!("its distances are not read ({why}): the voxels are the solid inside")
}
