//! The grids of a file: the density, and the colours and attributes of voxels that have any.

use half::f16;

use crate::base::srgb::{Rgba, linear_of, srgb_of};
use crate::formats::WriteError;
use crate::formats::grid::level_set::world_distance;
use crate::grid::Channel::{Scalar, Vector};
use crate::grid::{
    self, Attribute, Bits, BrickKey, BrickRun, Colors, FULL, Overlap, VoxelGrid, VoxelValues,
    is_empty, overlay,
};
use crate::solid::distance::DistanceField;

/// An entry of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Empty,
    /// An active tile.
    Full,
    /// An inactive tile, inside a level set.
    Inside,
    /// A child.
    Node,
}

/// The quantity that a grid of a file stores.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats::grid) enum Channel<'a> {
    /// 1 in occupied voxels.
    Density,
    /// Colours, in linear light from 0 to 1.
    Color(&'a Colors),
    /// Numbers, or vectors of three floats; those of texture coordinates end in 0.
    Attribute(Attribute, &'a grid::Channel),
    /// Signed distances, in world units. Voxels inside and not in the band have inactive values.
    Distance(&'a DistanceField),
}

impl<'a> Channel<'a> {
    pub(in crate::formats::grid) fn all(grid: &'a VoxelGrid) -> Vec<Self> {
        let mut all = vec![Self::Density];
        all.extend(grid.colors.as_ref().map(Self::Color));
        let attributes = grid.attributes.iter().flat_map(|all| all.channels());
        all.extend(attributes.map(|(&of, values)| Self::Attribute(of, values)));
        all
    }

    /// The distances of `field`; an error if distances in world units exceed the range of normal
    /// 32-bit floats.
    pub(in crate::formats::grid) fn of_distances(
        field: &'a DistanceField,
    ) -> Result<Self, WriteError> {
        let scale = field.world().place.unwrap_or_default().voxel_size;
        let range = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        // Distances of 2^-10 voxels or more must not become subnormal, which have fewer bits.
        let mut ends = [2f64.powi(-10), field.width().into()].map(|d| d * scale).into_iter();
        if ends.all(|end| range.contains(&end)) {
            return Ok(Self::Distance(field));
        }
        Err(WriteError::Unsupported(format!(
            "distances in units of {scale:e} do not fit in 32-bit floats: scale the mesh, or write \
             .npz, which holds distances in voxels"
        )))
    }

    /// The grid's name, as renderers expect it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Density => super::DENSITY,
            Self::Color(_) => super::COLOR,
            Self::Attribute(of, _) => of.name(),
            Self::Distance(_) => super::SURFACE,
        }
    }

    /// 32-bit numbers per value.
    pub(super) fn components(self) -> usize {
        match self {
            Self::Color(_) => 3,
            Self::Attribute(of, _) if of.components() > 1 => 3,
            _ => 1,
        }
    }

    /// The value of empty voxels, as 32-bit numbers; `light` maps an sRGB value to linear light.
    /// For colours it is the default colour, since renderers interpolate between empty and occupied
    /// voxels at a surface.
    pub(super) fn background(self, light: fn(u8) -> f32) -> Vec<f32> {
        match self {
            Self::Density => vec![0.0],
            Self::Color(_) => self.tile(light),
            Self::Attribute(of, _) => self.floats(of.none()),
            Self::Distance(field) => vec![world_distance(field, field.width())],
        }
    }

    /// The value of tiles, as [`background`](Self::background).
    pub(super) fn tile(self, light: fn(u8) -> f32) -> Vec<f32> {
        match self {
            Self::Density => vec![1.0],
            Self::Color(colors) => colors.rest()[..3].iter().map(|&value| light(value)).collect(),
            Self::Attribute(_, values) => self.floats(values.rest()),
            Self::Distance(field) => vec![world_distance(field, -field.width())],
        }
    }

    fn floats(self, bits: Bits) -> Vec<f32> {
        bits[..self.components()].iter().map(|&bits| f32::from_bits(bits)).collect()
    }

    /// The runs of `grid` in the half-open box of bricks `from..to`, and all others with a value
    /// that is not the background's; each with the entry of its bricks in their lower nodes.
    pub(super) fn entries(
        self,
        grid: &'a VoxelGrid,
        from: [u32; 3],
        to: [u32; 3],
    ) -> Box<dyn Iterator<Item = (BrickRun, Entry)> + 'a> {
        let Self::Distance(field) = self else {
            return Box::new(grid.brick_runs_in(from, to).flat_map(move |run| self.split(run)));
        };
        let runs = [field.band(), field.inside()].map(|grid| grid.brick_runs_in(from, to));
        Box::new(overlay(runs).map(|Overlap { start, len, masks: [mask, inside] }| {
            let is_tile = is_empty(&mask) && inside == FULL;
            (BrickRun { start, len, mask }, if is_tile { Entry::Inside } else { Entry::Node })
        }))
    }

    /// Splits a run into runs whose bricks are the same kind of entry in their lower nodes.
    fn split(self, run: BrickRun) -> impl Iterator<Item = (BrickRun, Entry)> {
        let (start, end) = (run.start, run.start.along_x(run.len));
        let own = match self {
            _ if run.mask != FULL => Vec::new(),
            Self::Color(colors) => own_between(colors, start, end),
            Self::Attribute(_, Scalar(values)) => own_between(values, start, end),
            Self::Attribute(_, Vector(values)) => own_between(values, start, end),
            Self::Density | Self::Distance(_) => Vec::new(),
        };
        let last = if run.mask == FULL { Entry::Full } else { Entry::Node };
        // The end and the entry of each part: a brick with values of its own is a node, and ends a
        // part of full bricks.
        let ends = |key: BrickKey| [(key, Entry::Full), (key.along_x(1), Entry::Node)];
        let mut at = start;
        own.into_iter().flat_map(ends).chain([(end, last)]).filter_map(move |(stop, entry)| {
            let part = BrickRun { start: at, len: at.bricks_to(stop), ..run };
            at = stop;
            (part.len > 0).then_some((part, entry))
        })
    }
}

/// The bricks in `start..end` of which a voxel has another value than the default.
fn own_between<T: Copy + PartialEq + Sync>(
    values: &VoxelValues<T>,
    start: BrickKey,
    end: BrickKey,
) -> Vec<BrickKey> {
    let own = values.between(start, end).filter(|(_, own)| own.differs_from_rest());
    own.map(|(key, _)| key).collect()
}

/// The linear light of an sRGB value, from 0 to 1.
pub(super) const fn float(value: u8) -> f32 {
    linear_of(value) as f32 / u16::MAX as f32
}

/// [`float`], rounded to a half float.
pub(super) fn rounded(value: u8) -> f32 {
    HALVES[usize::from(value)].to_f32()
}

/// [`float`] of each sRGB value, rounded to a half float. Two sRGB values are at least 9 half-float
/// steps apart.
pub(super) const HALVES: [f16; 256] = {
    let mut halves = [f16::ZERO; 256];
    let mut value = 0;
    while value < 256 {
        halves[value] = f16::from_f32_const(float(value as u8));
        value += 1;
    }
    halves
};

/// The opaque sRGB colour nearest to linear light; NaN and negative values become 0.
pub(super) fn rgba_of(light: [f32; 3]) -> Rgba {
    let [r, g, b] =
        light.map(|light| srgb_of((light.clamp(0.0, 1.0) * f32::from(u16::MAX) + 0.5) as u16));
    [r, g, b, u8::MAX]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_values_come_back_from_floats_and_half_floats() {
        for value in 0..=u8::MAX {
            let [float, half] = [float(value), rounded(value)];
            assert_eq!(rgba_of([float, half, float]), [value, value, value, 255]);
        }
    }

    #[test]
    fn light_out_of_range_is_clamped() {
        assert_eq!(rgba_of([f32::NAN, -3.0, 1e9]), [0, 0, 255, 255]);
        assert_eq!(rgba_of([f32::INFINITY, f32::NEG_INFINITY, -0.0]), [255, 0, 0, 255]);
    }
}
