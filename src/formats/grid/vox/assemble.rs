//! Assembles a scene: the transforms of all model instances, and their union as a grid.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::paint::Paint;
use super::scene::{Model, NodeKind, ROOT, Rotation, Scene};
use super::{ATTRIBUTE, Description, Frame};
use crate::formats::{Part, ReadError, check_memory, checked_dims, content, excerpt};
use crate::grid::{BRICK, BrickKey, Mask, Up, VoxelGrid, World, mask_place, union_bounds};

/// Deepest nesting of nodes.
const MAX_DEPTH: usize = 256;
/// Most node visits; a node is visited once per use, so nested instances multiply.
const MAX_VISITS: usize = 1 << 18;
/// Most voxels of all instances, unless the file itself has more: about ten seconds of work.
const MAX_PLACED: u64 = 1 << 28;
/// Most bricks of all instances, unless the file has more voxels: above the 250 cubed of
/// MagicaVoxel's world.
const MAX_BRICKS: u64 = 1 << 24;
/// Bytes of memory for a brick of the scene: in a hash map that grows, in a list, in the grid.
const BRICK_BYTES: u64 = 320;
/// Bytes of memory for a voxel of the scene: its palette index, and its colour in a list that grows.
const VOXEL_BYTES: u64 = 10;

/// A rotation, then a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pose {
    rotation: Rotation,
    /// Below 2^40: a sum of `MAX_DEPTH` 32-bit numbers.
    translation: [i64; 3],
}

impl Pose {
    const NONE: Self = Self { rotation: Rotation::NONE, translation: [0; 3] };

    fn apply(&self, v: [i64; 3]) -> [i64; 3] {
        let rotated = self.rotation.apply(v);
        [0, 1, 2].map(|i| rotated[i] + self.translation[i])
    }

    /// `self` after a rotation and a translation.
    fn after(&self, rotation: &Rotation, translation: [i32; 3]) -> Self {
        Self {
            rotation: self.rotation.after(rotation),
            translation: self.apply(translation.map(i64::from)),
        }
    }
}

/// An instance of a model in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Instance {
    model: usize,
    pose: Pose,
}

impl Instance {
    /// The position of a voxel of the model. The voxel's centre, in half voxels, is rotated about
    /// the pivot's minimum corner, then rounded down to the voxel's minimum corner.
    fn place(&self, voxel: [u32; 3], size: [u32; 3]) -> [i64; 3] {
        let centre = [0, 1, 2].map(|a| 2 * (i64::from(voxel[a]) - i64::from(size[a] / 2)) + 1);
        let rotated = self.pose.rotation.apply(centre);
        [0, 1, 2].map(|a| (rotated[a] >> 1) + self.pose.translation[a])
    }

    /// The box: minimum and maximum voxel.
    fn bounds(&self, size: [u32; 3]) -> [[i64; 3]; 2] {
        let [a, b] = [self.place([0; 3], size), self.place(size.map(|d| d - 1), size)];
        union_bounds([a; 2], [b; 2])
    }
}

/// The union of all instances of `scene`, in at most `limit` bytes of memory; its region of a larger
/// grid, if it is a part of one; and the number of voxels with each palette index.
pub(super) fn assemble(
    scene: &Scene,
    limit: u64,
) -> Result<(VoxelGrid, Option<Part>, [u64; 256]), ReadError> {
    let mut instances = instances(scene)?;
    // Duplicate instances add no voxels, but cost time.
    let mut seen = HashSet::new();
    instances.retain(|&instance| seen.insert(instance));
    let bounds = bounds(scene, &instances)?;
    let (frame, corner, description) = match scene.description {
        Some(text) => {
            let description = checked_description(text, bounds).map_err(|what| {
                let at = scene.nodes[&ROOT].at;
                fault(ROOT, at, format_args!("the attribute '{ATTRIBUTE}' {what}"))
            })?;
            let frame = Frame { dims: description.dims, up: description.world.up };
            (frame, frame.corner(), Some(description))
        }
        None => {
            let [lo, hi] = bounds;
            let dims = checked_dims([0, 1, 2].map(|a| (hi[a] - lo[a] + 1) as u64))?;
            (Frame { dims, up: Up::Z }, lo, None)
        }
    };
    let placed = Placed { scene, instances: &instances, frame, corner };
    placed.check_memory(limit)?;
    let bricks = placed.bricks();
    let paint = placed.paint(&bricks);
    let (colors, counts) = (paint.colors(scene.palette, description.is_some()), paint.counts());
    let mut grid = VoxelGrid::from_bricks(frame.dims, bricks)?;
    // MagicaVoxel's own axes.
    let plain = World { up: Up::Z, place: None };
    grid.world = description.map_or(plain, |description| description.world);
    grid.colors = colors;
    Ok((grid, description.and_then(|description| description.part), counts))
}

/// An error about node `id`, at byte `at` of the file.
fn fault(id: i32, at: usize, what: impl fmt::Display) -> ReadError {
    content(format!("node {id} of the scene graph, byte {at}: {what}"))
}

/// Parses the root's description of the grid, which must contain the box from `lo` to `hi`.
fn checked_description(text: &[u8], [lo, hi]: [[i64; 3]; 2]) -> Result<Description, String> {
    let text = String::from_utf8_lossy(text);
    let description = Description::parse(&text).ok_or_else(|| {
        format!("is malformed, or of a version that is not known: {}", excerpt(&text))
    })?;
    let dims = checked_dims(description.dims.map(u64::from)).map_err(|e| format!("lies: {e}"))?;
    let frame = Frame { dims, up: description.world.up };
    let (corner, size) = (frame.corner(), frame.size().map(i64::from));
    if (0..3).all(|a| lo[a] >= corner[a] && hi[a] < corner[a] + size[a]) {
        Ok(description)
    } else {
        Err(format!(
            "says that the grid is {size:?} from {corner:?}, but its models reach from {lo:?} to \
             {hi:?}: was the file edited? remove the attribute"
        ))
    }
}

/// All instances, in reverse order of the scene graph: the first takes precedence.
fn instances(scene: &Scene) -> Result<Vec<Instance>, ReadError> {
    match scene.models.len() {
        _ if !scene.nodes.is_empty() => placed(scene),
        1 => Ok(vec![Instance { model: 0, pose: Pose::NONE }]),
        0 => Err(content("the file has no models")),
        n => Err(content(format!(
            "the file has {n} models but no scene graph that says where they are: frames of an \
             animation? save it with a current MagicaVoxel"
        ))),
    }
}

/// The instances that the scene graph places: a depth-first traversal, the last child of a node
/// first.
fn placed(scene: &Scene) -> Result<Vec<Instance>, ReadError> {
    let (mut instances, mut visits) = (Vec::new(), 0);
    // The nodes from the root to the current one.
    let mut path: Vec<i32> = Vec::new();
    // Nodes to visit, each with its depth and its parent's pose.
    let mut stack = vec![(ROOT, 0, Pose::NONE)];
    while let Some((id, depth, pose)) = stack.pop() {
        path.truncate(depth);
        let Some(node) = scene.nodes.get(&id) else {
            let above = path.last().map_or("root".into(), |above| format!("child of {above}"));
            return Err(content(format!("the scene graph has no node {id}, the {above}")));
        };
        let fault = |what: String| Err(fault(id, node.at, what));
        if path.contains(&id) {
            return fault("it is part of itself".into());
        }
        if path.len() >= MAX_DEPTH {
            return fault(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        if visits + stack.len() >= MAX_VISITS {
            return fault(format!("it is one of more than {MAX_VISITS} nodes: too many instances"));
        }
        visits += 1;
        path.push(id);
        let depth = path.len();
        match &node.kind {
            NodeKind::Transform { rotation, translation, child } => {
                stack.push((*child, depth, pose.after(rotation, *translation)));
            }
            NodeKind::Group { children } => {
                stack.extend(children.iter().map(|&child| (child, depth, pose)));
            }
            NodeKind::Shape { models } => {
                let Some(model) = models.first() else { continue };
                match usize::try_from(*model).ok().filter(|&m| m < scene.models.len()) {
                    Some(model) => instances.push(Instance { model, pose }),
                    None => return fault(format!("there is no model {model}")),
                }
            }
        }
    }
    Ok(instances)
}

/// Minimum and maximum voxel of all instances' boxes.
fn bounds(scene: &Scene, instances: &[Instance]) -> Result<[[i64; 3]; 2], ReadError> {
    let all = instances.iter().map(|instance| instance.bounds(scene.models[instance.model].size));
    all.reduce(union_bounds).ok_or_else(|| content("the scene graph places no models"))
}

/// The number of voxels in the file, without instances.
fn stored(scene: &Scene) -> u64 {
    scene.models.iter().map(|model| model.voxels.len() as u64).sum()
}

/// The instances of a scene's models, in a grid.
struct Placed<'a> {
    scene: &'a Scene<'a>,
    instances: &'a [Instance],
    frame: Frame,
    /// The grid's minimum corner in the scene; all instances are inside the grid.
    corner: [i64; 3],
}

impl Placed<'_> {
    /// The voxels of an instance, each with its palette index, the last first.
    fn voxels(&self, instance: &Instance) -> impl Iterator<Item = ([u32; 3], u8)> {
        let Model { size, voxels } = self.scene.models[instance.model];
        let coloured = voxels.iter().rev().filter(|&&[.., color]| color != 0);
        coloured.map(move |&[x, y, z, color]| {
            let placed = instance.place([x, y, z].map(u32::from), size);
            // In range, since all boxes are inside the frame.
            let voxel = [0, 1, 2].map(|a| (placed[a] - self.corner[a]) as u32);
            (self.frame.grid_from_vox(voxel), color)
        })
    }

    /// # Errors
    /// Too many voxels; their bricks and colours take more than `limit` bytes of memory.
    fn check_memory(&self, limit: u64) -> Result<(), ReadError> {
        let models = &self.scene.models;
        let voxels: u64 = self.instances.iter().map(|i| models[i.model].voxels.len() as u64).sum();
        if voxels > stored(self.scene).max(MAX_PLACED) {
            return Err(content(format!(
                "the scene graph's instances have {voxels} voxels: too many"
            )));
        }
        let needed = |bricks: u64| bricks * BRICK_BYTES + voxels.min(512 * bricks) * VOXEL_BYTES;
        let [x, y, z] = self.frame.dims.map(|d| u64::from(d.div_ceil(BRICK)));
        let most = MAX_BRICKS.max(stored(self.scene));
        if needed(x * y * z) <= limit && x * y * z <= most {
            return Ok(());
        }
        // Instances with the same place in their bricks have as many.
        let mut counts: HashMap<(usize, Rotation, [i64; 3]), u64> = HashMap::new();
        let mut bricks = 0;
        for instance in self.instances {
            let Pose { rotation, translation } = instance.pose;
            let place = translation.map(|c| c.rem_euclid(BRICK.into()));
            bricks += *counts.entry((instance.model, rotation, place)).or_insert_with(|| {
                let keys = self.voxels(instance).map(|(voxel, _)| BrickKey::of_voxel(voxel));
                keys.collect::<HashSet<_>>().len() as u64
            });
            check_memory(needed(bricks), limit)?;
            if bricks > most {
                return Err(content(format!(
                    "the scene graph's instances fill more than {most} bricks"
                )));
            }
        }
        Ok(())
    }

    /// The bricks of all instances in canonical order.
    fn bricks(&self) -> Vec<(BrickKey, Mask)> {
        let mut bricks = Bricks::default();
        for instance in self.instances {
            self.voxels(instance).for_each(|(voxel, _)| bricks.set(voxel));
            bricks.flush();
        }
        let mut bricks: Vec<_> = bricks.all.into_iter().collect();
        bricks.sort_unstable_by_key(|&(key, _)| key);
        bricks
    }

    /// The palette indices of `bricks`, which must be those of all instances.
    fn paint<'a>(&self, bricks: &'a [(BrickKey, Mask)]) -> Paint<'a> {
        let mut paint = Paint::new(bricks);
        for instance in self.instances {
            self.voxels(instance).for_each(|(voxel, color)| paint.set(voxel, color));
        }
        paint
    }
}

/// Collects voxels in any order into bricks. The latest brick is cached, since consecutive voxels
/// are mostly in one brick.
#[derive(Default)]
struct Bricks {
    all: HashMap<BrickKey, Mask>,
    latest: Option<(BrickKey, Mask)>,
}

impl Bricks {
    fn set(&mut self, voxel: [u32; 3]) {
        let key = BrickKey::of_voxel(voxel);
        if self.latest.is_none_or(|(latest, _)| latest != key) {
            self.flush();
            self.latest = Some((key, [0; 8]));
        }
        if let Some((_, mask)) = &mut self.latest {
            let (slice, bit) = mask_place(voxel);
            mask[slice] |= 1 << bit;
        }
    }

    fn flush(&mut self) {
        if let Some((key, mask)) = self.latest.take() {
            let union = self.all.entry(key).or_default();
            (0..8).for_each(|x| union[x] |= mask[x]);
        }
    }
}
