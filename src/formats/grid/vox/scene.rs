//! The content of a file: models, and the nodes of the scene graph that places them.

use std::collections::{HashMap, HashSet};

use crate::base::numbers::counted_as;
use crate::base::srgb::Rgba;
use crate::formats::ReadOptions;

pub(super) const ROOT: i32 = 0;

/// The parsed content of a file.
#[derive(Default)]
pub(super) struct Scene<'a> {
    pub(super) models: Vec<Model<'a>>,
    /// By node id.
    pub(super) nodes: HashMap<i32, Node<'a>>,
    /// The root's `trivox` attribute.
    pub(super) description: Option<&'a [u8]>,
    /// The file's palette; entry `n` is the colour of index `n + 1`.
    pub(super) palette: Option<&'a [Rgba]>,
    /// The indices with a material other than diffuse.
    pub(super) materials: Vec<u8>,
    /// The numbers of the hidden layers.
    pub(super) hidden_layers: HashSet<i32>,
    pub(super) options: ReadOptions,
    /// The last frame of an animation; 0 without one.
    pub(super) last_frame: u32,
}

/// Voxels in a box.
#[derive(Clone, Copy)]
pub(super) struct Model<'a> {
    /// 1 to 256 each.
    pub(super) size: [u32; 3],
    /// `x`, `y`, `z` inside the box, and the colour's index, 0 for none.
    pub(super) voxels: &'a [[u8; 4]],
}

/// A node of the scene graph.
pub(super) struct Node<'a> {
    /// Byte offset in the file.
    pub(super) at: usize,
    pub(super) name: Option<&'a [u8]>,
    pub(super) kind: NodeKind,
    pub(super) is_hidden: bool,
    /// The number of keys of a transform or a shape; several in an animation.
    pub(super) frames: usize,
}

pub(super) enum NodeKind {
    Transform {
        pose: Pose,
        child: i32,
        layer: i32,
    },
    Group {
        children: Vec<i32>,
    },
    /// The model of the frame, and the models of all frames.
    Shape {
        model: i32,
        models: Vec<i32>,
    },
}

impl Scene<'_> {
    /// Warnings about content that MagicaVoxel shows, but that has no effect on the grid. `counts`
    /// are the numbers of voxels by palette index.
    pub(super) fn warnings(&self, counts: &[u64; 256]) -> Vec<String> {
        let count = |is: fn(&Node) -> bool| self.nodes.values().filter(|node| is(node)).count();
        let all = usize::from(!self.options.visible_only);
        let (hidden, layers) = (count(|node| node.is_hidden) * all, self.hidden_layers.len() * all);
        let animated = if self.options.frame.is_none() { count(|node| node.frames > 1) } else { 0 };
        let unplaced = self.unplaced();
        let models = counted_as(unplaced as u64, "model is", "models are");
        let is_used = |index: &&u8| counts[usize::from(**index)] > 0;
        let materials = self.materials.iter().filter(is_used).count();
        let colors = counted_as(materials as u64, "colour is", "colours are");
        let appearance = format!(
            "materials are not read: {colors} of glass, metal or light, but for the colour"
        );
        let warnings = [
            (hidden, format!("hidden nodes are read like any other: there are {hidden}")),
            (layers, format!("hidden layers are read like any other: there are {layers}")),
            (unplaced, format!("{models} not read: the scene graph does not place them")),
            (animated, format!("only the first frame is read: {animated} nodes are animated")),
            (materials, appearance),
        ];
        warnings.into_iter().filter(|&(count, _)| count > 0).map(|(_, what)| what).collect()
    }

    /// Whether a node and all below are left out.
    pub(super) fn leaves_out(&self, node: &Node) -> bool {
        let in_hidden_layer = matches!(&node.kind, NodeKind::Transform { layer, .. } if
            self.hidden_layers.contains(layer));
        self.options.visible_only && (node.is_hidden || in_hidden_layer)
    }

    /// The number of models that no node of the scene graph names.
    fn unplaced(&self) -> usize {
        let shapes = self.nodes.values().filter_map(|node| match &node.kind {
            NodeKind::Shape { models, .. } => Some(models),
            _ => None,
        });
        let named: HashSet<i32> = shapes.flatten().copied().collect();
        let all = if self.nodes.is_empty() { 0 } else { self.models.len() as i32 };
        (0..all).filter(|model| !named.contains(model)).count()
    }
}

/// A signed permutation matrix, a rotation by quarter turns or a reflection: row `i` has `sign[i]`
/// in column `axis[i]` and 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Rotation {
    axis: [usize; 3],
    sign: [i64; 3],
}

impl Rotation {
    pub(super) const NONE: Self = Self { axis: [0, 1, 2], sign: [1; 3] };
    /// From axes with `z` up to axes with `y` up: `(x, y, z)` to `(x, z, -y)`.
    pub(super) const Y_UP: Self = Self { axis: [0, 2, 1], sign: [1, 1, -1] };

    /// Decodes the file's byte: the first row's axis in bits 0 and 1, the second's in bits 2 and 3,
    /// the signs in bits 4 to 6, set for negative. `None` if it is not a signed permutation.
    pub(super) fn from_bits(bits: u8) -> Option<Self> {
        let (a, b) = (usize::from(bits & 3), usize::from(bits >> 2 & 3));
        let is_valid = a < 3 && b < 3 && a != b && bits < 128;
        let sign = [4, 5, 6].map(|bit| 1 - 2 * i64::from(bits >> bit & 1));
        is_valid.then(|| Self { axis: [a, b, 3 - a - b], sign })
    }

    fn apply(&self, v: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|i| self.sign[i] * v[self.axis[i]])
    }

    /// `self` after `first`.
    fn after(&self, first: &Self) -> Self {
        Self {
            axis: self.axis.map(|row| first.axis[row]),
            sign: [0, 1, 2].map(|i| self.sign[i] * first.sign[self.axis[i]]),
        }
    }
}

/// A rotation, then a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pose {
    pub(super) rotation: Rotation,
    /// Below 2^41: a sum of 256 32-bit numbers, the deepest nesting, and of a model's size.
    pub(super) translation: [i64; 3],
}

impl Pose {
    pub(super) const NONE: Self = Self { rotation: Rotation::NONE, translation: [0; 3] };

    pub(super) fn apply(&self, v: [i64; 3]) -> [i64; 3] {
        let rotated = self.rotation.apply(v);
        [0, 1, 2].map(|i| rotated[i] + self.translation[i])
    }

    /// `self` after `first`.
    pub(super) fn after(&self, first: &Self) -> Self {
        Self {
            rotation: self.rotation.after(&first.rotation),
            translation: self.apply(first.translation),
        }
    }

    /// The pose of the voxels of a model of `size`, from that of its pivot. The centre of a voxel
    /// is rotated about the pivot's minimum corner, then rounded down to the voxel's minimum
    /// corner.
    pub(super) fn of_voxels(&self, size: [u32; 3]) -> Self {
        let corner = self.apply(size.map(|d| -i64::from(d / 2)));
        // Along a reversed axis a voxel's maximum corner becomes its minimum corner.
        let reversed = self.rotation.sign.map(|sign| i64::from(sign < 0));
        Self { translation: [0, 1, 2].map(|i| corner[i] - reversed[i]), ..*self }
    }

    /// This pose for bricks: a posed brick overlaps at most two bricks along each axis. Returns the
    /// pose of a brick's position, which gives the first of the two, and shares by axis and
    /// coordinate in the brick. The sum of a voxel's shares is its
    /// [slot](crate::grid::brick_slot) in nine bits, then a bit for each axis, set in the second
    /// brick. Corners of bricks are multiples of eight, so that all bricks have the same shares.
    pub(super) fn of_bricks(&self) -> (Self, [[u16; 8]; 3]) {
        let (mut first, mut shares) = ([0; 3], [[0; 8]; 3]);
        for (i, stride) in [64, 8, 1].into_iter().enumerate() {
            let place = |n: i64| self.translation[i] + self.rotation.sign[i] * n;
            first[i] = place(0).min(place(7)).div_euclid(8);
            for (n, share) in (0..).zip(&mut shares[self.rotation.axis[i]]) {
                let second = (place(n).div_euclid(8) - first[i]) as u16;
                *share = (second << (9 + i)) + stride * place(n).rem_euclid(8) as u16;
            }
        }
        (Self { translation: first, ..*self }, shares)
    }
}
